//! `microscope record` and `demo` on the real kernel: where the capture goes, exit codes, signals.
//!
//! They need perf events; where those are refused they say so and do nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const SPIN: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

fn microscope(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_microscope"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    microscope(folder, arguments).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder, where perf events may be used; else says why the test does nothing.
fn folder() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["record", "-o", "probe.mscope", "true"]);
    if output.status.success() {
        return Some(folder);
    }
    eprintln!("skipped, recording is refused here: {}", text(&output.stderr));
    None
}

fn wait_at_most(child: Child, limit: Duration) -> Output {
    let (pid, start) = (Pid::from_raw(child.id().cast_signed()), Instant::now());
    let watch = std::thread::spawn(move || child.wait_with_output().unwrap());
    while !watch.is_finished() {
        if start.elapsed() > limit {
            let _ = kill(pid, Signal::SIGKILL);
            panic!("it did not end within {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    watch.join().unwrap()
}

/// Waits until `path` is there.
fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_recording_goes_to_its_own_folder_and_ends_with_the_next_step() {
    let Some(folder) = folder() else { return };
    let output = run(folder.path(), &["record", "sh", "-c", SPIN]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "", "standard output is the program's");
    let out = text(&output.stderr);
    assert!(out.contains("samples") && out.contains("Next: microscope report .microscope/sh-"), "{out}");
    let captures: Vec<_> = fs::read_dir(folder.path().join(".microscope")).unwrap().flatten().collect();
    let capture = captures.iter().find(|entry| entry.path().extension().is_some_and(|end| end == "mscope"));
    let mode = capture.expect("a capture").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!captures.iter().any(|entry| entry.path().to_string_lossy().ends_with(".partial")));
}

/// As with a disk that is full: the program runs on, and what was recorded is not lost.
#[test]
fn a_file_that_may_not_grow_ends_the_recording_with_a_reason() {
    let Some(folder) = folder() else { return };
    let binary = env!("CARGO_BIN_EXE_microscope");
    // Of `blocks` of 512 bytes: none, so that it cannot begin; or too few for what is sampled.
    let record = |blocks: u32| {
        let line =
            format!("ulimit -f {blocks}; exec {binary} record -o full.mscope -- sh -c '{SPIN}; touch ran'");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.path()).stdin(Stdio::null()).output().unwrap()
    };
    let (partial, ran) = (folder.path().join("full.mscope.partial"), folder.path().join("ran"));
    let output = record(0);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("File too large"), "{}", text(&output.stderr));
    assert!(!partial.exists() && !ran.exists());

    let output = record(1);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("File too large"), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("microscope recover full.mscope.partial -o full.mscope"));
    wait_for(&ran);
    assert!(!folder.path().join("full.mscope").exists());
}

/// Needs root: who else may give a file away?
#[test]
fn a_program_that_takes_other_rights_is_not_a_silent_gap() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped, only root can make a program that takes another user's rights");
        return;
    }
    let Some(folder) = folder() else { return };
    let set_user = |name: &str| {
        let program = folder.path().join(name);
        fs::copy(Path::new("/bin").join(name), &program).unwrap();
        std::os::unix::fs::chown(&program, Some(65_534), Some(65_534)).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        program
    };
    let who = Command::new(set_user("id")).arg("-u").output().unwrap().stdout;
    if text(&who).trim() != "65534" {
        eprintln!("skipped, the file system does not let programs take other rights");
        return;
    }
    set_user("sleep");
    let output = run(folder.path(), &["record", "-o", "x.mscope", "--", "./sleep", "0.5"]);
    let said = text(&[output.stdout, output.stderr].concat()).replace('\n', " ");
    assert!(said.contains("the kernel ended sampling"), "{said}");

    let output = run(folder.path(), &["record", "-o", "y.mscope", "--", "sleep", "0.5"]);
    let said = text(&[output.stdout, output.stderr].concat()).replace('\n', " ");
    assert!(!said.contains("the kernel ended sampling"), "{said}");
}

#[test]
fn the_exit_code_is_the_programs_when_asked_for() {
    let Some(folder) = folder() else { return };
    let own = run(folder.path(), &["record", "-o", "a.mscope", "sh", "-c", "exit 3"]);
    let target =
        run(folder.path(), &["record", "-o", "a.mscope", "--exit-code", "target", "sh", "-c", "exit 3"]);
    assert_eq!((own.status.code(), target.status.code()), (Some(0), Some(3)));
}

#[test]
fn a_program_that_does_not_exist_is_a_problem_with_its_name() {
    let Some(folder) = folder() else { return };
    let output = run(folder.path(), &["record", "-o", "a.mscope", "no-such-program-here"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no-such-program-here"), "{}", text(&output.stderr));
    assert!(!folder.path().join("a.mscope").exists());
    assert!(!folder.path().join("a.mscope.partial").exists());
}

#[test]
fn a_second_interrupt_ends_the_recording_and_the_program_runs_on() {
    let Some(folder) = folder() else { return };
    let script = "trap '' INT; touch ready; while [ ! -e leave ]; do sleep 0.02; done; touch left";
    let child = microscope(folder.path(), &["record", "-o", "a.mscope", "sh", "-c", script]).spawn().unwrap();
    let pid = Pid::from_raw(child.id().cast_signed());
    wait_for(&folder.path().join("ready"));
    kill(pid, Signal::SIGINT).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(!folder.path().join("a.mscope").exists(), "the first one belongs to the program");
    kill(pid, Signal::SIGINT).unwrap();
    wait_for(&folder.path().join("a.mscope"));
    assert!(!folder.path().join("left").exists());
    fs::write(folder.path().join("leave"), "").unwrap();
    wait_for(&folder.path().join("left"));
    assert_eq!(wait_at_most(child, Duration::from_secs(20)).status.code(), Some(0));
}

#[test]
fn a_termination_seals_the_recording() {
    let Some(folder) = folder() else { return };
    let script = "touch ready; while [ ! -e leave ]; do sleep 0.02; done";
    let child = microscope(folder.path(), &["record", "-o", "a.mscope", "sh", "-c", script]).spawn().unwrap();
    wait_for(&folder.path().join("ready"));
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    wait_for(&folder.path().join("a.mscope"));
    fs::write(folder.path().join("leave"), "").unwrap();
    let output = wait_at_most(child, Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_running_process_is_recorded_for_a_time_and_runs_on() {
    let Some(folder) = folder() else { return };
    let mut target = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let pid = target.id().to_string();
    let output = run(folder.path(), &["record", "-o", "a.mscope", "-p", &pid, "--duration", "500ms"]);
    let still_runs = target.try_wait().unwrap().is_none();
    target.kill().unwrap();
    target.wait().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(still_runs);
    assert!(text(&output.stderr).contains("CPU time"), "{}", text(&output.stderr));
}

#[test]
fn the_demo_shows_where_its_known_shares_went() {
    let Some(folder) = folder() else { return };
    let output = run(folder.path(), &["demo", "-o", "demo.mscope"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    assert!(out.contains("push += repulsion"), "{out}");
    let flat =
        run(folder.path(), &["report", "demo.mscope", "--view", "flat", "--format", "json", "--limit", "0"]);
    let flat: serde_json::Value = serde_json::from_slice(&flat.stdout).unwrap();
    let whole = flat["whole"]["weight"].as_f64().unwrap();
    for (function, percent) in [("collide", 70.0), ("sort", 20.0), ("render", 10.0)] {
        let row = flat["rows"].as_array().unwrap().iter().find(|row| {
            row["name"].as_str().is_some_and(|name| name.ends_with(&format!("workload::{function}")))
        });
        let share = row.expect(function)["total"]["weight"].as_f64().unwrap() * 100.0 / whole;
        // Two percent for the loop around it and its clock, and two standard deviations of 4,000 samples.
        assert!((share - percent).abs() < 3.5, "{function}: {share:.1} % of {percent} %");
    }
}
