//! Whole libraries, woven and verified by a virtual machine: every class of `java.base`, and large jars of the distribution.

mod common;

use std::fmt::Write as _;
use std::time::Instant;

use common::plans::{Everywhere, all, usual};
use common::{HELPER, Java};
use invigil_weave::{Wants, weave};

/// Weaves every class, and gives those that changed.
fn weave_all(classes: &[(String, Vec<u8>)], full: bool) -> Vec<(String, Vec<u8>)> {
    let mut plan = if full {
        Everywhere { locks: true, ..Everywhere::new(Wants::ALL, all) }
    } else {
        Everywhere::new(Wants { locals: false, calls: false, ..Wants::ALL }, usual)
    };
    let (mut probes, mut before, mut after) = (0, 0, 0);
    let mut woven = Vec::new();
    let start = Instant::now();
    for (name, bytes) in classes {
        match weave(bytes, HELPER, &mut plan) {
            Ok(Some(class)) => {
                assert!(full || class.left.is_empty(), "{name}: {:?}", class.left);
                for left in &class.left {
                    eprintln!("{name}: {left}");
                }
                probes += class.probes;
                before += bytes.len();
                after += class.bytes.len();
                woven.push((name.clone(), class.bytes));
            }
            Ok(None) => {}
            Err(problem) => panic!("{name}: {problem}"),
        }
    }
    eprintln!(
        "{} of {} classes woven, {probes} probes, {before} bytes grew to {after}, {} µs per class",
        woven.len(),
        classes.len(),
        start.elapsed().as_micros() / classes.len().max(1) as u128,
    );
    woven
}

fn java_base(test: &str, full: bool) {
    let Some(java) = Java::find(test) else { return };
    java.tool();
    java.run("java", &["-cp", "tool", "Tool", "dump-jrt", "java.base", "classes"]);
    let classes = common::read_archive(&java.folder.join("classes"));
    assert!(classes.len() > 5000, "{}", classes.len());
    let woven = weave_all(&classes, full);
    java.helper(&common::counting_helper());
    let mut list = String::new();
    for (name, bytes) in &woven {
        java.write(&format!("patch/{name}.class"), bytes);
        let _ = writeln!(list, "{name}");
    }
    java.write("list", list.as_bytes());
    let out = java.run(
        "java",
        &[
            "-Xverify:all",
            "-Xshare:off",
            "--patch-module",
            "java.base=patch",
            "-cp",
            "tool",
            "Tool",
            "link-boot",
            "list",
        ],
    );
    let fails: Vec<_> = out.lines().filter(|line| line.starts_with("fails")).collect();
    assert!(fails.is_empty(), "{} fail\n{}", fails.len(), fails[..fails.len().min(20)].join("\n"));
    assert!(out.contains("linked"), "{out}");
    let count: u64 = out.lines().find_map(|line| line.strip_prefix("count ")).unwrap().parse().unwrap();
    assert!(count > 100_000, "the probes were heard only {count} times");
}

/// Entries, exits and writes of fields, with nothing but their own values: the machine starts, every class verifies.
#[test]
fn every_class_of_java_base() {
    java_base("java_base", false);
}

/// The same with every kind of probe, all captures, and locks.
#[test]
fn every_class_of_java_base_with_everything() {
    java_base("java_base_full", true);
}
