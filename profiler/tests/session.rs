//! Whole sessions on the real kernel: what lies on disk before, during and after, and what a raw log replays to.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "tests; a skipped one says why"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use microscope_capture::{Capture, EndReason, MeasureSource, setting_names as names};
use microscope_profiler::collector::{EndCause, StartError};
use microscope_profiler::options::{KernelChoice, RecordOptions, RecordRequest};
use microscope_profiler::session::{Recorded, Session, SessionError, SessionRequest, Target, replay};
use microscope_profiler::sources::SourceRules;
use microscope_profiler::sys::launch::LaunchCommand;

/// A shell that counts, which takes a noticeable part of a second on any machine.
const COUNT: &str = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done";
/// A shell that never ends by itself.
const FOREVER: &str = "while :; do :; done";

fn request(dir: &Path, script: &str, request: &RecordRequest) -> SessionRequest {
    SessionRequest {
        target: Target::Launch(Box::new(LaunchCommand::new("/bin/sh").with_arguments(["-c", script]))),
        options: RecordOptions::check(request).unwrap(),
        output: dir.join("a.mscope"),
        sources: SourceRules::default(),
        raw_log: None,
    }
}

/// Starts a session, or says why the machine refuses.
fn start(request: SessionRequest) -> Option<Session> {
    match Session::start(request) {
        Err(SessionError::Start(
            refusal @ (StartError::NotPermitted { .. } | StartError::Blocked | StartError::NoPerfEvents),
        )) => {
            eprintln!("skipped: {refusal}");
            None
        }
        session => Some(session.unwrap()),
    }
}

fn record(request: SessionRequest) -> Option<Recorded> {
    Some(start(request)?.wait(|_| ()).unwrap())
}

fn setting(capture: &Capture, name: &str) -> Option<String> {
    let row = capture.settings.iter().find(|(_, row)| capture.strings.get(row.name) == name);
    row.map(|(_, row)| capture.strings.get(row.value).to_owned())
}

fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_recording_leaves_its_capture_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let Some(recorded) = record(request(dir.path(), COUNT, &RecordRequest::default())) else { return };
    assert_eq!(names_in(dir.path()), ["a.mscope"]);
    let bytes = std::fs::read(dir.path().join("a.mscope")).unwrap();
    assert_eq!(bytes, recorded.capture.to_bytes());
    assert_eq!(recorded.exit.and_then(|exit| exit.code()), Some(0));
    assert_eq!(recorded.cause, EndCause::TargetsGone);
    assert_eq!(setting(&recorded.capture, names::SYMBOLS).as_deref(), Some("immediate"));
    assert!(recorded.capture.samples.len() > 10, "{} samples", recorded.capture.samples.len());
}

#[test]
fn a_replayed_raw_log_makes_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    let raw_log = dir.path().join("a.rawlog");
    let wanted = RecordRequest { kernel: Some(KernelChoice::Off), ..RecordRequest::default() };
    let wanted = SessionRequest { raw_log: Some(raw_log.clone()), ..request(dir.path(), COUNT, &wanted) };
    let Some(recorded) = record(wanted) else { return };
    let replayed = replay(&raw_log, &dir.path().join("spool")).unwrap();
    assert_eq!(rows(&replayed), rows(&recorded.capture));
    assert_eq!(names_in(dir.path()), ["a.mscope", "a.rawlog"]);
}

/// Everything that a raw log can tell: all but settings and source texts, with ids replaced by what they mean.
fn rows(capture: &Capture) -> Vec<String> {
    let text = |id| capture.strings.get(id);
    let module = |id| text(capture.modules.row(id).path);
    let frame = |id| {
        let row = capture.frames.row(id);
        format!("{:?} {:?} {:#x}", row.kind, row.module.map(module), row.address)
    };
    let stack = |mut id| {
        let mut frames = Vec::new();
        while let Some(stack) = id {
            let row = capture.stacks.row(stack);
            frames.push(frame(row.frame));
            id = row.parent;
        }
        frames.join(" < ")
    };
    let samples = capture.samples.iter().map(|(_, row)| {
        let tid = capture.threads.row(row.thread).tid;
        format!("{} {tid} {} {:?} {}", row.time_ns, row.weight, row.end, stack(row.stack))
    });
    let facts = capture.facts.iter().map(|(_, row)| {
        let function = text(capture.functions.row(row.function).name);
        format!("{} {} {function} {}", frame(row.frame), row.depth, row.line)
    });
    let mappings = capture
        .mappings
        .iter()
        .map(|(_, row)| format!("{} {:#x}..{:#x}", module(row.module), row.start_address, row.end_address));
    samples.chain(facts).chain(mappings).collect()
}

#[test]
fn a_duration_detaches_and_the_program_runs_on() {
    let dir = tempfile::tempdir().unwrap();
    let duration = Some(Duration::from_millis(300));
    let wanted = RecordRequest { duration, ..RecordRequest::default() };
    let Some(session) = start(request(dir.path(), FOREVER, &wanted)) else { return };
    let child = session.child().unwrap();
    let recorded = session.wait(|_| ()).unwrap();
    assert_eq!(recorded.cause, EndCause::Stopped);
    assert!(recorded.exit.is_none());
    child.signal(nix::sys::signal::Signal::SIGKILL).expect("it still runs");
}

#[test]
fn a_stop_seals_what_was_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let Some(session) = start(request(dir.path(), FOREVER, &RecordRequest::default())) else { return };
    let (status, control, child) = (session.status(), session.control(), session.child().unwrap());
    let stopper = std::thread::spawn(move || {
        let patience = Instant::now() + Duration::from_secs(60);
        while status.samples() < 20 && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        control.stop().unwrap();
    });
    let recorded = session.wait(|_| ()).unwrap();
    stopper.join().unwrap();
    child.signal(nix::sys::signal::Signal::SIGKILL).unwrap();
    assert!(recorded.capture.samples.len() >= 20);
    assert_eq!(names_in(dir.path()), ["a.mscope"]);
}

#[test]
fn user_time_only_is_said_where_the_kernel_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let Some(recorded) = record(request(dir.path(), COUNT, &RecordRequest::default())) else { return };
    let kernel = setting(&recorded.capture, names::KERNEL).unwrap();
    let source = recorded.capture.measures.source[0];
    assert_eq!(source == MeasureSource::UserCpuSamples, kernel == "excluded");
}

#[test]
fn a_program_that_does_not_exist_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let command = LaunchCommand::new("/nonexistent/program");
    let wanted = request(dir.path(), COUNT, &RecordRequest::default());
    let wanted = SessionRequest { target: Target::Launch(Box::new(command)), ..wanted };
    let error = Session::start(wanted).err().expect("there is no such program");
    assert!(matches!(error, SessionError::Start(_)), "{error}");
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn an_unfinished_recording_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.mscope.partial"), "rows").unwrap();
    let error = Session::start(request(dir.path(), COUNT, &RecordRequest::default())).err().unwrap();
    assert!(matches!(error, SessionError::SpoolExists { .. }), "{error}");
    assert_eq!(std::fs::read(dir.path().join("a.mscope.partial")).unwrap(), b"rows");
}

#[test]
fn a_shell_built_without_frame_pointers_has_whole_stacks() {
    let dir = tempfile::tempdir().unwrap();
    let Some(recorded) = record(request(dir.path(), COUNT, &RecordRequest::default())) else { return };
    let ends = &recorded.capture.samples.end;
    let whole = ends.iter().filter(|end| **end == EndReason::Complete).count();
    assert!(whole * 1000 >= ends.len() * 995, "{whole} of {} stacks are whole", ends.len());
}
