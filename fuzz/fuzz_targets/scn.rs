#![no_main]
//! The target `scn` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::scn(data));
