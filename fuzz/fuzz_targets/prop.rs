#![no_main]
//! The target `prop` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::prop(data));
