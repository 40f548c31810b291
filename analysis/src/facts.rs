//! Facts by frame: the inline chain of each physical frame, innermost level first.

use std::ops::Range;

use microscope_capture::{FileId, FrameId, Tables};

/// Where each frame's facts are. Invariant of captures: facts are sorted by frame, then depth.
#[derive(Debug, Clone)]
pub(crate) struct FactIndex {
    starts: Vec<u32>,
}

impl FactIndex {
    pub(crate) fn new(tables: &Tables) -> Self {
        let mut starts = vec![0_u32; tables.frames.len() + 1];
        for frame in &tables.facts.frame {
            starts[frame.index() + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { starts }
    }

    /// The rows of `frame`'s facts, innermost level first; empty when nothing is known of it.
    pub(crate) fn rows(&self, frame: FrameId) -> Range<usize> {
        self.starts[frame.index()] as usize..self.starts[frame.index() + 1] as usize
    }
}

/// What a level of a frame says of its source line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineFact {
    /// A line of a file.
    Line(FileId, u32),
    /// Code that its debug information attributes to no line.
    Unlined,
    /// A symbol only.
    NoDebug,
}

/// The line of fact `row`. Line 0 is `Unlined` where any file is known, since then there is debug information.
pub(crate) fn line_of(tables: &Tables, row: usize) -> LineFact {
    let (facts, function) = (&tables.facts, tables.facts.function[row]);
    match (facts.file[row], facts.line[row]) {
        (Some(_), 0) => LineFact::Unlined,
        (Some(file), line) => LineFact::Line(file, line),
        (None, _) if tables.functions.file[function.index()].is_some() => LineFact::Unlined,
        (None, _) => LineFact::NoDebug,
    }
}
