//! The general registers of one sampled thread, in the numbering of x86-64 DWARF.
//!
//! Comes in: the mask and words of perf's user registers. Goes out: values by DWARF register number, each
//! known or not. The unwinder starts from them and annotation reads the innermost frame's.

/// Registers kept: 0 to 15 are the general registers in DWARF's order, 16 is the instruction pointer.
pub const REGISTER_COUNT: usize = 17;

/// DWARF's number of `rbx`.
pub const RBX: u8 = 3;
/// DWARF's number of `rbp`.
pub const RBP: u8 = 6;
/// DWARF's number of `rsp`.
pub const RSP: u8 = 7;
/// DWARF's number of the return address, which at the innermost frame is the instruction pointer.
pub const RIP: u8 = 16;

/// For each bit of perf's x86 register mask, the DWARF number; `None` for flags and segments.
/// Source of truth: `arch/x86/include/uapi/asm/perf_regs.h`.
const DWARF_OF_PERF: [Option<u8>; 24] = [
    Some(0),  // ax
    Some(3),  // bx
    Some(2),  // cx
    Some(1),  // dx
    Some(4),  // si
    Some(5),  // di
    Some(6),  // bp
    Some(7),  // sp
    Some(16), // ip
    None,     // flags
    None,     // cs
    None,     // ss
    None,     // ds
    None,     // es
    None,     // fs
    None,     // gs
    Some(8),
    Some(9),
    Some(10),
    Some(11),
    Some(12),
    Some(13),
    Some(14),
    Some(15),
];

/// The mask to ask perf for: every general register, the flags, cs and ss. x86-64 refuses the other segments.
pub const PERF_REGISTER_MASK: u64 = 0x00ff_0fff;

/// Register values by DWARF number, each known or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    values: [u64; REGISTER_COUNT],
    known: u32,
}

impl Registers {
    /// Decodes perf's registers: one word for each bit of the mask, lowest bit first.
    ///
    /// `None` when there are fewer words than bits. Bits that name no general register are skipped.
    #[must_use]
    pub fn from_perf(mask: u64, words: &[u64]) -> Option<Self> {
        let mut registers = Self::default();
        let mut words = words.iter();
        for bit in (0..64_usize).filter(|bit| mask >> bit & 1 == 1) {
            let value = *words.next()?;
            if let Some(Some(number)) = DWARF_OF_PERF.get(bit) {
                registers.set(*number, value);
            }
        }
        Some(registers)
    }

    /// The words perf would write for these registers; unknown ones, flags and segments are 0.
    pub fn to_perf(self, mask: u64) -> impl Iterator<Item = u64> {
        let number_of = |bit: usize| DWARF_OF_PERF.get(bit).copied().flatten();
        let bits = (0..64_usize).filter(move |bit| mask >> bit & 1 == 1);
        bits.map(move |bit| number_of(bit).and_then(|number| self.get(number)).unwrap_or(0))
    }

    /// The value of a register, if known.
    #[must_use]
    pub fn get(&self, number: u8) -> Option<u64> {
        let value = self.values.get(usize::from(number))?;
        (self.known >> number & 1 == 1).then_some(*value)
    }

    /// Makes a register known. Numbers that are not kept are ignored.
    pub fn set(&mut self, number: u8, value: u64) {
        if let Some(place) = self.values.get_mut(usize::from(number)) {
            *place = value;
            self.known |= 1 << number;
        }
    }

    /// Makes a register unknown.
    pub fn forget(&mut self, number: u8) {
        if usize::from(number) < REGISTER_COUNT {
            self.known &= !(1 << number);
        }
    }

    /// The instruction pointer.
    #[must_use]
    pub fn ip(&self) -> Option<u64> {
        self.get(RIP)
    }

    /// The stack pointer.
    #[must_use]
    pub fn sp(&self) -> Option<u64> {
        self.get(RSP)
    }

    /// The register that code with frame pointers keeps its frame in.
    #[must_use]
    pub fn bp(&self) -> Option<u64> {
        self.get(RBP)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn perf_order_becomes_dwarf_order() {
        let words: Vec<u64> = (100..120).collect();
        let registers = Registers::from_perf(PERF_REGISTER_MASK, &words).unwrap();
        let by_dwarf: Vec<u64> = (0..17).map(|number| registers.get(number).unwrap()).collect();
        // rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15 after the 12 words up to ss, and the ninth word, ip.
        assert_eq!(by_dwarf[..8], [100, 103, 102, 101, 104, 105, 106, 107]);
        assert_eq!(by_dwarf[8..16], [112, 113, 114, 115, 116, 117, 118, 119]);
        assert_eq!(by_dwarf[16], 108);
    }

    #[test]
    fn registers_outside_the_mask_are_unknown() {
        let registers = Registers::from_perf(1 << 7 | 1 << 8, &[0x7000, 0x4000]).unwrap();
        assert_eq!((registers.sp(), registers.ip(), registers.bp()), (Some(0x7000), Some(0x4000), None));
    }

    #[test]
    fn too_few_words_are_refused() {
        assert_eq!(Registers::from_perf(0b111, &[1, 2]), None);
    }

    #[test]
    fn a_forgotten_register_is_unknown() {
        let mut registers = Registers::default();
        registers.set(RBX, 7);
        registers.forget(RBX);
        registers.set(40, 7);
        assert_eq!((registers.get(RBX), registers.get(40)), (None, None));
    }
}
