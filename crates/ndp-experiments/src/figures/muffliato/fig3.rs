//! `muffliato/fig3`: loss against distance on hypercubes of growing size.

use super::by_distance::{self, axis, curves, rounds};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use ndp_dp::Grade;
use ndp_graph::GossipMatrix;
use ndp_graph::generators::hypercube_graph;
use ndp_report::figure::{Axis, Basis, Figure, Panel, Scale};

const DIMENSIONS: std::ops::RangeInclusive<u32> = 4..=12;
const QUICK_DIMENSIONS: std::ops::RangeInclusive<u32> = 4..=9;
const ALPHA: f64 = 2.0;
const SENSITIVITY: f64 = 1.0;
const SIGMA: f64 = 1.0;
const NODE: usize = 0;

/// Hypercubes `2⁴..2¹²`, one panel each.
pub const ENTRY: Entry = Entry {
    id: "muffliato/fig3",
    what: "loss against distance on hypercubes of 2^4 to 2^12 nodes",
    needs: &[],
    minutes: 0.1,
    tolerance: Tolerance::DETERMINISTIC,
    findings: &["F2"],
    test: Some((
        "crates/ndp-experiments/src/figures/muffliato/fig3.rs",
        "exact_values_follow_the_law_of_the_hypercube",
    )),
    measures: false,
    figure,
};

fn figure(scale: Scale, _seed: Seed, _data: &Data) -> anyhow::Result<Figure> {
    let mut figure = Figure::new(
        "Muffliato, figure 3: on these hypercubes the farthest node learns as much as a neighbor, whatever is printed",
    )
        .by(Grade::Printed, "ndp_printed::gossip::theorem1_from", "Muffliato")
        .by_named("towards", Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
        .by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
        .by(Grade::UpperBound, "ndp_algos::gossip::exact_loss", "Certified losses")
    .parameter("alpha", ALPHA)
    .parameter("sensitivity", SENSITIVITY)
    .parameter("sigma", SIGMA)
    .parameter("spread of the inputs", by_distance::SPREAD)
    .parameter("weights", "metropolis")
    .parameter("node", NODE)
    .parameter("own noise", "known")
    .claim("The more nodes a hypercube has, the faster the privacy loss, as Theorem 1 bounds it, fades with the distance.")
    .finding(
        "Exact losses are U-shaped, min(1, m / C(m, k)) at distance k on 2^m nodes after at least k rounds: the \
             farthest node learns as much as a neighbor. After fewer than k rounds they are 0; here T is at least m.",
    )
    .finding("The program sums the powers 1..T, which leaves out the most revealing message.")
    .finding("The program leaves out the farthest class; here it is drawn.")
    .check(by_distance::check())
    .titled_by([Basis::ends(by_distance::SOUND), Basis::Refuted(by_distance::check())])
    .columns(3);
    let mut views = Vec::new();
    for dimension in scale.pick(DIMENSIONS, QUICK_DIMENSIONS) {
        let matrix = GossipMatrix::metropolis(&hypercube_graph(dimension)?);
        let rounds = rounds(&matrix, SIGMA)?;
        let curves = curves(&matrix, NODE, rounds)?;
        let title = format!("hypercube with {} nodes, T = {rounds}", matrix.node_count());
        let panel =
            |title: &str| Panel::curves(title, Axis::linear("distance"), axis().range(5e-3, f64::INFINITY));
        views.push(panel(&title).with_all(by_distance::shown(&curves.series)));
        figure = figure
            .parameter(format!("T, {} nodes", matrix.node_count()), rounds)
            .note(format!("rank, {} nodes", matrix.node_count()), curves.report.rank)
            .note(format!("failure, {} nodes", matrix.node_count()), curves.report.failure)
            .panel(panel(&title).with_all(curves.series));
    }
    Ok(figure.drawn_as(views))
}

#[cfg(test)]
mod tests {
    use super::super::by_distance::{PRINTED, PROGRAM, SOUND};
    use super::*;
    use approx::assert_relative_eq;
    use ndp_dp::Grade;
    use ndp_report::figure::Series;

    fn series<'a>(figure: &'a Figure, panel: usize, name: &str) -> &'a Series {
        figure.panels[panel].series().iter().find(|s| s.name == name).unwrap()
    }

    /// What the authors' program plots for 2⁴, 2⁷ and 2⁹ nodes (`λ₂ = 1 - 2/(m + 1)`; `T` = 5, 10,
    /// 14), and Theorem 1 as printed by the closed form that reproduces it.
    #[test]
    fn printed_values_agree_with_the_authors_program() -> anyhow::Result<()> {
        let figure = figure(Scale::Quick, Seed::DEFAULT, &Data::stand_ins())?;
        let program: &[(usize, &[f64])] = &[
            (
                0,
                &[
                    2.2692316540065405,
                    1.625156957100535,
                    1.3409486695189947,
                    0.692945703861475,
                    0.41266568503144896,
                ],
            ),
            (
                3,
                &[
                    2.7015725233633376,
                    1.65886454443338,
                    1.0688092931959177,
                    0.5219266721172435,
                    0.2919959989296711,
                    0.18421571990623029,
                    0.11525323353632429,
                    0.07878426906161623,
                ],
            ),
            (
                5,
                &[
                    2.637128847499388,
                    1.4562820031659895,
                    0.8341842478742847,
                    0.36512738769904624,
                    0.19736995129258375,
                    0.1229851020570194,
                    0.08058741909534849,
                    0.0566557365846332,
                    0.03916880401670275,
                    0.028793954556172008,
                ],
            ),
        ];
        let printed: &[(usize, &[f64])] = &[
            (
                0,
                &[
                    1.8997625817186297,
                    2.378210765514909,
                    1.0531615176992732,
                    0.5154661990865448,
                    0.20656045367991704,
                ],
            ),
            (
                3,
                &[
                    2.620995607072169,
                    2.5731571556184525,
                    1.0079893295987863,
                    0.45715531798130465,
                    0.24789928293703697,
                    0.1371788484046354,
                    0.08500190832571858,
                    0.04644817510482509,
                ],
            ),
            (
                5,
                &[
                    2.609136339092454,
                    2.427229043504284,
                    0.8121575246708105,
                    0.3422484094665063,
                    0.1804096751532495,
                    0.10535243851648346,
                    0.06787230094159119,
                    0.04342208230395249,
                    0.029953374271891445,
                    0.019190053163955258,
                ],
            ),
        ];
        for (name, rows) in [(PROGRAM, program), (PRINTED, printed)] {
            for &(panel, row) in rows {
                let got = series(&figure, panel, name);
                assert_eq!(got.points.len(), row.len());
                for (k, (point, &want)) in got.points.iter().zip(row).enumerate() {
                    assert_eq!(point.x, k as f64);
                    for value in [point.y, point.low.unwrap(), point.high.unwrap()] {
                        assert_relative_eq!(value, want, max_relative = 1e-9);
                    }
                }
            }
        }
        Ok(())
    }

    /// A node is not heard of in fewer rounds than its distance; at that distance the law holds at once.
    #[test]
    fn the_law_of_the_hypercube_needs_as_many_rounds_as_the_distance() -> anyhow::Result<()> {
        for (m, rounds) in [(4, 2), (6, 3)] {
            let matrix = GossipMatrix::metropolis(&hypercube_graph(m)?);
            let found = curves(&matrix, NODE, rounds)?;
            let exact = found.series.iter().find(|s| s.name == SOUND).unwrap();
            let mut binomial = 1.0;
            for point in &exact.points {
                binomial *= (f64::from(m) + 1.0 - point.x) / point.x;
                let law = (f64::from(m) / binomial).min(1.0);
                let want = if point.x <= rounds as f64 { law } else { 0.0 };
                assert_relative_eq!(point.y, want, max_relative = 1e-9);
            }
        }
        Ok(())
    }

    #[test]
    fn exact_values_follow_the_law_of_the_hypercube() -> anyhow::Result<()> {
        let figure = figure(Scale::Quick, Seed::DEFAULT, &Data::stand_ins())?;
        let rounds = [5, 7, 8, 10, 12, 14];
        for (panel, (m, rounds)) in QUICK_DIMENSIONS.zip(rounds).enumerate() {
            assert!(figure.panels[panel].title.ends_with(&format!("T = {rounds}")));
            let exact = series(&figure, panel, SOUND);
            assert_eq!(exact.kind, Grade::Exact.into());
            let mut binomial = 1.0;
            for point in &exact.points {
                let k = point.x;
                binomial *= (f64::from(m) + 1.0 - k) / k;
                for value in [point.y, point.low.unwrap(), point.high.unwrap()] {
                    assert_relative_eq!(value, (f64::from(m) / binomial).min(1.0), max_relative = 1e-9);
                }
            }
            assert_eq!(exact.points.len(), m as usize);
        }
        Ok(())
    }
}
