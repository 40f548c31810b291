//! Claims about raw logs: what was given is given again, and no damage passes for content.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::*;
use crate::collector::{
    Batch, ChosenEvent, CollectorReport, Delivery, EndCause, EventLayout, EventRole, KernelCoverage,
    PeriodUnit, Plan, RingId, RingKind, RingReport, RingSizes, SampleFields, TargetReport, Topology,
};
use crate::files::{Answer, FileProblem, Files, Memory, OpenedFile, Place, Text};
use crate::options::{EventChoice, StackPolicy};
use crate::records::FileKey;
use crate::sys::process::CpuTimes;

const RING: RingId = RingId { cpu: 3, kind: RingKind::SideBand };

fn layout() -> EventLayout {
    let fields = SampleFields { callchain: true, user_registers: 0xff, stack_bytes: 4096 };
    EventLayout { id: 7, role: EventRole::Sampler, cpu: 1, opened_on: Some(10), fields }
}

fn start() -> Start {
    let plan = Plan {
        topology: Topology::PerThread,
        cpus: vec![0, 1],
        event: ChosenEvent {
            event: EventChoice::CpuClock,
            unit: PeriodUnit::Nanoseconds,
            period_ns: Some(9),
        },
        rate_hz: 999,
        stack: StackPolicy::Both,
        stack_bytes: 4096,
        kernel: KernelCoverage::Counted,
        children: true,
        rings: RingSizes { sample_bytes: 1, side_band_bytes: 2, buffer_ms: 3 },
        notes: Vec::new(),
    };
    Start { start_ns: 5, plan, layouts: vec![layout()], launched: Some(10), attached: vec![11, 12] }
}

fn report() -> CollectorReport {
    let times = CpuTimes { user_ns: 1, system_ns: 2 };
    CollectorReport {
        cause: EndCause::TargetsGone,
        started_ns: 1,
        ended_ns: 2,
        rings: vec![RingReport { ring: RING, bytes: 9, lost_records: Some(4) }],
        targets: vec![TargetReport {
            pid: 10,
            before: times,
            used: times,
            children_used: times,
            exited: true,
        }],
        exit: Some(std::os::unix::process::ExitStatusExt::from_raw(256)),
        own: times,
        wakeups: 6,
        copied_bytes: 7,
    }
}

fn deliveries() -> Vec<Delivery> {
    vec![
        Delivery::Events(vec![layout()]),
        Delivery::Batch(Batch::owned(RING, 640, (0..200).collect())),
        Delivery::Batch(Batch::owned(RING, 840, vec![0; 10_000])),
        Delivery::Round { complete_to_ns: 77 },
        Delivery::Finished(Box::new(report())),
    ]
}

/// A system with one file, and texts that differ each time.
#[derive(Default)]
struct System(std::sync::atomic::AtomicU64);

impl System {
    fn tick(&self) -> u64 {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }
}

/// Bytes that do not repeat within a block.
fn content() -> Vec<u8> {
    (0..5_000_u32).flat_map(u32::to_le_bytes).collect()
}

fn host() -> Place {
    Place::Host { path: PathBuf::from("/file") }
}

impl Files for System {
    fn open(&self, place: &Place) -> Result<OpenedFile, FileProblem> {
        let key = FileKey { inode: 4, ..FileKey::default() };
        let found = (*place == host()).then(|| OpenedFile { handle: Arc::new(content()), key });
        found.ok_or(FileProblem::System { errno: 5 })
    }

    fn text(&self, text: &Text) -> Result<Answer<Vec<u8>>, FileProblem> {
        let tick = self.tick();
        let value = format!("{text:?} {tick}").into_bytes();
        if *text == Text::KernelSymbols {
            Err(FileProblem::Denied)
        } else {
            Ok(Answer { time_ns: tick, value })
        }
    }

    fn threads(&self, pid: u32) -> Result<Answer<Vec<u32>>, FileProblem> {
        Ok(Answer { time_ns: self.tick(), value: vec![pid, pid + 1] })
    }
}

impl Memory for System {
    fn read(&self, _pid: u32, address: u64, into: &mut [u8]) -> Result<Answer<usize>, FileProblem> {
        if address == 0 {
            return Err(FileProblem::Missing);
        }
        into[..3].copy_from_slice(b"mem");
        Ok(Answer { time_ns: self.tick(), value: 3 })
    }
}

/// Writes a log while `record` uses it; gives its bytes.
fn written(bytes_max: u64, record: impl FnOnce(&Arc<RawLogWriter>)) -> (Vec<u8>, bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = RawLogWriter::create(&path, &start(), bytes_max).unwrap();
    record(&log);
    let is_whole = log.finish().unwrap();
    (std::fs::read(path).unwrap(), is_whole)
}

fn open(bytes: &[u8]) -> Result<RawLog, RawLogError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, bytes).unwrap();
    RawLog::open(&path)
}

/// Everything a processor may do with files and memory, and what it got.
fn ask(files: &dyn Files, memory: &dyn Memory) -> String {
    let mut answers = String::new();
    let mut note = |answer: &dyn std::fmt::Debug| answers += &format!("{answer:?}\n");
    for _ in 0..3 {
        note(&files.text(&Text::Maps { pid: 10 }));
        note(&files.text(&Text::Comm { pid: 10, tid: 11 }));
    }
    note(&files.text(&Text::KernelSymbols));
    note(&files.threads(10));
    note(&files.open(&Place::Vdso).map(|opened| opened.key));
    let opened = files.open(&host()).unwrap();
    note(&(opened.key, opened.handle.len()));
    for (offset, length) in [(0, 10), (4090, 20), (19_990, 50), (30_000, 5), (5, 9000)] {
        let mut bytes = vec![0; length];
        note(&opened.handle.read_at(offset, &mut bytes).unwrap());
        note(&bytes);
    }
    for address in [0, 64] {
        let mut bytes = [0; 8];
        note(&memory.read(10, address, &mut bytes));
        note(&bytes);
    }
    answers
}

#[test]
fn deliveries_are_given_again() {
    let (bytes, is_whole) = written(BYTES_MAX, |log| deliveries().iter().for_each(|each| log.delivery(each)));
    let mut log = open(&bytes).unwrap();
    assert!(is_whole && log.is_whole());
    assert_eq!(log.start(), &start());
    let again: Vec<String> = log.deliveries().unwrap().map(|each| format!("{:?}", each.unwrap())).collect();
    assert_eq!(again, deliveries().iter().map(|each| format!("{each:?}")).collect::<Vec<_>>());
}

#[test]
fn answers_are_given_again() {
    let mut asked = String::new();
    let (bytes, _) = written(BYTES_MAX, |log| {
        let system = Arc::new(System::default());
        asked = ask(&*log.files(Arc::<System>::clone(&system)), &*log.memory(system));
    });
    let log = open(&bytes).unwrap();
    assert_eq!(ask(&*log.files(), &*log.memory()), asked);
}

#[test]
fn what_was_not_asked_is_not_answered() {
    let (bytes, _) = written(BYTES_MAX, |log| {
        let files = log.files(Arc::new(System::default()));
        let mut block = [0; 8];
        files.open(&host()).unwrap().handle.read_at(0, &mut block).unwrap();
    });
    let log = open(&bytes).unwrap();
    let files = log.files();
    assert_eq!(files.text(&Text::KernelNotes), Err(FileProblem::NotRecorded));
    assert_eq!(files.threads(1), Err(FileProblem::NotRecorded));
    assert_eq!(log.memory().read(1, 2, &mut [0]), Err(FileProblem::NotRecorded));
    let opened = files.open(&host()).unwrap();
    assert!(opened.handle.read_at(4000, &mut [0; 90]).is_ok());
    let missing = opened.handle.read_at(4090, &mut [0; 90]);
    assert_eq!(missing.unwrap_err().to_string(), "the raw log does not hold this part");
}

#[test]
fn the_last_answer_is_given_again_and_again() {
    let (bytes, _) = written(BYTES_MAX, |log| {
        let files = log.files(Arc::new(System::default()));
        files.threads(1).unwrap();
        files.threads(1).unwrap();
    });
    let files = open(&bytes).unwrap().files();
    let times: Vec<u64> = (0..4).map(|_| files.threads(1).unwrap().time_ns).collect();
    assert_eq!(times, [0, 1, 1, 1]);
}

#[test]
fn a_block_is_kept_once() {
    let size = |reads: usize| {
        let (bytes, _) = written(BYTES_MAX, |log| {
            let file = log.files(Arc::new(System::default())).open(&host()).unwrap();
            (0..reads).for_each(|_| assert_eq!(file.handle.read_at(0, &mut [0; 9000]).unwrap(), 9000));
        });
        bytes.len()
    };
    assert_eq!(size(1), size(5));
}

#[test]
fn a_log_that_met_its_bound_says_so() {
    let (bytes, is_whole) = written(2000, |log| {
        for position in 0..100 {
            log.delivery(&Delivery::Batch(Batch::owned(RING, position, (0..200).collect())));
        }
    });
    assert!(!is_whole && bytes.len() < 2500);
    let mut log = open(&bytes).unwrap();
    assert!(!log.is_whole());
    assert!(log.deliveries().unwrap().count() > 3);
}

#[test]
fn a_killed_recorders_log_is_read_as_far_as_it_goes() {
    let whole = &*SAMPLE;
    for length in (HEAD..whole.len()).step_by(7) {
        match open(&whole[..length]) {
            Ok(log) => assert!(!log.is_whole(), "{length} bytes"),
            Err(error) => assert!(matches!(error, RawLogError::NoStart), "{length} bytes: {error}"),
        }
    }
}

#[test]
fn other_files_and_versions_are_refused() {
    assert!(matches!(open(b"\x7fELF"), Err(RawLogError::NotARawLog)));
    let mut newer = SAMPLE.clone();
    newer[16] = 99;
    assert!(matches!(open(&newer), Err(RawLogError::Version { version: 99 })));
}

#[test]
fn a_log_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    RawLogWriter::create(&path, &start(), BYTES_MAX).unwrap();
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
}

const HEAD: usize = 20;

/// A log with every kind of chunk.
static SAMPLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    written(BYTES_MAX, |log| {
        deliveries().iter().for_each(|each| log.delivery(each));
        let system = Arc::new(System::default());
        ask(&*log.files(Arc::<System>::clone(&system)), &*log.memory(system));
    })
    .0
});

proptest! {
    #[test]
    fn a_changed_byte_never_passes_for_content(at in any::<prop::sample::Index>(), by in 1_u8..) {
        let mut bytes = SAMPLE.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= by;
        prop_assert!(open(&bytes).is_err() || !open(&bytes).unwrap().is_whole(), "byte {}", at);
    }

    #[test]
    fn random_chunks_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..256)) {
        let _ = open(&[&SAMPLE[..HEAD], &tail].concat());
    }
}
