//! Begin and end of recordings: exit codes, signals, durations, what a killed recorder leaves.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use microscope_tests::microscope::{Finished, microscope, report, run};
use microscope_tests::{Built, Record, requirement};

use crate::programs::program;

/// How long a recorder may take to react before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

fn shares() -> Built {
    program("shares.c", "-O2").build().unwrap()
}

#[test]
fn a_recording_ends_with_hot_lines_its_worth_and_the_next_command() {
    let recording = Record::default().run(&shares()).unwrap();
    let said = &recording.said.text();
    assert!(said.contains("shares.c:"), "no hot line: {said}");
    assert!(said.contains("samples"), "no number of samples: {said}");
    assert!(said.contains("microscope report"), "no next command: {said}");
}

#[test]
fn the_exit_code_is_the_recorders_unless_the_targets_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let capture = directory.path().join("false.mscope");
    let capture = capture.to_str().unwrap();
    run(["record", "-o", capture, "--", "false"]).unwrap().expect_code(0).unwrap();
    run(["record", "-o", capture, "--exit-code", "target", "--", "false"]).unwrap().expect_code(1).unwrap();
}

#[test]
fn a_program_that_does_not_exist_is_a_problem_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let capture = directory.path().join("none.mscope");
    let said = run(["record", "-o", capture.to_str().unwrap(), "--", "/nonexistent/program"]).unwrap();
    let said = said.expect_code(1).unwrap();
    assert!(said.stderr.contains("/nonexistent/program"), "{}", said.stderr);
    assert!(!capture.exists());
}

#[test]
fn without_a_name_the_capture_goes_to_a_folder_that_git_ignores() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = microscope(["record", "--"]).unwrap();
    command.arg(shares().executable).arg("200").current_dir(&directory);
    Finished::from(command.output().unwrap()).expect_code(0).unwrap();
    let folder = directory.path().join(".microscope");
    assert!(folder.join(".gitignore").is_file());
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let captures = names.iter().filter(|name| name.to_string_lossy().ends_with(".mscope")).count();
    assert_eq!(captures, 1, "{names:?}");
}

#[test]
fn a_capture_is_its_owners_alone() {
    let recording = Record::default().budget_ms(200).run(&shares()).unwrap();
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&recording.capture).unwrap());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn after_its_duration_a_recording_ends_and_the_program_runs_on() {
    let mut target = Background::start(Command::new(shares().executable).arg("60000"));
    let directory = tempfile::tempdir().unwrap();
    let capture = directory.path().join("part.mscope");
    let pid = target.0.id().to_string();
    let arguments = ["record", "-o", capture.to_str().unwrap(), "--duration", "500ms", "-p", &pid];
    run(arguments).unwrap().expect_code(0).unwrap();
    assert!(target.is_running());
    assert!(samples(&capture) > 50);
}

#[test]
fn a_termination_signal_seals_the_recording() {
    let directory = tempfile::tempdir().unwrap();
    let capture = directory.path().join("ended.mscope");
    let mut recorder = start_recording(&capture, "60000");
    wait_until_recording(&capture);
    recorder.signal("TERM");
    recorder.wait_for_end();
    assert!(samples(&capture) > 50);
}

#[test]
fn the_first_interrupt_is_the_programs_and_the_second_seals() {
    let directory = tempfile::tempdir().unwrap();
    let capture = directory.path().join("interrupted.mscope");
    let mut command = Record::default().command(&capture).unwrap();
    // Deaf to the interrupt, as a program with a shutdown of its own may be for a while.
    command.args(["--", "env", "--ignore-signal=INT"]).arg(shares().executable).arg("60000");
    let mut recorder = Background::start(&mut command);
    wait_until_recording(&capture);
    recorder.signal("INT");
    sleep(Duration::from_secs(1));
    assert!(recorder.is_running(), "the first interrupt ended the recording");
    recorder.signal("INT");
    recorder.wait_for_end();
    assert!(samples(&capture) > 50);
}

#[test]
fn what_a_killed_recorder_had_written_is_recovered() {
    let directory = tempfile::tempdir().unwrap();
    let capture = directory.path().join("killed.mscope");
    let mut recorder = start_recording(&capture, "3000");
    wait_until_recording(&capture);
    sleep(Duration::from_millis(1500));
    recorder.signal("KILL");
    recorder.wait_for_end();
    assert!(!capture.exists(), "a killed recording published a capture");
    let partial = directory.path().join("killed.mscope.partial");
    let recovered = directory.path().join("recovered.mscope");
    let arguments = ["recover".as_ref(), partial.as_os_str(), "-o".as_ref(), recovered.as_os_str()];
    run(arguments).unwrap().expect_code(0).unwrap();
    assert!(samples(&recovered) > 1000, "{} samples recovered", samples(&recovered));
    let said = run(["report".as_ref(), recovered.as_os_str()]).unwrap().expect_code(0).unwrap();
    let words = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("4,999 a second of CPU time were asked for"),
        "what was asked for is lost:\n{words}"
    );
    assert!(words.contains("The recording was cut off before all names were in."), "{words}");
}

#[test]
fn the_demo_finds_its_hot_line() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = microscope(["demo"]).unwrap();
    let said = Finished::from(command.current_dir(&directory).output().unwrap()).expect_code(0).unwrap();
    assert!(said.stdout.contains(".rs:"), "no source line:\n{}\n{}", said.stdout, said.stderr);
}

fn start_recording(capture: &Path, budget_ms: &str) -> Background {
    let mut command = Record::default().command(capture).unwrap();
    Background::start(command.arg("--").arg(shares().executable).arg(budget_ms))
}

/// The spool appears with the first rows; a moment later samples are in it.
fn wait_until_recording(capture: &Path) {
    let partial = format!("{}.partial", capture.display());
    wait_for(|| std::fs::metadata(&partial).is_ok());
    sleep(Duration::from_secs(1));
}

fn wait_for(mut happened: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !happened() {
        assert!(begin.elapsed() < PATIENCE, "nothing happened for {PATIENCE:?}");
        sleep(Duration::from_millis(20));
    }
}

fn samples(capture: &Path) -> u64 {
    report(capture, "").unwrap()["whole"]["samples"].as_u64().unwrap()
}

/// A process that the test does not wait for at once; it and what it launched end with the test.
struct Background(Child);

impl Background {
    fn start(command: &mut Command) -> Self {
        // A group of its own, so that the end of the test reaches what it launched too.
        std::os::unix::process::CommandExt::process_group(command, 0);
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    fn wait_for_end(&mut self) {
        wait_for(|| self.0.try_wait().unwrap().is_some());
    }

    fn signal(&self, name: &str) {
        kill(&["-s", name, &self.0.id().to_string()]);
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        kill(&["-s", "KILL", "--", &format!("-{}", self.0.id())]);
        let _ = self.0.wait();
    }
}

fn kill(arguments: &[&str]) {
    if requirement::installed("kill").is_some() {
        let _ = Command::new("kill").args(arguments).stderr(Stdio::null()).status();
    }
}
