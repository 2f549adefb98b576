//! The Facebook ego networks of SNAP.
//!
//! McAuley, Leskovec, *Learning to Discover Social Circles in Ego Networks*, NIPS 2012.

use super::archive::{read, tar_member};
use super::network::Network;
use super::{Content, Data, DataError, DataSet, Download, Loaded};
use ndp_graph::Graph;

/// The ten egos, in the order of the data set's page.
pub const EGOS: [u32; 10] = [0, 107, 348, 414, 686, 698, 1684, 1912, 3437, 3980];

/// The official archive.
pub(super) const ARCHIVES: [&str; 3] = ["facebook.tar.gz", "facebook/facebook.tar.gz", "facebook.tar"];

/// The names under which the unpacked network of an ego is looked up.
pub(super) fn ego_names(ego: u32) -> [String; 2] {
    [format!("facebook/{ego}.edges"), format!("{ego}.edges")]
}

/// The ten ego networks.
pub(super) const EGO_SET: DataSet = DataSet {
    name: "facebook",
    about: "friendships among the friends of ten users of Facebook, ten graphs",
    page: "https://snap.stanford.edu/data/ego-Facebook.html",
    download: Some(Download {
        address: "https://snap.stanford.edu/data/facebook.tar.gz",
        file: "facebook.tar.gz",
    }),
    files: || ARCHIVES.map(String::from).into_iter().chain(ego_names(EGOS[0])).collect(),
    load: |data| EGOS.iter().map(|&ego| Ok(load_ego(data, ego)?.map(Content::Graph))).collect(),
};

/// The merged network.
pub(super) const COMBINED_SET: DataSet = DataSet {
    name: "facebook-combined",
    about: "the ten ego networks of Facebook merged, egos included",
    page: "https://snap.stanford.edu/data/ego-Facebook.html",
    download: Some(Download {
        address: "https://snap.stanford.edu/data/facebook_combined.txt.gz",
        file: "facebook_combined.txt.gz",
    }),
    files: || COMBINED_NAMES.map(String::from).into(),
    load: |data| Ok(vec![load_combined(data)?.map(Content::Graph)]),
};

pub(super) fn load_ego(data: &Data, ego: u32) -> Result<Loaded<Graph>, DataError> {
    let network =
        EGOS.iter().position(|&e| e == ego).map(|i| &NETWORKS[i]).ok_or(DataError::NoSuchEgo(ego))?;
    let file = format!("{ego}.edges");
    let name = format!("facebook ego {ego}");
    if let Some(path) = data.find(&ego_names(ego)) {
        return network.real(&name, &path, &read(&path)?);
    }
    if let Some(path) = data.find(&ARCHIVES.map(String::from)) {
        let archive = read(&path)?;
        let member = tar_member(&archive, &file).ok_or_else(|| DataError::Read {
            path: path.clone(),
            source: std::io::Error::new(std::io::ErrorKind::NotFound, format!("no member {file}")),
        })?;
        return network.real(&name, &path, member);
    }
    network.stand_in(&name, u64::from(ego))
}

pub(super) fn load_combined(data: &Data) -> Result<Loaded<Graph>, DataError> {
    COMBINED.load(data, "facebook combined", &COMBINED_NAMES.map(String::from), u64::MAX)
}

const COMBINED_NAMES: [&str; 3] =
    ["facebook/facebook_combined.txt.gz", "facebook_combined.txt.gz", "facebook_combined.txt"];

/// In the order of [`EGOS`].
const NETWORKS: [Network; 10] = [
    Network::of_pairs(333, 2519, "2b9ca24e03600a0cb199ffe6680b9c19829237f70d4411985e1b226403299d29"),
    Network::of_pairs(1034, 26749, "e2cdd068c7e559c2cad775de188d2b8f65fd2a892e34a89442944eb0f505f76d"),
    Network::of_pairs(224, 3192, "ba4ac14b1b7c6e5321a7b5ba9d98fc7cf2e7d86dcdb6286c9b9ce223308a5822"),
    Network::of_pairs(150, 1693, "de93806b5aff2ad6dcee7158aab6fa16393bc190f2442d9c75528a77e74be7da"),
    Network::of_pairs(168, 1656, "057ceef4eec08209bbc1aab0f3735bcca2331cbe69ffa12107926fd16611d63c"),
    Network::of_pairs(61, 270, "9bda7429cc6495cb1e774c064efe43241162adc72a75d35fbbb51236e0ccd76f"),
    Network::of_pairs(786, 14024, "8c7d19775f0f16f38ad7e36e10f4acc13a9b2d14fc929705a36451ac6a92690f"),
    Network::of_pairs(747, 30025, "8536a1fe9cafa58c0ed7a9ec2522080c0b65f3cda40f3fa099f33d446e65c05b"),
    Network::of_pairs(534, 4813, "7753a773d46a52fcb54c98e0f2edcab14f45b6b2ff75fa6aa213f407fc742d05"),
    Network::of_pairs(52, 146, "45dd882b9baebca7338444e730e84770fec78db21d5540ff30b1628ffde0536e"),
];

const COMBINED: Network =
    Network::of_pairs(4039, 88234, "f41c026ed8af3cc3359f1ca5573d0605fb09ae0eefa34544b820fd8c6e2ef296");

#[cfg(test)]
mod tests {
    use super::super::archive::tests::tar;
    use super::*;

    #[test]
    fn stand_ins_have_the_shape_of_the_data_and_say_so() -> Result<(), DataError> {
        for (ego, network) in EGOS.into_iter().zip(&NETWORKS) {
            let loaded = Data::stand_ins().ego(ego)?;
            assert_eq!(loaded.value.node_count(), network.nodes);
            assert_eq!(loaded.value.edge_count(), network.edges);
            assert!(loaded.value.is_connected());
            assert!(!loaded.source.real);
            assert_eq!(loaded, Data::stand_ins().ego(ego)?);
        }
        assert!(matches!(Data::stand_ins().ego(1), Err(DataError::NoSuchEgo(1))));
        Ok(())
    }

    #[test]
    fn other_content_is_refused_from_a_file_and_from_the_archive() -> Result<(), std::io::Error> {
        let folder = crate::testing::folder("facebook-wrong");
        std::fs::write(folder.join("0.edges"), "1 2\n2 1\n")?;
        assert!(matches!(Data::only(&folder).ego(0), Err(DataError::WrongContent { .. })));
        std::fs::write(folder.join("facebook.tar"), tar(&[("facebook/107.edges", b"1 2\n")]))?;
        assert!(matches!(Data::only(&folder).ego(107), Err(DataError::WrongContent { .. })));
        assert!(matches!(Data::only(&folder).ego(348), Err(DataError::Read { .. })));
        std::fs::write(folder.join("facebook_combined.txt.gz"), b"\x1f\x8bnot compressed")?;
        assert!(matches!(Data::only(&folder).facebook_combined(), Err(DataError::Read { .. })));
        Ok(())
    }
}
