//! `cargo xtask tidy`: checks what neither the compiler nor a test checks.

pub(crate) mod dependencies;
mod figures;
mod layers;
mod links;
mod modules;
mod names;
mod statements;
mod stub;
mod surface;
mod targets;
mod text;
mod voice;

use crate::flags::Tidy;
use anyhow::ensure;
use std::fs;
use xshell::{Shell, cmd};

/// A tracked text file.
pub(crate) struct File {
    /// The path relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All text files of the repository, also those that are not committed yet.
pub(crate) fn tracked(sh: &Shell) -> anyhow::Result<Vec<File>> {
    let root = crate::root();
    let listed = cmd!(sh, "git ls-files --cached --others --exclude-standard").quiet().read()?;
    let files = listed.lines().filter_map(|path| {
        let text = fs::read_to_string(root.join(path)).ok()?;
        Some(File { path: path.to_owned(), text })
    });
    Ok(files.collect())
}

impl Tidy {
    #[expect(clippy::print_stdout, reason = "this is the command line")]
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        let root = crate::root();
        let files = tracked(sh)?;
        for line in surface::lines(&files) {
            println!("{line}");
        }
        if std::env::var_os("NDP_BLESS").is_some() {
            let modules = modules::blessed(&files).map(|(path, text)| (path.to_owned(), text));
            for (path, text) in modules.into_iter().chain(surface::blessed(&files)) {
                let place = root.join(&path);
                if fs::read_to_string(&place).ok().as_ref() != Some(&text) {
                    fs::create_dir_all(place.parent().unwrap_or(&root))?;
                    fs::write(place, text)?;
                    println!("{path}: written");
                }
            }
            return Ok(());
        }
        let mut problems = Vec::new();
        for crate_name in layers::CRATES {
            let tree = cmd!(
                sh,
                "cargo tree --package {crate_name} --depth 1 --prefix none --edges normal,build,dev --all-features"
            );
            problems.extend(layers::problems(crate_name, &tree.quiet().read()?));
        }
        problems.extend(dependencies::problems(&files));
        problems.extend(dependencies::licenses(sh)?);
        problems.extend(text::problems(&files));
        problems.extend(voice::problems(&files));
        problems.extend(names::problems(&files));
        problems.extend(stub::problems(&files));
        problems.extend(modules::problems(&files));
        problems.extend(surface::problems(&files));
        problems.extend(targets::problems(&files));
        problems.extend(figures::problems(&files));
        problems.extend(links::problems(&files, &root));
        problems.extend(crate::book::problems(&files));
        problems.extend(statements::problems(&files));
        problems.extend(statements::findings_without_test(&files));
        problems.extend(statements::named_theorems(&files));
        ensure!(problems.is_empty(), "{} problems:\n  {}", problems.len(), problems.join("\n  "));
        Ok(())
    }
}
