#![no_main]
//! See `microscope_tests::fuzz::name_addresses`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| microscope_tests::fuzz::name_addresses(bytes));
