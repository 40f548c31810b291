//! Every row of every description of real libraries, against gimli's evaluation.

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, EndianSlice, LittleEndian, RegisterRule, UnwindContext,
    UnwindSection,
};
use object::{Object, ObjectSection};

use crate::registers::{REGISTER_COUNT, RSP};
use crate::unwind::finder::Finder;
use crate::unwind::rule::{Expression, FrameAddress, Rule, Where};
use crate::unwind::tests::{image, mapped_library};
use crate::unwind::{UnwindImage, UnwindSections};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The bytes of an expression as gimli found it.
fn theirs(section: &EhFrame<Slice<'_>>, at: gimli::UnwindExpression<usize>) -> Vec<u8> {
    at.get(section).unwrap().0.slice().to_vec()
}

/// Compares one row, given the bytes of our expressions.
fn same(
    rule: &Rule,
    row: &gimli::UnwindTableRow<usize>,
    section: &EhFrame<Slice<'_>>,
    bytes: impl Fn(Expression) -> Vec<u8>,
) -> Result<(), String> {
    let same_frame = match (row.cfa(), rule.frame) {
        (
            CfaRule::RegisterAndOffset { register, offset },
            FrameAddress::Offset { register: ours, offset: at },
        ) => register.0 == u16::from(ours) && *offset == i64::from(at),
        (CfaRule::Expression(at), FrameAddress::Expression(ours)) => theirs(section, *at) == bytes(ours),
        _ => false,
    };
    if !same_frame {
        return Err(format!("frame address {:?}, gimli {:?}", rule.frame, row.cfa()));
    }
    for number in 0..REGISTER_COUNT {
        let ours = rule.registers[number];
        let other = row.register(gimli::Register(number as u16));
        let same = match (&other, ours) {
            (None, Where::Unspecified)
            | (Some(RegisterRule::SameValue), Where::Same)
            | (Some(RegisterRule::Undefined), Where::Undefined) => true,
            (Some(RegisterRule::Offset(at)), Where::At(offset)) => *at == i64::from(offset),
            (Some(RegisterRule::ValOffset(at)), Where::Is(offset)) => *at == i64::from(offset),
            (Some(RegisterRule::Register(of)), Where::Register(register)) => of.0 == u16::from(register),
            (Some(RegisterRule::Expression(at)), Where::AtExpression(place))
            | (Some(RegisterRule::ValExpression(at)), Where::IsExpression(place)) => {
                theirs(section, *at) == bytes(place)
            }
            // Slots below the stack pointer are ours to judge.
            (Some(RegisterRule::Offset(at)), Where::Same | Where::Undefined) => {
                matches!(rule.frame, FrameAddress::Offset { register: RSP, offset } if -at > i64::from(offset))
            }
            _ => false,
        };
        if !same {
            return Err(format!("register {number}: {ours:?}, gimli {other:?}"));
        }
    }
    Ok(())
}

/// Looks every row's first address up in `image` and compares it with gimli's row.
fn check_all(file: &object::File<'_>, image: &UnwindImage) -> usize {
    let section = file.section_by_name(".eh_frame").unwrap();
    let data = section.uncompressed_data().unwrap();
    let eh_frame = EhFrame::new(&data, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let (mut finder, mut context, mut rows) = (Finder::default(), UnwindContext::new(), 0);
    let mut entries = eh_frame.entries(&bases);
    while let Some(entry) = entries.next().unwrap() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let description = partial.parse(EhFrame::cie_from_offset).unwrap();
        let common_offset = description.cie().offset();
        let mut table = description.rows(&eh_frame, &bases, &mut context).unwrap();
        while let Some(row) = table.next_row().unwrap() {
            if row.start_address() == row.end_address() {
                continue;
            }
            finder.find(image, row.start_address(), false).unwrap();
            let rule = finder.rule();
            let bytes = |place: Expression| {
                place.bytes(&data[common_offset..], &data[description.offset()..]).unwrap().to_vec()
            };
            if let Err(difference) = same(rule, row, &eh_frame, bytes) {
                panic!("at {:#x}: {difference}", row.start_address());
            }
            assert_eq!(rule.is_signal, description.is_signal_trampoline());
            rows += 1;
        }
    }
    rows
}

#[test]
fn every_row_of_the_c_library_is_gimlis() {
    let bytes = std::fs::read(mapped_library("libc.so")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let rows = check_all(&file, &image(&file));
    assert!(rows > 10_000, "{rows}");
}

#[test]
fn the_built_index_finds_what_the_linkers_table_finds() {
    let bytes = std::fs::read(mapped_library("ld-linux")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let without = UnwindSections { eh_frame_hdr: None, ..super::sections(&file) };
    let image = UnwindImage::new(without);
    assert!(image.needs_index());
    image.index();
    assert!(!image.needs_index());
    assert!(check_all(&file, &image) > 1000);
}
