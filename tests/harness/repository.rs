//! Where things lie: the repository, its target directory, the programs.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The directory of target programs.
pub fn programs_dir() -> PathBuf {
    tests_dir().join("programs")
}

/// The source of a target program.
pub fn program_source(name: &str) -> PathBuf {
    programs_dir().join(name)
}

/// The directory of the end-to-end tests.
pub fn tests_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Cargo's target directory: the test's own executable lies in it.
pub fn target_dir() -> Result<PathBuf> {
    let executable = env::current_exe()?;
    // target/PROFILE/deps/EXECUTABLE
    Ok(executable.ancestors().nth(3).context("a test executable below the target directory")?.to_owned())
}
