//! Claims about the intake of real, crafted and mutated ELF files.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use microscope_capture::IdentityKind;
use proptest::prelude::*;

use super::*;
use crate::files::ReadAt;

/// One loaded segment to lay out in a crafted file.
#[derive(Clone, Copy)]
struct Load {
    executable: bool,
    file_offset: u64,
    file_bytes: u64,
    svma: u64,
}

/// One section to lay out in a crafted file.
struct Part<'a> {
    name: &'a str,
    kind: u32,
    flags: u64,
    bytes: Vec<u8>,
}

fn part(name: &str, flags: u64, bytes: Vec<u8>) -> Part<'_> {
    Part { name, kind: 1, flags, bytes }
}

/// An ELF64 file: header, program headers, section contents, names, section headers.
fn craft(loads: &[Load], parts: &[Part<'_>]) -> Vec<u8> {
    let mut file = vec![0; 64];
    for load in loads {
        let flags = if load.executable { 5u32 } else { 4 };
        file.extend([1, flags].map(u32::to_le_bytes).concat());
        let fields = [load.file_offset, load.svma, load.svma, load.file_bytes, load.file_bytes, 4096];
        file.extend(fields.map(u64::to_le_bytes).concat());
    }
    let (mut names, mut headers) = (vec![0u8], vec![0u8; 64]);
    let name_part = part(".shstrtab", 0, Vec::new());
    for each in parts.iter().chain([&name_part]) {
        let name_at = names.len() as u32;
        names.extend(each.name.bytes().chain([0]));
        let contents = if each.name == ".shstrtab" { &names } else { &each.bytes };
        headers.extend([name_at, each.kind].map(u32::to_le_bytes).concat());
        let fields = [each.flags, 0, file.len() as u64, contents.len() as u64, 0, 1, 0];
        headers.extend(fields.map(u64::to_le_bytes).concat());
        file.extend_from_slice(contents);
    }
    let section_offset = file.len() as u64;
    file.extend(headers);
    write_header(&mut file, loads.len() as u16, parts.len() as u16 + 2, section_offset);
    file
}

fn write_header(file: &mut [u8], segments: u16, sections: u16, section_offset: u64) {
    file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x00");
    file[16..20].copy_from_slice(&[3, 0, 62, 0]);
    file[32..40].copy_from_slice(&64u64.to_le_bytes());
    file[40..48].copy_from_slice(&section_offset.to_le_bytes());
    for (at, value) in [(52, 64), (54, 56), (56, segments), (58, 64), (60, sections), (62, sections - 1)] {
        file[at..at + 2].copy_from_slice(&u16::to_le_bytes(value));
    }
}

fn note(owner: &[u8], kind: u32, description: &[u8]) -> Vec<u8> {
    let sizes = [owner.len() as u32, description.len() as u32, kind].map(u32::to_le_bytes).concat();
    let padding = |bytes: &[u8]| vec![0; bytes.len().next_multiple_of(4) - bytes.len()];
    [&sizes, owner, &padding(owner), description, &padding(description)].concat()
}

fn compressed(kind: u32, size: u64, packed: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &[0; 4], &size.to_le_bytes(), &1u64.to_le_bytes(), packed].concat()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zstd frame with one stored block, as the format's specification lays it out.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let block = 1u32 | ((bytes.len() as u32) << 3);
    let size = [bytes.len() as u8];
    [&0xFD2F_B528u32.to_le_bytes()[..], &[0x20], &size, &block.to_le_bytes()[..3], bytes].concat()
}

fn with_section(flags: u64, name: &str, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, ImageError> {
    let image = Image::from_bytes(craft(&[], &[part(name, flags, bytes)])).unwrap();
    image.section(".debug_info").map(|found| found.map(|data| data.to_vec()))
}

const TEXT: &[u8] = b"twelve bytes";

#[test]
fn sections_are_read_plain_and_compressed_in_every_form() {
    let older = [b"ZLIB", &12u64.to_be_bytes()[..], &zlib(TEXT)].concat();
    assert_eq!(with_section(0, ".debug_info", TEXT.to_vec()).unwrap().unwrap(), TEXT);
    assert_eq!(with_section(0, ".zdebug_info", older).unwrap().unwrap(), TEXT);
    assert_eq!(with_section(0x800, ".debug_info", compressed(1, 12, &zlib(TEXT))).unwrap().unwrap(), TEXT);
    assert_eq!(with_section(0x800, ".debug_info", compressed(2, 12, &zstd(TEXT))).unwrap().unwrap(), TEXT);
    assert_eq!(with_section(0, ".debug_line", TEXT.to_vec()), Ok(None));
}

#[test]
fn a_decompression_bomb_is_refused_before_it_is_unpacked() {
    let bomb = zlib(&vec![0; 64 << 20]);
    let refused = with_section(0x800, ".debug_info", compressed(1, 64 << 20, &bomb)).unwrap_err();
    assert!(matches!(refused, ImageError::TooLarge { value: 67_108_864, .. }), "{refused}");
    let huge = with_section(0x800, ".debug_info", compressed(2, u64::MAX, &zstd(TEXT))).unwrap_err();
    assert!(matches!(huge, ImageError::TooLarge { value: u64::MAX, .. }), "{huge}");
}

#[test]
fn a_compressed_section_must_hold_what_it_claims() {
    for (kind, size, packed) in
        [(1, 13, zlib(TEXT)), (2, 13, zstd(TEXT)), (9, 12, zlib(TEXT)), (1, 12, vec![1])]
    {
        let refused = with_section(0x800, ".debug_info", compressed(kind, size, &packed)).unwrap_err();
        assert!(matches!(refused, ImageError::Compression { .. }), "{kind} {size}: {refused}");
    }
}

#[test]
fn a_section_beyond_the_file_is_truncated_and_nothing_is_allocated_for_it() {
    let mut file = craft(&[], &[part(".debug_info", 0, TEXT.to_vec())]);
    let size_at = file.len() - 2 * 64 + 32;
    file[size_at..size_at + 8].copy_from_slice(&(1u64 << 29).to_le_bytes());
    let refused = Image::from_bytes(file).unwrap().section(".debug_info").unwrap_err();
    assert!(matches!(refused, ImageError::Truncated { size: 0x2000_0000, .. }), "{refused}");
}

#[test]
fn other_files_are_refused_by_name() {
    let check = |change: &[(usize, u8)], expected: &str| {
        let mut file = craft(&[], &[]);
        change.iter().for_each(|(at, value)| file[*at] = *value);
        assert_eq!(Image::from_bytes(file).err().unwrap().to_string(), expected);
    };
    check(&[(1, 0)], "not an ELF file");
    check(&[(4, 1)], "unsupported ELF file: the class is 1");
    check(&[(5, 2)], "unsupported ELF file: the byte order is 2");
    assert_eq!(Image::from_bytes(b"#!/bin/sh".to_vec()).err(), Some(ImageError::NotElf));
}

#[test]
fn broken_section_headers_leave_the_segments_usable_and_say_why() {
    let loads = [Load { executable: true, file_offset: 0, file_bytes: 64, svma: 0x1000 }];
    let mut file = craft(&loads, &[]);
    file.truncate(file.len() - 1);
    let image = Image::from_bytes(file).unwrap();
    assert_eq!(image.svma_of_file_offset(8), Some(0x1008));
    assert!(matches!(image.section(".text").unwrap_err(), ImageError::Truncated { .. }));
}

#[test]
fn split_segments_that_share_a_page_are_told_apart_by_the_mappings_rights() {
    // As lld lays them out: one file page belongs to both, at two addresses.
    let loads = [
        Load { executable: false, file_offset: 0, file_bytes: 0x1700, svma: 0 },
        Load { executable: true, file_offset: 0x1700, file_bytes: 0x2000, svma: 0x2700 },
        Load { executable: false, file_offset: 0x3700, file_bytes: 0x100, svma: 0x5700 },
    ];
    let image = Image::from_bytes(craft(&loads, &[])).unwrap();
    let at = |file_offset, length_bytes, executable| {
        image.svma_of_mapping(MappedRange { file_offset, length_bytes, executable })
    };
    assert_eq!(at(0, 0x2000, false), Some(0));
    assert_eq!(at(0x1000, 0x3000, true), Some(0x2000));
    assert_eq!(at(0x3000, 0x1000, false), Some(0x5000));
    assert_eq!(at(0x9000, 0x1000, true), None);
    assert_eq!(image.svma_of_file_offset(0x1700), Some(0x2700));
    assert_eq!(image.svma_of_file_offset(0x16ff), Some(0x16ff));
}

#[test]
fn identity_prefers_the_gnu_build_id_then_gos_then_a_hash_of_the_code() {
    let loads = [Load { executable: true, file_offset: 0, file_bytes: 64, svma: 0 }];
    let notes = |bytes: Vec<u8>| Part { name: ".note", kind: 7, flags: 2, bytes };
    let identity = |bytes| Image::from_bytes(craft(&loads, &[notes(bytes)])).unwrap().identity();
    let (gnu, go) = (note(b"GNU\0", 3, &[0xab, 0xcd, 1]), note(b"Go\0\0", 4, b"x/y"));
    let both = identity([go.clone(), gnu].concat());
    assert_eq!((both.kind, both.text.as_str()), (IdentityKind::GnuBuildId, "abcd01"));
    let go = identity(go);
    assert_eq!((go.kind, go.text.as_str()), (IdentityKind::GoBuildId, "x/y"));
    let hash = identity(note(b"GNU\0", 1, b"none"));
    assert_eq!((hash.kind, hash.text.len()), (IdentityKind::SegmentHash, 64));
    assert_eq!(hash, identity(Vec::new()), "sections and their header fields do not count");
}

#[test]
fn the_hash_of_a_long_segment_reads_a_bounded_part_of_it_and_knows_its_length() {
    let identity = |file_bytes| {
        let loads = [Load { executable: true, file_offset: 0, file_bytes, svma: 0 }];
        let mut file = craft(&loads, &[]);
        file.resize(64 << 20, 0x90);
        let counted = Arc::new(Counted { bytes: file, read: AtomicUsize::new(0) });
        let identity = Image::parse(counted.clone()).unwrap().identity();
        assert!(counted.read.load(Ordering::Relaxed) < 5 << 20);
        identity
    };
    assert_eq!(identity(64 << 20), identity(64 << 20));
    assert_ne!(identity(64 << 20), identity((64 << 20) - 1));
}

/// Bytes that count how many of them are read.
struct Counted {
    bytes: Vec<u8>,
    read: AtomicUsize,
}

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        self.read.fetch_add(into.len(), Ordering::Relaxed);
        self.bytes.read_at(offset, into)
    }
}

#[test]
fn links_to_debug_files_are_read() {
    let link = part(".gnu_debuglink", 0, b"a.debug\0\x78\x56\x34\x12".to_vec());
    let alt = part(".gnu_debugaltlink", 0, b"/x/y\0\x01\x02".to_vec());
    let image = Image::from_bytes(craft(&[], &[link, alt])).unwrap();
    let link = DebugLink { file_name: b"a.debug".to_vec(), crc32: 0x1234_5678 };
    assert_eq!(image.debug_link(), Ok(Some(link)));
    assert_eq!(image.alt_link(), Ok(Some(AltLink { path: b"/x/y".to_vec(), build_id: vec![1, 2] })));
}

#[test]
fn a_debug_link_with_a_directory_is_no_link() {
    let link = part(".gnu_debuglink", 0, b"../../x\0\x78\x56\x34\x12".to_vec());
    assert_eq!(Image::from_bytes(craft(&[], &[link])).unwrap().debug_link(), Ok(None));
}

#[test]
fn the_running_test_is_an_image_with_code_at_its_entry() {
    let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let image = Image::from_bytes(bytes).unwrap();
    let mut code = [0; 16];
    assert_eq!(image.read_loaded(image.entry(), &mut code), Ok(16));
    assert!(image.loaded_segments().any(|s| s.executable && s.contains_svma(image.entry())));
    assert!(image.section(".text").unwrap().is_some_and(|text| text.windows(16).any(|w| w == code)));
    assert_ne!(image.identity().kind, IdentityKind::None);
}

/// Asks an image for everything it can answer.
fn exercise(bytes: Vec<u8>) {
    let Ok(image) = Image::parse(Arc::new(bytes)) else { return };
    let _ = (image.identity(), image.debug_link(), image.alt_link());
    for section in image.sections() {
        let _ = image.section(&section.name);
    }
    for segment in image.segments() {
        let _ = image.read_loaded(segment.svma, &mut [0; 64]);
        let range = MappedRange { file_offset: segment.file_offset, length_bytes: 4096, executable: true };
        let _ = (image.svma_of_mapping(range), image.svma_of_file_offset(segment.file_offset));
    }
}

fn sample() -> Vec<u8> {
    let loads = [Load { executable: true, file_offset: 0, file_bytes: 64, svma: 0x1000 }; 2];
    let parts = [
        Part { name: ".note", kind: 7, flags: 2, bytes: note(b"GNU\0", 3, &[7; 20]) },
        part(".debug_info", 0x800, compressed(1, 12, &zlib(TEXT))),
        part(".debug_str", 0x800, compressed(2, 12, &zstd(TEXT))),
        part(".gnu_debuglink", 0, b"a.debug\0\x78\x56\x34\x12".to_vec()),
        part(".gnu_debugaltlink", 0, b"/x/y\0\x01\x02".to_vec()),
    ];
    craft(&loads, &parts)
}

proptest! {
    #[test]
    fn mutated_files_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24)) {
        let mut bytes = sample();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        exercise(bytes);
    }

    #[test]
    fn truncated_files_never_panic(length in any::<prop::sample::Index>()) {
        let mut bytes = sample();
        bytes.truncate(length.index(bytes.len()));
        exercise(bytes);
    }
}
