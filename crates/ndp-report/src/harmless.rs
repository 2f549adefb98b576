//! Names from files, shown so that they have no effect on a terminal.

use std::borrow::Cow;

/// The text with those characters escaped that would control a terminal, end a line, or change the direction
/// of the text.
///
/// # Examples
/// ```
/// use ndp_report::harmless::harmless;
/// assert_eq!(harmless("Zoë 安 'a'"), "Zoë 安 'a'");
/// assert_eq!(harmless("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
/// ```
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(does_something) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if does_something(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

/// Control characters, line ends, and characters that change the direction of the text.
fn does_something(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_and_do_nothing() {
        assert_eq!(harmless("Zoë 安 🙂 'a\"b\\c'"), "Zoë 安 🙂 'a\"b\\c'");
        for c in ('\0'..=char::MAX).filter(|&c| does_something(c)) {
            let shown = harmless(&format!("a{c}b")).into_owned();
            assert!(shown.is_ascii() && shown.starts_with("a\\") && shown.ends_with('b'), "{shown}");
            assert!(shown.chars().all(|c| !c.is_control()), "{shown:?}");
        }
        assert_eq!(harmless("\u{202e}gnp.exe\t\u{9b}"), "\\u{202e}gnp.exe\\t\\u{9b}");
    }
}
