#![no_main]
//! The target `themis` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::themis(data));
