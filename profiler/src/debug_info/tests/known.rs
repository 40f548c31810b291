//! Known answers: what each program says of itself in its head comment.

use microscope_capture::{CodeRole, FunctionFlags};

use std::path::Path;
use std::process::Command;

use super::fixtures::{Program, build, host, run};
use crate::debug_info::{ModuleDebug, NameSource, NamedAddress};
use crate::files::{Files, OsFiles, Place};
use crate::image::Image;

/// The levels from the one named `from` outward, at the first address in `function` that has it on a line.
fn chain_at(program: &Program, function: &str, from: &str) -> Vec<(String, u32)> {
    let debug = program.debug();
    let (_, start, size) =
        program.functions().into_iter().find(|(name, ..)| name.contains(function)).unwrap();
    let chain = |address| {
        let levels = debug.name(address, false).levels;
        let levels = levels.iter().map(|level| (level.function.name.to_string(), level.line));
        levels.skip_while(|(name, line)| name != from || *line == 0).collect::<Vec<_>>()
    };
    (start..start + size).map(chain).find(|chain| !chain.is_empty()).unwrap()
}

#[test]
fn an_inline_chain_runs_from_the_innermost_function_to_the_physical_one() {
    // Link-time optimization splits functions and their inlined ones over units.
    for flags in [&["-g", "-O2"][..], &["-g", "-O2", "-flto"]] {
        let program = build("gcc", "inline.c", flags);
        let chain = chain_at(&program, "outer", "leaf");
        let expected = [("leaf", "LEAF"), ("middle", "A"), ("outer", "B")];
        assert_eq!(chain, expected.map(|(name, mark)| (name.to_owned(), program.line(mark))));
    }
}

#[test]
fn cpp_functions_have_their_namespaces_inlined_or_not() {
    let program = build("g++", "shapes.cpp", &["-g", "-O2"]);
    let chain = chain_at(&program, "Circle4area", "geometry::(anonymous namespace)::square");
    assert_eq!(chain[1], ("geometry::Circle::area() const".to_owned(), program.line("A")));
}

#[test]
fn a_lambda_is_no_anonymous_namespace() {
    let program = build("g++", "shapes.cpp", &["-g", "-O2"]);
    let chain = chain_at(&program, "local_onlyi", "{lambda}::operator()");
    assert_eq!(chain.last().unwrap().0, "local_only(int)");
}

#[test]
fn what_cannot_be_demangled_has_its_plain_name() {
    let program = build("g++", "shapes.cpp", &["-g", "-O0"]);
    let debug = program.debug();
    let (_, start, _) =
        program.functions().into_iter().find(|(name, ..)| name.starts_with("_ZSt4swapI")).unwrap();
    assert_eq!(&*debug.name(start + 4, false).levels[0].function.name, "std::swap<int>");
}

#[test]
fn rust_functions_lose_their_hash() {
    let program = build("rustc", "generic.rs", &["-g", "-O"]);
    let chain = chain_at(&program, "7generic4work", "generic::Counter<T>::bump");
    assert_eq!(chain[1], ("generic::work".to_owned(), program.line("A")));
}

#[test]
fn a_return_address_is_looked_up_at_the_call_before_it() {
    let program = build("gcc", "inline.c", &["-g", "-O2"]);
    let debug = program.debug();
    let (_, start, size) = program.functions().into_iter().find(|(name, ..)| name == "outer").unwrap();
    assert_eq!(debug.name(start + 1, true), debug.name(start, false));
    let name = |address, is_caller| {
        debug.name(address, is_caller).levels.last().map(|l| l.function.name.to_string())
    };
    assert_eq!(name(start + size, true).as_deref(), Some("outer"));
    assert_ne!(name(start + size, false).as_deref(), Some("outer"));
}

#[test]
fn functions_know_their_declaration_their_symbol_and_their_address() {
    let program = build("g++", "shapes.cpp", &["-g", "-O2"]);
    let debug = program.debug();
    let (_, start, _) =
        program.functions().into_iter().find(|(name, ..)| name.ends_with("local_onlyi")).unwrap();
    let function = debug.name(start + 1, false).levels.last().unwrap().function.clone();
    assert_eq!((&*function.name, &*function.linkage_name), ("local_only(int)", "_ZL10local_onlyi"));
    assert_eq!(function.relative_address, start);
    assert!(function.decl_file.as_ref().unwrap().path.ends_with("programs/shapes.cpp"));
    assert_eq!(function.decl_line, 34);
}

#[test]
fn stubs_are_named_after_what_they_jump_to() {
    for flags in [&["-O2"][..], &["-O2", "-Wl,-z,lazy"], &["-O2", "-Wl,-z,now", "-fcf-protection=none"]] {
        let program = build("gcc", "inline.c", flags);
        let image = program.image();
        let debug = program.debug();
        let stubs = image.sections().iter().filter(|section| section.name.starts_with(".plt"));
        let addresses = stubs.flat_map(|section| section.svma..section.svma + section.size);
        let named: Vec<NamedAddress> = addresses.map(|address| debug.name(address, false)).collect();
        assert!(named.iter().all(|named| named.role == CodeRole::Stub && named.is_named()));
        for wanted in ["strlen@plt", "abort@plt", "fwrite@plt"] {
            assert!(named.iter().any(|n| &*n.levels[0].function.name == wanted), "{flags:?} {wanted}");
        }
    }
}

#[test]
fn stubs_of_other_linkers_are_named_too() {
    // rustc brings lld along, as `gcc-ld/ld.lld`.
    let rust = run(Command::new("rustc").args(["--print", "target-libdir"]));
    let beside = Path::new(rust.trim()).parent().unwrap().join("bin/gcc-ld");
    for (linker, found) in
        [("lld", beside.exists()), ("mold", Command::new("mold").arg("-v").output().is_ok())]
    {
        if !found {
            eprintln!("skipped: {linker} is not installed");
            continue;
        }
        let flags = [format!("-fuse-ld={linker}"), format!("-B{}", beside.display()), "-O2".to_owned()];
        let program = build("gcc", "inline.c", &flags.each_ref().map(String::as_str));
        let debug = program.debug();
        let image = program.image();
        let stubs = image.sections().iter().filter(|section| section.name.starts_with(".plt"));
        let addresses = stubs.flat_map(|section| section.svma..section.svma + section.size);
        let names: Vec<String> =
            addresses.map(|a| debug.name(a, false).levels[0].function.name.to_string()).collect();
        assert!(names.iter().any(|name| name == "strlen@plt"), "{linker}: {names:?}");
    }
}

#[test]
fn functions_without_debug_information_are_named_by_symbol_and_have_no_line() {
    let program = build("gcc", "inline.c", &["-O2"]);
    let debug = program.debug();
    let (_, start, _) = program.functions().into_iter().find(|(name, ..)| name == "outer").unwrap();
    let levels = debug.name(start + 3, false).levels;
    assert_eq!((levels.len(), &*levels[0].function.name, levels[0].line), (1, "outer", 0));
    assert!(debug.tried().iter().all(|tried| tried.refused.is_some()), "{:?}", debug.tried());
}

#[test]
fn aliases_are_one_function_but_equal_code_is_folded() {
    let program = build("gcc", "aliases.s", &[]);
    let debug = program.debug();
    let check = |symbol: &str, name: &str, flags: FunctionFlags| {
        let (_, start, _) = program.functions().into_iter().find(|(found, ..)| found == symbol).unwrap();
        let function = debug.name(start, false).levels[0].function.clone();
        assert_eq!((&*function.name, function.flags), (name, flags), "{symbol}");
    };
    check("__libc_take", "take", FunctionFlags::Plain);
    check("_ZN1AC2Ev", "A::A()", FunctionFlags::Plain);
    check("_Z3onev", "one()", FunctionFlags::Folded);
    check("left", "left", FunctionFlags::Folded);
}

#[test]
fn assembly_without_sizes_is_named_up_to_the_next_symbol() {
    let program = build("gcc", "aliases.s", &[]);
    let debug = program.debug();
    let symbols = run(Command::new("nm").arg(&program.path));
    let line = symbols.lines().find(|line| line.ends_with(" unsized_code")).unwrap();
    let start = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
    let name = |address| debug.name(address, false).levels.first().map(|l| l.function.name.to_string());
    assert_eq!(name(start + 3).as_deref(), Some("unsized_code"));
    assert_eq!(name(start + 4).as_deref(), Some("main"));
}

#[test]
fn the_vdso_names_its_functions_as_programs_call_them() {
    let file = OsFiles.open(&Place::Vdso).unwrap();
    let image = Image::parse(file.handle).unwrap();
    let debug = ModuleDebug::new(image.clone(), Path::new("[vdso]"), host());
    let text = image.sections().iter().find(|section| &*section.name == ".text").unwrap();
    let addresses = (text.svma..text.svma + text.size).step_by(16);
    let names: Vec<_> =
        addresses.flat_map(|a| debug.name(a, false).levels).map(|l| l.function.name.clone()).collect();
    assert!(names.iter().any(|name| &**name == "clock_gettime"), "{names:?}");
}

#[test]
fn an_address_without_a_name_says_what_was_tried_around_it() {
    let program = build("gcc", "inline.c", &["-O2"]);
    program.objcopy(&["--strip-all"]);
    let debug = program.debug();
    let entry = program.image().entry();
    assert!(!debug.name(entry, false).is_named());
    let failure = debug.failure(entry);
    assert!(failure.range.contains(&entry), "{failure:?}");
    assert_eq!(failure.tried[0].refused.as_deref(), Some("it has no .debug_info"));
    assert!(failure.tried.iter().any(|tried| tried.path.contains("/usr/lib/debug/.build-id/")));
}

#[test]
fn a_function_without_an_entry_has_its_symbols_name_and_the_line_tables_line_and_md5() {
    let program = build("gcc", "lines.s", &["-Wa,-gdwarf-5"]);
    let (_, start, _) = program.functions().into_iter().find(|(name, ..)| name == "main").unwrap();
    let levels = program.debug().name(start, false).levels;
    let file = levels[0].file.as_ref().unwrap();
    assert_eq!(
        (levels.len(), &*levels[0].function.name, &*file.path, levels[0].line),
        (1, "main", "/src/main.c", 7)
    );
    let md5 = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128;
    assert_eq!(file.md5, Some(md5.to_le_bytes()), "the assembler writes the number's lowest byte first");
}
