//! Folded stacks: `outermost;…;innermost COUNT`, one a line, as flame graph tools write them.
//!
//! In come bytes; out goes a capture of one thread whose frames are named. A line that cannot be read is
//! counted with its number, and the others are kept.

use thiserror::Error;

use super::losses::ImportLosses;
use super::{process, thread};
use crate::{
    Builder, Capture, CodeRole, CpuMode, EndReason, Fact, Frame, FrameId, FrameKind, Function, FunctionFlags,
    Invalid, Measure, MeasureId, MeasureSource, Sample, StackId, ThreadId, Unit,
};

/// The longest line that is read.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// Lines looked at to tell the format.
const DETECT_LINES: usize = 16;

/// What stands for a frame without a name.
const NO_NAME: &str = "[unknown]";

/// Why bytes are no folded stacks.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FoldedError {
    /// No line could be read.
    #[error("no line is `frame;frame;… count`; the first that is not is line {line}")]
    NoStacks {
        /// The first line that could not be read, from 1; 0 when there is none.
        line: usize,
    },
    /// The rows break a rule of captures.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Whether the first lines look like folded stacks.
#[must_use]
pub fn is_folded(bytes: &[u8]) -> bool {
    let mut lines = lines(bytes).map(|(_, line)| line).take(DETECT_LINES).peekable();
    lines.peek().is_some() && lines.any(|line| parse(line).is_some())
}

/// Imports folded stacks.
pub fn read(bytes: &[u8]) -> Result<Capture, FoldedError> {
    let mut import = Import::new();
    let mut first_bad = 0;
    for (number, line) in lines(bytes) {
        match parse(line).filter(|(_, count)| import.takes(*count)) {
            Some((stack, count)) => import.sample(stack, count),
            None => {
                first_bad = if first_bad == 0 { number } else { first_bad };
                import.losses.count_at("lines that are not `frame;frame;… count`", number);
            }
        }
    }
    if import.builder.tables.samples.is_empty() {
        return Err(FoldedError::NoStacks { line: first_bad });
    }
    Ok(import.finish()?)
}

/// Lines with their numbers from 1, but for empty ones and comments.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    (1..).zip(lines).filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"))
}

/// The frames and the count of a line.
fn parse(line: &[u8]) -> Option<(&str, u64)> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.len() <= LINE_BYTES_MAX)?;
    let (stack, count) = line.rsplit_once(' ')?;
    let stack = stack.trim_end();
    (!stack.is_empty()).then_some((stack, count.parse().ok()?))
}

struct Import {
    builder: Builder,
    losses: ImportLosses,
    thread: ThreadId,
    measure: MeasureId,
    /// Weights so far; their sum must fit 64 bits.
    weight: u64,
}

impl Import {
    fn new() -> Self {
        let mut builder = Builder::new();
        let process = process(&mut builder, 0, "imported");
        let thread = thread(&mut builder, process, 0, "imported");
        let name = builder.string("samples");
        let measure = builder.measure(Measure {
            name,
            source: MeasureSource::Imported,
            unit: Unit::Count,
            period: None,
        });
        builder.set(None, "imported-from", "folded");
        Self { builder, losses: ImportLosses::default(), thread, measure, weight: 0 }
    }

    /// Whether the sum of weights still fits with `count`; then it is added.
    fn takes(&mut self, count: u64) -> bool {
        let sum = self.weight.checked_add(count);
        self.weight = sum.unwrap_or(self.weight);
        sum.is_some()
    }

    fn sample(&mut self, stack: &str, weight: u64) {
        let mut parent = None;
        for name in stack.split(';') {
            parent = Some(self.push(parent, name.trim()));
        }
        self.builder.sample(Sample {
            time_ns: 0,
            thread: self.thread,
            stack: parent,
            weight,
            measure: self.measure,
            cpu: 0,
            mode: CpuMode::Unknown,
            end: EndReason::Unknown,
        });
    }

    fn push(&mut self, parent: Option<StackId>, name: &str) -> StackId {
        let frame = named_frame(&mut self.builder, if name.is_empty() { NO_NAME } else { name });
        self.builder.stack(parent, frame)
    }

    fn finish(mut self) -> Result<Capture, Invalid> {
        self.losses.into_rows(&mut self.builder);
        self.builder.finish()
    }
}

/// The frame called `name`; a new one gets its name as its only fact.
fn named_frame(builder: &mut Builder, name: &str) -> FrameId {
    let text = builder.string(name);
    let frames = builder.tables.frames.len();
    let frame = builder.frame(Frame {
        kind: FrameKind::Named,
        role: CodeRole::Plain,
        module: None,
        address: u64::from(text.get()),
    });
    if frame.index() == frames {
        let linkage_name = builder.string("");
        let function = builder.function(Function {
            name: text,
            linkage_name,
            module: None,
            file: None,
            line: 0,
            relative_address: 0,
            flags: FunctionFlags::Plain,
        });
        builder.tables.facts.push(Fact { frame, depth: 0, function, file: None, line: 0 });
    }
    frame
}
