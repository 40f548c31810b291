//! A canonical prefix code of at most 12 bits over the classes of cells.

use super::super::DecodeError;
use super::super::bytes::Reader;
use super::classed::CLASSES;

/// The longest code: so that the table of all codes stays in the first-level cache.
pub(super) const CODE_BITS_MAX: u32 = 12;
const TABLE: usize = 1 << CODE_BITS_MAX;

/// The length of each class's code, `None` for classes that do not occur.
type Lengths = [Option<u32>; CLASSES];

/// Codes to write.
pub(super) struct Code {
    lengths: Lengths,
    words: [u32; CLASSES],
}

impl Code {
    /// A code that is short for classes that occur often. Equal counts give equal codes.
    pub(super) fn for_counts(counts: &[u64; CLASSES]) -> Self {
        let mut scaled = *counts;
        loop {
            let lengths = lengths_for(&scaled);
            if lengths.iter().flatten().all(|length| *length <= CODE_BITS_MAX) {
                return Self { lengths, words: words(&lengths) };
            }
            // Flatter counts give shorter codes; in the end all are alike and no code is above 7 bits.
            for count in scaled.iter_mut().filter(|count| **count > 0) {
                *count = count.div_ceil(2);
            }
        }
    }

    /// The bits of a class's code and how many they are.
    pub(super) fn word(&self, class: usize) -> (u32, u32) {
        (self.words[class], self.lengths[class].unwrap_or(0))
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let classes = self.lengths.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let mut out = vec![classes as u8];
        out.extend(self.lengths[..classes].iter().map(|length| length.map_or(0, |length| length as u8 + 1)));
        out
    }
}

/// Lengths by Huffman's method: the two rarest trees are joined until one is left.
fn lengths_for(counts: &[u64; CLASSES]) -> Lengths {
    let mut lengths: Lengths = counts.map(|count| (count > 0).then_some(0));
    let used = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut trees: Vec<(u64, Vec<usize>)> = used.map(|(class, count)| (*count, vec![class])).collect();
    while trees.len() > 1 {
        trees.sort_by(|a, b| b.cmp(a));
        let (Some(rarest), Some(next)) = (trees.pop(), trees.pop()) else { break };
        let joined: Vec<usize> = rarest.1.into_iter().chain(next.1).collect();
        for class in &joined {
            lengths[*class] = lengths[*class].map(|length| length + 1);
        }
        trees.push((rarest.0 + next.0, joined));
    }
    lengths
}

/// Canonical codes: ascending by length, then class; bits reversed, so that the first is lowest.
fn words(lengths: &Lengths) -> [u32; CLASSES] {
    let mut words = [0; CLASSES];
    let mut next = 0_u32;
    for length in 0..=CODE_BITS_MAX {
        for class in (0..CLASSES).filter(|class| lengths[*class] == Some(length)) {
            words[class] = if length == 0 { 0 } else { next.reverse_bits() >> (32 - length) };
            next += 1;
        }
        next <<= 1;
    }
    words
}

/// The class and code length for every 12 bits that may come next.
pub(super) struct Decoder {
    table: Box<[(u8, u8); TABLE]>,
}

impl Decoder {
    /// Reads code lengths. They must make a whole code: every 12 bits begin with exactly one word.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let classes = usize::from(reader.u8()?);
        let mut lengths: Lengths = [None; CLASSES];
        let bytes = reader.take(classes)?;
        let places = lengths.get_mut(..classes).ok_or(DecodeError::BadCode)?;
        for (length, byte) in places.iter_mut().zip(bytes) {
            *length = byte.checked_sub(1).map(u32::from);
        }
        if lengths.iter().flatten().any(|length| *length > CODE_BITS_MAX) {
            return Err(DecodeError::BadCode);
        }
        let covered: usize = lengths.iter().flatten().map(|length| TABLE >> length).sum();
        match covered {
            TABLE => Ok(Self::of(&lengths)),
            0 => Ok(Self { table: Box::new([(0, 0); TABLE]) }),
            _ => Err(DecodeError::BadCode),
        }
    }

    fn of(lengths: &Lengths) -> Self {
        let mut table = Box::new([(0, 0); TABLE]);
        let words = words(lengths);
        for (class, length) in lengths.iter().enumerate() {
            let Some(length) = length else { continue };
            for entry in table.iter_mut().skip(words[class] as usize).step_by(1 << length) {
                *entry = (class as u8, *length as u8);
            }
        }
        Self { table }
    }

    /// The class whose code the bits begin with, and the length of that code.
    pub(super) fn class(&self, bits: u64) -> (u32, u32) {
        let (class, length) = self.table[bits as usize % TABLE];
        (u32::from(class), u32::from(length))
    }
}
