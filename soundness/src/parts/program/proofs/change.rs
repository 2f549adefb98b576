//! Changes of a proof file: of its program, of what it claims, of its witnesses.

use super::judge::number;
use crate::draw::numbers::pick;
use num_rational::BigRational;
use num_traits::Zero;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};

/// A changed file.
pub(super) struct Changed {
    pub(super) lines: Vec<Json>,
    /// Whether the changed file claims more than its witnesses show, whether or not the claim is true.
    pub(super) stronger: bool,
    pub(super) what: &'static str,
}

/// Changes the file in one way; `None` if the drawn change does not apply.
pub(super) fn change(rng: &mut ChaCha8Rng, file: &[Json]) -> Option<Changed> {
    let over = file.iter().position(|line| line.get("end").is_some())?;
    let last = file.len() - 1;
    let nodes = file[1]["nodes"].as_u64()?;
    let mut lines = file.to_vec();
    let pair = rng.random_range(over + 1..last);
    let (stronger, what) = match rng.random_range(0..18) {
        0 => (less(rng, &mut lines[pair], "upper")?, "smaller upper end"),
        1 => (more(&mut lines[pair], "lower")?, "larger lower end"),
        2 => (less(rng, &mut lines[last], "largest")?, "smaller largest loss"),
        3 if file[last]["covers"] == "these-pairs" => {
            lines[last]["covers"] = json!("every-pair");
            (true, "more pairs covered")
        }
        4 => {
            lines.remove(pair);
            (true, "a pair missing")
        }
        5 => {
            lines.insert(pair, file[pair].clone());
            lines[last + 1]["pairs"] = json!(last - over);
            (true, "a pair twice")
        }
        6 => {
            let set = pick(rng, &[0, 1, 2, 3]);
            lines[0]["set"] = match set {
                0 => json!("use-level"),
                1 => json!("same-direction"),
                2 => json!("signs"),
                _ => json!({"vectors": {"dimension": 2}}),
            };
            (false, "another set")
        }
        7 => {
            let noises: Vec<usize> = (2..over).filter(|&at| file[at].get("noise").is_some()).collect();
            let at = one(rng, &noises)?;
            scaled(rng, &mut lines[at]["variance"])?;
            (false, "another variance")
        }
        8 => {
            let sums: Vec<usize> = (2..over).filter(|&at| file[at].get("sum").is_some()).collect();
            let at = one(rng, &sums)?;
            let weight = entry(rng, &mut lines[at]["sum"])?;
            scaled(rng, weight)?;
            (false, "another weight")
        }
        9 | 10 => {
            let value = one(rng, &values(&file[..over]))?;
            let from = rng.random_range(0..nodes);
            let to = (from + rng.random_range(1..nodes)) % nodes;
            let event = match rng.random_range(0..4) {
                0 => json!({"broadcast": value, "from": from}),
                1 => json!({"publish": value}),
                2 => json!({"hold": value, "by": to}),
                _ => json!({"send": value, "from": from, "to": to}),
            };
            lines.insert(over, event);
            (false, "more is seen")
        }
        11 => {
            let who = lines[pair]["observer"]["members"].as_array_mut()?;
            who.push(json!(rng.random_range(0..nodes)));
            (false, "one more member")
        }
        12 => {
            let from = rng.random_range(0..nodes);
            let taps = lines[pair]["observer"]["taps"].as_array_mut()?;
            taps.push(json!([from, (from + 1) % nodes]));
            (false, "one more tap")
        }
        13 => {
            let shifts = lines[pair]["shifts"].as_array_mut()?;
            let at = rng.random_range(0..shifts.len().max(1));
            let by = entry(rng, shifts.get_mut(at)?)?;
            scaled(rng, by)?;
            (false, "another shift")
        }
        14 => {
            let attack = entry(rng, &mut lines[pair]["attack"]["sum"])?;
            scaled(rng, attack)?;
            (false, "another attack")
        }
        15 => {
            let at = rng.random_range(2..over.max(3));
            (over > at + 1).then(|| lines.swap(at, at + 1))?;
            (false, "another order")
        }
        16 => {
            let reads: Vec<usize> = (2..over).filter(|&at| file[at].get("contribute").is_some()).collect();
            let at = one(rng, &reads)?;
            let known = values(&file[..at]);
            lines[at]["reads"] = json!({"seen": [one(rng, &known)?]});
            (false, "something is read")
        }
        17 => {
            lines[pair]["source"] = json!(rng.random_range(0..nodes));
            (false, "another node")
        }
        _ => return None,
    };
    (lines != file).then_some(Changed { lines, stronger, what })
}

/// Makes a number smaller; `None` if it is 0.
fn less(rng: &mut ChaCha8Rng, line: &mut Json, key: &str) -> Option<bool> {
    let x = number(&line[key])?;
    let tiny = BigRational::new(1.into(), num_bigint::BigInt::from(10).pow(30));
    let part = BigRational::new(pick(rng, &[0, 1, 99]).into(), 100.into());
    let y = if rng.random_range(0..2) == 0 { &x - &tiny * &x } else { &x * part };
    line[key] = json!(y.to_string());
    (!x.is_zero()).then_some(true)
}

/// A larger number.
fn more(line: &mut Json, key: &str) -> Option<bool> {
    let x = number(&line[key])?;
    let tiny = BigRational::new(1.into(), num_bigint::BigInt::from(10).pow(30));
    let y = if x.is_zero() { tiny } else { &x + &tiny * &x };
    line[key] = json!(y.to_string());
    Some(true)
}

/// Multiplies a number that is written as text.
fn scaled(rng: &mut ChaCha8Rng, x: &mut Json) -> Option<()> {
    let (top, bottom) = pick(rng, &[(1, 2), (2, 1), (-1, 1), (0, 1), (99, 100), (101, 100)]);
    let y = number(x)? * BigRational::new(top.into(), bottom.into());
    *x = json!(y.to_string());
    Some(())
}

/// One of the entries of a table.
fn entry<'a>(rng: &mut ChaCha8Rng, table: &'a mut Json) -> Option<&'a mut Json> {
    let table = table.as_object_mut()?;
    let at = rng.random_range(0..table.len().max(1));
    table.iter_mut().nth(at).map(|(_, x)| x)
}

fn one<T: Clone>(rng: &mut ChaCha8Rng, items: &[T]) -> Option<T> {
    items.get(rng.random_range(0..items.len().max(1))).cloned()
}

/// The names of values that some lines make.
fn values(lines: &[Json]) -> Vec<String> {
    let mut found = Vec::new();
    for line in lines {
        for key in ["contribute", "noise", "let"] {
            match line.get(key) {
                Some(Json::String(name)) => found.push(name.clone()),
                Some(Json::Array(names)) => {
                    found.extend(names.iter().filter_map(|name| name.as_str().map(str::to_owned)));
                }
                _ => {}
            }
        }
    }
    found
}
