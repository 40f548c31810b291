//! Builds the small programs and opens their debug information.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;

use crate::debug_info::{ModuleDebug, OpenHost};
use crate::files::FileHandle;
use crate::image::Image;

/// A program built in a directory of its own.
pub(super) struct Program {
    pub(super) directory: TempDir,
    pub(super) path: PathBuf,
    pub(super) source: PathBuf,
}

/// Compiles `programs/SOURCE` with `compiler` and `flags`.
pub(super) fn build(compiler: &str, source: &str, flags: &[&str]) -> Program {
    let directory = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/debug_info/tests/programs").join(source);
    let path = directory.path().join("program");
    let (compiler, out) = (compiler.to_owned(), path.to_str().unwrap().to_owned());
    run(Command::new(compiler).args(flags).arg("-o").arg(out).arg(&source).current_dir(directory.path()));
    Program { directory, path, source }
}

/// Runs a tool that must succeed; returns what it printed.
pub(super) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

impl Program {
    /// A path beside the program.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs `objcopy` with the program as its last operand.
    pub(super) fn objcopy(&self, arguments: &[&str]) {
        run(Command::new("objcopy").args(arguments).arg(&self.path).current_dir(self.directory.path()));
    }

    pub(super) fn image(&self) -> Image {
        open(&self.path)
    }

    pub(super) fn debug(&self) -> ModuleDebug {
        ModuleDebug::new(self.image(), &self.path, host())
    }

    /// The number of the source line that ends in `// MARK`.
    pub(super) fn line(&self, mark: &str) -> u32 {
        let text = fs::read_to_string(&self.source).unwrap();
        let ending = format!("// {mark}");
        1 + text.lines().position(|line| line.ends_with(&ending)).unwrap() as u32
    }

    /// The functions of the symbol table with sizes, by `nm`: name, address, size.
    pub(super) fn functions(&self) -> Vec<(String, u64, u64)> {
        functions_of(&self.path)
    }
}

/// The sized functions of a file's symbol table, by `nm`.
pub(super) fn functions_of(path: &Path) -> Vec<(String, u64, u64)> {
    let text = run(Command::new("nm").args(["-S", "--defined-only"]).arg(path));
    let parse = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [address, size, kind, name] = words[..] else { return None };
        let number = |text| u64::from_str_radix(text, 16).ok();
        matches!(kind, "t" | "T" | "W" | "w" | "i").then_some((
            name.to_owned(),
            number(address)?,
            number(size)?,
        ))
    };
    text.lines().filter_map(parse).collect()
}

pub(super) fn open(path: &Path) -> Image {
    Image::from_bytes(fs::read(path).unwrap()).unwrap()
}

/// Opens files of this machine.
pub(super) fn host() -> OpenHost {
    Arc::new(|path: &Path| Ok(Arc::new(fs::read(path)?) as FileHandle))
}
