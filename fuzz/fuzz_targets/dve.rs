#![no_main]
//! The target `dve` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::dve(data));
