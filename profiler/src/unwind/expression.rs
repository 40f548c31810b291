//! Evaluates a DWARF expression of call-frame information.
//!
//! gimli decodes the operations; evaluation is ours because it must not allocate, must end, and may read only
//! what the state reader offers.

use gimli::{Encoding, EndianSlice, Format, LittleEndian, Operation, Reader};
use microscope_capture::EndReason;

use super::StackReader;
use crate::registers::Registers;

/// Values that may be on the expression's stack.
const STACK_MAX: usize = 32;
/// Operations an expression may take: its branches could loop.
const STEPS_MAX: usize = 256;

const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };

/// The value of an expression over a frame's registers and the readable memory.
///
/// `first` is on the stack at the start: the frame address, for a register's rule.
pub(super) fn evaluate(
    bytes: &[u8],
    first: Option<u64>,
    registers: &Registers,
    memory: &impl StackReader,
) -> Result<u64, EndReason> {
    let mut values = Values { slots: [0; STACK_MAX], len: 0 };
    if let Some(value) = first {
        values.push(value)?;
    }
    let whole = EndianSlice::new(bytes, LittleEndian);
    let mut rest = whole;
    for _ in 0..STEPS_MAX {
        if rest.is_empty() {
            return values.pop();
        }
        let operation = Operation::parse(&mut rest, ENCODING).map_err(|_| EndReason::BadRule)?;
        match operation {
            Operation::Bra { target } => {
                if values.pop()? != 0 {
                    rest = branch(whole, rest, target)?;
                }
            }
            Operation::Skip { target } => rest = branch(whole, rest, target)?,
            _ => step(&operation, &mut values, registers, memory)?,
        }
    }
    Err(EndReason::BadRule)
}

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

fn branch<'a>(whole: Bytes<'a>, rest: Bytes<'a>, distance: i16) -> Result<Bytes<'a>, EndReason> {
    let here = rest.offset_from(whole);
    let target = here.checked_add_signed(isize::from(distance)).ok_or(EndReason::BadRule)?;
    let mut at = whole;
    at.skip(target).map_err(|_| EndReason::BadRule)?;
    Ok(at)
}

fn step(
    operation: &Operation<Bytes<'_>>,
    values: &mut Values,
    registers: &Registers,
    memory: &impl StackReader,
) -> Result<(), EndReason> {
    match *operation {
        Operation::RegisterOffset { register, offset, .. } => {
            let number = u8::try_from(register.0).map_err(|_| EndReason::BadRule)?;
            let value = registers.get(number).ok_or(EndReason::NoRegister)?;
            values.push(value.wrapping_add_signed(offset))
        }
        Operation::Deref { size, space: false, .. } => {
            let word = memory.word(values.pop()?)?;
            values.push(match size {
                8 => word,
                1..=7 => word & ((1 << (8 * u32::from(size))) - 1),
                _ => return Err(EndReason::BadRule),
            })
        }
        Operation::UnsignedConstant { value } => values.push(value),
        Operation::SignedConstant { value } => values.push(value.cast_unsigned()),
        Operation::PlusConstant { value } => values.unary(|top| top.wrapping_add(value)),
        Operation::Pick { index } => values.pick(usize::from(index)),
        Operation::Drop => values.pop().map(drop),
        Operation::Swap => values.rotate(2),
        Operation::Rot => values.rotate(3),
        Operation::Abs => values.unary(|top| top.cast_signed().unsigned_abs()),
        Operation::Neg => values.unary(u64::wrapping_neg),
        Operation::Not => values.unary(|top| !top),
        Operation::Nop => Ok(()),
        _ => binary(operation, values),
    }
}

fn binary(operation: &Operation<Bytes<'_>>, values: &mut Values) -> Result<(), EndReason> {
    let right = values.pop()?;
    let left = values.pop()?;
    let (signed_left, signed_right) = (left.cast_signed(), right.cast_signed());
    values.push(match operation {
        Operation::Plus => left.wrapping_add(right),
        Operation::Minus => left.wrapping_sub(right),
        Operation::Mul => left.wrapping_mul(right),
        Operation::Div => signed_left.checked_div(signed_right).ok_or(EndReason::BadRule)?.cast_unsigned(),
        Operation::Mod => left.checked_rem(right).ok_or(EndReason::BadRule)?,
        Operation::And => left & right,
        Operation::Or => left | right,
        Operation::Xor => left ^ right,
        Operation::Shl => shift(right).map_or(0, |by| left << by),
        Operation::Shr => shift(right).map_or(0, |by| left >> by),
        Operation::Shra => (signed_left >> shift(right).unwrap_or(63)).cast_unsigned(),
        Operation::Eq => u64::from(left == right),
        Operation::Ne => u64::from(left != right),
        Operation::Ge => u64::from(signed_left >= signed_right),
        Operation::Gt => u64::from(signed_left > signed_right),
        Operation::Le => u64::from(signed_left <= signed_right),
        Operation::Lt => u64::from(signed_left < signed_right),
        _ => return Err(EndReason::BadRule),
    })
}

/// A shift distance below the width of a word.
fn shift(by: u64) -> Option<u32> {
    u32::try_from(by).ok().filter(|by| *by < 64)
}

struct Values {
    slots: [u64; STACK_MAX],
    len: usize,
}

impl Values {
    fn push(&mut self, value: u64) -> Result<(), EndReason> {
        *self.slots.get_mut(self.len).ok_or(EndReason::BadRule)? = value;
        self.len += 1;
        Ok(())
    }

    fn pop(&mut self) -> Result<u64, EndReason> {
        self.len = self.len.checked_sub(1).ok_or(EndReason::BadRule)?;
        self.slots.get(self.len).copied().ok_or(EndReason::BadRule)
    }

    fn unary(&mut self, of: impl FnOnce(u64) -> u64) -> Result<(), EndReason> {
        let top = self.pop()?;
        self.push(of(top))
    }

    fn pick(&mut self, depth: usize) -> Result<(), EndReason> {
        let at = self.len.checked_sub(depth + 1).ok_or(EndReason::BadRule)?;
        self.push(self.slots[at])
    }

    /// Moves the top value below the next `count - 1`.
    fn rotate(&mut self, count: usize) -> Result<(), EndReason> {
        let from = self.len.checked_sub(count).ok_or(EndReason::BadRule)?;
        self.slots[from..self.len].rotate_right(1);
        Ok(())
    }
}
