//! Privacy targets as a user writes them: `mean=0.1`, `worst=0.5`, or a file with limits.
//!
//! A file holds one limit a line, fields separated by white space or commas, lines that begin with `#` left
//! out, and perhaps a header: either `source observer loss` by labels, or `hops loss`, which limits all pairs at
//! least so many hops apart (up to the next line). Pairs that are not named may lose anything; `inf` says so.

use super::AnalysisError;
use crate::datasets::read_text;
use ndp_algos::LossReport;
use ndp_algos::target::{HopDistances, Measure, Scales, least_sigma, least_sigma_of_observer_means};
use ndp_dp::{Order, Sensitivity, Sigma};
use ndp_graph::Graph;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A target as it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetText {
    /// `mean=LOSS`.
    Mean(f64),
    /// `worst=LOSS`.
    Worst(f64),
    /// The name of a file.
    File(PathBuf),
}

impl FromStr for TargetText {
    type Err = AnalysisError;

    fn from_str(text: &str) -> Result<Self, AnalysisError> {
        let number = |what, got: &str| match got.trim().parse::<f64>() {
            Ok(loss) if 0.0 < loss && loss.is_finite() => Ok(loss),
            _ => Err(AnalysisError::InvalidTarget { what, got: got.into() }),
        };
        match text.split_once('=') {
            Some(("mean", loss)) => number("mean", loss).map(Self::Mean),
            Some(("worst", loss)) => number("worst", loss).map(Self::Worst),
            _ if Path::new(text).is_file() => Ok(Self::File(text.into())),
            _ => Err(AnalysisError::NoSuchTarget(text.into())),
        }
    }
}

impl TargetText {
    /// The target for the nodes of `graph`.
    ///
    /// # Errors
    /// [`AnalysisError::Data`] for a file that cannot be read, [`AnalysisError::Limits`] for one that cannot be
    /// understood.
    pub fn resolve(&self, graph: &Graph) -> Result<Target, AnalysisError> {
        match self {
            &Self::Mean(loss) => Ok(Target::Mean(loss)),
            &Self::Worst(loss) => Ok(Target::Worst(loss)),
            Self::File(path) => Limits::parse(&read_text(path)?, path, graph).map(Target::Limits),
        }
    }
}

/// What the losses must meet, in nats.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Towards every observer the losses of all others, added up and divided by `n`, are at most this.
    Mean(f64),
    /// No loss is larger.
    Worst(f64),
    /// A limit for each of some pairs.
    Limits(Limits),
}

/// Limits for pairs, or by distance.
#[derive(Clone, Debug, PartialEq)]
pub enum Limits {
    /// For pairs `(source, observer)`.
    Pairs(BTreeMap<(usize, usize), f64>),
    /// For all pairs at least so many hops apart, up to the next entry.
    Hops(BTreeMap<u32, f64>, HopDistances),
}

impl Target {
    /// What `v` may learn about `u`; infinity if there is no limit. For a mean there is none.
    #[must_use]
    pub fn allowed(&self, u: usize, v: usize) -> f64 {
        match self {
            Self::Mean(_) => f64::INFINITY,
            &Self::Worst(loss) => loss,
            Self::Limits(limits) => limits.get(u, v),
        }
    }

    /// The least noise at which losses of linear Gaussian protocols meet the target.
    ///
    /// # Errors
    /// Those of [`least_sigma`] and [`least_sigma_of_observer_means`].
    pub fn least_sigma(
        &self,
        losses: &[LossReport],
        (order, sensitivity): (Order, Sensitivity),
    ) -> Result<Sigma, ndp_algos::Error> {
        if let &Self::Mean(loss) = self {
            return least_sigma_of_observer_means(losses, (order, sensitivity), loss);
        }
        let scales = Scales { measure: Measure::Renyi(order), sensitivity };
        Ok(least_sigma(losses, scales, |u, v| self.allowed(u, v))?.sigma)
    }

    /// How much of what is allowed the losses towards `v` use up: at most 1 when the target is met.
    #[must_use]
    pub fn share(&self, v: usize, losses: &[f64]) -> f64 {
        let others = losses.iter().enumerate().filter(|&(u, _)| u != v);
        match self {
            Self::Mean(loss) => {
                // Rounded up: a sum of so many numbers.
                let rounding = 1.0 + (losses.len() + 8) as f64 * f64::EPSILON;
                others.map(|(_, loss)| loss).sum::<f64>() / losses.len() as f64 * rounding / loss
            }
            _ => others.fold(0.0, |most: f64, (u, &loss)| {
                // No loss is no share, whatever is allowed.
                if loss == 0.0 { most } else { most.max(loss / self.allowed(u, v)) }
            }),
        }
    }
}

impl Limits {
    fn get(&self, u: usize, v: usize) -> f64 {
        match self {
            Self::Pairs(limits) => limits.get(&(u, v)).copied().unwrap_or(f64::INFINITY),
            Self::Hops(limits, hops) => {
                let below = hops.get(u, v).and_then(|hops| limits.range(..=hops).next_back());
                below.map_or(f64::INFINITY, |(_, &loss)| loss)
            }
        }
    }

    /// Number of lines.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Pairs(limits) => limits.len(),
            Self::Hops(limits, _) => limits.len(),
        }
    }

    /// Reads the limits of a file; see the module.
    fn parse(text: &str, path: &Path, graph: &Graph) -> Result<Self, AnalysisError> {
        let nodes: BTreeMap<String, usize> = match graph.labels() {
            Some(labels) => labels.iter().cloned().zip(0..).collect(),
            None => (0..graph.node_count()).map(|v| (v.to_string(), v)).collect(),
        };
        let mut pairs = BTreeMap::new();
        let mut by_hops = BTreeMap::new();
        let mut first = true;
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fail = |problem: String| AnalysisError::Limits { path: path.into(), line: i + 1, problem };
            let fields: Vec<&str> = if line.contains(',') {
                line.split(',').map(str::trim).collect()
            } else {
                line.split_whitespace().collect()
            };
            let loss = fields.last().and_then(|loss| loss.parse::<f64>().ok());
            if std::mem::take(&mut first) && loss.is_none() && matches!(fields.len(), 2 | 3) {
                continue;
            }
            let limit = || match loss {
                Some(loss) if 0.0 < loss => Ok(loss),
                _ => Err(fail(format!("the loss must be a positive number of nats, got {line:?}"))),
            };
            let node = |label: &str| {
                nodes.get(label).copied().ok_or_else(|| fail(format!("the graph has no node {label:?}")))
            };
            let repeated = match fields[..] {
                [hops, _] => {
                    let parsed = hops.parse::<u32>().ok().filter(|&hops| hops > 0);
                    let hops = parsed.ok_or_else(|| fail(format!("{hops:?} is no number of hops")))?;
                    by_hops.insert(hops, limit()?).is_some()
                }
                [u, v, _] if u == v => return Err(fail(format!("{u:?} is both source and observer"))),
                [u, v, _] => pairs.insert((node(u)?, node(v)?), limit()?).is_some(),
                _ => {
                    return Err(fail(format!(
                        "expected `source observer loss` or `hops loss`, got {line:?}"
                    )));
                }
            };
            if repeated {
                return Err(fail("this limit is given twice".into()));
            }
            if !pairs.is_empty() && !by_hops.is_empty() {
                return Err(fail("limits for pairs and by hops cannot be mixed".into()));
            }
        }
        if !pairs.is_empty() {
            return Ok(Self::Pairs(pairs));
        }
        if by_hops.is_empty() {
            let problem = "there is no limit in the file".into();
            return Err(AnalysisError::Limits { path: path.into(), line: 1, problem });
        }
        Ok(Self::Hops(by_hops, HopDistances::new(graph)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators::path_graph;

    fn parse(text: &str) -> Result<Target, String> {
        let graph =
            path_graph(4).unwrap().with_labels(["a", "b", "c", "d"].map(String::from).into()).unwrap();
        Limits::parse(text, Path::new("limits"), &graph).map(Target::Limits).map_err(|e| e.to_string())
    }

    #[test]
    fn words_are_told_from_files() {
        assert_eq!("mean=0.5".parse::<TargetText>().unwrap(), TargetText::Mean(0.5));
        assert_eq!("worst=1e-3".parse::<TargetText>().unwrap(), TargetText::Worst(1e-3));
        for text in ["mean=", "mean=x", "worst=0", "worst=-1", "worst=inf", "mean=NaN"] {
            let error = text.parse::<TargetText>().unwrap_err();
            assert!(matches!(error, AnalysisError::InvalidTarget { .. }), "{error}");
        }
        for text in ["", "0.1", "best=1", "no/such/file"] {
            assert!(matches!(text.parse::<TargetText>(), Err(AnalysisError::NoSuchTarget(_))));
        }
    }

    #[test]
    fn limits_by_pair_and_by_hops() -> Result<(), String> {
        let pairs = parse("source,observer,loss\na,d,0.5\nd,a,inf\n")?;
        assert_eq!(
            [(0, 3), (3, 0), (1, 2)].map(|(u, v)| pairs.allowed(u, v)),
            [0.5, f64::INFINITY, f64::INFINITY]
        );
        let hops = parse("# far nodes\n2 0.5\n\n3 0.25\n")?;
        assert_eq!([1, 2, 3].map(|v| hops.allowed(0, v)), [f64::INFINITY, 0.5, 0.25]);
        assert_eq!(hops.share(0, &[9.0, 9.0, 0.25, 0.25]), 1.0);
        assert_eq!(Target::Worst(2.0).share(0, &[9.0, 1.0, 0.5]), 0.5);
        Ok(())
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let cases = [
            ("a d 0.5\na x 1\n", "limits, line 2: the graph has no node \"x\""),
            ("a d 0.5\na c zero\n", "line 2: the loss must be a positive number"),
            ("a d 0\n", "line 1: the loss must be a positive number"),
            ("a d nan\n", "line 1: the loss must be a positive number"),
            ("a d 1\na d 2\n", "line 2: this limit is given twice"),
            ("a d 1\n2 1\n", "line 2: limits for pairs and by hops"),
            ("a a 1\n", "line 1: \"a\" is both source and observer"),
            ("1.5 1\n", "line 1: \"1.5\" is no number of hops"),
            ("a b c 1\n", "line 1: expected"),
            ("# nothing\n", "there is no limit"),
            ("hops,loss\n", "there is no limit"),
        ];
        for (text, expected) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
