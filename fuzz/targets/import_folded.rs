#![no_main]
//! See `microscope_tests::fuzz::import_folded`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| microscope_tests::fuzz::import_folded(bytes));
