//! Claims about the order of records over rings, batches and rounds.
#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::collector::{Batch, RingKind};
use crate::records::ProblemKind;
use crate::records::text::{OUTPUT, SAMPLER, SIDE_BAND, bytes_of, time_of};
use crate::sys::page_bytes;
use crate::sys::ring::{self, RingMemory};

/// A ring of samples.
const fn samples(cpu: u32) -> RingId {
    RingId { cpu, kind: RingKind::Samples }
}

/// A ring of mappings, names and tasks.
const fn side_band(cpu: u32) -> RingId {
    RingId { cpu, kind: RingKind::SideBand }
}

fn order() -> Order {
    let mut order = Order::new();
    order.add_layouts([SAMPLER, SIDE_BAND, OUTPUT]).unwrap();
    order
}

fn batch(ring: RingId, position: u64, text: &str) -> Batch {
    Batch::owned(ring, position, bytes_of(text))
}

/// What a visit saw: time, whether late, whether something was attached.
fn seen(unit: &Unit<'_>) -> (u64, bool, bool) {
    (unit.record.stamp.time_ns, unit.is_late, unit.attached.is_some())
}

fn release(order: &mut Order, complete_to_ns: u64) -> Vec<(u64, bool, bool)> {
    let mut all = Vec::new();
    order.release(complete_to_ns, |unit| all.push(seen(&unit)));
    all
}

fn times(visited: &[(u64, bool, bool)]) -> Vec<u64> {
    visited.iter().map(|(time_ns, ..)| *time_ns).collect()
}

#[test]
fn rings_are_merged_by_time() {
    let mut order = order();
    order.push(batch(samples(0), 0, "sample 10 0x1 @1\nsample 10 0x1 @4"));
    order.push(batch(samples(1), 0, "sample 11 0x1 @2\nsample 11 0x1 @3"));
    assert_eq!(times(&release(&mut order, 10)), [1, 2, 3, 4]);
    assert_eq!(order.batches_held(), 0);
}

#[test]
fn what_is_newer_than_the_round_waits_and_holds_its_batch() {
    let mut order = order();
    order.push(batch(samples(0), 0, "sample 10 0x1 @1\nsample 10 0x1 @4"));
    assert_eq!(times(&release(&mut order, 3)), [1]);
    assert_eq!(order.batches_held(), 1);
    assert_eq!(times(&release(&mut order, 4)), [4]);
    assert_eq!(order.batches_held(), 0);
}

#[test]
fn mappings_come_before_samples_of_the_same_time() {
    let mut order = order();
    order.push(batch(samples(0), 0, "sample 10 0x1 @5"));
    order.push(batch(side_band(1), 0, "mmap 10 0x1000..0x2000 /a @5"));
    let mut kinds = Vec::new();
    order.release(5, |unit| kinds.push(unit.ring.kind));
    assert_eq!(kinds, [RingKind::SideBand, RingKind::Samples]);
}

#[test]
fn a_sample_moves_with_the_output_before_it() {
    let mut order = order();
    // The output is stamped later than its sample, and later than the round.
    order.push(batch(samples(0), 0, "output 10 @9\nsample 10 0x1 @5\nsample 10 0x1 @6"));
    assert_eq!(release(&mut order, 6), [(5, false, true), (6, false, false)]);
    assert_eq!(order.batches_held(), 0);
}

#[test]
fn a_pair_of_one_lent_batch_is_read_without_holding_it_twice() {
    let mut ring = ring::Ring::new(RingMemory::scripted(page_bytes()).unwrap());
    ring.memory().write(&bytes_of("output 10 @5\nsample 10 0x1 @5")).unwrap();
    let mut order = order();
    order.push(Batch::lent(samples(0), ring.take().unwrap()));
    assert_eq!(release(&mut order, 9), [(5, false, true)]);
}

#[test]
fn an_output_that_cannot_be_decoded_is_counted_and_its_sample_stays() {
    let mut bytes = bytes_of("output 10 @5\nsample 10 0x1 @5");
    // The length of what was attached, behind header, identifier, thread, time and processor.
    bytes[40..44].fill(0xff);
    let mut order = order();
    order.push(Batch::owned(samples(0), 0, bytes));
    assert_eq!(release(&mut order, 9), [(5, false, false)]);
    assert_eq!(order.problems().count(), 1);
}

#[test]
fn an_output_finds_its_sample_in_the_next_batch() {
    let mut order = order();
    order.push(batch(samples(0), 0, "output 10 @6"));
    assert_eq!(release(&mut order, 6), []);
    order.push(batch(samples(0), 40, "sample 10 0x1 @7"));
    assert_eq!(release(&mut order, 7), [(7, false, true)]);
    assert_eq!(order.batches_held(), 0);
}

#[test]
fn an_output_of_another_thread_stays_alone() {
    let mut order = order();
    order.push(batch(samples(0), 0, "output 10 @4\nsample 11 0x1 @5\noutput 10 @6\noutput 10 @7"));
    assert_eq!(release(&mut order, 9), [(4, false, false), (5, false, false), (6, false, false)]);
    let mut rest = Vec::new();
    order.finish(|unit| rest.push(seen(&unit)));
    assert_eq!(times(&rest), [7]);
}

#[test]
fn late_records_are_counted_located_and_visited() {
    let mut order = order();
    order.push(batch(samples(0), 0, "sample 10 0x1 @8"));
    assert_eq!(times(&release(&mut order, 10)), [8]);
    order.push(batch(samples(1), 0, "sample 11 0x1 @7\nsample 11 0x1 @9\nsample 11 0x1 @12"));
    assert_eq!(release(&mut order, 20), [(7, true, false), (9, true, false), (12, false, false)]);
    let late = Late { ring: samples(1), count: 2, from_ns: 7, until_ns: 9 };
    assert_eq!(order.late().rings(), [late]);
}

#[test]
fn a_time_that_never_comes_does_not_hold_a_batch() {
    let mut order = order();
    order.push(batch(samples(0), 64, "sample 10 0x1 @999999999"));
    for round in 0..=u64::from(ROUNDS_WAITED_MAX) {
        assert_eq!(release(&mut order, round), []);
    }
    assert_eq!(order.batches_held(), 0);
    let problem = order.problems().examples()[0];
    assert_eq!((problem.kind, problem.position), (ProblemKind::FutureTime { time_ns: 999_999_999 }, 64));
}

#[test]
fn a_bad_record_costs_itself() {
    let mut order = order();
    let (before, after) = (bytes_of("sample 10 0x1 @1"), bytes_of("sample 10 0x1 @2"));
    let mut unknown = bytes_of("exit 10 @1");
    let last = unknown.len() - 8;
    unknown[last..].copy_from_slice(&77_u64.to_ne_bytes());
    order.push(Batch::owned(samples(0), 100, [before.clone(), unknown.clone(), after].concat()));
    assert_eq!(times(&release(&mut order, 9)), [1, 2]);
    let problem = Problem {
        kind: ProblemKind::UnknownEvent { event: 77 },
        ring: samples(0),
        position: 100 + before.len() as u64,
        bytes: unknown.len() as u64,
    };
    assert_eq!(order.problems().examples(), [problem]);
}

#[test]
fn a_broken_size_loses_the_rest_of_its_batch() {
    let mut order = order();
    let mut bytes = bytes_of("sample 10 0x1 @1\nsample 10 0x1 @2\nsample 10 0x1 @3");
    let size = bytes.len() / 3;
    bytes[size + 6..size + 8].copy_from_slice(&3_u16.to_ne_bytes());
    order.push(Batch::owned(samples(0), 0, bytes));
    order.push(batch(samples(0), 0, "sample 10 0x1 @4"));
    assert_eq!(times(&release(&mut order, 9)), [1, 4]);
    assert_eq!((order.problems().count(), order.problems().bytes()), (1, 2 * size as u64));
}

#[test]
fn keys_are_not_allocated_anew() {
    let mut order = order();
    let lines: String = (0..100).map(|time| format!("sample 10 0x1 @{time}\n")).collect();
    order.push(batch(samples(0), 0, &lines));
    release(&mut order, 1000);
    let room = order.keys.capacity();
    for _ in 0..50 {
        order.push(batch(samples(0), 0, &lines));
        release(&mut order, 1000);
    }
    assert_eq!(order.keys.capacity(), room);
    assert_eq!(order.slots.held(), 0);
}

/// Lines of one ring, in ring order, and where the ring is cut into batches.
type Ring = (Vec<String>, Vec<bool>);

fn ring() -> impl Strategy<Value = Ring> {
    let line = (0_u64..60, 0_u32..3, any::<bool>()).prop_map(|(time, tid, output)| {
        let what = if output { "output 10/{} @{}" } else { "sample 10/{} 0x1 @{}" };
        what.replacen("{}", &(10 + tid).to_string(), 1).replacen("{}", &time.to_string(), 1)
    });
    proptest::collection::vec((line, any::<bool>()), 0..24).prop_map(|lines| lines.into_iter().unzip())
}

/// Cuts a ring's lines into batches.
fn batches(ring: RingId, (lines, cuts): &Ring) -> Vec<(RingId, u64, String, u64)> {
    let mut all: Vec<(RingId, u64, String, u64)> = Vec::new();
    let mut position = 0;
    for (index, (line, cut)) in lines.iter().zip(cuts).enumerate() {
        let time = time_of(line);
        if index == 0 || *cut {
            all.push((ring, position, String::new(), u64::MAX));
        }
        let last = all.last_mut().unwrap();
        last.2 += &format!("{line}\n");
        last.3 = last.3.min(time);
        position += bytes_of(line).len() as u64;
    }
    all
}

/// What is visited when batches are pushed in the order of `picks`, with a round after each push that is
/// complete to the time before anything still to come.
fn visit(rings: &[Ring], picks: &[prop::sample::Index], rounds: bool) -> Vec<(u64, u32, u64, bool)> {
    let mut waiting: Vec<_> =
        rings.iter().enumerate().map(|(cpu, ring)| batches(samples(cpu as u32), ring)).collect();
    let mut order = order();
    let mut all = Vec::new();
    for pick in picks {
        waiting.retain(|ring| !ring.is_empty());
        if waiting.is_empty() {
            break;
        }
        let ring = pick.index(waiting.len());
        let (id, position, text, _) = waiting[ring].remove(0);
        order.push(batch(id, position, &text));
        let complete_to = waiting.iter().flatten().map(|batch| batch.3).min().unwrap_or(u64::MAX);
        if rounds && complete_to > 0 {
            order.release(complete_to - 1, |unit| all.push(identity(&unit)));
        }
    }
    order.finish(|unit| all.push(identity(&unit)));
    assert_eq!((order.batches_held(), order.late().count()), (0, 0));
    all
}

fn identity(unit: &Unit<'_>) -> (u64, u32, u64, bool) {
    (unit.record.stamp.time_ns, unit.ring.cpu, unit.position, unit.attached.is_some())
}

proptest! {
    /// Outputs may be held back past their time while their sample may still come, so rings here that end a batch
    /// with one are compared without rounds; see the next property for rounds.
    #[test]
    fn any_cut_and_interleaving_gives_the_order_of_sorting_all(
        rings in proptest::collection::vec(ring(), 1..4),
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 80),
    ) {
        let whole: Vec<Ring> =
            rings.iter().map(|(lines, cuts)| (lines.clone(), vec![false; cuts.len()])).collect();
        prop_assert_eq!(visit(&rings, &picks, false), visit(&whole, &picks, false));
    }

    #[test]
    fn rounds_do_not_change_the_order(
        rings in proptest::collection::vec(ring(), 1..4),
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 80),
    ) {
        let rings: Vec<Ring> = rings
            .into_iter()
            .map(|(lines, cuts)| {
                let lines: Vec<String> = lines.into_iter().filter(|line| line.starts_with('s')).collect();
                let cuts = cuts.into_iter().take(lines.len()).collect();
                (lines, cuts)
            })
            .collect();
        let mut sorted = visit(&rings, &picks, false);
        sorted.sort_unstable();
        prop_assert_eq!(visit(&rings, &picks, true), sorted);
    }
}
