//! Writes bits, the first one lowest.

/// Bits written so far.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    word: u128,
    filled: u32,
    out: Vec<u8>,
}

impl BitWriter {
    /// Appends the `count` bits of `bits`; there must be none above them.
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        self.word |= u128::from(bits) << self.filled;
        self.filled += count;
        if self.filled >= 64 {
            self.out.extend_from_slice(&(self.word as u64).to_le_bytes());
            self.word >>= 64;
            self.filled -= 64;
        }
    }

    /// The bytes; the last is filled up with zeros.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let bytes = self.filled.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.word.to_le_bytes()[..bytes]);
        self.out
    }
}
