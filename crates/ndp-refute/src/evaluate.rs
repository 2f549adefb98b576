//! The value of a claim at one setting, as an interval that contains it.

use crate::Protocol;
use crate::error::Error;
use crate::expression::{Expression, Function, Name, Node, Operator};
use crate::search::Claim;
use crate::setting::Case;
use ndp_numeric::rounding::Interval;

/// Operations for one value.
const MAX_WORK: u64 = 2_000_000;

impl Claim for Expression {
    fn bound(&self, case: &Case<'_>) -> Result<Interval, Error> {
        let mut values = Values { case, variables: vec![0; self.variables], work: 0 };
        values.of(&self.root)
    }

    fn text(&self) -> &str {
        Expression::text(self)
    }

    fn names_exposed(&self) -> bool {
        self.names_exposed
    }
}

struct Values<'a> {
    case: &'a Case<'a>,
    variables: Vec<usize>,
    work: u64,
}

impl Values<'_> {
    fn of(&mut self, node: &Node) -> Result<Interval, Error> {
        self.work += 1;
        if self.work > MAX_WORK {
            return Err(Error::Work { limit: MAX_WORK });
        }
        let case = self.case;
        let graph = &case.setting.graph;
        Ok(match node {
            Node::Number(x) => Interval::new(*x),
            Node::Variable(at) => Interval::count(self.variables[*at] as u64),
            Node::Name(name) => self.name(name)?,
            Node::Negative(x) => -self.of(x)?,
            Node::Two(Operator::Power, base, exponent) => {
                let (base, exponent) = (self.of(base)?, self.of(exponent)?);
                power(base, exponent)
            }
            Node::Two(operator, left, right) => {
                let (left, right) = (self.of(left)?, self.of(right)?);
                match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left * right,
                    Operator::Over | Operator::Power => left / right,
                    Operator::Min => left.min(right),
                    Operator::Max => left.max(right),
                }
            }
            Node::Call(Function::Degree, argument) => {
                let a = self.node(argument)?;
                Interval::count(case.setting.graph.degree(a) as u64)
            }
            Node::Call(function, argument) => {
                let x = self.of(argument)?;
                // Where it may have no value, nothing is known.
                match function {
                    Function::Exponential => x.exp(),
                    _ if x.low() < 0.0 => Interval::between(f64::NEG_INFINITY, f64::INFINITY),
                    Function::Root => x.sqrt(),
                    _ => x.ln(),
                }
            }
            Node::Weight(parts) => {
                let [round, row, column] = &**parts;
                let (t, a) = (self.index(round, "a round", case.rounds)?, self.node(row)?);
                case.setting.enclosed[t][a][self.node(column)?]
            }
            Node::Passage(parts) => {
                if !case.setting.protocol.is_walk() {
                    return Err(Error::NotOfTheProtocol { name: "F" });
                }
                let [time, row, column] = &**parts;
                let (t, a) = (self.index(time, "a time", case.rounds)?, self.node(row)?);
                case.setting.passages()[t][a][self.node(column)?]
            }
            Node::Sum(variable, parts) => {
                let [first, last, term] = &**parts;
                let (first, last) = (self.end(first)?, self.end(last)?);
                self.sum(*variable, first, last, term)?
            }
            Node::Neighbors(variable, parts) | Node::Largest(variable, parts) => {
                let [center, term] = &**parts;
                let center = self.node(center)?;
                let neighbors: Vec<usize> = graph.neighbors(center).iter().map(|&w| w as usize).collect();
                let terms = self.terms(*variable, &neighbors, term)?;
                if matches!(node, Node::Largest(..)) {
                    // Connected graphs of two nodes or more have no node without neighbors.
                    terms.into_iter().reduce(Interval::max).unwrap_or(Interval::ZERO)
                } else {
                    terms.into_iter().fold(Interval::ZERO, |sum, x| sum + x)
                }
            }
            Node::Heard(variable, parts) => {
                if case.setting.protocol.is_walk() {
                    return Err(Error::NotOfTheProtocol { name: "heard" });
                }
                let [round, term] = &**parts;
                let t = self.index(round, "a round with messages", case.rounds - 1)?;
                let heard = case.setting.heard(t, case.observers);
                self.over(*variable, &heard, term)?
            }
            Node::Members(variable, term) => self.over(*variable, case.observers, term)?,
        })
    }

    /// The quantity of a setting that has this name.
    fn name(&self, name: &Name) -> Result<Interval, Error> {
        let case = self.case;
        Ok(match name {
            Name::Nodes => Interval::count(case.setting.graph.node_count() as u64),
            Name::Rounds => Interval::count(case.rounds as u64),
            Name::Edges => Interval::count(case.setting.graph.edge_count() as u64),
            Name::Alpha => Interval::new(case.alpha),
            Name::Sigma => Interval::new(case.sigma),
            Name::Exposed => Interval::count(case.u as u64),
            Name::Observer => Interval::count(case.observers[0] as u64),
            Name::Observers => Interval::count(case.observers.len() as u64),
            // No weights of one round: each pair has its own.
            Name::SecondEigenvalue if case.setting.protocol == Protocol::Pairs => {
                return Err(Error::NotOfTheProtocol { name: "lambda2" });
            }
            Name::SecondEigenvalue => case.setting.second_eigenvalue(),
            Name::Hops => {
                let hops = case.observers.iter().map(|&v| case.setting.hops[case.u][v]);
                Interval::count(hops.min().unwrap_or(u32::MAX).into())
            }
        })
    }

    /// The sum of a term over the values of a variable from `first` to `last`.
    fn sum(&mut self, variable: usize, first: i64, last: i64, term: &Node) -> Result<Interval, Error> {
        let mut sum = Interval::ZERO;
        let mut at = first;
        while at <= last {
            // A term of a sum is about something that is counted from 0.
            self.variables[variable] = usize::try_from(at).map_err(|_| Error::Index {
                what: "the start of a sum",
                least: 0,
                most: MOST,
                value: at as f64,
            })?;
            sum = sum + self.of(term)?;
            at += 1;
        }
        Ok(sum)
    }

    fn over(&mut self, variable: usize, nodes: &[usize], term: &Node) -> Result<Interval, Error> {
        Ok(self.terms(variable, nodes, term)?.into_iter().fold(Interval::ZERO, |sum, x| sum + x))
    }

    fn terms(&mut self, variable: usize, nodes: &[usize], term: &Node) -> Result<Vec<Interval>, Error> {
        let mut terms = Vec::with_capacity(nodes.len());
        for &w in nodes {
            self.variables[variable] = w;
            terms.push(self.of(term)?);
        }
        Ok(terms)
    }

    fn node(&mut self, node: &Node) -> Result<usize, Error> {
        let most = self.case.setting.graph.node_count() - 1;
        self.index(node, "a node", most)
    }

    fn index(&mut self, node: &Node, what: &'static str, most: usize) -> Result<usize, Error> {
        let value = self.of(node)?;
        let found = integer(value).and_then(|x| usize::try_from(x).ok()).filter(|&x| x <= most);
        found.ok_or(Error::Index { what, least: 0, most, value: value.low() })
    }

    fn end(&mut self, node: &Node) -> Result<i64, Error> {
        let value = self.of(node)?;
        integer(value).ok_or(Error::Index {
            what: "the end of a sum",
            least: 0,
            most: MOST,
            value: value.low(),
        })
    }
}

/// The largest index of a sum.
const MOST: usize = 1_000_000;

/// The integer that is the only number in an interval.
fn integer(x: Interval) -> Option<i64> {
    let exact = x.low() == x.high() && x.low().fract() == 0.0 && x.low().abs() <= MOST as f64;
    exact.then(|| ndp_numeric::casts::integer(x.low()))
}

/// By repeated products for small integers, so that negative bases have powers; else by the logarithm.
fn power(base: Interval, exponent: Interval) -> Interval {
    match integer(exponent) {
        Some(times @ -64..=64) => {
            let mut product = Interval::ONE;
            for _ in 0..times.unsigned_abs() {
                product = product * base;
            }
            if times < 0 { Interval::ONE / product } else { product }
        }
        _ if 0.0 < base.low() => (exponent * base.ln()).exp(),
        _ => Interval::between(f64::NEG_INFINITY, f64::INFINITY),
    }
}
