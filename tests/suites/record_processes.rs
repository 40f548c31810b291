//! Processes and threads that come, go and become others: fork with and without exec, exec beside the leader, attach.

use std::process::{Child, Command, Stdio};

use microscope_tests::check::{check, check_answer, check_whole_stacks};
use microscope_tests::microscope::BUDGET_MS;
use microscope_tests::{Built, Record};

use crate::programs::program;

#[test]
fn fork_without_exec_keeps_the_mappings_of_its_parent() {
    check(&program("fork.c", "-O2")).unwrap();
}

#[test]
fn fork_then_exec_twice_is_followed() {
    check(&program("exec_chain.c", "-O2")).unwrap();
}

#[test]
fn exec_of_a_thread_that_is_not_the_leader_is_followed() {
    check(&program("thread_exec.c", "-O2")).unwrap();
}

#[test]
fn children_are_left_out_when_asked() {
    let built = program("fork.c", "-O2").build().unwrap();
    let recording = Record::default().options("--no-children").run(&built).unwrap();
    assert_eq!(recording.processes().unwrap(), 1);
    let folded = recording.user_stacks().unwrap();
    assert_eq!(folded.total_percent("in_child"), 0.0);
    assert!(folded.total_percent("in_parent") > 95.0, "{}", recording.said.text());
}

#[test]
fn a_running_process_is_recorded_to_its_end() {
    let built = program("shares.c", "-O2").build().unwrap();
    // Longer than a launched one: what it consumes before the recorder has attached is not sampled.
    let mut target = Running::start(&built, BUDGET_MS + 1000);
    let recording = Record::default().attach(&[target.pid()]).unwrap();
    assert!(target.end());
    check_answer(&built.source, &recording).unwrap();
    check_whole_stacks(&recording).unwrap();
}

#[test]
fn all_threads_of_a_running_process_are_recorded() {
    let built = program("threads.c", "-O2").build().unwrap();
    let mut target = Running::start(&built, BUDGET_MS + 1000);
    let recording = Record::default().attach(&[target.pid()]).unwrap();
    assert!(target.end());
    let folded = recording.user_stacks().unwrap();
    assert!(folded.total_percent("work") > 97.0);
    for name in ["alpha", "beta", "gamma"] {
        let rows = microscope_tests::report::Rows::of(&recording, "threads").unwrap();
        let percent = rows.percent("/cost/weight", |row| row["name"] == name).unwrap();
        assert!(percent > 1.0, "{name} has {percent} %");
    }
}

#[test]
fn several_running_processes_are_recorded_together() {
    let built = program("lines.c", "-O2").build().unwrap();
    let mut targets = [Running::start(&built, 1500), Running::start(&built, 1500)];
    let pids: Vec<_> = targets.iter().map(Running::pid).collect();
    let recording = Record::default().attach(&pids).unwrap();
    assert!(targets.iter_mut().all(Running::end));
    assert_eq!(recording.processes().unwrap(), 2);
    check_whole_stacks(&recording).unwrap();
}

/// A program that runs without a recorder.
struct Running(Child);

impl Running {
    fn start(built: &Built, budget_ms: u32) -> Self {
        let mut command = Command::new(&built.executable);
        Self(command.arg(budget_ms.to_string()).stdin(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits for its end; whether it ended well.
    fn end(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A failed test must not leave its target behind.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
