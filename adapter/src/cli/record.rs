//! `microscope record`: from options to a capture in its place, and the words that a recording ends with.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use microscope_analysis::Query;
use microscope_capture::Capture;
use microscope_profiler::options::{RecordOptions, RecordRequest};
use microscope_profiler::session::{
    Progress as SessionProgress, Session, SessionError, SessionRequest, Target as SessionTarget,
};
use microscope_profiler::sources::SourceRules;
use microscope_profiler::sys::launch::LaunchCommand;

use super::arguments::{ExitCodeArgument, RecordArguments};
use super::progress::Progress;
use super::signals::{Owner, StopRequest, StopSignals};
use super::{Usage, folder, output};
use crate::presentation::escape::terminal;
use crate::presentation::{self, Page};
use crate::service::query::overview;

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A program that is started for it.
    Launch {
        /// The program, found as a shell would find it.
        program: OsString,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// Processes that run already.
    Attach(Vec<u32>),
}

/// Everything a recording needs to know.
#[derive(Debug, Clone)]
pub struct Recording {
    /// What is recorded.
    pub target: Target,
    /// How.
    pub options: RecordOptions,
    /// Which source texts are kept.
    pub sources: SourceRules,
    /// Where the capture goes.
    pub output: PathBuf,
    /// Where the raw bytes go, if anywhere.
    pub raw_log: Option<PathBuf>,
    /// Asks that the recording be sealed at once; programs run on.
    pub stop: StopRequest,
}

/// How a recording ended. The capture is in its place.
#[derive(Debug)]
pub struct Outcome {
    /// The capture, as it is in its place.
    pub capture: Capture,
    /// How the launched program ended, when one was launched and has ended.
    pub exit: Option<ExitStatus>,
    /// Why the recording ended before its time, if it did.
    pub cut_short: Option<String>,
}

/// What records: the profiler's session, or a stand-in of tests.
pub trait Recorder {
    /// Records, and publishes the capture. `progress` hears what is done once the program has ended.
    fn record(&mut self, recording: &Recording, progress: &mut dyn FnMut(&str)) -> anyhow::Result<Outcome>;
}

/// The profiler's session.
pub(super) fn session() -> impl Recorder {
    RealSession
}

struct RealSession;

impl Recorder for RealSession {
    fn record(&mut self, recording: &Recording, progress: &mut dyn FnMut(&str)) -> anyhow::Result<Outcome> {
        let session = Session::start(session_request(recording)).map_err(with_remedy)?;
        let control = session.control();
        recording.stop.when_asked(move || {
            // A recording that has ended by itself needs no stop.
            let _ = control.stop();
        });
        let recorded = session.wait(|step| progress(&words(step)))?;
        Ok(Outcome { capture: recorded.capture, exit: recorded.exit, cut_short: recorded.cut_short })
    }
}

fn session_request(recording: &Recording) -> SessionRequest {
    let target = match &recording.target {
        Target::Launch { program, arguments } => {
            SessionTarget::Launch(Box::new(LaunchCommand::new(program).with_arguments(arguments)))
        }
        Target::Attach(pids) => SessionTarget::Attach(pids.clone()),
    };
    SessionRequest {
        target,
        options: recording.options.clone(),
        output: recording.output.clone(),
        sources: recording.sources.clone(),
        raw_log: recording.raw_log.clone(),
    }
}

/// A refusal says what would help.
fn with_remedy(error: SessionError) -> anyhow::Error {
    match &error {
        SessionError::Start(refusal) => match refusal.remedy() {
            Some(remedy) => anyhow::anyhow!("{error}\n{remedy}"),
            None => error.into(),
        },
        _ => error.into(),
    }
}

fn words(step: SessionProgress) -> String {
    match step {
        SessionProgress::Sealing => "ordering rows".to_owned(),
        SessionProgress::Naming { left } => format!("looking up names, {left} addresses left"),
        SessionProgress::Writing => "writing the capture".to_owned(),
    }
}

/// Runs the command.
pub(super) fn run(arguments: &RecordArguments) -> anyhow::Result<ExitCode> {
    let signals = StopSignals::listen(owner(arguments)).context("cannot listen for signals")?;
    let recording = recording(arguments, signals.request())?;
    let outcome = record(&mut session(), &recording)?;
    output::print(&closing(&outcome.capture, &recording.output)?)?;
    Ok(exit_code(arguments.exit_code, outcome.exit))
}

/// Records, and says what is done meanwhile once the terminal is the recorder's again.
pub(super) fn record(recorder: &mut dyn Recorder, recording: &Recording) -> anyhow::Result<Outcome> {
    let mut progress = Progress::start();
    let outcome = recorder.record(recording, &mut |state| progress.update(|| state.to_owned()))?;
    if let Some(why) = &outcome.cut_short {
        progress.note(&format!("microscope: the recording ended before its time: {}", terminal(why)));
    }
    progress.note(&format!("microscope: wrote {}", terminal(&recording.output.to_string_lossy())));
    Ok(outcome)
}

/// What a recording ends with.
pub(super) fn closing(capture: &Capture, path: &Path) -> anyhow::Result<String> {
    let directory = output::directory();
    let page = Page { screen: output::screen(), directory: &directory, limit: 0 };
    Ok(presentation::closing(&overview(capture, &Query::default())?, &path.to_string_lossy(), &page))
}

fn owner(arguments: &RecordArguments) -> Owner {
    if arguments.pids.is_empty() { Owner::Program } else { Owner::Recording }
}

fn recording(arguments: &RecordArguments, stop: StopRequest) -> anyhow::Result<Recording> {
    let target = target(arguments);
    let options = RecordOptions::check(&request(arguments)).map_err(|problem| Usage(problem.to_string()))?;
    let directory = std::env::current_dir().context("the working directory is gone")?;
    let output = match &arguments.output {
        Some(path) => path.clone(),
        None => folder::capture_path(Path::new(""), &file_name(&target), SystemTime::now())?,
    };
    let sources = sources(arguments, &directory)?;
    Ok(Recording { target, options, sources, output, raw_log: arguments.raw_log.clone(), stop })
}

fn target(arguments: &RecordArguments) -> Target {
    match arguments.program.split_first() {
        Some((program, rest)) => Target::Launch { program: program.clone(), arguments: rest.to_vec() },
        None => Target::Attach(arguments.pids.clone()),
    }
}

/// What the capture's file is named after.
fn file_name(target: &Target) -> OsString {
    match target {
        Target::Launch { program, .. } => program.clone(),
        Target::Attach(pids) => {
            let pid = pids.first().copied().unwrap_or_default();
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            OsString::from(format!("{}-{pid}", name.trim_end().replace('/', "_")))
        }
    }
}

fn request(arguments: &RecordArguments) -> RecordRequest {
    RecordRequest {
        preset: arguments.preset,
        rate_hz: arguments.rate,
        stack: Some(arguments.stack),
        stack_bytes: arguments.stack_bytes,
        event: Some(arguments.event),
        kernel: Some(arguments.kernel),
        without_children: arguments.no_children,
        duration: arguments.duration.map(|moment| Duration::from_nanos(moment.ns)),
    }
}

fn sources(arguments: &RecordArguments, directory: &Path) -> anyhow::Result<SourceRules> {
    let full = |root: &PathBuf| {
        root.canonicalize().with_context(|| format!("--sources {} is no readable directory", root.display()))
    };
    let mut roots = arguments.sources.iter().map(full).collect::<anyhow::Result<Vec<_>>>()?;
    roots.push(directory.to_owned());
    Ok(SourceRules { roots, hashes_only: arguments.no_sources })
}

/// The program's own code when that was asked for; one it died of counts from 128, as in shells.
fn exit_code(wanted: ExitCodeArgument, exit: Option<ExitStatus>) -> ExitCode {
    let Some(exit) = exit.filter(|_| wanted == ExitCodeArgument::Target) else {
        return ExitCode::SUCCESS;
    };
    let code = exit.code().or_else(|| exit.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::from(1), ExitCode::from)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use clap::Parser;

    use super::super::arguments::{Arguments, Command};
    use super::*;

    fn parse(line: &str) -> RecordArguments {
        match Arguments::try_parse_from(line.split_whitespace()).unwrap().command {
            Command::Record(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn everything_after_the_program_is_the_programs() {
        let launch = |arguments: &[&str]| Target::Launch {
            program: "server".into(),
            arguments: arguments.iter().map(OsString::from).collect(),
        };
        assert_eq!(
            target(&parse("microscope record server --rate 5 -p 1")),
            launch(&["--rate", "5", "-p", "1"])
        );
        assert_eq!(target(&parse("microscope record --rate 5 -- server -- -x")), launch(&["--", "-x"]));
    }

    #[test]
    fn pids_may_be_repeated_and_listed() {
        assert_eq!(target(&parse("microscope record -p 1,2 -p 3")), Target::Attach(vec![1, 2, 3]));
    }

    #[test]
    fn a_target_is_needed_and_only_one() {
        for line in ["microscope record", "microscope record -p 1 server", "microscope record -p 0"] {
            assert!(Arguments::try_parse_from(line.split_whitespace()).is_err(), "{line}");
        }
    }

    #[test]
    fn options_map_one_to_one() {
        let line = "microscope record --preset high --rate 250 --stack both --stack-bytes 8KiB \
                    --event task-clock --kernel off --no-children --duration 1.5s server";
        let request = request(&parse(line));
        assert_eq!(request.rate_hz, Some(250));
        assert_eq!(request.stack_bytes, Some(8192));
        assert_eq!(request.duration, Some(Duration::from_millis(1500)));
        assert!(request.without_children);
        let names = [
            request.preset.name(),
            request.stack.unwrap().name(),
            request.event.unwrap().name(),
            request.kernel.unwrap().name(),
        ];
        assert_eq!(names, ["high", "both", "task-clock", "off"]);
    }

    #[test]
    fn values_out_of_range_are_wrong_usage() {
        let problem = recording(&parse("microscope record --stack-bytes 100 true"), StopRequest::default())
            .unwrap_err();
        assert!(problem.is::<Usage>(), "{problem}");
    }

    #[test]
    fn the_programs_exit_code_is_returned_when_asked_for() {
        let ended = |raw| Some(ExitStatus::from_raw(raw));
        let target = |exit| format!("{:?}", exit_code(ExitCodeArgument::Target, exit));
        let code = |code: u8| format!("{:?}", ExitCode::from(code));
        assert_eq!(target(ended(3 << 8)), code(3));
        assert_eq!(target(ended(9)), code(137));
        assert_eq!(target(None), code(0));
        assert_eq!(format!("{:?}", exit_code(ExitCodeArgument::Own, ended(3 << 8))), code(0));
    }
}
