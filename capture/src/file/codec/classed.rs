//! Each cell as its bit length, in a prefix code, and its lower bits as they are: for cells whose sizes are
//! unevenly spread. Within a tenth of a byte of the entropy of what recordings hold.
//!
//! ```text
//! body    := classes (1 byte), code length + 1 of each class (1 byte each; 0 is unused),
//!            bytes of each of 4 streams (varint), the streams
//! stream  := of every fourth cell: the code of its class, then the bits below its highest
//! class   := 0 for 0, else the number of bits
//! ```
//! Codes are canonical, at most 12 bits, and stand with their first bit lowest. Four streams, because
//! decoding one waits for each code's length, and four wait at once.

use super::super::DecodeError;
use super::super::bytes::{Reader, put_varint};
use super::bits::BitWriter;
use super::packed::BLOCK;
use super::prefix::{CODE_BITS_MAX, Code, Decoder};

const STREAMS: usize = 4;
/// Bit lengths from 0 to 64.
pub(super) const CLASSES: usize = 65;
/// Bits that one load surely gives.
const LOADED_BITS: u32 = 57;

const fn class(cell: u64) -> u32 {
    64 - cell.leading_zeros()
}

const fn low_bits(class: u32) -> u32 {
    class.saturating_sub(1)
}

fn counts(cells: &[u64]) -> [u64; CLASSES] {
    let mut counts = [0; CLASSES];
    for cell in cells {
        counts[class(*cell) as usize] += 1;
    }
    counts
}

/// The bytes that [`encode`] takes, but for a few that fill up the streams.
pub(super) fn size(cells: &[u64]) -> usize {
    let counts = counts(cells);
    let code = Code::for_counts(&counts);
    let bits = |(class, count): (usize, &u64)| count * u64::from(code.word(class).1 + low_bits(class as u32));
    let bits: u64 = counts.iter().enumerate().map(bits).sum();
    code.to_bytes().len() + STREAMS + bits.div_ceil(8) as usize
}

pub(super) fn encode(cells: &[u64]) -> Vec<u8> {
    let code = Code::for_counts(&counts(cells));
    let mut out = code.to_bytes();
    let streams: Vec<Vec<u8>> =
        (0..STREAMS).map(|stream| encode_stream(cells.iter().skip(stream).step_by(STREAMS), &code)).collect();
    for stream in &streams {
        put_varint(&mut out, stream.len() as u64);
    }
    out.extend(streams.concat());
    out
}

fn encode_stream<'a>(cells: impl Iterator<Item = &'a u64>, code: &Code) -> Vec<u8> {
    let mut bits = BitWriter::default();
    for cell in cells {
        let class = class(*cell);
        let (word, length) = code.word(class as usize);
        bits.put(u64::from(word), length);
        let low = low_bits(class);
        bits.put(cell & !(u64::MAX << low), low);
    }
    bits.finish()
}

/// Reads `rows` cells, block by block.
pub(super) fn decode(
    reader: &mut Reader<'_>,
    rows: usize,
    mut sink: impl FnMut(&mut [u64]) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let decoder = Decoder::read(reader)?;
    let mut lengths = [0; STREAMS];
    for length in &mut lengths {
        *length = reader.length()?;
    }
    let mut streams = [Stream::default(); STREAMS];
    for (stream, length) in streams.iter_mut().zip(lengths) {
        stream.bytes = reader.take(length)?;
    }
    let mut cells = [0; BLOCK];
    let mut left = rows;
    while left > 0 {
        let block = &mut cells[..left.min(BLOCK)];
        for four in block.chunks_mut(STREAMS) {
            for (cell, stream) in four.iter_mut().zip(&mut streams) {
                *cell = stream.next(&decoder);
            }
        }
        sink(block)?;
        left -= block.len();
    }
    streams.iter().try_for_each(Stream::check_end)
}

/// The bits of one stream.
#[derive(Debug, Clone, Copy, Default)]
struct Stream<'a> {
    bytes: &'a [u8],
    /// Bits read; may pass the end, where bits are 0 ([`Self::check_end`] finds that).
    read: usize,
}

impl Stream<'_> {
    fn next(&mut self, decoder: &Decoder) -> u64 {
        let word = self.load();
        let (class, length) = decoder.class(word);
        let low = low_bits(class);
        self.read += length as usize;
        let bits = if length + low <= LOADED_BITS { word >> length } else { self.load() };
        let bits = if low <= LOADED_BITS { bits } else { self.with_last_byte(bits) };
        self.read += low as usize;
        let highest = if class == 0 { 0 } else { 1 << low };
        highest | (bits & !(u64::MAX << low))
    }

    /// At least 57 bits from where reading stands.
    fn load(&self) -> u64 {
        let at = self.read / 8;
        let eight = self.bytes.get(at..at + 8).and_then(|bytes| bytes.first_chunk());
        let word = eight.map_or_else(|| self.load_end(at), |bytes| u64::from_le_bytes(*bytes));
        word >> (self.read % 8)
    }

    #[cold]
    fn load_end(&self, at: usize) -> u64 {
        let mut eight = [0; 8];
        let rest = self.bytes.get(at..).unwrap_or_default();
        eight[..rest.len().min(8)].copy_from_slice(&rest[..rest.len().min(8)]);
        u64::from_le_bytes(eight)
    }

    /// Adds the bits that stand in a ninth byte.
    #[cold]
    fn with_last_byte(&self, bits: u64) -> u64 {
        let ninth = u64::from(self.bytes.get(self.read / 8 + 8).copied().unwrap_or(0));
        match self.read % 8 {
            0 => bits,
            shift => bits | (ninth << (64 - shift)),
        }
    }

    /// All bits were read, but for those that fill the last byte.
    fn check_end(&self) -> Result<(), DecodeError> {
        match self.read.div_ceil(8).cmp(&self.bytes.len()) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => Err(DecodeError::LeftOver(self.bytes.len() - self.read.div_ceil(8))),
            std::cmp::Ordering::Greater => Err(DecodeError::Truncated),
        }
    }
}

const _: () = assert!(CODE_BITS_MAX < LOADED_BITS);
