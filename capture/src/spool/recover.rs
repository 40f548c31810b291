//! Reads a spool: every whole chunk up to the first that is not.

use std::fs::{File, TryLockError};
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use super::chunk::{self, HEAD_BYTES, Head, Kind};
use super::{MAGIC, SpoolError};
use crate::{Loss, LossKind, Tables};

/// What [`recover`] kept and what it had to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoverReport {
    /// Whole chunks.
    pub chunks: u32,
    /// Samples in them.
    pub samples: u64,
    /// Samples of a chunk whose head is whole and whose rows are not.
    pub samples_cut: u64,
    /// Bytes after the last whole chunk.
    pub bytes_cut: u64,
    /// Whether the recorder ended by itself: then nothing is missing.
    pub sealed: bool,
}

/// Reads what a recorder that was killed had spooled.
///
/// The rows say with [`LossKind::Unspooled`] what is missing. Refuses a recording that still runs.
pub fn recover(path: &Path) -> Result<(Tables, RecoverReport), SpoolError> {
    let io = |source| SpoolError::Io { path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        return Err(SpoolError::NotASpool { path: path.to_owned() });
    }
    let mut file = File::open(path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(SpoolError::Live { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => return Err(io(source)),
    }
    let length = file.metadata().map_err(io)?.len();
    recover_from(&mut file, length, path)
}

/// As [`recover`], from bytes in memory.
pub fn recover_bytes(bytes: &[u8]) -> Result<(Tables, RecoverReport), SpoolError> {
    recover_from(&mut Cursor::new(bytes), bytes.len() as u64, Path::new("the bytes"))
}

fn recover_from(
    file: &mut (impl Read + Seek),
    length: u64,
    path: &Path,
) -> Result<(Tables, RecoverReport), SpoolError> {
    let mut found = read_chunks(file, length, path)?;
    let report = RecoverReport {
        chunks: found.chunks,
        samples: found.tables.samples.len() as u64,
        samples_cut: u64::from(found.samples_cut),
        bytes_cut: length - found.whole_bytes,
        sealed: found.sealed,
    };
    if !report.sealed {
        add_loss(&mut found.tables, &report);
    }
    Ok((found.tables, report))
}

/// Says in the rows what a killed recorder did not spool.
fn add_loss(tables: &mut Tables, report: &RecoverReport) {
    let last_ns = tables.samples.time_ns.iter().copied().max().unwrap_or(0);
    let detail = tables.strings.push(&format!(
        "the recorder was killed: {} bytes were cut, and rows not yet written are not counted",
        report.bytes_cut
    ));
    tables.losses.push(Loss {
        kind: LossKind::Unspooled,
        count: report.samples_cut,
        from_ns: last_ns,
        until_ns: last_ns,
        cpu: None,
        process: None,
        thread: None,
        detail,
    });
}

/// The whole chunks of a spool, put together.
pub(super) struct Found {
    pub(super) tables: Tables,
    pub(super) chunks: u32,
    whole_bytes: u64,
    samples_cut: u32,
    sealed: bool,
    /// Why reading ended before the bytes did.
    pub(super) stopped: Option<String>,
}

/// Reads chunks from the beginning of a spool of `length` bytes.
pub(super) fn read_chunks(
    file: &mut (impl Read + Seek),
    length: u64,
    path: &Path,
) -> Result<Found, SpoolError> {
    let io = |source| SpoolError::Io { path: path.to_owned(), source };
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    let mut magic = [0; MAGIC.len()];
    let begins = length >= magic.len() as u64 && file.read_exact(&mut magic).is_ok() && magic == MAGIC;
    if !begins {
        return Err(SpoolError::NotASpool { path: path.to_owned() });
    }
    let mut reading = Reading::after_magic(length);
    while reading.goes_on() {
        if let Err(what) = reading.next_chunk(file) {
            reading.found.stopped = Some(what);
        }
    }
    Ok(reading.finish())
}

/// A spool while it is read.
struct Reading {
    length: u64,
    /// Epochs that ended; [`Found::tables`] is the one at hand.
    ended: Vec<Tables>,
    found: Found,
}

impl Reading {
    fn after_magic(length: u64) -> Self {
        let found = Found {
            tables: Tables::default(),
            chunks: 0,
            whole_bytes: MAGIC.len() as u64,
            samples_cut: 0,
            sealed: false,
            stopped: None,
        };
        Self { length, ended: Vec::new(), found }
    }

    fn goes_on(&self) -> bool {
        self.found.stopped.is_none() && !self.found.sealed && self.found.whole_bytes < self.length
    }

    /// Reads one chunk; fails with the reason when it is not whole.
    fn next_chunk(&mut self, file: &mut impl Read) -> Result<(), String> {
        let mut head = [0; HEAD_BYTES];
        file.read_exact(&mut head).map_err(|error| format!("its head is cut off: {error}"))?;
        let head = Head::read(&head).ok_or("its head is damaged")?;
        if head.number != self.found.chunks {
            return Err(format!("it is number {}", head.number));
        }
        let payload = self.payload(file, &head).inspect_err(|_| self.found.samples_cut = head.samples)?;
        self.take(head.kind, &payload).inspect_err(|_| self.found.samples_cut = head.samples)?;
        self.found.chunks += 1;
        self.found.whole_bytes += (HEAD_BYTES + payload.len()) as u64;
        Ok(())
    }

    /// The payload, allocated only after its length was compared with what is left of the file.
    fn payload(&self, file: &mut impl Read, head: &Head) -> Result<Vec<u8>, String> {
        let left = self.length.saturating_sub(self.found.whole_bytes + HEAD_BYTES as u64);
        if u64::from(head.payload_bytes) > left {
            return Err("its rows are cut off".to_owned());
        }
        let mut payload = vec![0; head.payload_bytes as usize];
        file.read_exact(&mut payload).map_err(|error| format!("its rows are cut off: {error}"))?;
        match crc32fast::hash(&payload) == head.checksum {
            true => Ok(payload),
            false => Err("its rows are damaged".to_owned()),
        }
    }

    fn take(&mut self, kind: Kind, payload: &[u8]) -> Result<(), String> {
        match kind {
            Kind::Increment => {
                let increment = chunk::decode(payload).map_err(|error| error.to_string())?;
                self.found.tables.apply(&increment);
            }
            Kind::EpochBegins => self.ended.push(std::mem::take(&mut self.found.tables)),
            Kind::Sealed => self.found.sealed = true,
        }
        Ok(())
    }

    fn finish(mut self) -> Found {
        if !self.ended.is_empty() {
            self.ended.push(std::mem::take(&mut self.found.tables));
            self.found.tables = Tables::merge(self.ended);
        }
        self.found
    }
}
