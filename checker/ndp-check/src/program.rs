//! The protocol of a file: values in order of time, and who sees which of them when.

use crate::json::{Json, keys};
use crate::rational::{common_multiple, is_negative, number, times};
use crate::{Rejected, need, rejected};
use num_bigint::BigInt;
use num_rational::BigRational;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes that a program may have.
const MOST_NODES: u64 = 1_000_000;

/// How a value comes about.
#[derive(Clone, Debug)]
pub(crate) enum Definition {
    /// Use `number` of the data of `node`.
    Use { node: usize, number: usize },
    /// An independent noise of this variance.
    Noise(BigRational),
    /// A weighted sum of earlier values, in multiples: `m_v v = Σ c_w m_w w` with whole `c_w`, where `m_v` is
    /// the multiple of value `v`.
    Sum(Vec<(usize, BigInt)>),
}

/// Who sees a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Audience {
    /// Both ends, and whoever taps the edge in this direction.
    Message(usize, usize),
    /// All, outsiders included.
    All,
    /// One node.
    Node(usize),
}

/// What a contribution reads beside its owner's data.
#[derive(Clone, Debug)]
pub(crate) enum Reads {
    /// Nothing.
    Nothing,
    /// What the observer has seen, without a list.
    Seen,
    /// These values.
    Listed(Vec<usize>),
}

/// What happens, in order of time.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A value comes about.
    Value(usize),
    /// A value is seen.
    Seen(usize, Audience),
    /// The contribution reads.
    Reads(usize, Reads),
}

/// A weighted sum in machine numbers: the divisor, and values with whole weights.
#[derive(Clone, Debug)]
pub(crate) struct Short {
    pub(crate) below: i64,
    pub(crate) terms: Vec<(usize, i64)>,
}

impl Short {
    fn of(terms: &[(usize, BigRational)]) -> Option<Self> {
        let common = common_multiple(terms.iter().map(|(_, weight)| weight.denom()));
        let whole = |(v, weight): &(usize, BigRational)| Some((*v, times(weight, &common).try_into().ok()?));
        let terms = terms.iter().map(whole).collect::<Option<_>>()?;
        Some(Self { below: common.try_into().ok()?, terms })
    }
}

/// A protocol, written out.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) nodes: usize,
    /// Whether the file says that it was not checked that nodes can form what they send.
    pub(crate) assumed_holdings: bool,
    pub(crate) values: Vec<Definition>,
    /// Of every value the multiple that is a sum of uses and noises with whole weights.
    pub(crate) multiples: Vec<BigInt>,
    /// Of every sum `v = Σ p_w w / q` the divisor and the whole weights, where all are short.
    pub(crate) short: Vec<Option<Short>>,
    pub(crate) story: Vec<Event>,
    /// The values that are the uses of each node, in order.
    pub(crate) uses: Vec<Vec<usize>>,
    names: BTreeMap<String, usize>,
    matrices: BTreeMap<String, Vec<Vec<(usize, BigRational)>>>,
}

impl Program {
    /// A program without steps, from its first line.
    pub(crate) fn new(head: &BTreeMap<String, Json>) -> Result<Self, Rejected> {
        keys(head, &["ndp-program", "nodes"], &["holdings"])?;
        need(head["ndp-program"] == Json::Whole(1), || "this is not version 1 of a program".into())?;
        let nodes = head["nodes"].whole("the number of nodes", 1)?;
        need(nodes <= MOST_NODES, || format!("{nodes} nodes are more than {MOST_NODES}"))?;
        let holdings = head.get("holdings");
        need(holdings.is_none_or(|said| said.text() == Some("assumed")), || {
            "holdings are \"assumed\" or not said".into()
        })?;
        let nodes = nodes as usize;
        Ok(Self {
            nodes,
            assumed_holdings: holdings.is_some(),
            values: Vec::new(),
            multiples: Vec::new(),
            short: Vec::new(),
            story: Vec::new(),
            uses: vec![Vec::new(); nodes],
            names: BTreeMap::new(),
            matrices: BTreeMap::new(),
        })
    }

    /// The node that a number says.
    pub(crate) fn node(&self, said: &Json) -> Result<usize, Rejected> {
        let node = said.whole("a node", 0)?;
        need(node < self.nodes as u64, || format!("there is no node {node}"))?;
        Ok(node as usize)
    }

    /// Weights of values by their names.
    pub(crate) fn terms(&self, said: &Json, what: &str) -> Result<Vec<(usize, BigRational)>, Rejected> {
        let table = said.table(what)?;
        table.iter().map(|(name, weight)| Ok((self.named(name)?, number(weight)?))).collect()
    }

    fn named(&self, name: &str) -> Result<usize, Rejected> {
        self.names.get(name).copied().ok_or_else(|| Rejected(format!("there is no value {name:?}")))
    }

    fn value(&self, said: &Json) -> Result<usize, Rejected> {
        said.text().map_or_else(|| rejected(format!("there is no value {said:?}")), |name| self.named(name))
    }

    fn values_of(&self, said: &Json, what: &str) -> Result<Vec<usize>, Rejected> {
        said.list(what)?.iter().map(|name| self.value(name)).collect()
    }

    fn define(&mut self, name: &Json, definition: Definition) -> Result<usize, Rejected> {
        let value = self.values.len();
        let Some(name) = name.text() else { return rejected(format!("{name:?} is no name")) };
        need(self.names.insert(name.to_owned(), value).is_none(), || format!("the name {name:?} is taken"))?;
        self.values.push(definition);
        self.multiples.push(BigInt::from(1));
        self.short.push(None);
        self.story.push(Event::Value(value));
        Ok(value)
    }

    fn define_sum(&mut self, name: &Json, terms: &[(usize, BigRational)]) -> Result<(), Rejected> {
        let below: Vec<BigInt> =
            terms.iter().map(|(v, weight)| weight.denom() * &self.multiples[*v]).collect();
        let multiple = common_multiple(below.iter());
        let whole =
            terms.iter().zip(&below).map(|((v, weight), below)| (*v, weight.numer() * (&multiple / below)));
        let value = self.define(name, Definition::Sum(whole.collect()))?;
        self.multiples[value] = multiple;
        self.short[value] = Short::of(terms);
        Ok(())
    }

    /// One step.
    ///
    /// # Errors
    /// [`Rejected`] for steps that do not belong to a program that is written out, for names that are taken
    /// or not there, nodes that are not there, inexact numbers, variances below 0, and hidden reads.
    pub(crate) fn step(&mut self, line: &BTreeMap<String, Json>) -> Result<(), Rejected> {
        let has = |key: &str| line.contains_key(key);
        if has("matrix") {
            self.matrix(line)
        } else if has("contribute") {
            self.contribute(line)
        } else if has("noise") {
            keys(line, &["noise", "shared", "variance"], &[])?;
            need(line["shared"] == Json::List(Vec::new()), || {
                "who knows a noise is said by \"hold\"".into()
            })?;
            let variance = number(&line["variance"])?;
            need(!is_negative(&variance), || "a variance is negative".into())?;
            self.define(&line["noise"], Definition::Noise(variance)).map(|_| ())
        } else if has("sum") {
            keys(line, &["let", "sum"], &[])?;
            let terms = self.terms(&line["sum"], "a sum")?;
            self.define_sum(&line["let"], &terms)
        } else if has("gossip") {
            self.gossip(line)
        } else {
            self.shown(line)
        }
    }

    fn matrix(&mut self, line: &BTreeMap<String, Json>) -> Result<(), Rejected> {
        keys(line, &["matrix", "entries"], &[])?;
        let Some(name) = line["matrix"].text() else { return rejected("a matrix has a name") };
        let rows = line["entries"].list("a matrix")?;
        need(rows.len() == self.nodes, || "a matrix has a row for every node".into())?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let mut entries = Vec::new();
            for (column, weight) in row.table("a row of a matrix")? {
                let place = column.parse().ok().filter(|place: &usize| place.to_string() == *column);
                let place = place.filter(|&place| place < self.nodes);
                let Some(place) = place else { return rejected(format!("{column:?} is no column")) };
                entries.push((place, number(weight)?));
            }
            found.push(entries);
        }
        need(self.matrices.insert(name.to_owned(), found).is_none(), || {
            format!("the matrix {name:?} is there already")
        })
    }

    fn contribute(&mut self, line: &BTreeMap<String, Json>) -> Result<(), Rejected> {
        const HIDDEN: &str = "what is read is hidden: this file proves nothing of it";
        keys(line, &["contribute", "node", "reads"], &[])?;
        let node = self.node(&line["node"])?;
        let reads = match &line["reads"] {
            Json::Text(said) if said == "nothing" => Reads::Nothing,
            Json::Text(said) if said == "seen" => Reads::Seen,
            Json::Table(said) if said.len() == 1 && said.contains_key("seen") => {
                Reads::Listed(self.values_of(&said["seen"], "what is read")?)
            }
            _ => return rejected(HIDDEN),
        };
        let number = self.uses[node].len();
        let value = self.define(&line["contribute"], Definition::Use { node, number })?;
        self.uses[node].push(value);
        self.story.push(Event::Reads(value, reads));
        Ok(())
    }

    fn gossip(&mut self, line: &BTreeMap<String, Json>) -> Result<(), Rejected> {
        keys(line, &["let", "gossip", "of"], &[])?;
        let rows = line["gossip"].text().and_then(|name| self.matrices.get(name)).cloned();
        let Some(rows) = rows else { return rejected(format!("there is no matrix {:?}", line["gossip"])) };
        let old = self.values_of(&line["of"], "what gossip is of")?;
        let new = line["let"].list("what gossip makes")?;
        need(old.len() == self.nodes && new.len() == self.nodes, || {
            "gossip is from and to a value of every node".into()
        })?;
        for (name, row) in new.iter().zip(rows) {
            let terms: Vec<_> = row.into_iter().map(|(column, weight)| (old[column], weight)).collect();
            self.define_sum(name, &terms)?;
        }
        Ok(())
    }

    /// Steps by which values are seen, and those that change nothing of it.
    fn shown(&mut self, line: &BTreeMap<String, Json>) -> Result<(), Rejected> {
        let step = ["send", "broadcast", "publish", "deliver", "hold", "join", "leave", "result"]
            .into_iter()
            .find(|step| line.contains_key(*step));
        let (value, audience) = match step {
            Some("send") => {
                keys(line, &["send", "from", "to"], &[])?;
                (&line["send"], Audience::Message(self.node(&line["from"])?, self.node(&line["to"])?))
            }
            Some("broadcast") => {
                keys(line, &["broadcast", "from"], &[])?;
                self.node(&line["from"])?;
                (&line["broadcast"], Audience::All)
            }
            Some("publish") => {
                keys(line, &["publish"], &[])?;
                (&line["publish"], Audience::All)
            }
            Some("deliver") => {
                keys(line, &["deliver", "to", "group"], &[])?;
                let group = line["group"].list("the group of a secure sum")?;
                let group = group.iter().map(|node| self.node(node)).collect::<Result<BTreeSet<_>, _>>()?;
                need(group.len() > 1, || "a secure sum is one of two or more nodes".into())?;
                (&line["deliver"], Audience::Node(self.node(&line["to"])?))
            }
            Some("hold") => {
                keys(line, &["hold", "by"], &[])?;
                (&line["hold"], Audience::Node(self.node(&line["by"])?))
            }
            Some("result") => {
                keys(line, &["result", "nodes"], &[])?;
                return self.value(&line["result"]).map(|_| ());
            }
            Some(step) => {
                keys(line, &[step], &[])?;
                return self.node(&line[step]).map(|_| ());
            }
            None => {
                let said: Vec<&String> = line.keys().collect();
                return rejected(format!("this step is not one of a program that is written out: {said:?}"));
            }
        };
        self.story.push(Event::Seen(self.value(value)?, audience));
        Ok(())
    }
}
