//! The script's verbs, and the rings that their records go to.

use std::collections::BTreeMap;

use microscope_capture::CpuMode;
use microscope_profiler::collector::{
    Batch, Delivery, EventLayout, EventRole, RingId, RingKind, SampleFields,
};
use microscope_profiler::records::{
    Body, Evidence, Layout, Lost, NewMapping, NewName, Record, Sample, Stamp, Task, UserState, Words, encode,
};
use microscope_profiler::registers::{PERF_REGISTER_MASK, RBP, RIP, RSP, Registers};

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

/// What simulated samples hold.
const FIELDS: SampleFields =
    SampleFields { callchain: false, user_registers: PERF_REGISTER_MASK, stack_bytes: 1024 };

/// A kernel that does what a script says, at the times it says.
#[derive(Debug)]
pub struct Kernel {
    pub(super) cpus: u32,
    pub(super) start_ns: u64,
    pub(super) now_ns: u64,
    cpu: u32,
    rings: BTreeMap<RingId, Ring>,
    deliveries: Vec<Delivery>,
}

#[derive(Debug, Default)]
struct Ring {
    /// Bytes handed over.
    position: u64,
    /// Bytes written and not yet handed over.
    pending: Vec<u8>,
}

impl Kernel {
    /// A kernel with two events on each processor; its time begins at `start_ns`.
    pub fn new(cpus: u32, start_ns: u64) -> Self {
        let deliveries = vec![Delivery::Events(layouts(cpus))];
        Self { cpus, start_ns, now_ns: start_ns, cpu: 0, rings: BTreeMap::new(), deliveries }
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
        self.name(thread, name, true)
    }

    /// A thread takes a name.
    pub fn rename(&mut self, thread: Thread, name: &str) -> &mut Self {
        self.name(thread, name, false)
    }

    fn name(&mut self, thread: Thread, name: &str, is_exec: bool) -> &mut Self {
        let name = NewName { pid: thread.pid, tid: thread.tid, is_exec, name: name.as_bytes() };
        self.write(RingKind::SideBand, thread, Body::Name(name))
    }

    /// A thread starts a thread, or a process a process.
    pub fn fork(&mut self, parent: Thread, child: Thread) -> &mut Self {
        self.write(RingKind::SideBand, parent, Body::Fork(task(child, parent)))
    }

    /// A thread ends.
    pub fn exit(&mut self, thread: Thread) -> &mut Self {
        self.write(RingKind::SideBand, thread, Body::Exit(task(thread, thread)))
    }

    /// A process maps code.
    pub fn map(&mut self, thread: Thread, map: Map<'_>) -> &mut Self {
        let mapping = NewMapping {
            pid: thread.pid,
            tid: thread.tid,
            start_address: map.start,
            length_bytes: map.length,
            file_offset: map.file_offset,
            evidence: Evidence::BuildId { bytes: [map.build_id; 20], length: 20 },
            is_executable: true,
            path: map.path.as_bytes(),
        };
        self.write(RingKind::SideBand, thread, Body::Mapping(mapping))
    }

    /// Records of the side band found no room.
    pub fn lose_side_band(&mut self, thread: Thread, count: u64) -> &mut Self {
        self.write(RingKind::SideBand, thread, Body::Lost(Lost { count, samples_only: false }))
    }

    /// Samples found no room.
    pub fn lose_samples(&mut self, thread: Thread, count: u64) -> &mut Self {
        self.write(RingKind::Samples, thread, Body::Lost(Lost { count, samples_only: false }))
    }

    /// A thread is sampled at an instruction, with these words from its stack pointer upward.
    pub fn sample(&mut self, thread: Thread, ip: u64, stack: &[u64]) -> &mut Self {
        const STACK_POINTER: u64 = 0x7fff_ffff_0000;
        let mut registers = Registers::default();
        for (register, value) in [(RIP, ip), (RSP, STACK_POINTER), (RBP, STACK_POINTER)] {
            registers.set(register, value);
        }
        let stack: Vec<_> = stack.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let sample = Sample {
            ip,
            mode: CpuMode::User,
            period: PERIOD_NS,
            kernel_chain: Words::default(),
            user_chain: Words::default(),
            user: Some(UserState { is_32_bit: false, registers, stack: &stack, stack_is_cut: false }),
            raw: &[],
        };
        self.write(RingKind::Samples, thread, Body::Sample(sample))
    }

    /// The collector drains every ring: all up to this time was handed over.
    pub fn drain(&mut self, complete_to_ns: u64) -> &mut Self {
        for (id, ring) in self.rings.iter_mut().filter(|(_, ring)| !ring.pending.is_empty()) {
            let bytes = std::mem::take(&mut ring.pending);
            let position = ring.position;
            ring.position += bytes.len() as u64;
            self.deliveries.push(Delivery::Batch(Batch::owned(*id, position, bytes)));
        }
        self.deliveries.push(Delivery::Round { complete_to_ns });
        self
    }

    /// Everything handed over so far, in order.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.deliveries)
    }

    fn write(&mut self, kind: RingKind, thread: Thread, body: Body<'_>) -> &mut Self {
        let layout = layout(self.cpu, kind);
        let Thread { pid, tid } = thread;
        let stamp = Stamp { event: layout.id, pid, tid, time_ns: self.now_ns, cpu: self.cpu };
        let ring = self.rings.entry(RingId { cpu: self.cpu, kind }).or_default();
        encode(&Record { stamp, body }, &Layout::from(&layout), &mut ring.pending);
        self
    }
}

fn task(thread: Thread, parent: Thread) -> Task {
    Task { pid: thread.pid, parent_pid: parent.pid, tid: thread.tid, parent_tid: parent.tid }
}

/// The events that the kernel's records are of.
pub fn layouts(cpus: u32) -> Vec<EventLayout> {
    let of_cpu = |cpu| [RingKind::SideBand, RingKind::Samples].map(|kind| layout(cpu, kind));
    (0..cpus).flat_map(of_cpu).collect()
}

fn layout(cpu: u32, kind: RingKind) -> EventLayout {
    let role = if kind == RingKind::Samples { EventRole::Sampler } else { EventRole::SideBand };
    let id = u64::from(RingId { cpu, kind }.code()) + 1;
    EventLayout { id, role, cpu, opened_on: None, fields: FIELDS }
}
