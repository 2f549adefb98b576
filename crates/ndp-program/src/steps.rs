//! The steps of a program: sums, gossip, messages, and nodes that join and leave.

use crate::build::{Presence, Program, Seeing, Value, distinct};
use crate::mixing::MixingMatrix;
use crate::registers::Definition;
use crate::{ProgramError, Weight};
use ndp_graph::Graph;
use num_rational::BigRational;
use num_traits::Zero;
use std::sync::Arc;

impl Program {
    /// A weighted sum of values.
    ///
    /// # Errors
    /// [`ProgramError::UnknownValue`], [`ProgramError::NotFinite`].
    pub fn combine<W: Into<Weight>>(
        &mut self,
        terms: impl IntoIterator<Item = (W, Value)>,
    ) -> Result<Value, ProgramError> {
        let mut exact: Vec<(usize, Arc<BigRational>)> = Vec::new();
        for (weight, value) in terms {
            let weight = weight.into();
            exact.push((self.check(value)?, Arc::clone(weight.shared("a weight")?)));
        }
        // One weight for every value, ascending.
        exact.sort_by_key(|(value, _)| *value);
        exact.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                *Arc::make_mut(&mut kept.1) += &*next.1;
            }
            same
        });
        exact.retain(|(_, weight)| !weight.is_zero());
        self.push(Definition::Sum(exact))
    }

    /// The sum of values.
    ///
    /// # Errors
    /// [`ProgramError::UnknownValue`].
    pub fn add(&mut self, values: &[Value]) -> Result<Value, ProgramError> {
        self.combine(values.iter().map(|&value| (1, value)))
    }

    /// The sums of two lists, element by element.
    ///
    /// # Errors
    /// [`ProgramError::Shape`], [`ProgramError::UnknownValue`].
    pub fn add_all(&mut self, a: &[Value], b: &[Value]) -> Result<Vec<Value>, ProgramError> {
        if a.len() != b.len() {
            return Err(ProgramError::Shape { what: "values to add", expected: a.len(), got: b.len() });
        }
        a.iter().zip(b).map(|(&a, &b)| self.add(&[a, b])).collect()
    }

    /// One step of gossip: from one value of every node, `y_u = Σ_v W_uv x_v`. The matrix is kept as it is,
    /// not written out, and steps with the same [`MixingMatrix`] share it.
    ///
    /// # Errors
    /// [`ProgramError::Shape`]; [`ProgramError::Absent`] if the matrix has a weight between an absent node
    /// and another one; [`ProgramError::UnknownValue`].
    pub fn gossip(
        &mut self,
        matrix: impl Into<MixingMatrix>,
        values: &[Value],
    ) -> Result<Vec<Value>, ProgramError> {
        let matrix = matrix.into();
        for (what, got) in [("rows of a gossip matrix", matrix.node_count()), ("values to mix", values.len())]
        {
            if got != self.nodes {
                return Err(ProgramError::Shape { what, expected: self.nodes, got });
            }
        }
        let inputs: Vec<usize> = values.iter().map(|&x| self.check(x)).collect::<Result<_, _>>()?;
        for u in 0..self.nodes {
            for v in matrix.row(u).iter().map(|(v, _)| *v as usize).filter(|&v| v != u) {
                self.present(u, "take part in gossip")?;
                self.present(v, "take part in gossip")?;
            }
        }
        let inputs = Arc::new(inputs);
        (0..self.nodes)
            .map(|row| {
                let (mixing, inputs) = (matrix.clone(), inputs.clone());
                self.push(Definition::Mixed { mixing, inputs, row })
            })
            .collect()
    }

    /// A message along the edge from one node to another.
    ///
    /// # Errors
    /// [`ProgramError::UnknownValue`], [`ProgramError::NodeOutOfRange`], [`ProgramError::Absent`],
    /// [`ProgramError::SameEnds`].
    pub fn send(&mut self, from: usize, to: usize, value: Value) -> Result<(), ProgramError> {
        self.check(value)?;
        if from == to {
            return Err(ProgramError::SameEnds { what: "a message", node: from });
        }
        self.present(from, "send")?;
        self.present(to, "receive")?;
        self.see(value, Seeing::Message { from, to });
        Ok(())
    }

    /// Every node sends its value to all its neighbors in `graph`; absent nodes neither send nor receive.
    ///
    /// # Errors
    /// Those of [`send`](Self::send); [`ProgramError::Shape`].
    pub fn send_to_neighbors(&mut self, graph: &Graph, values: &[Value]) -> Result<(), ProgramError> {
        for (what, got) in [("nodes of a graph", graph.node_count()), ("values to send", values.len())] {
            if got != self.nodes {
                return Err(ProgramError::Shape { what, expected: self.nodes, got });
            }
        }
        for (from, &value) in values.iter().enumerate() {
            for to in graph.neighbors(from).iter().map(|&to| to as usize) {
                if self.presence[from] != Presence::Left && self.presence[to] != Presence::Left {
                    self.send(from, to, value)?;
                }
            }
        }
        Ok(())
    }

    /// A value that everybody sees, including outsiders: a message of a node or, with `None` in its place, a
    /// value that becomes public without a sender, such as a released model.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    pub fn broadcast(&mut self, from: impl Into<Option<usize>>, value: Value) -> Result<(), ProgramError> {
        let from = from.into();
        self.check(value)?;
        if let Some(from) = from {
            self.present(from, "send")?;
        }
        self.see(value, Seeing::Broadcast { from });
        Ok(())
    }

    /// Every node broadcasts its value.
    ///
    /// # Errors
    /// Those of [`broadcast`](Self::broadcast); [`ProgramError::Shape`].
    pub fn broadcast_all(&mut self, values: &[Value]) -> Result<(), ProgramError> {
        if values.len() != self.nodes {
            let what = "values to send";
            return Err(ProgramError::Shape { what, expected: self.nodes, got: values.len() });
        }
        values.iter().enumerate().try_for_each(|(from, &value)| self.broadcast(from, value))
    }

    /// A value that `node` knows without a message: noise that a dealer hands out, which is correlated with
    /// that of others.
    ///
    /// # Errors
    /// [`ProgramError::UnknownValue`], [`ProgramError::NodeOutOfRange`], [`ProgramError::Absent`].
    pub(super) fn hold(&mut self, node: usize, value: Value) -> Result<(), ProgramError> {
        self.check(value)?;
        self.present(node, "hold a value")?;
        self.see(value, Seeing::Held { by: node });
        Ok(())
    }

    /// A secure sum: node `to` learns the weighted sum of the addends of a group, given as node, weight and
    /// value, and nobody learns anything else. The sum can be used further, also in other sums.
    ///
    /// Only sums of real numbers are described: noise that is rounded, or taken modulo a number, is not
    /// Gaussian.
    ///
    /// # Errors
    /// [`ProgramError::SmallGroup`] for fewer than two addends, as the sum would be a message;
    /// [`ProgramError::Repeated`]; those of [`send`](Self::send).
    pub fn secure_sum<W: Into<Weight>>(
        &mut self,
        to: usize,
        addends: impl IntoIterator<Item = (usize, W, Value)>,
    ) -> Result<Value, ProgramError> {
        let (mut group, mut terms) = (Vec::new(), Vec::new());
        for (node, weight, value) in addends {
            group.push(node);
            terms.push((weight, value));
        }
        if group.len() < 2 {
            return Err(ProgramError::SmallGroup { what: "a secure sum", got: group.len() });
        }
        distinct(&group, "a secure sum")?;
        group.iter().try_for_each(|&node| self.present(node, "take part in a secure sum"))?;
        self.present(to, "receive")?;
        let sum = self.combine(terms)?;
        self.see(sum, Seeing::SecureSum { to, group });
        Ok(sum)
    }

    /// A node joins now; it must not have taken part before.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`]; [`ProgramError::LateJoin`].
    pub fn join(&mut self, node: usize) -> Result<(), ProgramError> {
        match self.state(node)? {
            Presence::New => {
                self.presence[node] = Presence::Active;
                self.note(node, true);
                Ok(())
            }
            Presence::Active | Presence::Left => Err(ProgramError::LateJoin(node)),
        }
    }

    /// Whether a node has left; `false` for one that does not exist.
    pub(super) fn has_left(&self, node: usize) -> bool {
        self.presence.get(node) == Some(&Presence::Left)
    }

    /// A node leaves for good: it sends, receives and mixes no more. Its noises stay secret, and its masks
    /// are not cancelled.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`]; [`ProgramError::Absent`] if it has left before.
    pub fn leave(&mut self, node: usize) -> Result<(), ProgramError> {
        self.present(node, "leave")?;
        self.presence[node] = Presence::Left;
        self.note(node, false);
        Ok(())
    }
}
