#![no_main]
//! The target `snapshots` under libFuzzer.

libfuzzer_sys::fuzz_target!(|data: &[u8]| invigil_fuzz::snapshots(data));
