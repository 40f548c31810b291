//! Claims about reading rings.
#![allow(clippy::unwrap_used)]

use super::*;

const DATA_BYTES: usize = 4096;

/// A ring that a test writes, and its reader.
fn ring() -> (std::sync::Arc<RingMemory>, Ring) {
    let ring = Ring::new(RingMemory::scripted(DATA_BYTES).unwrap());
    (ring.memory(), ring)
}

fn record(fill: u8) -> [u8; 1000] {
    [fill; 1000]
}

fn bytes_of(span: &Span) -> Vec<u8> {
    let bytes = span.read();
    let (first, second) = bytes.parts();
    [first, second].concat()
}

#[test]
fn what_was_written_is_lent_once() {
    let (kernel, mut ring) = ring();
    assert!(ring.take().is_none());
    kernel.write(&record(1)).unwrap();
    kernel.write(&record(2)).unwrap();
    let span = ring.take().unwrap();
    assert_eq!((span.position(), span.len()), (0, 2000));
    assert_eq!(bytes_of(&span), [record(1), record(2)].concat());
    assert!(ring.take().is_none());
}

#[test]
fn a_span_across_the_end_comes_in_two_parts() {
    let (kernel, mut ring) = ring();
    for _ in 0..4 {
        kernel.write(&record(0)).unwrap();
    }
    drop(ring.take());
    ring.reclaim();
    kernel.write(&record(7)).unwrap();
    let span = ring.take().unwrap();
    assert_eq!(span.position(), 4000);
    let bytes = span.read();
    let (first, second) = bytes.parts();
    assert_eq!((first.len(), second.len()), (96, 904));
    assert!(first.iter().chain(second).all(|byte| *byte == 7));
}

#[test]
fn lent_space_is_not_overwritten() {
    let (kernel, mut ring) = ring();
    for fill in 0..4 {
        kernel.write(&record(fill)).unwrap();
    }
    let span = ring.take().unwrap();
    ring.reclaim();
    assert!(kernel.write(&record(9)).is_err());
    assert_eq!(bytes_of(&span)[..1000], record(0));
    drop(span);
    ring.reclaim();
    kernel.write(&record(9)).unwrap();
}

#[test]
fn space_is_freed_in_ring_order() {
    let (kernel, mut ring) = ring();
    kernel.write(&record(1)).unwrap();
    let older = ring.take().unwrap();
    kernel.write(&record(2)).unwrap();
    drop(ring.take().unwrap());
    ring.reclaim();
    assert_eq!(ring.used_bytes(), 2000);
    drop(older);
    ring.reclaim();
    assert_eq!(ring.used_bytes(), 0);
}

#[test]
fn a_copied_span_reads_the_same_and_frees_its_space() {
    let (kernel, mut ring) = ring();
    kernel.write(&record(1)).unwrap();
    let span = ring.take().unwrap();
    assert_eq!(ring.copy_oldest(usize::MAX), Some(1000));
    assert_eq!((ring.used_bytes(), ring.is_lent(), ring.copied_bytes()), (0, false, 1000));
    for fill in 10..14 {
        kernel.write(&record(fill)).unwrap();
    }
    assert_eq!(bytes_of(&span), record(1));
    drop(span);
    ring.reclaim();
    assert_eq!(ring.copied_bytes(), 0);
}

#[test]
fn a_span_that_is_being_read_is_not_copied() {
    let (kernel, mut ring) = ring();
    kernel.write(&record(1)).unwrap();
    let span = ring.take().unwrap();
    let hold = span.read();
    assert_eq!(ring.copy_oldest(usize::MAX), None);
    drop(hold);
    assert_eq!(ring.copy_oldest(usize::MAX), Some(1000));
}

#[test]
fn a_span_longer_than_the_bound_is_not_copied() {
    let (kernel, mut ring) = ring();
    kernel.write(&record(1)).unwrap();
    let _span = ring.take().unwrap();
    assert_eq!(ring.copy_oldest(999), None);
}

#[test]
fn a_span_outlives_its_ring() {
    let (kernel, mut ring) = ring();
    kernel.write(&record(3)).unwrap();
    let span = ring.take().unwrap();
    drop((kernel, ring));
    assert_eq!(bytes_of(&span), record(3));
}

#[test]
fn a_head_beyond_the_ring_is_skipped() {
    let (kernel, mut ring) = ring();
    kernel.set_head(1 << 40);
    assert!(ring.take().is_none());
    kernel.write(&record(1)).unwrap_err();
    ring.reclaim();
    kernel.write(&record(5)).unwrap();
    assert_eq!(bytes_of(&ring.take().unwrap()), record(5));
}

#[test]
fn sizes_that_are_no_power_of_two_of_pages_are_refused() {
    for data_bytes in [0, 100, 4096 * 3, usize::MAX] {
        assert!(RingMemory::scripted(data_bytes).is_err());
    }
}

#[test]
fn a_reader_on_another_thread_sees_every_record_whole() {
    const RECORDS: u64 = 20_000;
    let (kernel, mut ring) = ring();
    let writer = std::thread::spawn(move || {
        let mut refused = 0_u64;
        for number in 0..RECORDS {
            while kernel.write(&number.to_ne_bytes().repeat(5)).is_err() {
                refused += 1;
                std::thread::yield_now();
            }
        }
        refused
    });
    let (mut next, mut lent) = (0, std::collections::VecDeque::new());
    while next < RECORDS {
        ring.reclaim();
        lent.extend(ring.take());
        if next % 3 == 0 {
            ring.copy_oldest(usize::MAX);
        }
        let Some(span) = lent.pop_front() else { continue };
        for chunk in bytes_of(&span).chunks(40) {
            assert_eq!(chunk, next.to_ne_bytes().repeat(5));
            next += 1;
        }
    }
    writer.join().unwrap();
}
