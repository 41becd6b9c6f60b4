#![no_main]
//! The target `lower` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::lower(data));
