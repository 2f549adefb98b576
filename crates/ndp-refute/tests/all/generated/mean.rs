#[test]
fn the_claim_is_false() -> Result<(), Box<dyn std::error::Error>> {
    let graph = ndp_graph::Graph::from_edges(2, [(0, 1)])?;
    let setting = ndp_refute::Setting::new(&graph, ndp_refute::WeightRule::Metropolis, ndp_refute::Protocol::Muffliato, 1)?;
    let (sources, mut sum) = ([1], 0.0);
    for u in sources {
        let unit: num_rational::BigRational =
            ndp_refute::exact_unit_loss(&setting, 1, u, &[0]).parse()?;
        sum += num_traits::ToPrimitive::to_f64(&unit).ok_or("too large")?;
    }
    // Exactly: 1/2.
    assert!(1.0 / 2.0 * 2.0 / (2.0 * 1.0 * 1.0) * sum > 0.25);
    Ok(())
}
