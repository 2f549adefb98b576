//! OpenML 823, `houses`: census blocks of California, 1990.
//!
//! Its label is the binarised *longitude* (positive west of the mean), although the name suggests a price;
//! longitude is therefore not a feature. The rows are in geographic order: shuffle them before dealing them
//! to users.
//!
//! Pace, Barry, *Sparse Spatial Autoregressions*, Statistics & Probability Letters 33 (1997).

use super::archive::read_text;
use super::{Content, Data, DataError, DataSet, Download, Loaded, hash_lines, provenance};
use ndarray::Array2;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use std::path::Path;

/// The features, in the order of the columns.
pub const FEATURES: [&str; 8] = [
    "median_house_value",
    "median_income",
    "housing_median_age",
    "total_rooms",
    "total_bedrooms",
    "population",
    "households",
    "latitude",
];

/// Features and labels, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Houses {
    /// 20640 by 8, raw: neither standardised nor shuffled. Columns as in [`FEATURES`].
    pub features: Array2<f64>,
    /// `1.0` or `-1.0` for every row.
    pub labels: Vec<f64>,
}

/// The data set.
pub(super) const SET: DataSet = DataSet {
    name: "houses",
    about: "20640 census blocks with 8 features and a label",
    page: "https://www.openml.org/d/823",
    download: Some(Download { address: "https://www.openml.org/api/v1/json/data/823", file: "houses.arff" }),
    files: || NAMES.map(String::from).into(),
    load: |data| Ok(vec![load(data)?.map(Content::Table)]),
};

/// The files in which it may be packed, in order of preference.
const NAMES: [&str; 5] = [
    "houses.csv",
    "houses_openml823.arff.gz",
    "houses_openml823.arff",
    "dataset_823_houses.arff",
    "houses.arff",
];

const ROWS: usize = 20640;
const SHA256: &str = "13e0bb24b84295e5f857fe0ffcf931d1962424ecc28cad17879cd173e75d2c5c";

pub(super) fn load(data: &Data) -> Result<Loaded<Houses>, DataError> {
    let (houses, path) = match data.find(&NAMES.map(String::from)) {
        Some(path) => {
            let text = read_text(&path)?;
            let arff = path.to_string_lossy().contains(".arff");
            let houses = if arff { parse_arff(&text, &path)? } else { parse_csv(&text, &path)? };
            (houses, Some(path))
        }
        None => (stand_in(), None),
    };
    let source = provenance("houses (OpenML 823)", path.as_deref(), hash(&houses), SHA256)?;
    Ok(Loaded { value: houses, source })
}

/// The rows as shortest decimal text: 8 features and the label, separated by commas.
fn hash(houses: &Houses) -> String {
    hash_lines(houses.features.rows().into_iter().zip(&houses.labels).map(|(row, label)| {
        let cells: Vec<String> = row.iter().chain([label]).map(f64::to_string).collect();
        cells.join(",")
    }))
}

/// A CSV file with a header that names the features and `label`, in any order.
fn parse_csv(text: &str, path: &Path) -> Result<Houses, DataError> {
    let mut lines = text.lines().enumerate();
    let malformed = |line, problem| DataError::Malformed { path: path.into(), line, problem };
    let header: Vec<&str> = lines.next().map_or(Vec::new(), |(_, line)| line.split(',').collect());
    let column = |name: &str| {
        header
            .iter()
            .position(|&h| h.trim() == name)
            .ok_or_else(|| malformed(1, format!("no column {name:?} in the header")))
    };
    let mut columns = FEATURES.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
    columns.push(column("label")?);
    collect(lines, path, |cells| {
        (cells.len() == header.len()).then(|| columns.iter().map(|&c| cells[c]).collect())
    })
}

/// An ARFF file whose attributes are the features and `binaryClass`, in that order.
fn parse_arff(text: &str, path: &Path) -> Result<Houses, DataError> {
    let mut attributes = Vec::new();
    let mut lines = text.lines().enumerate();
    for (_, line) in lines.by_ref() {
        let mut words = line.split_whitespace();
        match words.next().map(str::to_ascii_lowercase).as_deref() {
            Some("@attribute") => attributes.extend(words.next().map(|w| w.trim_matches(['\'', '"']))),
            Some("@data") => break,
            _ => {}
        }
    }
    let expected: Vec<&str> = FEATURES.into_iter().chain(["binaryClass"]).collect();
    if attributes != expected {
        let problem = format!("expected the attributes {expected:?}, got {attributes:?}");
        return Err(DataError::Malformed { path: path.into(), line: 1, problem });
    }
    collect(lines, path, |cells| (cells.len() == 9).then(|| cells.to_vec()))
}

/// The rows of comma-separated lines; `pick` takes the 8 features and the label from each.
fn collect<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    path: &Path,
    pick: impl Fn(&[&'a str]) -> Option<Vec<&'a str>>,
) -> Result<Houses, DataError> {
    let mut features = Vec::new();
    let mut labels = Vec::new();
    for (i, line) in lines {
        if line.trim().is_empty() || line.starts_with('%') {
            continue;
        }
        let malformed = || DataError::Malformed {
            path: path.into(),
            line: i + 1,
            problem: format!("expected 8 finite numbers and a label, got {line:?}"),
        };
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let picked = pick(&cells).ok_or_else(malformed)?;
        let (label, numbers) = picked.split_last().ok_or_else(malformed)?;
        labels.push(match label.trim_matches(['\'', '"']) {
            "P" | "1" | "+1" => 1.0,
            "N" | "-1" => -1.0,
            _ => return Err(malformed()),
        });
        for number in numbers {
            let value = number.parse().ok().filter(|value: &f64| value.is_finite());
            features.push(value.ok_or_else(malformed)?);
        }
    }
    let features = Array2::from_shape_vec((labels.len(), FEATURES.len()), features)
        .map_err(|e| DataError::Malformed { path: path.into(), line: 1, problem: e.to_string() })?;
    Ok(Houses { features, labels })
}

/// The same number of rows, with features of about the same sizes and a label that a linear rule predicts
/// well but not perfectly; the stand-in is always the same.
fn stand_in() -> Houses {
    /// Typical value and spread of the logarithm of every feature.
    const SHAPE: [(f64, f64); 8] = [
        (12.1, 0.57),
        (1.27, 0.47),
        (3.26, 0.5),
        (7.6, 0.75),
        (6.0, 0.75),
        (7.0, 0.74),
        (5.97, 0.73),
        (3.57, 0.06),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(823);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let mut features = Array2::zeros((ROWS, FEATURES.len()));
    let mut labels = Vec::with_capacity(ROWS);
    for mut row in features.rows_mut() {
        // Rooms, bedrooms, population and households grow together, as in the census.
        let size = normal();
        let mut score = 0.0;
        for (j, (cell, (centre, spread))) in row.iter_mut().zip(SHAPE).enumerate() {
            let z = if (3..7).contains(&j) { 0.9 * size + 0.435 * normal() } else { normal() };
            *cell = (centre + spread * z).exp();
            score += [0.3, 0.4, 0.2, 0.0, 0.0, 0.0, 0.0, 2.0][j] * z;
        }
        labels.push(if score + 0.6 * normal() > 0.36 { 1.0 } else { -1.0 });
    }
    Houses { features, labels }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "median_house_value,median_income,housing_median_age,total_rooms,total_bedrooms,\
                          population,households,latitude,longitude,label";

    fn arff(rows: &str) -> String {
        let attributes: String =
            FEATURES.iter().map(|name| format!("@ATTRIBUTE '{name}' numeric\n")).collect();
        format!("% comment\n@relation houses\n{attributes}@attribute binaryClass {{P,N}}\n@DATA\n{rows}")
    }

    #[test]
    fn both_packings_of_the_same_rows_have_the_same_hash() -> Result<(), DataError> {
        let path = Path::new("t");
        let csv =
            format!("{HEADER}\n452600,8.3252,41,880,129,322,126,37.88,-122.23,1\n1,2,3,4,5,6,7,8,9,-1\n");
        let from_csv = parse_csv(&csv, path)?;
        let rows = "452600.0,8.3252,41,880,129,322,126,37.88,P\n1,2,3,4,5,6,7,8,'N'\n";
        let from_arff = parse_arff(&arff(rows), path)?;
        assert_eq!(from_csv, from_arff);
        assert_eq!(from_csv.labels, [1.0, -1.0]);
        let lines = ["452600,8.3252,41,880,129,322,126,37.88,1", "1,2,3,4,5,6,7,8,-1"];
        assert_eq!(hash(&from_csv), hash_lines(lines.into_iter().map(String::from)));
        Ok(())
    }

    #[test]
    fn junk_is_named_with_its_line() {
        let path = Path::new("t");
        let bad =
            ["1,2,3,4,5,6,7,8,9,0", "1,2,3,4,5,6,7,8,9", "x,2,3,4,5,6,7,8,9,1", "NaN,2,3,4,5,6,7,8,9,1"];
        for row in bad {
            match parse_csv(&format!("{HEADER}\n1,2,3,4,5,6,7,8,9,1\n{row}\n"), path) {
                Err(DataError::Malformed { line: 3, .. }) => {}
                other => panic!("{row:?} gave {other:?}"),
            }
        }
        assert!(matches!(parse_csv("", path), Err(DataError::Malformed { line: 1, .. })));
        assert!(matches!(parse_arff("@data\n", path), Err(DataError::Malformed { .. })));
    }

    #[test]
    fn the_stand_in_has_the_shape_of_the_data_and_says_so() -> Result<(), DataError> {
        let loaded = Data::stand_ins().houses()?;
        assert!(!loaded.source.real);
        assert_eq!(loaded.value.features.dim(), (ROWS, 8));
        assert!(loaded.value.features.iter().all(|x| x.is_finite() && *x > 0.0));
        // The real data have 8914 positive rows.
        let positive = loaded.value.labels.iter().filter(|&&label| label > 0.0).count();
        assert!((8000..10_000).contains(&positive), "{positive}");
        assert_eq!(loaded, Data::stand_ins().houses()?);
        Ok(())
    }
}
