//! Opening and validating captures, and their size:
//! `cargo bench -p microscope-capture --features testing --bench open`.
//!
//! Prints one line per shape: bytes per sample with dictionaries, and the median CPU time of opening, which
//! is the elapsed time on a machine with nothing else to do. With `--json FILE` the same numbers go to a
//! file, in nanoseconds and bytes.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench prints and stops on errors"
)]

use std::fmt::Write as _;
use std::time::Duration;

use microscope_capture::Capture;
use microscope_capture::testing::Synthetic;

/// How often each shape is opened.
const ROUNDS: usize = 11;

/// Samples and unique stacks. The last is the worst case: every sample has a stack of its own.
const SHAPES: &[(usize, usize)] =
    &[(100_000, 10_000), (1_000_000, 100_000), (10_000_000, 100_000), (1_000_000, 1_000_000)];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let json = arguments.iter().position(|argument| argument == "--json");
    let mut rows = Vec::new();
    println!("samples     stacks     bytes/sample   open + validate   ns/sample");
    for (samples, unique_stacks) in SHAPES {
        rows.push(measure(*samples, *unique_stacks));
    }
    if let Some(path) = json.and_then(|at| arguments.get(at + 1)) {
        std::fs::write(path, format!("[{}]\n", rows.join(",\n "))).unwrap();
    }
}

fn measure(samples: usize, unique_stacks: usize) -> String {
    let capture = Capture::validate(Synthetic::new(samples, unique_stacks).tables()).unwrap();
    let bytes = capture.to_bytes();
    drop(capture);
    let open = median(|| drop(Capture::read(&bytes).unwrap()));
    let per_sample = bytes.len() as f64 / samples as f64;
    let open_ns = open.as_nanos();
    println!(
        "{samples:<10}  {unique_stacks:<9}  {per_sample:>12.2}   {:>12.2} ms   {:>9.2}",
        open.as_secs_f64() * 1e3,
        open_ns as f64 / samples as f64,
    );
    let mut row = String::new();
    let _ = write!(row, r#"{{"samples": {samples}, "unique_stacks": {unique_stacks}, "#);
    let _ = write!(row, r#""file_bytes": {}, "open_validate_ns": {open_ns}}}"#, bytes.len());
    row
}

/// The median CPU time of a few rounds.
fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = cpu_time();
            run();
            cpu_time() - start
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn cpu_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap().into()
}
