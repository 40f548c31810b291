//! Records other than samples: their fields before the identification at the end.

use super::bytes::Cursor;
use super::decode::{Header, record_type as of};
use super::record::{
    Body, Evidence, FileKey, KernelSymbol, Lost, Namespaces, NewMapping, NewName, Switch, Task, Throttle,
};
use super::{ProblemKind, Words};

/// `PERF_RECORD_MISC_*`; one bit has a meaning for each type of record.
pub(super) mod misc {
    pub(crate) const MMAP_DATA: u16 = 1 << 13;
    pub(crate) const COMM_EXEC: u16 = 1 << 13;
    pub(crate) const SWITCH_OUT: u16 = 1 << 13;
    pub(crate) const MMAP_BUILD_ID: u16 = 1 << 14;
    pub(crate) const SWITCH_PREEMPT: u16 = 1 << 14;
}

const PROT_EXEC: u32 = 4;
const KSYMBOL_UNREGISTER: u16 = 1;

pub(crate) fn decode(header: Header, fields: &[u8]) -> Result<Body<'_>, ProblemKind> {
    let cursor = Cursor::new(fields);
    let body = match header.record {
        of::MMAP => mapping(header, cursor).map(Body::Mapping),
        of::MMAP2 => mapping2(header, cursor).map(Body::Mapping),
        of::COMM => name(header, cursor).map(Body::Name),
        of::FORK => task(cursor).map(Body::Fork),
        of::EXIT => task(cursor).map(Body::Exit),
        of::LOST => lost(cursor).map(Body::Lost),
        of::LOST_SAMPLES => lost_samples(cursor).map(Body::Lost),
        of::THROTTLE => Some(Body::Throttle(Throttle { is_stopped: true })),
        of::UNTHROTTLE => Some(Body::Throttle(Throttle { is_stopped: false })),
        of::SWITCH => Some(Body::Switch(switch(header, None))),
        of::SWITCH_CPU_WIDE => { cursor }.pair().map(|other| Body::Switch(switch(header, Some(other)))),
        of::NAMESPACES => namespaces(cursor).map(Body::Namespaces),
        of::KSYMBOL => kernel_symbol(cursor).map(Body::KernelSymbol),
        record => return Err(ProblemKind::UnknownRecord { record }),
    };
    body.ok_or(ProblemKind::Short { record: header.record })
}

fn mapping(header: Header, mut cursor: Cursor<'_>) -> Option<NewMapping<'_>> {
    let (pid, tid) = cursor.pair()?;
    Some(NewMapping {
        pid,
        tid,
        start_address: cursor.u64()?,
        length_bytes: cursor.u64()?,
        file_offset: cursor.u64()?,
        evidence: Evidence::None,
        is_executable: header.misc & misc::MMAP_DATA == 0,
        path: text(cursor.rest()),
    })
}

/// ```text
/// pid tid | start | length | offset | 24 bytes of evidence | protection flags | path, padded with zeros
/// ```
fn mapping2(header: Header, mut cursor: Cursor<'_>) -> Option<NewMapping<'_>> {
    let (pid, tid) = cursor.pair()?;
    let (start_address, length_bytes, file_offset) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    let mut proof = Cursor::new(cursor.take(24)?);
    let evidence =
        if header.misc & misc::MMAP_BUILD_ID != 0 { build_id(proof.rest())? } else { inode(&mut proof)? };
    let (protection, _flags) = cursor.pair()?;
    Some(NewMapping {
        pid,
        tid,
        start_address,
        length_bytes,
        file_offset,
        evidence,
        is_executable: protection & PROT_EXEC != 0,
        path: text(cursor.rest()),
    })
}

/// A length, three reserved bytes, 20 bytes of build ID.
fn build_id(proof: &[u8]) -> Option<Evidence> {
    let (length, rest) = proof.split_first()?;
    let bytes = *rest.get(3..)?.first_chunk::<20>()?;
    let length = (*length).min(20);
    Some(if length == 0 { Evidence::None } else { Evidence::BuildId { bytes, length } })
}

fn inode(proof: &mut Cursor<'_>) -> Option<Evidence> {
    let (major, minor) = proof.pair()?;
    let key = FileKey { major, minor, inode: proof.u64()?, generation: proof.u64()? };
    Some(if key.inode == 0 { Evidence::None } else { Evidence::Inode(key) })
}

fn name(header: Header, mut cursor: Cursor<'_>) -> Option<NewName<'_>> {
    let (pid, tid) = cursor.pair()?;
    Some(NewName { pid, tid, is_exec: header.misc & misc::COMM_EXEC != 0, name: text(cursor.rest()) })
}

fn task(mut cursor: Cursor<'_>) -> Option<Task> {
    let (pid, parent_pid) = cursor.pair()?;
    let (tid, parent_tid) = cursor.pair()?;
    Some(Task { pid, parent_pid, tid, parent_tid })
}

fn lost(mut cursor: Cursor<'_>) -> Option<Lost> {
    let _event = cursor.u64()?;
    Some(Lost { count: cursor.u64()?, samples_only: false })
}

fn lost_samples(mut cursor: Cursor<'_>) -> Option<Lost> {
    Some(Lost { count: cursor.u64()?, samples_only: true })
}

const fn switch(header: Header, other: Option<(u32, u32)>) -> Switch {
    Switch {
        is_out: header.misc & misc::SWITCH_OUT != 0,
        is_preempted: header.misc & misc::SWITCH_PREEMPT != 0,
        other,
    }
}

fn namespaces(mut cursor: Cursor<'_>) -> Option<Namespaces<'_>> {
    let (pid, tid) = cursor.pair()?;
    let links: Words<'_> = {
        let count = cursor.u64()?;
        cursor.words(count.checked_mul(2)?)?
    };
    Some(Namespaces { pid, tid, links })
}

fn kernel_symbol(mut cursor: Cursor<'_>) -> Option<KernelSymbol<'_>> {
    let (address, length_bytes) = (cursor.u64()?, cursor.u32()?);
    let (_kind, flags) = (cursor.u16()?, cursor.u16()?);
    let name = text(cursor.rest());
    Some(KernelSymbol { address, length_bytes, is_gone: flags & KSYMBOL_UNREGISTER != 0, name })
}

/// A text up to its first zero.
fn text(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}
