//! The built binary: what goes to stdout and stderr, exit codes, streams.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use microscope_capture::{Spool, publish};
use support::server;

fn microscope(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_microscope"));
    command.args(arguments).stdin(Stdio::null()).env_remove("COLUMNS");
    command
}

fn run(arguments: &[&str]) -> Output {
    microscope(arguments).output().expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn capture(folder: &Path) -> PathBuf {
    let path = folder.join("run.mscope");
    publish(&path, &server().seal()).unwrap();
    path
}

#[test]
fn a_report_goes_to_stdout_alone_and_plain() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["report", capture(folder.path()).to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
    assert!(stdout(&output).contains("server::parse::trim"));
    assert!(!stdout(&output).contains('\x1b'));
}

#[test]
fn wrong_usage_is_2_and_a_problem_1() {
    let cases: [(&[&str], i32, &str); 7] = [
        (&["report"], 2, "CAPTURE"),
        (&["report", "x", "--view", "off-cpu"], 2, "off-cpu"),
        (&["symbolize", "x"], 2, "symbolize"),
        (&["convert", "-", "out.unknown"], 2, "--to"),
        (&["record", "--stack-bytes", "100", "true"], 2, "100"),
        (&["report", "/no/such/file"], 1, "/no/such/file"),
        (&["record", "--sources", "/dev/null", "true"], 1, "is no readable directory"),
    ];
    for (arguments, code, words) in cases {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn a_pipe_in_place_of_a_capture_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let output = run(&["report", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("not a regular file"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = microscope(&["report", capture(folder.path()).to_str().unwrap(), "--format", "json"])
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn json_is_one_document() {
    let folder = tempfile::tempdir().unwrap();
    let path = capture(folder.path());
    for view in ["summary", "tree", "flat", "lines", "threads", "timeline", "losses"] {
        let output = run(&["report", path.to_str().unwrap(), "--view", view, "--format", "json"]);
        let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect(view);
        assert_eq!((&value["schema"], &value["view"]), (&1.into(), &view.into()));
        assert_eq!(value["quantity"]["unit"], "ns", "{view}");
    }
}

#[test]
fn streams_convert_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let folded = run(&["convert", capture(folder.path()).to_str().unwrap(), "-", "--to", "folded"]);
    assert_eq!(folded.status.code(), Some(0), "{}", stderr(&folded));
    let mut child = microscope(&["convert", "-", "-", "--to", "capture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&folded.stdout).unwrap();
    let back = child.wait_with_output().unwrap();
    let path = folder.path().join("back.mscope");
    fs::write(&path, back.stdout).unwrap();
    let report = run(&["report", path.to_str().unwrap(), "--view", "flat"]);
    assert!(stdout(&report).contains("41.0 %"), "{}{}", stdout(&report), stderr(&report));
}

#[test]
fn pprof_keeps_functions_and_costs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.pb.gz");
    let there = run(&["convert", capture(folder.path()).to_str().unwrap(), path.to_str().unwrap()]);
    assert_eq!(there.status.code(), Some(0), "{}", stderr(&there));
    let report = run(&["report", path.to_str().unwrap(), "--view", "flat"]);
    assert!(stdout(&report).contains("41.0 %"), "{}{}", stdout(&report), stderr(&report));
}

#[test]
fn a_pipe_is_written_to_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    let (from, to) = (capture(folder.path()), pipe.to_str().unwrap());
    let output = run(&["convert", from.to_str().unwrap(), to, "--to", "folded"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!reader.join().unwrap().is_empty());
    let refused = run(&["record", "-o", to, "true"]);
    assert!(stderr(&refused).contains("not a regular file"), "{}", stderr(&refused));
    assert!(!fs::metadata(&pipe).unwrap().is_file());
}

#[test]
fn a_killed_recording_becomes_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let partial = folder.path().join("run.mscope.partial");
    let mut recording = server();
    recording.flush();
    let mut spool = Spool::create(&partial).unwrap();
    spool.append(&recording.builder.take_increment()).unwrap();
    drop(spool);

    let refused = run(&["report", partial.to_str().unwrap()]);
    assert!(stderr(&refused).contains("microscope recover"), "{}", stderr(&refused));

    let path = folder.path().join("run.mscope");
    let output = run(&["recover", partial.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("Kept 1,000 samples."), "{}", stdout(&output));
    assert!(stdout(&run(&["report", path.to_str().unwrap()])).contains("server::parse::trim"));
}

#[test]
fn a_recording_killed_before_its_first_rows_makes_no_capture() {
    let folder = tempfile::tempdir().unwrap();
    let partial = folder.path().join("run.mscope.partial");
    drop(Spool::create(&partial).unwrap());
    let path = folder.path().join("run.mscope");
    let output = run(&["recover", partial.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("holds nothing yet"), "{}", stderr(&output));
    assert!(!path.exists());
}

#[test]
fn a_cause_is_said_once() {
    for arguments in [&["report", "/no/such/file"][..], &["recover", "/no/such/file", "-o", "x"]] {
        let said = stderr(&run(arguments));
        assert_eq!(said.matches("No such file").count(), 1, "{said}");
    }
}

#[test]
fn help_shows_every_option_with_its_default() {
    for command in ["record", "report", "annotate", "convert", "demo", "recover"] {
        let help = stdout(&run(&[command, "--help"]));
        assert!(help.contains("Example"), "{command}");
        assert!(!help.contains("raw-log") && !help.contains("demo-workload"), "{command}");
    }
}
