//! The table of strings: the length of each, then all text compressed at once.
//!
//! ```text
//! strings := column of lengths in bytes, text bytes (varint), compressed bytes (varint), deflated text
//! ```
//! In a canonical capture strings are sorted, so deflate finds what neighbors share; storing shared
//! prefixes apart saved little more and made expansion unbounded.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::DecodeError;
use super::bytes::{Reader, put_varint};
use super::codec;
use crate::Strings;

/// Deflate never expands a byte to more than this.
const EXPANSION_MAX: usize = 1032;

pub(super) fn encode(strings: &Strings) -> Vec<u8> {
    let lengths: Vec<u64> = strings.iter().map(|text| text.len() as u64).collect();
    let deflated = deflate(strings.text().as_bytes());
    let mut out = Vec::new();
    codec::encode(&lengths, &[], &mut out);
    put_varint(&mut out, strings.text_bytes() as u64);
    put_varint(&mut out, deflated.len() as u64);
    out.extend(deflated);
    out
}

fn deflate(text: &[u8]) -> Vec<u8> {
    let mut stream = Compress::new(Compression::best(), false);
    let mut out = Vec::with_capacity(text.len() / 2 + 64);
    loop {
        let done = usize::try_from(stream.total_in()).unwrap_or(usize::MAX);
        let rest = text.get(done..).unwrap_or_default();
        // Compressing to memory fails only on misuse of the stream, which would show as a short text.
        match stream.compress_vec(rest, &mut out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) | Err(_) => return out,
            Ok(_) => out.reserve(out.capacity().max(64)),
        }
    }
}

pub(super) fn decode(reader: &mut Reader<'_>, rows: usize) -> Result<Strings, DecodeError> {
    let mut lengths: Vec<u64> = Vec::new();
    codec::decode(reader, rows, &mut lengths)?;
    let text_bytes = reader.length()?;
    let compressed = reader.length()?;
    let text = inflate(reader.take(compressed)?, text_bytes)?;
    let text = String::from_utf8(text).map_err(|error| {
        let valid = error.utf8_error().valid_up_to() as u64;
        DecodeError::NotUtf8 { row: row_at(&lengths, valid) }
    })?;
    Strings::from_lengths(text, &lengths).map_err(|row| DecodeError::BadLength { row })
}

/// The string that holds a byte.
fn row_at(lengths: &[u64], byte: u64) -> usize {
    let ends = lengths.iter().scan(0_u64, |end, length| {
        *end = end.saturating_add(*length);
        Some(*end)
    });
    ends.take_while(|end| *end <= byte).count()
}

fn inflate(deflated: &[u8], text_bytes: usize) -> Result<Vec<u8>, DecodeError> {
    if text_bytes > deflated.len().saturating_mul(EXPANSION_MAX) {
        return Err(DecodeError::BadDeflate);
    }
    let mut text = Vec::with_capacity(text_bytes);
    let mut stream = Decompress::new(false);
    let status = stream.decompress_vec(deflated, &mut text, FlushDecompress::Finish);
    let whole = matches!(status, Ok(Status::StreamEnd)) && stream.total_in() == deflated.len() as u64;
    if whole && text.len() == text_bytes { Ok(text) } else { Err(DecodeError::BadDeflate) }
}
