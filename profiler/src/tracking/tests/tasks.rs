//! Who ran, under which name, from when to when.

use super::*;

#[track_caller]
fn check_tasks(records: &str, processes: &str, threads: &str) {
    let mut run = Run::new(OPTIONS);
    run.records(records);
    check(&run.processes(), processes);
    check(&run.threads(), threads);
}

#[test]
fn a_launched_program_begins_with_its_exec() {
    check_tasks(
        "exec 10 prog @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         mmap 10 0x9000..0xa000 /b off=0x1000 id=bb @6
         exit 10 @9",
        "10 prog /a @4..9",
        "10/10 prog @4..9",
    );
}

#[test]
fn threads_take_the_name_of_the_one_that_began_them() {
    check_tasks(
        "exec 10 prog @4
         thread 10 11 @5
         name 10/11 worker @6
         name 10/10 main @7
         exit 10/11 @8",
        "10 main  @4..",
        "10/10 main @4..
         10/11 worker @5..8",
    );
}

#[test]
fn a_process_lasts_until_its_last_thread_ends() {
    check_tasks(
        "exec 10 prog @4
         thread 10 11 @5
         exit 10/10 @6
         exit 10/11 @8",
        "10 prog  @4..8",
        "10/10 prog @4..6
         10/11 prog @5..8",
    );
}

#[test]
fn a_fork_without_exec_keeps_name_and_executable() {
    check_tasks(
        "exec 10 prog @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         fork 10 20 @6
         exit 20 @7",
        "10 prog /a @4..
         20 prog /a @6..7 of 10",
        "10/10 prog @4..
         20/20 prog @6..7",
    );
}

#[test]
fn a_fork_with_exec_is_two_images() {
    check_tasks(
        "exec 10 sh @4
         fork 10 20 @6
         exec 20 ls @7
         mmap 20 0x7000..0x8000 /a off=0x1000 id=aa @8
         exit 20 @9",
        "10 sh  @4..
         20 sh  @6..7 of 10
         20 ls /a @7..9 of 10 after sh",
        "10/10 sh @4..
         20/20 sh @6..7
         20/20 ls @7..9",
    );
}

#[test]
fn exec_from_another_thread_takes_over_the_process_number() {
    // The kernel ends the first thread, and the one that called exec becomes it without a record.
    check_tasks(
        "exec 10 sh @4
         thread 10 11 @5
         thread 10 12 @5
         exit 10/11 @6
         exit 10/10 @6
         exec 10 ls @7
         exit 10 @9",
        "10 sh  @4..7
         10 ls  @7..9 after sh",
        "10/10 sh @4..6
         10/11 sh @5..6
         10/12 sh @5..7
         10/10 ls @7..9",
    );
}

#[test]
fn exec_ends_the_mappings_before_it() {
    check_mappings(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         exec 10 b @6
         mmap 10 0x7000..0x8000 /b off=0x1000 id=bb @7",
        "10 0x7000..0x8000 /a+0x11000 @5..6
         10 0x7000..0x8000 /b+0x11000 @7..",
    );
}

#[test]
fn questions_about_before_an_exec_go_to_the_image_before() {
    let mut run = Run::new(OPTIONS);
    run.records(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         exec 10 b @7
         mmap 10 0x7000..0x8000 /b off=0x1000 id=bb @8",
    );
    assert_eq!(run.find(10, 0x7000, 6), "/a+0x11000");
    assert_eq!(run.find(10, 0x7000, 7), "nothing");
    assert_eq!(run.find(10, 0x7000, 8), "/b+0x11000");
}

#[test]
fn a_pid_used_again_is_another_process() {
    check_tasks(
        "exec 10 a @4
         fork 10 20 @5
         exit 20 @6
         fork 10 20 @7",
        "10 a  @4..
         20 a  @5..6 of 10
         20 a  @7.. of 10",
        "10/10 a @4..
         20/20 a @5..6
         20/20 a @7..",
    );
}

#[test]
fn a_pid_used_again_ends_the_process_whose_exit_was_lost() {
    check_tasks(
        "exec 10 a @4
         fork 10 20 @5
         fork 10 20 @7",
        "10 a  @4..
         20 a  @5..7 of 10
         20 a  @7.. of 10",
        "10/10 a @4..
         20/20 a @5..7
         20/20 a @7..",
    );
}

#[test]
fn a_thread_number_moves_to_another_process_when_its_exit_was_lost() {
    check_tasks(
        "exec 10 a @4
         thread 10 30 @5
         exec 11 b @6
         thread 11 30 @7",
        "10 a  @4..
         11 b  @6..",
        "10/10 a @4..
         10/30 a @5..7
         11/11 b @6..
         11/30 b @7..",
    );
}

#[test]
fn a_thread_without_a_record_begins_when_it_is_first_seen() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4");
    run.resolve(10, 13, 6).unwrap();
    assert_eq!(run.resolve(10, 13, 7), run.resolve(10, 13, 6));
    check(&run.threads(), "10/10 a @4..\n10/13 a @6..");
    assert_eq!(run.tracker.counts().threads_first_seen, 1);
}

#[test]
fn a_task_is_still_known_on_its_way_out() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nexit 10 @6");
    let thread = run.resolve(10, 10, 5);
    assert!(thread.is_some());
    assert_eq!(run.resolve(10, 10, 7), thread);
}

#[test]
fn idle_and_vanished_tasks_are_nobodys() {
    let mut run = Run::new(OPTIONS);
    assert_eq!(run.resolve(0, 0, 5), None);
    assert_eq!(run.tracker.counts().unknown_threads, 0);
    assert_eq!(run.resolve(u32::MAX, u32::MAX, 5), None);
    assert_eq!(run.tracker.counts().unknown_threads, 1);
}

#[test]
fn an_exit_ends_a_process_that_was_only_known_by_its_mappings() {
    let mut run = Run::new(OPTIONS);
    run.records("mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5\nexit 10 @6");
    check(&run.processes(), "10   @5..6");
}

#[test]
fn only_targets_and_what_they_start_belong_to_the_recording() {
    let mut run = Run::new(TrackerOptions { scope: Scope::Targets, ..OPTIONS });
    run.tracker.launch(10);
    run.records(
        "exec 99 other @3
         mmap 99 0x7000..0x8000 /b off=0x1000 id=bb @3
         exec 10 a @4
         fork 10 20 @5
         fork 99 98 @6
         exec 20 b @7",
    );
    assert_eq!(run.resolve(99, 99, 8), None);
    check(&run.processes(), "10 a  @4..\n20 a  @5..7 of 10\n20 b  @7.. of 10 after a");
    assert_eq!(run.tracker.counts().unknown_threads, 0, "others are not missed");
}

#[test]
fn children_stay_out_when_they_are_not_wanted() {
    let mut run = Run::new(TrackerOptions { scope: Scope::Targets, children: false, ..OPTIONS });
    run.tracker.launch(10);
    run.records("exec 10 a @4\nthread 10 11 @5\nfork 10 20 @6\nexec 20 b @7");
    check(&run.processes(), "10 a  @4..");
    check(&run.threads(), "10/10 a @4..\n10/11 a @5..");
}

#[test]
fn what_ended_is_forgotten_when_nobody_can_ask_any_more() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nexec 11 b @4\nexit 10 @6");
    let thread = run.resolve(10, 10, 5).unwrap().thread;
    run.records(&format!("name 11 c @{}", RETAINED_NS * 2));
    assert_eq!(run.resolve(10, 10, 5), None);
    assert_eq!(run.tracker.take_forgotten(), [thread]);
    assert_eq!((run.tracker.images.len(), run.tracker.of_tid.len()), (1, 1));
}

#[test]
fn processes_beyond_the_bound_are_counted() {
    let mut run = Run::new(OPTIONS);
    for pid in 1000..1150 {
        run.records(&format!("exec {pid} a @4"));
    }
    assert_eq!((run.rows.tables.processes.len(), run.tracker.counts().processes_refused), (100, 50));
}

#[test]
fn names_are_cut_and_made_text() {
    let mut run = Run::new(OPTIONS);
    run.records(&format!("exec 10 {} @4", "x".repeat(100)));
    assert_eq!(run.processes(), format!("10 {}  @4..\n", "x".repeat(64)));
}
