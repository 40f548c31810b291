#![no_main]
//! See `microscope_tests::fuzz::unwind`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| microscope_tests::fuzz::unwind(bytes));
