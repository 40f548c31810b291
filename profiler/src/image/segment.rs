//! Program headers: what is loaded where, and the way from file offsets to relative addresses.
//!
//! ```text
//! file      |  R page(s)  |R..X| X pages |X..W|   lld: one file page may belong to two segments,
//! addresses |  R          |R   | gap |  X| X       each mapped at its own address
//! ```

use crate::files::ReadAt;

use super::ImageError;
use super::bytes::{read_up_to, u32_at, u64_at};
use super::elf::{
    PF_EXECUTE, PF_READ, PF_WRITE, PROGRAM_HEADER_BYTES, PT_DYNAMIC, PT_GNU_EH_FRAME, PT_INTERP, PT_LOAD,
    PT_NOTE, PT_TLS,
};
use super::header::Header;

/// The unit in which the kernel maps files.
const PAGE_BYTES: u64 = 4_096;

/// What a program header describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentKind {
    /// Bytes mapped into the process.
    Load,
    /// The dynamic linker's table.
    Dynamic,
    /// The path of the dynamic linker.
    Interpreter,
    /// Notes, the build ID among them.
    Note,
    /// The template of thread-local storage.
    ThreadLocal,
    /// `.eh_frame_hdr`.
    EhFrameHeader,
    /// Anything else, by its type.
    Other(u32),
}

/// One checked program header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// What it describes.
    pub kind: SegmentKind,
    /// Whether the code may read it.
    pub readable: bool,
    /// Whether the code may write it.
    pub writable: bool,
    /// Whether it may be executed.
    pub executable: bool,
    /// Where its bytes begin in the file.
    pub file_offset: u64,
    /// How many bytes the file has of it; a claim until read.
    pub file_bytes: u64,
    /// Its relative address.
    pub svma: u64,
    /// How long it is in memory.
    pub memory_bytes: u64,
}

impl Segment {
    /// Whether the relative address lies in it.
    #[must_use]
    pub fn contains_svma(&self, svma: u64) -> bool {
        svma.checked_sub(self.svma).is_some_and(|into| into < self.memory_bytes)
    }

    /// The file offset of a relative address, if the file has the byte.
    fn offset_of_svma(&self, svma: u64) -> Option<u64> {
        let into = svma.checked_sub(self.svma).filter(|into| *into < self.file_bytes)?;
        self.file_offset.checked_add(into)
    }

    /// The first byte that a mapping of it may begin at.
    fn first_page(&self) -> u64 {
        self.file_offset & !(PAGE_BYTES - 1)
    }

    fn file_end(&self) -> u64 {
        self.file_offset.saturating_add(self.file_bytes)
    }

    /// The relative address of a byte of the pages that hold it.
    fn svma_of_page_byte(&self, file_offset: u64) -> u64 {
        self.svma.wrapping_add(file_offset.wrapping_sub(self.file_offset))
    }
}

/// A mapping of a file, as the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappedRange {
    /// The file offset of its first byte.
    pub file_offset: u64,
    /// Its length.
    pub length_bytes: u64,
    /// Whether it may be executed.
    pub executable: bool,
}

impl MappedRange {
    fn overlap_bytes(&self, segment: &Segment) -> u64 {
        let end = self.file_offset.saturating_add(self.length_bytes).min(segment.file_end());
        end.saturating_sub(self.file_offset.max(segment.file_offset))
    }
}

/// Reads every program header.
pub(super) fn read_all(file: &dyn ReadAt, header: &Header) -> Result<Vec<Segment>, ImageError> {
    let bytes = header.program_headers.read(file, "program headers")?;
    Ok(bytes.chunks_exact(PROGRAM_HEADER_BYTES as usize).filter_map(from_bytes).collect())
}

fn from_bytes(bytes: &[u8]) -> Option<Segment> {
    let flags = u32_at(bytes, 4)?;
    Some(Segment {
        kind: kind_of(u32_at(bytes, 0)?),
        readable: flags & PF_READ != 0,
        writable: flags & PF_WRITE != 0,
        executable: flags & PF_EXECUTE != 0,
        file_offset: u64_at(bytes, 8)?,
        svma: u64_at(bytes, 16)?,
        file_bytes: u64_at(bytes, 32)?,
        memory_bytes: u64_at(bytes, 40)?,
    })
}

fn kind_of(code: u32) -> SegmentKind {
    match code {
        PT_LOAD => SegmentKind::Load,
        PT_DYNAMIC => SegmentKind::Dynamic,
        PT_INTERP => SegmentKind::Interpreter,
        PT_NOTE => SegmentKind::Note,
        PT_TLS => SegmentKind::ThreadLocal,
        PT_GNU_EH_FRAME => SegmentKind::EhFrameHeader,
        other => SegmentKind::Other(other),
    }
}

pub(super) fn svma_of_file_offset<'a>(
    segments: impl Iterator<Item = &'a Segment>,
    file_offset: u64,
) -> Option<u64> {
    let holds = |segment: &&Segment| segment.file_offset <= file_offset && file_offset < segment.file_end();
    segments.filter(holds).max_by_key(|segment| segment.executable).map(|s| s.svma_of_page_byte(file_offset))
}

pub(super) fn svma_of_mapping<'a>(
    segments: impl Iterator<Item = &'a Segment>,
    mapping: MappedRange,
) -> Option<u64> {
    segments
        .filter(|segment| segment.first_page() <= mapping.file_offset)
        .filter(|segment| mapping.overlap_bytes(segment) > 0)
        .max_by_key(|segment| (segment.executable == mapping.executable, mapping.overlap_bytes(segment)))
        .map(|segment| segment.svma_of_page_byte(mapping.file_offset))
}

pub(super) fn read_loaded<'a>(
    mut segments: impl Iterator<Item = &'a Segment>,
    file: &dyn ReadAt,
    svma: u64,
    into: &mut [u8],
) -> Result<usize, ImageError> {
    let Some((segment, offset)) = segments.find_map(|s| s.offset_of_svma(svma).map(|offset| (s, offset)))
    else {
        return Ok(0);
    };
    let available = usize::try_from(segment.file_end() - offset).unwrap_or(usize::MAX).min(into.len());
    read_up_to(file, "loaded bytes", offset, &mut into[..available])
}
