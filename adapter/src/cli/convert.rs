//! `microscope convert`: a profile in, another format out.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use microscope_analysis::Query;
use microscope_analysis::export::{self, export};
use microscope_capture::{Capture, publish_bytes};

use super::arguments::{ConvertArguments, OutputFormatArgument};
use super::progress::Ticker;
use super::{Usage, output};
use crate::presentation::prose::wrap;
use crate::service::open::{open, open_stream};

/// Runs the command.
pub(super) fn run(arguments: &ConvertArguments) -> anyhow::Result<ExitCode> {
    let to = match arguments.to {
        Some(format) => format,
        None => format_of(&arguments.output)?,
    };
    if is_stream(&arguments.output) && is_binary(to) && io::stdout().is_terminal() {
        return Err(
            Usage("a terminal cannot show this format; name a file, or pipe the result".to_owned()).into()
        );
    }
    let working = Ticker::work("converting".to_owned());
    let from = arguments.from.map(Into::into);
    let capture = if is_stream(&arguments.input) {
        open_stream(io::stdin().lock(), from)?
    } else {
        open(&arguments.input, from)?
    };
    write(&capture, to, &arguments.output)?;
    drop(working);
    if let Some(format) = format(to) {
        output::note("microscope: what this format cannot hold was left out:");
        let columns = output::screen_of_stderr().columns.saturating_sub(4);
        for lost in format.loses() {
            let wrapped = wrap(lost, columns);
            wrapped.lines().enumerate().for_each(|(at, line)| {
                output::note(&format!("  {} {line}", if at == 0 { '-' } else { ' ' }));
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn is_binary(format: OutputFormatArgument) -> bool {
    matches!(format, OutputFormatArgument::Capture | OutputFormatArgument::Pprof)
}

fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The format that a file's name tells.
fn format_of(path: &Path) -> anyhow::Result<OutputFormatArgument> {
    const NAMES: [(&str, OutputFormatArgument); 8] = [
        (".mscope", OutputFormatArgument::Capture),
        (".pb.gz", OutputFormatArgument::Pprof),
        (".pb", OutputFormatArgument::Pprof),
        (".pprof", OutputFormatArgument::Pprof),
        (".folded", OutputFormatArgument::Folded),
        (".collapsed", OutputFormatArgument::Folded),
        (".chrome.json", OutputFormatArgument::Chrome),
        (".firefox.json", OutputFormatArgument::Firefox),
    ];
    let name = path.to_string_lossy();
    let known = NAMES.iter().find(|(extension, _)| name.ends_with(extension));
    known.map(|(_, format)| *format).ok_or_else(|| {
        Usage(format!("cannot tell the format of {name} from its name; say it with --to, as in --to folded"))
            .into()
    })
}

fn write(capture: &Capture, to: OutputFormatArgument, path: &Path) -> anyhow::Result<()> {
    if is_stream(path) {
        return encode(capture, to, &mut output::stdout()).context("cannot write to standard output");
    }
    let mut bytes = Vec::new();
    encode(capture, to, &mut bytes)?;
    put(path, &bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// A file is replaced whole; a pipe or device is written to, never replaced.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if output::is_special(path) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    publish_bytes(path, bytes)
}

fn encode(capture: &Capture, to: OutputFormatArgument, out: &mut dyn Write) -> anyhow::Result<()> {
    match format(to) {
        Some(format) => Ok(export(capture, &Query::default(), format, out)?),
        None => Ok(out.write_all(&capture.to_bytes())?),
    }
}

/// The exporter of a format; a capture is no export.
fn format(to: OutputFormatArgument) -> Option<export::Format> {
    match to {
        OutputFormatArgument::Capture => None,
        OutputFormatArgument::Pprof => Some(export::Format::Pprof),
        OutputFormatArgument::Folded => Some(export::Format::Folded),
        OutputFormatArgument::Chrome => Some(export::Format::Chrome),
        OutputFormatArgument::Firefox => Some(export::Format::Firefox),
    }
}
