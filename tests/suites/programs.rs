//! The programs' shapes: how tests build each source, so that all suites speak of the same programs.

use microscope_tests::Program;

/// A program by source and flags.
pub(crate) fn program(source: &str, flags: &str) -> Program {
    Program::new(source).flags(flags)
}

/// `library.c` with its shared library.
pub(crate) fn library(flags: &str) -> Program {
    program("library.c", flags).library("liblinked-work.so", "library.lib.c", "")
}

/// `plugin.c` with the two plugins that it loads in turn at one address.
pub(crate) fn plugin(flags: &str) -> Program {
    program("plugin.c", flags).library("libfirst.so", "plugin.lib.c", "-DWORK=first_plugin").library(
        "libsecond.so",
        "plugin.lib.c",
        "-DWORK=second_plugin",
    )
}
