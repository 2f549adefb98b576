//! Lengths of files and comments, leftovers, test files that are not compiled, and where `unsafe` may occur.

use super::File;

/// The files that may contain `unsafe`, where each block has its proof.
const UNSAFE: [&str; 2] = ["crates/ndp-certify/src/packed/ifma.rs", "crates/ndp-linalg/src/lapack.rs"];

/// The maximal length of a source file in lines, without its unit tests; most have 100 to 400 lines.
const LONGEST: usize = 500;

pub(super) fn problems(files: &[File]) -> Vec<String> {
    let mut problems = tests_left_out(files);
    for File { path, text } in files {
        let rust = path.ends_with(".rs");
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
        if rust && code.count() > LONGEST {
            problems.push(format!("{path} has more than {LONGEST} lines: is it still one concept?"));
        }
        let mut fenced = false;
        for (i, line) in text.lines().enumerate() {
            let at = format!("{path}:{}", i + 1);
            // Skip the Python binding: its comments become docstrings, whose first line must hold a whole
            // summary.
            if rust && !path.starts_with("python/") && is_wide_comment(line, &mut fenced) {
                problems.push(format!("{at}: a comment wider than {WIDTH} characters"));
            }
            for leftover in leftovers() {
                if line.contains(&leftover) && !path.ends_with("Cargo.lock") {
                    problems.push(format!("{at}: {leftover:?}"));
                }
            }
            let code = line.split("//").next().unwrap_or(line);
            let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            if rust
                && words.clone().any(|word| word == UNSAFE_WORD)
                && !UNSAFE.contains(&path.as_str())
                && !code.contains('"')
            {
                problems.push(format!("{at}: {UNSAFE_WORD} code outside the files that may hold it"));
            }
        }
    }
    problems
}

/// Files in `tests/all` that `main.rs` does not name, so that nobody compiles them.
fn tests_left_out(files: &[File]) -> Vec<String> {
    let left_out = |file: &&File| {
        let Some((folder, name)) = file.path.rsplit_once('/') else { return false };
        let program = files.iter().find(|f| f.path == format!("{folder}/main.rs"));
        let named = |program: &File| {
            let module = format!("mod {};", name.trim_end_matches(".rs"));
            name == "main.rs" || program.text.lines().any(|line| line == module)
        };
        folder.ends_with("/tests/all") && !program.is_some_and(named)
    };
    let problem = |file: &File| format!("{}: tests/all/main.rs has no line for it", file.path);
    files.iter().filter(left_out).map(problem).collect()
}

/// The width of rustfmt.toml; rustfmt does not wrap comments.
const WIDTH: usize = 110;

/// Whether a line is comment text beyond the width. Examples, tables and link targets may be wider.
fn is_wide_comment(line: &str, fenced: &mut bool) -> bool {
    let text = line.trim_start();
    let Some(text) = text.strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim_start())
    else {
        *fenced = false;
        return false;
    };
    if text.starts_with("```") {
        *fenced = !*fenced;
    }
    let is_text = !*fenced && !text.starts_with('|') && !text.starts_with('[') && text.contains(' ');
    is_text && line.chars().count() > WIDTH
}

const UNSAFE_WORD: &str = concat!("un", "safe");

/// Text that must not be committed: folders of one machine, hosts of package registries, notes about
/// unfinished work. The patterns are put together here from parts, so that this file does not contain them.
fn leftovers() -> Vec<String> {
    let folders = ["work", "root", "home", "tmp"].map(|name| format!("/{name}/"));
    // Put together from words, so that no host is written down here either.
    let hosts = [
        &["index", "crates", "io"][..],
        &["static", "crates", "io"],
        &["//crates", "io"],
        &["pypi", "org"],
        &["npmjs", ""],
    ]
    .map(|words| words.join("."));
    let unfinished = [("todo", "!("), ("unimplemented", "!("), ("FIX", "ME"), ("#[ign", "ore")]
        .map(|(a, b)| format!("{a}{b}"));
    folders.into_iter().chain(hosts).chain(unfinished).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<String> {
        problems(&[File { path: path.into(), text: text.into() }])
    }

    #[test]
    fn leftovers_are_found_with_their_line() {
        let text = format!("fine\nlet path = \"{}data\";\n", leftovers()[0]);
        assert_eq!(check("a/b.rs", &text), [format!("a/b.rs:2: {:?}", leftovers()[0])]);
        assert!(check("a/b.rs", "let framework = 1;\n").is_empty());
    }

    #[test]
    fn tests_that_no_program_has_are_found() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let mut files = vec![
            file("crates/a/tests/all/main.rs", "//! Tests.\n\nmod one;\n"),
            file("crates/a/tests/all/one.rs", ""),
            file("crates/a/tests/alone.rs", ""),
        ];
        assert!(problems(&files).is_empty());
        files.push(file("crates/a/tests/all/two.rs", ""));
        assert_eq!(problems(&files), ["crates/a/tests/all/two.rs: tests/all/main.rs has no line for it"]);
    }

    #[test]
    fn wide_comments_are_found() {
        let wide = format!("/// {}", "word ".repeat(30));
        assert_eq!(check("a.rs", &wide).len(), 1);
        assert_eq!(check("a.rs", &format!("    // {}", "word ".repeat(30))).len(), 1);
        assert!(check("a.md", &wide).is_empty());
        let example = format!("/// ```\n{wide}\n/// ```\n");
        assert!(check("a.rs", &example).is_empty());
        assert_eq!(check("a.rs", &format!("{example}{wide}")).len(), 1);
        assert!(check("a.rs", &format!("/// | {} |", "cell ".repeat(30))).is_empty());
        assert!(check("a.rs", &format!("let x = \"{}\";", "word ".repeat(30))).is_empty());
    }

    #[test]
    fn long_files_and_stray_blocks_are_found() {
        assert_eq!(check("a.rs", &"x\n".repeat(501)).len(), 1);
        assert!(check("a.md", &"x\n".repeat(501)).is_empty());
        let block = format!("{UNSAFE_WORD} {{ f() }}");
        assert_eq!(check("a.rs", &block).len(), 1);
        assert!(check(UNSAFE[0], &block).is_empty());
        assert!(
            check("a.rs", &format!("// {UNSAFE_WORD} is mentioned\n#![deny({UNSAFE_WORD}_code)]")).is_empty()
        );
    }
}
