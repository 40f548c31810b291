//! Compiles target programs: a source of `tests/programs` and compiler flags in, an executable out.
//!
//! Outputs are kept below the target directory under a hash of all sources and flags, and published by one rename,
//! so that tests of several processes may ask for the same program at once.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::repository;

/// A target program: its source, its flags, and the shared objects that belong beside it.
#[derive(Clone, Debug)]
pub struct Program {
    source: String,
    flags: Vec<String>,
    libraries: Vec<Library>,
}

#[derive(Clone, Debug)]
struct Library {
    file: String,
    source: String,
    flags: Vec<String>,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Built {
    /// The executable.
    pub executable: PathBuf,
    /// Its source.
    pub source: PathBuf,
}

impl Program {
    /// A program of `tests/programs` by the name of its source, such as `shares.c`.
    pub fn new(source: &str) -> Self {
        Self { source: source.to_owned(), flags: Vec::new(), libraries: Vec::new() }
    }

    /// Adds compiler flags, separated by spaces.
    #[must_use]
    pub fn flags(mut self, flags: &str) -> Self {
        self.flags.extend(flags.split_whitespace().map(str::to_owned));
        self
    }

    /// Adds a shared object, built with the program's flags and these before it.
    #[must_use]
    pub fn library(mut self, file: &str, source: &str, flags: &str) -> Self {
        let flags = flags.split_whitespace().map(str::to_owned).collect();
        self.libraries.push(Library { file: file.to_owned(), source: source.to_owned(), flags });
        self
    }

    /// The executable's name: the source's without its ending.
    pub fn name(&self) -> &str {
        self.source.split('.').next().unwrap_or(&self.source)
    }

    /// Compiles the program, or finds it compiled.
    pub fn build(&self) -> Result<Built> {
        let home = repository::target_dir()?.join("programs");
        let home = home.join(format!("{}-{:016x}", self.name(), self.fingerprint()?));
        if !home.exists() {
            self.publish(&home)
                .with_context(|| format!("building {} {}", self.source, self.flags.join(" ")))?;
        }
        Ok(Built { executable: home.join(self.name()), source: repository::program_source(&self.source) })
    }

    /// Compiles into a directory of our own and gives it its final name at once.
    fn publish(&self, home: &Path) -> Result<()> {
        let parent = home.parent().context("a directory for programs")?;
        fs::create_dir_all(parent)?;
        let scratch = tempfile::Builder::new().prefix(".building-").tempdir_in(parent)?;
        for library in &self.libraries {
            self.compile_library(library, scratch.path())?;
        }
        self.compile(scratch.path())?;
        let scratch = scratch.keep();
        // Everyone may run what was built here, the unprivileged user of the permission tests too.
        fs::set_permissions(&scratch, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        if fs::rename(&scratch, home).is_err() {
            // Another test published the same program meanwhile.
            fs::remove_dir_all(&scratch)?;
        }
        Ok(())
    }

    fn compile_library(&self, library: &Library, into: &Path) -> Result<()> {
        let mut compiler = self.compiler();
        compiler.args(&library.flags).args(["-shared", "-fPIC", "-o"]).arg(into.join(&library.file));
        run(compiler.arg(repository::program_source(&library.source)))
    }

    fn compile(&self, into: &Path) -> Result<()> {
        let mut compiler = self.compiler();
        compiler.arg("-o").arg(into.join(self.name()));
        compiler.arg(repository::program_source(&self.source));
        for library in &self.libraries {
            // Linked by name when it is a library of the usual kind; plugins are loaded at run time.
            if let Some(name) =
                library.file.strip_prefix("liblinked-").and_then(|rest| rest.strip_suffix(".so"))
            {
                compiler.arg(format!("-L{}", into.display())).arg(format!("-llinked-{name}"));
                compiler.arg("-Wl,-rpath,$ORIGIN");
            }
        }
        run(&mut compiler)
    }

    /// The compiler of the source's language with the program's flags, debug information always among them.
    fn compiler(&self) -> Command {
        let mut command = match self.source.rsplit('.').next() {
            Some("rs") => command("rustc", &["--edition=2024", "-g"]),
            Some("cpp") => command("g++", &["-std=gnu++17", "-g", "-pthread"]),
            _ => command("gcc", &["-std=gnu17", "-g", "-pthread"]),
        };
        command.args(&self.flags);
        command
    }

    /// A hash of everything that decides the output.
    fn fingerprint(&self) -> Result<u64> {
        let mut hasher = DefaultHasher::new();
        sources_hash()?.hash(&mut hasher);
        format!("{self:?}").hash(&mut hasher);
        Ok(hasher.finish())
    }
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("starting {:?}", command.get_program()))?;
    if !output.status.success() {
        bail!("{command:?} failed\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// A hash over all of `tests/programs`: a change of any header rebuilds every program.
fn sources_hash() -> Result<u64> {
    static HASH: OnceLock<u64> = OnceLock::new();
    if let Some(hash) = HASH.get() {
        return Ok(*hash);
    }
    let mut paths: Vec<_> =
        fs::read_dir(repository::programs_dir())?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    let mut hasher = DefaultHasher::new();
    for path in paths {
        path.hash(&mut hasher);
        fs::read(&path)?.hash(&mut hasher);
    }
    Ok(*HASH.get_or_init(|| hasher.finish()))
}
