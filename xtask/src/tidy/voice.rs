//! Sentences about privacy belong in `ndp_report::words`: the phrases that they consist of are in no string
//! elsewhere.

use super::File;

/// Phrases that, used alone, promise more than was computed.
const WORDS: [&str; 12] = [
    "anybody",
    "about any node",
    "any other node",
    "every pair",
    "learns at most",
    "loses at most",
    "limit is kept",
    "whoever observes",
    "is protected",
    "nobody can",
    "shows nothing",
    "nothing is shown",
];

/// Where these phrases are allowed: in the words module itself, and in figures of papers and formulas that
/// may be false, which have sentences of their own.
const EXCEPT: [&str; 4] = [
    "crates/ndp-report/src/words",
    "crates/ndp-experiments/",
    "crates/ndp-printed/",
    "crates/ndp-report/src/page.rs",
];

pub(super) fn problems(files: &[File]) -> Vec<String> {
    let sources = files.iter().filter(|File { path, .. }| {
        let crates = path.starts_with("crates/") && path.contains("/src/") || path.starts_with("python/src/");
        let test = path.contains("/tests") || path.contains("/checks");
        crates && path.ends_with(".rs") && !test && !EXCEPT.iter().any(|place| path.starts_with(place))
    });
    let mut problems = Vec::new();
    for File { path, text } in sources {
        let code = text.split("\n#[cfg(test)]").next().unwrap_or("");
        for (line, string) in strings(code) {
            let string = string.to_lowercase();
            for word in WORDS.iter().filter(|word| string.contains(**word)) {
                problems.push(format!("{path}:{line}: {word:?} belongs into ndp_report::words"));
            }
        }
    }
    problems
}

/// The strings of a source, each with the line where it begins; comments are left out.
fn strings(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut letters = code.chars().peekable();
    let (mut line, mut before) = (1, ' ');
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => line += 1,
            '/' if letters.peek() == Some(&'/') => while letters.next_if(|&next| next != '\n').is_some() {},
            // A character literal in single quotes, which may be a quotation mark.
            '\'' if letters.peek() == Some(&'"') && before != 'b' => {
                letters.next();
            }
            '\\' => {
                letters.next();
            }
            '"' => {
                let (start, mut string) = (line, String::new());
                while let Some(next) = letters.next() {
                    match next {
                        '"' => break,
                        '\\' => match letters.next() {
                            // A string continues on the next line, at its first character that is not white
                            // space.
                            Some('\n') => {
                                line += 1;
                                while letters.next_if(|&next| next == ' ').is_some() {}
                            }
                            Some(escaped) => string.push(escaped),
                            None => {}
                        },
                        '\n' => {
                            line += 1;
                            string.push(' ');
                        }
                        other => string.push(other),
                    }
                }
                found.push((start, string));
            }
            _ => {}
        }
        before = letter;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> Vec<String> {
        problems(&[File { path: path.into(), text: text.into() }])
    }

    /// If a sentence is moved to where a number is shown, it is found, even over two lines, but not in a
    /// comment or a test.
    #[test]
    fn a_promise_elsewhere_is_found() {
        let promise = "fn f() {\n    let c = '\"';\n    say(\"what Anybody \\\n         learns\");\n}\n";
        assert_eq!(
            of("crates/ndp-cli/src/show.rs", promise),
            ["crates/ndp-cli/src/show.rs:3: \"anybody\" belongs into ndp_report::words"]
        );
        assert_eq!(of("crates/x/src/a.rs", "say(\"each loses at \\\n   most 1\")").len(), 1);
        for fine in [
            "// anybody\n",
            "/// \"anybody\"\nfn f() {}\n",
            "fn f() {}\n\n#[cfg(test)]\nmod t { \"anybody\" }\n",
        ] {
            assert!(of("crates/ndp-cli/src/show.rs", fine).is_empty(), "{fine}");
        }
        assert!(of("crates/ndp-report/src/words.rs", promise).is_empty());
        assert!(of("crates/ndp-cli/tests/a.rs", promise).is_empty());
        // Every word of the list is found.
        for word in WORDS {
            assert!(!of("python/src/lib.rs", &format!("say(\"{word}\")")).is_empty(), "{word}");
        }
    }
}
