//! Claims about arming: launch, attach, threads that come and go meanwhile.

use std::collections::BTreeMap;

use nix::errno::Errno;

use super::*;
use crate::collector::forks::tests::fork_record;
use crate::sys::perf::{Start, Subject};

/// How many events of each kind were opened on a thread.
fn events_of(armed: &Armed, tid: u32) -> BTreeMap<(u32, bool), usize> {
    let mut counts = BTreeMap::new();
    for layout in armed.layouts.iter().filter(|layout| layout.opened_on == Some(tid)) {
        *counts.entry((layout.cpu, layout.role == EventRole::Sampler)).or_default() += 1;
    }
    counts
}

fn one_of_each() -> BTreeMap<(u32, bool), usize> {
    [(0, false), (0, true), (1, false), (1, true)].map(|key| (key, 1)).into()
}

#[test]
fn each_thread_gets_a_side_band_and_a_sampler_on_each_processor() {
    let script = Script::permissive().with_threads([vec![10, 11]]);
    let armed = attach_to(&script).unwrap();
    assert_eq!(events_of(&armed, 10), one_of_each());
    assert_eq!(events_of(&armed, 11), one_of_each());
}

#[test]
fn the_side_band_of_a_thread_is_open_before_its_sampler_which_waits() {
    let script = Script::permissive().with_threads([vec![10]]);
    attach_to(&script).unwrap();
    script.opened(|opened| {
        let of_thread: Vec<_> =
            opened.iter().filter(|opened| opened.subject == Subject::Thread(10)).collect();
        assert_eq!(
            of_thread.iter().map(|opened| role(opened)).collect::<Vec<_>>(),
            [EventRole::SideBand, EventRole::SideBand, EventRole::Sampler, EventRole::Sampler]
        );
        assert!(of_thread.iter().all(|opened| opened.counts == opened.attributes.side_band));
        assert!(of_thread[2..].iter().all(|opened| opened.attributes.start == Start::Disabled));
    });
}

#[test]
fn threads_that_appear_meanwhile_are_armed_until_none_is_left() {
    let lists = [vec![10], vec![10], vec![10, 11], vec![10, 11, 12], vec![11, 12]];
    let script = Script::permissive().with_threads(lists);
    let armed = attach_to(&script).unwrap();
    for tid in [10, 11, 12] {
        assert_eq!(events_of(&armed, tid), one_of_each(), "{tid}");
    }
}

#[test]
fn a_thread_born_with_its_parents_events_is_not_armed_again() {
    let script = Script::permissive().with_threads([vec![10]]);
    let mut armed = attach_to(&script).unwrap();
    // Born long after thread 10 was armed.
    assert!(script.write(|opened| opened.attributes.side_band, &fork_record(10, 20, 10, u64::MAX / 2)));
    // Born of a thread that was not armed.
    assert!(script.write(|opened| opened.attributes.side_band, &fork_record(10, 30, 29, u64::MAX / 2)));
    let script = script.with_threads([vec![10, 20, 30]]);
    armed.arm(|arming| arming.process(std::process::id(), &[10]).map(drop)).unwrap();
    assert_eq!(events_of(&armed, 20), BTreeMap::new());
    assert_eq!(events_of(&armed, 30), one_of_each());
    drop(script);
}

#[test]
fn a_thread_born_while_its_parent_was_being_armed_is_armed_itself() {
    let script = Script::permissive().with_threads([vec![10]]);
    let mut armed = attach_to(&script).unwrap();
    let script = script.with_threads([vec![11], vec![11, 12]]);
    // In the past of everything that is armed from now on.
    assert!(script.write(|opened| opened.attributes.side_band, &fork_record(10, 12, 11, 1)));
    armed.arm(|arming| arming.process(std::process::id(), &[]).map(drop)).unwrap();
    assert_eq!(events_of(&armed, 12), one_of_each());
}

#[test]
fn a_thread_that_ends_meanwhile_is_no_failure() {
    let script = Script::permissive()
        .with_threads([vec![10, 11]])
        .refusing(|_, subject| (subject == Subject::Thread(11)).then_some(Errno::ESRCH));
    let armed = attach_to(&script).unwrap();
    assert_eq!(events_of(&armed, 10), one_of_each());
}

#[test]
fn a_process_whose_threads_all_end_meanwhile_is_gone() {
    let script = Script::permissive()
        .with_threads([vec![10]])
        .refusing(|_, subject| (subject == Subject::Thread(10)).then_some(Errno::ESRCH));
    assert_eq!(attach_to(&script).unwrap_err(), StartError::TargetGone { pid: std::process::id() });
}

#[test]
fn a_process_of_somebody_else_is_refused_by_name() {
    let script = Script::unprivileged().with_threads([vec![10]]).refusing(|attributes, subject| {
        (subject == Subject::Thread(10) || attributes.source.is_hardware()).then_some(Errno::EACCES)
    });
    let pid = std::process::id();
    assert_eq!(attach_to(&script).unwrap_err(), StartError::TargetNotPermitted { pid });
}

#[test]
fn descriptors_that_run_out_while_arming_are_told_with_the_number_needed() {
    let script = Script::permissive()
        .with_threads([vec![10, 11]])
        .refusing(|_, subject| (subject == Subject::Thread(11)).then_some(Errno::EMFILE));
    let error = attach_to(&script).unwrap_err();
    assert!(matches!(error, StartError::Descriptors { needed: 14, .. }), "{error:?}");
}
