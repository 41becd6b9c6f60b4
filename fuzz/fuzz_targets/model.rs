#![no_main]
//! The target `model` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::model(data));
