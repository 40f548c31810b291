//! Runs call-frame instructions up to one address.
//!
//! Comes in: the instruction bytes of a description and the rule its common entry begins with. Goes out: the
//! rule at the address. Stopping at the address instead of building every row makes a first hit
//! cheap, and the cache keeps what was found. Tests hold every row of real libraries against gimli's.

use gimli::{EndianSlice, LittleEndian, Reader};

use super::rule::{Expression, FrameAddress, Rule, Where};
use crate::registers::{REGISTER_COUNT, RSP};

/// States that may be remembered at once. Compilers nest one or two.
const REMEMBERED_MAX: usize = 16;

/// The instructions break the format or use a form that is not evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadProgram;

type Result<T> = std::result::Result<T, BadProgram>;
type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// What instructions are measured by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors {
    /// Code offsets count in this.
    pub code: u64,
    /// Data offsets count in this.
    pub data: i64,
}

/// A stretch of instructions and where it lies in its entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instructions<'a> {
    /// The whole entry, which expression positions count from.
    pub entry: &'a [u8],
    /// Where the instructions start in the entry.
    pub start: usize,
    /// Whether the entry is a common entry.
    pub in_common: bool,
}

/// The machine: the current rule, and what it was.
pub(super) struct Machine<'a> {
    rule: &'a mut Rule,
    initial: Option<&'a Rule>,
    remembered: &'a mut Vec<Rule>,
    factors: Factors,
    /// The largest distance of the frame address from the stack pointer so far; everything once another
    /// register held the frame.
    deepest: i32,
    /// The lowest slot below the frame address that any register was said to be in.
    lowest: i32,
}

/// A rule in place, and scratch for the states that finding it remembers.
#[derive(Debug)]
pub(super) struct RuleBuffer {
    /// The rule found last.
    pub rule: Rule,
    remembered: Vec<Rule>,
}

impl Default for RuleBuffer {
    fn default() -> Self {
        Self { rule: Rule::EMPTY, remembered: Vec::new() }
    }
}

impl<'a> Machine<'a> {
    /// Runs a common entry's instructions: the rule its descriptions begin with.
    pub(super) fn initial_rule(factors: Factors, instructions: Instructions<'_>) -> Result<Rule> {
        let (mut rule, mut remembered) = (Rule::EMPTY, Vec::new());
        Machine::new(&mut rule, None, factors, &mut remembered).run(instructions, 0)?;
        Ok(rule)
    }

    /// Runs a description's instructions up to `target`, counted from the description's first address, and
    /// leaves the rule there in `into`: rules are large, and this is the hot part of a first hit.
    pub(super) fn rule_at(
        initial: &'a Rule,
        factors: Factors,
        instructions: Instructions<'_>,
        target: u64,
        into: &'a mut RuleBuffer,
    ) -> Result<()> {
        into.remembered.clear();
        into.rule = *initial;
        let mut machine = Machine::new(&mut into.rule, Some(initial), factors, &mut into.remembered);
        machine.run(instructions, target)?;
        machine.judge_slots_below();
        Ok(())
    }

    fn new(
        rule: &'a mut Rule,
        initial: Option<&'a Rule>,
        factors: Factors,
        remembered: &'a mut Vec<Rule>,
    ) -> Self {
        Self { rule, initial, remembered, factors, deepest: 0, lowest: 0 }
    }

    /// Every instruction takes at least one byte, so this ends.
    fn run(&mut self, instructions: Instructions<'_>, target: u64) -> Result<()> {
        let entry = Bytes::new(instructions.entry, LittleEndian);
        let mut rest = entry;
        rest.skip(instructions.start).map_err(|_| BadProgram)?;
        let mut address = 0_u64;
        while !rest.is_empty() {
            let opcode = rest.read_u8().map_err(|_| BadProgram)?;
            let advance = match (opcode >> 6, opcode & 0x3f) {
                (1, delta) => u64::from(delta),
                (2, register) => {
                    let offset = self.scaled(unsigned(&mut rest)?)?;
                    self.set(u64::from(register), Where::At(offset))?;
                    continue;
                }
                (3, register) => {
                    self.restore(u64::from(register))?;
                    continue;
                }
                _ => match gimli::DwCfa(opcode) {
                    gimli::DW_CFA_advance_loc1 => u64::from(rest.read_u8().map_err(|_| BadProgram)?),
                    gimli::DW_CFA_advance_loc2 => u64::from(rest.read_u16().map_err(|_| BadProgram)?),
                    gimli::DW_CFA_advance_loc4 => u64::from(rest.read_u32().map_err(|_| BadProgram)?),
                    opcode => {
                        self.execute(opcode, &mut rest, &entry, instructions.in_common)?;
                        continue;
                    }
                },
            };
            let step = advance.checked_mul(self.factors.code).ok_or(BadProgram)?;
            address = address.checked_add(step).ok_or(BadProgram)?;
            if address > target {
                break;
            }
            self.row_ends();
        }
        self.row_ends();
        Ok(())
    }

    fn execute(
        &mut self,
        opcode: gimli::DwCfa,
        rest: &mut Bytes<'_>,
        entry: &Bytes<'_>,
        in_common: bool,
    ) -> Result<()> {
        match opcode {
            gimli::DW_CFA_nop => {}
            gimli::DW_CFA_def_cfa => {
                let register = register(unsigned(rest)?)?;
                self.rule.frame = FrameAddress::Offset { register, offset: small(unsigned(rest)?)? };
            }
            gimli::DW_CFA_def_cfa_sf => {
                let register = register(unsigned(rest)?)?;
                self.rule.frame = FrameAddress::Offset { register, offset: self.scaled_signed(rest)? };
            }
            gimli::DW_CFA_def_cfa_register => {
                let number = register(unsigned(rest)?)?;
                let FrameAddress::Offset { register, .. } = &mut self.rule.frame else {
                    return Err(BadProgram);
                };
                *register = number;
            }
            gimli::DW_CFA_def_cfa_offset => {
                let offset = small(unsigned(rest)?)?;
                self.set_frame_offset(offset)?;
            }
            gimli::DW_CFA_def_cfa_offset_sf => {
                let offset = self.scaled_signed(rest)?;
                self.set_frame_offset(offset)?;
            }
            gimli::DW_CFA_def_cfa_expression => {
                self.rule.frame = FrameAddress::Expression(expression(rest, entry, in_common)?);
            }
            gimli::DW_CFA_remember_state => {
                if self.remembered.len() == REMEMBERED_MAX {
                    return Err(BadProgram);
                }
                self.remembered.push(*self.rule);
            }
            gimli::DW_CFA_restore_state => {
                *self.rule = self.remembered.pop().ok_or(BadProgram)?;
            }
            gimli::DW_CFA_restore_extended => self.restore(unsigned(rest)?)?,
            // How many bytes of arguments a throwing call pops: nothing a stack walk needs.
            gimli::DW_CFA_GNU_args_size => drop(unsigned(rest)?),
            _ => return self.set_by(opcode, rest, entry, in_common),
        }
        Ok(())
    }

    /// The instructions that say where one register is found.
    fn set_by(
        &mut self,
        opcode: gimli::DwCfa,
        rest: &mut Bytes<'_>,
        entry: &Bytes<'_>,
        in_common: bool,
    ) -> Result<()> {
        let number = match opcode {
            gimli::DW_CFA_undefined
            | gimli::DW_CFA_same_value
            | gimli::DW_CFA_register
            | gimli::DW_CFA_offset_extended
            | gimli::DW_CFA_offset_extended_sf
            | gimli::DW_CFA_val_offset
            | gimli::DW_CFA_val_offset_sf
            | gimli::DW_CFA_expression
            | gimli::DW_CFA_val_expression => unsigned(rest)?,
            gimli::DwCfa(GNU_NEGATIVE_OFFSET_EXTENDED) => unsigned(rest)?,
            _ => return Err(BadProgram),
        };
        let found = match opcode {
            gimli::DW_CFA_undefined => Where::Undefined,
            gimli::DW_CFA_same_value => Where::Same,
            gimli::DW_CFA_register => Where::Register(register(unsigned(rest)?)?),
            gimli::DW_CFA_offset_extended => Where::At(self.scaled(unsigned(rest)?)?),
            gimli::DW_CFA_offset_extended_sf => Where::At(self.scaled_signed(rest)?),
            gimli::DW_CFA_val_offset => Where::Is(self.scaled(unsigned(rest)?)?),
            gimli::DW_CFA_val_offset_sf => Where::Is(self.scaled_signed(rest)?),
            gimli::DW_CFA_expression => Where::AtExpression(expression(rest, entry, in_common)?),
            gimli::DW_CFA_val_expression => Where::IsExpression(expression(rest, entry, in_common)?),
            _ => Where::At(self.scaled(unsigned(rest)?)?.checked_neg().ok_or(BadProgram)?),
        };
        self.set(number, found)
    }

    /// Rules of registers that are not kept (vector registers) are dropped.
    fn set(&mut self, number: u64, found: Where) -> Result<()> {
        if let Some(place) = usize::try_from(number).ok().and_then(|at| self.rule.registers.get_mut(at)) {
            *place = found;
        }
        if let Where::At(offset) = found {
            self.lowest = self.lowest.min(offset);
        }
        Ok(())
    }

    fn restore(&mut self, number: u64) -> Result<()> {
        let initial = self.initial.ok_or(BadProgram)?;
        let found = usize::try_from(number).ok().and_then(|at| initial.registers.get(at));
        self.set(number, found.copied().unwrap_or(Where::Unspecified))
    }

    fn set_frame_offset(&mut self, to: i32) -> Result<()> {
        let FrameAddress::Offset { offset, .. } = &mut self.rule.frame else { return Err(BadProgram) };
        *offset = to;
        Ok(())
    }

    fn scaled(&self, factored: u64) -> Result<i32> {
        let factored = i64::try_from(factored).map_err(|_| BadProgram)?;
        small_signed(factored.checked_mul(self.factors.data).ok_or(BadProgram)?)
    }

    fn scaled_signed(&self, rest: &mut Bytes<'_>) -> Result<i32> {
        let factored = rest.read_sleb128().map_err(|_| BadProgram)?;
        small_signed(factored.checked_mul(self.factors.data).ok_or(BadProgram)?)
    }

    fn row_ends(&mut self) {
        self.deepest = match self.rule.frame {
            FrameAddress::Offset { register: RSP, offset } => self.deepest.max(offset),
            _ => i32::MAX,
        };
    }

    /// Compilers leave "saved at" rules standing while an epilogue pops. A slot that now lies below the
    /// stack pointer but lay above it before was popped: its register holds the caller's value again. A slot
    /// that never lay above is a save in the red zone, whose bytes no sample copies.
    fn judge_slots_below(&mut self) {
        let FrameAddress::Offset { register: RSP, offset } = self.rule.frame else { return };
        if self.rule.is_signal || self.lowest.saturating_neg() <= offset {
            return;
        }
        for place in &mut self.rule.registers[..REGISTER_COUNT - 1] {
            match *place {
                Where::At(at) if at.saturating_neg() > offset => {
                    let was_pushed = at.saturating_neg() <= self.deepest;
                    *place = if was_pushed { Where::Same } else { Where::Undefined };
                }
                _ => {}
            }
        }
    }
}

/// `DW_CFA_GNU_negative_offset_extended`: obsolete, still in old objects; gimli has no name for it.
const GNU_NEGATIVE_OFFSET_EXTENDED: u8 = 0x2f;

fn unsigned(rest: &mut Bytes<'_>) -> Result<u64> {
    rest.read_uleb128().map_err(|_| BadProgram)
}

fn register(number: u64) -> Result<u8> {
    u8::try_from(number).map_err(|_| BadProgram)
}

fn small(value: u64) -> Result<i32> {
    i32::try_from(value).map_err(|_| BadProgram)
}

fn small_signed(value: i64) -> Result<i32> {
    i32::try_from(value).map_err(|_| BadProgram)
}

fn expression(rest: &mut Bytes<'_>, entry: &Bytes<'_>, in_common: bool) -> Result<Expression> {
    let start = rest.offset_from(*entry);
    let len = usize::try_from(unsigned(rest)?).map_err(|_| BadProgram)?;
    rest.skip(len).map_err(|_| BadProgram)?;
    Expression::new(start, in_common).ok_or(BadProgram)
}
