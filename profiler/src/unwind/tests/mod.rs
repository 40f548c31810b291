//! Claims about rules, expressions, stubs and hostile sections. Whole programs are in `profiler/tests`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod against_gimli;
mod cached;
mod expressions;
mod hostile;
mod programs;
mod stub_code;

use std::path::PathBuf;

use object::{Object, ObjectSection};

use super::{Section, SectionBytes, UnwindImage, UnwindSections};

/// The loader or the C library, whichever this test process has mapped.
fn mapped_library(name: &str) -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let paths = maps.lines().filter_map(|line| line.split_ascii_whitespace().nth(5));
    paths.map(PathBuf::from).find(|path| path.to_str().unwrap().contains(name)).unwrap()
}

/// The unwind sections of a file.
fn sections(file: &object::File<'_>) -> UnwindSections {
    let section = |name: &str| {
        let section = file.section_by_name(name)?;
        let bytes = SectionBytes::whole(section.uncompressed_data().ok()?.into_owned());
        Some(Section { address: section.address(), bytes })
    };
    UnwindSections {
        eh_frame_hdr: section(".eh_frame_hdr"),
        eh_frame: section(".eh_frame"),
        debug_frame: section(".debug_frame"),
        stubs: section(".plt").into_iter().collect(),
        text: section(".text").into_iter().collect(),
        entry: Some(file.entry()),
    }
}

fn image(file: &object::File<'_>) -> UnwindImage {
    UnwindImage::new(sections(file))
}
