//! The real data sets, if `$NDP_DATA` names a folder that has them. Without them nothing is checked here; the
//! parsers and the refusal of other content have tests of their own.

use ndp_experiments::datasets::{Data, EGOS, SETS};
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    std::env::var_os("NDP_DATA").map(PathBuf::from).filter(|folder| folder.is_dir())
}

#[test]
fn all_packings_have_the_content_of_the_data_set() {
    let Some(folder) = folder() else { return };
    let data = Data::only(&folder);
    let houses = data.houses().unwrap();
    assert!(houses.source.real);
    assert_eq!(houses.value.labels.iter().filter(|&&label| label > 0.0).count(), 8914);
    let copy = std::env::temp_dir().join(format!("ndp-real-data-{}", std::process::id()));
    std::fs::create_dir_all(&copy).unwrap();
    let packed = Path::new("houses_openml823.arff.gz");
    std::fs::copy(folder.join(packed), copy.join(packed)).unwrap();
    assert_eq!(Data::only(&copy).houses().unwrap(), houses);
    std::fs::remove_dir_all(copy).unwrap();
}

#[test]
fn the_networks_have_the_known_shapes() {
    let Some(folder) = folder() else { return };
    let data = Data::only(&folder);
    let largest = EGOS.map(|ego| data.ego(ego).unwrap().value.largest_component().0.node_count());
    assert_eq!(largest, [324, 1034, 224, 148, 168, 40, 775, 744, 532, 44]);
    let combined = data.facebook_combined().unwrap();
    assert!(combined.source.real && combined.value.is_connected());
    assert_eq!((combined.value.node_count(), combined.value.edge_count()), (4039, 88234));
}

#[test]
fn every_set_of_the_registry_is_the_real_one() {
    let Some(folder) = folder() else { return };
    let data = Data::only(&folder);
    for set in SETS {
        if data.has(set.name) {
            assert!(set.is_real(&data).unwrap(), "{}", set.name);
        }
    }
    if data.has("lastfm-asia") {
        let graph = data.graph("lastfm-asia").unwrap().value;
        assert_eq!((graph.node_count(), graph.edge_count()), (7624, 27806));
        assert!(graph.is_connected());
        assert_eq!((0..7624).map(|v| graph.degree(v)).max(), Some(216));
    }
}
