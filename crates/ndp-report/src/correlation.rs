//! Correlation of pairs of numbers.

/// Pearson's correlation; 0 when one coordinate is constant.
pub fn pearson(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let (mx, my) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xy += (x - mx) * (y - my);
        xx += (x - mx) * (x - mx);
        yy += (y - my) * (y - my);
    }
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}

/// Ranks of both coordinates, ties sharing their mean rank.
pub fn ranks(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let rank = |values: Vec<f64>| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        let mut start = 0;
        while start < order.len() {
            let mut end = start;
            while end + 1 < order.len() && values[order[end + 1]] == values[order[start]] {
                end += 1;
            }
            for &k in &order[start..=end] {
                ranks[k] = (start + end) as f64 / 2.0;
            }
            start = end + 1;
        }
        ranks
    };
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    rank(x).into_iter().zip(rank(y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_of_known_samples() {
        assert!((pearson(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) - 1.0).abs() < 1e-12);
        assert!((pearson(&ranks(&[(0.0, 9.0), (1.0, 4.0), (2.0, 1.0)])) + 1.0).abs() < 1e-12);
        assert_eq!(ranks(&[(1.0, 5.0), (1.0, 7.0), (3.0, 6.0)]), [(0.5, 0.0), (0.5, 2.0), (2.0, 1.0)]);
        assert_eq!(pearson(&[(0.0, 1.0), (1.0, 1.0)]), 0.0);
    }
}
