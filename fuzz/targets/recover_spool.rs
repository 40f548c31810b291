#![no_main]
//! See `microscope_tests::fuzz::recover_spool`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| microscope_tests::fuzz::recover_spool(bytes));
