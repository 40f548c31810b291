//! Arbitrary rows that obey every rule: every table, every enum value, absent and present cells.

use super::Rng;
use crate::{
    Builder, Claim, CodeRole, Counter, CpuMode, DutyChange, EndReason, Fact, Failure, File, FileId, Frame,
    FrameId, FrameKind, Function, FunctionFlags, FunctionId, HashKind, IdentityKind, Interval, IntervalKind,
    LabelSpan, Loss, LossKind, Mapping, Mark, MarkKind, Measure, MeasureId, MeasureSource, Module, ModuleId,
    ModuleKind, ProbeEdge, ProbeKind, ProbeRecord, ProbeSite, ProbeSiteId, Process, ProcessId, RateChange,
    Sample, Snapshot, SnapshotId, SourceText, StackId, StringId, Syscall, Tables, Task, TaskId, Thread,
    ThreadId, Unit, Wait,
};

/// Canonical rows made from a seed, about `size` of each table, in which every rule holds.
#[must_use]
pub fn random_tables(seed: u64, size: usize) -> Tables {
    let mut random = Random { rng: Rng::new(seed), size: size as u64, builder: Builder::new() };
    random.code();
    random.processes();
    random.stacks();
    random.samples();
    random.activity();
    random.labels();
    random.quality();
    let mut tables = random.builder.tables;
    let canonical = tables.canonicalize();
    debug_assert_eq!(canonical, Ok(()));
    tables
}

struct Random {
    rng: Rng,
    size: u64,
    builder: Builder,
}

/// A random id of a table, or `None` when the table is empty.
macro_rules! any {
    ($random:ident, $field:ident, $id:ident) => {{
        let rows = $random.builder.tables.$field.len() as u64;
        (rows > 0).then(|| $id::new($random.rng.below(rows) as u32))
    }};
}

impl Random {
    fn text(&mut self) -> StringId {
        let number = self.rng.below(self.size * 4 + 1);
        let text = match self.rng.below(4) {
            0 => format!("name{number}"),
            1 => format!("größe::{number}::λ"),
            2 => "x".repeat(number as usize % 50),
            _ => format!("/usr/lib/file{number}.so"),
        };
        self.builder.string(&text)
    }

    fn hexadecimal(&mut self, digits: usize) -> StringId {
        let text: String = (0..digits).map(|_| self.rng.pick(&['0', '1', '9', 'a', 'f'])).collect();
        self.builder.string(&text)
    }

    /// A time that is rarely repeated.
    fn time(&mut self) -> u64 {
        self.rng.below(1 << 40)
    }

    fn later(&mut self, than: u64) -> u64 {
        than + self.rng.below(1 << 30)
    }

    fn code(&mut self) {
        for _ in 0..self.size {
            let hash_kind = self.rng.pick(HashKind::ALL);
            let hash = if hash_kind == HashKind::None { StringId::new(0) } else { self.hexadecimal(32) };
            let path = self.text();
            let file = self.builder.file(File { path, hash_kind, hash });
            self.module();
            if self.builder.tables.source_texts.file.iter().all(|other| *other != file) {
                let text = self.text();
                self.builder.tables.source_texts.push(SourceText { file, text });
            }
            self.function();
        }
    }

    fn module(&mut self) {
        let identity_kind = self.rng.pick(IdentityKind::ALL);
        let identity =
            if identity_kind == IdentityKind::None { StringId::new(0) } else { self.hexadecimal(40) };
        let path = format!("/usr/lib/module{}.so", self.builder.tables.modules.len());
        let path = self.builder.string(&path);
        let (kind, debug_path) = (self.rng.pick(ModuleKind::ALL), self.text());
        self.builder.module(Module { kind, path, identity_kind, identity, debug_path });
    }

    fn function(&mut self) {
        let row = Function {
            name: self.text(),
            linkage_name: self.text(),
            module: any!(self, modules, ModuleId).filter(|_| self.rng.one_in(2)),
            file: any!(self, files, FileId).filter(|_| self.rng.one_in(2)),
            line: self.rng.below(5000) as u32,
            relative_address: self.rng.next() >> self.rng.below(64),
            flags: self.rng.pick(FunctionFlags::ALL),
        };
        self.builder.function(row);
    }

    fn processes(&mut self) {
        for number in 0..self.size.div_ceil(4) {
            let exec_of = any!(self, processes, ProcessId).filter(|_| self.rng.one_in(3));
            let pid = exec_of.map_or(1000 + number as u32, |of| self.builder.tables.processes.row(of).pid);
            let start_ns = self.time();
            let row = Process {
                pid,
                namespace_pid: self.rng.one_in(2).then_some(number as u32),
                parent: any!(self, processes, ProcessId).filter(|_| self.rng.one_in(2)),
                exec_of,
                name: self.text(),
                executable: self.text(),
                start_ns,
                end_ns: self.rng.one_in(2).then(|| self.later(start_ns)),
            };
            let process = self.builder.tables.processes.push(row);
            self.threads(process);
            self.mapping(process);
        }
    }

    fn threads(&mut self, process: ProcessId) {
        for number in 0..1 + self.rng.below(3) {
            let start_ns = self.time();
            let row = Thread {
                process,
                tid: 2000 + number as u32,
                namespace_tid: self.rng.one_in(2).then_some(7),
                name: self.text(),
                start_ns,
                end_ns: self.rng.one_in(2).then(|| self.later(start_ns)),
                user_time_ns: self.rng.one_in(2).then(|| self.time()),
                system_time_ns: self.rng.one_in(2).then(|| self.time()),
            };
            self.builder.tables.threads.push(row);
        }
    }

    fn mapping(&mut self, process: ProcessId) {
        let Some(module) = any!(self, modules, ModuleId) else { return };
        let (start_address, valid_from_ns) = (self.time() << 12, self.time());
        let row = Mapping {
            process,
            module,
            start_address,
            end_address: start_address + 1 + self.time(),
            relative_start: self.rng.next() >> 20,
            file_offset: self.rng.below(1 << 20),
            valid_from_ns,
            valid_until_ns: self.rng.one_in(2).then(|| self.later(valid_from_ns)),
            uncertain: self.rng.one_in(2),
        };
        self.builder.tables.mappings.push(row);
    }

    fn frame(&mut self) -> FrameId {
        let kind = self.rng.pick(FrameKind::ALL);
        let row = Frame {
            kind,
            role: self.rng.pick(CodeRole::ALL),
            module: any!(self, modules, ModuleId).filter(|_| !kind.is_named() && self.rng.one_in(2)),
            address: if kind.is_named() { u64::from(self.text().get()) } else { self.rng.next() >> 16 },
        };
        let rows = self.builder.tables.frames.len();
        let frame = self.builder.frame(row);
        if frame.index() == rows {
            self.facts(frame);
        }
        frame
    }

    fn facts(&mut self, frame: FrameId) {
        for depth in 0..self.rng.below(4) as u16 {
            let Some(function) = any!(self, functions, FunctionId) else { return };
            let file = any!(self, files, FileId).filter(|_| self.rng.one_in(2));
            let line = self.rng.below(9999) as u32;
            self.builder.tables.facts.push(Fact { frame, depth, function, file, line });
        }
    }

    fn stacks(&mut self) {
        for _ in 0..self.size {
            let frame = self.frame();
            let parent = any!(self, stacks, StackId).filter(|_| !self.rng.one_in(4));
            self.builder.stack(parent, frame);
        }
    }

    fn any_stack(&mut self) -> Option<StackId> {
        any!(self, stacks, StackId).filter(|_| !self.rng.one_in(8))
    }

    fn samples(&mut self) {
        for (number, source) in MeasureSource::ALL.iter().enumerate() {
            let row = Measure {
                name: self.builder.string(&format!("measure{number}")),
                source: *source,
                unit: self.rng.pick(Unit::ALL),
                period: self.rng.one_in(2).then(|| self.time()),
            };
            self.builder.measure(row);
        }
        for _ in 0..self.size {
            let (Some(thread), Some(measure)) =
                (any!(self, threads, ThreadId), any!(self, measures, MeasureId))
            else {
                return;
            };
            let row = Sample {
                time_ns: self.time(),
                thread,
                stack: self.any_stack(),
                weight: self.rng.below(1 << 20),
                measure,
                cpu: self.rng.below(8) as u16,
                mode: self.rng.pick(CpuMode::ALL),
                end: self.rng.pick(EndReason::ALL),
            };
            self.builder.sample(row);
        }
    }

    fn activity(&mut self) {
        for number in 0..self.size {
            let Some(thread) = any!(self, threads, ThreadId) else { return };
            let (start, stack) = (self.time(), self.any_stack());
            let (start_ns, end_ns) = match self.rng.below(3) {
                0 => (Some(start), None),
                1 => (None, Some(start)),
                _ => (Some(start), Some(self.later(start))),
            };
            let kind = self.rng.pick(IntervalKind::ALL);
            self.builder.tables.intervals.push(Interval { thread, kind, start_ns, end_ns, stack });
            let result = self.rng.one_in(2).then(|| (self.time() as i64) - (1 << 39));
            let row = Syscall { thread, number: number as u32, start_ns, end_ns, result, stack };
            self.builder.tables.syscalls.push(row);
            self.task(number, thread, stack);
        }
        self.claims();
    }

    fn task(&mut self, number: u64, thread: ThreadId, stack: Option<StackId>) {
        let (first_seen_ns, name, reason, runtime) = (self.time(), self.text(), self.text(), self.text());
        let last_seen_ns = self.later(first_seen_ns);
        let task = self.builder.tables.tasks.push(Task { number, name, first_seen_ns, last_seen_ns });
        let row = Snapshot { time_ns: first_seen_ns, pause_ns: number, runtime, omitted: number as u32 };
        let snapshot: SnapshotId = self.builder.tables.snapshots.push(row);
        let thread = Some(thread).filter(|_| self.rng.one_in(2));
        self.builder.tables.waits.push(Wait { task, snapshot, thread, stack, reason });
    }

    fn claims(&mut self) {
        let samples: Vec<_> = self.builder.tables.samples.ids().collect();
        for sample in samples.into_iter().filter(|sample| sample.get() % 3 == 0) {
            let Some(task) = any!(self, tasks, TaskId) else { return };
            self.builder.tables.claims.push(Claim { sample, task });
        }
    }

    fn labels(&mut self) {
        for number in 0..self.size {
            let Some(thread) = any!(self, threads, ThreadId) else { return };
            let process = self.builder.tables.threads.row(thread).process;
            let (name, value, start_ns) = (self.text(), self.text(), self.time());
            let end_ns = self.rng.one_in(2).then(|| self.later(start_ns));
            self.builder.tables.label_spans.push(LabelSpan { thread, name, value, start_ns, end_ns });
            self.probe(process, thread);
            let (time_ns, value) = (self.time(), self.time() as i64 - (1 << 39));
            let of = Some(process).filter(|_| self.rng.one_in(2));
            self.builder.tables.counters.push(Counter { name, process: of, time_ns, value });
            let mark = Mark {
                time_ns,
                kind: self.rng.pick(MarkKind::ALL),
                process: of,
                thread: Some(thread).filter(|_| self.rng.one_in(2)),
                label: self.text(),
                place: self.text(),
            };
            self.builder.tables.marks.push(mark);
            self.builder.set(of, &format!("setting{number}"), "value");
        }
    }

    fn probe(&mut self, process: ProcessId, thread: ThreadId) {
        let kind = self.rng.pick(ProbeKind::ALL);
        let site = ProbeSite {
            process,
            kind,
            name: self.text(),
            file: any!(self, files, FileId).filter(|_| self.rng.one_in(2)),
            line: self.rng.below(100) as u32,
        };
        let site: ProbeSiteId = self.builder.tables.probe_sites.push(site);
        let zone = [ProbeEdge::Begin, ProbeEdge::End];
        let row = ProbeRecord {
            site,
            thread,
            time_ns: self.time(),
            edge: if kind == ProbeKind::Zone { self.rng.pick(&zone) } else { ProbeEdge::Point },
            value: self.rng.one_in(2).then(|| self.time() as i64),
            text: self.text(),
        };
        self.builder.tables.probe_records.push(row);
    }

    fn quality(&mut self) {
        for _ in 0..self.size {
            let (Some(thread), Some(measure), Some(module)) = (
                any!(self, threads, ThreadId),
                any!(self, measures, MeasureId),
                any!(self, modules, ModuleId),
            ) else {
                return;
            };
            let (time_ns, rate_hz, stack_bytes) = (self.time(), self.rng.below(5000) as u32, 16 << 10);
            self.builder.tables.rate_changes.push(RateChange { time_ns, measure, rate_hz, stack_bytes });
            let duty_ppm = self.rng.below(1_000_001) as u32;
            self.builder.tables.duty_changes.push(DutyChange { time_ns, duty_ppm });
            self.loss(thread, time_ns);
            let from_address = self.time();
            let to_address = self.later(from_address);
            let (tried, reason) = (self.text(), self.text());
            let row = Failure { module, from_address, to_address, tried, reason };
            self.builder.tables.failures.push(row);
        }
    }

    fn loss(&mut self, thread: ThreadId, from_ns: u64) {
        let process = self.builder.tables.threads.row(thread).process;
        let row = Loss {
            kind: self.rng.pick(LossKind::ALL),
            count: self.time(),
            from_ns,
            until_ns: self.later(from_ns),
            cpu: self.rng.one_in(2).then_some(3),
            process: Some(process).filter(|_| self.rng.one_in(2)),
            thread: Some(thread).filter(|_| self.rng.one_in(2)),
            detail: self.text(),
        };
        self.builder.tables.losses.push(row);
    }
}
