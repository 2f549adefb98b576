//! MatrixMarket: square matrices in coordinate format, an edge for every entry that is not 0.

use super::{Format, Found, malformed, numbered};
use crate::Error;
use crate::edge_list::Arcs;
use crate::error::require_ids;
use std::io::{BufRead, Read};

pub(super) fn read(mut reader: impl BufRead) -> Result<Found, Error> {
    let mut buffer = String::new();
    let mut header: Option<(bool, bool)> = None;
    let mut size: Option<(usize, usize)> = None;
    let (mut arcs, mut weights, mut extra, mut entries) = (Vec::new(), Vec::new(), false, 0_usize);
    for line in 1.. {
        buffer.clear();
        let fail = |problem: &str| malformed(Format::MatrixMarket, Some(line), problem);
        let read = reader
            .by_ref()
            .take(MAX_LINE)
            .read_line(&mut buffer)
            .map_err(|error| fail(&format!("cannot be read: {error}")))?;
        if read == 0 {
            break;
        }
        let text = buffer.trim().trim_start_matches('\u{feff}');
        let Some((pattern, symmetric)) = header else {
            header = Some(banner(text).map_err(fail)?);
            continue;
        };
        if text.is_empty() || text.starts_with('%') {
            continue;
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let Some((nodes, count)) = size else {
            let announced = announced(&fields).map_err(fail)?;
            require_ids(announced.0)?;
            size = Some(announced);
            continue;
        };
        let (u, v) = place(&fields, nodes).map_err(fail)?;
        entries += 1;
        if entries > count {
            return Err(fail("is an entry more than the file announces"));
        }
        let weight = if pattern { 1.0 } else { value(&fields).map_err(fail)? };
        if weight == 0.0 {
            continue;
        }
        extra |= weight != 1.0;
        arcs.push((u - 1, v - 1));
        weights.push(weight);
        if symmetric && u != v {
            arcs.push((v - 1, u - 1));
            weights.push(weight);
        }
    }
    let Some((nodes, count)) = size else {
        return Err(malformed(Format::MatrixMarket, None, "ends before the size of the matrix"));
    };
    if entries < count {
        let problem = format!("has {entries} entries where it announces {count}");
        return Err(malformed(Format::MatrixMarket, None, problem));
    }
    // The stated size may be false, and isolated nodes cost memory.
    if nodes > MAX_PER_ENTRY.saturating_mul(count.max(1)) {
        let problem = format!("has {nodes} nodes and only {count} entries");
        return Err(malformed(Format::MatrixMarket, None, problem));
    }
    Ok(Found {
        arcs: Arcs { labels: numbered(1, nodes), arcs, extra, weights: Some(weights) },
        directed: Some(true),
    })
}

/// Whether entries have no value, and whether the file stores only one of the two triangles.
fn banner(text: &str) -> Result<(bool, bool), &'static str> {
    let words: Vec<String> = text.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["%%matrixmarket", "matrix", "coordinate", field, symmetry] => {
            let pattern = match field {
                "pattern" => true,
                "real" | "integer" => false,
                _ => return Err("must announce a pattern, real or integer matrix"),
            };
            match symmetry {
                "general" => Ok((pattern, false)),
                "symmetric" => Ok((pattern, true)),
                _ => Err("must announce a general or symmetric matrix"),
            }
        }
        _ => Err("must announce a matrix in coordinate format"),
    }
}

/// The number of nodes, and of entries.
fn announced(fields: &[&str]) -> Result<(usize, usize), &'static str> {
    let (Some(rows), Some(columns), Some(count)) = (whole(fields, 0), whole(fields, 1), whole(fields, 2))
    else {
        return Err("must have three whole numbers: rows, columns, entries");
    };
    if rows != columns {
        return Err("must have as many columns as rows: a graph has a square matrix");
    }
    Ok((rows, count))
}

/// The row and the column of an entry, from 1.
fn place(fields: &[&str], nodes: usize) -> Result<(usize, usize), &'static str> {
    let (Some(u), Some(v)) = (whole(fields, 0), whole(fields, 1)) else {
        return Err("must begin with two whole numbers");
    };
    if !(1..=nodes).contains(&u) || !(1..=nodes).contains(&v) {
        return Err("names a row or column outside the matrix");
    }
    Ok((u, v))
}

fn value(fields: &[&str]) -> Result<f64, &'static str> {
    let value = fields.get(2).and_then(|field| field.parse::<f64>().ok());
    value.filter(|x| x.is_finite()).ok_or("must end with a finite number")
}

fn whole(fields: &[&str], at: usize) -> Option<usize> {
    fields.get(at)?.parse().ok()
}

const MAX_LINE: u64 = 1 << 16;

/// The largest number of nodes allowed for each entry.
const MAX_PER_ENTRY: usize = 1000;
