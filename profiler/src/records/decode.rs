//! From the bytes of one record to a [`Record`].

use super::bytes::Cursor;
use super::layout::{Layout, Layouts, Role, sample_type as bit};
use super::sample::decode_sample;
use super::side_band;
use super::{Body, ProblemKind, Record, Stamp};

/// The length of `struct perf_event_header`.
pub(crate) const HEADER_BYTES: usize = 8;

/// `PERF_RECORD_*`, by the names of `linux/perf_event.h`.
pub(crate) mod record_type {
    pub(crate) const MMAP: u32 = 1;
    pub(crate) const LOST: u32 = 2;
    pub(crate) const COMM: u32 = 3;
    pub(crate) const EXIT: u32 = 4;
    pub(crate) const THROTTLE: u32 = 5;
    pub(crate) const UNTHROTTLE: u32 = 6;
    pub(crate) const FORK: u32 = 7;
    pub(crate) const SAMPLE: u32 = 9;
    pub(crate) const MMAP2: u32 = 10;
    pub(crate) const LOST_SAMPLES: u32 = 13;
    pub(crate) const SWITCH: u32 = 14;
    pub(crate) const SWITCH_CPU_WIDE: u32 = 15;
    pub(crate) const NAMESPACES: u32 = 16;
    pub(crate) const KSYMBOL: u32 = 17;
}
use record_type as of;

/// The header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) record: u32,
    pub(crate) misc: u16,
    pub(crate) size: u16,
}

impl Header {
    /// Reads the header of `bytes`, which may hold more than its record.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ProblemKind> {
        let mut cursor = Cursor::new(bytes);
        let short = ProblemKind::NoHeader { bytes: u16::try_from(bytes.len()).unwrap_or(u16::MAX) };
        let (Some(record), Some(misc), Some(size)) = (cursor.u32(), cursor.u16(), cursor.u16()) else {
            return Err(short);
        };
        if usize::from(size) < HEADER_BYTES || size % 8 != 0 {
            return Err(ProblemKind::BadSize { size });
        }
        Ok(Self { record, misc, size })
    }
}

/// Decodes the record that `bytes` are: exactly one, as its header states.
pub fn decode<'a>(bytes: &'a [u8], layouts: &Layouts) -> Result<Record<'a>, ProblemKind> {
    let header = Header::read(bytes)?;
    let Some(fields) = bytes.get(HEADER_BYTES..usize::from(header.size)) else {
        return Err(ProblemKind::BadSize { size: header.size });
    };
    let short = ProblemKind::Short { record: header.record };
    let layout = layout_of(header, fields, layouts)?;
    if header.record == of::SAMPLE {
        let (stamp, sample) = decode_sample(header, fields, layout).ok_or(short)?;
        let body = if layout.role == Role::Output { Body::Output(sample.raw) } else { Body::Sample(sample) };
        return Ok(Record { stamp, body });
    }
    let end = fields.len().checked_sub(layout.trailer_bytes()).ok_or(short)?;
    let (fields, trailer) = fields.split_at(end);
    let stamp = read_trailer(trailer, layout).ok_or(short)?;
    let body = side_band::decode(header, fields)?;
    Ok(Record { stamp, body })
}

/// The identifier is a sample's first field and every other record's last.
fn layout_of<'l>(header: Header, fields: &[u8], layouts: &'l Layouts) -> Result<&'l Layout, ProblemKind> {
    let word = if header.record == of::SAMPLE { fields.first_chunk() } else { fields.last_chunk() };
    let event = u64::from_ne_bytes(*word.ok_or(ProblemKind::Short { record: header.record })?);
    layouts.get(event).ok_or(ProblemKind::UnknownEvent { event })
}

/// Reads `struct sample_id`.
fn read_trailer(trailer: &[u8], layout: &Layout) -> Option<Stamp> {
    let mut cursor = Cursor::new(trailer);
    let (pid, tid) = cursor.pair()?;
    let time_ns = cursor.u64()?;
    for field in [bit::ID, bit::STREAM_ID] {
        if layout.has(field) {
            cursor.u64()?;
        }
    }
    let (cpu, _reserved) = cursor.pair()?;
    Some(Stamp { event: layout.event, pid, tid, time_ns, cpu })
}

/// What ordering needs of a record, read without decoding it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Glance {
    pub(crate) time_ns: u64,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) kind: GlanceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GlanceKind {
    Sample,
    Output,
    Other,
}

/// Reads time and thread of the record that `bytes` are.
pub(crate) fn glance(bytes: &[u8], layouts: &Layouts) -> Result<Glance, ProblemKind> {
    let header = Header::read(bytes)?;
    let short = ProblemKind::Short { record: header.record };
    let fields = bytes.get(HEADER_BYTES..usize::from(header.size)).ok_or(short)?;
    let layout = layout_of(header, fields, layouts)?;
    let (start, kind) = match (header.record, layout.role) {
        (of::SAMPLE, Role::Output) => (layout.task_offset(), GlanceKind::Output),
        (of::SAMPLE, _) => (layout.task_offset(), GlanceKind::Sample),
        _ => (fields.len().checked_sub(layout.trailer_bytes()).ok_or(short)?, GlanceKind::Other),
    };
    let mut cursor = Cursor::new(fields.get(start..).unwrap_or_default());
    let (pid, tid) = cursor.pair().ok_or(short)?;
    let time_ns = cursor.u64().ok_or(short)?;
    Ok(Glance { time_ns, pid, tid, kind })
}
