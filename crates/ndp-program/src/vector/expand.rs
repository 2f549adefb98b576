//! The same statement, written value by value.

use super::run::mixed_share;
use super::{MessageNoise, Mixing, Moment, Round, VectorProgram};
use crate::{MixingMatrix, Program, Reads, Value};
use ndp_account::Error;
use ndp_graph::{GossipMatrix, Step};

/// A program that is being written, and the values of its nodes.
struct Writer<'p> {
    program: Program,
    x: Vec<Value>,
    /// The values before the last round, if the next round needs them.
    before: Vec<Value>,
    /// With momentum: the second values, the clocks of the nodes, and the time.
    second: Option<(Vec<Value>, Vec<f64>, f64)>,
    matrices: Vec<(&'p GossipMatrix, MixingMatrix)>,
    /// The variance of the first noise, in units of which noises of messages are said.
    unit: f64,
}

impl VectorProgram<'_> {
    /// The same protocol as a program, value by value, for observers, sensitivity sets and witnesses for
    /// which this type has no account. The numbers in floating point are taken as exact, also the shares of
    /// momentum as they are computed. Losses of a program are in units of a noise of variance 1: they are
    /// those of the statement divided by the variance of its first noise.
    ///
    /// # Errors
    /// [`ProgramError::NegativeVariance`](crate::ProgramError::NegativeVariance) and similar errors for
    /// numbers that no program takes; [`Error::NotOffered`] for messages of which taps hear less than nodes
    /// do.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, generators::star_graph};
    /// use ndp_program::{VectorProgram, constructors::muffliato};
    /// let matrix = GossipMatrix::metropolis(&star_graph(4)?);
    /// let said = VectorProgram::new(5).noise(1.0).rounds(&matrix, 3);
    /// assert_eq!(said.program()?, muffliato(&matrix, 3)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn program(&self) -> Result<Program, Error> {
        self.checked()?;
        let mut program = Program::new(self.nodes)?;
        let x = program.contribute_all(Reads::Nothing)?;
        let unit = self.variances().first().copied().unwrap_or(1.0);
        let mut writer = Writer { program, x, before: Vec::new(), second: None, matrices: Vec::new(), unit };
        for moment in self.moments() {
            match moment {
                Moment::Noise(variance) => {
                    let noise = writer.program.noise_all(variance)?;
                    writer.x = writer.program.add_all(&writer.x, &noise)?;
                }
                Moment::Round(Round::Matrix(mixing, first)) => writer.matrix(&mixing, first)?,
                Moment::Round(Round::Step(Step::Matrix(matrix))) => {
                    writer.matrix(&Mixing { matrix, extrapolation: None, noise: None }, true)?;
                }
                Moment::Round(Round::Step(&Step::Pair(a, b))) => {
                    writer.meet(a, b)?;
                    writer.average(a, b)?;
                }
                Moment::Round(Round::Step(Step::Idle)) => {}
                Moment::Round(Round::Ring { ring, mixing, push }) => {
                    let (a, b) = ring.edge;
                    writer.wait(ring.wait);
                    writer.catch_up(a, mixing)?;
                    writer.catch_up(b, mixing)?;
                    writer.meet(a, b)?;
                    writer.push(a, b, push)?;
                    writer.average(a, b)?;
                }
                Moment::Rest { wait, mixing } => {
                    writer.wait(wait);
                    (0..self.nodes).try_for_each(|v| writer.catch_up(v, mixing))?;
                }
            }
        }
        writer.program.result(writer.x.into_iter().enumerate())?;
        Ok(writer.program)
    }
}

impl<'p> Writer<'p> {
    fn matrix(&mut self, mixing: &Mixing<'p>, first: bool) -> Result<(), Error> {
        let matrix = self.mixing(mixing.matrix);
        let next = match mixing.noise {
            None => {
                self.program.send_to_neighbors(mixing.matrix.graph(), &self.x)?;
                self.program.gossip(&matrix, &self.x)?
            }
            Some((MessageNoise::Overheard, _)) => {
                return Err(Error::NotOffered(
                    "noise on what is overheard alone: in a program, who taps an edge hears what its end does",
                ));
            }
            Some((kind, ratio)) => self.noisy(mixing, &matrix, kind, ratio)?,
        };
        let before = std::mem::replace(&mut self.x, next);
        if let Some(g) = mixing.extrapolation {
            if !first {
                let states: Vec<(Value, Value)> =
                    self.x.iter().copied().zip(self.before.iter().copied()).collect();
                let combine = |(x, y)| self.program.combine([(g, x), (1.0, y), (-g, y)]);
                self.x = states.into_iter().map(combine).collect::<Result<_, _>>()?;
            }
            self.before = before;
        }
        Ok(())
    }

    /// A round with noise on messages, which the receivers average.
    fn noisy(
        &mut self,
        mixing: &Mixing<'p>,
        matrix: &MixingMatrix,
        kind: MessageNoise,
        ratio: f64,
    ) -> Result<Vec<Value>, Error> {
        let nodes = self.x.len();
        let shared = match kind {
            MessageNoise::Broadcast => self.program.noise_all(self.unit)?,
            _ => Vec::new(),
        };
        let graph = mixing.matrix.graph();
        let mut next = Vec::with_capacity(nodes);
        for a in 0..nodes {
            let mut terms = Vec::new();
            for (w, weight) in matrix.entries(a) {
                if !graph.has_edge(a, w) {
                    terms.push((weight, self.x[w]));
                    continue;
                }
                let noise = match kind {
                    MessageNoise::Broadcast => shared[w],
                    _ => self.program.noise([w], self.unit)?,
                };
                let message = self.program.combine([(1.0, self.x[w]), (ratio, noise)])?;
                self.program.send(w, a, message)?;
                terms.push((weight, message));
            }
            next.push(self.program.combine(terms)?);
        }
        Ok(next)
    }

    /// The entries of a matrix, which several rounds share.
    fn mixing(&mut self, matrix: &'p GossipMatrix) -> MixingMatrix {
        if let Some((_, found)) = self.matrices.iter().find(|(other, _)| std::ptr::eq(*other, matrix)) {
            return found.clone();
        }
        self.matrices.push((matrix, MixingMatrix::from(matrix)));
        self.matrices[self.matrices.len() - 1].1.clone()
    }

    fn meet(&mut self, a: usize, b: usize) -> Result<(), Error> {
        self.program.send(a, b, self.x[a])?;
        self.program.send(b, a, self.x[b])?;
        Ok(())
    }

    fn average(&mut self, a: usize, b: usize) -> Result<(), Error> {
        let mean = self.program.combine([((1, 2), self.x[a]), ((1, 2), self.x[b])])?;
        (self.x[a], self.x[b]) = (mean, mean);
        Ok(())
    }

    fn wait(&mut self, time: f64) {
        let x = &self.x;
        self.second.get_or_insert_with(|| (x.clone(), vec![0.0; x.len()], 0.0)).2 += time;
    }

    fn catch_up(&mut self, v: usize, mixing: f64) -> Result<(), Error> {
        let Some((second, clock, now)) = &mut self.second else { return Ok(()) };
        let share = mixed_share(mixing, *now - clock[v]);
        clock[v] = *now;
        if share > 0.0 {
            let (x, z) = (self.x[v], second[v]);
            self.x[v] = self.program.combine([(1.0, x), (share, z), (-share, x)])?;
            second[v] = self.program.combine([(1.0, z), (share, x), (-share, z)])?;
        }
        Ok(())
    }

    fn push(&mut self, a: usize, b: usize, push: f64) -> Result<(), Error> {
        let Some((second, _, _)) = &mut self.second else { return Ok(()) };
        let (x, y) = (self.x[a], self.x[b]);
        second[a] = self.program.combine([(1.0, second[a]), (-push, x), (push, y)])?;
        second[b] = self.program.combine([(1.0, second[b]), (push, x), (-push, y)])?;
        Ok(())
    }
}
