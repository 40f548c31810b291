//! What fuzzing does with bytes: one function a target. `fuzz/` explores them; the suites replay `fuzz/corpus`.
//!
//! Each takes any bytes, and must return: no panic, no hang, no memory beyond a small multiple of the input.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use microscope_capture::fuzz::{
    fuzz_import_folded as import_folded, fuzz_import_pprof as import_pprof, fuzz_open as open_capture,
    fuzz_recover as recover_spool,
};
use microscope_profiler::collector::SampleFields;
use microscope_profiler::debug_info::{ModuleDebug, NameSource, OpenHost};
use microscope_profiler::image::{Image, MappedRange};
use microscope_profiler::records::{self, Layout, Layouts, Role};
use microscope_profiler::registers::{PERF_REGISTER_MASK, RBP, RIP, RSP, Registers};
use microscope_profiler::unwind::{
    CodeAt, CodeMap, SampledInput, Section, SectionBytes, StackPolicy, UnwindImage, UnwindSections, Unwinder,
};

use crate::{repository, simulator};

/// A target: its name, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 8] = [
    ("decode_records", decode_records),
    ("import_folded", import_folded),
    ("import_pprof", import_pprof),
    ("name_addresses", name_addresses),
    ("open_capture", open_capture),
    ("read_image", read_image),
    ("recover_spool", recover_spool),
    ("unwind", unwind),
];

/// The directory of a target's corpus.
pub fn corpus(target: &str) -> PathBuf {
    repository::root().join("fuzz/corpus").join(target)
}

/// Decodes bytes as the content of a ring with the events of a usual recording.
pub fn decode_records(bytes: &[u8]) {
    let _ = records::decode_any(bytes, &layouts());
}

/// The events of the simulated kernel, and one whose samples have the kernel's call chain.
fn layouts() -> Layouts {
    let with_chain = SampleFields { callchain: true, user_registers: PERF_REGISTER_MASK, stack_bytes: 1024 };
    let with_chain = Layout {
        event: 9,
        role: Role::Sampler,
        sample_type: with_chain.sample_type(),
        user_registers: with_chain.user_registers,
    };
    let simulated = simulator::layouts(2);
    Layouts::new(simulated.iter().map(Layout::from).chain([with_chain])).unwrap_or_default()
}

/// Reads bytes as an ELF file: headers, every section, identity and links.
pub fn read_image(bytes: &[u8]) {
    let Ok(image) = Image::from_bytes(bytes.to_vec()) else { return };
    let _ = (image.identity(), image.debug_link(), image.alt_link());
    for section in image.sections() {
        let _ = image.section(&section.name);
    }
    for segment in image.segments() {
        let _ = image.read_loaded(segment.svma, &mut [0; 64]);
        let mapping = MappedRange { file_offset: segment.file_offset, length_bytes: 4096, executable: true };
        let _ = image.svma_of_mapping(mapping);
    }
}

/// Names addresses by the symbols and DWARF of an ELF file: 64 bytes of addresses, then the file.
pub fn name_addresses(bytes: &[u8]) {
    let Some((addresses, file)) = bytes.split_first_chunk::<64>() else { return };
    let Ok(image) = Image::from_bytes(file.to_vec()) else { return };
    let nothing_else: OpenHost = Arc::new(|_: &Path| Err(io::ErrorKind::NotFound.into()));
    let module = ModuleDebug::new(image, Path::new("/fuzzed"), nothing_else);
    for address in addresses.as_chunks::<8>().0 {
        let address = u64::from_le_bytes(*address);
        let _ = (module.name(address, false), module.name(address, true), module.failure(address));
    }
}

/// Walks a stack through code whose unwind sections are fuzzed too: 512 bytes of stack, then an ELF file.
pub fn unwind(bytes: &[u8]) {
    let Some((stack, file)) = bytes.split_first_chunk::<512>() else { return };
    let Ok(image) = Image::from_bytes(file.to_vec()) else { return };
    let image = UnwindImage::new(unwind_sections(&image));
    image.index();
    UNWINDER.with_borrow_mut(|unwinder| walk_each(unwinder, &OneImage::new(&image), stack));
}

thread_local! {
    /// One for all inputs: its cache is large, and each input's code map has a generation of its own.
    static UNWINDER: RefCell<Unwinder> = RefCell::new(Unwinder::new());
}

fn walk_each(unwinder: &mut Unwinder, map: &OneImage<'_>, stack: &[u8; 512]) {
    let mut frames = Vec::new();
    // Every word of the stack is tried as the place where the sample hit.
    for word in stack.as_chunks::<8>().0.iter().take(16) {
        let mut registers = Registers::default();
        for (register, value) in
            [(RIP, u64::from_le_bytes(*word)), (RSP, STACK_START), (RBP, STACK_START + 256)]
        {
            registers.set(register, value);
        }
        let input = SampledInput { registers, stack, stack_is_cut: false, user_chain: &[] };
        unwinder.walk(&input, map, StackPolicy::Both, &mut frames);
    }
}

const STACK_START: u64 = 0x7fff_0000_0000;

fn unwind_sections(image: &Image) -> UnwindSections {
    let section = |name: &str| {
        let data = image.section(name).ok()??;
        Some(Section { address: data.svma, bytes: SectionBytes::whole(data.to_vec()) })
    };
    UnwindSections {
        eh_frame_hdr: section(".eh_frame_hdr"),
        eh_frame: section(".eh_frame"),
        debug_frame: section(".debug_frame"),
        stubs: section(".plt").into_iter().collect(),
        text: section(".text").into_iter().collect(),
        entry: Some(image.entry()),
    }
}

/// An address space of one image at its own addresses.
struct OneImage<'a> {
    image: &'a UnwindImage,
    generation: u64,
}

impl<'a> OneImage<'a> {
    fn new(image: &'a UnwindImage) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { image, generation: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

impl CodeMap for OneImage<'_> {
    fn generation(&self) -> u64 {
        self.generation
    }

    fn at(&self, address: u64) -> CodeAt<'_> {
        if address < STACK_START {
            CodeAt::Image { image: self.image, relative_address: address }
        } else {
            CodeAt::Unmapped
        }
    }
}
