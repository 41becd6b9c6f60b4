#![no_main]
//! The target `ltl` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::ltl(data));
