//! `cargo xtask wheel` and `cargo xtask test --python`: the Python package, in environments of their own.

use crate::flags::Wheel;
use anyhow::{Context, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

impl Wheel {
    #[expect(clippy::print_stdout, reason = "this is the command line")]
    pub(crate) fn run(self, sh: &Shell, here: &Path) -> anyhow::Result<()> {
        let out = self.out.map_or_else(|| crate::root().join("target/wheels"), |out| here.join(out));
        let wheel = build(sh, &python(sh)?, &out, self.old_glibc)?;
        println!("{}: {} KB", wheel.display(), fs::metadata(&wheel)?.len() / 1000);
        Ok(())
    }
}

/// A Python of 3.10 or newer: `$NDP_PYTHON`, or the first on the path.
pub(crate) fn python(sh: &Shell) -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("NDP_PYTHON").map(PathBuf::from);
    let known = ["python3", "python3.13", "python3.12", "python3.11", "python3.10", "python"];
    for python in named.into_iter().chain(known.map(PathBuf::from)) {
        let check = "import sys; sys.exit(sys.version_info < (3, 10))";
        if cmd!(sh, "{python} -c {check}").quiet().ignore_stdout().ignore_stderr().run().is_ok() {
            return Ok(python);
        }
    }
    bail!("no Python 3.10 or newer was found; $NDP_PYTHON may name one")
}

/// A new environment in `target/python`, and its Python.
fn environment(sh: &Shell, python: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = crate::root().join("target/python").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    cmd!(sh, "{python} -m venv {folder}").quiet().run()?;
    Ok(folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }))
}

/// Builds the wheel in an environment that has maturin and nothing else.
fn build(sh: &Shell, python: &Path, out: &Path, old_glibc: bool) -> anyhow::Result<PathBuf> {
    let maturin = environment(sh, python, "build")?;
    let linker = old_glibc.then_some("ziglang>=0.13,<1");
    cmd!(
        sh,
        "{maturin} -m pip install --quiet --disable-pip-version-check maturin>=1.9.4,<2 zopfli>=0.2,<1 {linker...}"
    )
    .quiet()
    .run()?;
    let system: &[&str] = if old_glibc { &["--zig", "--compatibility", "manylinux2014"] } else { &[] };
    if out.exists() {
        for entry in fs::read_dir(out)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "whl") {
                fs::remove_file(path)?;
            }
        }
    }
    let manifest = crate::root().join("python/Cargo.toml");
    // maturin asks the first Python of the path for the linker.
    let mut path: Vec<PathBuf> = maturin.parent().map(Path::to_owned).into_iter().collect();
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path)?;
    let build = |flags: &[&str]| {
        let of_all = ["build", "--profile", "wheel", "--compression-level", "9", "--manifest-path"];
        cmd!(sh, "{maturin} -m maturin {of_all...} {manifest} --out {out} {system...} {flags...}")
            .env("PATH", &path)
            .quiet()
            .run()
    };
    // The linker keeps one of several functions with the same code, if it can: the wheel is 1 % smaller.
    if build(&["--", "-C", "link-arg=-Wl,--icf=all"]).is_err() {
        build(&[])?;
    }
    let wheels: Vec<PathBuf> =
        fs::read_dir(out)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    let wheel = wheels.into_iter().find(|path| path.extension().is_some_and(|e| e == "whl"));
    let wheel = wheel.with_context(|| format!("no wheel in {}", out.display()))?;
    cmd!(sh, "{maturin} -c {RECOMPRESS} {wheel}").quiet().run().context("cannot compress the wheel again")?;
    let size = fs::metadata(&wheel)?.len();
    // The linker of an old glibc keeps all functions with the same code.
    let largest = if old_glibc { LARGEST + LARGEST / 50 } else { LARGEST };
    ensure!(size < largest, "the wheel has {size} bytes, more than {largest}");
    Ok(wheel)
}

/// Builds the wheel and tests it with the oldest and with the newest supported versions of its dependencies.
pub(crate) fn test(sh: &Shell) -> anyhow::Result<()> {
    let python = python(sh)?;
    let wheel = build(sh, &python, &crate::root().join("target/wheels"), false)?;
    for versions in ["oldest", "newest"] {
        let installed = with_versions(sh, &python, versions)?;
        cmd!(sh, "{installed} -m pip install --quiet --disable-pip-version-check {wheel}").quiet().run()?;
        run(sh, &installed, versions)?;
    }
    Ok(())
}

/// Tests the package with the newest versions of its dependencies and the library of the profile that the
/// tests of the crates are built with: it is there in a minute once they are.
pub(crate) fn test_one_build(sh: &Shell) -> anyhow::Result<()> {
    run(sh, &installed(sh)?, "newest")
}

/// The Python of an environment that has the package with this library, and the newest versions of what it
/// works with.
pub(crate) fn installed(sh: &Shell) -> anyhow::Result<PathBuf> {
    let python = python(sh)?;
    // With the tests, so that features, and with them all crates, are the same.
    cmd!(sh, "cargo build --release --workspace --lib --tests").run()?;
    let installed = with_versions(sh, &python, "newest")?;
    let place = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let package = PathBuf::from(cmd!(sh, "{installed} -c {place}").quiet().read()?).join("ndp");
    copy(&crate::root().join("python/ndp"), &package)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from);
    let library = format!("{}_ndp{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let name = if cfg!(windows) { "_ndp.pyd" } else { "_ndp.abi3.so" };
    fs::copy(target.join("release").join(library), package.join(name))
        .context("the library was not built")?;
    // As pip does: imports are timed.
    cmd!(sh, "{installed} -m compileall -q {package}").quiet().run()?;
    Ok(installed)
}

/// Copies the files of a folder that has no folders but caches.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// A new environment with these versions of what the package works with.
fn with_versions(sh: &Shell, python: &Path, versions: &str) -> anyhow::Result<PathBuf> {
    let installed = environment(sh, python, versions)?;
    let list = crate::root().join(format!("python/tests/{versions}.txt"));
    cmd!(sh, "{installed} -m pip install --quiet --disable-pip-version-check -r {list}").quiet().run()?;
    Ok(installed)
}

/// Runs the tests of the package that is installed; with the newest versions its types are checked, too.
#[expect(clippy::print_stdout, reason = "this is the command line")]
fn run(sh: &Shell, installed: &Path, versions: &str) -> anyhow::Result<()> {
    println!("Python package with the {versions} versions:");
    // Run outside the source folder, so that the installed package is the one imported.
    let _there = sh.push_dir(crate::root().join("python/tests"));
    cmd!(sh, "{installed} -m pytest --quiet -p no:cacheprovider .").quiet().run()?;
    if versions == "newest" {
        let types = crate::root().join("python/pyproject.toml");
        cmd!(sh, "{installed} -m mypy.stubtest ndp --mypy-config-file {types}").quiet().run()?;
        cmd!(sh, "{installed} -m mypy --config-file {types} --package ndp").quiet().run()?;
    }
    Ok(())
}

const RECOMPRESS: &str = include_str!("recompress.py");
/// The largest size of a wheel, in bytes. It was 3,023,684 before loss laws and the laws of walks, and is
/// 3,678,727 with them.
const LARGEST: u64 = 4_000_000;
