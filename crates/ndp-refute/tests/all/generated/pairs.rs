#[test]
fn the_claim_is_false() -> Result<(), Box<dyn std::error::Error>> {
    let graph = ndp_graph::Graph::from_edges(3, [(0, 1), (0, 2)])?;
    let setting = ndp_refute::Setting::pairs(&graph, &[(0, 1), (0, 2), (0, 1)])?;
    let (sources, mut sum) = ([2], 0.0);
    for u in sources {
        let unit: num_rational::BigRational =
            ndp_refute::exact_unit_loss(&setting, 3, u, &[1]).parse()?;
        sum += num_traits::ToPrimitive::to_f64(&unit).ok_or("too large")?;
    }
    // Exactly: 1.
    assert!(1.0 * 2.0 / (2.0 * 1.0 * 1.0) * sum > 0.16666666666666685);
    Ok(())
}
