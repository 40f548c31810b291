//! The line table of a unit: which file and line an instruction belongs to.

use gimli::{DebugLineOffset, LineRow};

use super::files::line_program;
use super::ranges::Code;
use super::sections::{Borrowed, GimliUnit, Slice};
use super::unit::Unit;

/// Rows of one unit that are kept at most, 256 MiB of them.
const ROWS_MAX: usize = 1 << 24;
/// Sequences before an address that are tried for one that reaches it.
const TRIED_MAX: usize = 16;

/// The rows of a unit's line program.
#[derive(Default)]
pub(super) struct Lines {
    /// Invariant: sorted by address.
    sequences: Vec<Sequence>,
    /// Invariant: sorted by address within a sequence, each address once.
    rows: Vec<Row>,
}

/// A run of instructions whose rows follow each other.
struct Sequence {
    begin: u64,
    end: u64,
    first_row: usize,
    end_row: usize,
}

struct Row {
    address: u64,
    file: u32,
    line: u32,
}

impl Lines {
    /// Runs the unit's line program. A malformed instruction ends it; whole sequences before it stay.
    pub(super) fn parse<'a>(
        borrowed: &Borrowed<'a>,
        unit: &Unit,
        context: &GimliUnit<'a>,
        code: &Code,
    ) -> Self {
        let mut lines = Self::default();
        if let Some(offset) = unit.line_program(borrowed) {
            // What was complete before a malformed instruction stays.
            let _ = lines.run(borrowed, context, offset, code);
        }
        lines.sequences.sort_by_key(|sequence| (sequence.begin, sequence.first_row));
        lines.rows.shrink_to_fit();
        lines
    }

    fn run<'a>(
        &mut self,
        borrowed: &Borrowed<'a>,
        context: &GimliUnit<'a>,
        offset: DebugLineOffset,
        code: &Code,
    ) -> Option<()> {
        let program: gimli::IncompleteLineProgram<Slice<'a>> = line_program(&borrowed.main, context, offset)?;
        let mut rows = program.rows();
        let mut first_row = 0;
        while let Ok(Some((_, row))) = rows.next_row() {
            if row.end_sequence() {
                self.close(first_row, row.address(), code);
                first_row = self.rows.len();
            } else if self.rows.len() < ROWS_MAX {
                self.add(first_row, row);
            }
        }
        self.rows.truncate(first_row);
        Some(())
    }

    fn add(&mut self, first_row: usize, row: &LineRow) {
        let new = Row {
            address: row.address(),
            file: row.file_index().try_into().unwrap_or(u32::MAX),
            line: row.line().and_then(|line| line.get().try_into().ok()).unwrap_or(0),
        };
        match self.rows.get_mut(first_row..).and_then(<[Row]>::last_mut) {
            // Of several rows at one address the last is meant: the others cover no instruction.
            Some(last) if last.address == new.address => *last = new,
            Some(last) if last.file == new.file && last.line == new.line && last.address < new.address => {}
            _ => self.rows.push(new),
        }
    }

    /// Keeps the rows since `first_row` as a sequence, or drops them when they are of no code of this module.
    fn close(&mut self, first_row: usize, end: u64, code: &Code) {
        let rows = self.rows.get_mut(first_row..).unwrap_or_default();
        if !rows.is_sorted_by_key(|row| row.address) {
            rows.sort_by_key(|row| row.address);
        }
        match rows.first().map(|row| row.address).filter(|begin| *begin < end && code.contains(*begin)) {
            Some(begin) => self.sequences.push(Sequence { begin, end, first_row, end_row: self.rows.len() }),
            None => self.rows.truncate(first_row),
        }
    }

    /// The file's index and the line of the instruction at `address`; line 0 is code that belongs to no line.
    pub(super) fn find(&self, address: u64) -> Option<(u64, u32)> {
        let after = self.sequences.partition_point(|sequence| sequence.begin <= address);
        let mut before = self.sequences.get(..after)?.iter().rev().take(TRIED_MAX);
        let sequence = before.find(|sequence| address < sequence.end)?;
        let rows = self.rows.get(sequence.first_row..sequence.end_row)?;
        let row = rows.get(rows.partition_point(|row| row.address <= address).checked_sub(1)?)?;
        Some((u64::from(row.file), row.line))
    }

    /// The memory it takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.rows.len() * size_of::<Row>() + self.sequences.len() * size_of::<Sequence>()
    }
}
