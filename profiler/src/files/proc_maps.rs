//! The lines of `/proc/PID/maps`.

use std::borrow::Cow;

use crate::records::FileKey;

/// One mapping of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapsLine<'a> {
    /// The first address.
    pub start_address: u64,
    /// One past the last.
    pub end_address: u64,
    /// Whether its bytes may run.
    pub is_executable: bool,
    /// The offset in the file that the first address is.
    pub file_offset: u64,
    /// The file's place; inode 0 for memory.
    pub key: FileKey,
    /// The path, with the kernel's escapes of newlines undone; empty for memory without a name.
    pub path: Cow<'a, [u8]>,
}

/// Every well-formed line of `text`. A line that the end of a truncated text cuts off is left out.
pub fn maps_lines(text: &[u8]) -> impl Iterator<Item = MapsLine<'_>> {
    text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| parse(line.strip_suffix(b"\n")?))
}

/// `55d0c000-55d0e000 r-xp 00002000 fe:01 1234    /path`
fn parse(line: &[u8]) -> Option<MapsLine<'_>> {
    let (range, rest) = field(line)?;
    let (rights, rest) = field(rest)?;
    let (offset, rest) = field(rest)?;
    let (device, rest) = field(rest)?;
    let (inode, path) = field(rest).unwrap_or((rest, &[]));
    let (start, end) = pair(range, b'-')?;
    let (major, minor) = pair(device, b':')?;
    let key = FileKey {
        major: u32::try_from(hex(major)?).ok()?,
        minor: u32::try_from(hex(minor)?).ok()?,
        inode: std::str::from_utf8(inode).ok()?.parse().ok()?,
        generation: 0,
    };
    Some(MapsLine {
        start_address: hex(start)?,
        end_address: hex(end)?,
        is_executable: rights.get(2) == Some(&b'x'),
        file_offset: hex(offset)?,
        key,
        path: unescape(path.trim_ascii_start()),
    })
}

fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    pair(line, b' ')
}

fn pair(text: &[u8], between: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == between)?;
    Some((&text[..at], &text[at + 1..]))
}

fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

/// The kernel writes a newline inside a path as `\012`.
fn unescape(path: &[u8]) -> Cow<'_, [u8]> {
    const NEWLINE: &[u8] = b"\\012";
    if !path.windows(NEWLINE.len()).any(|window| window == NEWLINE) {
        return Cow::Borrowed(path);
    }
    let mut whole = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        match rest.strip_prefix(NEWLINE) {
            Some(after_newline) => {
                whole.push(b'\n');
                rest = after_newline;
            }
            None => {
                whole.push(*first);
                rest = after;
            }
        }
    }
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn one(line: &str) -> Option<MapsLine<'_>> {
        maps_lines(line.as_bytes()).next()
    }

    #[test]
    fn a_file_mapping_is_read() {
        let line = one("7f10-7f20 r-xp 00002000 fe:01 1234                       /lib/a b.so\n").unwrap();
        assert_eq!((line.start_address, line.end_address, line.file_offset), (0x7f10, 0x7f20, 0x2000));
        assert!(line.is_executable);
        assert_eq!(line.key, FileKey { major: 0xfe, minor: 1, inode: 1234, generation: 0 });
        assert_eq!(&*line.path, b"/lib/a b.so");
    }

    #[test]
    fn memory_without_a_name_has_an_empty_path() {
        let line = one("1000-2000 rwxp 00000000 00:00 0 \n").unwrap();
        assert_eq!((&*line.path, line.key.inode), (&b""[..], 0));
    }

    #[test]
    fn an_escaped_newline_is_undone() {
        assert_eq!(&*one("1000-2000 r--p 0 00:00 7 /a\\012b\n").unwrap().path, b"/a\nb");
    }

    #[test]
    fn a_cut_line_is_left_out() {
        assert_eq!(maps_lines(b"1000-2000 r-xp 0 00:00 7 /a\n3000-4000 r-xp 0 00:00 7 /li").count(), 1);
        assert_eq!(one("nonsense\n"), None);
    }
}
