//! The unwinder beside framehop on the same samples of a real program, in one run.
//!
//! ```text
//! cargo bench -p microscope-profiler --bench unwind [-- PROGRAM ARGS…]     default: the C compiler at work
//! ```
//!
//! Three cases, as a recorder meets them: `new` walks every sample once with rules at hand, `again` walks a
//! sample right after itself, `cold` finds every rule anew: framehop with an empty cache, ours as after a
//! library was loaded, when the code map has a new generation. Rounds of the two alternate. Each sample counts
//! with the median of its rounds, which another process on the machine does not disturb. Printed are
//! nanoseconds per frame, and how often the stacks differ. Two causes are known: in hand-written assembly
//! without call-frame information (libgmp's) framehop guesses that the innermost function is a leaf, where
//! ours ends the stack; and framehop ends where a frame hangs on another register than rsp or rbp.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

#[path = "../tests/stepping/mod.rs"]
mod stepping;

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder as _};
use microscope_profiler::registers::Registers;
use microscope_profiler::unwind::{CodeAt, CodeMap, RawFrame, SampledInput, StackPolicy, Unwinder};
use object::{Object, ObjectSection};
use stepping::{Maps, Tracee};

const STACK_BYTES: usize = 16 * 1024;
const SAMPLES_MAX: usize = 3000;
const ROUNDS: usize = 15;

/// One sample.
struct Sample {
    registers: Registers,
    stack: Vec<u8>,
}

/// Anything that walks a sample and says how many frames it found.
trait Walker {
    /// Forgets every rule.
    fn forget(&mut self);
    /// Walks one sample and says how many frames it found.
    fn walk(&mut self, sample: &Sample) -> usize;
}

struct Ours<'a> {
    unwinder: Unwinder,
    maps: Generation<'a>,
    frames: Vec<RawFrame>,
}

/// A code map whose generation can be made new.
struct Generation<'a> {
    maps: &'a Maps,
    generation: u64,
}

impl CodeMap for Generation<'_> {
    fn generation(&self) -> u64 {
        self.generation
    }

    fn at(&self, address: u64) -> CodeAt<'_> {
        self.maps.at(address)
    }
}

impl Walker for Ours<'_> {
    fn forget(&mut self) {
        self.maps.generation += 1;
    }

    fn walk(&mut self, sample: &Sample) -> usize {
        let input = SampledInput {
            registers: sample.registers,
            stack: &sample.stack,
            stack_is_cut: true,
            user_chain: &[],
        };
        self.unwinder.walk(&input, &self.maps, StackPolicy::Copy, &mut self.frames);
        self.frames.len()
    }
}

struct Framehop {
    unwinder: framehop::x86_64::UnwinderX86_64<Vec<u8>>,
    cache: framehop::x86_64::CacheX86_64,
    frames: Vec<FrameAddress>,
}

impl Framehop {
    fn new(maps: &Maps) -> Self {
        let mut unwinder = framehop::x86_64::UnwinderX86_64::new();
        for mapping in &maps.mappings {
            let Some(loaded) = &mapping.image else { continue };
            let base = mapping.start.wrapping_sub(mapping.relative_start);
            let sections = framehop_sections(&object::File::parse(&*loaded.bytes).unwrap());
            unwinder.add_module(Module::new(
                mapping.path.clone(),
                mapping.start..mapping.end,
                base,
                sections,
            ));
        }
        Self { unwinder, cache: framehop::x86_64::CacheX86_64::new(), frames: Vec::new() }
    }
}

fn framehop_sections(file: &object::File<'_>) -> ExplicitModuleSectionInfo<Vec<u8>> {
    let range = |name: &str| {
        file.section_by_name(name).map(|section| section.address()..section.address() + section.size())
    };
    let data = |name: &str| Some(file.section_by_name(name)?.uncompressed_data().ok()?.into_owned());
    ExplicitModuleSectionInfo {
        text_svma: range(".text"),
        got_svma: range(".got"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: data(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: data(".eh_frame_hdr"),
        ..ExplicitModuleSectionInfo::default()
    }
}

impl Walker for Framehop {
    fn forget(&mut self) {
        self.cache = framehop::x86_64::CacheX86_64::new();
    }

    fn walk(&mut self, sample: &Sample) -> usize {
        let registers = &sample.registers;
        let (ip, sp, bp) = (registers.ip().unwrap(), registers.sp().unwrap(), registers.bp().unwrap());
        let start = framehop::x86_64::UnwindRegsX86_64::new(ip, sp, bp);
        let stack = &sample.stack;
        let mut read = |address: u64| {
            let offset = usize::try_from(address.wrapping_sub(sp)).map_err(|_| ())?;
            let word = stack.get(offset..).and_then(|rest| rest.first_chunk()).ok_or(())?;
            Ok(u64::from_le_bytes(*word))
        };
        self.frames.clear();
        let mut frames = self.unwinder.iter_frames(ip, start, &mut self.cache, &mut read);
        while let Ok(Some(frame)) = frames.next() {
            self.frames.push(frame);
        }
        self.frames.len()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    New,
    Again,
    Cold,
}

/// What a case cost: for each sample the times of its rounds, in nanoseconds a walk.
struct Cost {
    rounds: Vec<Vec<f64>>,
    frames: usize,
}

impl Cost {
    fn new(samples: &[Sample]) -> Self {
        Self { rounds: vec![Vec::new(); samples.len()], frames: 0 }
    }

    /// One round over every sample.
    fn round(&mut self, case: Case, samples: &[Sample], walker: &mut impl Walker) {
        self.frames = 0;
        let repeats = if case == Case::Again { 10 } else { 1 };
        for (sample, rounds) in samples.iter().zip(&mut self.rounds) {
            match case {
                Case::New => {}
                Case::Again => _ = black_box(walker.walk(sample)),
                Case::Cold => {
                    // The rules are to be missing, not the sample's bytes.
                    walker.walk(sample);
                    walker.forget();
                }
            }
            let begun = Instant::now();
            let mut frames = 0;
            for _ in 0..repeats {
                frames = black_box(walker.walk(sample));
            }
            rounds.push(begun.elapsed().as_secs_f64() * 1e9 / f64::from(repeats));
            self.frames += frames;
        }
    }

    /// Nanoseconds a frame.
    fn per_frame(self) -> f64 {
        self.rounds.into_iter().map(median).sum::<f64>() / self.frames as f64
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A C file that keeps the compiler busy for some seconds.
fn workload() -> Command {
    let mut source = String::new();
    for n in 0..3000 {
        let (a, b) = (n * 7919 % 97, n * 31 % 13);
        writeln!(
            source,
            "int f{n}(int *p, int n) {{ int s = {a}; for (int i = 0; i < n; i++) {{ if (p[i] > {b}) s += p[i] * {a}; \
             else switch (p[i]) {{ case 1: s ^= i; break; case 2: s -= n; break; default: s <<= 1; }} }} return s; }}"
        )
        .unwrap();
    }
    let path = std::env::temp_dir().join("microscope-bench-unwind.c");
    std::fs::write(&path, source).unwrap();
    let compiler = Command::new("gcc").arg("-print-prog-name=cc1").output().unwrap().stdout;
    let mut command = Command::new(String::from_utf8(compiler).unwrap().trim());
    command.arg("-quiet").arg("-O2").arg(path).arg("-o").arg("/dev/null");
    command
}

fn take_samples(command: &mut Command) -> (Vec<Sample>, Tracee) {
    let mut tracee = Tracee::run(command);
    let mut samples = Vec::new();
    std::thread::sleep(Duration::from_millis(20));
    let look = |tracee: &mut Tracee| {
        tracee.read_maps();
        let registers = tracee.registers();
        let stack = tracee.memory(registers.sp().unwrap(), STACK_BYTES);
        Sample { registers, stack }
    };
    while samples.len() < SAMPLES_MAX {
        let Some(sample) = tracee.interrupt(look) else { break };
        samples.push(sample);
        std::thread::sleep(Duration::from_micros(300));
    }
    (samples, tracee)
}

/// How many samples give the two different addresses, and the frames in all. Prints the first differences.
fn differences(samples: &[Sample], ours: &mut Ours<'_>, theirs: &mut Framehop) -> (usize, usize) {
    let (mut different, mut frames) = (0, 0);
    for sample in samples {
        frames += ours.walk(sample);
        theirs.walk(sample);
        let our_addresses: Vec<u64> = ours.frames.iter().map(|frame| frame.address).collect();
        let their_addresses: Vec<u64> = theirs.frames.iter().map(|frame| frame.address()).collect();
        if our_addresses != their_addresses {
            different += 1;
            if different <= 3 {
                println!("ours     {our_addresses:x?}\nframehop {their_addresses:x?}");
            }
        }
    }
    (different, frames)
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut command = match arguments.next() {
        Some(program) => Command::new(program),
        None => workload(),
    };
    let (samples, tracee) = take_samples(command.args(arguments));
    let maps = Generation { maps: &tracee.maps, generation: 1 };
    let mut ours = Ours { unwinder: Unwinder::new(), maps, frames: Vec::new() };
    let mut theirs = Framehop::new(&tracee.maps);
    let (different, frames) = differences(&samples, &mut ours, &mut theirs);
    println!(
        "{} samples, {:.1} frames each, {different} stacks differ from framehop's",
        samples.len(),
        frames as f64 / samples.len() as f64,
    );
    for case in [Case::New, Case::Again, Case::Cold] {
        let (mut our_cost, mut their_cost) = (Cost::new(&samples), Cost::new(&samples));
        let before = ours.unwinder.counters();
        for _ in 0..ROUNDS {
            our_cost.round(case, &samples, &mut ours);
            their_cost.round(case, &samples, &mut theirs);
        }
        let (our, their) = (our_cost.per_frame(), their_cost.per_frame());
        print!("{case:?}: ours {our:.1} ns a frame, framehop {their:.1}, ratio {:.2}", our / their);
        match case {
            Case::Cold => println!(),
            Case::New | Case::Again => {
                let after = ours.unwinder.counters();
                let hits = after.cache_hits - before.cache_hits;
                let misses = after.cache_misses - before.cache_misses;
                println!(", hit rate {:.2} %", hits as f64 * 100.0 / (hits + misses) as f64);
            }
        }
    }
}
