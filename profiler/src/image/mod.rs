//! Bounded intake of ELF files: what `tracking`, `unwind` and `debug_info` read of a module.
//!
//! In comes a [`FileHandle`] (or bytes, for the vdso) that nobody vouches for; out come checked headers,
//! sections with limits on every size, and the proofs of identity. [`Image`] is immutable: share it in an `Arc`.
//! Invariant: no input panics, and no claim of a file is allocated before the file is seen to hold it.

mod bytes;
mod compression;
mod elf;
mod error;
mod header;
mod identity;
mod links;
mod notes;
mod section;
mod segment;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::files::FileHandle;

pub use error::ImageError;
pub use identity::Identity;
pub(crate) use identity::hex;
pub use links::{AltLink, DebugLink};
pub use section::{Section, SectionData};
pub use segment::{MappedRange, Segment, SegmentKind};

use header::Header;

/// The GNU build ID among bare notes, such as the kernel's.
pub(crate) fn build_id_of_notes(notes: &[u8]) -> Option<Vec<u8>> {
    notes::in_bytes(notes, notes::GNU_BUILD_ID)
}

/// The largest section that is read, after decompression.
pub const SECTION_BYTES_MAX: u64 = 1 << 30;

/// A checked ELF64 file whose contents are read on demand.
#[derive(Clone)]
pub struct Image {
    file: FileHandle,
    header: Header,
    segments: Vec<Segment>,
    /// Why there are no sections, when the headers name some that cannot be read: a program runs without them.
    sections: Result<Vec<Section>, ImageError>,
}

impl Image {
    /// Checks the headers of `file`. Section contents are read when asked for.
    pub fn parse(file: FileHandle) -> Result<Self, ImageError> {
        let header = Header::read(&*file)?;
        let segments = segment::read_all(&*file, &header)?;
        let sections = section::read_all(&*file, &header);
        Ok(Self { file, header, segments, sections })
    }

    /// The same for bytes in memory, such as the vdso's.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ImageError> {
        Self::parse(Arc::new(bytes))
    }

    /// The ELF machine code, such as 62 for x86-64.
    #[must_use]
    pub fn machine(&self) -> u16 {
        self.header.machine
    }

    /// The entry point's relative address; 0 when there is none.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.header.entry
    }

    /// Every program header, in file order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The loaded segments, in file order.
    pub fn loaded_segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.kind == SegmentKind::Load)
    }

    /// Every section header, in file order; empty when they cannot be read.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        self.sections.as_deref().unwrap_or_default()
    }

    /// The bytes of the section called `name`, decompressed; `.debug_x` also finds the older `.zdebug_x`.
    ///
    /// `None` when there is no such section, or it has no bytes in this file (as in a split debug file).
    pub fn section(&self, name: &str) -> Result<Option<SectionData>, ImageError> {
        let sections = self.sections.as_ref().map_err(Clone::clone)?;
        section::find(sections, name).map(|found| found.read(&*self.file)).transpose()
    }

    /// The relative address of the byte at `file_offset`, by the loaded segment whose file range holds it.
    #[must_use]
    pub fn svma_of_file_offset(&self, file_offset: u64) -> Option<u64> {
        segment::svma_of_file_offset(self.loaded_segments(), file_offset)
    }

    /// The relative address of a mapping's first byte.
    ///
    /// Segments may share a page of the file (lld and mold split them so): the one whose rights and range fit
    /// the mapping decides.
    #[must_use]
    pub fn svma_of_mapping(&self, mapping: MappedRange) -> Option<u64> {
        segment::svma_of_mapping(self.loaded_segments(), mapping)
    }

    /// Reads loaded bytes at a relative address; short where the segment's file range ends.
    pub fn read_loaded(&self, svma: u64, into: &mut [u8]) -> Result<usize, ImageError> {
        segment::read_loaded(self.loaded_segments(), &*self.file, svma, into)
    }

    /// The GNU build ID, if there is one.
    #[must_use]
    pub fn build_id(&self) -> Option<Vec<u8>> {
        notes::find(&*self.file, &self.segments, self.sections(), notes::GNU_BUILD_ID)
    }

    /// Go's own build ID, if there is one.
    #[must_use]
    pub fn go_build_id(&self) -> Option<String> {
        let text = notes::find(&*self.file, &self.segments, self.sections(), notes::GO_BUILD_ID)?;
        String::from_utf8(text).ok()
    }

    /// What proves which code this is: GNU build ID, else Go build ID, else a hash of the loaded code.
    #[must_use]
    pub fn identity(&self) -> Identity {
        identity::of(self)
    }

    /// The name and checksum of a separate debug file.
    pub fn debug_link(&self) -> Result<Option<DebugLink>, ImageError> {
        Ok(self.section(".gnu_debuglink")?.and_then(|data| links::debug_link(&data)))
    }

    /// The name and build ID of a supplementary debug file that dwz made.
    pub fn alt_link(&self) -> Result<Option<AltLink>, ImageError> {
        Ok(self.section(".gnu_debugaltlink")?.and_then(|data| links::alt_link(&data)))
    }

    /// The file the image reads.
    #[must_use]
    pub fn file(&self) -> &FileHandle {
        &self.file
    }
}
