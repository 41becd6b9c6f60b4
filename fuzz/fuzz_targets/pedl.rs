#![no_main]
//! The target `pedl` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::pedl(data));
