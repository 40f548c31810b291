//! One recording by one recorder: microscope, its peers, or none at all.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use flate2::read::GzDecoder;
use microscope_tests::{Built, repository, requirement};
use serde_json::Value;

use crate::usage;

/// Who records.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorder {
    /// Nobody: the target alone.
    Nobody,
    /// microscope with these options.
    Microscope(String),
    /// `perf record` with these options.
    Perf(String),
    /// samply with its fixed 32,000 bytes of stack.
    Samply {
        /// Samples a second.
        rate_hz: u32,
    },
}

/// In place of a number that a recorder does not give.
pub const NOT_SAID: f64 = f64::NAN;

/// What one recording cost and gave.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// CPU time of the recorder, all its threads and processes.
    pub recorder_cpu_ns: f64,
    /// CPU time of the target for one round of its work.
    pub target_round_ns: f64,
    /// Samples in the file.
    pub samples: f64,
    /// Samples that the recorder says were lost; [`NOT_SAID`] by one that does not say.
    pub lost: f64,
    /// Bytes of the file.
    pub file_bytes: f64,
}

impl Recorder {
    /// Whether it is installed here.
    pub fn is_installed(&self) -> bool {
        match self {
            Self::Nobody | Self::Microscope(_) => true,
            Self::Perf(_) => requirement::installed("perf").is_some(),
            Self::Samply { .. } => samply().is_some(),
        }
    }

    /// A short name for tables.
    pub fn name(&self) -> String {
        match self {
            Self::Nobody => "no recorder".to_owned(),
            Self::Microscope(options) => format!("microscope {options}"),
            Self::Perf(options) => format!("perf record {options}"),
            Self::Samply { rate_hz } => format!("samply --rate {rate_hz}"),
        }
    }

    /// Runs the target for a CPU time under the recorder.
    pub fn run(&self, target: &Built, budget_ms: u32) -> Result<Facts> {
        let directory = tempfile::tempdir()?;
        let file = directory.path().join(self.file_name());
        let mut command = self.command(&file)?;
        command.arg(&target.executable).arg(budget_ms.to_string()).stdin(Stdio::null());
        let (output, cpu_ns) = usage::run(&mut command).with_context(|| self.name())?;
        let target = Target::parse(&String::from_utf8_lossy(&output.stdout))?;
        let (samples, lost) = self.count(&file)?;
        Ok(Facts {
            recorder_cpu_ns: cpu_ns as f64 - target.cpu_ns,
            target_round_ns: target.cpu_ns / target.rounds,
            samples,
            lost,
            file_bytes: std::fs::metadata(&file).map_or(0.0, |file| file.len() as f64),
        })
    }

    fn file_name(&self) -> &'static str {
        match self {
            Self::Nobody => "nothing",
            Self::Microscope(_) => "out.mscope",
            Self::Perf(_) => "perf.data",
            Self::Samply { .. } => "out.json.gz",
        }
    }

    /// The command line up to the target's.
    fn command(&self, file: &Path) -> Result<Command> {
        Ok(match self {
            Self::Nobody => Command::new("env"),
            Self::Microscope(options) => {
                let mut command = Command::new(microscope()?);
                command.arg("record").arg("-o").arg(file).args(options.split_whitespace()).arg("--");
                command
            }
            Self::Perf(options) => {
                let mut command = Command::new("perf");
                command.args(["record", "--quiet", "--event", "cpu-clock", "--mmap-pages", "2048"]);
                command.args(options.split_whitespace()).arg("--output").arg(file).arg("--");
                command
            }
            Self::Samply { rate_hz } => {
                let mut command =
                    with_private_paranoid_setting(&samply().context("samply is not installed")?);
                command.args(["record", "--save-only", "--no-open", "--rate", &rate_hz.to_string(), "-o"]);
                command.arg(file).arg("--");
                command
            }
        })
    }

    /// Samples and losses of the file.
    fn count(&self, file: &Path) -> Result<(f64, f64)> {
        match self {
            Self::Nobody => Ok((0.0, 0.0)),
            Self::Microscope(_) => count_in_capture(file),
            Self::Perf(_) => count_in_perf_data(file),
            Self::Samply { .. } => count_in_samply_profile(file),
        }
    }
}

/// The line that `stacks.cpp` prints: `target rounds N cpu_ns M`.
struct Target {
    rounds: f64,
    cpu_ns: f64,
}

impl Target {
    fn parse(stdout: &str) -> Result<Self> {
        let line =
            stdout.lines().find(|line| line.starts_with("target ")).context("the target printed nothing")?;
        let words: Vec<_> = line.split_whitespace().collect();
        let [_, _, rounds, _, cpu_ns] = words[..] else { anyhow::bail!("the target printed {line}") };
        Ok(Self { rounds: rounds.parse()?, cpu_ns: cpu_ns.parse()? })
    }
}

/// The release build of microscope.
fn microscope() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("MICROSCOPE_BIN") {
        return Ok(path.into());
    }
    Ok(repository::target_dir()?.join("release/microscope"))
}

fn count_in_capture(file: &Path) -> Result<(f64, f64)> {
    let mut command = Command::new(microscope()?);
    command.arg("report").arg(file).args(["--format", "json"]);
    let (output, _) = usage::run(&mut command)?;
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    Ok((number(&summary, "/whole/samples")?, number(&summary, "/lost_samples")?))
}

fn count_in_perf_data(file: &Path) -> Result<(f64, f64)> {
    let mut command = Command::new("perf");
    command.args(["report", "--stats", "--input"]).arg(file);
    let (output, _) = usage::run(&mut command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let event =
        |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name)).and_then(first_number);
    Ok((
        event("SAMPLE events:").context("perf counted no samples")?,
        event("LOST_SAMPLES events:").unwrap_or(0.0),
    ))
}

fn count_in_samply_profile(file: &Path) -> Result<(f64, f64)> {
    let profile: Value = serde_json::from_reader(GzDecoder::new(std::fs::File::open(file)?))?;
    let threads = profile["threads"].as_array().context("samply's profile has no threads")?;
    let samples = threads.iter().filter_map(|thread| thread["samples"]["length"].as_f64()).sum();
    Ok((samples, NOT_SAID))
}

fn number(value: &Value, pointer: &str) -> Result<f64> {
    value.pointer(pointer).and_then(Value::as_f64).with_context(|| format!("no number at {pointer}"))
}

fn first_number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// samply as `SAMPLY` names it, or on the path.
fn samply() -> Option<PathBuf> {
    std::env::var_os("SAMPLY").map(PathBuf::from).or_else(|| requirement::installed("samply"))
}

/// samply 0.13 asks for hardware cycles first and, where there are none, refuses above paranoid level 1 before it
/// would try cpu-clock. It gets a private view of that setting; the setting itself stays.
fn with_private_paranoid_setting(program: &Path) -> Command {
    let script = "f=$(mktemp); echo 1 >$f; mount --bind $f /proc/sys/kernel/perf_event_paranoid; rm $f; exec \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "bash", "-c", script]).arg(program);
    command
}
