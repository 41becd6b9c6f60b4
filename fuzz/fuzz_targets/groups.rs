#![no_main]
//! The target `groups` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::groups(data));
