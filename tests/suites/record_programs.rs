//! Every program as compilers and options make it, recorded and compared with its known answer: shares, paths and
//! lines, and at least 99.5 % of the stacks whole.

use microscope_tests::check::check;

use crate::programs::{library, plugin, program};

/// One test for each way to build a program.
macro_rules! recorded {
    ($($name:ident: $program:expr;)*) => {
        $(#[test] fn $name() { check(&$program).unwrap(); })*
    };
}

mod c {
    use super::*;

    recorded! {
        shares_unoptimized: program("shares.c", "-O0");
        shares_optimized: program("shares.c", "-O2");
        shares_with_frame_pointers: program("shares.c", "-O2 -fno-omit-frame-pointer");
        shares_at_a_fixed_address: program("shares.c", "-O2 -no-pie");
        shares_unoptimized_without_frame_pointers_at_a_fixed_address:
            program("shares.c", "-O0 -fomit-frame-pointer -no-pie");
        lines_of_dwarf_4: program("lines.c", "-O2 -gdwarf-4");
        lines_of_dwarf_5: program("lines.c", "-O2 -gdwarf-5");
        lines_unoptimized: program("lines.c", "-O0");
        recursion_unoptimized: program("recursion.c", "-O0");
        recursion_optimized: program("recursion.c", "-O2");
        shared_library_unoptimized: library("-O0");
        shared_library_optimized: library("-O2");
        plugins_at_one_address: plugin("-O2");
        vdso: program("vdso.c", "-O2");
        signals_unoptimized: program("signals.c", "-O0");
        signals_optimized: program("signals.c", "-O2");
        leaves_unoptimized: program("leaf.c", "-O0");
        leaves_optimized: program("leaf.c", "-O2");
        leaves_at_a_fixed_address: program("leaf.c", "-O2 -no-pie");
        threads: program("threads.c", "-O2");
    }
}

mod cpp {
    use super::*;

    recorded! {
        inlined_code_of_dwarf_4: program("inlined.cpp", "-O2 -gdwarf-4");
        inlined_code_of_dwarf_5: program("inlined.cpp", "-O2 -gdwarf-5");
        mangled_names: program("names.cpp", "-O2");
        two_threads_deep_in_templates: program("stacks.cpp", "-O2");
    }
}

mod rust {
    use super::*;

    recorded! {
        shares_optimized: program("shares.rs", "-O");
        shares_unoptimized: program("shares.rs", "-C opt-level=0");
        iterators_with_legacy_names: program("iterators.rs", "-O");
        iterators_with_v0_names: program("iterators.rs", "-O -C symbol-mangling-version=v0");
        iterators_at_a_fixed_address: program("iterators.rs", "-O -C relocation-model=static");
        named_threads: program("rust_threads.rs", "-O");
    }
}
