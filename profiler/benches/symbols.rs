//! How long naming takes on a large binary, next to the symbolizers that are installed.
//!
//! `cargo bench -p microscope-profiler --bench symbols -- [BINARY [ADDRESSES]]` names evenly spread addresses of the
//! binary's code (this bench itself by default): cold (nothing loaded), warm (everything parsed), and by
//! `addr2line -fiC` and `llvm-symbolizer` in a process each. One line of JSON per tool goes to standard output.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::error::Error;
use std::fmt::Write;
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use microscope_profiler::debug_info::{ModuleDebug, NameSource, Namers, OpenHost, Request, Target};
use microscope_profiler::files::{FileHandle, ReadAt};
use microscope_profiler::image::Image;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A file read through positioned reads, as the profiler reads it.
struct Opened(File, u64);

impl ReadAt for Opened {
    fn len(&self) -> u64 {
        self.1
    }
    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(into, offset)
    }
}

fn open(path: &Path) -> std::io::Result<FileHandle> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok(Arc::new(Opened(file, length)))
}

fn main() -> Outcome<()> {
    // Cargo passes `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let path = arguments.first().map_or_else(std::env::current_exe, |path| Ok(PathBuf::from(path)))?;
    let count = arguments.get(1).map_or(Ok(10_000), |count| count.parse())?;
    let addresses = spread(&Image::parse(open(&path)?)?, count);
    measure_ours(&path, &addresses)?;
    measure_tool("addr2line", &["-fiC", "-e"], &path, &addresses)?;
    measure_tool("llvm-symbolizer", &["--obj"], &path, &addresses)
}

/// `count` addresses at equal distances over the executable sections.
fn spread(image: &Image, count: u64) -> Vec<u64> {
    let code = image.sections().iter().filter(|s| s.executable && s.loaded && &*s.name == ".text");
    code.flat_map(|section| {
        let step = (section.size / count).max(1);
        (0..section.size / step).map(move |index| section.svma + index * step)
    })
    .collect()
}

fn measure_ours(path: &Path, addresses: &[u64]) -> Outcome<()> {
    let host: OpenHost = Arc::new(open);
    let started = Instant::now();
    let debug = Arc::new(ModuleDebug::new(Image::parse(open(path)?)?, path, host));
    let first = addresses.first().copied().unwrap_or(0);
    debug.name(first, false);
    let loaded = started.elapsed();
    let threads = std::thread::available_parallelism()?;
    let (named, cold) = name_all(&debug, addresses, threads, started)?;
    print(
        "microscope",
        path,
        addresses.len(),
        cold,
        &format!(r#","load_ms":{:.1},"named":{named}"#, ms(loaded)),
    );
    let (_, warm) = name_all(&debug, addresses, NonZeroUsize::MIN, Instant::now())?;
    print("microscope, warm, one thread", path, addresses.len(), warm, "");
    Ok(())
}

/// Names every address on a pool; returns how many have a line, and the time since `started`.
fn name_all(
    debug: &Arc<ModuleDebug>,
    addresses: &[u64],
    threads: NonZeroUsize,
    started: Instant,
) -> Outcome<(usize, Duration)> {
    let target = |(tag, address): (usize, &u64)| Target {
        tag: tag as u64,
        relative_address: *address,
        is_caller: false,
    };
    let (namers, answers) = Namers::start(threads)?;
    let request = Request {
        module: 0,
        source: Arc::clone(debug) as Arc<dyn NameSource>,
        weight: 1,
        targets: addresses.iter().enumerate().map(target).collect(),
    };
    namers.request(request).map_err(|_| "too many addresses")?;
    namers.finish();
    let lined = |name: &microscope_profiler::debug_info::NamedAddress| name.levels.iter().any(|l| l.line > 0);
    let named = answers.iter().flat_map(|batch| batch.names).filter(|(_, name)| lined(name)).count();
    Ok((named, started.elapsed()))
}

/// The same addresses on standard input of a tool; says so when it is not installed.
fn measure_tool(tool: &str, arguments: &[&str], path: &Path, addresses: &[u64]) -> Outcome<()> {
    let mut list = tempfile::tempfile()?;
    let text = addresses.iter().fold(String::new(), |mut text, address| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{address:#x}");
        text
    });
    std::io::Write::write_all(&mut list, text.as_bytes())?;
    std::io::Seek::rewind(&mut list)?;
    let started = Instant::now();
    let mut command = Command::new(tool);
    command.args(arguments).arg(path).stdin(Stdio::from(list)).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => print(tool, path, addresses.len(), started.elapsed(), ""),
        Ok(status) => println!(r#"{{"tool":"{tool}","failed":"{status}"}}"#),
        Err(error) => println!(r#"{{"tool":"{tool}","skipped":"{error}"}}"#),
    }
    Ok(())
}

fn print(tool: &str, path: &Path, addresses: usize, time: Duration, more: &str) {
    let (path, time) = (path.display(), ms(time));
    println!(r#"{{"tool":"{tool}","binary":"{path}","addresses":{addresses},"ms":{time:.1}{more}}}"#);
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
