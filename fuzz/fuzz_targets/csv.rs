#![no_main]
//! The target `csv` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::csv(data));
