//! The file header: where the program and section headers are, and how many.

use crate::files::ReadAt;

use super::ImageError;
use super::bytes::{Part, array_at, read_part, u16_at, u32_at, u64_at};
use super::elf::{
    CLASS_64, FILE_HEADER_BYTES, LITTLE_ENDIAN, MAGIC, PN_XNUM, PROGRAM_HEADER_BYTES, SECTION_HEADER_BYTES,
    SHN_XINDEX,
};

/// Program headers that are read at most; linkers make about a dozen.
const SEGMENTS_MAX: u64 = 4_096;
/// Section headers that are read at most; large object files have tens of thousands.
const SECTIONS_MAX: u64 = 1 << 17;

/// The checked file header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) machine: u16,
    pub(super) entry: u64,
    pub(super) program_headers: HeaderTable,
    pub(super) section_headers: HeaderTable,
    /// The index of the section with the sections' names.
    pub(super) names_section: u64,
}

/// A table of headers in the file. Invariant: the count is within its limit and the entry size is the format's.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderTable {
    pub(super) offset: u64,
    pub(super) count: u64,
    pub(super) entry_bytes: u64,
}

impl HeaderTable {
    /// The bytes of every header; none when the table is empty.
    pub(super) fn read(&self, file: &dyn ReadAt, what: &'static str) -> Result<Vec<u8>, ImageError> {
        let size = self.count * self.entry_bytes;
        if size == 0 {
            return Ok(Vec::new());
        }
        read_part(file, Part { what, offset: self.offset, size, max: size })
    }
}

impl Header {
    /// Reads and checks the header of `file`.
    pub(super) fn read(file: &dyn ReadAt) -> Result<Self, ImageError> {
        let part = Part { what: "file header", offset: 0, size: FILE_HEADER_BYTES, max: FILE_HEADER_BYTES };
        let bytes = read_part(file, part).map_err(|error| match error {
            ImageError::Truncated { .. } => ImageError::NotElf,
            other => other,
        })?;
        check_ident(&bytes)?;
        Self::from_bytes(file, &bytes).ok_or(ImageError::NotElf)?
    }

    fn from_bytes(file: &dyn ReadAt, bytes: &[u8]) -> Option<Result<Self, ImageError>> {
        let counts = Counts {
            segments: u16_at(bytes, 56)?,
            sections: u16_at(bytes, 60)?,
            names_section: u16_at(bytes, 62)?,
            section_offset: u64_at(bytes, 40)?,
        };
        let (machine, entry) = (u16_at(bytes, 18)?, u64_at(bytes, 24)?);
        let (segment_offset, segment_bytes) = (u64_at(bytes, 32)?, u16_at(bytes, 54)?);
        let section_bytes = u16_at(bytes, 58)?;
        Some(counts.resolve(file).and_then(|(segments, sections, names_section)| {
            let program_headers = HeaderTable {
                offset: segment_offset,
                count: within("program header count", segments, SEGMENTS_MAX)?,
                entry_bytes: entry_size(
                    "program header size",
                    segments,
                    segment_bytes,
                    PROGRAM_HEADER_BYTES,
                )?,
            };
            let section_headers = HeaderTable {
                offset: counts.section_offset,
                count: within("section header count", sections, SECTIONS_MAX)?,
                entry_bytes: entry_size(
                    "section header size",
                    sections,
                    section_bytes,
                    SECTION_HEADER_BYTES,
                )?,
            };
            Ok(Self { machine, entry, program_headers, section_headers, names_section })
        }))
    }
}

fn check_ident(bytes: &[u8]) -> Result<(), ImageError> {
    let ident: [u8; 6] = array_at(bytes, 0).ok_or(ImageError::NotElf)?;
    let [.., class, order] = ident;
    if !ident.starts_with(&MAGIC) {
        return Err(ImageError::NotElf);
    }
    if class != CLASS_64 {
        return Err(ImageError::Unsupported { what: "the class", value: u64::from(class) });
    }
    if order != LITTLE_ENDIAN {
        return Err(ImageError::Unsupported { what: "the byte order", value: u64::from(order) });
    }
    Ok(())
}

fn within(what: &'static str, value: u64, max: u64) -> Result<u64, ImageError> {
    if value > max { Err(ImageError::TooLarge { what, value, max }) } else { Ok(value) }
}

fn entry_size(what: &'static str, count: u64, found: u16, expected: u64) -> Result<u64, ImageError> {
    match u64::from(found) {
        found if count > 0 && found != expected => Err(ImageError::Malformed { what, value: found }),
        _ => Ok(expected),
    }
}

/// The counts of the file header, some of which may be kept in section 0 instead.
struct Counts {
    segments: u16,
    sections: u16,
    names_section: u16,
    section_offset: u64,
}

impl Counts {
    /// Program headers, section headers, and the index of the section names.
    fn resolve(&self, file: &dyn ReadAt) -> Result<(u64, u64, u64), ImageError> {
        let plain = (u64::from(self.segments), u64::from(self.sections), u64::from(self.names_section));
        let in_section_0 = self.segments == PN_XNUM || self.sections == 0 || self.names_section == SHN_XINDEX;
        if self.section_offset == 0 {
            return Ok((plain.0, 0, 0));
        }
        if !in_section_0 {
            return Ok(plain);
        }
        let (size, max) = (SECTION_HEADER_BYTES, SECTION_HEADER_BYTES);
        let part = Part { what: "section header 0", offset: self.section_offset, size, max };
        let bytes = read_part(file, part)?;
        let field =
            |value: Option<u64>| value.ok_or(ImageError::Malformed { what: "section header 0", value: 0 });
        let info = field(u32_at(&bytes, 44).map(u64::from))?;
        let link = field(u32_at(&bytes, 40).map(u64::from))?;
        let count = field(u64_at(&bytes, 32))?;
        Ok((
            if self.segments == PN_XNUM { info } else { plain.0 },
            if self.sections == 0 { count } else { plain.1 },
            if self.names_section == SHN_XINDEX { link } else { plain.2 },
        ))
    }
}
