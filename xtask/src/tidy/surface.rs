//! The public surface of each library, item by item, in `docs/surface/`: a change of the interface shows in
//! the listing.
//!
//! Listed are items, methods, fields and variants as the source writes them, each with the module that
//! defines it; every `pub` is reachable, which the lint `unreachable_pub` sees to. What a macro writes out is
//! listed as the call of the macro.

use super::File;
use std::collections::BTreeMap;
use syn::{Attribute, Fields, ImplItem, Item, Signature, TraitItem, Visibility};

/// The libraries, and how many public items and methods each is meant to have at most.
const GOALS: [(&str, usize); 11] = [
    ("ndp", 10),
    ("ndp-graph", 140),
    ("ndp-dp", 180),
    ("ndp-certify", 60),
    ("ndp-account", 110),
    ("ndp-program", 100),
    ("ndp-algos", 130),
    ("ndp-printed", 30),
    ("ndp-report", 90),
    ("ndp-linalg", 20),
    ("ndp-numeric", 90),
];

/// One line for each library: what is public, beside the goal.
pub(super) fn lines(files: &[File]) -> Vec<String> {
    GOALS.map(|(name, goal)| line(name, goal, &listing(files, name))).to_vec()
}

fn line(name: &str, goal: usize, listing: &[String]) -> String {
    let is_part = |line: &&String| ["field ", "variant "].iter().any(|kind| line.starts_with(kind));
    let parts = listing.iter().filter(is_part).count();
    let exports = listing.iter().filter(|line| line.starts_with("use ")).count();
    let items = listing.len() - parts - exports;
    format!("surface of {name}: {items} public items and methods (goal {goal}), {parts} fields and variants")
}

/// Libraries whose listing is not up to date.
pub(super) fn problems(files: &[File]) -> Vec<String> {
    let committed: BTreeMap<&str, &str> =
        files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let stale = blessed(files)
        .into_iter()
        .filter(|(path, text)| committed.get(path.as_str()) != Some(&text.as_str()));
    stale
        .map(|(path, _)| format!("{path}: the public surface changed; NDP_BLESS=1 cargo xtask tidy"))
        .collect()
}

/// The listings as they should be: path and text.
pub(super) fn blessed(files: &[File]) -> Vec<(String, String)> {
    let text = |name| listing(files, name).into_iter().map(|line| line + "\n").collect();
    GOALS.map(|(name, _)| (format!("docs/surface/{name}.txt"), text(name))).to_vec()
}

/// What is public in a library, sorted.
fn listing(files: &[File], name: &str) -> Vec<String> {
    let folder = format!("crates/{name}/src/");
    let sources: BTreeMap<&str, &str> = files
        .iter()
        .filter_map(|file| Some((file.path.strip_prefix(&folder)?.strip_suffix(".rs")?, file.text.as_str())))
        .collect();
    let mut surface = Surface { sources, lines: Vec::new() };
    surface.file("lib", "");
    surface.lines.sort();
    surface.lines
}

struct Surface<'a> {
    /// The text of each file by its path without `.rs`.
    sources: BTreeMap<&'a str, &'a str>,
    lines: Vec<String>,
}

impl Surface<'_> {
    /// The items of a file; `module` is its path in the crate, each name followed by `::`. A file that does
    /// not parse is left to the compiler.
    fn file(&mut self, path: &str, module: &str) {
        let Some(file) = self.sources.get(path).and_then(|text| syn::parse_file(text).ok()) else { return };
        let folder = if path == "lib" { String::new() } else { path.trim_end_matches("mod").to_owned() };
        let folder = if folder.is_empty() || folder.ends_with('/') { folder } else { format!("{folder}/") };
        self.items(&file.items, module, &folder);
    }

    fn items(&mut self, items: &[Item], module: &str, folder: &str) {
        for item in items {
            self.item(item, module, folder);
        }
    }

    fn item(&mut self, item: &Item, module: &str, folder: &str) {
        match item {
            Item::Mod(inner) if !is_test(&inner.attrs) => {
                let inside = format!("{module}{}::", inner.ident);
                match &inner.content {
                    Some((_, items)) => self.items(items, &inside, &format!("{folder}{}/", inner.ident)),
                    None => {
                        let path = format!("{folder}{}", inner.ident);
                        let within = format!("{path}/mod");
                        let there = self.sources.contains_key(path.as_str());
                        self.file(if there { &path } else { &within }, &inside);
                    }
                }
            }
            Item::Fn(it) if is_public(&it.vis) => self.add(&it.attrs, "fn", module, &signature(&it.sig)),
            Item::Struct(it) if is_public(&it.vis) => {
                self.add(&it.attrs, "struct", module, &format!("{}{}", it.ident, tokens(&it.generics)));
                self.fields(&it.fields, &format!("{module}{}", it.ident));
            }
            Item::Enum(it) if is_public(&it.vis) => {
                self.add(&it.attrs, "enum", module, &format!("{}{}", it.ident, tokens(&it.generics)));
                for variant in &it.variants {
                    let fields = tokens(&variant.fields);
                    self.add(
                        &variant.attrs,
                        "variant",
                        module,
                        &format!("{}::{}{fields}", it.ident, variant.ident),
                    );
                }
            }
            Item::Trait(it) if is_public(&it.vis) => {
                self.add(&it.attrs, "trait", module, &format!("{}{}", it.ident, tokens(&it.generics)));
                for inner in &it.items {
                    if let TraitItem::Fn(method) = inner {
                        let name = format!("{}::{}", it.ident, signature(&method.sig));
                        self.add(&method.attrs, "method", module, &name);
                    }
                }
            }
            Item::Impl(it) if it.trait_.is_none() && !is_test(&it.attrs) => {
                let name = tokens(&it.self_ty);
                for inner in &it.items {
                    match inner {
                        ImplItem::Fn(method) if is_public(&method.vis) => {
                            let name = format!("{name}::{}", signature(&method.sig));
                            self.add(&method.attrs, "method", module, &name);
                        }
                        ImplItem::Const(constant) if is_public(&constant.vis) => {
                            let name = format!("{name}::{}: {}", constant.ident, tokens(&constant.ty));
                            self.add(&constant.attrs, "const", module, &name);
                        }
                        _ => {}
                    }
                }
            }
            Item::Const(it) if is_public(&it.vis) => {
                self.add(&it.attrs, "const", module, &format!("{}: {}", it.ident, tokens(&it.ty)));
            }
            Item::Static(it) if is_public(&it.vis) => {
                self.add(&it.attrs, "static", module, &format!("{}: {}", it.ident, tokens(&it.ty)));
            }
            Item::Type(it) if is_public(&it.vis) => {
                self.add(&it.attrs, "type", module, &it.ident.to_string())
            }
            Item::Use(it) if is_public(&it.vis) => self.add(&it.attrs, "use", module, &tokens(&it.tree)),
            Item::Macro(it) => self.call(it, module),
            _ => {}
        }
    }

    /// A call of a macro, by the first name after its attributes.
    fn call(&mut self, it: &syn::ItemMacro, module: &str) {
        if it.mac.path.is_ident("macro_rules") || it.mac.path.is_ident("thread_local") {
            return;
        }
        let named = it.mac.tokens.clone().into_iter().find_map(|token| match token {
            proc_macro2::TokenTree::Ident(name) => Some(name.to_string()),
            _ => None,
        });
        let call = format!("{}!({})", tokens(&it.mac.path), named.unwrap_or_default());
        self.add(&it.attrs, "macro", module, &call);
    }

    fn fields(&mut self, fields: &Fields, owner: &str) {
        for (place, field) in fields.iter().enumerate().filter(|(_, field)| is_public(&field.vis)) {
            let name = field.ident.as_ref().map_or_else(|| place.to_string(), ToString::to_string);
            self.add(&field.attrs, "field", "", &format!("{owner}::{name}: {}", tokens(&field.ty)));
        }
    }

    fn add(&mut self, attributes: &[Attribute], kind: &str, module: &str, text: &str) {
        if !is_test(attributes) {
            let hidden = if is_hidden(attributes) { " (hidden)" } else { "" };
            self.lines.push(format!("{kind} {module}{text}{hidden}"));
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_test(attributes: &[Attribute]) -> bool {
    let only = |attribute: &Attribute, word| attribute.path().is_ident("cfg") && has(attribute, word);
    attributes.iter().any(|attribute| only(attribute, "test") || only(attribute, "doctest"))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("doc") && has(attribute, "hidden"))
}

fn has(attribute: &Attribute, word: &str) -> bool {
    attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == word)
}

fn signature(signature: &Signature) -> String {
    let text = tokens(signature);
    text.split_once("fn ").map_or(text.clone(), |(_, rest)| rest.to_owned())
}

/// Tokens as one writes them, near enough to read and always the same.
fn tokens(tree: &impl quote::ToTokens) -> String {
    let mut text = tree.to_token_stream().to_string();
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("{ ", "{"),
        (" }", "}"),
        (" :", ":"),
        ("& ", "&"),
        (" ;", ";"),
        ("( ", "("),
        (" )", ")"),
        (" (", "("),
        ("[ ", "["),
        (" ]", "]"),
        (",)", ")"),
        (",>", ">"),
        ("->", " ->"),
        ("  ->", " ->"),
        (")->", ") ->"),
        ("' ", "'"),
    ] {
        text = text.replace(from, to);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(files: &[(&str, &str)]) -> Vec<String> {
        let file = |&(path, text): &(&str, &str)| File {
            path: format!("crates/ndp-dp/src/{path}"),
            text: text.to_owned(),
        };
        listing(&files.iter().map(file).collect::<Vec<_>>(), "ndp-dp")
    }

    #[test]
    fn what_is_public_is_listed_with_its_module() {
        let root = "pub mod a;\nmod b;\npub use b::{C, D};\npub(crate) fn no() {}\n#[cfg(test)]\nmod tests { pub fn no() {} }\n";
        let a = "pub fn f(x: &[f64], n: usize) -> Result<Vec<f64>, Error> {}\nquantity! {\n /// Words.\n Sigma, 1\n}\n";
        let b = "pub struct C<T> { pub x: T, y: T }\nimpl<T> C<T> { pub fn m(&self) -> &T { fn inner() {} } fn no() {} }\n\
                 pub enum D { One, Two(u8) }\n#[doc(hidden)]\npub trait E { fn it(&self); }\n";
        let expected = [
            "enum b::D",
            "field b::C::x: T",
            "fn a::f(x: &[f64], n: usize) -> Result<Vec<f64>, Error>",
            "macro a::quantity!(Sigma)",
            "method b::C<T>::m(&self) -> &T",
            "method b::E::it(&self)",
            "struct b::C<T>",
            "trait b::E (hidden)",
            "use b::{C, D}",
            "variant b::D::One",
            "variant b::D::Two(u8)",
        ];
        assert_eq!(listed(&[("lib.rs", root), ("a.rs", a), ("b/mod.rs", b)]), expected);
    }

    #[test]
    fn a_change_of_the_interface_is_a_problem() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let source = "pub fn f(n: usize) {}\n";
        let mut files = vec![file("crates/ndp-dp/src/lib.rs", source)];
        for (path, text) in blessed(&files) {
            files.push(file(&path, &text));
        }
        assert!(problems(&files).is_empty());
        files[0].text = source.replace("usize", "u64");
        assert_eq!(problems(&files).len(), 1);
        assert!(problems(&files)[0].starts_with("docs/surface/ndp-dp.txt: the public surface changed"));
        assert_eq!(
            line("ndp-dp", 2, &listing(&files, "ndp-dp")),
            "surface of ndp-dp: 1 public items and methods (goal 2), 0 fields and variants"
        );
    }
}
