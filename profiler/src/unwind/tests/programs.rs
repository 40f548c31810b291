//! Instructions in, rules out, as text.

use std::fmt::Write as _;

use crate::registers::{RBP, RBX, RIP, RSP};
use crate::unwind::program::{Factors, Instructions, Machine, RuleBuffer};
use crate::unwind::rule::{FrameAddress, Rule, Where};

const FACTORS: Factors = Factors { code: 1, data: -8 };

/// Writes the part of a rule that functions state.
fn text(rule: &Rule) -> String {
    let mut text = match rule.frame {
        FrameAddress::Offset { register, offset } => format!("r{register}{offset:+}"),
        FrameAddress::Expression(_) => "expression".into(),
        FrameAddress::Missing => "missing".into(),
    };
    for (name, number) in [("rbx", RBX), ("rbp", RBP), ("r12", 12), ("ra", RIP)] {
        match rule.registers[usize::from(number)] {
            Where::Unspecified => Ok(()),
            Where::At(offset) => write!(text, " {name}=[{offset:+}]"),
            Where::Is(offset) => write!(text, " {name}={offset:+}"),
            other => write!(text, " {name}={other:?}"),
        }
        .unwrap();
    }
    text
}

/// The rule at `target` of a function whose description holds `program`.
fn check(program: &[u8], target: u64, expected: &str) {
    let mut initial = Rule::at_stack_pointer(8);
    initial.registers[usize::from(RSP)] = Where::Unspecified;
    let instructions = Instructions { entry: program, start: 0, in_common: false };
    let mut found = RuleBuffer::default();
    let ran = Machine::rule_at(&initial, FACTORS, instructions, target, &mut found);
    let found = ran.map_or_else(|bad| format!("{bad:?}"), |()| text(&found.rule));
    assert_eq!(found, expected, "at {target}");
}

// DW_CFA_advance_loc, DW_CFA_offset rbp and friends, by their encodings.
const ADVANCE_1: u8 = 0x41;
const ADVANCE_3: u8 = 0x43;
const OFFSET_RBP: u8 = 0x86;
const OFFSET_RBX: u8 = 0x83;
const RESTORE_RBP: u8 = 0xc6;
const DEF_CFA: u8 = 0x0c;
const DEF_CFA_REGISTER: u8 = 0x0d;
const DEF_CFA_OFFSET: u8 = 0x0e;
const REMEMBER: u8 = 0x0a;
const RESTORE_STATE: u8 = 0x0b;

/// `push %rbp; mov %rsp, %rbp; …; leave; ret`.
const WITH_FRAME_POINTER: &[u8] = &[
    ADVANCE_1,
    DEF_CFA_OFFSET,
    16,
    OFFSET_RBP,
    2, //
    ADVANCE_3,
    DEF_CFA_REGISTER,
    6, //
    ADVANCE_3,
    DEF_CFA,
    7,
    8,
];

#[test]
fn each_row_holds_from_its_address_to_the_next() {
    check(WITH_FRAME_POINTER, 0, "r7+8 ra=[-8]");
    check(WITH_FRAME_POINTER, 1, "r7+16 rbp=[-16] ra=[-8]");
    check(WITH_FRAME_POINTER, 3, "r7+16 rbp=[-16] ra=[-8]");
    check(WITH_FRAME_POINTER, 4, "r6+16 rbp=[-16] ra=[-8]");
}

#[test]
fn a_slot_below_the_stack_pointer_that_was_pushed_is_popped() {
    check(WITH_FRAME_POINTER, 7, "r7+8 rbp=Same ra=[-8]");
}

#[test]
fn a_slot_that_was_never_above_the_stack_pointer_is_unknown() {
    // `mov %rbx, -16(%rsp)` in a leaf: the red zone, which no sample copies.
    check(&[ADVANCE_1, OFFSET_RBX, 3], 2, "r7+8 rbx=Undefined ra=[-8]");
}

#[test]
fn a_remembered_state_comes_back_whole() {
    let program = [
        ADVANCE_1,
        DEF_CFA_OFFSET,
        16,
        OFFSET_RBP,
        2,
        REMEMBER, //
        ADVANCE_1,
        DEF_CFA_OFFSET,
        8,
        RESTORE_RBP, //
        ADVANCE_1,
        RESTORE_STATE,
    ];
    check(&program, 2, "r7+8 ra=[-8]");
    check(&program, 3, "r7+16 rbp=[-16] ra=[-8]");
}

#[test]
fn a_value_offset_is_not_a_slot() {
    // DW_CFA_val_offset r12, DW_CFA_val_offset_sf rbp.
    check(&[0x14, 12, 2, 0x15, 6, 0x7f], 0, "r7+8 rbp=+8 r12=-16 ra=[-8]");
}

#[test]
fn argument_sizes_change_nothing() {
    check(&[0x2e, 0x10], 0, "r7+8 ra=[-8]");
}

#[test]
fn vector_registers_are_passed_over() {
    // DW_CFA_offset_extended xmm5.
    check(&[0x05, 22, 4], 0, "r7+8 ra=[-8]");
}

#[test]
fn malformed_programs_are_refused() {
    for program in [
        &[RESTORE_STATE][..],            // nothing was remembered
        &[DEF_CFA, 7],                   // the operand is missing
        &[0x3b],                         // no such instruction
        &[REMEMBER; 17],                 // deeper than anyone nests
        &[0x0f, 5, 1],                   // an expression beyond the end
        &[0x0f, 0, DEF_CFA_REGISTER, 6], // a register for a frame that is an expression
        &[DEF_CFA_OFFSET, 0xff, 0xff, 0xff, 0xff, 0x7f],
    ] {
        check(program, 0, "BadProgram");
    }
}
