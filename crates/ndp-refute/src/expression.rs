//! The language of claims: its grammar, and its parser.

use crate::Error;

/// A formula for a bound in nats on the Rényi loss of `u` towards `v`.
///
/// ```text
/// sum     = product (("+" | "-") product)*
/// product = signed (("*" | "/") signed)*
/// signed  = "-" signed | power
/// power   = atom ("^" signed)?
/// atom    = number | name | "(" sum ")" | "W" "[" sum "]" "[" sum "," sum "]" | function "(" sum,... ")"
///         | "sum" "(" name "," sum "," sum "," sum ")" | "neighbors" "(" name "," sum "," sum ")"
/// ```
///
/// | name | value |
/// |---|---|
/// | `n`, `T`, `edges` | nodes, rounds, edges |
/// | `alpha`, `sigma` | order of the loss, standard deviation of the noise in units of the sensitivity |
/// | `u`, `v` | exposed node and observer, from 0 |
/// | `observers` | how many nodes look together; `v` is the first of them |
/// | `hops` | distance of `u` from the nearest of them |
/// | `W[t][a,b]` | entry of the `t`-th power of the weights, `t` from 0 to `T`; for pairs, of the product of the first `t` steps |
/// | `F[t][a,b]` | for walks, the probability to come from `a` to `b` after `t` steps for the first time |
/// | `lambda2` | the second largest eigenvalue of `W[1]`, with its sign; not for pairs |
/// | `deg(a)` | neighbors of `a` |
/// | `sum(k, a, b, e)` | `e` for `k` from `a` to `b`; 0 if `b` is below `a` |
/// | `neighbors(w, a, e)` | sum of `e` over the neighbors `w` of `a` |
/// | `largest(w, a, e)` | the largest of them |
/// | `heard(w, t, e)` | sum of `e` over those whose message of round `t` the observers get |
/// | `members(w, e)` | the same over the observers |
/// | `min(a, b)`, `max(a, b)`, `sqrt(a)`, `ln(a)`, `exp(a)` | as usual |
///
/// The text has at most 2000 characters and is nested at most 40 deep.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(crate) root: Node,
    /// Variables of sums that are open at once, at most.
    pub(crate) variables: usize,
    /// Whether the exposed node or its distance is named.
    pub(crate) names_exposed: bool,
    text: String,
}

impl Expression {
    /// Reads a formula.
    ///
    /// # Errors
    /// [`Error::Syntax`], [`Error::UnknownName`], [`Error::TooDeep`] or [`Error::TooLong`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let characters: Vec<char> = text.chars().collect();
        if characters.len() > MAX_LENGTH {
            return Err(Error::TooLong { limit: MAX_LENGTH, length: characters.len() });
        }
        let scope = Vec::new();
        let mut parser = Parser { characters, at: 0, depth: 0, scope, variables: 0, names_exposed: false };
        let root = parser.sum()?;
        parser.skip();
        if parser.at < parser.characters.len() {
            return Err(parser.expected("an operator or the end"));
        }
        let Parser { variables, names_exposed, .. } = parser;
        Ok(Self { root, variables, names_exposed, text: text.to_owned() })
    }

    /// The formula as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Largest number of characters.
const MAX_LENGTH: usize = 2000;
/// Largest depth of nesting; each level takes a few frames of the stack.
const MAX_DEPTH: usize = 40;

/// What can be added, named and called.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Number(f64),
    Name(Name),
    Variable(usize),
    Negative(Box<Node>),
    Two(Operator, Box<Node>, Box<Node>),
    Call(Function, Box<Node>),
    Weight(Box<[Node; 3]>),
    Passage(Box<[Node; 3]>),
    /// Variable, first, last, term.
    Sum(usize, Box<[Node; 3]>),
    /// Variable, node, term.
    Neighbors(usize, Box<[Node; 2]>),
    /// The same, largest term.
    Largest(usize, Box<[Node; 2]>),
    /// Variable, round, term.
    Heard(usize, Box<[Node; 2]>),
    /// Variable, term.
    Members(usize, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Name {
    Nodes,
    Rounds,
    Edges,
    Alpha,
    Sigma,
    Exposed,
    Observer,
    Observers,
    Hops,
    SecondEigenvalue,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Power,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Function {
    Degree,
    Root,
    Logarithm,
    Exponential,
}

struct Parser {
    characters: Vec<char>,
    at: usize,
    depth: usize,
    scope: Vec<String>,
    variables: usize,
    names_exposed: bool,
}

impl Parser {
    fn skip(&mut self) {
        while self.characters.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip();
        self.characters.get(self.at).copied()
    }

    fn expected(&self, expected: &'static str) -> Error {
        let found = self.characters.get(self.at).map_or_else(|| "the end".into(), char::to_string);
        Error::Syntax { position: self.at + 1, expected, found }
    }

    fn take(&mut self, wanted: char, expected: &'static str) -> Result<(), Error> {
        if self.peek() != Some(wanted) {
            return Err(self.expected(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn two(&mut self, operator: Operator, left: Node, right: Node) -> Node {
        Node::Two(operator, Box::new(left), Box::new(right))
    }

    fn sum(&mut self) -> Result<Node, Error> {
        let mut left = self.product()?;
        while let Some(sign @ ('+' | '-')) = self.peek() {
            self.at += 1;
            let right = self.product()?;
            left = self.two(if sign == '+' { Operator::Plus } else { Operator::Minus }, left, right);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Node, Error> {
        let mut left = self.signed()?;
        while let Some(sign @ ('*' | '/')) = self.peek() {
            self.at += 1;
            let right = self.signed()?;
            left = self.two(if sign == '*' { Operator::Times } else { Operator::Over }, left, right);
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Node, Error> {
        // Every way down passes here, so this bounds the depth of the tree and of the stack.
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::TooDeep { position: self.at + 1, limit: MAX_DEPTH });
        }
        let node = if self.peek() == Some('-') {
            self.at += 1;
            Node::Negative(Box::new(self.signed()?))
        } else {
            let base = self.atom()?;
            if self.peek() == Some('^') {
                self.at += 1;
                let exponent = self.signed()?;
                self.two(Operator::Power, base, exponent)
            } else {
                base
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn atom(&mut self) -> Result<Node, Error> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.take(')', "a closing parenthesis")?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.named(),
            _ => Err(self.expected("a number, a name or a parenthesis")),
        }
    }

    fn number(&mut self) -> Result<Node, Error> {
        let start = self.at;
        while self.characters.get(self.at).is_some_and(|c| c.is_ascii_digit() || *c == '.') {
            self.at += 1;
        }
        let text: String = self.characters[start..self.at].iter().collect();
        let value: f64 = text.parse().map_err(|_| Error::Syntax {
            position: start + 1,
            expected: "a decimal number",
            found: text.clone(),
        })?;
        // 0.1 is no float: decimals are read as a quotient of two integers that are.
        let Some((whole, decimals)) = text.split_once('.') else {
            return self.integer(start, value);
        };
        let digits = format!("{whole}{decimals}").parse().unwrap_or(f64::INFINITY);
        let top = self.integer(start, digits)?;
        let mut scale = 1.0;
        decimals.chars().for_each(|_| scale *= 10.0);
        let bottom = self.integer(start, scale)?;
        Ok(self.two(Operator::Over, top, bottom))
    }

    fn integer(&self, start: usize, value: f64) -> Result<Node, Error> {
        if value <= 9_007_199_254_740_992.0 {
            return Ok(Node::Number(value));
        }
        Err(Error::Syntax {
            position: start + 1,
            expected: "a number of at most 15 digits",
            found: value.to_string(),
        })
    }

    fn word(&mut self) -> String {
        self.skip();
        let start = self.at;
        while self.characters.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        self.characters[start..self.at].iter().collect()
    }

    fn named(&mut self) -> Result<Node, Error> {
        self.skip();
        let position = self.at + 1;
        let word = self.word();
        if let Some(at) = self.scope.iter().rposition(|name| *name == word) {
            return Ok(Node::Variable(at));
        }
        let name = match word.as_str() {
            "n" => Name::Nodes,
            "T" => Name::Rounds,
            "edges" => Name::Edges,
            "alpha" => Name::Alpha,
            "sigma" => Name::Sigma,
            "u" => Name::Exposed,
            "v" => Name::Observer,
            "observers" => Name::Observers,
            "hops" => Name::Hops,
            "lambda2" => Name::SecondEigenvalue,
            "W" => return Ok(Node::Weight(self.entry()?)),
            "F" => return Ok(Node::Passage(self.entry()?)),
            "sum" => return self.over(Over::Range),
            "neighbors" => return self.over(Over::Neighbors),
            "largest" => return self.over(Over::Largest),
            "heard" => return self.over(Over::Heard),
            "members" => return self.over(Over::Members),
            "deg" => return self.call(Function::Degree),
            "sqrt" => return self.call(Function::Root),
            "ln" => return self.call(Function::Logarithm),
            "exp" => return self.call(Function::Exponential),
            "min" => return self.pair(Operator::Min),
            "max" => return self.pair(Operator::Max),
            _ => return Err(Error::UnknownName { position, name: word }),
        };
        self.names_exposed |= matches!(name, Name::Exposed | Name::Hops);
        Ok(Node::Name(name))
    }

    fn entry(&mut self) -> Result<Box<[Node; 3]>, Error> {
        self.take('[', "an opening bracket")?;
        let round = self.sum()?;
        self.take(']', "a closing bracket")?;
        self.take('[', "an opening bracket")?;
        let row = self.sum()?;
        self.take(',', "a comma")?;
        let column = self.sum()?;
        self.take(']', "a closing bracket")?;
        Ok(Box::new([round, row, column]))
    }

    fn call(&mut self, function: Function) -> Result<Node, Error> {
        self.take('(', "an opening parenthesis")?;
        let argument = self.sum()?;
        self.take(')', "a closing parenthesis")?;
        Ok(Node::Call(function, Box::new(argument)))
    }

    fn pair(&mut self, operator: Operator) -> Result<Node, Error> {
        self.take('(', "an opening parenthesis")?;
        let left = self.sum()?;
        self.take(',', "a comma")?;
        let right = self.sum()?;
        self.take(')', "a closing parenthesis")?;
        Ok(self.two(operator, left, right))
    }

    /// A sum over a range or over nodes; its variable is known in the term only.
    fn over(&mut self, what: Over) -> Result<Node, Error> {
        self.take('(', "an opening parenthesis")?;
        if !self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            return Err(self.expected("the name of a variable"));
        }
        let variable = self.word();
        self.take(',', "a comma")?;
        let mut ends = Vec::new();
        for _ in 0..what.ends() {
            ends.push(self.sum()?);
            self.take(',', "a comma")?;
        }
        let at = self.scope.len();
        self.scope.push(variable);
        self.variables = self.variables.max(self.scope.len());
        let term = self.sum();
        self.scope.pop();
        let term = term?;
        self.take(')', "a closing parenthesis")?;
        let mut ends = ends.into_iter();
        Ok(match (what, ends.next(), ends.next()) {
            (Over::Range, Some(first), Some(last)) => Node::Sum(at, Box::new([first, last, term])),
            (Over::Neighbors, Some(center), _) => Node::Neighbors(at, Box::new([center, term])),
            (Over::Largest, Some(center), _) => Node::Largest(at, Box::new([center, term])),
            (Over::Heard, Some(round), _) => Node::Heard(at, Box::new([round, term])),
            _ => Node::Members(at, Box::new(term)),
        })
    }
}

/// What a sum runs over.
#[derive(Clone, Copy)]
enum Over {
    Range,
    Neighbors,
    Largest,
    Heard,
    Members,
}

impl Over {
    /// How many expressions stand between its variable and its term.
    fn ends(self) -> usize {
        match self {
            Self::Range => 2,
            Self::Neighbors | Self::Largest | Self::Heard => 1,
            Self::Members => 0,
        }
    }
}
