//! Computes a hash of the workspace's sources, the compiler and its flags. It tells apart two builds of the
//! same version, because shards of different builds must not be mixed.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> std::io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = Vec::new();
    let lock = here.join("../../Cargo.lock");
    // Outside the workspace (an installed package) there is no lock file; there the version fixes the other
    // crates' sources.
    if lock.is_file() {
        let others = here.join("..").read_dir()?.map(|folder| Ok(folder?.path().join("src")));
        folders.extend(others.collect::<std::io::Result<Vec<PathBuf>>>()?);
        // The command does not use the figures, so a change to them does not make another build.
        let without = ["ndp-cli/src", "ndp-experiments/src"].map(Path::new);
        folders.retain(|folder| folder.is_dir() && !without.iter().any(|other| folder.ends_with(other)));
    }
    folders.push(here.join("src"));
    let mut files: Vec<PathBuf> = vec![lock];
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        add(folder, &mut files)?;
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    files.sort();
    files.dedup();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for file in files.iter().filter(|file| file.is_file()) {
        // Names are hashed relative to this crate, so that the hash does not depend on where the workspace
        // lies.
        hash.add(file.strip_prefix(here).unwrap_or(file).as_os_str().as_encoded_bytes());
        hash.add(&std::fs::read(file)?);
    }
    for name in ["TARGET", "PROFILE", "OPT_LEVEL", "CARGO_ENCODED_RUSTFLAGS"] {
        hash.add(std::env::var(name).unwrap_or_default().as_bytes());
    }
    let compiler = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into())).arg("-vV").output()?;
    hash.add(&compiler.stdout);
    println!("cargo::rustc-env=NDP_BUILD={:016x}", hash.0);
    Ok(())
}

/// The files of a folder and of those within it.
fn add(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in folder.read_dir()? {
        let path = entry?.path();
        if path.is_dir() {
            add(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Fowler, Noll and Vo's hash of 64 bits, variant 1a: the same for every compiler.
struct Fnv(u64);

impl Fnv {
    /// Adds bytes and their number.
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
