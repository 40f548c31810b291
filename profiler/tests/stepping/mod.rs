//! A traced child for unwinder tests: compiled on the spot, stopped at will, stepped instruction by instruction.
//!
//! The child stops itself with SIGSTOP where the interesting part begins and again where it ends.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashMap;
use std::io::IoSliceMut;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use microscope_capture::EndReason;
use microscope_profiler::registers::Registers;
use microscope_profiler::unwind::{CodeAt, CodeMap, Section, SectionBytes, UnwindImage, UnwindSections};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use object::{Object, ObjectSection, ObjectSegment, SectionFlags, SegmentFlags};

/// Compiles a program with gcc (or what `compiler` names) into a directory.
pub fn compile(directory: &Path, compiler: &str, file: &str, source: &str, flags: &[&str]) -> PathBuf {
    let (source_path, program) = (directory.join(file), directory.join(file.replace('.', "_")));
    std::fs::write(&source_path, source).unwrap();
    let mut command = Command::new(compiler);
    command.arg(&source_path).arg("-o").arg(&program).args(flags).current_dir(directory);
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// A child under ptrace.
pub struct Tracee {
    child: Child,
    pid: Pid,
    /// The code mapped when last asked.
    pub maps: Maps,
}

impl Tracee {
    /// Starts a program and waits for its first SIGSTOP.
    pub fn start(program: &Path) -> Self {
        let mut tracee = Self::start_where_stopped(program);
        // Attaching sends a stop of its own.
        while tracee.step(None) == Stopped::Signal(Signal::SIGSTOP) {}
        tracee
    }

    /// The same, without a step: the thread that stopped the process may not be its first.
    pub fn start_where_stopped(program: &Path) -> Self {
        let child = Command::new(program).stdout(Stdio::null()).spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        assert!(matches!(
            waitpid(pid, Some(WaitPidFlag::WUNTRACED)),
            Ok(WaitStatus::Stopped(_, Signal::SIGSTOP))
        ));
        ptrace::attach(pid).unwrap();
        waitpid(pid, None).unwrap();
        let mut tracee = Self { child, pid, maps: Maps::default() };
        tracee.read_maps();
        tracee
    }

    /// Starts a command and lets it run; [`Tracee::interrupt`] stops it.
    pub fn run(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        ptrace::seize(pid, ptrace::Options::empty()).unwrap();
        Self { child, pid, maps: Maps::default() }
    }

    /// Stops a running child where it is, calls `look`, and lets it run on. `None` once it has ended.
    pub fn interrupt<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> Option<T> {
        ptrace::interrupt(self.pid).ok()?;
        let signal = match waitpid(self.pid, None).ok()? {
            WaitStatus::PtraceEvent(..) => None,
            WaitStatus::Stopped(_, signal) => Some(signal),
            _ => return None,
        };
        let seen = look(self);
        ptrace::cont(self.pid, signal).ok()?;
        Some(seen)
    }

    /// Traces another thread of the same process instead.
    pub fn switch_to_other_thread(&mut self) {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid)).unwrap();
        let ids = tasks.map(|task| task.unwrap().file_name().to_str().unwrap().parse().unwrap());
        let other = ids.map(Pid::from_raw).find(|id| *id != self.pid).unwrap();
        ptrace::attach(other).unwrap();
        waitpid(other, Some(WaitPidFlag::__WALL)).unwrap();
        self.pid = other;
    }

    /// Executes one instruction, or delivers a signal and stops at its handler's first.
    pub fn step(&mut self, deliver: Option<Signal>) -> Stopped {
        ptrace::step(self.pid, deliver).unwrap();
        match waitpid(self.pid, None).unwrap() {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => Stopped::Stepped,
            WaitStatus::Stopped(_, signal) => Stopped::Signal(signal),
            other => panic!("the program ended while stepped: {other:?}"),
        }
    }

    /// The general registers.
    pub fn registers(&self) -> Registers {
        let raw = ptrace::getregs(self.pid).unwrap();
        let values = [
            raw.rax, raw.rdx, raw.rcx, raw.rbx, raw.rsi, raw.rdi, raw.rbp, raw.rsp, raw.r8, raw.r9, raw.r10,
            raw.r11, raw.r12, raw.r13, raw.r14, raw.r15, raw.rip,
        ];
        let mut registers = Registers::default();
        for (number, value) in (0..).zip(values) {
            registers.set(number, value);
        }
        registers
    }

    /// Memory from an address on, as far as it is mapped.
    pub fn memory(&self, address: u64, len: usize) -> Vec<u8> {
        memory_of(self.pid, address, len)
    }

    /// One word of memory.
    pub fn word(&self, address: u64) -> u64 {
        let bytes = self.memory(address, 8);
        bytes.try_into().map_or(0, u64::from_le_bytes)
    }

    /// Reads the mappings again; images are kept by path.
    pub fn read_maps(&mut self) {
        let text = std::fs::read_to_string(format!("/proc/{}/maps", self.pid)).unwrap();
        let pid = self.pid;
        self.maps.update(&text, |start, len| memory_of(pid, start, len));
    }
}

fn memory_of(pid: Pid, address: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let base = usize::try_from(address).unwrap();
    // Page by page: a range is read up to the first page that is not there.
    let mut remote = Vec::new();
    let mut at = base;
    while at < base + len {
        let end = (at / 4096 + 1) * 4096;
        remote.push(RemoteIoVec { base: at, len: end.min(base + len) - at });
        at = end;
    }
    let count = process_vm_readv(pid, &mut [IoSliceMut::new(&mut bytes)], &remote).unwrap_or(0);
    bytes.truncate(count);
    bytes
}

impl Drop for Tracee {
    fn drop(&mut self) {
        drop(self.child.kill());
        // The leader can only be reaped after its other threads.
        if self.pid.as_raw() != self.child.id().cast_signed() {
            let _ = waitpid(self.pid, Some(WaitPidFlag::__WALL));
        }
        drop(self.child.wait());
    }
}

/// Why a stepped child stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It executed one instruction.
    Stepped,
    /// A signal is about to be delivered.
    Signal(Signal),
}

/// Executable mappings, as a recorder's tracking would know them.
#[derive(Default)]
pub struct Maps {
    images: HashMap<String, Arc<Loaded>>,
    pub mappings: Vec<Mapping>,
    generation: u64,
    text: String,
}

/// One executable mapping.
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    pub relative_start: u64,
    pub image: Option<Arc<Loaded>>,
    pub path: String,
}

/// A file's image and its executable segments.
pub struct Loaded {
    pub image: UnwindImage,
    /// File offset, size, address.
    segments: Vec<(u64, u64, u64)>,
    /// The whole file.
    pub bytes: Vec<u8>,
}

impl Loaded {
    pub fn parse(bytes: Vec<u8>) -> Self {
        let file = object::File::parse(&*bytes).unwrap();
        let executable = |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.0 & 1 != 0);
        let segments = file.segments().filter(|segment| executable(segment.flags()));
        let segments = segments.map(|segment| {
            let (offset, size) = segment.file_range();
            (offset, size, segment.address())
        });
        let (segments, image) = (segments.collect(), UnwindImage::new(sections_of(&file)));
        image.index();
        Self { image, segments, bytes }
    }

    fn relative_start(&self, offset: u64) -> u64 {
        let page = |value: u64| value & !0xfff;
        let holds = |&&(at, size, _): &&(u64, u64, u64)| page(at) <= offset && offset < at + size;
        self.segments
            .iter()
            .find(holds)
            .map_or(offset, |(at, _, address)| address.wrapping_sub(at.wrapping_sub(offset)))
    }
}

/// The unwinder's sections of a parsed file.
pub fn sections_of(file: &object::File<'_>) -> UnwindSections {
    let section = |name: &str| {
        let section = file.section_by_name(name)?;
        let bytes = section.uncompressed_data().ok().filter(|bytes| !bytes.is_empty())?;
        Some(Section { address: section.address(), bytes: SectionBytes::whole(bytes.into_owned()) })
    };
    let is_code = |flags| matches!(flags, SectionFlags::Elf { sh_flags, .. } if sh_flags.0 & 4 != 0);
    let code = file.sections().filter(|section| is_code(section.flags()));
    UnwindSections {
        eh_frame_hdr: section(".eh_frame_hdr"),
        eh_frame: section(".eh_frame"),
        debug_frame: section(".debug_frame"),
        stubs: [".plt", ".plt.got", ".plt.sec", ".iplt"].into_iter().filter_map(section).collect(),
        text: code.filter_map(|found| section(found.name().ok()?)).collect(),
        entry: Some(file.entry()).filter(|entry| *entry != 0),
    }
}

impl Maps {
    fn update(&mut self, text: &str, vdso: impl Fn(u64, usize) -> Vec<u8>) {
        if text == self.text {
            return;
        }
        self.text = text.into();
        self.generation += 1;
        self.mappings.clear();
        for line in text.lines() {
            let mut fields = line.split_ascii_whitespace();
            let (range, access) = (fields.next().unwrap(), fields.next().unwrap());
            let (start, end) = range.split_once('-').unwrap();
            let hex = |digits: &str| u64::from_str_radix(digits, 16).unwrap();
            let (start, end, offset) = (hex(start), hex(end), hex(fields.next().unwrap()));
            let name = fields.nth(2).unwrap_or_default();
            if !access.contains('x') {
                continue;
            }
            let image = match name {
                "[vdso]" => Some(vdso(start, usize::try_from(end - start).unwrap())),
                name if name.starts_with('/') => None,
                _ => Some(Vec::new()),
            };
            let image = self.image(name, image);
            let relative_start = image.as_ref().map_or(0, |image| image.relative_start(offset));
            self.mappings.push(Mapping { start, end, relative_start, image, path: name.into() });
        }
    }

    fn image(&mut self, name: &str, bytes: Option<Vec<u8>>) -> Option<Arc<Loaded>> {
        if let Some(loaded) = self.images.get(name) {
            return Some(Arc::clone(loaded));
        }
        let bytes = bytes.unwrap_or_else(|| std::fs::read(name).unwrap());
        if bytes.is_empty() {
            return None;
        }
        let loaded = Arc::new(Loaded::parse(bytes));
        self.images.insert(name.into(), Arc::clone(&loaded));
        Some(loaded)
    }

    /// Whether an address is in some executable mapping.
    pub fn holds(&self, address: u64) -> bool {
        self.mapping(address).is_some()
    }

    /// The mapping that holds an address; the kernel lists them in order.
    fn mapping(&self, address: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|mapping| mapping.start <= address);
        self.mappings.get(after.checked_sub(1)?).filter(|mapping| address < mapping.end)
    }

    /// Whether an address is in code of a file whose path contains `name`.
    pub fn is_in(&self, address: u64, name: &str) -> bool {
        self.mapping(address).is_some_and(|mapping| mapping.path.contains(name))
    }

    /// Takes the images of files whose path contains `name` out of the map: their code stays, without rules.
    pub fn forget(&mut self, name: &str) {
        for mapping in self.mappings.iter_mut().filter(|mapping| mapping.path.contains(name)) {
            mapping.image = None;
        }
        self.generation += 1 << 32;
    }
}

impl CodeMap for Maps {
    fn generation(&self) -> u64 {
        self.generation
    }

    fn at(&self, address: u64) -> CodeAt<'_> {
        match self.mapping(address) {
            Some(Mapping { start, relative_start, image: Some(loaded), .. }) => {
                CodeAt::Image { image: &loaded.image, relative_address: address - start + relative_start }
            }
            Some(Mapping { path, .. }) if path.starts_with('/') => CodeAt::NoImage(EndReason::NoFile),
            Some(_) => CodeAt::NoImage(EndReason::NoRule),
            None => CodeAt::Unmapped,
        }
    }
}
