#![no_main]
//! The target `hoa` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::hoa(data));
