//! Finds all possible mutants of a source file, and gives each a name that changes elsewhere in the file
//! keep.
//!
//! Left out are bodies of `const fn` and constants, where the switch cannot be read; patterns; arguments of
//! macros, which `syn` leaves unparsed; and implementations of `Display`, `Debug` and `Error`, which only
//! make text.

use super::operators;
use std::collections::BTreeMap;
use std::ops::Range;
use syn::visit::{self, Visit};

/// What a mutant does with the piece of source that it covers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// The statement is not executed.
    Skip,
    /// The iterator loses its last item.
    Most,
    /// The expression is replaced. An arm of a `match` without comma needs braces.
    Replace { with: String, braced: bool },
    /// The function returns this value at once; the span is the empty place at the beginning of its body.
    Return(String),
}

/// A mutant as the lists store it: by what it changes, not by line, so that changes elsewhere do not affect
/// it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// The path of the file from the root.
    pub(super) file: String,
    /// Modules within the file, type and function.
    pub(super) function: String,
    pub(super) kind: String,
    /// Which one it is, from 1, if the function has several mutants of the same kind with the same change.
    pub(super) nth: usize,
    /// Before and after, shortened.
    pub(super) change: String,
}

impl Entry {
    /// The number of the switch: 31 bits of a hash of the entry (FNV-1a).
    pub(super) fn id(&self) -> u32 {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in self.line().bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        ((hash >> 33) ^ hash) as u32 & 0x7fff_ffff
    }

    /// The entry as a line of a list: fields divided by tabs.
    pub(super) fn line(&self) -> String {
        [&self.file, &self.function, &self.kind, &self.nth.to_string(), &self.change]
            .map(String::as_str)
            .join("\t")
    }

    /// The crate that the file belongs to.
    pub(super) fn crate_name(&self) -> &str {
        self.file.split('/').nth(1).unwrap_or_default()
    }
}

/// A mutant with its place in the source.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mutant {
    pub(super) entry: Entry,
    pub(super) span: Range<usize>,
    pub(super) shape: Shape,
}

/// What an operator finds.
pub(super) struct Found {
    pub(super) kind: &'static str,
    pub(super) span: Range<usize>,
    pub(super) shape: Shape,
    pub(super) change: String,
}

/// The mutants of a file, and the number of those left out by reason.
#[derive(Default)]
pub(super) struct Candidates {
    pub(super) mutants: Vec<Mutant>,
    pub(super) left_out: BTreeMap<&'static str, usize>,
}

/// All mutants of a file, from its beginning to its end.
pub(super) fn of(file: &str, text: &str) -> syn::Result<Candidates> {
    let tree = syn::parse_file(text)?;
    let mut finder = Finder {
        file,
        text,
        path: Vec::new(),
        within_function: false,
        excluded: None,
        candidates: Candidates::default(),
    };
    finder.visit_file(&tree);
    let mut candidates = finder.candidates;
    number(&mut candidates.mutants);
    Ok(candidates)
}

/// Numbers mutants that agree in everything else.
fn number(mutants: &mut [Mutant]) {
    let mut counts: BTreeMap<Entry, usize> = BTreeMap::new();
    for mutant in mutants {
        let count = counts.entry(mutant.entry.clone()).or_default();
        *count += 1;
        mutant.entry.nth = *count;
    }
}

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
    /// The enclosing modules, types and functions.
    path: Vec<String>,
    within_function: bool,
    excluded: Option<&'static str>,
    candidates: Candidates,
}

impl Finder<'_> {
    fn add(&mut self, found: Vec<Found>) {
        if let Some(reason) = self.excluded {
            *self.candidates.left_out.entry(reason).or_default() += found.len();
            return;
        }
        if !self.within_function {
            return;
        }
        for Found { kind, span, shape, change } in found {
            let entry = Entry {
                file: self.file.to_owned(),
                function: self.path.join("::"),
                kind: kind.to_owned(),
                nth: 0,
                change,
            };
            self.candidates.mutants.push(Mutant { entry, span, shape });
        }
    }

    /// Visits the content of a named item.
    fn inside(&mut self, name: String, excluded: Option<&'static str>, visit: impl FnOnce(&mut Self)) {
        self.path.push(name);
        let before = self.excluded;
        self.excluded = before.or(excluded);
        visit(self);
        self.excluded = before;
        self.path.pop();
    }

    fn function(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature, body: &syn::Block) {
        if is_test(attributes) {
            return;
        }
        let excluded = signature.constness.is_some().then_some("const fn");
        self.inside(signature.ident.to_string(), excluded, |it| {
            let before = std::mem::replace(&mut it.within_function, true);
            it.add(operators::of_function(&signature.output, body));
            it.visit_block(body);
            it.within_function = before;
        });
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, it: &'ast syn::ItemMod) {
        if !is_test(&it.attrs) {
            self.inside(it.ident.to_string(), None, |finder| visit::visit_item_mod(finder, it));
        }
    }

    fn visit_item_impl(&mut self, it: &'ast syn::ItemImpl) {
        if is_test(&it.attrs) {
            return;
        }
        let ty = operators::words(&it.self_ty);
        let (name, excluded) = match &it.trait_ {
            None => (ty, None),
            Some((path, _)) => {
                let last = path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default();
                let text = ["Display", "Debug", "Error"].contains(&last.as_str());
                (format!("<{ty} as {last}>"), text.then_some("text"))
            }
        };
        self.inside(name, excluded, |finder| visit::visit_item_impl(finder, it));
    }

    fn visit_item_trait(&mut self, it: &'ast syn::ItemTrait) {
        self.inside(it.ident.to_string(), None, |finder| visit::visit_item_trait(finder, it));
    }

    fn visit_item_fn(&mut self, it: &'ast syn::ItemFn) {
        self.function(&it.attrs, &it.sig, &it.block);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.function(&it.attrs, &it.sig, &it.block);
    }

    fn visit_trait_item_fn(&mut self, it: &'ast syn::TraitItemFn) {
        if let Some(body) = &it.default {
            self.function(&it.attrs, &it.sig, body);
        }
    }

    fn visit_item_const(&mut self, it: &'ast syn::ItemConst) {
        self.inside(it.ident.to_string(), Some("constant"), |finder| finder.visit_expr(&it.expr));
    }

    fn visit_item_static(&mut self, it: &'ast syn::ItemStatic) {
        self.inside(it.ident.to_string(), Some("constant"), |finder| finder.visit_expr(&it.expr));
    }

    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_item_macro(&mut self, _: &'ast syn::ItemMacro) {
        *self.candidates.left_out.entry("macro").or_default() += 1;
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {
        *self.candidates.left_out.entry("macro").or_default() += 1;
    }

    fn visit_pat(&mut self, it: &'ast syn::Pat) {
        if matches!(it, syn::Pat::Lit(_) | syn::Pat::Range(_)) {
            *self.candidates.left_out.entry("pattern").or_default() += 1;
        }
    }

    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_expr_repeat(&mut self, it: &'ast syn::ExprRepeat) {
        self.visit_expr(&it.expr);
    }

    fn visit_field_value(&mut self, it: &'ast syn::FieldValue) {
        if it.colon_token.is_some() {
            visit::visit_field_value(self, it);
        }
    }

    fn visit_stmt(&mut self, it: &'ast syn::Stmt) {
        self.add(operators::of_statement(it, self.text));
        visit::visit_stmt(self, it);
    }

    fn visit_expr(&mut self, it: &'ast syn::Expr) {
        self.add(operators::of_expression(it, self.text));
        visit::visit_expr(self, it);
    }
}

/// Whether something is compiled for tests only.
pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let only = |word: &str| attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == word);
        path.is_ident("test") || path.is_ident("cfg") && (only("test") || only("doctest"))
    })
}
