//! Lines about sums, gossip and messages.

use super::line::{Line, syntax};
use super::names::Entry;
use super::read::Reader;
use crate::build::distinct;
use crate::{ProgramError, Value, Weight};
use ndp_account::Error;
use serde_json::{Map, Value as Json};

impl Reader {
    pub(super) fn assign(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        let line = Line::new(map, &["let", "set", "sum", "gossip", "of", "node", "nodes"])?;
        let verb = line.one_of(&["let", "set"])?.unwrap_or("let");
        let names = line.texts(verb)?;
        if line.one_of(&["sum", "gossip"])? == Some("gossip") {
            line.only("gossip", &[verb, "of"])?;
            let matrix = self.find_matrix(line.text("gossip")?)?;
            // Several nodes may mix the same value.
            let of = line.repeated_texts("of")?;
            let values: Vec<Value> = match of[..] {
                [family] => (0..self.program.node_count())
                    .map(|node| self.names.at(family, node))
                    .collect::<Result<_, _>>()?,
                _ => of.iter().map(|name| self.names.one(name)).collect::<Result<_, _>>()?,
            };
            let mixed = self.program.gossip(&matrix, &values)?;
            return match names[..] {
                [name] if !line.get(verb)?.is_array() => {
                    self.assign_to(verb, name, Entry::Family(mixed.into_iter().map(Some).collect()))
                }
                _ if names.len() == mixed.len() => names
                    .iter()
                    .zip(mixed)
                    .try_for_each(|(name, value)| self.assign_to(verb, name, Entry::One(value))),
                _ => Ok(syntax("as many names are needed as there are nodes")?),
            };
        }
        line.only("sum", &[verb, "node", "nodes"])?;
        let terms = line.terms("sum")?;
        let entries: Vec<(Entry, &str, Weight)> = terms
            .into_iter()
            .map(|(name, weight)| Ok((self.names.find(name)?, name, weight)))
            .collect::<Result<_, ProgramError>>()?;
        let single = entries.iter().all(|(entry, ..)| matches!(entry, Entry::One(_)));
        let [name] = names[..] else { return Ok(syntax("a sum has one name")?) };
        if single && !line.has("nodes") && !line.has("node") {
            let terms = entries.iter().filter_map(|(entry, _, weight)| match entry {
                Entry::One(value) => Some((weight.clone(), *value)),
                _ => None,
            });
            let terms: Vec<(Weight, Value)> = terms.collect();
            let value = self.program.combine(terms)?;
            return self.assign_to(verb, name, Entry::One(value));
        }
        let nodes = self.nodes(&line)?;
        let mut family = vec![None; self.program.node_count()];
        for &node in &nodes {
            let mut terms = Vec::with_capacity(entries.len());
            for (entry, reference, weight) in &entries {
                let value = match entry {
                    Entry::One(value) => *value,
                    _ => self.names.at(reference, node)?,
                };
                terms.push((weight.clone(), value));
            }
            let value = self.program.combine(terms)?;
            let slot = family.get_mut(node);
            let nodes = self.program.node_count();
            *slot.ok_or(ProgramError::NodeOutOfRange { node, nodes })? = Some(value);
        }
        self.assign_to(verb, name, Entry::Family(family))
    }

    fn assign_to(&mut self, verb: &str, name: &str, entry: Entry) -> Result<(), Error> {
        if verb == "let" {
            self.names.define(name, entry)?
        } else {
            self.names.replace(name, entry)?
        }
        Ok(())
    }

    pub(super) fn send(&mut self, map: &Map<String, Json>) -> Result<(), Error> {
        let line = Line::new(map, &["send", "along", "from", "to", "nodes"])?;
        let reference = line.text("send")?;
        if line.one_of(&["along", "from"])? == Some("along") {
            line.only("along", &["send", "nodes"])?;
            let graph = self.find_graph(line.text("along")?)?.clone();
            self.room(2 * graph.edge_count())?;
            for from in self.nodes(&line)? {
                let value = self.names.at(reference, from)?;
                let nodes = self.program.node_count();
                if from >= nodes {
                    return Err(ProgramError::NodeOutOfRange { node: from, nodes }.into());
                }
                for to in graph.neighbors(from).iter().map(|&to| to as usize) {
                    if !self.program.has_left(to) {
                        self.program.send(from, to, value)?;
                    }
                }
            }
            return Ok(());
        }
        let from = line.number("from")?;
        line.only("from", &["send", "to"])?;
        let (value, to) = (self.names.at(reference, from)?, line.nodes("to")?);
        distinct(&to, "the receivers")?;
        for to in to {
            self.program.send(from, to, value)?;
        }
        Ok(())
    }
}
