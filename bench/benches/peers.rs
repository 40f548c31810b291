//! What a sample costs microscope, perf and samply: same target, same rate, same run, interleaved.
//!
//! `cargo bench --package microscope-bench --bench peers [-- --rounds N] [-- --save]`. With `--save` the table goes
//! to `bench/peers.json` and `bench/peers.md`. samply is found by `SAMPLY` or on the path; who is missing is named.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::fmt::Write;

use anyhow::Result;
use microscope_bench::rounds::{self, Lengths, Measured, Pair};
use microscope_bench::{Options, Recorder};
use microscope_tests::repository;
use serde::Serialize;

const RATE_HZ: u32 = 4999;

#[derive(Serialize)]
struct Row {
    recorder: String,
    cpu_ns_per_sample: Measured,
    fixed_cpu_ms: Measured,
    slowdown_percent: Measured,
    lost_percent: Measured,
    bytes_per_sample: Measured,
}

fn main() -> Result<()> {
    let options = Options::from_arguments()?;
    let (recorders, missing): (Vec<_>, Vec<_>) = recorders().into_iter().partition(Recorder::is_installed);
    for recorder in missing {
        println!("not measured, not installed: {}", recorder.name());
    }
    let lengths = if options.smoke {
        Lengths { short_ms: 200, long_ms: 600 }
    } else {
        Lengths { short_ms: 1000, long_ms: 5000 }
    };
    let rounds = options.rounds_or(10);
    let pairs = rounds::run(&recorders, rounds, lengths)?;
    let alone = pairs[0].clone();
    let rows: Vec<_> =
        recorders.iter().zip(&pairs).skip(1).map(|(recorder, pairs)| row(recorder, pairs, &alone)).collect();
    let table = table(&rows, rounds)?;
    println!("{table}");
    if options.save {
        std::fs::write(
            repository::root().join("bench/peers.json"),
            serde_json::to_string_pretty(&rows)? + "\n",
        )?;
        std::fs::write(repository::root().join("bench/peers.md"), table)?;
    }
    Ok(())
}

/// Nobody first: the others' slowdown is measured against it.
fn recorders() -> Vec<Recorder> {
    let perf = |chain: &str| Recorder::Perf(format!("--freq {RATE_HZ} {chain}"));
    let microscope = |stack: &str| Recorder::Microscope(format!("--rate {RATE_HZ} {stack}"));
    vec![
        Recorder::Nobody,
        microscope("--stack both --stack-bytes 16384"),
        microscope("--stack both --stack-bytes 32768"),
        microscope("--stack frame-pointers"),
        Recorder::Samply { rate_hz: RATE_HZ },
        perf("--call-graph dwarf,8192"),
        perf("--call-graph dwarf,16384"),
        perf("--call-graph dwarf,32768"),
        perf("--call-graph fp"),
        perf(""),
    ]
}

fn row(recorder: &Recorder, pairs: &[Pair], alone: &[Pair]) -> Row {
    Row {
        recorder: recorder.name(),
        cpu_ns_per_sample: Measured::over(pairs, Pair::cpu_ns_per_sample),
        fixed_cpu_ms: Measured::over(pairs, |pair| pair.fixed_cpu_ns() / 1e6),
        slowdown_percent: Measured::slowdown(pairs, alone),
        lost_percent: Measured::over(pairs, Pair::lost_percent),
        bytes_per_sample: Measured::over(pairs, Pair::bytes_per_sample),
    }
}

fn table(rows: &[Row], rounds: u32) -> Result<String> {
    let mut text = String::from("# Recorders compared\n\n");
    writeln!(
        text,
        "`tests/programs/stacks.cpp`, two threads, 22 frames, {RATE_HZ} Hz, medians of {rounds} interleaved"
    )?;
    writeln!(
        text,
        "rounds ± the noise of the median. CPU a sample is the recorder's, net of start-up and end.\n"
    )?;
    writeln!(
        text,
        "| recorder | CPU a sample, µs | start and end, ms | target slower by | lost | bytes a sample |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|")?;
    for row in rows {
        writeln!(
            text,
            "| {} | {:.2} ± {:.2} | {:.0} | {:.1} ± {:.1} % | {} | {:.0} |",
            row.recorder,
            row.cpu_ns_per_sample.median / 1000.0,
            row.cpu_ns_per_sample.noise / 1000.0,
            row.fixed_cpu_ms.median,
            row.slowdown_percent.median,
            row.slowdown_percent.noise,
            lost(row.lost_percent),
            row.bytes_per_sample.median,
        )?;
    }
    Ok(text)
}

fn lost(percent: Measured) -> String {
    if percent.median.is_nan() { "not said".to_owned() } else { format!("{:.2} %", percent.median) }
}
