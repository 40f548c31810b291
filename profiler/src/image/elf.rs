//! Numbers of the ELF format. Source of truth: elf(5) and the gABI, <https://gabi.xinuos.com>.

pub(super) const MAGIC: [u8; 4] = *b"\x7fELF";
pub(super) const CLASS_64: u8 = 2;
pub(super) const LITTLE_ENDIAN: u8 = 1;

/// `e_phnum` when the count is in section 0's `sh_info`.
pub(super) const PN_XNUM: u16 = 0xffff;
/// `e_shstrndx` when the index is in section 0's `sh_link`.
pub(super) const SHN_XINDEX: u16 = 0xffff;

pub(super) const FILE_HEADER_BYTES: u64 = 64;
pub(super) const PROGRAM_HEADER_BYTES: u64 = 56;
pub(super) const SECTION_HEADER_BYTES: u64 = 64;
pub(super) const COMPRESSION_HEADER_BYTES: usize = 24;

pub(super) const PT_LOAD: u32 = 1;
pub(super) const PT_DYNAMIC: u32 = 2;
pub(super) const PT_INTERP: u32 = 3;
pub(super) const PT_NOTE: u32 = 4;
pub(super) const PT_TLS: u32 = 7;
pub(super) const PT_GNU_EH_FRAME: u32 = 0x6474_e550;

pub(super) const PF_EXECUTE: u32 = 1;
pub(super) const PF_WRITE: u32 = 2;
pub(super) const PF_READ: u32 = 4;

pub(super) const SHT_NOTE: u32 = 7;
pub(super) const SHT_NOBITS: u32 = 8;
pub(super) const SHF_ALLOC: u64 = 2;
pub(super) const SHF_EXECUTE: u64 = 4;
pub(super) const SHF_COMPRESSED: u64 = 0x800;

pub(super) const COMPRESS_ZLIB: u32 = 1;
pub(super) const COMPRESS_ZSTD: u32 = 2;
