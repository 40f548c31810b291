//! Facts by frame: the inline chain of each physical frame, innermost level first.

use microscope_capture::{FileId, FrameId, Tables};

/// The fact rows of each frame. Those of a capture are sorted; those of a running recording come as they are
/// found, so rows are named one by one.
#[derive(Debug, Clone)]
pub(crate) struct FactIndex {
    /// By frame: where its rows begin in `rows`. One longer than the frames.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl FactIndex {
    pub(crate) fn new(tables: &Tables) -> Self {
        let facts = &tables.facts;
        let mut starts = vec![0_u32; tables.frames.len() + 1];
        facts.frame.iter().for_each(|frame| starts[frame.index() + 1] += 1);
        for frame in 1..starts.len() {
            starts[frame] += starts[frame - 1];
        }
        let (mut next, mut rows) = (starts.clone(), vec![0_u32; facts.len()]);
        for (row, frame) in (0_u32..).zip(&facts.frame) {
            rows[next[frame.index()] as usize] = row;
            next[frame.index()] += 1;
        }
        let depth = |row: &u32| facts.depth[*row as usize];
        for frame in starts.windows(2) {
            rows[frame[0] as usize..frame[1] as usize].sort_by_key(depth);
        }
        Self { starts, rows }
    }

    /// The rows of `frame`'s facts, innermost level first; none when nothing is known of it.
    pub(crate) fn rows(&self, frame: FrameId) -> &[u32] {
        &self.rows[self.starts[frame.index()] as usize..self.starts[frame.index() + 1] as usize]
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
pub(crate) fn line_of(tables: &Tables, row: u32) -> LineFact {
    let (facts, row) = (&tables.facts, row as usize);
    let function = facts.function[row];
    match (facts.file[row], facts.line[row]) {
        (Some(_), 0) => LineFact::Unlined,
        (Some(file), line) => LineFact::Line(file, line),
        (None, _) if tables.functions.file[function.index()].is_some() => LineFact::Unlined,
        (None, _) => LineFact::NoDebug,
    }
}
