//! What is seen, written row by row in floating point: for attacks on transcripts and for small cases.

use super::block::WIDTH;
use super::heard::Listener;
use super::messages::{Message, rows};
use super::run::State;
use super::{MessageNoise, Mixing, Moment, Part, Round, VectorProgram};
use ndarray::{Array2, s};
use ndp_account::parts::checked_coalition;
use ndp_account::{Error, View};
use ndp_graph::GossipSequence;
use ndp_linalg::memory::require_dense;

/// Rows over inputs and over noises.
struct Written {
    inputs: Array2<f64>,
    noises: Array2<f64>,
}

impl From<Array2<f64>> for Written {
    /// Every noise is added to its input.
    fn from(rows: Array2<f64>) -> Self {
        Self { inputs: rows.clone(), noises: rows }
    }
}

impl VectorProgram<'_> {
    /// The rows of all messages that a coalition hears, in order of time and within a round in order of
    /// senders, over the inputs and over the noises in order of time: noises of nodes in units of the first
    /// one, and noises of messages, one for each node or link, times their ratio.
    ///
    /// # Errors
    /// An invalid coalition; a view too large to write down; [`Error::NotOffered`] if nodes hear messages
    /// without the noise that outsiders hear.
    pub(super) fn view(&self, coalition: &[usize]) -> Result<View, Error> {
        self.checked()?;
        let coalition = checked_coalition(coalition, self.nodes)?;
        let written = match (self.same_matrix(), self.parts.as_slice()) {
            (Some((_, rounds)), _) => self.by_ages(rounds, &coalition)?,
            (None, [Part::Noise(_), Part::Changing(sequence)]) => going_back(sequence, &coalition)?,
            (None, [Part::Noise(_), ..]) if self.variances().len() == 1 && !self.has_noisy_messages() => {
                self.going_on(&coalition)?
            }
            _ => return Err(Error::NotOffered("the view of such a mixture of parts: state it as a program")),
        };
        let known = self.drawn_by(self.known(&coalition));
        let view = View::new(&coalition, written.inputs, written.noises, &known)?;
        Ok(view.with_source(self.source(&coalition)?))
    }

    /// For a single matrix in all rounds: the part of the noise of round `r` in a message of round `t`
    /// depends only on `t - r`.
    fn by_ages(&self, rounds: usize, coalition: &[usize]) -> Result<Written, Error> {
        let n = self.nodes;
        let Some(mixing) = self.mixing() else {
            let columns = n * self.variances().len();
            return Ok(Written { inputs: Array2::zeros((0, n)), noises: Array2::zeros((0, columns)) });
        };
        let heard = Listener::nodes(coalition, self.known(coalition)).hears(&Round::Matrix(mixing, true))?;
        let (d, per_round) = (heard.len(), mixing.noises());
        let variances = self.variances();
        let width = if per_round > 0 {
            let width = n + rounds * per_round;
            require_dense("a view written out row by row", rounds * d, n + width)?;
            width
        } else {
            require_rows(d, rounds, n, variances.len())?;
            n * variances.len()
        };
        let mut inputs = Array2::zeros((rounds * d, n));
        let mut noises = Array2::zeros((rounds * d, if width > n { width } else { 0 }));
        // Row `w` of `P_t(W)` for the sender of every message, as columns, since W is symmetric.
        let mut state =
            State::new(Array2::from_shape_fn((n, d), |(u, j)| f64::from(u8::from(u == heard[j].0))));
        let starts = self.starts_of_noises();
        for age in 0..rounds {
            if age > 0 {
                state.pass(&Round::Matrix(mixing, age == 1));
            }
            let power = &state.x;
            for (r, (&at, &variance)) in starts.iter().zip(&variances).enumerate().skip(1) {
                if at + age < rounds {
                    let factor = (variance / variances[0]).sqrt();
                    let block = (at + age) * d..(at + age + 1) * d;
                    noises.slice_mut(s![block, r * n..(r + 1) * n]).assign(&(&power.t() * factor));
                }
            }
            inputs.slice_mut(s![age * d..(age + 1) * d, ..]).assign(&power.t());
            // Without edges there are no messages, and the view has no columns for their noises.
            let Some((kind, ratio)) = mixing.noise.filter(|_| per_round > 0) else { continue };
            // A noise of round r enters the states of round r + 1 through one link, and then passes through
            // Wᵏ.
            let entered = entered(&mixing, kind, ratio, power);
            for t in age + 1..rounds {
                let from = n + (t - 1 - age) * per_round;
                noises.slice_mut(s![t * d..(t + 1) * d, from..from + per_round]).assign(&entered);
            }
        }
        // The first noise is added to the inputs before the first round.
        if width == n {
            noises = inputs.clone();
        } else {
            noises.slice_mut(s![.., ..n]).assign(&inputs);
        }
        if let Some((_, ratio)) = mixing.noise {
            for t in 0..rounds {
                for (j, &(_, noise)) in heard.iter().enumerate() {
                    noises[(t * d + j, n + t * per_round + noise)] += ratio;
                }
            }
        }
        Ok(Written { inputs, noises })
    }

    /// The rounds of the first part that has any; all parts have the same matrix.
    pub(super) fn mixing(&self) -> Option<Mixing<'_>> {
        self.parts
            .iter()
            .find_map(|part| if let Part::Rounds { mixing, .. } = part { Some(*mixing) } else { None })
    }

    /// The number of rounds before each noise of the nodes.
    pub(super) fn starts_of_noises(&self) -> Vec<usize> {
        let (mut rounds, mut starts) = (0, Vec::new());
        for part in &self.parts {
            match part {
                Part::Noise(_) => starts.push(rounds),
                Part::Rounds { times, .. } => rounds += times,
                _ => {}
            }
        }
        starts
    }

    /// With momentum the steps are not symmetric: the state as a combination of all inputs is followed from
    /// the start.
    fn going_on(&self, coalition: &[usize]) -> Result<Written, Error> {
        let mut listener = Listener::nodes(coalition, self.known(coalition));
        let messages =
            self.each_round().map(|round| Ok(listener.hears(&round)?.len())).sum::<Result<usize, Error>>()?;
        require_dense("a view written out row by row", 2 * messages + 2 * self.nodes, self.nodes)?;
        let mut rows = Array2::zeros((messages, self.nodes));
        let (mut state, mut row) = (State::new(Array2::eye(self.nodes)), 0);
        for moment in self.moments() {
            let Moment::Round(round) = moment else { continue };
            state.arrive(&round);
            for &(sender, _) in listener.hears(&round)?.iter() {
                rows.row_mut(row).assign(&state.x.row(sender));
                row += 1;
            }
            state.pass(&round);
        }
        Ok(rows.into())
    }
}

/// For symmetric steps: every message is followed back in time to its inputs.
fn going_back(sequence: &GossipSequence, coalition: &[usize]) -> Result<Written, Error> {
    let n = sequence.node_count();
    let messages: Vec<Message> = super::messages::received(sequence, coalition);
    require_dense("a view written out row by row", 2 * messages.len(), n)?;
    let mut view = Array2::zeros((messages.len(), n));
    for (at, chunk) in messages.chunks(WIDTH).enumerate() {
        let block = rows(sequence, chunk);
        for (u, row) in block.rows().iter().enumerate() {
            for lane in 0..chunk.len() {
                view[(at * WIDTH + lane, u)] = row.0[lane];
            }
        }
    }
    Ok(view.into())
}

/// The part of the noises of the messages of a round in the states weighted by `power`: senders by noises.
fn entered(mixing: &Mixing<'_>, kind: MessageNoise, ratio: f64, power: &Array2<f64>) -> Array2<f64> {
    let mut entered = Array2::zeros((power.ncols(), mixing.noises()));
    for (a, w, weight, k) in mixing.links() {
        let column = match kind {
            MessageNoise::Broadcast => w,
            MessageNoise::PerLink => k,
            MessageNoise::Overheard => break,
        };
        entered.column_mut(column).scaled_add(ratio * weight, &power.row(a));
    }
    entered
}

/// Checks that this number of rows, over inputs and over this number of noises of every node, may be written
/// down.
fn require_rows(senders: usize, rounds: usize, n: usize, noises: usize) -> Result<(), Error> {
    // With one noise, the state after the last round is also there.
    let rounds = (rounds as u64).saturating_add(u64::from(noises == 1));
    let columns = (n as u64).saturating_mul(noises as u64 + 1);
    let bytes = (senders as u64).saturating_mul(rounds).saturating_mul(columns).saturating_mul(8);
    if bytes <= VIEW_LIMIT {
        return Ok(());
    }
    let what = "a view written out row by row";
    Err(Error::Certify(ndp_certify::Error::TooLarge { what, bytes, limit: VIEW_LIMIT }))
}

/// The number of bytes that a view written row by row may take.
const VIEW_LIMIT: u64 = 4 << 30;
