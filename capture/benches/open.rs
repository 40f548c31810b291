//! Opening and validating captures, and their size:
//! `cargo bench -p microscope-capture --features testing --bench open`.
//!
//! Prints one line per shape: bytes per sample with dictionaries, and medians of the elapsed and the CPU time
//! of opening, and the CPU time of writing. With `--json FILE` the same numbers go to a file, in nanoseconds
//! and bytes;
//! `--samples N` keeps the shapes of so many samples.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench prints and stops on errors"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use microscope_capture::Capture;
use microscope_capture::testing::Synthetic;

/// How often each shape is opened, unless `--rounds N` says so.
const ROUNDS: usize = 11;

/// Samples and unique stacks. The last is the worst case: every sample has a stack of its own.
const SHAPES: &[(usize, usize)] =
    &[(100_000, 10_000), (1_000_000, 100_000), (10_000_000, 100_000), (1_000_000, 1_000_000)];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1))
    };
    let rounds = value("--rounds").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let only: Option<usize> = value("--samples").map(|samples| samples.parse().unwrap());
    let mut rows = Vec::new();
    println!("samples     stacks     bytes/sample   open + validate   CPU time      ns/sample     write");
    for (samples, unique_stacks) in SHAPES.iter().filter(|shape| only.is_none_or(|only| only == shape.0)) {
        rows.push(measure(*samples, *unique_stacks, rounds));
    }
    if let Some(path) = value("--json") {
        std::fs::write(path, format!("[{}]\n", rows.join(",\n "))).unwrap();
    }
}

fn measure(samples: usize, unique_stacks: usize, rounds: usize) -> String {
    let capture = Capture::validate(Synthetic::new(samples, unique_stacks).tables()).unwrap();
    let bytes = capture.to_bytes();
    let (_, write) = medians(3, || drop(capture.to_bytes()));
    drop(capture);
    let (elapsed, cpu) = medians(rounds, || drop(Capture::read(&bytes).unwrap()));
    let per_sample = bytes.len() as f64 / samples as f64;
    println!(
        "{samples:<10}  {unique_stacks:<9}  {per_sample:>12.2}   {:>12.2} ms   {:>8.2} ms   {:>8.2}   {:>8.2} ms",
        elapsed.as_secs_f64() * 1e3,
        cpu.as_secs_f64() * 1e3,
        elapsed.as_nanos() as f64 / samples as f64,
        write.as_secs_f64() * 1e3,
    );
    let mut row = String::new();
    let _ = write!(row, r#"{{"samples": {samples}, "unique_stacks": {unique_stacks}, "#);
    let _ = write!(row, r#""file_bytes": {}, "open_validate_ns": {}, "#, bytes.len(), elapsed.as_nanos());
    let _ =
        write!(row, r#""open_validate_cpu_ns": {}, "write_cpu_ns": {}}}"#, cpu.as_nanos(), write.as_nanos());
    row
}

/// The median elapsed and CPU times of a few rounds.
fn medians(rounds: usize, mut run: impl FnMut()) -> (Duration, Duration) {
    let mut times = || {
        let (start, cpu_start) = (Instant::now(), cpu_time());
        run();
        (start.elapsed(), cpu_time() - cpu_start)
    };
    let (mut elapsed, mut cpu): (Vec<Duration>, Vec<Duration>) = (0..rounds).map(|_| times()).unzip();
    elapsed.sort_unstable();
    cpu.sort_unstable();
    (elapsed[rounds / 2], cpu[rounds / 2])
}

fn cpu_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap().into()
}
