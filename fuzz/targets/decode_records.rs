#![no_main]
//! See `microscope_tests::fuzz::decode_records`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| microscope_tests::fuzz::decode_records(bytes));
