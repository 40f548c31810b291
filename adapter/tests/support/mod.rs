//! Captures for tests, written as stacks of text, and the comparison with golden files.

#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use std::fs;
use std::path::Path;

use microscope_capture::*;

/// Nanoseconds between samples of one thread.
pub const PERIOD_NS: u64 = 1_000_000;

/// A capture being written.
pub struct Recording {
    pub builder: Builder,
    module: ModuleId,
    addresses: u64,
    measure: MeasureId,
    process: Option<ProcessId>,
    samples: Vec<Sample>,
}

impl Recording {
    /// A recording of CPU time, in user and kernel code or in user code only.
    pub fn new(source: MeasureSource) -> Self {
        let mut builder = Builder::new();
        let name = builder.string("cpu-clock");
        let row = Measure { name, source, unit: Unit::Nanoseconds, period: Some(PERIOD_NS) };
        let measure = builder.tables.measures.push(row);
        builder.tables.rate_changes.push(RateChange {
            time_ns: 0,
            measure,
            rate_hz: 1_000,
            stack_bytes: 16_384,
        });
        let mut recording = Self {
            builder,
            module: ModuleId::new(0),
            addresses: 0x1000,
            measure,
            process: None,
            samples: Vec::new(),
        };
        recording.module = recording.module("/home/me/app/target/release/app", ModuleKind::File);
        recording
    }

    pub fn setting(&mut self, name: &str, value: &str) {
        let (name, value) = (self.builder.string(name), self.builder.string(value));
        self.builder.tables.settings.push(Setting { process: None, name, value });
    }

    pub fn module(&mut self, path: &str, kind: ModuleKind) -> ModuleId {
        let path = self.builder.string(path);
        let empty = StringId::new(0);
        let identity_kind = IdentityKind::None;
        self.builder.module(Module { kind, path, identity_kind, identity: empty, debug_path: empty })
    }

    /// A process; threads that follow are its.
    pub fn process(&mut self, pid: u32, name: &str) -> ProcessId {
        let (name, executable) =
            (self.builder.string(name), self.builder.string(&format!("/home/me/app/{name}")));
        let id = self.builder.tables.processes.push(Process {
            pid,
            namespace_pid: None,
            parent: None,
            exec_of: None,
            name,
            executable,
            start_ns: 0,
            end_ns: None,
        });
        self.process = Some(id);
        id
    }

    pub fn thread(&mut self, tid: u32, name: &str) -> ThreadId {
        let name = self.builder.string(name);
        self.builder.tables.threads.push(Thread {
            process: self.process.unwrap(),
            tid,
            namespace_tid: None,
            name,
            start_ns: 0,
            end_ns: None,
            user_time_ns: None,
            system_time_ns: None,
        })
    }

    /// `count` samples from `from_ns` on. Frames are separated by ` > `, outermost first; see [`Self::frame`].
    pub fn sample(&mut self, thread: ThreadId, from_ns: u64, count: u64, frames: &str) {
        self.sample_ending(thread, from_ns, count, frames, EndReason::Complete);
    }

    /// The same with another end of the stack.
    pub fn sample_ending(
        &mut self,
        thread: ThreadId,
        from_ns: u64,
        count: u64,
        frames: &str,
        end: EndReason,
    ) {
        let mut stack = None;
        let depth = frames.split(" > ").count();
        for (at, frame) in frames.split(" > ").enumerate() {
            let frame = self.frame(frame, at + 1 < depth);
            stack = Some(self.builder.stack(stack, frame));
        }
        for number in 0..count {
            self.samples.push(Sample {
                time_ns: from_ns + number * PERIOD_NS,
                thread,
                stack,
                weight: PERIOD_NS,
                measure: self.measure,
                cpu: 0,
                mode: CpuMode::User,
                end,
            });
        }
    }

    /// A frame: `function@file:line`, several inlined ones innermost first separated by `|`; `function@` knows
    /// no line; `path!function@…` is in another module, `path!` has no name there.
    pub fn frame(&mut self, text: &str, is_caller: bool) -> FrameId {
        let (module, levels) = match text.split_once('!') {
            Some((path, levels)) => (self.module(path, ModuleKind::File), levels),
            None => (self.module, text),
        };
        let key = self.builder.string(&format!("{is_caller} {text}"));
        let kind = if is_caller { FrameKind::NativeCaller } else { FrameKind::Native };
        let address = 0x1000 + u64::from(key.get()) * 16 + u64::from(is_caller);
        let known = self.builder.tables.frames.len();
        let frame = self.builder.frame(Frame { kind, role: CodeRole::Plain, module: Some(module), address });
        if self.builder.tables.frames.len() > known && !levels.is_empty() {
            for (depth, level) in (0..).zip(levels.split('|')) {
                self.fact(frame, depth, level, module);
            }
        }
        frame
    }

    fn fact(&mut self, frame: FrameId, depth: u16, level: &str, module: ModuleId) {
        let (name, place) = level.rsplit_once('@').unwrap();
        let (path, line) =
            place.rsplit_once(':').map_or((None, 0), |(path, line)| (Some(path), line.parse().unwrap()));
        let file = path.map(|path| self.file(path, HashKind::None, ""));
        let name = self.builder.string(name);
        let function = self.builder.function(Function {
            name,
            linkage_name: StringId::new(0),
            module: Some(module),
            file,
            line: 0,
            relative_address: 0,
            flags: FunctionFlags::Plain,
        });
        self.builder.tables.facts.push(Fact { frame, depth, function, file, line });
    }

    pub fn file(&mut self, path: &str, hash_kind: HashKind, hash: &str) -> FileId {
        let (path, hash) = (self.builder.string(path), self.builder.string(hash));
        self.builder.file(File { path, hash_kind, hash })
    }

    pub fn loss(&mut self, kind: LossKind, count: u64, from_ns: u64, until_ns: u64, cpu: Option<u16>) {
        let detail = StringId::new(0);
        let (process, thread) = (None, None);
        self.builder.tables.losses.push(Loss {
            kind,
            count,
            from_ns,
            until_ns,
            cpu,
            process,
            thread,
            detail,
        });
    }

    /// Puts the samples into the tables, in their order.
    pub fn flush(&mut self) {
        self.samples.sort_by_key(|sample| (sample.time_ns, sample.thread));
        for sample in self.samples.drain(..) {
            self.builder.tables.samples.push(sample);
        }
    }

    pub fn seal(mut self) -> Capture {
        self.flush();
        Capture::validate(self.builder.tables).expect("the test's capture is valid")
    }
}

/// A server with two workers: lines, an inlined helper, a library without debug information, a cut stack.
pub fn server() -> Recording {
    let mut recording = Recording::new(MeasureSource::CpuSamples);
    recording.setting("recorder-cpu-ns", "41000000");
    recording.setting("recorder-memory-bytes", "35651584");
    recording.process(4711, "server");
    let main = recording.thread(4711, "server");
    let worker = recording.thread(4712, "worker");
    let root = "_start@ > main@/home/me/app/src/main.rs:12";
    let parse = format!("{root} > server::parse::header@/home/me/app/src/parse.rs:30");
    recording.sample(main, 0, 60, &format!("{root} > server::accept@/home/me/app/src/main.rs:44"));
    recording.sample(
        worker,
        10 * PERIOD_NS,
        410,
        &format!("{parse} > server::parse::trim@/home/me/app/src/text.rs:7|server::parse::field@/home/me/app/src/parse.rs:58"),
    );
    recording.sample(
        worker,
        420 * PERIOD_NS,
        300,
        &format!("{parse} > /lib/x86_64-linux-gnu/libc.so.6!memcpy@"),
    );
    recording.sample(
        worker,
        720 * PERIOD_NS,
        200,
        &format!("{root} > server::render@/home/me/app/src/render.rs:101"),
    );
    recording.sample_ending(
        worker,
        920 * PERIOD_NS,
        30,
        "/lib/x86_64-linux-gnu/libz.so.1! > server::render@/home/me/app/src/render.rs:99",
        EndReason::NoRule,
    );
    recording
}

/// Compares `actual` with the golden file `name`; `MICROSCOPE_UPDATE_GOLDENS=1` writes it instead.
pub fn check_golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(name);
    if std::env::var_os("MICROSCOPE_UPDATE_GOLDENS").is_some_and(|value| value == "1") {
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "{} differs; set MICROSCOPE_UPDATE_GOLDENS=1 to accept:\n{actual}",
        path.display()
    );
}
