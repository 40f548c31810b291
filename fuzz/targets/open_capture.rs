#![no_main]
//! See `microscope_tests::fuzz::open_capture`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| microscope_tests::fuzz::open_capture(bytes));
