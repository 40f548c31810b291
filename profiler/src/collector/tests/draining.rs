//! Claims about draining rings, and about processors that are slow.

use std::time::{Duration, Instant};

use std::sync::mpsc::{Receiver, sync_channel};

use super::*;
use crate::collector::{
    Batch, CollectorHandle, CollectorReport, CommandError, Delivery, EndCause, RingId, RingKind,
};
use crate::sys::process::{CpuTimes, ProcessTimes};

const RECORD_BYTES: usize = 16 << 10;

/// A record of any kind: only its length matters to the collector.
fn record(fill: u8) -> Vec<u8> {
    vec![fill; RECORD_BYTES]
}

fn on_first_cpu(wanted: EventRole) -> impl Fn(&Opened) -> bool {
    move |opened| opened.cpu == 0 && role(opened) == wanted
}

fn start(script: &Script, queue: usize) -> (CollectorHandle, Receiver<Delivery>) {
    let (sender, receiver) = sync_channel(queue);
    (attach_to(script).unwrap().start(sender).unwrap(), receiver)
}

/// Everything up to the end, in order: bytes by ring, and the report.
fn drain(receiver: &Receiver<Delivery>) -> (Vec<Batch>, CollectorReport) {
    let mut batches = Vec::new();
    for delivery in receiver {
        match delivery {
            Delivery::Batch(batch) => batches.push(batch),
            Delivery::Finished(report) => return (batches, *report),
            Delivery::Events(_) | Delivery::Round { .. } => {}
        }
    }
    panic!("the collector ended without a report");
}

fn bytes_of(batch: &Batch) -> Vec<u8> {
    let bytes = batch.read();
    let (first, second) = bytes.parts();
    [first, second].concat()
}

/// Waits for something that another thread does soon.
fn until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn bytes_arrive_whole_and_by_ring() {
    let script = Script::permissive();
    let (collector, receiver) = start(&script, 64);
    assert!(script.write(on_first_cpu(EventRole::Sampler), &record(1)));
    assert!(script.write(on_first_cpu(EventRole::SideBand), &record(2)));
    collector.control().stop().unwrap();
    let (batches, report) = drain(&receiver);
    assert!(collector.join());
    let of = |kind| batches.iter().find(|batch| batch.ring() == RingId { cpu: 0, kind }).map(bytes_of);
    assert_eq!(of(RingKind::Samples), Some(record(1)));
    assert_eq!(of(RingKind::SideBand), Some(record(2)));
    assert_eq!(report.cause, EndCause::Stopped);
    assert_eq!(report.rings.iter().map(|ring| ring.bytes).sum::<u64>(), 2 * RECORD_BYTES as u64);
}

#[test]
fn a_round_is_told_after_bytes_and_again_so_that_their_time_completes() {
    let script = Script::permissive();
    let (collector, receiver) = start(&script, 64);
    assert!(script.write(on_first_cpu(EventRole::Sampler), &record(1)));
    let mut rounds_after = 0;
    while rounds_after < 2 {
        match receiver.recv_timeout(Duration::from_secs(20)).unwrap() {
            Delivery::Batch(_) => rounds_after = 0,
            Delivery::Round { .. } => rounds_after += 1,
            other => panic!("{other:?}"),
        }
    }
    collector.control().stop().unwrap();
    drain(&receiver);
}

#[test]
fn a_processor_that_holds_batches_costs_copies_but_no_records() {
    let script = Script::permissive();
    let (collector, receiver) = start(&script, 4096);
    let ring_bytes = 4 << 20;
    let mut held = Vec::new();
    for number in 0..(4 * ring_bytes / RECORD_BYTES) {
        until(|| script.write(on_first_cpu(EventRole::Sampler), &record(number as u8)));
        held.extend(receiver.try_iter());
    }
    collector.control().stop().unwrap();
    let (rest, report) = drain(&receiver);
    assert!(report.copied_bytes > 0);
    let held = held.into_iter().filter_map(|delivery| match delivery {
        Delivery::Batch(batch) => Some(batch),
        _ => None,
    });
    let all: Vec<u8> = held.chain(rest).flat_map(|batch| bytes_of(&batch)).collect();
    let expected: Vec<u8> =
        (0..(4 * ring_bytes / RECORD_BYTES)).flat_map(|number| record(number as u8)).collect();
    assert!(all == expected);
}

#[test]
fn a_processor_that_stands_still_loses_counted_samples_and_no_side_band() {
    let script = Script::permissive();
    let (collector, receiver) = start(&script, 1);
    // More than the ring and all copies take.
    let mut written = 0;
    let mut lost = 0;
    let start = Instant::now();
    while lost < 100 && start.elapsed() < Duration::from_secs(20) {
        if script.write(on_first_cpu(EventRole::Sampler), &record(1)) {
            written += 1;
        } else {
            lost += 1;
            assert!(script.write(on_first_cpu(EventRole::SideBand), &[7; 64]));
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let stopper = collector.control();
    let stop = std::thread::spawn(move || stopper.stop());
    let (batches, report) = drain(&receiver);
    stop.join().unwrap().unwrap();
    let bytes =
        |kind| -> usize { batches.iter().filter(|batch| batch.ring().kind == kind).map(Batch::len).sum() };
    assert!(lost >= 100);
    assert_eq!(bytes(RingKind::Samples), written * RECORD_BYTES);
    assert_eq!(bytes(RingKind::SideBand), lost * 64);
    let counted: u64 = report.rings.iter().filter_map(|ring| ring.lost_records).sum();
    assert_eq!(counted, lost as u64);
}

#[test]
fn a_receiver_that_leaves_ends_the_collector() {
    let script = Script::permissive();
    let (collector, receiver) = start(&script, 4);
    let control = collector.control();
    drop(receiver);
    assert!(script.write(on_first_cpu(EventRole::Sampler), &record(1)));
    assert!(collector.join());
    assert_eq!(control.stop(), Err(CommandError::Ended));
}

#[test]
fn sampling_begins_with_the_start_and_follows_commands() {
    let script = Script::permissive();
    let armed = attach_to(&script).unwrap();
    let counting = || {
        script.opened(|opened| {
            opened.iter().filter(|opened| opened.counts && opened.attributes.rate_hz != 0).count()
        })
    };
    assert_eq!(counting(), 0);
    let (sender, receiver) = sync_channel(64);
    let collector = armed.start(sender).unwrap();
    assert_eq!(counting(), 2);
    collector.control().disable().unwrap();
    assert_eq!(counting(), 0);
    collector.control().enable().unwrap();
    assert_eq!(counting(), 2);
    collector.control().stop().unwrap();
    drain(&receiver);
    assert!(collector.join());
    assert_eq!(counting(), 0);
}

#[test]
fn layouts_of_later_events_come_before_anything_they_write() {
    let script = Script::permissive();
    let (collector, receiver) = start(&script, 64);
    assert_eq!(collector.control().attach(&[std::process::id()]).unwrap(), 1);
    let events = receiver.iter().find_map(|delivery| match delivery {
        Delivery::Events(layouts) => Some(layouts),
        _ => None,
    });
    assert_eq!(events.unwrap().len(), 4);
    collector.control().stop().unwrap();
    let (_, report) = drain(&receiver);
    assert_eq!(report.targets.len(), 2);
}

#[test]
fn a_command_that_cannot_be_done_is_answered_and_the_recording_goes_on() {
    let script = Script::permissive();
    let (collector, receiver) = start(&script, 64);
    let gone = i32::MAX as u32;
    let refused = collector.control().attach(&[gone]);
    assert_eq!(refused, Err(CommandError::Refused(StartError::TargetGone { pid: gone })));
    collector.control().stop().unwrap();
    assert_eq!(drain(&receiver).1.cause, EndCause::Stopped);
}

#[test]
fn times_before_and_during_the_recording_are_kept_apart() {
    let times = |user_ms: u64| {
        let own = CpuTimes { user_ns: user_ms * 1_000_000, system_ns: 1_000_000 };
        ProcessTimes { own, children: CpuTimes::default() }
    };
    let script = Script::permissive();
    script.set_times(times(500));
    let (collector, receiver) = start(&script, 64);
    script.set_times(times(1700));
    collector.control().stop().unwrap();
    let target = drain(&receiver).1.targets[0];
    assert_eq!(target.before, times(500).own);
    assert_eq!(target.used, CpuTimes { user_ns: 1_200_000_000, system_ns: 0 });
    assert!(!target.exited);
}

#[test]
fn without_lost_counts_none_are_claimed() {
    let script = Script::permissive()
        .refusing(|attributes, _| attributes.count_lost.then_some(nix::errno::Errno::EINVAL));
    let (collector, receiver) = start(&script, 64);
    collector.control().stop().unwrap();
    assert!(drain(&receiver).1.rings.iter().all(|ring| ring.lost_records.is_none()));
}
