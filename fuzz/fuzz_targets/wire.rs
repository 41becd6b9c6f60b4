#![no_main]
//! The target `wire` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::wire(data));
