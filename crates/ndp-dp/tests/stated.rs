//! What is said beside the number of a mechanism alone.

use ndp_dp::baselines::SampledGaussian;
use ndp_dp::subsampling::PoissonGaussian;
use ndp_dp::{
    Error, Gaussian, Mechanism, Moves, Neighbors, RandomizedResponse, RdpAccountant, Sensitivity, Sigma, Zcdp,
};

/// Sampling fixes what neighbors are; without it the sensitivity says so.
#[test]
fn mechanisms_say_what_they_are_about() -> Result<(), Error> {
    let gaussian = Gaussian { sensitivity: Sensitivity::new(2.0)?, sigma: Sigma::new(3.0)? };
    let of = |mechanism: &dyn Mechanism| mechanism.stated().map(|stated| (stated.neighbors, stated.moves));
    assert_eq!(of(&gaussian), Some((None, Moves::Vector { by: 2.0 })));
    let added = Some((Some(Neighbors::AddOrRemove), Moves::VectorInUnits));
    assert_eq!(of(&PoissonGaussian::new(gaussian, 0.1)?), added);
    let replaced = Some((Some(Neighbors::ReplaceOne), Moves::VectorInUnits));
    assert_eq!(of(&SampledGaussian::new(0.1, 1.0)?), replaced);
    let response = RandomizedResponse::with_epsilon(4, 1.0)?;
    assert_eq!(of(&response), Some((Some(Neighbors::ReplaceOne), Moves::Label { of: 4 })));
    assert!(of(&RdpAccountant::default()).is_none() && of(&Zcdp::new(0.1)?).is_none());
    Ok(())
}

/// The form in files, word by word.
#[test]
fn the_form_in_files_is_kept() -> Result<(), Box<dyn std::error::Error>> {
    let response = RandomizedResponse::with_epsilon(4, 1.0)?;
    assert_eq!(
        serde_json::to_string(&response.stated())?,
        "{\"version\":1,\"neighbors\":\"replace-one\",\"moves\":{\"what\":\"label\",\"of\":4},\
         \"function\":\"ndp_dp::RandomizedResponse\",\"theorem\":\"Accounting\"}"
    );
    Ok(())
}
