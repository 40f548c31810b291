//! What recording costs under every preset, compared with `bench/overhead.json`; fails beyond the noise.
//!
//! `cargo bench --package microscope-bench --bench overhead [-- --rounds N]`. A new baseline is written by
//! `--save --cause TEXT`: nobody may move it without saying why. The cause belongs into the commit too.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use microscope_bench::rounds::{self, Lengths, Measured, Pair};
use microscope_bench::{Options, Recorder};
use microscope_tests::repository;
use serde::{Deserialize, Serialize};

const PRESETS: [&str; 3] = ["low", "default", "high"];

/// A change smaller than this share of the baseline is never a failure: the same machine differs by as much from one
/// boot to the next.
const TOLERATED: f64 = 0.15;

#[derive(Serialize, Deserialize)]
struct Baseline {
    /// Why these numbers replaced the ones before.
    cause: String,
    /// The processor they were measured on.
    machine: String,
    /// How many interleaved rounds.
    rounds: u32,
    presets: BTreeMap<String, Cost>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Cost {
    cpu_ns_per_sample: Measured,
    fixed_cpu_ms: Measured,
    slowdown_percent: Measured,
    bytes_per_sample: Measured,
}

fn main() -> Result<()> {
    let options = Options::from_arguments()?;
    let rounds = options.rounds_or(10);
    let costs = measure(rounds, options.smoke)?;
    print(&costs);
    if options.save {
        let cause = options.cause.context("a new baseline needs its cause: --cause TEXT")?;
        return save(Baseline { cause, machine: machine()?, rounds, presets: costs });
    }
    if options.smoke { Ok(()) } else { compare(&costs) }
}

fn measure(rounds: u32, smoke: bool) -> Result<BTreeMap<String, Cost>> {
    let mut recorders = vec![Recorder::Nobody];
    recorders.extend(PRESETS.map(|preset| Recorder::Microscope(format!("--preset {preset}"))));
    let lengths = if smoke {
        Lengths { short_ms: 200, long_ms: 600 }
    } else {
        Lengths { short_ms: 1000, long_ms: 5000 }
    };
    let pairs = rounds::run(&recorders, rounds, lengths)?;
    let costs = pairs[1..].iter().map(|preset| Cost {
        cpu_ns_per_sample: Measured::over(preset, Pair::cpu_ns_per_sample),
        fixed_cpu_ms: Measured::over(preset, |pair| pair.fixed_cpu_ns() / 1e6),
        slowdown_percent: Measured::slowdown(preset, &pairs[0]),
        bytes_per_sample: Measured::over(preset, Pair::bytes_per_sample),
    });
    Ok(PRESETS.map(str::to_owned).into_iter().zip(costs).collect())
}

fn print(costs: &BTreeMap<String, Cost>) {
    for (preset, cost) in costs {
        println!("{preset}");
        for (quantity, measured) in cost.quantities() {
            println!("    {quantity:<20} {:>10.1} ± {:.1}", measured.median, measured.noise);
        }
    }
}

impl Cost {
    fn quantities(&self) -> [(&'static str, Measured); 4] {
        [
            ("cpu_ns_per_sample", self.cpu_ns_per_sample),
            ("fixed_cpu_ms", self.fixed_cpu_ms),
            ("slowdown_percent", self.slowdown_percent),
            ("bytes_per_sample", self.bytes_per_sample),
        ]
    }
}

fn compare(costs: &BTreeMap<String, Cost>) -> Result<()> {
    let baseline: Baseline = serde_json::from_str(&std::fs::read_to_string(baseline_path())?)?;
    let mut worse = Vec::new();
    for (preset, before) in &baseline.presets {
        let now =
            costs.get(preset).with_context(|| format!("the baseline's preset {preset} was not measured"))?;
        for ((quantity, before), (_, now)) in before.quantities().into_iter().zip(now.quantities()) {
            if is_worse(before, now) {
                worse.push(format!("{preset}: {quantity} {:.1}, was {:.1}", now.median, before.median));
            }
        }
    }
    if worse.is_empty() {
        println!("within the noise of {}", baseline_path().display());
        return Ok(());
    }
    bail!("costs more than the baseline of {}:\n{}", baseline.machine, worse.join("\n"))
}

/// Whether the medians differ by more than both their noises and what is tolerated.
fn is_worse(before: Measured, now: Measured) -> bool {
    now.median - before.median > before.noise + now.noise + TOLERATED * before.median.abs()
}

fn save(baseline: Baseline) -> Result<()> {
    std::fs::write(baseline_path(), serde_json::to_string_pretty(&baseline)? + "\n")?;
    Ok(())
}

fn baseline_path() -> PathBuf {
    repository::root().join("bench/overhead.json")
}

/// The processor's name and the number of processors.
fn machine() -> Result<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo")?;
    let model =
        text.lines().find_map(|line| line.strip_prefix("model name")).context("no processor has a name")?;
    let processors = text.lines().filter(|line| line.starts_with("processor")).count();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    Ok(format!("{} × {processors}, Linux {}", model.trim_start_matches([' ', '\t', ':']), kernel.trim()))
}
