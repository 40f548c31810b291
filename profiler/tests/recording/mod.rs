//! Runs a recording and keeps what came, decoded just far enough to count: a second, naive reader beside the
//! product's own.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use microscope_profiler::collector::{
    Armed, ChildProcess, CollectorControl, CollectorHandle, CollectorReport, Delivery, EventLayout,
    KernelCoverage, Plan, RingId, RingKind, StartError, TargetReport,
};
use microscope_profiler::options::{Preset, RecordOptions};
use std::sync::mpsc::{Receiver, sync_channel};

const RECORD_LOST: u32 = 2;
const RECORD_COMM: u32 = 3;
pub(crate) const RECORD_EXIT: u32 = 4;
const RECORD_SAMPLE: u32 = 9;
pub(crate) const RECORD_MMAP2: u32 = 10;
const MISC_COMM_EXEC: u16 = 0x2000;

/// A record, as its ring had it.
pub(crate) struct Raw {
    kind: u32,
    misc: u16,
    bytes: Vec<u8>,
}

/// The fixed fields of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) id: u64,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) time_ns: u64,
    pub(crate) cpu: u32,
}

impl Raw {
    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.bytes[at..at + 8].try_into().unwrap())
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    fn time_ns(&self) -> u64 {
        if self.kind == RECORD_SAMPLE { self.u64(32) } else { self.u64(self.bytes.len() - 24) }
    }

    fn sample(&self) -> Sample {
        Sample {
            id: self.u64(8),
            pid: self.u32(24),
            tid: self.u32(28),
            time_ns: self.u64(32),
            cpu: self.u32(40),
        }
    }
}

/// A recording that came to its end.
pub(crate) struct Recording {
    pub(crate) plan: Plan,
    pub(crate) pids: Vec<u32>,
    pub(crate) layouts: Vec<EventLayout>,
    pub(crate) report: CollectorReport,
    pub(crate) records: Vec<Raw>,
    pub(crate) rounds: Vec<u64>,
    /// Records that came after a round that had completed their time.
    pub(crate) late: usize,
    batches: Vec<(RingId, u64, usize)>,
}

/// A recording that goes on.
pub(crate) struct Running {
    handle: CollectorHandle,
    plan: Plan,
    pids: Vec<u32>,
    layouts: Vec<EventLayout>,
    reader: JoinHandle<Read>,
}

#[derive(Default)]
struct Read {
    layouts: Vec<EventLayout>,
    report: Option<CollectorReport>,
    records: Vec<Raw>,
    rounds: Vec<u64>,
    late: usize,
    batches: Vec<(RingId, u64, usize)>,
}

pub(crate) fn options() -> RecordOptions {
    RecordOptions::preset(Preset::Default)
}

/// The program of `target.c`.
pub(crate) fn target() -> PathBuf {
    compiled("target.c")
}

/// The program of a C file beside this one, compiled once.
pub(crate) fn compiled(file: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recording").join(file);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("collector-{file}")).with_extension("");
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    if modified(&program) < modified(&source) {
        // Tests run side by side: each may compile, and the last one's program replaces a whole one.
        let own = program.with_extension(std::process::id().to_string());
        let status = Command::new("cc").args(["-O1", "-g", "-pthread", "-o"]).arg(&own).arg(&source).status();
        assert!(status.expect("a C compiler is needed").success());
        std::fs::rename(own, &program).unwrap();
    }
    program
}

pub(crate) fn now_ns() -> u64 {
    microscope_profiler::sys::clock::monotonic_ns()
}

/// Says why a test shows nothing here; a refusal that a privileged user meets is a failure.
pub(crate) fn skipped(error: &StartError) {
    let refused =
        matches!(error, StartError::NotPermitted { .. } | StartError::Blocked | StartError::NoPerfEvents);
    assert!(refused, "{error:?}");
    eprintln!("skipped: {error}");
}

/// Records to the target's end, or says why that cannot be done here.
pub(crate) fn record(armed: Result<Armed, StartError>) -> Option<Recording> {
    match armed {
        Ok(armed) => Some(Recording::start(armed).finish()),
        Err(error) => {
            skipped(&error);
            None
        }
    }
}

impl Recording {
    pub(crate) fn start(armed: Armed) -> Running {
        Self::start_stalled(armed, |_| {})
    }

    /// Starts, with a processor that reads nothing until `stall` has returned, which is given the first target.
    pub(crate) fn start_stalled(armed: Armed, stall: impl FnOnce(u32) + Send + 'static) -> Running {
        let (sender, receiver) = sync_channel(16);
        let (plan, pids, layouts) = (armed.plan.clone(), armed.pids.clone(), armed.layouts.clone());
        let target = pids[0];
        let reader = thread::spawn(move || {
            stall(target);
            read(&receiver)
        });
        Running { handle: armed.start(sender).unwrap(), plan, pids, layouts, reader }
    }

    pub(crate) fn samples(&self) -> Vec<Sample> {
        self.of_kind(RECORD_SAMPLE).map(Raw::sample).collect()
    }

    pub(crate) fn samples_by_thread(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for sample in self.samples() {
            *counts.entry(sample.tid).or_default() += 1;
        }
        counts
    }

    pub(crate) fn layout(&self, id: u64) -> EventLayout {
        *self.layouts.iter().find(|layout| layout.id == id).expect("an unknown event")
    }

    pub(crate) fn count_of(&self, kind: u32) -> usize {
        self.of_kind(kind).count()
    }

    /// Time and thread of each exec.
    pub(crate) fn execs(&self) -> Vec<(u64, u32)> {
        self.of_kind(RECORD_COMM)
            .filter(|record| record.misc & MISC_COMM_EXEC != 0)
            .map(|record| (record.time_ns(), record.u32(12)))
            .collect()
    }

    /// Samples that the targets' processor time should have given; fewer where only user time is sampled.
    pub(crate) fn expected_samples(&self) -> f64 {
        let used = |target: &TargetReport| match self.plan.kernel {
            KernelCoverage::Excluded => target.used.user_ns,
            _ => target.used.total_ns(),
        };
        let used_ns: u64 = self.report.targets.iter().map(used).sum();
        used_ns as f64 / 1e9 * f64::from(self.plan.rate_hz)
    }

    /// What the records say was lost.
    pub(crate) fn lost(&self) -> u64 {
        self.of_kind(RECORD_LOST).map(|record| record.u64(16)).sum()
    }

    pub(crate) fn check_positions(&self) {
        let mut next = HashMap::new();
        for (ring, position, length) in &self.batches {
            let expected = next.entry(*ring).or_insert(0);
            assert_eq!(*expected, *position, "{ring}");
            *expected += *length as u64;
        }
        for ring in &self.report.rings {
            assert_eq!(next.get(&ring.ring).copied().unwrap_or(0), ring.bytes, "{}", ring.ring);
        }
    }

    pub(crate) fn check_one_event_per_thread_and_cpu(&self) {
        let mut events = HashMap::new();
        let mut doubled = 0;
        for sample in self.samples() {
            doubled += usize::from(*events.entry((sample.tid, sample.cpu)).or_insert(sample.id) != sample.id);
        }
        // A thread born in the very moment its parent was armed may report twice; that is told apart later.
        assert!(doubled * 50 <= self.samples().len(), "{doubled} of {}", self.samples().len());
    }

    fn of_kind(&self, kind: u32) -> impl Iterator<Item = &Raw> {
        self.records.iter().filter(move |record| record.kind == kind)
    }
}

impl Running {
    pub(crate) fn control(&self) -> CollectorControl {
        self.handle.control()
    }

    pub(crate) fn child(&self) -> Option<ChildProcess> {
        self.handle.child().cloned()
    }

    pub(crate) fn finish_after(self, time: Duration) -> Recording {
        thread::sleep(time);
        self.control().stop().unwrap();
        self.finish()
    }

    pub(crate) fn finish(self) -> Recording {
        let read = self.reader.join().unwrap();
        assert!(self.handle.join());
        let mut layouts = self.layouts;
        layouts.extend(read.layouts);
        Recording {
            plan: self.plan,
            pids: self.pids,
            layouts,
            report: read.report.expect("no report came"),
            records: read.records,
            rounds: read.rounds,
            late: read.late,
            batches: read.batches,
        }
    }
}

fn read(receiver: &Receiver<Delivery>) -> Read {
    let mut read = Read::default();
    for delivery in receiver {
        match delivery {
            Delivery::Events(layouts) => read.layouts.extend(layouts),
            Delivery::Round { complete_to_ns } => read.rounds.push(complete_to_ns),
            Delivery::Finished(report) => read.report = Some(*report),
            Delivery::Batch(batch) => {
                read.batches.push((batch.ring(), batch.position(), batch.len()));
                let bytes = batch.read();
                let (first, second) = bytes.parts();
                let bytes = [first, second].concat();
                let mut left = &bytes[..];
                while !left.is_empty() {
                    let record = take_record(&mut left, batch.ring());
                    let complete_ns = read.rounds.last().copied().unwrap_or(0);
                    read.late += usize::from(record.time_ns() < complete_ns);
                    read.records.push(record);
                }
            }
        }
    }
    read
}

fn take_record(left: &mut &[u8], ring: RingId) -> Raw {
    let size = usize::from(u16::from_ne_bytes([left[6], left[7]]));
    assert!(size >= 8 && size <= left.len(), "a record of {size} bytes in {}", left.len());
    let bytes = left.split_off(..size).unwrap().to_vec();
    let kind = u32::from_ne_bytes(bytes[..4].try_into().unwrap());
    assert_eq!(
        kind == RECORD_SAMPLE,
        ring.kind == RingKind::Samples && kind != RECORD_LOST,
        "kind {kind} in {ring}"
    );
    Raw { kind, misc: u16::from_ne_bytes([bytes[4], bytes[5]]), bytes }
}
