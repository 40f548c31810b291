//! Which description covers an address: by `.eh_frame_hdr`'s table, or by an index built from the sections.
//!
//! The table is the linker's, sorted by first address. It is only a hint: the description it names is checked
//! against the address, so an unsorted or lying table finds nothing rather than something wrong.

use gimli::{EndianSlice, LittleEndian, Reader};

use super::entry::{Common, Description, ENTRY_BYTES_MAX, Head, SectionKind};
use super::{Section, SectionBytes};

/// Where a description lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// The section.
    pub kind: SectionKind,
    /// From the section's first byte.
    pub offset: u64,
}

/// The sorted table of `.eh_frame_hdr`: pairs of 32-bit distances from the section's address.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderTable {
    /// The section's relative address.
    address: u64,
    /// Where the pairs begin in the section.
    start: usize,
    /// How many pairs there are.
    count: usize,
}

const PAIR_BYTES: usize = 8;

impl HeaderTable {
    /// Parses the header. `None` when there is no table of the one form that linkers write.
    pub(super) fn parse(section: &Section) -> Option<Self> {
        let bytes = section.bytes.get(0, section.bytes.len().min(16))?;
        let whole = EndianSlice::new(&bytes, LittleEndian);
        let mut rest = whole;
        let version = rest.read_u8().ok()?;
        let (pointer, count, table) = (rest.read_u8().ok()?, rest.read_u8().ok()?, rest.read_u8().ok()?);
        let is_known = version == 1
            && gimli::DwEhPe(count) == gimli::DW_EH_PE_udata4
            && gimli::DwEhPe(table) == gimli::DW_EH_PE_datarel | gimli::DW_EH_PE_sdata4;
        let pointer_bytes = match gimli::DwEhPe(pointer).format() {
            gimli::DW_EH_PE_udata4 | gimli::DW_EH_PE_sdata4 => 4,
            gimli::DW_EH_PE_absptr | gimli::DW_EH_PE_udata8 | gimli::DW_EH_PE_sdata8 => 8,
            _ => return None,
        };
        rest.skip(pointer_bytes).ok()?;
        let count = usize::try_from(rest.read_u32().ok()?).ok()?;
        let start = rest.offset_from(whole);
        let end = count.checked_mul(PAIR_BYTES)?.checked_add(start)?;
        (is_known && count > 0 && end <= section.bytes.len()).then_some(Self {
            address: section.address,
            start,
            count,
        })
    }

    /// The address of the description with the last first address not after `address`.
    pub(super) fn description_before(&self, bytes: &SectionBytes, address: u64) -> Option<u64> {
        let wanted = i32::try_from(address.wrapping_sub(self.address).cast_signed()).ok()?;
        let (mut low, mut len) = (0, self.count);
        // The pair at `low` starts at or before the address, or none does. The search goes by single pairs
        // until what is left lies in memory together.
        while len > 1 {
            if let Some(rest) = bytes.borrowed(self.start + low * PAIR_BYTES, len * PAIR_BYTES) {
                let (pairs, _) = rest.as_chunks::<PAIR_BYTES>();
                low += pairs.partition_point(|pair| split(*pair).0 <= wanted).saturating_sub(1);
                break;
            }
            let half = len / 2;
            if self.pair(bytes, low + half)?.0 <= wanted {
                low += half;
            }
            len -= half;
        }
        let (first, description) = self.pair(bytes, low)?;
        (first <= wanted).then(|| self.address.wrapping_add_signed(i64::from(description)))
    }

    fn pair(&self, bytes: &SectionBytes, index: usize) -> Option<(i32, i32)> {
        bytes.fixed::<PAIR_BYTES>(self.start + index * PAIR_BYTES).map(split)
    }
}

/// A pair's first address and description, as distances.
#[inline]
fn split([a, b, c, d, e, f, g, h]: [u8; PAIR_BYTES]) -> (i32, i32) {
    (i32::from_le_bytes([a, b, c, d]), i32::from_le_bytes([e, f, g, h]))
}

/// A search table built by scanning, for files that carry none.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// First address and place, sorted.
    rows: Vec<(u64, Place)>,
}

impl Index {
    /// Scans every description of a section into the index; a malformed entry ends that section's scan.
    pub(super) fn scan(&mut self, kind: SectionKind, section: &Section) {
        let Some(bytes) = section.bytes.all() else { return };
        let mut common: Option<(u64, Common)> = None;
        let mut offset = 0_usize;
        while let Some(rest) = bytes.get(offset..) {
            let Ok(head) = Head::parse(kind, offset as u64, rest) else { return };
            // `.eh_frame` may hold terminators of single objects in its middle.
            let Some(head) = head else {
                offset += 4;
                continue;
            };
            let Some(entry) = rest.get(..head.len) else { return };
            if let Some(common_offset) = head.common {
                if common.as_ref().is_none_or(|(at, _)| *at != common_offset) {
                    common = parse_common(kind, &bytes, common_offset).map(|found| (common_offset, found));
                }
                if let Some((_, common)) = &common {
                    self.add(kind, section, offset, head, entry, common);
                }
            }
            offset += head.len;
        }
    }

    fn add(
        &mut self,
        kind: SectionKind,
        section: &Section,
        at: usize,
        head: Head,
        entry: &[u8],
        common: &Common,
    ) {
        let address = section.address.wrapping_add(at as u64);
        let Ok(description) = Description::parse(head, entry, address, common) else { return };
        // Linkers leave descriptions of discarded functions behind, with address 0 or no length.
        if description.len > 0 && description.first != 0 {
            self.rows.push((description.first, Place { kind, offset: at as u64 }));
        }
    }

    /// Sorts what was scanned. For one address, `.eh_frame` comes last and so wins.
    pub(super) fn finish(&mut self) {
        self.rows.sort_unstable_by_key(|(first, place)| (*first, std::cmp::Reverse(*place)));
    }

    /// The description with the last first address not after `address`.
    pub(super) fn description_before(&self, address: u64) -> Option<Place> {
        let after = self.rows.partition_point(|(first, _)| *first <= address);
        self.rows.get(after.checked_sub(1)?).map(|(_, place)| *place)
    }
}

fn parse_common(kind: SectionKind, bytes: &[u8], offset: u64) -> Option<Common> {
    let rest = bytes.get(usize::try_from(offset).ok()?..)?;
    Common::parse(kind, &rest[..rest.len().min(ENTRY_BYTES_MAX)]).ok()
}
