//! What cannot be had is said: stacks deeper than their copies, kernel time without permission, other users.

use microscope_tests::check::{check_answer, check_whole_stacks};
use microscope_tests::report::{Rows, number};
use microscope_tests::{Record, requirement};

use crate::programs::program;

/// The user `nobody`.
const NOBODY: u32 = 65534;

#[test]
fn stacks_deeper_than_their_copies_end_by_that_reason() {
    let built = program("deep.c", "-O2").build().unwrap();
    let recording = Record::default().options("--stack copy --stack-bytes 16KiB").run(&built).unwrap();
    let ends = Rows::of_ends(&recording).unwrap();
    let cut = ends.percent("/cost/weight", |row| row["reason"] == "stack-bytes").unwrap();
    assert!(cut > 95.0, "{cut} % of the stacks end for lack of bytes: {:?}", ends.rows());
    // What is there is right: the work, and the recursion above it.
    let folded = recording.user_stacks().unwrap();
    assert!(folded.self_percent("spin") > 95.0);
    assert!(folded.percent_of_path(&["descend".into(), "descend".into(), "spin".into()]) > 95.0);
}

#[test]
fn more_copied_bytes_keep_more_of_a_deep_stack() {
    let built = program("deep.c", "-O2").build().unwrap();
    let depth = |bytes: &str| {
        let options = format!("--stack copy --stack-bytes {bytes}");
        let recording = Record::default().budget_ms(500).options(&options).run(&built).unwrap();
        recording.user_stacks().unwrap().median_frames().unwrap()
    };
    let (shallow, deep) = (depth("8KiB"), depth("32KiB"));
    assert!(deep > 3 * shallow, "{shallow} frames of 8 KiB, {deep} of 32 KiB");
}

#[test]
fn frame_pointers_alone_find_the_callers_of_code_that_keeps_them() {
    // Optimized, gcc leaves out the frame of a function that needs none, whatever it is told.
    let built = program("shares.c", "-O0").build().unwrap();
    let recording = Record::default().options("--stack frame-pointers").run(&built).unwrap();
    let folded = recording.user_stacks().unwrap();
    let path = |caller: &str| folded.percent_of_path(&["main".into(), caller.into(), "spin".into()]);
    assert!(path("hot") > 65.0 && path("warm") > 15.0 && path("cold") > 5.0, "{:?}", folded.stacks().next());
}

#[test]
fn without_kernel_frames_kernel_time_counts_to_the_code_that_called() {
    if !requirement::root() {
        return;
    }
    let recording = Record::default()
        .options("--kernel off")
        .run(&program("syscalls.c", "-O2").build().unwrap())
        .unwrap();
    let modules = Rows::of(&recording, "flat --by module").unwrap();
    assert_eq!(modules.percent("/total/weight", |row| row["name"] == "[kernel]").unwrap(), 0.0);
    assert!(recording.folded().unwrap().total_percent("ask_parent") > 90.0);
}

#[test]
fn with_kernel_samples_system_calls_have_their_share() {
    if !requirement::root() {
        return;
    }
    let built = program("syscalls.c", "-O2").build().unwrap();
    let recording = Record::default().run(&built).unwrap();
    check_whole_stacks(&recording).unwrap();
    assert_eq!(recording.report("").unwrap()["quantity"]["source"], "cpu-samples");
    assert!(recording.folded().unwrap().total_percent("ask_parent") > 90.0);
}

#[test]
fn stacks_reach_from_the_kernel_into_the_program() {
    if !requirement::root() {
        return;
    }
    let recording = Record::default().run(&program("syscalls.c", "-O2").build().unwrap()).unwrap();
    let folded = recording.folded().unwrap();
    let path = ["main", "ask_parent", "syscall", "entry_SYSCALL_64_after_hwframe", "do_syscall_64"];
    let through = folded.percent_of_path(&path.map(str::to_owned));
    assert!(through > 20.0, "{through} % of the stacks pass from ask_parent into the kernel");
}

#[test]
fn an_unprivileged_user_records_their_own_program() {
    if !requirement::root() || !requirement::program("setpriv", "util-linux") {
        return;
    }
    let built = program("shares.c", "-O2").build().unwrap();
    let recording = Record::default().as_user(NOBODY).run(&built).unwrap();
    check_answer(&built.source, &recording).unwrap();
    check_whole_stacks(&recording).unwrap();
}

#[test]
fn without_permission_for_the_kernel_every_total_says_user_time_only() {
    if !requirement::root() || !requirement::program("setpriv", "util-linux") {
        return;
    }
    let built = program("syscalls.c", "-O2").build().unwrap();
    let recording = Record::default().as_user(NOBODY).run(&built).unwrap();
    let summary = recording.report("").unwrap();
    assert_eq!(summary["quantity"]["source"], "user-cpu-samples");
    assert_eq!(summary["quantity"]["user_only"], true);
    // The program is mostly in the kernel, and the report says what share it could not see.
    let coverage = number(&summary, "/cpu_time/coverage").unwrap();
    assert!((0.05..0.95).contains(&coverage), "coverage {coverage}");
    assert!(recording.said.text().contains("user time only"), "{}", recording.said.text());
}

#[test]
fn another_users_process_is_refused_with_the_reason() {
    if !requirement::root() || !requirement::program("setpriv", "util-linux") {
        return;
    }
    let refused = Record::default().as_user(NOBODY).attach(&[std::process::id()]).unwrap_err().to_string();
    assert!(refused.contains("as root, or with CAP_PERFMON"), "no remedy: {refused}");
}
