//! The source files a unit names: its line program's table of files, with directories joined and MD5s kept.

use std::sync::Arc;

use gimli::{
    AttributeValue, DebugLineOffset, FileEntry, IncompleteLineProgram, LineProgramHeader, Reader, Section,
};

use super::sections::{Borrowed, Dwarf, GimliUnit, Slice};
use super::unit::Unit;
use crate::debug_info::SourceFile;
use crate::debug_info::demangle::cut;

/// A line program's header at most: its tables are expanded when it is parsed.
const HEADER_BYTES_MAX: usize = 8 << 20;

/// The files of one unit, by the numbers that its lines and declarations use.
#[derive(Default)]
pub(super) struct Files(Vec<Option<Arc<SourceFile>>>);

impl Files {
    pub(super) fn parse<'a>(unit: &'a Unit, borrowed: &Borrowed<'a>) -> Option<Self> {
        let (dwarf, context) = (unit.dwarf(borrowed)?, unit.context(borrowed)?);
        let program = line_program(dwarf, &context, unit.line_program(borrowed)?)?;
        let header = program.header();
        // Numbers begin at 0 in version 5, at 1 before; one more than the names covers both.
        let numbers = 0..=header.file_names().len() as u64;
        let file = |number| header.file(number).and_then(|file| source_file(dwarf, &context, header, file));
        Some(Self(numbers.map(|number| file(number).map(Arc::new)).collect()))
    }

    /// The file with this number.
    pub(super) fn get(&self, number: u64) -> Option<Arc<SourceFile>> {
        self.0.get(usize::try_from(number).ok()?)?.clone()
    }
}

/// Parses the header of the line program at `offset`; `None` when it is malformed or too large.
pub(super) fn line_program<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    offset: DebugLineOffset,
) -> Option<IncompleteLineProgram<Slice<'a>>> {
    let header_bytes = header_length(dwarf.debug_line.reader().slice().get(offset.0..)?)?;
    if header_bytes > HEADER_BYTES_MAX {
        return None;
    }
    dwarf.debug_line.program(offset, unit.header.address_size(), unit.comp_dir, unit.name).ok()
}

/// The length that a line program's header claims.
fn header_length(bytes: &[u8]) -> Option<usize> {
    let mut input = Slice::new(bytes, gimli::LittleEndian);
    let (_, format) = input.read_initial_length().ok()?;
    if input.read_u16().ok()? >= 5 {
        input.skip(2).ok()?;
    }
    input.read_length(format).ok()
}

fn source_file(
    dwarf: &Dwarf<'_>,
    unit: &GimliUnit<'_>,
    header: &LineProgramHeader<Slice<'_>>,
    file: &FileEntry<Slice<'_>>,
) -> Option<SourceFile> {
    let text = |value: AttributeValue<Slice<'_>>| {
        let bytes = dwarf.attr_string(unit, value).ok()?;
        Some(String::from_utf8_lossy(bytes.slice()).into_owned())
    };
    let directory = file.directory(header).and_then(text).unwrap_or_default();
    let compiled_in = unit.comp_dir.map(|bytes| String::from_utf8_lossy(bytes.slice()).into_owned());
    let path = join(&[&compiled_in.unwrap_or_default(), &directory, &text(file.path_name())?]);
    let md5 = Some(*file.md5()).filter(|md5| header.file_has_md5() && *md5 != [0; 16]);
    Some(SourceFile { path: cut(&path).into(), md5 })
}

/// The parts from the last absolute one on, joined, without `.` and `..`.
fn join(parts: &[&str]) -> String {
    let from = parts.iter().rposition(|part| part.starts_with('/')).unwrap_or(0);
    let parts = parts.get(from..).unwrap_or_default();
    let absolute = parts.first().is_some_and(|first| first.starts_with('/'));
    let mut names: Vec<&str> = Vec::new();
    for name in parts.iter().flat_map(|part| part.split('/')) {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            ".." if absolute => {}
            name => names.push(name),
        }
    }
    let root = if absolute { "/" } else { "" };
    root.to_owned() + &names.join("/")
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn paths_are_joined_from_the_last_absolute_part_and_normalized() {
        assert_eq!(join(&["/build", "src/./a", "../b.c"]), "/build/src/b.c");
        assert_eq!(join(&["/build", "/usr/include", "stdio.h"]), "/usr/include/stdio.h");
        assert_eq!(join(&["", "src", "a.c"]), "src/a.c");
        assert_eq!(join(&["/", "../..", "a.c"]), "/a.c");
        assert_eq!(join(&["", "../x", "../../a.c"]), "../../a.c");
        assert_eq!(join(&["/x", "", "<built-in>"]), "/x/<built-in>");
    }
}
