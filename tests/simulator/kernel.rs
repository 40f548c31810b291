//! The script's verbs, and the rings that their records go to.

use std::collections::BTreeMap;

use microscope_profiler::collector::{Batch, Delivery, EventLayout, EventRole, RingId, RingKind};

use super::record::{self, FIELDS, Stamp};

/// A thread, and the process it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
}

impl Thread {
    /// The leader of a process.
    pub const fn leader(pid: u32) -> Self {
        Self { pid, tid: pid }
    }

    /// Another thread of the process.
    pub const fn other(self, tid: u32) -> Self {
        Self { pid: self.pid, tid }
    }
}

/// An executable mapping of a file.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    /// Its first address.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The offset in the file of its first byte.
    pub file_offset: u64,
    /// The file.
    pub path: &'a str,
    /// The byte that the file's build ID repeats.
    pub build_id: u8,
}

/// The period of simulated samples.
pub(super) const PERIOD_NS: u64 = 1_000_000;

/// A kernel that does what a script says, at the times it says.
#[derive(Debug)]
pub struct Kernel {
    pub(super) cpus: u32,
    pub(super) start_ns: u64,
    pub(super) now_ns: u64,
    cpu: u32,
    /// Bytes written and not yet handed over.
    rings: BTreeMap<(u32, bool), Ring>,
    deliveries: Vec<Delivery>,
}

#[derive(Debug, Default)]
struct Ring {
    position: u64,
    pending: Vec<u8>,
}

impl Kernel {
    /// A kernel with two events on each processor; its time begins at `start_ns`.
    pub fn new(cpus: u32, start_ns: u64) -> Self {
        let layouts =
            (0..cpus).flat_map(|cpu| [RingKind::SideBand, RingKind::Samples].map(|kind| layout(cpu, kind)));
        let events = Delivery::Events(layouts.collect());
        Self { cpus, start_ns, now_ns: start_ns, cpu: 0, rings: BTreeMap::new(), deliveries: vec![events] }
    }

    /// What follows happens at this time. Times may go back: rings of other processors are not in step.
    pub fn at(&mut self, now_ns: u64) -> &mut Self {
        self.now_ns = now_ns;
        self
    }

    /// What follows happens on this processor.
    pub fn on(&mut self, cpu: u32) -> &mut Self {
        self.cpu = cpu;
        self
    }

    /// A process executes a program.
    pub fn exec(&mut self, thread: Thread, name: &str) -> &mut Self {
        self.side_band(thread, |stamp| record::name(stamp, name, true))
    }

    /// A thread takes a name.
    pub fn rename(&mut self, thread: Thread, name: &str) -> &mut Self {
        self.side_band(thread, |stamp| record::name(stamp, name, false))
    }

    /// A thread starts a thread, or a process a process.
    pub fn fork(&mut self, parent: Thread, child: Thread) -> &mut Self {
        self.side_band(parent, |stamp| record::fork(stamp, child, parent))
    }

    /// A thread ends.
    pub fn exit(&mut self, thread: Thread) -> &mut Self {
        self.side_band(thread, |stamp| record::exit(stamp, thread, thread))
    }

    /// A process maps code.
    pub fn map(&mut self, thread: Thread, map: Map<'_>) -> &mut Self {
        self.side_band(thread, |stamp| record::mapping(stamp, &map))
    }

    /// Records of the side band found no room.
    pub fn lose_side_band(&mut self, thread: Thread, count: u64) -> &mut Self {
        self.side_band(thread, |stamp| record::lost(stamp, count))
    }

    /// Samples found no room.
    pub fn lose_samples(&mut self, thread: Thread, count: u64) -> &mut Self {
        self.write(RingKind::Samples, thread, |stamp| record::lost(stamp, count))
    }

    /// A thread is sampled at an instruction, with this stack.
    pub fn sample(&mut self, thread: Thread, ip: u64, stack: &[u64]) -> &mut Self {
        const STACK_POINTER: u64 = 0x7fff_ffff_0000;
        self.write(RingKind::Samples, thread, |stamp| {
            record::sample(stamp, PERIOD_NS, ip, STACK_POINTER, stack)
        })
    }

    /// The collector drains every ring: all up to this time was handed over.
    pub fn drain(&mut self, complete_to_ns: u64) -> &mut Self {
        for ((cpu, is_samples), ring) in &mut self.rings {
            if !ring.pending.is_empty() {
                let bytes = std::mem::take(&mut ring.pending);
                let position = ring.position;
                ring.position += bytes.len() as u64;
                let kind = if *is_samples { RingKind::Samples } else { RingKind::SideBand };
                let batch = Batch::owned(RingId { cpu: *cpu, kind }, position, bytes);
                self.deliveries.push(Delivery::Batch(batch));
            }
        }
        self.deliveries.push(Delivery::Round { complete_to_ns });
        self
    }

    /// Everything handed over so far, in order.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.deliveries)
    }

    fn side_band(&mut self, thread: Thread, write: impl FnOnce(Stamp) -> Vec<u8>) -> &mut Self {
        self.write(RingKind::SideBand, thread, write)
    }

    fn write(&mut self, kind: RingKind, thread: Thread, write: impl FnOnce(Stamp) -> Vec<u8>) -> &mut Self {
        let stamp = Stamp { event: event_id(self.cpu, kind), thread, time_ns: self.now_ns, cpu: self.cpu };
        let ring = self.rings.entry((self.cpu, kind == RingKind::Samples)).or_default();
        ring.pending.extend(write(stamp));
        self
    }
}

/// The events that the kernel's records are of.
pub fn layouts(cpus: u32) -> Vec<EventLayout> {
    let of_cpu = |cpu| [RingKind::SideBand, RingKind::Samples].map(|kind| layout(cpu, kind));
    (0..cpus).flat_map(of_cpu).collect()
}

fn layout(cpu: u32, kind: RingKind) -> EventLayout {
    let role = if kind == RingKind::Samples { EventRole::Sampler } else { EventRole::SideBand };
    EventLayout { id: event_id(cpu, kind), role, cpu, opened_on: None, fields: FIELDS }
}

fn event_id(cpu: u32, kind: RingKind) -> u64 {
    u64::from(RingId { cpu, kind }.code()) + 1
}
