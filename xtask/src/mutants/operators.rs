//! The mutations: what each does to an expression, a statement or a function.

use super::candidates::{Found, Shape};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Lit, ReturnType, Stmt, UnOp};

/// The kinds of mutation with their weights in a draw. A missing check says more about the tests than a moved
/// boundary does, so it is drawn more often.
pub(super) const KINDS: [(&str, f64); 17] = [
    ("arithmetic", 2.0),
    ("arm", 1.5),
    ("bits", 1.0),
    ("boundary", 0.5),
    ("constant", 0.7),
    ("dropped", 2.5),
    ("extreme", 3.0),
    ("grade", 6.0),
    ("halved", 4.0),
    ("logic", 2.0),
    ("negate", 1.5),
    ("no-check", 3.0),
    ("no-statement", 2.0),
    ("range", 1.5),
    ("return", 1.5),
    ("round", 5.0),
    ("skip-last", 3.0),
];

/// The piece of source of a node.
fn range(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

/// Tokens without spaces, for names of types.
pub(super) fn words(node: &impl quote::ToTokens) -> String {
    node.to_token_stream().to_string().replace(' ', "")
}

/// The text with runs of white space as one space, cut to its first or last `longest` characters.
fn short(text: &str, longest: usize, from_end: bool) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = text.chars().count();
    if count <= longest {
        return text;
    }
    if from_end {
        format!("…{}", text.chars().skip(count - longest).collect::<String>())
    } else {
        format!("{}…", text.chars().take(longest).collect::<String>())
    }
}

/// A replacement of a whole expression.
fn replace(kind: &'static str, span: Range<usize>, text: &str, with: String) -> Found {
    let change = format!("{} -> {}", short(&text[span.clone()], 60, false), short(&with, 60, false));
    Found { kind, span, shape: Shape::Replace { with, braced: false }, change }
}

/// Replaces a part of an expression; the switch goes around the whole expression.
fn splice(kind: &'static str, whole: Range<usize>, part: Range<usize>, text: &str, new: &str) -> Found {
    let before = &text[whole.start..part.start];
    let after = &text[part.end..whole.end];
    let change = format!(
        "{}{}{} -> {new}",
        short(before, 30, true),
        format_args!(" {} ", &text[part]),
        short(after, 30, false)
    );
    Found {
        kind,
        span: whole,
        shape: Shape::Replace { with: format!("{before}{new}{after}"), braced: false },
        change,
    }
}

/// The mutations of an expression, without those of its subexpressions.
pub(super) fn of_expression(expression: &Expr, text: &str) -> Vec<Found> {
    let whole = range(expression);
    match expression {
        Expr::Binary(it) => of_binary(it, whole, text),
        Expr::Unary(it) => {
            let kind = match it.op {
                UnOp::Not(_) => "negate",
                UnOp::Neg(_) => "arithmetic",
                _ => return Vec::new(),
            };
            vec![replace(kind, whole, text, text[range(&it.expr)].to_owned())]
        }
        Expr::MethodCall(it) => of_method(it, whole, text),
        Expr::Call(it) => {
            let mut found = regraded(&it.args, &whole, text);
            if let Expr::Path(path) = &*it.func {
                found.extend(of_path(path, &whole, text));
            }
            found
        }
        Expr::Path(it) => {
            let mut found = of_path(it, &whole, text);
            if it.path.get_ident().is_some_and(|name| is_probability(&name.to_string())) {
                found.push(halved(whole, text));
            }
            found
        }
        Expr::Field(it) => {
            let mut found = Vec::new();
            if let syn::Member::Named(name) = &it.member {
                if let Some(other) = other_side(&name.to_string()) {
                    found.push(splice("round", whole.clone(), range(name), text, &other));
                }
                if is_probability(&name.to_string()) {
                    found.push(halved(whole, text));
                }
            }
            found
        }
        Expr::Lit(it) => {
            of_literal(&it.lit).into_iter().map(|new| replace("constant", whole.clone(), text, new)).collect()
        }
        Expr::Range(it) => {
            let mut found = Vec::new();
            for (end, step) in [(&it.start, "+"), (&it.end, "-")] {
                if let Some(end) = end {
                    let place = range(end);
                    let with = format!("({}) {step} 1", &text[place.clone()]);
                    found.push(replace("range", place, text, with));
                }
            }
            found
        }
        Expr::ForLoop(it) => vec![skip_last(&it.expr, text)],
        Expr::If(it) => of_condition(&it.cond, text),
        Expr::While(it) => of_condition(&it.cond, text),
        Expr::Match(it) => of_match(it, text),
        _ => Vec::new(),
    }
}

fn of_binary(it: &syn::ExprBinary, whole: Range<usize>, text: &str) -> Vec<Found> {
    let swap = |kind: &'static str, new: &str| splice(kind, whole.clone(), range(&it.op), text, new);
    let left = || {
        let op = format!("{}{}", &text[range(&it.op)], &text[range(&it.op).end..whole.end]);
        let change =
            format!("{} {} -> dropped", short(&text[range(&it.left)], 30, true), short(&op, 40, false));
        let with = text[range(&it.left)].to_owned();
        Found { kind: "dropped", span: whole.clone(), shape: Shape::Replace { with, braced: false }, change }
    };
    let logic = |new: &str| {
        if has_let(&it.left) || has_let(&it.right) { Vec::new() } else { vec![swap("logic", new)] }
    };
    match it.op {
        BinOp::Lt(_) => vec![swap("boundary", "<="), swap("negate", ">=")],
        BinOp::Le(_) => vec![swap("boundary", "<"), swap("negate", ">")],
        BinOp::Gt(_) => vec![swap("boundary", ">="), swap("negate", "<=")],
        BinOp::Ge(_) => vec![swap("boundary", ">"), swap("negate", "<")],
        BinOp::Eq(_) => vec![swap("negate", "!=")],
        BinOp::Ne(_) => vec![swap("negate", "==")],
        BinOp::And(_) => logic("||"),
        BinOp::Or(_) => logic("&&"),
        BinOp::Add(_) => vec![swap("arithmetic", "-"), left()],
        BinOp::Sub(_) => vec![swap("arithmetic", "+"), left()],
        BinOp::Mul(_) => vec![swap("arithmetic", "/"), left()],
        BinOp::Div(_) => vec![swap("arithmetic", "*"), left()],
        BinOp::Shl(_) => vec![swap("bits", ">>")],
        BinOp::Shr(_) => vec![swap("bits", "<<")],
        BinOp::BitAnd(_) => vec![swap("bits", "|")],
        BinOp::BitOr(_) => vec![swap("bits", "&")],
        BinOp::AddAssign(_) => vec![swap("arithmetic", "-=")],
        BinOp::SubAssign(_) => vec![swap("arithmetic", "+=")],
        BinOp::MulAssign(_) => vec![swap("arithmetic", "/=")],
        BinOp::DivAssign(_) => vec![swap("arithmetic", "*=")],
        _ => Vec::new(),
    }
}

fn of_method(it: &syn::ExprMethodCall, whole: Range<usize>, text: &str) -> Vec<Found> {
    let name = it.method.to_string();
    let swap = |kind, new: &str| splice(kind, whole.clone(), range(&it.method), text, new);
    let receiver = |kind: &'static str| {
        let change = format!("{}.{name}(…) -> dropped", short(&text[range(&it.receiver)], 50, true));
        let with = text[range(&it.receiver)].to_owned();
        Found { kind, span: whole.clone(), shape: Shape::Replace { with, braced: false }, change }
    };
    let mut found = Vec::new();
    match name.as_str() {
        "max" | "min" => {
            found.push(swap("extreme", if name == "max" { "min" } else { "max" }));
            if it.args.len() == 1 {
                found.push(receiver("extreme"));
            }
        }
        "all" => found.push(swap("logic", "any")),
        "any" => found.push(swap("logic", "all")),
        "abs" => found.push(receiver("dropped")),
        "next_up" | "next_down" => found.push(receiver("round")),
        _ => {}
    }
    if ["sum", "product", "fold", "try_fold", "all", "any", "reduce", "max_by", "min_by"]
        .contains(&name.as_str())
    {
        found.push(skip_last(&it.receiver, text));
    }
    found.extend(other_side(&name).map(|new| swap("round", &new)));
    if is_probability(&name) && it.args.is_empty() {
        found.push(halved(whole.clone(), text));
    }
    found.extend(regraded([&*it.receiver], &whole, text));
    found.extend(regraded(&it.args, &whole, text));
    found
}

/// Functions and variants by their last name: rounding, extremes, grades.
fn of_path(it: &syn::ExprPath, whole: &Range<usize>, text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let Some(last) = it.path.segments.last() else { return found };
    let name = last.ident.to_string();
    let place = range(&last.ident);
    let mut swap = |kind, new: &str| found.push(splice(kind, whole.clone(), place.clone(), text, new));
    // A bare name may be a variable, whose counterpart may not exist.
    if (1 < it.path.segments.len() || *whole != range(it))
        && let Some(new) = other_side(&name)
    {
        swap("round", &new);
    }
    match name.as_str() {
        "max" => swap("extreme", "min"),
        "min" => swap("extreme", "max"),
        "Exact" => swap("grade", "UpperBound"),
        "UpperBound" => swap("grade", "Exact"),
        "Met" => swap("grade", "Violated"),
        "Violated" => swap("grade", "Met"),
        _ => {}
    }
    found
}

/// Exchanges the grade of an argument such as `Exact::new(x)` of a call.
fn regraded<'a>(
    arguments: impl IntoIterator<Item = &'a Expr>,
    whole: &Range<usize>,
    text: &str,
) -> Vec<Found> {
    let mut found = Vec::new();
    for argument in arguments {
        let Expr::Call(call) = argument else { continue };
        let Expr::Path(path) = &*call.func else { continue };
        let names: Vec<&syn::PathSegment> = path.path.segments.iter().collect();
        let [.., ty, new] = names.as_slice() else { continue };
        let other = match ty.ident.to_string().as_str() {
            "Exact" => "UpperBound",
            "UpperBound" => "Exact",
            _ => continue,
        };
        if new.ident == "new" {
            found.push(splice("grade", whole.clone(), range(&ty.ident), text, other));
        }
    }
    found
}

fn of_literal(literal: &Lit) -> Option<String> {
    match literal {
        Lit::Float(it) => {
            let value = it.base10_parse::<f64>().ok()?;
            (value != 0.0).then(|| format!("{:?}{}", value * 0.5, it.suffix()))
        }
        Lit::Int(it) => {
            let value = it.base10_parse::<u64>().ok()?;
            Some(format!("{}{}", value.checked_add(1)?, it.suffix()))
        }
        Lit::Bool(it) => Some((!it.value).to_string()),
        _ => None,
    }
}

/// Negates conditions that are not comparisons; comparisons have mutations of their own.
fn of_condition(condition: &Expr, text: &str) -> Vec<Found> {
    match condition {
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Path(_) | Expr::Field(_) | Expr::Macro(_) => {
            let place = range(condition);
            let with = format!("!({})", &text[place.clone()]);
            vec![replace("negate", place, text, with)]
        }
        _ => Vec::new(),
    }
}

/// Replaces the body of each arm by that of a neighboring arm.
fn of_match(it: &syn::ExprMatch, text: &str) -> Vec<Found> {
    let body = |arm: &syn::Arm| range(&arm.body);
    let mut found = Vec::new();
    for (i, arm) in it.arms.iter().enumerate() {
        let Some(other) = it.arms.get(if i == 0 { 1 } else { i - 1 }) else { continue };
        if text[body(arm)] == text[body(other)] {
            continue;
        }
        let with = text[body(other)].to_owned();
        let change = format!(
            "{} => {} -> {}",
            short(&text[range(&arm.pat)], 30, false),
            short(&text[body(arm)], 30, false),
            short(&with, 30, false)
        );
        let braced = arm.comma.is_none();
        found.push(Found { kind: "arm", span: body(arm), shape: Shape::Replace { with, braced }, change });
    }
    found
}

fn skip_last(items: &Expr, text: &str) -> Found {
    let span = range(items);
    let change = format!("{} -> all but the last", short(&text[span.clone()], 60, true));
    Found { kind: "skip-last", span, shape: Shape::Most, change }
}

fn halved(whole: Range<usize>, text: &str) -> Found {
    let with = format!("0.5 * {}", &text[whole.clone()]);
    replace("halved", whole, text, with)
}

fn is_probability(name: &str) -> bool {
    ["failure", "probability", "delta"].iter().any(|word| name.split('_').any(|part| part == *word))
}

/// The name with `up` and `down`, `upper` and `lower` and the like exchanged; `None` if it contains no such
/// word.
fn other_side(name: &str) -> Option<String> {
    const SIDES: [(&str, &str); 6] = [
        ("up", "down"),
        ("upper", "lower"),
        ("floor", "ceil"),
        ("lo", "hi"),
        ("low", "high"),
        ("above", "below"),
    ];
    let other = |part: &str| {
        SIDES.iter().find_map(|&(a, b)| if part == a { Some(b) } else { (part == b).then_some(a) })
    };
    let mut parts: Vec<&str> = name.split('_').collect();
    let place = parts.iter().position(|part| other(part).is_some())?;
    parts[place] = other(parts[place])?;
    Some(parts.join("_"))
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(it) => has_let(&it.left) || has_let(&it.right),
        Expr::Paren(it) => has_let(&it.expr),
        _ => false,
    }
}

/// Leaves out statements: checks that return early, and statements that have an effect.
pub(super) fn of_statement(statement: &Stmt, text: &str) -> Vec<Found> {
    let Stmt::Expr(expression, end) = statement else { return Vec::new() };
    let kind = match (expression, end) {
        (Expr::Try(_), Some(_)) => "no-check",
        (Expr::If(it), _) if it.else_branch.is_none() && returns(&it.then_branch) => "no-check",
        (Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_) | Expr::Continue(_), Some(_)) => {
            "no-statement"
        }
        (Expr::Binary(it), Some(_)) if is_assignment(&it.op) => "no-statement",
        _ => return Vec::new(),
    };
    let span = range(statement);
    let change = format!("{} -> not done", short(&text[span.clone()], 60, false));
    vec![Found { kind, span, shape: Shape::Skip, change }]
}

fn is_assignment(op: &BinOp) -> bool {
    words(op).ends_with('=') && !matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Le(_) | BinOp::Ge(_))
}

fn returns(block: &syn::Block) -> bool {
    matches!(block.stmts.last(), Some(Stmt::Expr(Expr::Return(_), _)))
}

/// Replaces the whole function by one that returns a constant.
pub(super) fn of_function(output: &ReturnType, body: &syn::Block) -> Vec<Found> {
    let ReturnType::Type(_, ty) = output else { return Vec::new() };
    if body.stmts.is_empty() {
        return Vec::new();
    }
    let start = body.brace_token.span.open().byte_range().end;
    constants(&words(ty))
        .into_iter()
        .map(|value| Found {
            kind: "return",
            span: start..start,
            change: format!("return {value}"),
            shape: Shape::Return(value),
        })
        .collect()
}

fn constants(ty: &str) -> Vec<String> {
    let inner = |name: &str| ty.strip_prefix(name).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inside) = inner("Result<") {
        let end = inside.rfind(',').filter(|_| !inside.ends_with([')', '>'])).unwrap_or(inside.len());
        return constants(&inside[..end]).into_iter().map(|value| format!("Ok({value})")).collect();
    }
    let values: &[&str] = match ty {
        "()" => &["()"],
        "bool" => &["true", "false"],
        "f64" => &["0.0"],
        "usize" | "u64" | "u32" | "i64" | "i32" | "u128" => &["0"],
        _ if inner("Option<").is_some() => &["None"],
        _ if inner("Vec<").is_some() => &["Vec::new()"],
        _ => &[],
    };
    values.iter().map(|value| (*value).to_owned()).collect()
}
