//! What observers of a linear Gaussian protocol learn, as a fraction.

use crate::protocol::Row;
use crate::setting::Setting;
use num_rational::BigRational;
use num_traits::Zero;

/// The exact loss of node `u` towards the nodes `observers` together after `rounds` rounds, in units of the
/// local loss `alpha / (2 sigma²)`: a fraction in lowest terms, as text such as `1/3`.
///
/// The observers receive the messages of their neighbors and know their own data and noises. With `R` the
/// rows of what they receive over the noises that they do not know, of variances `D`, the loss is
/// `max over y of (y·R e_u)² / (y·R D Rᵀ y)`: a change of the data of `u` moves what is received along column
/// `u`, the noise of `u`, whose variance is 1. It is added up along a basis that is orthogonal for `D`
/// (Gram-Schmidt without roots), in fractions; nothing is rounded.
///
/// Whom it protects: node `u`'s one number, against these nodes together, who follow the protocol, with the
/// graph, the weights and the order of messages known. Grade: exact. Source: `docs/theory.md`, exact loss.
///
/// # Panics
/// If a node does not exist or the setting has fewer rounds.
#[must_use]
pub fn exact_unit_loss(setting: &Setting, rounds: usize, u: usize, observers: &[usize]) -> String {
    let mut seen = Seen::new(setting, observers);
    (0..rounds).for_each(|_| seen.advance(setting));
    seen.sums[u].to_string()
}

/// What observers have seen so far: an orthogonal basis of it, and the losses of all nodes towards them.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    observers: Vec<usize>,
    rounds: usize,
    basis: Vec<(Row, BigRational)>,
    /// In units of the local loss; 0 for observers themselves, whose loss is not asked for.
    pub(crate) sums: Vec<BigRational>,
}

impl Seen {
    pub(crate) fn new(setting: &Setting, observers: &[usize]) -> Self {
        let sums = vec![BigRational::zero(); setting.graph.node_count()];
        Self { observers: observers.to_vec(), rounds: 0, basis: Vec::new(), sums }
    }

    /// One round more.
    pub(crate) fn advance(&mut self, setting: &Setting) {
        let t = self.rounds;
        self.rounds += 1;
        let noises = &setting.messages.noises;
        let unknown = noises.iter().filter(|(_, owner)| !self.observers.contains(owner)).count();
        for w in setting.heard(t, &self.observers) {
            if self.basis.len() == unknown {
                return;
            }
            let mut row = setting.messages.sent[t][w].clone();
            for (x, (_, owner)) in row.iter_mut().zip(noises) {
                if self.observers.contains(owner) {
                    *x = BigRational::zero();
                }
            }
            for (before, square) in &self.basis {
                let factor = dot(&row, before, noises) / square;
                if !factor.is_zero() {
                    row.iter_mut().zip(before).for_each(|(x, y)| *x -= &factor * y);
                }
            }
            let square = dot(&row, &row, noises);
            if !square.is_zero() {
                // The columns of the data are those of the first noises.
                self.sums.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x * x / &square);
                self.basis.push((row, square));
            }
        }
    }
}

fn dot(x: &[BigRational], y: &[BigRational], noises: &[(BigRational, usize)]) -> BigRational {
    let terms = x.iter().zip(y).zip(noises).filter(|((x, y), _)| !x.is_zero() && !y.is_zero());
    terms.map(|((x, y), (variance, _))| x * y * variance).fold(BigRational::zero(), |sum, term| sum + term)
}
