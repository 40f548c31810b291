//! Claims about decoding: what is written is read, and no bytes do harm.
#![allow(clippy::unwrap_used, reason = "tests")]

use microscope_capture::CpuMode;
use proptest::prelude::*;

use super::text::{OUTPUT, SAMPLER, SIDE_BAND, bytes_of, layouts};
use super::*;
use crate::registers::Registers;

const STAMP: Stamp = Stamp { event: 2, pid: 10, tid: 12, time_ns: 5, cpu: 1 };

/// Encodes and decodes; both as they print, since records have floating borrows.
fn round_trip(record: &Record<'_>, layout: &Layout) -> (String, String) {
    let mut bytes = Vec::new();
    encode(record, layout, &mut bytes);
    let decoded = decode(&bytes, &layouts()).unwrap();
    (format!("{record:?}"), format!("{decoded:?}"))
}

fn check(body: Body<'_>) {
    let (written, read) = round_trip(&Record { stamp: STAMP, body }, &SIDE_BAND);
    assert_eq!(written, read);
}

fn words_of(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn registers() -> Registers {
    let mut registers = Registers::default();
    (0..17).for_each(|number| registers.set(number, 0x1000 + u64::from(number)));
    registers
}

#[test]
fn every_record_of_the_side_band_is_read_as_written() {
    let task = Task { pid: 10, parent_pid: 9, tid: 12, parent_tid: 8 };
    let links = words_of(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let mapping = NewMapping {
        pid: 10,
        tid: 12,
        start_address: 0x1000,
        length_bytes: 0x2000,
        file_offset: 0x3000,
        evidence: Evidence::None,
        is_executable: true,
        path: b"/lib/a.so",
    };
    let key = FileKey { major: 8, minor: 1, inode: 77, generation: 3 };
    for evidence in [Evidence::None, Evidence::Inode(key), Evidence::BuildId { bytes: [7; 20], length: 20 }] {
        check(Body::Mapping(NewMapping { evidence, ..mapping }));
    }
    check(Body::Mapping(NewMapping { is_executable: false, path: b"12345678", ..mapping }));
    check(Body::Name(NewName { pid: 10, tid: 12, is_exec: false, name: b"worker" }));
    check(Body::Name(NewName { pid: 10, tid: 10, is_exec: true, name: b"\xff\xfe" }));
    check(Body::Fork(task));
    check(Body::Exit(task));
    check(Body::Lost(Lost { count: 3, samples_only: false }));
    check(Body::Lost(Lost { count: 3, samples_only: true }));
    check(Body::Throttle(Throttle { is_stopped: true }));
    check(Body::Throttle(Throttle { is_stopped: false }));
    check(Body::Switch(Switch { is_out: true, is_preempted: true, other: None }));
    check(Body::Switch(Switch { is_out: false, is_preempted: false, other: Some((7, 8)) }));
    check(Body::KernelSymbol(KernelSymbol { address: 1, length_bytes: 2, is_gone: true, name: b"bpf_prog" }));
    check(Body::Namespaces(Namespaces { pid: 10, tid: 12, links: Words::from_bytes(&links) }));
}

/// A sample whose fields are all there.
fn sample<'a>(kernel: &'a [u8], user: &'a [u8], stack: &'a [u8], stack_is_cut: bool) -> Sample<'a> {
    Sample {
        ip: 0x401000,
        mode: CpuMode::Kernel,
        period: 1_001_001,
        kernel_chain: Words::from_bytes(kernel),
        user_chain: Words::from_bytes(user),
        user: Some(UserState { is_32_bit: false, registers: registers(), stack, stack_is_cut }),
        raw: &[],
    }
}

#[test]
fn a_sample_is_read_as_written() {
    let (kernel, user) = (words_of(&[1, 2]), words_of(&[0x401000, 0x402000]));
    for is_cut in [true, false] {
        let stack: Vec<u8> = (0..64).collect();
        let body = Body::Sample(sample(&kernel, &user, &stack, is_cut));
        let (written, read) = round_trip(&Record { stamp: Stamp { event: 1, ..STAMP }, body }, &SAMPLER);
        assert_eq!(written, read);
    }
}

#[test]
fn a_kernel_thread_has_no_user_side() {
    let body = Body::Sample(Sample { user: None, ..sample(&[], &[], &[], false) });
    let (written, read) = round_trip(&Record { stamp: Stamp { event: 1, ..STAMP }, body }, &SAMPLER);
    assert_eq!(written, read);
}

#[test]
fn only_the_valid_part_of_the_stack_is_kept() {
    let mut bytes = Vec::new();
    let body = Body::Sample(sample(&[], &[], &[7; 16], false));
    encode(&Record { stamp: Stamp { event: 1, ..STAMP }, body }, &SAMPLER, &mut bytes);
    // The kernel's garbage after the 16 valid bytes lies before the last word.
    assert_eq!(&bytes[bytes.len() - 16..bytes.len() - 8], [0xAA; 8]);
    let Body::Sample(read) = decode(&bytes, &layouts()).unwrap().body else { panic!("a sample") };
    assert_eq!(read.user.unwrap().stack, [7; 16]);
}

#[test]
fn a_valid_length_beyond_the_room_is_not_believed() {
    let mut bytes = Vec::new();
    let body = Body::Sample(sample(&[], &[], &[7; 16], true));
    encode(&Record { stamp: Stamp { event: 1, ..STAMP }, body }, &SAMPLER, &mut bytes);
    let last = bytes.len() - 8;
    bytes[last..].copy_from_slice(&u64::MAX.to_ne_bytes());
    let Body::Sample(read) = decode(&bytes, &layouts()).unwrap().body else { panic!("a sample") };
    assert_eq!(read.user.map(|user| (user.stack.len(), user.stack_is_cut)), Some((16, true)));
}

#[test]
fn an_output_keeps_its_padded_bytes() {
    let mut bytes = Vec::new();
    let body = Body::Output(b"attached");
    encode(&Record { stamp: Stamp { event: 3, ..STAMP }, body }, &OUTPUT, &mut bytes);
    let Body::Output(raw) = decode(&bytes, &layouts()).unwrap().body else { panic!("an output") };
    assert_eq!(raw, b"attached\0\0\0\0");
}

#[test]
fn records_cut_by_the_rings_end_are_joined() {
    let bytes = bytes_of("fork 10 11 @5\nmmap 10 0x1000..0x2000 /a/long/path @6\nexit 10 @7");
    let whole: Vec<String> = decoded(Pieces::new(&bytes, &[]));
    assert_eq!(whole.len(), 3);
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        assert_eq!(decoded(Pieces::new(first, second)), whole, "cut at {at}");
    }
}

fn decoded(pieces: Pieces<'_>) -> Vec<String> {
    let mut scratch = Vec::new();
    let records = pieces.cuts().map(|cut| {
        let bytes = pieces.slice(cut.unwrap(), &mut scratch);
        format!("{:?}", decode(bytes, &layouts()).unwrap())
    });
    records.collect()
}

#[test]
fn a_record_of_an_unknown_event_is_skipped() {
    let mut bytes = bytes_of("fork 10 11 @5");
    let last = bytes.len() - 8;
    bytes[last..].copy_from_slice(&99_u64.to_ne_bytes());
    assert_eq!(decode(&bytes, &layouts()).unwrap_err(), ProblemKind::UnknownEvent { event: 99 });
    bytes.extend(bytes_of("exit 10 @6"));
    assert_eq!(decode_any(&bytes, &layouts()), (1, 1));
}

#[test]
fn a_record_of_an_unknown_kind_is_skipped() {
    let mut bytes = bytes_of("fork 10 11 @5");
    bytes[0] = 200;
    assert_eq!(decode(&bytes, &layouts()).unwrap_err(), ProblemKind::UnknownRecord { record: 200 });
    bytes.extend(bytes_of("exit 10 @6"));
    assert_eq!(decode_any(&bytes, &layouts()), (1, 1));
}

#[test]
fn an_impossible_size_ends_the_batch() {
    let whole = bytes_of("fork 10 11 @5\nexit 10 @6");
    for size in [0_u16, 4, 9, u16::MAX] {
        let mut bytes = whole.clone();
        bytes[6..8].copy_from_slice(&size.to_ne_bytes());
        let cut = Pieces::new(&bytes, &[]).cuts().next().unwrap();
        assert_eq!(cut, Err(ProblemKind::BadSize { size }));
        assert_eq!(decode_any(&bytes, &layouts()), (0, 1));
    }
}

#[test]
fn every_shorter_record_is_an_error() {
    let stack: Vec<u8> = (0..64).collect();
    let chain = words_of(&[1, 2]);
    let mut whole = Vec::new();
    let body = Body::Sample(sample(&chain, &chain, &stack, true));
    encode(&Record { stamp: Stamp { event: 1, ..STAMP }, body }, &SAMPLER, &mut whole);
    for size in (8..whole.len()).step_by(8) {
        let mut bytes = whole[..size].to_vec();
        bytes[6..8].copy_from_slice(&(size as u16).to_ne_bytes());
        assert!(decode(&bytes, &layouts()).is_err(), "{size} bytes");
    }
}

#[test]
fn layouts_that_cannot_be_decoded_are_refused() {
    let without = Layout { sample_type: SAMPLER.sample_type & !sample_type::TIME, ..SAMPLER };
    let missing = BadLayout::Missing { event: 1, missing: sample_type::TIME };
    assert_eq!(Layouts::new([without]).unwrap_err(), missing);
    let with = Layout { sample_type: SAMPLER.sample_type | sample_type::READ, ..SAMPLER };
    let refused = BadLayout::Refused { event: 1, refused: sample_type::READ };
    assert_eq!(Layouts::new([with]).unwrap_err(), refused);
}

/// Whole records of many kinds, to mutate.
fn seeds() -> Vec<u8> {
    let (chain, stack) = (words_of(&[1, 2]), [9; 40]);
    let mut bytes = bytes_of(
        "fork 10 11 @5\nthread 10 12 @5\nmmap 10 0x1000..0x2000 /a id=abcd @6\nexec 10 b @7\nlost 3 @8\n\
         output 10 @9\nsample 10 0x1234 @9\nexit 10 @10",
    );
    let body = Body::Sample(sample(&chain, &chain, &stack, false));
    encode(&Record { stamp: Stamp { event: 1, ..STAMP }, body }, &SAMPLER, &mut bytes);
    bytes
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = decode_any(&bytes, &layouts());
    }

    #[test]
    fn mutated_records_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..16),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = seeds();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let (good, bad) = decode_any(&bytes, &layouts());
        prop_assert!(good + bad <= bytes.len() / 8 + 1);
    }

    #[test]
    fn random_fields_never_panic(
        kind in 0_u32..20,
        misc in any::<u16>(),
        fields in proptest::collection::vec(any::<u64>(), 0..40),
        event in 1_u64..4,
    ) {
        let mut bytes = words_of(&[0, event]);
        bytes.extend(words_of(&fields));
        bytes.extend(words_of(&[event]));
        let header = (u64::from(kind), u64::from(misc), bytes.len() as u64);
        bytes[..8].copy_from_slice(&(header.0 | header.1 << 32 | header.2 << 48).to_ne_bytes());
        let _ = decode_any(&bytes, &layouts());
    }
}
