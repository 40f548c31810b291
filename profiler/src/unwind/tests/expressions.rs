//! Expressions in, values out.

use microscope_capture::EndReason;

use crate::registers::{RIP, RSP, Registers};
use crate::unwind::StackReader;
use crate::unwind::expression::evaluate;

/// Each word of memory holds its own address, shifted.
struct Memory;

impl StackReader for Memory {
    fn word(&self, address: u64) -> Result<u64, EndReason> {
        if address < 0x1_0000 { Ok(address << 8 | 0xff) } else { Err(EndReason::StackBytes) }
    }
}

fn check(bytes: &[u8], expected: Result<u64, EndReason>) {
    let mut registers = Registers::default();
    registers.set(RSP, 0x1000);
    registers.set(RIP, 0x40_100b);
    assert_eq!(evaluate(bytes, Some(0x2000), &registers, &Memory), expected, "{bytes:x?}");
}

#[test]
fn the_linkers_stub_expression_tells_before_and_after_the_push() {
    // (rip & 15) >= 11, times 8, plus rsp + 8.
    let stub = [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
    check(&stub, Ok(0x1010));
}

#[test]
fn the_frame_address_is_on_the_stack_at_the_start() {
    check(&[], Ok(0x2000));
    check(&[0x23, 0x10], Ok(0x2010));
}

#[test]
fn memory_is_read_in_the_asked_width() {
    check(&[0x77, 0, 0x06], Ok(0x10_00ff));
    check(&[0x77, 0, 0x94, 1], Ok(0xff));
    check(&[0x10, 0xff, 0xff, 0xff, 0x0f, 0x06], Err(EndReason::StackBytes));
}

#[test]
fn the_stack_is_shuffled_as_dwarf_says() {
    check(&[0x31, 0x32, 0x33, 0x17], Ok(2)); // rot: 3 goes below 1 and 2
    check(&[0x31, 0x32, 0x16, 0x1c], Ok(1)); // swap, then 2 - 1
    check(&[0x31, 0x32, 0x14], Ok(1)); // over
    check(&[0x31, 0x32, 0x15, 2], Ok(0x2000)); // pick
}

#[test]
fn numbers_are_signed_where_dwarf_says() {
    check(&[0x09, 0xff, 0x31, 0x2d], Ok(1)); // -1 < 1
    check(&[0x09, 0xf0, 0x32, 0x26], Ok(u64::MAX - 3)); // -16 >> 2
    check(&[0x09, 0xf8, 0x34, 0x1b], Ok(-2_i64 as u64)); // -8 / 4
}

#[test]
fn a_branch_may_not_leave_or_never_end() {
    check(&[0x2f, 0x01, 0, 0x3f, 0x35], Ok(5)); // skip over one
    check(&[0x2f, 0xfd, 0xff], Err(EndReason::BadRule)); // to itself
    check(&[0x2f, 0x40, 0], Err(EndReason::BadRule)); // beyond the end
}

#[test]
fn what_cannot_be_evaluated_is_refused() {
    check(&[0x30, 0x1b], Err(EndReason::BadRule)); // division by zero
    check(&[0x1c], Err(EndReason::BadRule)); // one value for a difference
    check(&[0x12; 64], Err(EndReason::BadRule)); // too deep
    check(&[0x73, 0], Err(EndReason::NoRegister)); // rbx is not known
    check(&[0x96, 0x13, 0x13], Err(EndReason::BadRule)); // nothing left
}
