//! Comparison with binutils `addr2line` on every address of every function.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::fixtures::{Program, functions_of, open};
use crate::debug_info::{Level, ModuleDebug, NameSource, demangle};

/// One level as both sides are written down: linkage name, file, line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    name: String,
    /// Whether the name is a linkage name.
    linked: bool,
    file: String,
    line: u32,
}

/// Asserts that the program's chains equal those of `addr2line`, read from `with_debug`, at every address of its own
/// functions.
pub(super) fn compare(program: &Program, with_debug: &Path) {
    let debug = program.debug();
    let source = program.source.to_str().unwrap();
    let lines = std::fs::read_to_string(source).unwrap().lines().count() as u32;
    // Binutils 2.40 gives some lines of headers the file of the unit; a line it does not have shows them.
    let is_possible = |row: &Row| row.file != source || row.line <= lines;
    let is_own = |rows: &[Row]| rows.iter().any(|row| row.file == source) && rows.iter().all(is_possible);
    let mut compared = 0;
    let mut differences = String::new();
    let addresses = addresses(with_debug);
    let theirs = addr2line(with_debug, &addresses);
    for (address, theirs) in addresses.iter().zip(theirs).filter(|(_, theirs)| is_own(theirs)) {
        compared += 1;
        let ours: Vec<Row> = debug.name(*address, false).levels.iter().map(row).collect();
        if !same(&ours, &theirs) {
            writeln!(differences, "{address:#x}\n  ours   {ours:?}\n  theirs {theirs:?}").unwrap();
        }
    }
    assert!(compared > 40, "only {compared} addresses compared");
    let count = differences.lines().count() / 3;
    assert!(differences.is_empty(), "{count} of {compared} differ:\n{differences:.8000}");
}

/// Every address of the functions in the symbol table, but for Rust's standard library: it is large, binutils slow.
fn addresses(path: &Path) -> Vec<u64> {
    let is_rust = |name: &str| name.starts_with("_R") || name.contains("17h");
    let functions = functions_of(path);
    let own = functions.iter().filter(|(name, ..)| !is_rust(name) || name.contains("7generic"));
    let mut addresses: Vec<u64> = own.flat_map(|(_, start, size)| *start..start + size).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

fn row(level: &Level) -> Row {
    let function = &level.function;
    let linked = !function.linkage_name.is_empty();
    let name = if linked { &function.linkage_name } else { &function.name };
    let file = level.file.as_ref().map_or_else(|| "??".to_owned(), |file| file.path.to_string());
    Row { name: name.to_string(), linked, file, line: level.line }
}

/// `addr2line` knows no namespaces of functions without a linkage name and no symbols of functions with DWARF; and for
/// an inlined C++ function without a linkage name it prints the name of the symbol the address is in.
fn same(ours: &[Row], theirs: &[Row]) -> bool {
    let symbol = ours.last().map(|row| row.name.as_str());
    let same_name = |ours: &Row, theirs: &str| {
        ours.name == theirs
            || ours.name.rsplit("::").next() == Some(theirs)
            || (ours.linked && demangle(&ours.name).contains(base(theirs)))
            || (!ours.linked && symbol == Some(theirs))
    };
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(ours, theirs)| {
            same_name(ours, &theirs.name)
                && ours.line == theirs.line
                && (ours.file == theirs.file || theirs.file == "??" || ours.line == 0)
        })
}

/// A plain name without its type parameters; nothing of a closure's, which each side numbers in its own way.
fn base(name: &str) -> &str {
    name.split(['<', '{']).next().unwrap_or_default()
}

/// The chains that `addr2line` prints.
fn addr2line(path: &Path, addresses: &[u64]) -> Vec<Vec<Row>> {
    let input: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let list = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(list.path(), input).unwrap();
    let mut command = Command::new("addr2line");
    command
        .args(["-a", "-f", "-i", "-e"])
        .arg(path)
        .stdin(Stdio::from(std::fs::File::open(list.path()).unwrap()));
    let output = super::fixtures::run(&mut command);
    let mut chains: Vec<Vec<Row>> = Vec::new();
    let mut lines = output.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            chains.push(Vec::new());
        } else {
            let place = lines.next().unwrap_or_default();
            chains.last_mut().unwrap().push(parse_row(line, place));
        }
    }
    assert_eq!(chains.len(), addresses.len());
    chains
}

fn parse_row(name: &str, place: &str) -> Row {
    let place = place.split(" (discriminator").next().unwrap_or_default();
    let (file, line) = place.rsplit_once(':').unwrap_or((place, "?"));
    Row { name: name.to_owned(), linked: true, file: normalized(file), line: line.parse().unwrap_or(0) }
}

fn normalized(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "." => {}
            ".." if names.len() > 1 => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

#[test]
fn this_very_test_is_named_as_binutils_names_it() {
    let path = std::env::current_exe().unwrap();
    let debug = ModuleDebug::new(open(&path), &path, super::fixtures::host());
    let functions = functions_of(&path);
    // Every 97th function: binutils takes long for each.
    let addresses: Vec<u64> = functions.iter().step_by(97).map(|(_, start, size)| start + size / 2).collect();
    let mut same_lines = 0;
    let chains = addr2line(&path, &addresses);
    for (address, theirs) in addresses.iter().zip(&chains) {
        let ours: Vec<Row> = debug.name(*address, false).levels.iter().map(row).collect();
        same_lines += usize::from(same(&ours, theirs));
    }
    assert!(same_lines * 100 >= chains.len() * 99, "{same_lines} of {} are the same", chains.len());
}
