//! Texts that are nearly right: members of a corpus with a few changes that follow the structure of texts.

use rand::{Rng, RngExt};

/// Words that parsers of numbers, of JSON and of tables trip over.
const WORDS: [&str; 52] = [
    "0",
    "-1",
    "1",
    "-0",
    "1e999",
    "-1e999",
    "1e-400",
    "NaN",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "null",
    "true",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "-9223372036854775808",
    "4294967296",
    "9007199254740993",
    "1e15",
    "1e16",
    "0.1",
    ".5",
    "5.",
    "1/3",
    "0/0",
    "1/0",
    "0x10",
    "1_000",
    "+1",
    "\"\"",
    "\"",
    "\\",
    "\\u0000",
    "[",
    "]",
    "{",
    "}",
    "[[[[[[[[[[[[[[[[",
    "{}",
    "[]",
    ",",
    ";",
    ":",
    "\t",
    "\r\n",
    "\n\n",
    "\u{feff}",
    "\u{0}",
    "#",
    "%",
];

/// The longest input, in bytes.
const LONGEST: usize = 1 << 14;

/// The corpus of one target, and the words that occur in it.
pub(crate) struct Corpus {
    texts: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Corpus {
    pub(crate) fn new(texts: Vec<Vec<u8>>) -> Self {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.\"".contains(byte) || *byte >= 128;
        let mut words: Vec<Vec<u8>> = texts
            .iter()
            .flat_map(|text| text.split(|byte| !is_word(byte)))
            .filter(|word| !word.is_empty() && word.len() <= 40)
            .map(<[u8]>::to_vec)
            .chain(WORDS.iter().map(|word| word.as_bytes().to_vec()))
            .collect();
        words.sort();
        words.dedup();
        Self { texts, words }
    }

    /// A text: one in sixteen is noise, the others are changed members of the corpus.
    pub(crate) fn draw(&self, rng: &mut impl Rng) -> Vec<u8> {
        if self.texts.is_empty() || rng.random_ratio(1, 16) {
            let length = rng.random_range(0..200);
            return (0..length).map(|_| rng.random()).collect();
        }
        let mut text = self.texts[rng.random_range(0..self.texts.len())].clone();
        let changes = 1 << rng.random_range(0..4);
        for _ in 0..changes {
            self.change(&mut text, rng);
        }
        text.truncate(LONGEST);
        text
    }

    fn change(&self, text: &mut Vec<u8>, rng: &mut impl Rng) {
        let end = text.len();
        let place = rng.random_range(0..=end);
        match rng.random_range(0..14) {
            0 if place < end => text[place] ^= 1 << rng.random_range(0..8),
            1 if place < end => text[place] = rng.random(),
            2 => text.insert(place, rng.random()),
            3 => {
                let until = (place + rng.random_range(0..32)).min(end);
                text.drain(place..until);
            }
            4 => {
                let until = (place + rng.random_range(0..64)).min(end);
                let piece = text[place..until].to_vec();
                let copies = 1 << rng.random_range(0..6);
                text.splice(place..place, piece.repeat(copies));
            }
            5..=8 => {
                let word = &self.words[rng.random_range(0..self.words.len())];
                let (from, until) = word_around(text, place);
                // A word takes the place of another, or stands beside it.
                let from = if rng.random_ratio(1, 4) { until } else { from };
                text.splice(from..until, word.iter().copied());
            }
            9 => {
                let other = &self.texts[rng.random_range(0..self.texts.len())];
                let from = rng.random_range(0..=other.len());
                text.truncate(place);
                text.extend_from_slice(&other[from..]);
            }
            10..=12 => lines(text, rng),
            _ => text.truncate(place),
        }
    }
}

/// The ends of the word at `place`.
fn word_around(text: &[u8], place: usize) -> (usize, usize) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-+_.".contains(byte);
    let before = text[..place].iter().rev().take_while(|byte| is_word(byte)).count();
    let after = text[place..].iter().take_while(|byte| is_word(byte)).count();
    (place - before, place + after)
}

/// A line is left out, said twice, or exchanged with another.
fn lines(text: &mut Vec<u8>, rng: &mut impl Rng) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (i, j) = (rng.random_range(0..lines.len()), rng.random_range(0..lines.len()));
    match rng.random_range(0..3) {
        0 => drop(lines.remove(i)),
        1 => lines.insert(j, lines[i].clone()),
        _ => lines.swap(i, j),
    }
    *text = lines.concat();
}

/// The smallest input that `fails`, as far as leaving parts out and putting zeros finds it in `tries` calls.
pub(crate) fn smallest(input: &[u8], mut tries: usize, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input.to_vec();
    let mut piece = best.len().div_ceil(2).max(1);
    while piece >= 1 {
        let mut at = 0;
        while at < best.len() && tries > 0 {
            let mut shorter = best.clone();
            shorter.drain(at..(at + piece).min(best.len()));
            tries -= 1;
            if fails(&shorter) {
                best = shorter;
            } else {
                at += piece;
            }
        }
        if piece == 1 {
            break;
        }
        piece /= 2;
    }
    for at in 0..best.len() {
        if best[at] != b'0' && best[at] != 0 && tries > 0 {
            let mut plainer = best.clone();
            plainer[at] = if best[at].is_ascii_graphic() { b'0' } else { 0 };
            tries -= 1;
            if fails(&plainer) {
                best = plainer;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_corpus_is_changed_and_the_same_seed_changes_it_alike() {
        let corpus = Corpus::new(vec![b"{\"nodes\": 12}\na b\n".to_vec()]);
        let drawn = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            (0..100).map(|_| corpus.draw(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        let words = |text: &&Vec<u8>| text.starts_with(b"{\"nodes\": ") && text.ends_with(b"}\na b\n");
        assert!(drawn(3).iter().filter(words).count() > 3);
    }

    #[test]
    fn the_smallest_input_keeps_what_matters() {
        let found = smallest(b"abcdefghi#jklmnop", 500, |text| text.contains(&b'#'));
        assert_eq!(found, b"#");
    }
}
