//! What the views cost: `cargo bench -p microscope-analysis --bench queries [-- CASE… VIEW…]`.
//!
//! A made-up program: 5,000 functions in 20 modules, each path goes on from a caller of an earlier one, every
//! fourth frame has an inline chain of two. First 1 M and 10 M samples over 100,000 unique stacks, then the
//! worst case, 1 M samples of as many stacks. Prints medians of nine runs: time, and processor time of all
//! threads, which a busy machine falsifies less.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints its numbers and may fail")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use microscope_analysis::views::{self, TreeOptions, TreeOrder};
use microscope_analysis::{Granularity, Query};
use microscope_capture::{
    Builder, Capture, CodeRole, CpuMode, EndReason, Fact, File, Frame, FrameId, FrameKind, Function,
    FunctionFlags, FunctionId, HashKind, IdentityKind, Measure, MeasureSource, Module, ModuleId, ModuleKind,
    Process, Sample, StackId, StringId, Thread, Unit,
};

const RUNS: usize = 9;
const FUNCTIONS: u32 = 5_000;
const SITES_PER_FUNCTION: u32 = 4;

/// Name, samples, unique stacks.
const CASES: [(&str, usize, usize); 3] =
    [("1m", 1_000_000, 100_000), ("10m", 10_000_000, 100_000), ("worst", 1_000_000, 1_000_000)];

fn main() {
    for (name, samples, stacks) in CASES {
        if is_wanted(true, |case| case == name) {
            measure(&capture(samples, stacks), stacks);
        }
    }
}

/// Whether an argument names a case (or a view); without one all are wanted.
fn is_wanted(cases: bool, names: impl Fn(&str) -> bool) -> bool {
    let is_case = |arg: &str| CASES.iter().any(|(name, ..)| *name == arg);
    let arguments = std::env::args().skip(1).filter(|arg| !arg.starts_with('-') && is_case(arg) == cases);
    let wanted: Vec<String> = arguments.collect();
    wanted.is_empty() || wanted.iter().any(|arg| names(arg))
}

fn measure(capture: &Capture, stacks: usize) {
    let (samples, nodes, frames) = (capture.samples.len(), capture.stacks.len(), capture.frames.len());
    let depth = mean_depth(capture);
    println!("{samples} samples, {stacks} unique stacks, {depth} deep, {nodes} tree nodes, {frames} frames");
    let query = Query::default();
    let by_address = Query { by: Granularity::Address, ..Query::default() };
    let mut one_thread = Query::default();
    one_thread.filter.threads.push("3".parse().unwrap());
    let top_down = TreeOptions::default();
    let half_percent = TreeOptions { min_ppm: 5_000, ..top_down };
    let inverted = TreeOptions { order: TreeOrder::Inverted, ..top_down };
    let inverted_half_percent = TreeOptions { order: TreeOrder::Inverted, ..half_percent };
    time("flat by function", || views::flat(capture, &query));
    time("flat by function, one thread", || views::flat(capture, &one_thread));
    time("flat by address", || views::flat(capture, &by_address));
    time("lines", || views::lines(capture, &query));
    time("tree, whole", || views::tree(capture, &query, &top_down));
    time("tree, from 0.5 %", || views::tree(capture, &query, &half_percent));
    time("tree inverted, whole", || views::tree(capture, &query, &inverted));
    time("tree inverted, from 0.5 %", || views::tree(capture, &query, &inverted_half_percent));
    time("ends", || views::ends(capture, &query));
    time("timeline, 1,000 buckets", || views::timeline(capture, &query, 1_000));
    time("summary", || views::summary(capture, &query, 10));
}

fn mean_depth(capture: &Capture) -> usize {
    let mut depths: Vec<usize> = Vec::new();
    for parent in &capture.stacks.parent {
        depths.push(1 + parent.map_or(0, |parent| depths[parent.index()]));
    }
    let stacks = capture.samples.stack.iter().flatten();
    stacks.map(|stack| depths[stack.index()]).sum::<usize>() / capture.samples.len()
}

fn time<T>(name: &str, mut question: impl FnMut() -> T) {
    if !is_wanted(false, |view| name.starts_with(view)) {
        return;
    }
    let mut walls = Vec::new();
    let mut cpus = Vec::new();
    for _ in 0..RUNS {
        let (start, cpu) = (Instant::now(), processor_time());
        let answer = black_box(question());
        walls.push(start.elapsed());
        cpus.push(processor_time() - cpu);
        drop(answer);
    }
    println!("  {name:30} {:8.2} ms, {:8.2} ms of CPU", median(walls), median(cpus));
}

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// Of all threads.
fn processor_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap().into()
}

/// xorshift64*: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        u32::try_from((bits * u64::from(end)) >> 32).unwrap()
    }

    /// Small numbers far more often.
    fn skewed(&mut self, end: u32) -> u32 {
        let smaller = self.below(end) + 1;
        self.below(smaller)
    }
}

fn capture(samples: usize, unique: usize) -> Capture {
    let mut builder = Builder::new();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let frames = frames(&mut builder);
    let stacks = stacks(&mut builder, &frames, unique, &mut random);
    let threads = threads(&mut builder);
    let name = builder.string("cpu-clock");
    let (source, unit) = (MeasureSource::CpuSamples, Unit::Nanoseconds);
    let measure = builder.tables.measures.push(Measure { name, source, unit, period: Some(1_001_001) });
    for at in 0..samples {
        // Every stack is seen at least once, hot ones often.
        let rest = u32::try_from(stacks.len()).unwrap();
        let stack = stacks.get(at).copied().unwrap_or_else(|| stacks[random.skewed(rest) as usize]);
        let thread = threads[random.below(8) as usize];
        let end = if random.below(200) == 0 { EndReason::StackBytes } else { EndReason::Complete };
        builder.tables.samples.push(Sample {
            time_ns: at as u64 * 125_125,
            thread,
            stack: Some(stack),
            weight: 1_001_001,
            measure,
            cpu: 0,
            mode: CpuMode::User,
            end,
        });
    }
    builder.finish().unwrap()
}

fn threads(builder: &mut Builder) -> Vec<microscope_capture::ThreadId> {
    let (name, executable) = (builder.string("bench"), StringId::new(0));
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
    let row = |tid| Thread {
        process,
        tid,
        namespace_tid: None,
        name,
        start_ns: 0,
        end_ns: None,
        user_time_ns: None,
        system_time_ns: None,
    };
    (1..=8).map(|tid| builder.tables.threads.push(row(tid))).collect()
}

/// By function and site: a frame as a caller, and one as the innermost.
fn frames(builder: &mut Builder) -> Vec<[FrameId; 2]> {
    let modules: Vec<ModuleId> = (0..20).map(|at| module(builder, at)).collect();
    let functions: Vec<FunctionId> = (0..FUNCTIONS).map(|at| function(builder, &modules, at)).collect();
    let mut frames = Vec::new();
    for at in 0..FUNCTIONS {
        for site in 0..SITES_PER_FUNCTION {
            frames.push([FrameKind::NativeCaller, FrameKind::Native].map(|kind| {
                let module = Some(modules[at as usize % modules.len()]);
                let address = u64::from(at) * 0x100 + u64::from(site) * 0x10 + u64::from(kind.is_caller());
                let frame = builder.frame(Frame { kind, role: CodeRole::Plain, module, address });
                facts(builder, &functions, frame, at, site);
                frame
            }));
        }
    }
    frames
}

fn module(builder: &mut Builder, at: u32) -> ModuleId {
    let none = StringId::new(0);
    let path = builder.string(&format!("/usr/lib/libmodule{at}.so.1"));
    let (kind, identity_kind) = (ModuleKind::File, IdentityKind::None);
    builder.module(Module { kind, path, identity_kind, identity: none, debug_path: none })
}

fn function(builder: &mut Builder, modules: &[ModuleId], at: u32) -> FunctionId {
    let none = StringId::new(0);
    let path = builder.string(&format!("/home/user/project/src/part{}/file{}.rs", at % 50, at / 10));
    let file = builder.file(File { path, hash_kind: HashKind::None, hash: none });
    let name = builder.string(&format!("project::part{}::Type{}::method_{at}", at % 50, at / 10));
    builder.function(Function {
        name,
        linkage_name: none,
        module: Some(modules[at as usize % modules.len()]),
        file: Some(file),
        line: 10 + at % 10 * 100,
        relative_address: u64::from(at) * 0x100,
        flags: FunctionFlags::Plain,
    })
}

/// One level, or three for every fourth frame.
fn facts(builder: &mut Builder, functions: &[FunctionId], frame: FrameId, at: u32, site: u32) {
    let inlined = if site == 0 { vec![(at * 7 + 1) % FUNCTIONS, (at * 13 + 2) % FUNCTIONS] } else { vec![] };
    for (depth, at) in (0..).zip(inlined.into_iter().chain([at])) {
        let function = functions[at as usize];
        let row = builder.tables.functions.row(function);
        let line = row.line + 1 + site * 5;
        builder.tables.facts.push(Fact { frame, depth, function, file: row.file, line });
    }
}

/// `unique` stacks that samples end at: each goes on from some caller of an earlier one.
fn stacks(
    builder: &mut Builder,
    frames: &[[FrameId; 2]],
    unique: usize,
    random: &mut Random,
) -> Vec<StackId> {
    let mut found = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut paths: Vec<Vec<u32>> = vec![vec![0; 12]];
    while found.len() < unique {
        let from = random.below(u32::try_from(paths.len()).unwrap()) as usize;
        let mut path = paths[from].clone();
        path.truncate(path.len() - 1 - random.skewed(4) as usize);
        for _ in 0..=random.skewed(4) {
            let callee = path.last().map_or(0, |at| (at * 31 + 1 + random.skewed(6)) % FUNCTIONS);
            path.push(callee);
        }
        let site = |at: &u32, level: usize| {
            frames[(at * SITES_PER_FUNCTION + at * 7 % SITES_PER_FUNCTION) as usize][level]
        };
        let (innermost, callers) = path.split_last().unwrap();
        let caller = callers.iter().fold(None, |stack, at| Some(builder.stack(stack, site(at, 0))));
        let innermost =
            frames[(innermost * SITES_PER_FUNCTION + random.below(SITES_PER_FUNCTION)) as usize][1];
        let stack = builder.stack(caller, innermost);
        if seen.insert(stack) {
            found.push(stack);
            paths.push(path);
        }
    }
    found
}
