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
use microscope_profiler::session::{SessionRequest, Target};
use microscope_profiler::sources::SourceRules;
use microscope_profiler::sys::launch::LaunchCommand;

use super::arguments::{ExitCodeArgument, RecordArguments};
use super::signals::{Owner, StopSignals};
use super::{Usage, folder, output, session};
use crate::presentation::{self, Page, Screen};
use crate::service::query::overview;

/// Runs the command.
pub(super) fn run(arguments: &RecordArguments) -> anyhow::Result<ExitCode> {
    let request = request(arguments)?;
    let path = request.output.clone();
    let signals = StopSignals::listen(owner(arguments)).context("cannot listen for signals")?;
    let recorded = session::run(request, &signals.request())?;
    // Standard output is the program's, which may be writing a result to a pipe or file.
    output::say(&closing(&recorded.capture, &path, output::screen_of_stderr())?);
    if recorded.cut_short.is_some() {
        return Ok(ExitCode::from(1));
    }
    Ok(exit_code(arguments.exit_code, recorded.exit))
}

/// What a recording ends with.
pub(super) fn closing(capture: &Capture, path: &Path, screen: Screen) -> anyhow::Result<String> {
    let directory = output::directory();
    let page = Page { screen, directory: &directory, limit: 0 };
    Ok(presentation::closing(&overview(capture, &Query::default())?, &path.to_string_lossy(), &page))
}

fn owner(arguments: &RecordArguments) -> Owner {
    if arguments.pids.is_empty() { Owner::Program } else { Owner::Recording }
}

fn request(arguments: &RecordArguments) -> anyhow::Result<SessionRequest> {
    let options = RecordOptions::check(&wishes(arguments)).map_err(|problem| Usage(problem.to_string()))?;
    let output = match &arguments.output {
        Some(path) => path.clone(),
        None => folder::capture_path(Path::new(""), &file_name(arguments), SystemTime::now())?,
    };
    Ok(SessionRequest {
        target: target(arguments),
        options,
        output,
        sources: sources(arguments)?,
        raw_log: arguments.raw_log.clone(),
    })
}

fn target(arguments: &RecordArguments) -> Target {
    match arguments.program.split_first() {
        Some((program, rest)) => Target::Launch(Box::new(LaunchCommand::new(program).with_arguments(rest))),
        None => Target::Attach(arguments.pids.clone()),
    }
}

/// What the capture's file is named after.
fn file_name(arguments: &RecordArguments) -> OsString {
    match (arguments.program.first(), arguments.pids.first()) {
        (Some(program), _) => program.clone(),
        (None, pid) => {
            let pid = pid.copied().unwrap_or_default();
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            OsString::from(format!("{}-{pid}", name.trim_end().replace('/', "_")))
        }
    }
}

fn wishes(arguments: &RecordArguments) -> RecordRequest {
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

fn sources(arguments: &RecordArguments) -> anyhow::Result<SourceRules> {
    let directory = std::env::current_dir().context("the working directory is gone")?;
    let full = |root: &PathBuf| {
        let is_listed = std::fs::read_dir(root).and_then(|_| root.canonicalize());
        is_listed.with_context(|| format!("--sources {} is no readable directory", root.display()))
    };
    let mut roots = arguments.sources.iter().map(full).collect::<anyhow::Result<Vec<_>>>()?;
    roots.push(directory);
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

    fn words(target: Target) -> Vec<OsString> {
        match target {
            Target::Launch(command) => [vec![command.program], command.arguments].concat(),
            Target::Attach(pids) => pids.iter().map(|pid| OsString::from(pid.to_string())).collect(),
        }
    }

    #[test]
    fn everything_after_the_program_is_the_programs() {
        let target = |line| words(target(&parse(line)));
        assert_eq!(target("microscope record server --rate 5 -p 1"), ["server", "--rate", "5", "-p", "1"]);
        assert_eq!(target("microscope record --rate 5 -- server -- -x"), ["server", "--", "-x"]);
    }

    #[test]
    fn pids_may_be_repeated_and_listed() {
        assert_eq!(words(target(&parse("microscope record -p 1,2 -p 3"))), ["1", "2", "3"]);
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
        let request = wishes(&parse(line));
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
        let problem = request(&parse("microscope record --stack-bytes 100 true")).err();
        assert!(problem.is_some_and(|problem| problem.is::<Usage>()));
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
