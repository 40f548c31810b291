//! Large captures with the shape of recorded ones: for benches of opening and of analysis.

use super::Rng;
use crate::{
    Builder, CodeRole, CpuMode, EndReason, Fact, File, Frame, FrameId, FrameKind, Function, FunctionFlags,
    HashKind, IdentityKind, Measure, MeasureId, MeasureSource, Module, ModuleId, ModuleKind, Process, Sample,
    StackId, Tables, Thread, ThreadId, Unit,
};

/// What to make. Times, threads and stacks are those of a timer that interrupts running threads: nearly
/// even distances with some jitter, few stacks often and many rarely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// Samples.
    pub samples: usize,
    /// Different stacks that samples have.
    pub unique_stacks: usize,
    /// Threads, each on its own processor.
    pub threads: u32,
    /// Functions of the program.
    pub functions: u32,
    /// Frames of the deepest stacks.
    pub depth: u32,
}

impl Synthetic {
    /// The shape that opening is measured with.
    #[must_use]
    pub const fn new(samples: usize, unique_stacks: usize) -> Self {
        Self { samples, unique_stacks, threads: 2, functions: 4000, depth: 22 }
    }

    /// The rows, canonical.
    #[must_use]
    pub fn tables(&self) -> Tables {
        let mut making =
            Making { shape: *self, rng: Rng::new(42), builder: Builder::new(), frames: Vec::new() };
        making.frames();
        let stacks = making.stacks();
        making.samples(&stacks);
        let mut tables = making.builder.tables;
        let canonical = tables.canonicalize();
        debug_assert_eq!(canonical, Ok(()));
        tables
    }
}

/// Between samples of one thread, as 4,999 Hz have it.
const PERIOD_NS: u64 = 200_040;
/// Call sites of a function.
const SITES: u32 = 4;

struct Making {
    shape: Synthetic,
    rng: Rng,
    builder: Builder,
    frames: Vec<FrameId>,
}

impl Making {
    fn frames(&mut self) {
        let (path, empty) = (self.builder.string("/usr/bin/program"), self.builder.string(""));
        let identity = self.builder.string("5a1d0b7c9e3f4a6b8c2d1e0f9a8b7c6d5e4f3a2b");
        let kind = IdentityKind::GnuBuildId;
        let module =
            Module { kind: ModuleKind::File, path, identity_kind: kind, identity, debug_path: empty };
        let module = self.builder.module(module);
        for number in 0..self.shape.functions {
            self.function(module, number);
        }
    }

    fn function(&mut self, module: ModuleId, number: u32) {
        let empty = self.builder.string("");
        let path =
            self.builder.string(&format!("/build/program/src/part{}/file{}.rs", number % 7, number % 300));
        let file = self.builder.file(File { path, hash_kind: HashKind::None, hash: empty });
        let name = format!("program::part{}::step_{number}::<alloc::string::String>::run", number % 40);
        let linkage = format!("_RNvMs_NtCs5Kx9program6part{}4step{number}NtB4_3run", number % 40);
        let start = 0x4_0000 + u64::from(number) * 0x340;
        let row = Function {
            name: self.builder.string(&name),
            linkage_name: self.builder.string(&linkage),
            module: Some(module),
            file: Some(file),
            line: 10 + number % 900,
            relative_address: start,
            flags: FunctionFlags::Plain,
        };
        let function = self.builder.function(row);
        for site in 0..SITES {
            let kind = if site == 0 { FrameKind::Native } else { FrameKind::NativeCaller };
            let address = start + u64::from(site) * 0xd0 + self.rng.below(0xd0);
            let row = Frame { kind, role: CodeRole::Plain, module: Some(module), address };
            let frame = self.builder.frame(row);
            let line = 11 + number % 900 + site * 7;
            self.builder.tables.facts.push(Fact { frame, depth: 0, function, file: Some(file), line });
            self.frames.push(frame);
        }
    }

    /// Stacks that share their outer frames, as calls do.
    fn stacks(&mut self) -> Vec<StackId> {
        let mut stacks: Vec<StackId> = Vec::with_capacity(self.shape.unique_stacks);
        let mut path: Vec<StackId> = Vec::new();
        while stacks.len() < self.shape.unique_stacks {
            let before = self.builder.tables.stacks.len();
            let depth = 4 + self.rng.below(u64::from(self.shape.depth) - 4) as usize;
            let shared = path.len().min(depth).saturating_sub(1 + self.rng.below(3) as usize);
            path.truncate(shared);
            while path.len() < depth {
                let caller = path.last().copied();
                let frame = self.frame(caller, path.len() + 1 < depth);
                path.push(self.builder.stack(caller, frame));
            }
            if self.builder.tables.stacks.len() > before {
                stacks.extend(path.last());
            }
        }
        stacks
    }

    /// A frame called from another: a call site calls one function mostly, and a few others.
    fn frame(&mut self, caller: Option<StackId>, calls: bool) -> FrameId {
        let caller = caller.map_or(0, |caller| self.builder.tables.stacks.row(caller).frame.get() + 1);
        let target = if self.rng.one_in(4) { 1 + self.rng.below(3) } else { 0 };
        let function = Rng::new(u64::from(caller) * 4 + target).below(u64::from(self.shape.functions));
        let site = if calls { 1 + self.rng.below(u64::from(SITES) - 1) } else { 0 };
        self.frames[(function * u64::from(SITES) + site) as usize]
    }

    fn samples(&mut self, stacks: &[StackId]) {
        let threads = self.threads();
        let name = self.builder.string("cpu-clock");
        let row = Measure {
            name,
            source: MeasureSource::CpuSamples,
            unit: Unit::Nanoseconds,
            period: Some(PERIOD_NS),
        };
        let measure = self.builder.measure(row);
        for number in 0..self.shape.samples {
            let cpu = number % threads.len();
            let round = (number / threads.len()) as u64;
            let phase_ns = PERIOD_NS * cpu as u64 / threads.len() as u64;
            let jitter_ns = self.rng.below(600) + if self.rng.one_in(50) { self.rng.below(9000) } else { 0 };
            let time_ns = 1_000_000 + round * PERIOD_NS + phase_ns + jitter_ns;
            let stack = self.stack(number, stacks);
            self.sample(time_ns, threads[cpu], cpu as u16, stack, measure);
        }
    }

    /// Every stack once; beyond that, few often and many rarely.
    fn stack(&mut self, number: usize, stacks: &[StackId]) -> StackId {
        let rank = match number.checked_mul(stacks.len()).map(|at| at / self.shape.samples) {
            Some(each) if self.rng.one_in((self.shape.samples / stacks.len()).max(1) as u64) => each,
            // Evenly spread logarithms: rank r comes about once in r times.
            _ => {
                let bits = self.rng.below(1 << 20) as f64 / f64::from(1 << 20);
                (stacks.len() as f64).powf(bits) as usize - 1
            }
        };
        stacks[rank.min(stacks.len() - 1)]
    }

    fn sample(&mut self, time_ns: u64, thread: ThreadId, cpu: u16, stack: StackId, measure: MeasureId) {
        self.builder.sample(Sample {
            time_ns,
            thread,
            stack: Some(stack),
            weight: PERIOD_NS,
            measure,
            cpu,
            mode: CpuMode::User,
            end: if self.rng.one_in(300) { EndReason::StackBytes } else { EndReason::Complete },
        });
    }

    fn threads(&mut self) -> Vec<ThreadId> {
        let (name, empty) = (self.builder.string("program"), self.builder.string(""));
        let process = self.builder.tables.processes.push(Process {
            pid: 4711,
            namespace_pid: None,
            parent: None,
            exec_of: None,
            name,
            executable: empty,
            start_ns: 0,
            end_ns: None,
        });
        let thread = |tid| Thread {
            process,
            tid,
            namespace_tid: None,
            name,
            start_ns: 0,
            end_ns: None,
            user_time_ns: None,
            system_time_ns: None,
        };
        (0..self.shape.threads)
            .map(|number| self.builder.tables.threads.push(thread(4711 + number)))
            .collect()
    }
}
