//! The rounds of a program: the values that nodes hold before each of them, who hears them, and the weights
//! that lead from one round to the next.

use super::sent_values::{Form, Steps, sum};
use crate::MessageNoise;
use num_rational::BigRational;
use num_traits::{One, Zero};
use std::borrow::Cow;
use std::rc::Rc;

/// The row of a matrix: nodes, ascending, and their weights, which are not 0.
pub(super) type Row<'p> = Vec<(usize, Cow<'p, BigRational>)>;

/// What happens in a round.
pub(super) struct Layer<'p> {
    /// For every node its value before the round; nodes without neighbors have none.
    values: Vec<Option<usize>>,
    /// The variance of the noise that every node added since the round before.
    pub(super) variance: BigRational,
    /// Messages: senders and receivers, ascending. For each there is one in the other direction.
    pub(super) edges: Vec<(usize, usize)>,
    /// The rows of the matrix of the round; empty for the last round.
    pub(super) rows: Vec<Option<Rc<Row<'p>>>>,
}

/// Which messages carry noise, and its variance.
type Noisy = Option<(MessageNoise, BigRational)>;

/// The rounds of a program, in order; `None` for programs that have none.
pub(super) fn layers<'p>(steps: &mut Steps<'p>) -> Option<(Vec<Layer<'p>>, Noisy)> {
    let sent = steps.values_sent();
    // Values that are sent with noise; each with its sender.
    let mut states: Vec<Option<usize>> = vec![None; steps.program.values.len()];
    let mut messages: Vec<Message<'p>> = Vec::with_capacity(sent.len());
    for value in sent {
        let node = steps.senders[value]?;
        let form = steps.form(value, node)?;
        let state = match form.terms.as_slice() {
            [(state, weight)] if steps.messages_of[*state] > 0 && weight.is_one() => Some(*state),
            _ => None,
        };
        if let Some(state) = state
            && states[state].replace(node).is_some_and(|other| other != node)
        {
            return None;
        }
        messages.push(Message { value, node, state, form });
    }
    // The forms of states, ascending.
    let mut of_states: Vec<(usize, Form<'p>)> = Vec::new();
    for (state, node) in states.iter().enumerate() {
        if let Some(node) = node {
            of_states.push((state, steps.form(state, *node)?));
        }
    }
    // A state that nobody is sent, and that another value has, cannot be the state before a noise that stays.
    let stays = |state: &usize| states[*state].is_some();
    let clean = of_states.iter().all(|(_, form)| form.terms.iter().all(|(term, _)| !stays(term)))
        && of_states.iter().all(|(state, _)| steps.messages_of[*state] == 1);
    if clean {
        of_values(steps, messages, of_states)
    } else {
        of_messages(steps, &messages, of_states, &states)
    }
}

/// A value that is sent.
struct Message<'p> {
    value: usize,
    node: usize,
    /// The state to which noise was added.
    state: Option<usize>,
    form: Form<'p>,
}

/// Rounds in which nodes send what they hold.
fn of_values<'p>(
    steps: &Steps<'p>,
    messages: Vec<Message<'p>>,
    of_states: Vec<(usize, Form<'p>)>,
) -> Option<(Vec<Layer<'p>>, Noisy)> {
    let mut found = Found::new(steps);
    let mut of_states: Vec<(usize, Option<Form<'p>>)> =
        of_states.into_iter().map(|(state, form)| (state, Some(form))).collect();
    for Message { value, node, state, form } in messages {
        // What stood behind the noise belongs to the value.
        let form = match state {
            None => form,
            Some(_) if form.data => return None,
            Some(state) => {
                let at = of_states.binary_search_by_key(&state, |(state, _)| *state).ok()?;
                let before = of_states[at].1.take()?;
                Form { variance: sum(before.variance, form.variance), ..before }
            }
        };
        let round = found.place(value, node, form)?;
        let receivers = steps.receivers(value).map(|to| (node, to));
        found.layers[round].edges.extend(receivers);
    }
    Some((found.finished()?, None))
}

/// Rounds in which noise is added to what nodes send, and not to what they hold.
fn of_messages<'p>(
    steps: &Steps<'p>,
    messages: &[Message<'p>],
    of_states: Vec<(usize, Form<'p>)>,
    states: &[Option<usize>],
) -> Option<(Vec<Layer<'p>>, Noisy)> {
    let per_link = of_states.iter().any(|(state, _)| steps.messages_of[*state] > 1);
    // What is received counts as the state of its sender.
    let mut stands_for: Vec<Option<usize>> = vec![None; states.len()];
    for message in messages {
        stands_for[message.value] = Some(message.state?);
    }
    let mut found = Found::new(steps);
    for (state, mut form) in of_states {
        let node = states[state]?;
        for (term, _) in &mut form.terms {
            match stands_for[*term] {
                // A node averages what it was sent, and its own value, which carries no noise.
                Some(sent) if steps.receivers(*term).any(|to| to == node) => *term = sent,
                None if states[*term] == Some(node) => {}
                _ => return None,
            }
        }
        form.terms.sort_unstable_by_key(|(term, _)| *term);
        let starts = form.data;
        // Noise that stays is added once, at the start.
        if starts == form.variance.is_zero() {
            return None;
        }
        found.place(state, node, form)?;
    }
    let variance = messages.first()?.form.variance.clone();
    for message in messages {
        if message.form.data || message.form.variance != variance {
            return None;
        }
        let receivers = steps.receivers(message.value);
        if per_link && receivers.len() != 1 {
            return None;
        }
        let round = found.round_of[message.state?]?;
        found.layers[round].edges.extend(receivers.map(|to| (message.node, to)));
    }
    let kind = if per_link { MessageNoise::PerLink } else { MessageNoise::Broadcast };
    Some((found.finished()?, Some((kind, variance))))
}

/// The rounds of the values that were placed so far.
struct Found<'s, 'p> {
    steps: &'s Steps<'p>,
    /// For every value its round.
    round_of: Vec<Option<usize>>,
    /// For every value its node.
    node_of: Vec<usize>,
    layers: Vec<Layer<'p>>,
}

impl<'s, 'p> Found<'s, 'p> {
    fn new(steps: &'s Steps<'p>) -> Self {
        let values = steps.program.values.len();
        Self { steps, round_of: vec![None; values], node_of: vec![0; values], layers: Vec::new() }
    }

    /// Finds the round before which a node holds a value, from those of its terms.
    fn place(&mut self, value: usize, node: usize, form: Form<'p>) -> Option<usize> {
        let nodes = self.steps.program.node_count();
        let round = if form.data {
            // Nothing was received before.
            form.terms.is_empty().then_some(0)?
        } else {
            let before = self.round_of[form.terms.first()?.0]?;
            let mut row = Row::with_capacity(form.terms.len());
            for (term, weight) in form.terms {
                if self.round_of[term] != Some(before) {
                    return None;
                }
                row.push((self.node_of[term], weight));
            }
            row.sort_unstable_by_key(|(node, _)| *node);
            // Two messages of one node are no round.
            if row.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return None;
            }
            // Rounds often have the same matrix, whose rows are kept once.
            let earlier = before.checked_sub(1).and_then(|at| self.layers[at].rows.get(node)?.clone());
            let row = earlier.filter(|earlier| is_equal(earlier, &row)).unwrap_or_else(|| Rc::new(row));
            let rows = &mut self.layers[before].rows;
            rows.resize(nodes, None);
            rows[node] = Some(row);
            before + 1
        };
        if self.layers.len() == round {
            self.layers.push(Layer {
                values: vec![None; nodes],
                variance: form.variance.clone(),
                edges: Vec::new(),
                rows: Vec::new(),
            });
        }
        let layer = self.layers.get_mut(round)?;
        if layer.variance != form.variance || layer.values[node].replace(value).is_some() {
            return None;
        }
        (self.round_of[value], self.node_of[value]) = (Some(round), node);
        Some(round)
    }

    /// The rounds, if the same nodes send in all of them, and if all noise that is added at the start hides
    /// something.
    fn finished(mut self) -> Option<Vec<Layer<'p>>> {
        let first = self.layers.first()?;
        if first.variance.is_zero() {
            return None;
        }
        let sends: Vec<bool> = first.values.iter().map(Option::is_some).collect();
        for layer in &mut self.layers {
            if layer.values.iter().zip(&sends).any(|(value, sends)| value.is_some() != *sends) {
                return None;
            }
            layer.edges.sort_unstable();
            // Messages go both ways, each once.
            let mut back: Vec<(usize, usize)> = layer.edges.iter().map(|&(u, v)| (v, u)).collect();
            back.sort_unstable();
            if back != layer.edges || back.windows(2).any(|pair| pair[0] == pair[1]) {
                return None;
            }
        }
        Some(self.layers)
    }
}

/// Whether two rows have the same entries; quick where both are those of one matrix.
fn is_equal(a: &Row<'_>, b: &Row<'_>) -> bool {
    let same = |(x, y): (&BigRational, &BigRational)| std::ptr::eq(x, y) || x == y;
    a.len() == b.len() && a.iter().zip(b).all(|((u, x), (v, y))| u == v && same((x, y)))
}
