//! Code without call-frame information: what its instructions prove, by linker.

use microscope_capture::EndReason;

use crate::unwind::finder::Finder;
use crate::unwind::rule::{FrameAddress, Rule};
use crate::unwind::{Section, SectionBytes, UnwindImage, UnwindSections};

const START: u64 = 0x1000;

fn image_of(stubs: &[u8], text: &[u8]) -> UnwindImage {
    let section = |address, bytes: &[u8]| Section { address, bytes: SectionBytes::whole(bytes) };
    UnwindImage::new(UnwindSections {
        stubs: vec![section(START, stubs)],
        text: vec![section(2 * START, text)],
        entry: Some(2 * START + 0x40),
        ..UnwindSections::default()
    })
}

fn find(image: &UnwindImage, address: u64, is_caller: bool) -> Result<Rule, EndReason> {
    let mut finder = Finder::default();
    finder.find(image, address, is_caller).map(|_| *finder.rule())
}

/// The distance of the frame from the stack pointer at each offset, or why there is none.
fn check_stub(code: &[u8], expected: &[(u64, Result<i32, EndReason>)]) {
    let image = image_of(code, &[]);
    for (offset, distance) in expected {
        let found = find(&image, START + offset, false).map(|rule| match rule.frame {
            FrameAddress::Offset { offset, .. } => offset,
            other => panic!("{other:?}"),
        });
        assert_eq!(found, *distance, "at {offset}");
    }
}

#[test]
fn lazy_stubs_push_an_index_and_their_first_pushes_the_file() {
    let code = [
        &[0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4, 0x0f, 0x1f, 0x40, 0x00][..],
        &[0xff, 0x25, 1, 2, 3, 4, 0x68, 0, 0, 0, 0, 0xe9, 1, 2, 3, 4],
    ];
    let expected = [(0, 16), (6, 24), (16, 8), (22, 8), (27, 16)];
    check_stub(&code.concat(), &expected.map(|(offset, distance)| (offset, Ok(distance))));
}

#[test]
fn stubs_with_branch_tracking_jump_once() {
    let code = [0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4, 0x0f, 0x1f, 0x44, 0x00, 0x00];
    check_stub(&code, &[(0, Ok(8)), (4, Ok(8))]);
}

#[test]
fn molds_first_stub_pushes_twice() {
    let code =
        [0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x53, 0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4, 0xcc, 0xcc];
    check_stub(&code, &[(0, Ok(8)), (4, Ok(8)), (6, Ok(16)), (12, Ok(24))]);
}

#[test]
fn an_address_inside_an_instruction_or_unknown_code_proves_nothing() {
    let code = [0xff, 0x25, 1, 2, 3, 4, 0x68, 0, 0, 0, 0, 0xe9, 1, 2, 3, 4];
    check_stub(&code, &[(3, Err(EndReason::NoRule)), (8, Err(EndReason::NoRule))]);
    check_stub(&[0x48, 0x89, 0xe5, 0xc3], &[(0, Err(EndReason::NoRule)), (3, Err(EndReason::NoRule))]);
}

#[test]
fn the_signal_return_is_known_by_its_bytes() {
    let image = image_of(&[], &[0x90, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0x90]);
    let is_signal =
        |address: u64, is_caller| find(&image, 2 * START + address, is_caller).map(|rule| rule.is_signal);
    // As a handler's return address it is looked up one before.
    assert_eq!(is_signal(0, true), Ok(true));
    assert_eq!(is_signal(1, false), Ok(true));
    assert_eq!(is_signal(8, false), Ok(true));
    assert_eq!(is_signal(2, false), Err(EndReason::NoRule));
}

#[test]
fn the_programs_entry_has_no_caller() {
    let image = image_of(&[], &[0x90; 0x200]);
    let at = |address: u64| find(&image, 2 * START + address, true);
    assert_eq!(at(0x50), Ok(Rule::outermost()));
    assert_eq!(at(0x3f), Err(EndReason::NoRule));
    assert_eq!(at(0x140), Err(EndReason::NoRule));
}
