//! Claims about launching behind a gate.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::Read;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::pipe2;

use super::*;
use crate::sys::handle::{Ended, ProcessHandle};

fn shell(script: &str) -> LaunchCommand {
    LaunchCommand::new("/bin/sh").with_arguments(["-c", script])
}

fn run(gate: Gate) -> (Result<(), LaunchFailure>, Ended) {
    let process = gate.process();
    let opened = gate.open();
    (opened, process.wait_for_end().unwrap().unwrap())
}

/// What the program writes to its standard output.
fn output_of(mut command: LaunchCommand) -> String {
    let (read, write) = pipe2(OFlag::O_CLOEXEC).unwrap();
    command.streams[1] = Some(write);
    let gate = Gate::launch(&command).unwrap();
    drop(command);
    run(gate).0.unwrap();
    let mut text = String::new();
    File::from(read).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn nothing_runs_before_the_gate_opens() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("ran");
    let gate = Gate::launch(&shell(&format!("touch {}", mark.display()))).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!mark.exists());
    let (opened, ended) = run(gate);
    assert_eq!((opened, ended.status.code()), (Ok(()), Some(0)));
    assert!(mark.exists());
}

#[test]
fn a_gate_that_is_dropped_starts_nothing_and_leaves_nothing() {
    let gate = Gate::launch(&shell("exit 5")).unwrap();
    let pid = gate.process().pid();
    drop(gate);
    assert_eq!(ProcessHandle::open(pid).unwrap_err(), Errno::ESRCH);
}

#[test]
fn a_missing_program_is_told_with_its_reason() {
    let (opened, ended) = run(Gate::launch(&LaunchCommand::new("/nonexistent/program")).unwrap());
    assert_eq!(opened, Err(LaunchFailure { step: LaunchStep::Execute, errno: Errno::ENOENT }));
    assert_eq!(ended.status.code(), Some(127));
}

#[test]
fn a_program_without_permission_is_told_so() {
    let (opened, _) = run(Gate::launch(&LaunchCommand::new("/etc/passwd")).unwrap());
    assert_eq!(opened, Err(LaunchFailure { step: LaunchStep::Execute, errno: Errno::EACCES }));
}

#[test]
fn a_missing_folder_is_told_so() {
    let command = LaunchCommand { directory: Some("/nonexistent".into()), ..shell("exit 0") };
    let (opened, _) = run(Gate::launch(&command).unwrap());
    assert_eq!(opened, Err(LaunchFailure { step: LaunchStep::Directory, errno: Errno::ENOENT }));
}

#[test]
fn a_name_with_a_zero_is_no_program() {
    assert_eq!(Gate::launch(&LaunchCommand::new("a\0b")).unwrap_err().errno, Errno::EINVAL);
}

#[test]
fn the_status_and_the_times_of_the_program_are_kept() {
    let (opened, ended) =
        run(Gate::launch(&shell("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; exit 7")).unwrap());
    assert_eq!((opened, ended.status.code()), (Ok(()), Some(7)));
    assert!(ended.used.total_ns() > 0);
}

#[test]
fn a_program_killed_by_a_signal_says_which() {
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(run(Gate::launch(&shell("kill -9 $$")).unwrap()).1.status.signal(), Some(9));
}

#[test]
fn no_descriptor_of_the_recorder_is_handed_on() {
    let folder = std::fs::File::open("/proc").unwrap();
    let listed = output_of(LaunchCommand::new("/bin/ls").with_arguments(["/proc/self/fd"]));
    // What the standard library hands on is what this process was itself given without close-on-exec.
    let expected = std::process::Command::new("/bin/ls").arg("/proc/self/fd").output().unwrap();
    assert_eq!(listed, String::from_utf8(expected.stdout).unwrap());
    drop(folder);
}

#[test]
fn environment_and_folder_are_as_told() {
    let command = LaunchCommand {
        environment: Some(vec![("GREETING".into(), "hello".into())]),
        directory: Some("/usr".into()),
        ..shell("echo $GREETING; pwd")
    };
    assert_eq!(output_of(command), "hello\n/usr\n");
}

#[test]
fn signals_are_as_they_were_when_the_command_was_made() {
    let command =
        LaunchCommand::new("/bin/grep").with_arguments(["-E", "SigBlk|SigIgn", "/proc/self/status"]);
    let expected = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let value = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    let pipe = 1 << (nix::libc::SIGPIPE - 1);
    let (blocked, ignored) = (value(&expected, "SigBlk:"), value(&expected, "SigIgn:") & !pipe);
    let status = std::thread::spawn(move || {
        nix::sys::signal::SigSet::all().thread_block().unwrap();
        output_of(command)
    });
    let status = status.join().unwrap();
    assert_eq!((value(&status, "SigBlk:"), value(&status, "SigIgn:")), (blocked, ignored));
}

#[test]
fn a_raised_descriptor_limit_is_not_handed_on() {
    // In a process of its own, since limits belong to the whole process: nextest gives each test one; under
    // `cargo test` the limit was perhaps raised before, and stays what the first raise found.
    let (soft, hard) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE).unwrap();
    let lowered = soft.min(hard.saturating_sub(1)).min(512);
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, lowered, hard).unwrap();
    crate::sys::limits::raise_descriptor_limit();
    let expected = crate::sys::limits::descriptor_limit_before_raise().unwrap().rlim_cur;
    assert_eq!(output_of(shell("ulimit -Sn")).trim(), expected.to_string());
}

#[test]
fn streams_are_as_told() {
    let (read, write) = pipe2(OFlag::O_CLOEXEC).unwrap();
    let mut command = shell("read line; echo got $line");
    command.streams[0] = Some(read);
    nix::unistd::write(&write, b"this\n").unwrap();
    drop(write);
    assert_eq!(output_of(command), "got this\n");
}
