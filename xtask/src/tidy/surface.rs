//! The size of each library's public surface.

use super::File;

/// The libraries, and how large their surface is meant to be.
const GOALS: [(&str, usize); 3] = [("ndp-graph", 140), ("ndp-dp", 190), ("ndp-algos", 330)];

/// One line for each library: its public items and methods, hidden ones included, beside the goal.
///
/// Every `pub` is reachable, which the lint `unreachable_pub` sees to; methods of public traits carry no `pub` and are left out.
pub(super) fn lines(files: &[File]) -> Vec<String> {
    let of_crate = |(name, goal): (&str, usize)| {
        let inside = format!("crates/{name}/src/");
        let sources =
            files.iter().filter(|file| file.path.starts_with(&inside) && file.path.ends_with(".rs"));
        let count: usize = sources.map(|file| items(&file.text)).sum();
        format!("surface of {name}: {count} public items and methods (goal {goal})")
    };
    GOALS.map(of_crate).to_vec()
}

/// Public functions, methods, types, traits, constants and statics before the tests of a file.
fn items(text: &str) -> usize {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    code.lines().filter(|line| is_item(line)).count()
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
        assert_eq!(items(text), 4);
    }
}
