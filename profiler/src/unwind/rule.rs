//! A rule: how the caller's registers follow from this frame's, at one address.

use gimli::{EndianSlice, LittleEndian, Reader};

use crate::registers::{RBP, RBX, REGISTER_COUNT, RIP, RSP};

/// Where a register of the caller is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// The rules say nothing: kept if the calling convention has callees keep it, else unknown.
    Unspecified,
    /// Unchanged.
    Same,
    /// Not recoverable. For the return address: there is no caller.
    Undefined,
    /// In memory at the frame address plus this.
    At(i32),
    /// The frame address plus this.
    Is(i32),
    /// In another register of this frame.
    Register(u8),
    /// In memory at the value of an expression.
    AtExpression(Expression),
    /// The value of an expression.
    IsExpression(Expression),
}

/// The frame address (CFA): the stack pointer of the caller once the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameAddress {
    /// A register plus an offset.
    Offset {
        /// DWARF number.
        register: u8,
        /// In bytes.
        offset: i32,
    },
    /// The value of an expression.
    Expression(Expression),
    /// Not defined yet: only between the start of a description and its first instruction.
    Missing,
}

/// Where an expression lies in the entry that holds it: its length, then its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expression {
    /// From the first byte of the entry; the top bit says that the entry is the common one (CIE).
    place: u32,
}

impl Expression {
    const IN_COMMON: u32 = 1 << 31;

    /// An expression whose length starts at `start`; `None` in an entry too large to address.
    pub(super) fn new(start: usize, in_common: bool) -> Option<Self> {
        let start = u32::try_from(start).ok().filter(|start| start & Self::IN_COMMON == 0)?;
        Some(Self { place: start | if in_common { Self::IN_COMMON } else { 0 } })
    }

    /// The expression's bytes, given both entries'.
    pub(super) fn bytes<'a>(self, common: &'a [u8], description: &'a [u8]) -> Option<&'a [u8]> {
        let entry = if self.place & Self::IN_COMMON == 0 { description } else { common };
        let start = usize::try_from(self.place & !Self::IN_COMMON).ok()?;
        let mut rest = EndianSlice::new(entry.get(start..)?, LittleEndian);
        let len = usize::try_from(rest.read_uleb128().ok()?).ok()?;
        rest.slice().get(..len)
    }
}

/// The rules of one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// The frame address.
    pub frame: FrameAddress,
    /// By DWARF number; 16 is the return address.
    pub registers: [Where; REGISTER_COUNT],
    /// The frame is a signal's: its caller was interrupted and is looked up at the exact address.
    pub is_signal: bool,
}

impl Rule {
    /// Before any instruction.
    pub(super) const EMPTY: Self = Self {
        frame: FrameAddress::Missing,
        registers: [Where::Unspecified; REGISTER_COUNT],
        is_signal: false,
    };

    /// The return address on top of `offset` bytes of stack, every other register unchanged.
    pub(super) fn at_stack_pointer(offset: i32) -> Self {
        let mut rule = Self { frame: FrameAddress::Offset { register: RSP, offset }, ..Self::EMPTY };
        rule.registers[usize::from(RIP)] = Where::At(-8);
        rule
    }

    /// Whether any part of it is an expression.
    pub(super) fn has_expression(&self) -> bool {
        let is_expression = |found: &Where| matches!(found, Where::AtExpression(_) | Where::IsExpression(_));
        matches!(self.frame, FrameAddress::Expression(_)) || self.registers.iter().any(is_expression)
    }

    /// There is no caller.
    pub(super) fn outermost() -> Self {
        let mut rule = Self::at_stack_pointer(8);
        rule.registers[usize::from(RIP)] = Where::Undefined;
        rule
    }
}

/// Whether the calling convention has a function keep a register's value for its caller.
pub(super) fn callee_keeps(register: u8) -> bool {
    matches!(register, RBX | RBP | 12..=15)
}
