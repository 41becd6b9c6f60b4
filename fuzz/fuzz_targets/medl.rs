#![no_main]
//! The target `medl` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::medl(data));
