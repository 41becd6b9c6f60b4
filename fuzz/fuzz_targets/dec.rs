#![no_main]
//! The target `dec` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::dec(data));
