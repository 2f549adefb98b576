//! NumPy arrays, formats 1 to 3: little-endian numbers of common types.

use super::{Format, Found, malformed, numbered};
use crate::Error;
use crate::edge_list::Arcs;
use std::io::BufRead;

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

pub(super) fn read(mut reader: impl BufRead) -> Result<Found, Error> {
    let fail = |problem: &str| malformed(Format::Npy, None, problem);
    let mut start = [0; 8];
    let ends = |_| fail("ends too early");
    reader.read_exact(&mut start).map_err(ends)?;
    let length = if start[6] == 1 {
        let mut length = [0; 2];
        reader.read_exact(&mut length).map_err(ends)?;
        usize::from(u16::from_le_bytes(length))
    } else {
        let mut length = [0; 4];
        reader.read_exact(&mut length).map_err(ends)?;
        u32::from_le_bytes(length) as usize
    };
    if length > MAX_HEADER {
        return Err(fail("has a header that is too long"));
    }
    let mut header = vec![0; length];
    reader.read_exact(&mut header).map_err(ends)?;
    let header = String::from_utf8(header).map_err(|_| fail("has a header that is no text"))?;
    let kind = value(&header, "descr").ok_or_else(|| fail("does not say what its entries are"))?;
    let kind = kind.trim_matches(['\'', '"']);
    let kind = Kind::of(kind)
        .ok_or_else(|| fail(&format!("has entries of type {kind}, not little-endian numbers")))?;
    let fortran = value(&header, "fortran_order").is_some_and(|word| word.starts_with("True"));
    let (rows, columns) = shape(&header).ok_or_else(|| fail("is no array of two dimensions"))?;
    let edges = columns == 2 && rows != 2 && kind.whole();
    if !edges && rows != columns {
        return Err(fail(&format!(
            "is a {rows} by {columns} array: neither a square matrix nor edges in two columns of whole numbers"
        )));
    }
    if !edges && rows >= u32::MAX as usize {
        return Err(Error::TooManyNodes(rows));
    }
    let (mut arcs, mut weights) = (Vec::new(), Vec::new());
    let (mut extra, mut largest) = (false, 0);
    let mut ends_of: Vec<[usize; 2]> = Vec::new();
    let mut bytes = vec![0; kind.size()];
    for at in 0..rows.saturating_mul(columns) {
        reader.read_exact(&mut bytes).map_err(ends)?;
        let entry = kind.number(&bytes);
        let (row, column) = if fortran { (at % rows, at / rows) } else { (at / columns, at % columns) };
        if edges {
            if !(0.0..f64::from(u32::MAX - 1)).contains(&entry) {
                return Err(fail(&format!("has {entry} as the end of an edge: nodes are numbered from 0")));
            }
            if row >= ends_of.len() {
                ends_of.resize(row + 1, [0; 2]);
            }
            let node = ndp_numeric::casts::floor(entry);
            largest = largest.max(node);
            ends_of[row][column] = node;
        } else if !entry.is_finite() {
            return Err(fail(&format!("has {entry} in row {row} and column {column}")));
        } else if entry != 0.0 {
            extra |= entry != 1.0;
            arcs.push((row, column));
            weights.push(entry);
        }
    }
    if reader.read(&mut [0]).map_err(ends)? > 0 {
        return Err(fail("goes on after its last entry"));
    }
    if edges {
        if largest > 1000 * rows.max(1) {
            return Err(fail(&format!("has {rows} edges and names node {largest}")));
        }
        arcs = ends_of.into_iter().map(|[u, v]| (u, v)).collect();
    }
    let labels = numbered(0, if edges { largest + usize::from(rows > 0) } else { rows });
    let directed = if edges { None } else { Some(true) };
    let weights = (!edges).then_some(weights);
    Ok(Found { arcs: Arcs { labels, arcs, extra, weights }, directed })
}

/// The type of an entry.
#[derive(Clone, Copy)]
enum Kind {
    Float(usize),
    Signed(usize),
    Unsigned(usize),
}

impl Kind {
    fn of(descriptor: &str) -> Option<Self> {
        let size = descriptor.get(2..)?.parse().ok()?;
        match (descriptor.get(..2)?, size) {
            ("<f", 4 | 8) => Some(Self::Float(size)),
            ("<i", 2 | 4 | 8) | ("|i", 1) => Some(Self::Signed(size)),
            ("<u", 2 | 4 | 8) | ("|u", 1) | ("|b", 1) => Some(Self::Unsigned(size)),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Float(size) | Self::Signed(size) | Self::Unsigned(size) => size,
        }
    }

    fn whole(self) -> bool {
        !matches!(self, Self::Float(_))
    }

    /// The entry as a float. Nodes are below 2^32; integers of 64 bits beyond 2^53 are rounded.
    fn number(self, bytes: &[u8]) -> f64 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        match self {
            Self::Float(4) => f64::from(f32::from_le_bytes([word[0], word[1], word[2], word[3]])),
            Self::Float(_) => f64::from_le_bytes(word),
            Self::Unsigned(_) => u64::from_le_bytes(word) as f64,
            Self::Signed(size) => {
                let unused = 64 - 8 * u32::try_from(size).unwrap_or(8);
                (i64::from_le_bytes(word) << unused >> unused) as f64
            }
        }
    }
}

/// The text after `'key':` in the header.
fn value<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) = header.split_once(&format!("'{key}':"))?;
    Some(after.trim_start().split(',').next()?.trim_end_matches(['}', ' ', '\n']))
}

fn shape(header: &str) -> Option<(usize, usize)> {
    let (_, after) = header.split_once("'shape':")?;
    let inside = after.trim_start().strip_prefix('(')?.split(')').next()?;
    let sizes: Option<Vec<usize>> = inside
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect();
    match sizes?[..] {
        [rows, columns] => Some((rows, columns)),
        _ => None,
    }
}

const MAX_HEADER: usize = 1 << 16;
