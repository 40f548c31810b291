//! The rows of a recording: made in memory, moved to the spool as it goes on, back together at its end.

use microscope_capture::{Builder, Increment, Spool, SpoolError};

/// Rows leave memory at most this long after they were made.
const SPOOL_PERIOD_NS: u64 = 250_000_000;

/// A builder whose passing rows go to disk.
pub(super) struct Rows {
    pub(super) builder: Builder,
    spool: Spool,
    spooled_ns: u64,
    /// What could not be written, and why: the recording ends soon after.
    unwritten: Option<(Increment, SpoolError)>,
}

impl Rows {
    pub(super) const fn new(builder: Builder, spool: Spool) -> Self {
        Self { builder, spool, spooled_ns: 0, unwritten: None }
    }

    /// Moves rows to disk when it is time.
    pub(super) fn advance(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.spooled_ns) >= SPOOL_PERIOD_NS && self.unwritten.is_none() {
            self.spooled_ns = now_ns;
            self.write();
        }
    }

    fn write(&mut self) {
        let increment = self.builder.take_increment();
        if let Err(error) = self.spool.append(&increment) {
            self.unwritten = Some((increment, error));
        }
    }

    /// Why rows cannot be written any more.
    pub(super) fn failure(&self) -> Option<&SpoolError> {
        self.unwritten.as_ref().map(|(_, error)| error)
    }

    /// All rows in one builder, and the spool to discard once they are published.
    pub(super) fn seal(mut self) -> Result<(Builder, Spool), SpoolError> {
        if self.unwritten.is_none() {
            self.write();
        }
        let tables = match self.unwritten.take() {
            None => self.spool.seal()?,
            Some((increment, _)) => {
                let mut tables = self.spool.rows()?;
                tables.apply(&increment);
                tables.apply(&self.builder.take_increment());
                tables
            }
        };
        self.builder.restore(tables);
        Ok((self.builder, self.spool))
    }
}
