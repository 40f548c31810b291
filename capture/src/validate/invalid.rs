//! Which rule a set of rows breaks, and where.

use std::fmt;

use thiserror::Error;

use crate::TableKind;

/// The first broken rule that validation found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Invalid {
    /// The table.
    pub table: TableKind,
    /// The row, unless the rule is of the whole table.
    pub row: Option<usize>,
    /// The column, or empty when the rule is of whole rows.
    pub column: &'static str,
    /// The rule.
    pub rule: Rule,
}

impl Invalid {
    /// A rule that one cell breaks.
    pub(crate) const fn cell(table: TableKind, row: usize, column: &'static str, rule: Rule) -> Self {
        Self { table, row: Some(row), column, rule }
    }

    /// A rule that a whole row breaks.
    pub(crate) const fn row(table: TableKind, row: usize, rule: Rule) -> Self {
        Self::cell(table, row, "", rule)
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "table {}", self.table.name())?;
        if let Some(row) = self.row {
            write!(out, ", row {row}")?;
        }
        if !self.column.is_empty() {
            write!(out, ", column {}", self.column)?;
        }
        write!(out, ": {}", self.rule)
    }
}

/// A rule of the format, worded as what was found against it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rule {
    /// A table has more rows than ids can number.
    #[error("{rows} rows are more than {max}")]
    TooManyRows {
        /// Rows found.
        rows: usize,
        /// Rows allowed.
        max: usize,
    },
    /// Columns of one table have different lengths.
    #[error("{found} cells where the table has {expected} rows")]
    ColumnLength {
        /// Cells of the first column.
        expected: usize,
        /// Cells of this column.
        found: usize,
    },
    /// An id names no row.
    #[error("no row {number} in table {}, which has {rows}", target.name())]
    NoSuchRow {
        /// The table the id is of.
        target: TableKind,
        /// The row it names.
        number: u64,
        /// Rows that table has.
        rows: usize,
    },
    /// A value the file could not give back.
    #[error("the largest 64-bit value cannot be stored in an optional column")]
    Unstorable,
    /// A row refers to itself or to a later row where only earlier ones are allowed.
    #[error("row {number} is not an earlier one")]
    NotEarlier {
        /// The row referred to.
        number: usize,
    },
    /// Two rows of a dictionary are equal.
    #[error("equal to row {other}")]
    Duplicate {
        /// The other one.
        other: usize,
    },
    /// The first string is not empty.
    #[error("the first string is not empty")]
    FirstNotEmpty,
    /// Rows are not in the table's order.
    #[error("not in order after the row before: rows ascend by {by}")]
    Unsorted {
        /// The order.
        by: &'static str,
    },
    /// The depths of a frame's facts are not 0, 1, 2…
    #[error("depth {found} where {expected} is next")]
    DepthNotDense {
        /// The depth that should follow.
        expected: u16,
        /// The depth found.
        found: u16,
    },
    /// A named frame has a module.
    #[error("a {kind} frame has no module")]
    NamedWithModule {
        /// The frame's kind.
        kind: &'static str,
    },
    /// A range holds nothing.
    #[error("the range ends at {end:#x}, not after its start {start:#x}")]
    EmptyRange {
        /// Its start.
        start: u64,
        /// Its end.
        end: u64,
    },
    /// A time or address range runs backwards.
    #[error("{until} is before {from}")]
    Backwards {
        /// Where it begins.
        from: u64,
        /// Where it ends.
        until: u64,
    },
    /// An interval has neither a start nor an end.
    #[error("neither its start nor its end is known")]
    NoEdge,
    /// A hash or identity that is not what its kind says.
    #[error("{found:?} is no {kind}")]
    BadHash {
        /// What it should be.
        kind: &'static str,
        /// What it is, at most 64 characters of it.
        found: String,
    },
    /// A text is longer than allowed.
    #[error("{bytes} bytes are more than {max}")]
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// The bytes allowed.
        max: usize,
    },
    /// The sum of weights of one measure does not fit 64 bits.
    #[error("the weights of one measure add up to more than 64 bits hold")]
    WeightOverflow,
    /// An exec row continues a process with another pid.
    #[error("pid {found} where the row it replaced by exec has {expected}")]
    OtherPid {
        /// The pid of the earlier row.
        expected: u32,
        /// The pid of this row.
        found: u32,
    },
    /// A row names a thread and a process that is not the thread's.
    #[error("the thread is of process row {of}, not {found}")]
    OtherProcess {
        /// The process of the thread.
        of: usize,
        /// The process named.
        found: usize,
    },
    /// A share above the whole.
    #[error("{ppm} millionths are more than the whole")]
    AboveWhole {
        /// The share found.
        ppm: u32,
    },
    /// A probe record of an edge that its site's kind does not have.
    #[error("a {kind} site has no {edge} records")]
    WrongEdge {
        /// The site's kind.
        kind: &'static str,
        /// The record's edge.
        edge: &'static str,
    },
    /// A text that must name something is empty.
    #[error("a name is empty")]
    NoName,
}
