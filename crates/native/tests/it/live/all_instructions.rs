//! A breakpoint at every instruction must not change what the program does.

use crate::live::common::{Built, c, instrument_events, with_output};
use iced_x86::{Decoder, DecoderOptions};
use invigil_monitor::event::EventKind::Before;
use invigil_native::NativeTarget;
use invigil_target::prelude::*;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode, StopReason, Termination};
use std::process::Command;

/// Floating point, strings, sorting through a function pointer, a switch, recursion, text.
const WORK: &str = r#"
    #include <math.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
    __attribute__((noinline)) int pick(int i) {
        switch (i % 7) { case 0: return 5; case 1: return i * 3; case 2: return -i; case 3: return i << 2; case 4: return i ^ 77; case 5: return i / 3; default: return 1; }
    }
    __attribute__((noinline)) unsigned checksum(const char *s, unsigned n) {
        unsigned h = 2166136261u;
        for (unsigned i = 0; i < n; i++) { h ^= (unsigned char)s[i]; h *= 16777619u; h = h << 3 | h >> 29; }
        return h;
    }
    __attribute__((noinline)) double series(int n) { double x = 0; for (int i = 1; i <= n; i++) x += 1.0 / (i * (double)i) - (i % 3 ? 0.5f / i : 0); return x; }
    __attribute__((noinline)) long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    struct item { char name[24]; long weight; double share; };
    __attribute__((noinline)) struct item make(int i) { struct item it; memset(&it, 0, sizeof it); snprintf(it.name, sizeof it.name, "item-%03d", i); it.weight = pick(i); it.share = series(i + 1); return it; }
    __attribute__((noinline)) void work(void) {
        int all[24];
        for (int i = 0; i < 24; i++) all[i] = pick(i * 31 + 7);
        qsort(all, 24, sizeof *all, order);
        char text[400]; int at = 0;
        for (int i = 0; i < 24; i++) at += snprintf(text + at, sizeof text - at, "%d,", all[i]);
        struct item it = make(9);
        printf("%s %08x %.12f %ld %s %ld %.9f\n", text, checksum(text, at), series(12), fib(9), it.name, it.weight, it.share);
    }
    int main(void) { work(); return 0; }
"#;

const OURS: [&str; 8] = ["order", "pick", "checksum", "series", "fib", "make", "work", "main"];

/// Addresses of all instructions of a function.
fn instructions(target: &mut NativeTarget, built: &Built, name: &str) -> Vec<u64> {
    // The symbol table gives the size, the program the address.
    let symbols = Command::new("nm").args(["-S", "--defined-only"]).arg(&built.path).output().unwrap();
    let symbols = String::from_utf8(symbols.stdout).unwrap();
    let found = symbols.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words.len() == 4 && words[3] == name)
            .then(|| [words[0], words[1]].map(|digits| u64::from_str_radix(digits, 16).unwrap()))
    });
    let Some([linked, size]) = found else { return Vec::new() };
    // The linked address, if the program is not relocated or has no debug information for the function.
    let start = target.evaluate(&format!("(unsigned long) &{name}")).ok().and_then(|text| text.parse().ok());
    let start: u64 = start.unwrap_or(linked);
    let bytes = target.examine_memory(&format!("(char *) {start}"), size as usize, 'x', 1).unwrap();
    let code: Vec<u8> = bytes
        .iter()
        .flat_map(|line| line.split_once(":  ").unwrap().1.split("  "))
        .map(|byte| u8::from_str_radix(byte.trim_start_matches("0x"), 16).unwrap())
        .collect();
    Decoder::with_ip(64, &code, start, DecoderOptions::NONE).into_iter().map(|one| one.ip()).collect()
}

#[test]
fn breakpoints_at_every_instruction_change_nothing() {
    let variants: [&[&str]; 6] = [
        &["-O0"],
        &["-O2"],
        &["-Os", "-fno-plt"],
        &["-O3", "-march=x86-64-v3", "-fomit-frame-pointer"],
        &["-O1", "-no-pie"],
        &["-O2", "-fcf-protection=full", "-fno-plt", "-fstack-protector-all"],
    ];
    for flags in variants {
        let program = c(WORK, &[flags, &["-g", "-lm"]].concat());
        let expected = Command::new(&program.path).output().unwrap().stdout;
        let (launch, output) = with_output(&program);
        let mut target = NativeTarget::launch(&launch).unwrap();
        let all: Vec<u64> = OURS.iter().flat_map(|name| instructions(&mut target, &program, name)).collect();
        assert!(all.len() > 150, "{flags:?}: {} instructions", all.len());
        let names: Vec<String> = all.iter().map(|address| format!("*{address:#x}")).collect();
        let events: Vec<(&str, _, &[&str])> =
            names.iter().map(|name| (name.as_str(), Before, &[][..])).collect();
        instrument_events(&mut target, &events);
        let mut hits = 0;
        loop {
            match target.resume(&ResumeMode::Continue).unwrap() {
                StopReason::Events => hits += target.events().len(),
                stop => {
                    assert_eq!(
                        stop,
                        StopReason::Ended(Termination::Exited(0)),
                        "{flags:?} after {hits} events"
                    );
                    break;
                }
            }
        }
        assert_eq!(std::fs::read(&output).unwrap(), expected, "{flags:?}");
        assert!(hits > 2000, "{flags:?} {hits}");
    }
}

#[test]
fn breakpoints_in_c_library_change_nothing() {
    let program = c(WORK, &["-O1", "-g", "-static", "-lm"]);
    let expected = Command::new(&program.path).output().unwrap().stdout;
    let (launch, output) = with_output(&program);
    let mut target = NativeTarget::launch(&launch).unwrap();
    let mut all = Vec::new();
    for name in [
        "snprintf",
        "__vfprintf_internal",
        "qsort",
        "msort_with_tmp.part.0",
        "_IO_file_xsputn",
        "malloc",
        "_itoa_word",
    ] {
        all.extend(instructions(&mut target, &program, name));
    }
    assert!(all.len() > 300, "{} instructions", all.len());
    // Breakpoints whose conditions never hold: they are passed without a stop.
    for address in &all {
        let spec = BreakpointSpec {
            ignore: u64::MAX,
            ..BreakpointSpec::new(BreakpointKind::Location(format!("*{address:#x}")))
        };
        target.set_breakpoint(Owner::User, &spec).unwrap();
    }
    assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(std::fs::read(&output).unwrap(), expected);
    let hits: u64 = target.breakpoints().iter().map(|point| point.hits).sum();
    assert!(hits > 1000, "{hits}");
}
