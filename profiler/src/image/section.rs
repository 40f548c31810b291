//! Section headers with their names, and section contents with limits.

use std::ops::Deref;
use std::sync::Arc;

use crate::files::ReadAt;

use super::bytes::{Part, read_part, u32_at, u64_at};
use super::elf::{SECTION_HEADER_BYTES, SHF_ALLOC, SHF_COMPRESSED, SHF_EXECUTE, SHT_NOBITS, SHT_NOTE};
use super::header::Header;
use super::{ImageError, SECTION_BYTES_MAX, compression};

/// The section name table that is read at most.
const NAMES_BYTES_MAX: u64 = 16 << 20;
/// A section name's bytes that are kept at most.
const NAME_BYTES_MAX: usize = 256;

/// One checked section header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name, with what is not UTF-8 replaced, cut at 256 bytes.
    pub name: Box<str>,
    /// Its relative address; 0 when it is not loaded.
    pub svma: u64,
    /// Its length in the file (in memory for one without bytes).
    pub size: u64,
    /// Where its bytes begin in the file.
    pub file_offset: u64,
    /// Whether the file has bytes of it.
    pub has_bytes: bool,
    /// Whether it is loaded.
    pub loaded: bool,
    /// Whether it holds code.
    pub executable: bool,
    /// Whether its bytes begin with a compression header.
    pub compressed: bool,
    pub(super) is_note: bool,
}

/// A section's bytes, decompressed, shared.
#[derive(Debug, Clone)]
pub struct SectionData {
    /// The section's relative address; 0 when it is not loaded.
    pub svma: u64,
    bytes: Arc<Vec<u8>>,
}

impl SectionData {
    /// Bytes at an address, for sections that come from elsewhere.
    #[must_use]
    pub fn new(svma: u64, bytes: Vec<u8>) -> Self {
        Self { svma, bytes: Arc::new(bytes) }
    }
}

impl Deref for SectionData {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Section {
    /// Whether the relative address lies in it.
    #[must_use]
    pub fn contains_svma(&self, svma: u64) -> bool {
        self.loaded && svma.checked_sub(self.svma).is_some_and(|into| into < self.size)
    }

    /// The bytes in the file as they are.
    pub(super) fn read_raw(&self, file: &dyn ReadAt, max: u64) -> Result<Vec<u8>, ImageError> {
        read_part(file, Part { what: "section", offset: self.file_offset, size: self.size, max })
    }

    pub(super) fn read(&self, file: &dyn ReadAt) -> Result<SectionData, ImageError> {
        let raw = self.read_raw(file, SECTION_BYTES_MAX)?;
        let bytes = if self.compressed {
            compression::elf_section(&self.name, &raw)?
        } else if self.name.starts_with(".zdebug_") {
            compression::gnu_section(&self.name, &raw)?
        } else {
            raw
        };
        Ok(SectionData::new(self.svma, bytes))
    }
}

/// The section called `name` that has bytes; `.debug_x` also finds `.zdebug_x`.
pub(super) fn find<'a>(sections: &'a [Section], name: &str) -> Option<&'a Section> {
    let older = name.strip_prefix(".debug_").map(|rest| format!(".zdebug_{rest}"));
    let by_name = |wanted: &str| sections.iter().find(|s| s.has_bytes && &*s.name == wanted);
    by_name(name).or_else(|| older.as_deref().and_then(by_name))
}

/// Reads every section header and the names.
pub(super) fn read_all(file: &dyn ReadAt, header: &Header) -> Result<Vec<Section>, ImageError> {
    let bytes = header.section_headers.read(file, "section headers")?;
    let headers: Vec<&[u8]> = bytes.chunks_exact(SECTION_HEADER_BYTES as usize).collect();
    let names = read_names(file, &headers, header.names_section)?;
    Ok(headers.iter().filter_map(|bytes| from_bytes(bytes, &names)).collect())
}

fn read_names(file: &dyn ReadAt, headers: &[&[u8]], index: u64) -> Result<Vec<u8>, ImageError> {
    if headers.is_empty() || index == 0 {
        return Ok(Vec::new());
    }
    let malformed = || ImageError::Malformed { what: "index of the section names", value: index };
    let found = usize::try_from(index).ok().and_then(|index| headers.get(index)).ok_or_else(malformed)?;
    let section = from_bytes(found, &[]).filter(|section| section.has_bytes).ok_or_else(malformed)?;
    section.read_raw(file, NAMES_BYTES_MAX)
}

fn from_bytes(bytes: &[u8], names: &[u8]) -> Option<Section> {
    let (kind, flags) = (u32_at(bytes, 4)?, u64_at(bytes, 8)?);
    Some(Section {
        name: name_at(names, u32_at(bytes, 0)?),
        svma: u64_at(bytes, 16)?,
        file_offset: u64_at(bytes, 24)?,
        size: u64_at(bytes, 32)?,
        has_bytes: kind != SHT_NOBITS && kind != 0,
        loaded: flags & SHF_ALLOC != 0,
        executable: flags & SHF_EXECUTE != 0,
        compressed: flags & SHF_COMPRESSED != 0,
        is_note: kind == SHT_NOTE,
    })
}

fn name_at(names: &[u8], offset: u32) -> Box<str> {
    let rest = names.get(offset as usize..).unwrap_or_default();
    let rest = rest.get(..NAME_BYTES_MAX).unwrap_or(rest);
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into()
}
