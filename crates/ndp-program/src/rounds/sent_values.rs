//! Who sends which value, and of what it consists: of values that were sent before, of the data of its node,
//! and of noises of its node.

use crate::build::{Event, Program, Seeing};
use crate::registers::Definition;
use num_rational::BigRational;
use num_traits::{One, Zero};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a value consists of.
#[derive(Debug)]
pub(super) struct Form<'p> {
    /// Whether the data of the node are added, once.
    pub(super) data: bool,
    /// The variance of all noises of the node that are added, none of which any other value has.
    pub(super) variance: BigRational,
    /// Values that were sent before or are states, ascending, with weights that are not 0.
    pub(super) terms: Vec<(usize, Cow<'p, BigRational>)>,
}

/// The messages of a program, and which of its values are kept as a whole when others are written out.
pub(super) struct Steps<'p> {
    pub(super) program: &'p Program,
    /// For every value the node that sends it, or the one that drew it in the case of a noise.
    pub(super) senders: Vec<Option<usize>>,
    /// For every value the first one that is the same by its definition: the same state, noise and weight.
    first: Vec<usize>,
    /// Values with those who receive them, ascending. Values that are the same count as one.
    pub(super) sent: Vec<(usize, usize)>,
    /// For every value the number of messages that are this value and a noise, if nobody is sent the value
    /// itself: it is the state of the node that sends them.
    pub(super) messages_of: Vec<u32>,
    /// For every noise, whether some form has it.
    used: Vec<bool>,
    /// The number of terms that may still be looked at.
    left: usize,
    /// The last weight of a noise that is not 1, its variance, and the variance with this weight. Products of
    /// long fractions take long, and most noises have the same weight.
    weighted: Option<(Cow<'p, BigRational>, &'p BigRational, BigRational)>,
}

/// The sum of two variances, quick if one of them is 0.
pub(super) fn sum(a: BigRational, b: BigRational) -> BigRational {
    match (a.is_zero(), b.is_zero()) {
        (true, _) => b,
        (_, true) => a,
        _ => a + b,
    }
}

impl<'p> Steps<'p> {
    /// `None` if somebody learns a value in another way than by a message of its only sender, if somebody
    /// receives a value twice, and if a noise is known to others than one node.
    pub(super) fn new(program: &'p Program) -> Option<Self> {
        let mut senders: Vec<Option<usize>> = vec![None; program.values.len()];
        let mut sent: Vec<(usize, usize)> = Vec::new();
        for Event { value, seeing, .. } in program.events.iter() {
            match (seeing, &program.values[*value]) {
                // Everybody knows a noise of variance 0.
                (Seeing::Held { .. }, Definition::Noise(k)) if program.noises[*k].variance.is_zero() => {}
                (Seeing::Held { by }, Definition::Noise(_)) => {
                    if senders[*value].replace(*by).is_some() {
                        return None;
                    }
                }
                (Seeing::Message { from, to }, Definition::Sum(_) | Definition::Mixed { .. }) => {
                    if senders[*value].replace(*from).is_some_and(|other| other != *from) {
                        return None;
                    }
                    sent.push((*value, *to));
                }
                _ => return None,
            }
        }
        let mut terms = 0;
        program.values.iter().for_each(|definition| definition.each_term(|_, _| terms += 1));
        let mut steps = Self {
            program,
            senders,
            first: (0..program.values.len()).collect(),
            sent,
            messages_of: vec![0; program.values.len()],
            used: vec![false; program.noises.len()],
            left: 4 * (terms + program.values.len()),
            weighted: None,
        };
        steps.take_messages()?;
        Some(steps)
    }

    /// Finds states, and which messages are the same.
    fn take_messages(&mut self) -> Option<()> {
        self.sent.sort_unstable();
        let mut known: BTreeMap<(usize, usize), (usize, &'p BigRational)> = BTreeMap::new();
        for value in self.values_sent() {
            let Some((state, noise, weight)) = self.state_of(value) else { continue };
            match known.get(&(state, noise)) {
                Some(&(other, same)) if same == weight && self.senders[other] == self.senders[value] => {
                    self.first[value] = other;
                }
                Some(_) => return None,
                None => {
                    known.insert((state, noise), (value, weight));
                    self.messages_of[state] += 1;
                }
            }
        }
        self.sent.iter_mut().for_each(|(value, _)| *value = self.first[*value]);
        self.sent.sort_unstable();
        // Nobody receives a value twice.
        self.sent.windows(2).all(|pair| pair[0] != pair[1]).then_some(())
    }

    /// The values that are sent, ascending.
    pub(super) fn values_sent(&self) -> Vec<usize> {
        let mut values: Vec<usize> = self.sent.iter().map(|(value, _)| *value).collect();
        values.dedup();
        values
    }

    /// Those who receive a value, ascending.
    pub(super) fn receivers(&self, value: usize) -> impl ExactSizeIterator<Item = usize> {
        let start = self.sent.partition_point(|(other, _)| *other < value);
        let end = self.sent.partition_point(|(other, _)| *other <= value);
        self.sent[start..end].iter().map(|(_, to)| *to)
    }

    /// If a value that is sent is another one and a noise: this other one, the noise, and its weight.
    fn state_of(&self, value: usize) -> Option<(usize, usize, &'p BigRational)> {
        let program = self.program;
        let Definition::Sum(terms) = &program.values[value] else { return None };
        let [a, b] = terms.as_slice() else { return None };
        let noise = |(term, _): &(usize, _)| matches!(program.values[*term], Definition::Noise(k) if !program.noises[k].variance.is_zero());
        let ((state, weight), (noise, factor)) = match (noise(a), noise(b)) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => return None,
        };
        let made = matches!(program.values[*state], Definition::Sum(_) | Definition::Mixed { .. });
        (made && self.senders[*state].is_none() && weight.is_one()).then_some((*state, *noise, &**factor))
    }

    /// Whether forms keep this value as a whole.
    fn is_kept(&self, value: usize) -> bool {
        let made = matches!(self.program.values[value], Definition::Sum(_) | Definition::Mixed { .. });
        made && (self.senders[value].is_some() || self.messages_of[value] > 0)
    }

    /// The variance of a noise with a weight.
    fn weighted(&mut self, weight: Cow<'p, BigRational>, variance: &'p BigRational) -> BigRational {
        if weight.is_one() {
            return variance.clone();
        }
        match &self.weighted {
            Some((factor, of, product)) if *factor == weight && *of == variance => product.clone(),
            _ => {
                let product = variance * &*weight * &*weight;
                self.weighted = Some((weight, variance, product.clone()));
                product
            }
        }
    }

    /// What a value of `node` consists of; to be asked once for every value. `None` for the data or noises
    /// of another node, for a noise that some other value has, and beyond the limit on the work.
    pub(super) fn form(&mut self, value: usize, node: usize) -> Option<Form<'p>> {
        let program = self.program;
        let mut form = Form { data: false, variance: BigRational::zero(), terms: Vec::new() };
        // Values that are written out, latest first, with their weights.
        let mut open: BTreeMap<usize, Cow<'p, BigRational>> = BTreeMap::new();
        let mut next: Option<(usize, Option<Cow<'p, BigRational>>)> = Some((value, None));
        while let Some((at, factor)) = next.take() {
            let mut terms: Vec<(usize, &'p BigRational)> = program.values[at].terms();
            terms.iter_mut().for_each(|(term, _)| *term = self.first[*term]);
            self.left = self.left.checked_sub(terms.len() + 1)?;
            // The usual value is a sum of others that are kept, each of which it has once.
            terms.sort_unstable_by_key(|(term, _)| *term);
            let once = terms.windows(2).all(|pair| pair[0].0 != pair[1].0);
            if factor.is_none()
                && open.is_empty()
                && once
                && terms.iter().all(|(term, _)| self.is_kept(*term))
            {
                form.terms = terms.into_iter().map(|(term, weight)| (term, Cow::Borrowed(weight))).collect();
                return Some(form);
            }
            for (term, weight) in terms {
                let product = match &factor {
                    None => Cow::Borrowed(weight),
                    Some(factor) => Cow::Owned(weight * &**factor),
                };
                match open.get_mut(&term) {
                    Some(sum) => *sum = Cow::Owned(&**sum + &*product),
                    None => drop(open.insert(term, product)),
                }
            }
            while let Some((term, weight)) = open.pop_last() {
                if weight.is_zero() {
                    continue;
                }
                match &program.values[term] {
                    _ if self.is_kept(term) => form.terms.push((term, weight)),
                    Definition::Contribution(k) => {
                        if program.contributions[*k].node != node || !weight.is_one() {
                            return None;
                        }
                        form.data = true;
                    }
                    Definition::Noise(k) => {
                        let variance = &program.noises[*k].variance;
                        if variance.is_zero() {
                            continue;
                        }
                        let known = std::mem::replace(&mut self.used[*k], true);
                        if known || self.senders[term] != Some(node) {
                            return None;
                        }
                        let variance = self.weighted(weight, variance);
                        form.variance = sum(form.variance, variance);
                    }
                    _ => {
                        next = Some((term, (!weight.is_one()).then_some(weight)));
                        break;
                    }
                }
            }
        }
        form.terms.reverse();
        Some(form)
    }
}
