//! Real sections with bytes changed: every walk must end, within its bounds, without a panic.

use std::sync::LazyLock;

use object::{Object, ObjectSection};
use proptest::prelude::*;

use crate::registers::{RBP, RIP, RSP, Registers};
use crate::unwind::tests::mapped_library;
use crate::unwind::{
    CodeAt, CodeMap, DEPTH_LIMIT, SampledInput, Section, SectionBytes, StackPolicy, UnwindImage,
    UnwindSections, Unwinder,
};

const STACK_START: u64 = 0x7ffc_0000_0000;

/// The loader's table and descriptions, with their addresses.
static LOADER: LazyLock<[(u64, Vec<u8>); 2]> = LazyLock::new(|| {
    let bytes = std::fs::read(mapped_library("ld-linux")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    [".eh_frame_hdr", ".eh_frame"].map(|name| {
        let section = file.section_by_name(name).unwrap();
        (section.address(), section.uncompressed_data().unwrap().into_owned())
    })
});

/// All addresses below the stack are the image's code.
struct OneImage(UnwindImage, u64);

impl CodeMap for OneImage {
    fn generation(&self) -> u64 {
        self.1
    }

    fn at(&self, address: u64) -> CodeAt<'_> {
        if address >= STACK_START {
            return CodeAt::Unmapped;
        }
        CodeAt::Image { image: &self.0, relative_address: address }
    }
}

/// The loader's image with bytes changed: which section, where in it, to what.
fn mutated(changes: &[(bool, usize, u8)], has_table: bool) -> UnwindImage {
    let mut sections = LOADER.clone();
    for (in_table, at, to) in changes {
        let bytes = &mut sections[usize::from(!in_table)].1;
        let len = bytes.len();
        bytes[at % len] = *to;
    }
    let [table, entries] =
        sections.map(|(address, bytes)| Section { address, bytes: SectionBytes::whole(bytes) });
    let sections = UnwindSections {
        eh_frame_hdr: has_table.then_some(table),
        eh_frame: Some(entries),
        entry: Some(0x1000),
        ..UnwindSections::default()
    };
    UnwindImage::new(sections)
}

fn walk_all(image: UnwindImage, words: &[u64], policy: StackPolicy) {
    image.index();
    let stack: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (map, mut unwinder, mut frames) = (OneImage(image, 1), Unwinder::new(), Vec::new());
    for ip in words.iter().take(64) {
        let mut registers = Registers::default();
        for (number, value) in [(RIP, *ip), (RSP, STACK_START), (RBP, STACK_START + 64)] {
            registers.set(number, value);
        }
        let input = SampledInput { registers, stack: &stack, stack_is_cut: true, user_chain: words };
        unwinder.walk(&input, &map, policy, &mut frames);
        assert!(frames.len() <= DEPTH_LIMIT);
    }
}

/// Words that are often code of the loader, places on the stack, or anything.
fn words() -> impl Strategy<Value = Vec<u64>> {
    let word = prop_oneof![
        4 => 0x1000_u64..0x28000,
        2 => (0_u64..256).prop_map(|word| STACK_START + word * 8),
        1 => any::<u64>(),
    ];
    proptest::collection::vec(word, 1..256)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn changed_sections_never_harm(
        changes in proptest::collection::vec((any::<bool>(), any::<usize>(), any::<u8>()), 0..400),
        has_table in any::<bool>(),
        words in words(),
        both in any::<bool>(),
    ) {
        let policy = if both { StackPolicy::Both } else { StackPolicy::Copy };
        walk_all(mutated(&changes, has_table), &words, policy);
    }

    #[test]
    fn sections_of_any_bytes_never_harm(
        table in proptest::collection::vec(any::<u8>(), 0..200),
        entries in proptest::collection::vec(any::<u8>(), 0..400),
        words in words(),
    ) {
        let section = |bytes: Vec<u8>| Some(Section { address: 0x2000, bytes: SectionBytes::whole(bytes) });
        let sections = UnwindSections {
            eh_frame_hdr: section(table),
            eh_frame: section(entries.clone()),
            debug_frame: section(entries.clone()),
            stubs: section(entries.clone()).into_iter().collect(),
            text: section(entries).into_iter().collect(),
            entry: Some(0x2000),
        };
        walk_all(UnwindImage::new(sections), &words, StackPolicy::Both);
    }
}

#[test]
fn a_stack_that_never_ends_is_cut_at_the_limit() {
    // Every word of the stack is the address of one call in a function that keeps nothing.
    let description = [
        16, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0, // the common entry
        20, 0, 0, 0, 24, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, // 0x1000 to 0x1100
    ];
    let eh_frame = Section { address: 0x9000, bytes: SectionBytes::whole(description) };
    let image = UnwindImage::new(UnwindSections { eh_frame: Some(eh_frame), ..UnwindSections::default() });
    image.index();
    let stack: Vec<u8> = (0..2 * DEPTH_LIMIT).flat_map(|_| 0x1010_u64.to_le_bytes()).collect();
    let mut registers = Registers::default();
    for (number, value) in [(RIP, 0x1000), (RSP, STACK_START), (RBP, 0)] {
        registers.set(number, value);
    }
    let input = SampledInput { registers, stack: &stack, stack_is_cut: true, user_chain: &[] };
    let mut frames = Vec::new();
    let end = Unwinder::new().walk(&input, &OneImage(image, 1), StackPolicy::Copy, &mut frames);
    assert_eq!((end.reason, frames.len()), (microscope_capture::EndReason::DepthLimit, DEPTH_LIMIT));
}
