//! Compressed sections: the gABI's header with zlib or zstd, and the older `.zdebug_` form.
//!
//! The size a section claims is checked against the limit and against what its compressed bytes could hold before
//! anything is decompressed; decompression stops there.

use std::io::Read;

use super::bytes::{array_at, u32_at, u64_at};
use super::elf::{COMPRESS_ZLIB, COMPRESS_ZSTD, COMPRESSION_HEADER_BYTES};
use super::{ImageError, SECTION_BYTES_MAX};

/// Debug information shrinks to a third or a tenth; a claim beyond this is a decompression bomb.
const RATIO_MAX: u64 = 256;
/// Claims up to here are fine at any ratio.
const SMALL_BYTES: u64 = 1 << 20;

/// The contents of a section marked as compressed.
pub(super) fn elf_section(name: &str, raw: &[u8]) -> Result<Vec<u8>, ImageError> {
    let failed = |cause: &str| failure(name, cause);
    let header = u32_at(raw, 0).zip(u64_at(raw, 8));
    let (kind, size) = header.ok_or_else(|| failed("shorter than its header"))?;
    let packed = raw.get(COMPRESSION_HEADER_BYTES..).ok_or_else(|| failed("shorter than its header"))?;
    match kind {
        COMPRESS_ZLIB => unpack_zlib(name, packed, size),
        COMPRESS_ZSTD => unpack_zstd(name, packed, size),
        other => Err(failed(&format!("unknown compression {other}"))),
    }
}

/// The contents of a `.zdebug_` section: `ZLIB`, the size in big-endian order, zlib bytes.
pub(super) fn gnu_section(name: &str, raw: &[u8]) -> Result<Vec<u8>, ImageError> {
    let size = array_at(raw, 4).map(u64::from_be_bytes).filter(|_| raw.starts_with(b"ZLIB"));
    let packed = raw.get(12..);
    let (size, packed) = size.zip(packed).ok_or_else(|| failure(name, "no ZLIB header"))?;
    unpack_zlib(name, packed, size)
}

fn unpack_zlib(name: &str, packed: &[u8], size: u64) -> Result<Vec<u8>, ImageError> {
    read_exactly(name, flate2::read::ZlibDecoder::new(packed), packed.len(), size)
}

fn unpack_zstd(name: &str, packed: &[u8], size: u64) -> Result<Vec<u8>, ImageError> {
    check_claim(packed.len(), size)?;
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed);
    let decoder = decoder.map_err(|error| failure(name, &error.to_string()))?;
    read_exactly(name, decoder, packed.len(), size)
}

fn read_exactly(name: &str, from: impl Read, packed_bytes: usize, size: u64) -> Result<Vec<u8>, ImageError> {
    check_claim(packed_bytes, size)?;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    let read = from.take(size).read_to_end(&mut bytes);
    read.map_err(|error| failure(name, &error.to_string()))?;
    if bytes.len() as u64 != size {
        return Err(failure(name, &format!("{} bytes instead of {size}", bytes.len())));
    }
    Ok(bytes)
}

fn check_claim(packed_bytes: usize, size: u64) -> Result<(), ImageError> {
    let possible = (packed_bytes as u64).saturating_mul(RATIO_MAX).max(SMALL_BYTES);
    let max = possible.min(SECTION_BYTES_MAX);
    if size > max {
        return Err(ImageError::TooLarge { what: "decompressed section size", value: size, max });
    }
    Ok(())
}

fn failure(section: &str, cause: &str) -> ImageError {
    ImageError::Compression { section: section.to_owned(), cause: cause.to_owned() }
}
