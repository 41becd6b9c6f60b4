#![no_main]
//! The target `expression` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::expression(data));
