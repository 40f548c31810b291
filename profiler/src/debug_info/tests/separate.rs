//! Debug files apart from their module: found, proved, and refused by name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use super::fixtures::{Program, build, run};
use super::oracle::compare;
use crate::debug_info::{ModuleDebug, NameSource, OpenHost};
use crate::files::FileHandle;

/// Splits the program's debug information off into `program.debug`, linked or not; keeps a whole copy.
fn split(program: &Program, linked: bool) -> PathBuf {
    let whole = program.beside("whole");
    fs::copy(&program.path, &whole).unwrap();
    program.objcopy(&["--only-keep-debug"]);
    let debug = program.beside("program.debug");
    fs::rename(&program.path, &debug).unwrap();
    fs::copy(&whole, &program.path).unwrap();
    program.objcopy(&["--strip-all"]);
    if linked {
        program.objcopy(&["--add-gnu-debuglink=program.debug"]);
    }
    whole
}

/// Opens files of a machine whose `/usr/lib/debug` is `root`.
fn host_with_debug_root(root: PathBuf) -> OpenHost {
    Arc::new(move |path: &Path| {
        let path = match path.strip_prefix("/usr/lib/debug") {
            Ok(rest) => root.join(rest),
            Err(_) => path.to_owned(),
        };
        Ok(Arc::new(fs::read(path)?) as FileHandle)
    })
}

fn build_id(path: &Path) -> String {
    super::fixtures::open(path).identity().text
}

/// The name and line of an address in the middle of `outer`, with debug files under `root`.
fn outer(program: &Program, whole: &Path, root: &Path) -> (Option<(String, bool)>, ModuleDebug) {
    let debug = ModuleDebug::new(program.image(), &program.path, host_with_debug_root(root.to_owned()));
    let functions = super::fixtures::functions_of(whole);
    let (_, start, size) = functions.into_iter().find(|(name, ..)| name == "outer").unwrap();
    let named = debug.name(start + size / 2, false);
    (named.levels.last().map(|level| (level.function.name.to_string(), level.line > 0)), debug)
}

fn named() -> Option<(String, bool)> {
    Some(("outer".to_owned(), true))
}

fn refusals(debug: &ModuleDebug) -> String {
    debug.tried().iter().filter_map(|tried| tried.refused.clone()).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_linked_debug_file_beside_the_module_is_found() {
    let program = build("gcc", "inline.c", &["-g", "-O2"]);
    let whole = split(&program, true);
    compare(&program, &whole);
    fs::create_dir(program.beside(".debug")).unwrap();
    fs::rename(program.beside("program.debug"), program.beside(".debug/program.debug")).unwrap();
    compare(&program, &whole);
}

#[test]
fn a_debug_file_in_the_build_id_directory_is_found() {
    let program = build("gcc", "inline.c", &["-g", "-O2"]);
    let whole = split(&program, false);
    let id = build_id(&whole);
    let directory = program.beside("root/.build-id").join(&id[..2]);
    fs::create_dir_all(&directory).unwrap();
    fs::rename(program.beside("program.debug"), directory.join(format!("{}.debug", &id[2..]))).unwrap();
    let (found, debug) = outer(&program, &whole, &program.beside("root"));
    assert_eq!(found, named());
    assert_eq!(debug.tried().last().unwrap().refused, None);
}

#[test]
fn a_debug_file_of_another_build_is_refused_by_its_build_id() {
    let program = build("gcc", "inline.c", &["-g", "-O2"]);
    let whole = split(&program, true);
    let other = build("gcc", "inline.c", &["-g", "-O1"]);
    fs::copy(&other.path, program.beside("program.debug")).unwrap();
    let (found, debug) = outer(&program, &whole, &program.beside("root"));
    assert_eq!(found, None);
    let expected = format!("its build ID is {}, not {}", build_id(&other.path), build_id(&whole));
    assert!(refusals(&debug).contains(&expected), "{}", refusals(&debug));
}

#[test]
fn without_a_build_id_the_checksum_decides() {
    let program = build("gcc", "inline.c", &["-g", "-O2", "-Wl,--build-id=none"]);
    let whole = split(&program, true);
    assert_eq!(outer(&program, &whole, &program.beside("root")).0, named());
    let mut bytes = fs::read(program.beside("program.debug")).unwrap();
    bytes.push(0);
    fs::write(program.beside("program.debug"), bytes).unwrap();
    let (found, debug) = outer(&program, &whole, &program.beside("root"));
    assert_eq!(found, None);
    assert!(refusals(&debug).contains("its checksum is"), "{}", refusals(&debug));
}

#[test]
fn a_file_that_is_no_image_is_refused_with_the_reason() {
    let program = build("gcc", "inline.c", &["-g", "-O2"]);
    let whole = split(&program, true);
    fs::write(
        program.beside("program.debug"),
        "not a debug file at all, but long enough to have a header ......",
    )
    .unwrap();
    let (found, debug) = outer(&program, &whole, &program.beside("root"));
    assert_eq!(found, None);
    assert!(refusals(&debug).contains("not an ELF file"), "{}", refusals(&debug));
}

#[test]
fn a_supplementary_file_of_dwz_is_found_and_proved() {
    if Command::new("dwz").arg("--version").output().is_err() {
        eprintln!("skipped: dwz is not installed");
        return;
    }
    let program = build("gcc", "inline.c", &["-g", "-O2"]);
    let whole = program.beside("whole");
    fs::copy(&program.path, &whole).unwrap();
    let copy = program.beside("copy");
    fs::copy(&program.path, &copy).unwrap();
    let mut dwz = Command::new("dwz");
    dwz.args(["-m", "common.debug"]).arg(&program.path).arg(&copy).current_dir(program.directory.path());
    run(&mut dwz);
    assert!(program.image().alt_link().unwrap().is_some(), "dwz split nothing off");
    compare(&program, &whole);
    fs::remove_file(program.beside("common.debug")).unwrap();
    let debug = program.debug();
    debug.name(program.image().entry(), false);
    assert!(
        debug.tried().iter().any(|tried| tried.path.ends_with("common.debug") && tried.refused.is_some())
    );
}
