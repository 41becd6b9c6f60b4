#![no_main]
//! The target `elf` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::elf(data));
