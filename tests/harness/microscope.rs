//! Runs the `microscope` under test: records a program, asks for reports.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use microscope_capture::Capture;
use serde_json::Value;
use tempfile::TempDir;

use crate::levels::user_stacks;
use crate::{Built, Folded, repository};

/// The rate of recordings that are compared with known answers: 8,000 samples are 1.6 seconds of CPU.
pub const RATE_HZ: u32 = 4999;

/// The CPU time, in milliseconds, that gives more than 8,000 samples at [`RATE_HZ`].
pub const BUDGET_MS: u32 = 2000;

/// The binary under test: `MICROSCOPE_BIN`, else built here (a moment's work when nothing changed).
pub fn binary() -> Result<&'static Path> {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    if let Some(found) = BINARY.get() {
        return Ok(found);
    }
    let found = match env::var_os("MICROSCOPE_BIN") {
        Some(path) => PathBuf::from(path),
        None => build()?,
    };
    ensure!(found.is_file(), "there is no {}", found.display());
    Ok(BINARY.get_or_init(|| found))
}

fn build() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--package", "microscope-adapter", "--bin", "microscope"])
        .current_dir(repository::root())
        .stdin(Stdio::null())
        .status()?;
    ensure!(status.success(), "building microscope failed");
    Ok(repository::target_dir()?.join("debug/microscope"))
}

/// A command line of the binary under test, its input empty.
pub fn microscope<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Result<Command> {
    let mut command = Command::new(binary()?);
    command.args(arguments).stdin(Stdio::null());
    Ok(command)
}

/// What a finished command printed and how it ended.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; absent when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Finished {
    /// Everything it printed.
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Itself, when the exit code is this one.
    pub fn expect_code(self, code: i32) -> Result<Self> {
        ensure!(self.code == Some(code), "exit code {:?}, expected {code}: {self:#?}", self.code);
        Ok(self)
    }
}

/// Runs the binary under test to its end.
pub fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Result<Finished> {
    Ok(microscope(arguments)?.output()?.into())
}

/// A recording to make.
#[derive(Clone, Debug)]
pub struct Record {
    options: Vec<String>,
    budget_ms: u32,
    user: Option<u32>,
    without_environment: bool,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            options: vec!["--rate".into(), RATE_HZ.to_string()],
            budget_ms: BUDGET_MS,
            user: None,
            without_environment: false,
        }
    }
}

impl Record {
    /// A recording at the rate that its options or preset choose.
    pub fn plain() -> Self {
        Self { options: Vec::new(), ..Self::default() }
    }

    /// Adds options of `microscope record`, separated by spaces.
    #[must_use]
    pub fn options(mut self, options: &str) -> Self {
        self.options.extend(options.split_whitespace().map(str::to_owned));
        self
    }

    /// Gives the program another CPU time to consume.
    #[must_use]
    pub fn budget_ms(mut self, budget_ms: u32) -> Self {
        self.budget_ms = budget_ms;
        self
    }

    /// Records as another user, without privileges.
    #[must_use]
    pub fn as_user(mut self, user: u32) -> Self {
        self.user = Some(user);
        self
    }

    /// Gives the recorder and the program no environment: a copied stack may hold it.
    #[must_use]
    pub fn without_environment(mut self) -> Self {
        self.without_environment = true;
        self
    }

    /// Launches the program under the recorder and waits for both.
    pub fn run(&self, program: &Built) -> Result<Recording> {
        let directory = self.directory()?;
        let capture = directory.path().join("recording.mscope");
        let mut command = self.command(&capture)?;
        command.arg("--").arg(&program.executable).arg(self.budget_ms.to_string());
        Recording::finish(command, capture, directory)
    }

    /// Attaches to running processes and waits until they are gone.
    pub fn attach(&self, pids: &[u32]) -> Result<Recording> {
        let directory = self.directory()?;
        let capture = directory.path().join("recording.mscope");
        let mut command = self.command(&capture)?;
        for pid in pids {
            command.arg("-p").arg(pid.to_string());
        }
        Recording::finish(command, capture, directory)
    }

    /// `microscope record -o CAPTURE OPTIONS`, as the user who was asked for.
    pub fn command(&self, capture: &Path) -> Result<Command> {
        let mut arguments = vec!["record".into(), "-o".into(), capture.as_os_str().to_owned()];
        arguments.extend(self.options.iter().map(Into::into));
        let mut plain = microscope(arguments)?;
        if self.without_environment {
            plain.env_clear();
        }
        let Some(user) = self.user else { return Ok(plain) };
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={user}")]);
        command.args(["--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]);
        command.arg(plain.get_program()).args(plain.get_args()).stdin(Stdio::null());
        Ok(command)
    }

    /// A scratch directory that the recording user may write.
    fn directory(&self) -> Result<TempDir> {
        let directory = tempfile::tempdir()?;
        if self.user.is_some() {
            std::os::unix::fs::chown(directory.path(), self.user, self.user)?;
        }
        Ok(directory)
    }
}

/// A finished recording, deleted with this value.
#[derive(Debug)]
pub struct Recording {
    /// The capture file.
    pub capture: PathBuf,
    /// What the recorder said.
    pub said: Finished,
    directory: TempDir,
}

impl Recording {
    fn finish(mut command: Command, capture: PathBuf, directory: TempDir) -> Result<Self> {
        let said = Finished::from(command.output()?);
        ensure!(said.code == Some(0), "{command:?} ended with {said:#?}");
        Ok(Self { capture, said, directory })
    }

    /// The directory the capture lies in.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// `microscope report CAPTURE OPTIONS --format json`.
    pub fn report(&self, options: &str) -> Result<Value> {
        report(&self.capture, options)
    }

    /// The stacks of samples in user code, by function, read from the capture itself.
    pub fn user_stacks(&self) -> Result<Folded> {
        Ok(user_stacks(&Capture::read_file(&self.capture)?))
    }

    /// All stacks by function, as `microscope convert --to folded` writes them.
    pub fn folded(&self) -> Result<Folded> {
        let capture = self.capture.as_os_str();
        let arguments = ["convert".as_ref(), capture, "-".as_ref(), "--to".as_ref(), "folded".as_ref()];
        Folded::parse(&run(arguments)?.expect_code(0)?.stdout)
    }
}

/// `microscope report CAPTURE OPTIONS --format json`.
pub fn report(capture: &Path, options: &str) -> Result<Value> {
    let mut arguments: Vec<_> = vec!["report".as_ref(), capture.as_os_str()];
    arguments.extend(options.split_whitespace().map(OsStr::new));
    arguments.extend(["--format", "json"].map(OsStr::new));
    let said = run(arguments)?.expect_code(0)?;
    serde_json::from_str(&said.stdout).with_context(|| format!("report printed\n{}", said.stdout))
}
