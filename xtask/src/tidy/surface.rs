//! The size of each library's public surface.

use super::File;

/// The libraries, and how large their surface is meant to be.
const GOALS: [(&str, usize); 7] = [
    ("ndp-graph", 140),
    ("ndp-dp", 180),
    ("ndp-certify", 60),
    ("ndp-account", 110),
    ("ndp-program", 100),
    ("ndp-algos", 130),
    ("ndp-printed", 30),
];

/// One line for each library: its public items and methods beside the goal, counted as rustdoc lists them. Hidden ones, methods that
/// public traits declare and what macros write out are among them.
///
/// Every `pub` is reachable, which the lint `unreachable_pub` sees to.
pub(super) fn lines(files: &[File]) -> Vec<String> {
    let of_crate = |(name, goal): (&str, usize)| {
        let inside = format!("crates/{name}/src/");
        let sources =
            files.iter().filter(|file| file.path.starts_with(&inside) && file.path.ends_with(".rs"));
        let texts: Vec<&str> = sources.map(|file| code(&file.text)).collect();
        format!("surface of {name}: {} public items and methods (goal {goal})", items(&texts))
    };
    GOALS.map(of_crate).to_vec()
}

/// What stands before the tests of a file.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text)
}

fn items(texts: &[&str]) -> usize {
    let mut count = 0;
    for text in texts {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let start = line.trim_start();
            let inside = " ".repeat(line.len() - start.len() + 4);
            if let Some(name) = start.strip_prefix("macro_rules! ").and_then(|rest| rest.split(' ').next()) {
                let written = block(line, &mut lines).into_iter().filter(|line| is_item(line)).count();
                let call = format!("{name}!");
                let every = texts.iter().flat_map(|text| text.lines());
                count += written * every.filter(|line| line.trim_start().starts_with(&call)).count();
            } else if is_item(line) {
                count += 1;
                if start.starts_with("pub trait ") && !line.ends_with('}') {
                    let method = format!("{inside}fn ");
                    count +=
                        block(line, &mut lines).into_iter().filter(|line| line.starts_with(&method)).count();
                }
            }
        }
    }
    count
}

/// The lines up to the brace that closes the block of `first`.
fn block<'a>(first: &str, lines: &mut impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let end = format!("{}}}", &first[..first.len() - first.trim_start().len()]);
    lines.take_while(|line| *line != end).collect()
}

fn is_item(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("pub ") else { return false };
    let words = rest.split_whitespace().skip_while(|word| ["const", "async", "unsafe"].contains(word));
    let kinds = ["fn", "struct", "enum", "trait", "type", "static"];
    words.clone().next().is_some_and(|word| kinds.contains(&word)) || rest.starts_with("const ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_counted_once() {
        let text = "pub fn a() {}\n    pub const fn b() {}\npub(crate) fn c() {}\npub const D: u8 = 1;\npub struct E {\n    pub field: u8,\n}\n\
                    #[cfg(test)]\nmod tests {\n    pub fn f() {}\n}\n";
        assert_eq!(items(&[code(text)]), 4);
    }

    #[test]
    fn methods_of_traits_and_what_macros_write_count() {
        let traits = "pub trait A: Send {\n    /// It.\n    fn a(&self);\n    fn b(&self) {\n        fn inner() {}\n    }\n}\npub fn c() {}\n";
        let macros =
            "macro_rules! two {\n    ($name:ident) => {\n        pub struct $name;\n    };\n}\ntwo!(D);\n";
        assert_eq!(items(&[traits]), 4);
        assert_eq!(items(&[macros, "two!(E);\ntwo! {\n    F\n}\n"]), 3);
    }
}
