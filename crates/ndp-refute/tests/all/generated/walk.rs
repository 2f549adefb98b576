#[test]
fn the_claim_is_false() -> Result<(), Box<dyn std::error::Error>> {
    let graph = ndp_graph::Graph::from_edges(12, [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0, 8), (0, 9), (0, 10), (0, 11)])?;
    let setting = ndp_refute::Setting::new(&graph, ndp_refute::WeightRule::MaxDegree, ndp_refute::Protocol::Walk, 29)?;
    let (sources, mut sum) = ([1], 0.0);
    for u in sources {
        let unit: num_rational::BigRational =
            ndp_refute::mean_path_cost(&setting, 29, u, &[0]).parse()?;
        sum += num_traits::ToPrimitive::to_f64(&unit).ok_or("too large")?;
    }
    // Exactly: 10379958882086113304624765797643/25380948754743865190630987278256.
    assert!(1.0 * 2.0 / (2.0 * 2.0 * 2.0) * sum > 0.40767809049557024);
    Ok(())
}
