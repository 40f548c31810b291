//! Claims about what is chosen, and why.

use nix::errno::Errno;

use super::*;
use crate::collector::{KernelCoverage, PeriodUnit, PlanNote, Topology};
use crate::options::{EventChoice, KernelChoice, StackPolicy};
use crate::sys::perf::{EventSource, Inherit, Subject};

/// What an armed sampler was asked for.
fn sampler(script: &Script) -> crate::sys::perf::EventAttributes {
    script.opened(|opened| opened.iter().rfind(|opened| opened.attributes.rate_hz != 0).unwrap().attributes)
}

#[test]
fn cycles_are_sampled_where_the_processor_counts_them() {
    let script = Script::permissive();
    let plan = attach_to(&script).unwrap().plan;
    assert_eq!((plan.event.event, plan.event.unit), (EventChoice::Cycles, PeriodUnit::Cycles));
    assert_eq!((plan.event.period_ns, plan.kernel), (None, KernelCoverage::Stacks));
    assert_eq!(plan.notes, []);
    assert!(sampler(&script).fields.callchain);
}

#[test]
fn a_user_without_rights_gets_the_clock_and_user_time_with_both_reasons() {
    let script = Script::unprivileged();
    let plan = attach_to(&script).unwrap().plan;
    assert_eq!((plan.event.event, plan.event.period_ns), (EventChoice::CpuClock, Some(1_001_001)));
    assert_eq!((plan.kernel, plan.topology), (KernelCoverage::Excluded, Topology::PerThread));
    let reasons =
        [PlanNote::NoCycles { errno: Errno::ENOENT }, PlanNote::KernelRefused { paranoid: Some(2) }];
    assert_eq!(plan.notes, reasons);
    assert!(sampler(&script).exclude_kernel && !sampler(&script).fields.callchain);
}

#[test]
fn the_kernel_is_not_left_out_silently_when_it_was_asked_for() {
    let request = RecordRequest { kernel: Some(KernelChoice::On), ..RecordRequest::default() };
    let error = attach_with(&Script::unprivileged(), &request).unwrap_err();
    assert_eq!(error, StartError::KernelNotPermitted { paranoid: Some(2) });
    assert!(error.remedy().unwrap().contains("perf_event_paranoid=1"));
}

#[test]
fn without_the_kernels_stacks_its_samples_are_kept_where_permitted() {
    let script = Script::permissive();
    let request = RecordRequest { kernel: Some(KernelChoice::Off), ..RecordRequest::default() };
    assert_eq!(attach_with(&script, &request).unwrap().plan.kernel, KernelCoverage::Counted);
    let sampler = sampler(&script);
    assert!(!sampler.exclude_kernel && sampler.exclude_kernel_chain && !sampler.fields.callchain);
}

#[test]
fn an_event_that_was_named_is_not_replaced() {
    let request = RecordRequest { event: Some(EventChoice::Instructions), ..RecordRequest::default() };
    let error = attach_with(&Script::unprivileged(), &request).unwrap_err();
    assert_eq!(
        error,
        StartError::EventUnavailable { event: EventChoice::Instructions, errno: Errno::ENOENT }
    );
    assert!(error.remedy().unwrap().contains("cpu-clock"));
}

#[test]
fn each_refusal_of_everything_has_its_own_name_and_remedy() {
    for (errno, paranoid, expected, remedy) in [
        (
            Errno::EACCES,
            Some(4),
            StartError::NotPermitted { paranoid: Some(4) },
            "sysctl kernel.perf_event_paranoid=2",
        ),
        (Errno::EACCES, Some(2), StartError::NotPermitted { paranoid: Some(2) }, "CAP_PERFMON"),
        (Errno::EPERM, Some(2), StartError::Blocked, "seccomp"),
        (Errno::ENOSYS, None, StartError::NoPerfEvents, "perf_event_open"),
    ] {
        let script = Script::permissive()
            .refusing(move |_, _| Some(errno))
            .on_machine(|machine| machine.paranoid = paranoid);
        let error = attach_to(&script).unwrap_err();
        assert_eq!(error, expected);
        assert!(error.remedy().unwrap().contains(remedy), "{error}: {:?}", error.remedy());
    }
}

#[test]
fn an_old_kernel_records_without_what_it_does_not_know_and_says_so() {
    let script = Script::permissive().refusing(|attributes, _| {
        let unknown = attributes.count_lost || attributes.build_ids || attributes.inherit == Inherit::Threads;
        unknown.then_some(Errno::EINVAL)
    });
    let request = RecordRequest { without_children: true, ..RecordRequest::default() };
    let plan = attach_with(&script, &request).unwrap().plan;
    assert_eq!(plan.notes, [PlanNote::NoLostCounts, PlanNote::NoBuildIds, PlanNote::ChildrenNotExcluded]);
}

#[test]
fn without_children_events_go_to_threads_only() {
    let script = Script::permissive();
    let request = RecordRequest { without_children: true, ..RecordRequest::default() };
    attach_with(&script, &request).unwrap();
    assert_eq!(sampler(&script).inherit, Inherit::Threads);
}

#[test]
fn a_rate_over_the_kernels_limit_is_lowered_and_said() {
    let script = Script::permissive().on_machine(|machine| machine.rate_limit_hz = Some(500));
    let plan = attach_to(&script).unwrap().plan;
    assert_eq!(plan.rate_hz, 500);
    assert_eq!(plan.notes, [PlanNote::RateLimited { wanted_hz: 999, limit_hz: 500 }]);
}

#[test]
fn too_few_descriptors_for_threads_lead_to_one_event_per_processor_where_permitted() {
    let threads = (1..=400).collect::<Vec<_>>();
    let script = Script::permissive().with_threads([threads]);
    let armed = attach_to(&script).unwrap();
    assert_eq!(armed.plan.topology, Topology::SystemWide);
    assert_eq!(armed.plan.notes, [PlanNote::SystemWide { needed: 1668, limit: 1014 }]);
    assert_eq!(armed.layouts.len(), 4);
    assert!(armed.layouts.iter().all(|layout| layout.opened_on.is_none()));
    assert_eq!(sampler(&script).inherit, Inherit::Nothing);
}

#[test]
fn too_few_descriptors_without_that_permission_are_refused_with_the_number_needed() {
    let script = Script::unprivileged().with_threads([(1..=400).collect::<Vec<_>>()]);
    let error = attach_to(&script).unwrap_err();
    assert_eq!(error, StartError::Descriptors { threads: 400, needed: 1668, left: 1014 });
    assert!(error.remedy().unwrap().contains("ulimit -n"));
}

#[test]
fn rings_that_the_kernel_refuses_are_made_smaller_until_they_fit_and_the_plan_says_so() {
    let script = Script::unprivileged().locking_at_most(2_000_000);
    let plan = attach_to(&script).unwrap().plan;
    let locked = 2 * (plan.rings.sample_bytes + plan.rings.side_band_bytes + 8192);
    assert!(locked <= 2_000_000, "{locked}");
    assert!(
        matches!(plan.notes[..], [_, _, PlanNote::StackBytesReduced { wanted: 16_384, .. }]),
        "{:?}",
        plan.notes
    );
    assert_eq!(sampler(&script).fields.stack_bytes, plan.stack_bytes);
}

#[test]
fn no_memory_for_rings_at_all_is_refused_with_the_number_needed() {
    let script = Script::unprivileged().locking_at_most(50_000);
    let error = attach_to(&script).unwrap_err();
    assert!(matches!(error, StartError::LockedMemory { needed_bytes: 114_688, .. }), "{error:?}");
}

#[test]
fn owners_of_rings_are_nobodys_targets() {
    let script = Script::permissive();
    attach_to(&script).unwrap();
    let everyone =
        |opened: &&Opened| opened.subject == Subject::Everyone && opened.attributes.watermark_bytes > 0;
    assert_eq!(script.opened(|opened| opened.iter().filter(everyone).count()), 4);

    let script = Script::unprivileged();
    attach_to(&script).unwrap();
    let own = Subject::Thread(std::process::id());
    let owners = |opened: &&Opened| opened.subject == own && opened.attributes.watermark_bytes > 0;
    assert_eq!(script.opened(|opened| opened.iter().filter(owners).count()), 4);
}

#[test]
fn stacks_are_not_copied_for_frame_pointers_alone() {
    let script = Script::unprivileged();
    let request = RecordRequest { stack: Some(StackPolicy::FramePointers), ..RecordRequest::default() };
    assert_eq!(attach_with(&script, &request).unwrap().plan.stack_bytes, 0);
    let sampler = sampler(&script);
    assert!(sampler.fields.callchain && !sampler.exclude_user_chain && sampler.exclude_kernel_chain);
    assert_eq!(sampler.source, EventSource::CpuClock);
}
