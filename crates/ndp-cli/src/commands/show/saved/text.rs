//! JSON as it stands in the file, over which the checksum is taken.

/// JSON without the white space between its parts, over which the checksum is taken.
pub(super) fn compact(text: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let mut keeps = |letter: char| {
        let kept = inside || !letter.is_ascii_whitespace();
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = inside,
            '"' => inside = !inside,
            _ => {}
        }
        kept
    };
    text.chars().filter(|&letter| keeps(letter)).collect()
}

/// The text of a field of an object without white space; the keys that are looked for have no escapes.
pub(super) fn field<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("\"{name}\":");
    let (mut depth, mut inside, mut escaped, mut start) = (0_usize, false, false, None);
    for (at, letter) in object.bytes().enumerate() {
        if !inside && depth == 1 && start.is_none() && object.get(at..)?.starts_with(&key) {
            start = Some(at + key.len());
        }
        let ends = !inside && depth == 1 && (letter == b',' || letter == b'}');
        if let Some(start) = start.filter(|&start| ends && at >= start) {
            return object.get(start..at);
        }
        match letter {
            _ if escaped => escaped = false,
            b'\\' => escaped = inside,
            b'"' => inside = !inside,
            b'{' | b'[' if !inside => depth += 1,
            b'}' | b']' if !inside => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}
