//! Code without call-frame information whose frame its instructions prove: the linker's stubs, the return
//! from a signal handler, and a program's first instructions.
//!
//! rust-lld and mold describe no stubs, musl neither its signal return nor its start.

use super::UnwindImage;
use super::rule::{Expression, FrameAddress, Rule, Where};
use crate::registers::RIP;

/// Stubs are written in units of this, though some units hold two stubs.
const STUB_UNIT_BYTES: u64 = 16;

/// How far from a program's entry point its first, never returning code may reach.
const ENTRY_CODE_BYTES: u64 = 128;

/// `mov $15, %rax; syscall`: `rt_sigreturn`. The kernel and every debugger know it by these bytes.
const SIGNAL_RETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];

/// A rule proved from instructions, and the expression bytes it refers to.
pub(super) struct Proved {
    /// The rule. Its expressions are of the common entry.
    pub rule: Rule,
    /// What stands for the common entry.
    pub expressions: Vec<u8>,
}

impl From<Rule> for Proved {
    fn from(rule: Rule) -> Self {
        Self { rule, expressions: Vec::new() }
    }
}

/// The rule in a stub.
pub(super) fn stub(image: &UnwindImage, address: u64) -> Option<Proved> {
    let section = image.sections().stubs.iter().find(|section| section.at(address, 1).is_some())?;
    let within = (address - section.address) % STUB_UNIT_BYTES;
    // A unit's last instruction may reach beyond it.
    let code = section.at(address - within, 2 * STUB_UNIT_BYTES as usize)?;
    pushed_before(&code, usize::try_from(within).ok()?).map(|bytes| Rule::at_stack_pointer(bytes).into())
}

/// How many bytes lie between the stack pointer and the caller's frame before the instruction at `target`.
fn pushed_before(code: &[u8], target: usize) -> Option<i32> {
    // The first stub is only jumped to, by stubs that have pushed their index.
    let mut pushed = if code.starts_with(&[0xff, 0x35]) { 16 } else { 8 };
    let mut at = 0;
    while at < target {
        let (len, pushes) = stub_instruction(code.get(at..)?)?;
        at += len;
        pushed += pushes;
    }
    (at == target && stub_instruction(code.get(at..)?).is_some()).then_some(pushed)
}

/// The length of an instruction that linkers put into stubs, and the bytes it pushes.
fn stub_instruction(code: &[u8]) -> Option<(usize, i32)> {
    Some(match code {
        [0xf3, 0x0f, 0x1e, 0xfa, ..] => (4, 0), // endbr64
        [0xff, 0x25, ..] => (6, 0),             // jmp *slot(%rip)
        [0xf2, 0xff, 0x25, ..] => (7, 0),       // bnd jmp *slot(%rip)
        [0xff, 0x35, ..] => (6, 8),             // push slot(%rip)
        [0x68, ..] => (5, 8),                   // push $index
        [0xe9, ..] => (5, 0),                   // jmp
        [0xf2, 0xe9, ..] => (6, 0),             // bnd jmp
        [0x41, 0x53, ..] => (2, 8),             // push %r11
        [0x41, 0xbb, ..] => (6, 0),             // mov $index, %r11d
        [0x90 | 0xcc, ..] => (1, 0),            // nop, int3
        [0x66, 0x90, ..] => (2, 0),             // nops
        [0x0f, 0x1f, 0x00, ..] => (3, 0),
        [0x0f, 0x1f, 0x40, 0x00, ..] => (4, 0),
        [0x0f, 0x1f, 0x44, 0x00, 0x00, ..] => (5, 0),
        [0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, ..] => (6, 0),
        _ => return None,
    })
}

/// The rule at a program's first instructions: the kernel jumps there, nothing called them.
pub(super) fn program_entry(image: &UnwindImage, address: u64, described_to: u64) -> Option<Proved> {
    let entry = image.sections().entry?;
    let is_entry_code = address.checked_sub(entry)? < ENTRY_CODE_BYTES && described_to <= entry;
    is_entry_code.then(|| Rule::outermost().into())
}

/// The rule where a signal handler returns to, at exactly this address or one instruction on.
pub(super) fn signal_return(image: &UnwindImage, address: u64) -> Option<Proved> {
    let starts_at = |start: u64| {
        image.code(start, SIGNAL_RETURN.len()).is_some_and(|code| code.as_ref() == SIGNAL_RETURN)
    };
    (starts_at(address) || starts_at(address.checked_sub(7)?)).then(signal_frame)
}

/// By DWARF number, where the stack pointer of `rt_sigreturn` finds each register: the kernel's `ucontext`
/// has 40 bytes before `struct sigcontext_64`, which begins with r8.
const SAVED_AT: [u8; 17] = [
    144, // rax
    136, // rdx
    152, // rcx
    128, // rbx
    112, // rsi
    104, // rdi
    120, // rbp
    160, // rsp
    40, 48, 56, 64, 72, 80, 88, 96,  // r8 to r15
    168, // rip
];

fn signal_frame() -> Proved {
    let mut proved = Proved::from(Rule { is_signal: true, ..Rule::EMPTY });
    for (register, saved_at) in SAVED_AT.iter().enumerate() {
        let place = append_expression(&mut proved.expressions, *saved_at, &[]);
        proved.rule.registers[register] = place.map_or(Where::Undefined, Where::AtExpression);
    }
    let frame = append_expression(&mut proved.expressions, SAVED_AT[7], &[gimli::DW_OP_deref.0]);
    proved.rule.frame = frame.map_or(FrameAddress::Missing, FrameAddress::Expression);
    debug_assert!(proved.rule.registers[usize::from(RIP)] != Where::Undefined);
    proved
}

/// Appends "stack pointer plus `offset`" and more operations, with its length before it.
fn append_expression(bytes: &mut Vec<u8>, offset: u8, more: &[u8]) -> Option<Expression> {
    let start = bytes.len();
    // The offset as signed LEB128 of two bytes.
    let operation = [gimli::DW_OP_breg7.0, offset & 0x7f | 0x80, offset >> 7];
    bytes.push(u8::try_from(operation.len() + more.len()).ok()?);
    bytes.extend_from_slice(&operation);
    bytes.extend_from_slice(more);
    Expression::new(start, true)
}
