//! Captures drawn as text: one line per sample, `[tid=N] [t=NS] [end=REASON] WEIGHT: outermost; …; innermost`.
//!
//! A frame is `[MODULE!]LEVEL<LEVEL…`, innermost level first, where a level is `name@file:line`, or `name`
//! (a symbol without lines), or `?ADDRESS` (nothing known). Line 0 is code of no line. Module `k` is the kernel.
//! `"text"` is a frame that a text names. No frames at all is a sample without a stack.

use microscope_capture::{
    Builder, Capture, CodeRole, CpuMode, EndReason, Fact, Facts, File, Frame, FrameId, FrameKind, Function,
    FunctionFlags, HashKind, IdentityKind, Mark, MarkKind, Measure, MeasureId, MeasureSource, Module,
    ModuleId, ModuleKind, Process, ProcessId, Sample, StackId, StringId, Thread, ThreadId, Unit,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The capture that `text` draws.
pub(crate) fn sketch(text: &str) -> Capture {
    let mut sketch = Sketch::new();
    text.lines().map(str::trim).filter(|line| !line.is_empty()).for_each(|line| sketch.sample(line));
    sketch.builder.finish().expect("a sketch obeys the rules")
}

/// A capture being drawn.
pub(crate) struct Sketch {
    pub(crate) builder: Builder,
    process: ProcessId,
    measure: MeasureId,
    threads: FxHashMap<u32, ThreadId>,
    next_ns: u64,
    /// Frames whose names were drawn.
    named: FxHashSet<FrameId>,
}

impl Sketch {
    pub(crate) fn new() -> Self {
        Self::of(Builder::new())
    }

    /// The next epoch: what was drawn so far was taken, and ids begin anew.
    pub(crate) fn begin_epoch(mut self) -> Self {
        self.builder.begin_epoch();
        Self { next_ns: self.next_ns, ..Self::of(self.builder) }
    }

    /// A debugger stops the process, or everything.
    pub(crate) fn stop(&mut self, time_ns: u64, everything: bool) {
        let process = (!everything).then_some(self.process);
        let (label, place) = (StringId::new(0), StringId::new(0));
        let kind = MarkKind::Stopped;
        self.builder.tables.marks.push(Mark { time_ns, kind, process, thread: None, label, place });
    }

    /// Takes the names that were drawn and not told yet.
    pub(crate) fn take_names(&mut self) -> Facts {
        std::mem::take(&mut self.builder.tables.facts)
    }

    /// Tells names.
    pub(crate) fn name(&mut self, facts: Facts) {
        facts.iter().for_each(|(_, fact)| {
            self.builder.tables.facts.push(fact);
        });
    }

    fn of(mut builder: Builder) -> Self {
        let (name, executable) = (builder.string("app"), builder.string("/bin/app"));
        let process = builder.tables.processes.push(Process {
            pid: 1,
            namespace_pid: None,
            parent: None,
            exec_of: None,
            name,
            executable,
            start_ns: 0,
            end_ns: None,
        });
        let name = builder.string("cpu-clock");
        let source = MeasureSource::CpuSamples;
        let measure =
            builder.tables.measures.push(Measure { name, source, unit: Unit::Nanoseconds, period: Some(10) });
        let (threads, named) = (FxHashMap::default(), FxHashSet::default());
        Self { builder, process, measure, threads, next_ns: 0, named }
    }

    /// Draws one line.
    pub(crate) fn sample(&mut self, line: &str) {
        let (head, frames) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        self.next_ns += 1000;
        let (mut tid, mut time_ns, mut end, mut weight) = (1, self.next_ns, EndReason::Complete, 0);
        for word in head.split_whitespace() {
            match word.split_once('=') {
                Some(("tid", value)) => tid = value.parse().unwrap(),
                Some(("t", value)) => time_ns = value.parse().unwrap(),
                Some(("end", value)) => {
                    end = *EndReason::ALL.iter().find(|reason| reason.name() == value).unwrap();
                }
                _ => weight = word.parse().unwrap(),
            }
        }
        let stack = self.stack(frames);
        let thread = self.thread(tid);
        let (measure, mode) = (self.measure, CpuMode::User);
        self.builder.sample(Sample { time_ns, thread, stack, weight, measure, cpu: 0, mode, end });
    }

    pub(crate) fn thread(&mut self, tid: u32) -> ThreadId {
        if let Some(id) = self.threads.get(&tid) {
            return *id;
        }
        let name = self.builder.string(&format!("thread-{tid}"));
        let id = self.builder.tables.threads.push(Thread {
            process: self.process,
            tid,
            namespace_tid: None,
            name,
            start_ns: 0,
            end_ns: None,
            user_time_ns: Some(900),
            system_time_ns: Some(100),
        });
        self.threads.insert(tid, id);
        id
    }

    pub(crate) fn stack(&mut self, frames: &str) -> Option<StackId> {
        let frames: Vec<&str> = frames.split(';').map(str::trim).filter(|frame| !frame.is_empty()).collect();
        let mut stack = None;
        for (at, frame) in frames.iter().enumerate() {
            let frame = self.frame(frame, at + 1 < frames.len());
            stack = Some(self.builder.stack(stack, frame));
        }
        stack
    }

    fn frame(&mut self, text: &str, is_caller: bool) -> FrameId {
        let role = CodeRole::Plain;
        if let Some(name) = text.strip_prefix('"') {
            let name = self.builder.string(name.trim_end_matches('"'));
            let address = u64::from(name.get());
            return self.builder.frame(Frame { kind: FrameKind::Named, role, module: None, address });
        }
        let (module, levels) = text.split_once('!').unwrap_or(("app", text));
        let kind = match (module == "k", is_caller) {
            (false, false) => FrameKind::Native,
            (false, true) => FrameKind::NativeCaller,
            (true, false) => FrameKind::Kernel,
            (true, true) => FrameKind::KernelCaller,
        };
        // A caller's frame is at its return address: one past the address that the text stands for.
        let address = address(levels) + u64::from(is_caller);
        let id = self.module(module);
        let frame = self.builder.frame(Frame { kind, role, module: Some(id), address });
        if !levels.starts_with('?') && self.named.insert(frame) {
            self.facts(frame, id, levels);
        }
        frame
    }

    fn module(&mut self, name: &str) -> ModuleId {
        let kind = if name == "k" { ModuleKind::Kernel } else { ModuleKind::File };
        let path = if name == "k" { "[kernel]".to_owned() } else { format!("/lib/{name}") };
        let path = self.builder.string(&path);
        let (identity_kind, none) = (IdentityKind::None, StringId::new(0));
        self.builder.module(Module { kind, path, identity_kind, identity: none, debug_path: none })
    }

    fn facts(&mut self, frame: FrameId, module: ModuleId, levels: &str) {
        for (depth, level) in (0..).zip(levels.split('<')) {
            let (name, place) = level.split_once('@').unwrap_or((level, ""));
            let (file, line) = place.rsplit_once(':').map_or((None, 0), |(file, line)| {
                let path = self.builder.string(file);
                let row = File { path, hash_kind: HashKind::None, hash: StringId::new(0) };
                (Some(self.builder.file(row)), line.parse().unwrap())
            });
            let flags = if name.ends_with('%') { FunctionFlags::Folded } else { FunctionFlags::Plain };
            let name = self.builder.string(name.trim_end_matches('%'));
            let function = self.builder.function(Function {
                name,
                linkage_name: StringId::new(0),
                module: Some(module),
                file,
                line: u32::from(file.is_some()),
                relative_address: 0,
                flags,
            });
            self.builder.tables.facts.push(Fact { frame, depth, function, file, line });
        }
    }
}

/// The address given, or one made of the text, far from those.
fn address(levels: &str) -> u64 {
    let made = || levels.bytes().fold(7, |sum: u64, byte| (sum * 31 + u64::from(byte)) % 0xffff_ffff) << 8;
    levels.strip_prefix('?').map_or_else(made, |hex| u64::from_str_radix(hex, 16).unwrap())
}
