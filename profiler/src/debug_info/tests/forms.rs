//! Each form of debug information a compiler or linker may produce, compared with binutils.

use super::fixtures::build;
use super::oracle::compare;

fn check(compiler: &str, source: &str, flags: &[&str]) {
    let program = build(compiler, source, flags);
    compare(&program, &program.path.clone());
}

#[test]
fn c_in_dwarf_5_and_4_and_3_and_2() {
    for version in ["-gdwarf-5", "-gdwarf-4", "-gdwarf-3", "-gdwarf-2"] {
        check("gcc", "inline.c", &[version, "-O2"]);
    }
}

#[test]
fn c_at_every_level_of_optimization() {
    for level in ["-O0", "-O1", "-O3", "-Os"] {
        check("gcc", "inline.c", &["-g", level]);
    }
}

#[test]
fn position_dependent_and_sectioned_programs() {
    check("gcc", "inline.c", &["-g", "-O2", "-no-pie", "-fno-pie"]);
    check("gcc", "inline.c", &["-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections"]);
}

#[test]
fn cpp_in_dwarf_5_and_4() {
    for version in ["-gdwarf-5", "-gdwarf-4"] {
        check("g++", "shapes.cpp", &[version, "-O2"]);
        check("g++", "shapes.cpp", &[version, "-O0"]);
    }
}

#[test]
fn rust_in_dwarf_5_and_4_with_both_manglings() {
    for flags in [["-Cdebuginfo=2", "-Cdebuginfo=2"], ["-Cdebuginfo=1", "-Csymbol-mangling-version=v0"]] {
        check("rustc", "generic.rs", &[&["-O"], &flags[..]].concat());
    }
    check("rustc", "generic.rs", &["-g", "-Cdwarf-version=5"]);
}

#[test]
fn compressed_sections_give_the_same_answers() {
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        let program = build("gcc", "inline.c", &["-g", "-O2"]);
        let plain = program.beside("plain");
        std::fs::copy(&program.path, &plain).unwrap();
        program.objcopy(&[&format!("--compress-debug-sections={kind}")]);
        let sections =
            program.image().sections().iter().filter(|s| s.compressed || s.name.starts_with(".z")).count();
        assert!(sections > 0, "{kind}: objcopy compressed nothing");
        compare(&program, &plain);
    }
    check("gcc", "inline.c", &["-g", "-gz", "-O2"]);
}
