//! The command line as data: what clap parses and what help prints. An option is here only if it works.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use microscope_capture::import::Format;
use microscope_profiler::options::{EventChoice, KernelChoice, Preset, StackPolicy};

use super::values::{Moment, choice, parse_moment, parse_size};

/// Records where a program's time goes and shows it, down to the source line.
#[derive(Debug, Parser)]
#[command(name = "microscope", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Start with: microscope demo")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record a program, from its start to its exit or beside one that runs
    Record(Box<RecordArguments>),
    /// Show where the time of a capture went
    Report(ReportArguments),
    /// Show a source file with the cost of each line
    Annotate(AnnotateArguments),
    /// Turn a profile into another format
    Convert(ConvertArguments),
    /// Record the bundled sample program and report it
    Demo(DemoArguments),
    /// Make a capture of what a killed recording left behind
    Recover(RecoverArguments),
    /// The sample program that `demo` records
    #[command(name = "demo-workload", hide = true)]
    DemoWorkload,
}

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people
    Text,
    /// For programs: stable, documented in docs/json.md
    Json,
}

/// `record`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("target").required(true).args(["pids", "program"]))]
#[command(
    override_usage = "microscope record [OPTIONS] [--] PROGRAM [ARGS]...\n       microscope record [OPTIONS] -p PID..."
)]
#[command(after_help = "\
Examples:
  microscope record ./server --port 8080          to the program's exit
  microscope record -o run.mscope -- make test    with all its children
  microscope record -p 4711 --duration 10s        ten seconds of a process

Ctrl-C belongs to the program: recording lasts to its exit. A second Ctrl-C
ends the recording at once; the program runs on. With -p the first one does.")]
pub struct RecordArguments {
    /// Where the capture goes [default: .microscope/PROGRAM-TIME.mscope]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Rate and stack depth together: low is 99 Hz and 8 KiB, default 999 Hz and 16 KiB, high 4,999 Hz and 32 KiB
    #[arg(long, value_parser = choice(Preset::ALL, Preset::name), default_value_t = Preset::default())]
    pub preset: Preset,

    /// Samples a second of CPU time of each thread, such as 1999 [default: the preset's]
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u32))]
    pub rate: Option<u32>,

    /// How callers are found: from copied stack bytes and unwind tables, along frame pointers, both, or not at all
    #[arg(long, value_parser = choice(StackPolicy::ALL, StackPolicy::name), default_value_t = StackPolicy::default())]
    pub stack: StackPolicy,

    /// Bytes of stack copied with each sample, such as 32KiB; more keeps deeper stacks whole [default: the preset's]
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub stack_bytes: Option<u32>,

    /// What samples count: auto is hardware cycles where the machine has them, else cpu-clock
    #[arg(long, value_parser = choice(EventChoice::ALL, EventChoice::name), default_value_t = EventChoice::default())]
    pub event: EventChoice,

    /// Whether kernel code is sampled: auto samples it where that is permitted
    #[arg(long, value_parser = choice(KernelChoice::ALL, KernelChoice::name), default_value_t = KernelChoice::default())]
    pub kernel: KernelChoice,

    /// End the recording after this time, such as 10s or 500ms; the program runs on [default: to the program's exit]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub duration: Option<Moment>,

    /// Keep source texts found under DIR, too, in the capture; repeatable [default: only the working directory's]
    #[arg(long, value_name = "DIR")]
    pub sources: Vec<PathBuf>,

    /// Keep no source text in the capture, only hashes
    #[arg(long, conflicts_with = "sources")]
    pub no_sources: bool,

    /// Leave out processes that the program starts [default: they are recorded too]
    #[arg(long)]
    pub no_children: bool,

    /// Which exit code to return: own is 0 for a recording that worked, target is the program's [default: own]
    #[arg(long, value_enum, default_value_t = ExitCodeArgument::Own, hide_default_value = true)]
    pub exit_code: ExitCodeArgument,

    /// Keep the raw bytes of the recording beside it, for tests of microscope itself
    #[arg(long, value_name = "FILE", hide = true)]
    pub raw_log: Option<PathBuf>,

    /// Record running processes, such as -p 4711 or -p 4711,4712; repeatable
    #[arg(short, long = "pid", value_name = "PID", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub pids: Vec<u32>,

    /// The program to record, and its arguments
    #[arg(value_name = "PROGRAM", trailing_var_arg = true)]
    pub program: Vec<OsString>,
}

/// `--exit-code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExitCodeArgument {
    /// 0 for a recording that worked
    Own,
    /// The program's
    Target,
}

/// `report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  microscope report run.mscope
  microscope report run.mscope --view tree --inverted
  microscope report run.mscope --view lines --thread worker --from 1.5s --to 2s")]
pub struct ReportArguments {
    /// A capture, or a profile that can be imported (pprof, folded stacks)
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,

    /// What to show
    #[arg(long, value_enum, default_value_t = ViewArgument::Summary)]
    pub view: ViewArgument,

    /// What rows stand for in flat and tree
    #[arg(long, value_enum, default_value_t = ByArgument::Function)]
    pub by: ByArgument,

    /// Turn the tree upside down: from what ran to its callers [default: from the outermost caller]
    #[arg(long)]
    pub inverted: bool,

    /// Only threads of this name or id, such as worker or 4711; repeatable [default: all]
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,

    /// Only processes of this name or id; repeatable [default: all]
    #[arg(long, value_name = "PROCESS")]
    pub process: Vec<String>,

    /// Only from this time of the recording on, such as 1.5s or 200ms [default: its start]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub from: Option<Moment>,

    /// Only until this time of the recording, such as 2s [default: its end]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub to: Option<Moment>,

    /// At most this many rows, such as 50 [default: what a screen holds; 0 is all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,

    /// For people or for programs
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
}

/// `--view`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ViewArgument {
    /// The whole in one screen
    Summary,
    /// Calls as a tree
    Tree,
    /// Functions by cost
    Flat,
    /// Source lines by cost
    Lines,
    /// Threads by cost
    Threads,
    /// When each thread ran
    Timeline,
    /// What was lost, cut or not named, and what would help
    Losses,
}

/// `--by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArgument {
    /// Functions
    Function,
    /// Source lines
    Line,
    /// Instruction addresses
    Address,
    /// Programs and libraries
    Module,
}

/// `annotate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  microscope annotate run.mscope src/parse.rs")]
pub struct AnnotateArguments {
    /// A capture, or a profile that can be imported
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,

    /// A source file: its path, or as much of its end as names one file
    #[arg(value_name = "SOURCE")]
    pub source: String,

    /// For people, or the overlay for programs
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
}

/// `convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  microscope convert run.mscope run.pb.gz
  microscope convert run.mscope run.json --to firefox
  microscope convert run.mscope - --to folded | flamegraph.pl > run.svg")]
pub struct ConvertArguments {
    /// A capture or a profile; '-' is standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,

    /// Where the result goes; '-' is standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,

    /// The format of IN [default: told from its first bytes]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub from: Option<InputFormatArgument>,

    /// The format of OUT [default: told from its extension]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Option<OutputFormatArgument>,
}

/// `--from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormatArgument {
    /// A capture of microscope (.mscope)
    Capture,
    /// pprof's protobuf, compressed or not (.pb.gz, .pb)
    Pprof,
    /// Folded stacks: one line each, frames separated by ';', then a number (.folded)
    Folded,
}

/// `--to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormatArgument {
    /// A capture of microscope (.mscope)
    Capture,
    /// pprof's protobuf, compressed (.pb.gz)
    Pprof,
    /// Folded stacks (.folded)
    Folded,
    /// Trace events for Perfetto and Chrome (.chrome.json)
    Chrome,
    /// For profiler.firefox.com (.firefox.json)
    Firefox,
}

impl From<InputFormatArgument> for Format {
    fn from(argument: InputFormatArgument) -> Self {
        match argument {
            InputFormatArgument::Capture => Self::Capture,
            InputFormatArgument::Pprof => Self::Pprof,
            InputFormatArgument::Folded => Self::Folded,
        }
    }
}

/// `demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  microscope demo")]
pub struct DemoArguments {
    /// Where the capture goes [default: .microscope/demo-TIME.mscope]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `recover`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  microscope recover run.mscope.partial -o run.mscope")]
pub struct RecoverArguments {
    /// What the killed recording left behind
    #[arg(value_name = "FILE.partial")]
    pub partial: PathBuf,

    /// Where the capture goes
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
}
