//! Debug information that lies: lookups answer something or nothing, and never panic.

use std::path::Path;
use std::sync::OnceLock;

use proptest::prelude::*;

use super::fixtures::{build, functions_of, host};
use crate::debug_info::{ModuleDebug, NameSource};
use crate::image::Image;

/// A program's bytes, where its debug sections lie in them, and addresses worth asking for.
struct Sample {
    bytes: Vec<u8>,
    debug: Vec<std::ops::Range<usize>>,
    addresses: Vec<u64>,
}

/// A C++ program with much, a C program with little debug information, so that changes hit everything.
fn samples() -> &'static [Sample; 3] {
    static SAMPLES: OnceLock<[Sample; 3]> = OnceLock::new();
    let programs =
        [("g++", "shapes.cpp", "-g"), ("gcc", "inline.c", "-gdwarf-5"), ("gcc", "inline.c", "-gdwarf-4")];
    SAMPLES.get_or_init(|| {
        programs.map(|(compiler, source, version)| {
            let program = build(compiler, source, &[version, "-O2"]);
            let sections = program.image();
            let sections = sections.sections().iter().filter(|s| {
                s.name.starts_with(".debug_") || [".symtab", ".dynsym", ".rela.plt"].contains(&&*s.name)
            });
            Sample {
                bytes: std::fs::read(&program.path).unwrap(),
                debug: sections.map(|s| s.file_offset as usize..(s.file_offset + s.size) as usize).collect(),
                addresses: functions_of(&program.path)
                    .iter()
                    .map(|(_, start, size)| start + size / 2)
                    .collect(),
            }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn mutated_debug_information_never_panics(
        sample in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..40)
    ) {
        let sample = sample.get(samples());
        let mut bytes = sample.bytes.clone();
        for (section, at, value) in changes {
            let section = section.get(&sample.debug);
            bytes[section.start + at.index(section.len())] = value;
        }
        let Ok(image) = Image::from_bytes(bytes) else { return Ok(()) };
        let debug = ModuleDebug::new(image, Path::new("/nowhere/program"), host());
        for address in &sample.addresses {
            let named = debug.name(*address, true);
            if !named.is_named() {
                debug.failure(*address);
            }
        }
    }
}
