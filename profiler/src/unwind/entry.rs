//! The two kinds of entry in `.eh_frame` and `.debug_frame`: what a description (FDE) says of its addresses,
//! and what its common entry (CIE) says of many descriptions.
//!
//! The format is the Linux Standard Base's "Exception Frames" and DWARF 5 §6.4. gimli gives the primitives
//! but not the parse: it reads the common entry again for every description, which was half of a first
//! hit's cost. Tests hold both against each other over real libraries.

use gimli::{DwEhPe, EndianSlice, LittleEndian, Reader};

use super::program::{BadProgram, Factors, Instructions, Machine, RuleBuffer};
use super::rule::Rule;

/// The longest entry that is read: far beyond what a compiler writes for one function.
pub(super) const ENTRY_BYTES_MAX: usize = 1 << 20;

/// The entry is malformed or of a form that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadEntry;

impl From<gimli::Error> for BadEntry {
    fn from(_: gimli::Error) -> Self {
        Self
    }
}

impl From<BadProgram> for BadEntry {
    fn from(_: BadProgram) -> Self {
        Self
    }
}

type Result<T> = std::result::Result<T, BadEntry>;
type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// Which section an entry is of: they differ in how a description names its common entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SectionKind {
    /// `.eh_frame`: by the distance back.
    EhFrame,
    /// `.debug_frame`: by the offset in the section.
    DebugFrame,
}

/// An entry's first fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Bytes of the whole entry, its length field included; 4 for the terminator.
    pub len: usize,
    /// The section offset of the common entry a description names; `None` for a common entry.
    pub common: Option<u64>,
    /// Where the fields after the name of the common entry begin.
    pub body: usize,
}

impl Head {
    /// The bytes a head may take.
    pub(super) const BYTES_MAX: usize = 20;

    /// Parses the head of the entry at a section offset. `None` is the terminator.
    pub(super) fn parse(kind: SectionKind, offset: u64, bytes: &[u8]) -> Result<Option<Self>> {
        let whole = Bytes::new(bytes, LittleEndian);
        let mut rest = whole;
        let (length, is_wide) = match rest.read_u32()? {
            0 => return Ok(None),
            u32::MAX => (rest.read_u64()?, true),
            length => (u64::from(length), false),
        };
        let pointer_at = rest.offset_from(whole);
        let pointer = if is_wide { rest.read_u64()? } else { u64::from(rest.read_u32()?) };
        let len = usize::try_from(length).ok().and_then(|len| len.checked_add(pointer_at));
        let body = rest.offset_from(whole);
        let common = match kind {
            SectionKind::EhFrame if pointer == 0 => None,
            SectionKind::DebugFrame if pointer == if is_wide { u64::MAX } else { 0xffff_ffff } => None,
            SectionKind::EhFrame => Some((offset + pointer_at as u64).checked_sub(pointer).ok_or(BadEntry)?),
            SectionKind::DebugFrame => Some(pointer),
        };
        let len = len.filter(|len| *len >= body).ok_or(BadEntry)?;
        Ok(Some(Self { len, common, body }))
    }
}

/// How addresses are written in descriptions.
#[derive(Debug, Clone, Copy)]
struct AddressEncoding {
    /// Size and sign, as the low bits of `DW_EH_PE_*`.
    format: DwEhPe,
    /// Relative to the place of the address itself.
    is_relative: bool,
}

impl AddressEncoding {
    const ABSOLUTE: Self = Self { format: gimli::DW_EH_PE_absptr, is_relative: false };

    /// Linkers for x86-64 write absolute addresses or such relative to their own place.
    fn new(encoding: DwEhPe) -> Result<Self> {
        let is_relative = match encoding.application() {
            gimli::DW_EH_PE_absptr => false,
            gimli::DW_EH_PE_pcrel => true,
            _ => return Err(BadEntry),
        };
        Ok(Self { format: encoding.format(), is_relative })
    }

    fn read(self, rest: &mut Bytes<'_>) -> Result<u64> {
        Ok(match self.format {
            gimli::DW_EH_PE_absptr | gimli::DW_EH_PE_udata8 | gimli::DW_EH_PE_sdata8 => rest.read_u64()?,
            gimli::DW_EH_PE_udata4 => u64::from(rest.read_u32()?),
            gimli::DW_EH_PE_sdata4 => i64::from(rest.read_i32()?).cast_unsigned(),
            gimli::DW_EH_PE_udata2 => u64::from(rest.read_u16()?),
            gimli::DW_EH_PE_sdata2 => i64::from(rest.read_i16()?).cast_unsigned(),
            _ => return Err(BadEntry),
        })
    }

    /// Sizes are written in the same format, without sign or base.
    fn read_size(self, rest: &mut Bytes<'_>) -> Result<u64> {
        Ok(match self.format {
            gimli::DW_EH_PE_sdata4 => u64::from(rest.read_u32()?),
            gimli::DW_EH_PE_sdata2 => u64::from(rest.read_u16()?),
            _ => self.read(rest)?,
        })
    }
}

/// What a common entry says.
#[derive(Debug)]
pub(super) struct Common {
    /// The entry's bytes, for the expressions its rules may hold.
    pub bytes: Box<[u8]>,
    initial: Rule,
    factors: Factors,
    addresses: AddressEncoding,
    has_augmentation: bool,
}

impl Common {
    /// Parses a common entry from its own bytes.
    pub(super) fn parse(kind: SectionKind, bytes: &[u8]) -> Result<Self> {
        let head = Head::parse(kind, 0, bytes)?.filter(|head| head.common.is_none()).ok_or(BadEntry)?;
        let whole = Bytes::new(bytes.get(..head.len).ok_or(BadEntry)?, LittleEndian);
        let mut rest = whole;
        rest.skip(head.body)?;
        let version = rest.read_u8()?;
        let augmentation = rest.read_null_terminated_slice()?;
        match (version, kind) {
            (1 | 3, _) => {}
            // Address and segment sizes, which DWARF 4 added to `.debug_frame` only.
            (4, SectionKind::DebugFrame) if rest.read_u8()? == 8 && rest.read_u8()? == 0 => {}
            _ => return Err(BadEntry),
        }
        let factors = Factors { code: rest.read_uleb128()?, data: rest.read_sleb128()? };
        let return_address = if version == 1 { u64::from(rest.read_u8()?) } else { rest.read_uleb128()? };
        if return_address != u64::from(gimli::X86_64::RA.0) {
            return Err(BadEntry);
        }
        let mut common = Self {
            bytes: whole.slice().into(),
            initial: Rule::EMPTY,
            factors,
            addresses: AddressEncoding::ABSOLUTE,
            has_augmentation: augmentation.slice().first() == Some(&b'z'),
        };
        let is_signal = common.read_augmentation(augmentation.slice(), &mut rest)?;
        let program = Instructions { entry: whole.slice(), start: rest.offset_from(whole), in_common: true };
        common.initial = Machine::initial_rule(factors, program)?;
        common.initial.is_signal = is_signal;
        Ok(common)
    }

    /// Reads the augmentation's data and says whether the frames are of signals.
    fn read_augmentation(&mut self, letters: &[u8], rest: &mut Bytes<'_>) -> Result<bool> {
        let mut data = Bytes::new(&[], LittleEndian);
        if self.has_augmentation {
            let len = usize::try_from(rest.read_uleb128()?).map_err(|_| BadEntry)?;
            data = rest.split(len)?;
        }
        let mut is_signal = false;
        for letter in letters {
            match letter {
                b'z' => {}
                b'S' => is_signal = true,
                b'R' => self.addresses = AddressEncoding::new(DwEhPe(data.read_u8()?))?,
                b'L' => drop(data.read_u8()?),
                b'P' => skip_personality(&mut data)?,
                _ => return Err(BadEntry),
            }
        }
        Ok(is_signal)
    }
}

fn skip_personality(data: &mut Bytes<'_>) -> Result<()> {
    let format = DwEhPe(data.read_u8()?).format();
    AddressEncoding { format, is_relative: false }.read(data).map(drop)
}

/// A description: which addresses it covers, and its program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Description<'a> {
    /// The first address covered.
    pub first: u64,
    /// How many addresses are covered.
    pub len: u64,
    /// The entry's bytes.
    pub bytes: &'a [u8],
    program_start: usize,
}

impl<'a> Description<'a> {
    /// Parses the description in `bytes`, whose first byte has the given relative address.
    pub(super) fn parse(head: Head, bytes: &'a [u8], address: u64, common: &Common) -> Result<Self> {
        let whole = Bytes::new(bytes, LittleEndian);
        let mut rest = whole;
        rest.skip(head.body)?;
        let written = common.addresses.read(&mut rest)?;
        let base = if common.addresses.is_relative { address.wrapping_add(head.body as u64) } else { 0 };
        let len = common.addresses.read_size(&mut rest)?;
        if common.has_augmentation {
            let data_len = usize::try_from(rest.read_uleb128()?).map_err(|_| BadEntry)?;
            rest.skip(data_len)?;
        }
        let program_start = rest.offset_from(whole);
        Ok(Self { first: base.wrapping_add(written), len, bytes, program_start })
    }

    /// Whether an address is covered.
    pub(super) fn covers(&self, address: u64) -> bool {
        address.wrapping_sub(self.first) < self.len
    }

    /// Finds the rule at a covered address.
    pub(super) fn rule_at(&self, address: u64, common: &Common, into: &mut RuleBuffer) -> Result<()> {
        let program = Instructions { entry: self.bytes, start: self.program_start, in_common: false };
        let target = address.wrapping_sub(self.first);
        Ok(Machine::rule_at(&common.initial, common.factors, program, target, into)?)
    }
}
