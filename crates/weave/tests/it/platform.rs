//! Whole libraries, woven and verified by a virtual machine: every class of `java.base`, and large jars of the distribution.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use crate::common::plans::{Everywhere, all, usual};
use crate::common::programs::Programs;
use crate::common::{HELPER, Java};
use invigil_weave::{SiteKinds, compare, helper_class, weave};

/// Weaves every class and returns those that changed.
fn weave_all(classes: &[(String, Vec<u8>)], full: bool) -> Vec<(String, Vec<u8>)> {
    let mut plan = if full {
        Everywhere { locks: true, ..Everywhere::new(SiteKinds::ALL, all) }
    } else {
        Everywhere::new(SiteKinds { locals: false, calls: false, ..SiteKinds::ALL }, usual)
    };
    let (mut probes, mut before, mut after) = (0, 0, 0);
    let mut woven = Vec::new();
    let start = Instant::now();
    for (name, bytes) in classes {
        match weave(bytes, HELPER, &mut plan) {
            Ok(Some(class)) => {
                assert!(full || class.skipped.is_empty(), "{name}: {:?}", class.skipped);
                for skipped in &class.skipped {
                    eprintln!("{name}: {skipped}");
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
    let time = start.elapsed();
    let start = Instant::now();
    let mut changed = woven.iter();
    let mut next = changed.next();
    for (name, bytes) in classes {
        if let Some((_, after)) = next.filter(|(changed, _)| changed == name) {
            let growth =
                compare(bytes, after, HELPER).unwrap_or_else(|difference| panic!("{name}: {difference}"));
            assert!(growth.probes > 0, "{name}");
            next = changed.next();
        }
    }
    eprintln!("compared in {} µs per class", start.elapsed().as_micros() / classes.len().max(1) as u128);
    eprintln!(
        "{} of {} classes woven, {probes} probes, {before} bytes grew to {after}, {} µs per class",
        woven.len(),
        classes.len(),
        time.as_micros() / classes.len().max(1) as u128,
    );
    woven
}

fn java_base(test: &str, full: bool) {
    let Some(java) = Java::find(test) else { return };
    java.tool();
    java.run("java", &["-cp", "tool", "Tool", "dump-jrt", "java.base", "classes"]);
    let classes = crate::common::read_archive(&java.folder.join("classes"));
    assert!(classes.len() > 5000, "{}", classes.len());
    let woven = weave_all(&classes, full);
    java.helper(&crate::common::counting_helper());
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
    // A hundred megabytes that are not needed for diagnosis.
    std::fs::remove_dir_all(&java.folder).unwrap();
}

/// Entries, exits and writes of fields, with only their own values: the virtual machine starts, and every class verifies.
#[test]
fn java_base_verifies_with_common_probes() {
    java_base("java_base", false);
}

/// The same with every kind of probe, all captures, and locks.
#[test]
fn java_base_verifies_with_all_probes() {
    java_base("java_base_full", true);
}

/// The names of the classes in an archive that do not link.
fn unlinked(java: &Java, archive: &[(String, Vec<u8>)]) -> Vec<String> {
    crate::common::write_archive(&java.folder.join("archive"), archive);
    let out = java.run("java", &["-Xverify:all", "-cp", "tool", "Tool", "link", "archive"]);
    assert!(out.contains("linked"), "{out}");
    out.lines().filter_map(|line| line.strip_prefix("fails ")).map(str::to_owned).collect()
}

/// Large jars of the distribution, each with every kind of probe.
#[test]
fn distribution_jars_verify_with_all_probes() {
    let Some(java) = Java::find("jars") else { return };
    java.tool();
    let jars = ["guava", "commons-lang3", "eclipse-jdt-core", "commons-io", "asm"];
    let (there, missing): (Vec<&str>, Vec<&str>) =
        jars.into_iter().partition(|jar| Path::new(&format!("/usr/share/java/{jar}.jar")).exists());
    for jar in missing {
        eprintln!("skipped: there is no /usr/share/java/{jar}.jar");
    }
    for jar in there {
        eprintln!("{jar}");
        java.run(
            "java",
            &["-cp", "tool", "Tool", "dump-jar", &format!("/usr/share/java/{jar}.jar"), "classes"],
        );
        let classes = crate::common::read_archive(&java.folder.join("classes"));
        let woven: HashMap<_, _> = weave_all(&classes, true).into_iter().collect();
        // Classes that are not woven are unchanged; what does not link unwoven, because other jars are missing, need not link woven.
        let mut both = Vec::new();
        for (name, bytes) in &classes {
            both.push((format!("plain:{name}"), bytes.clone()));
            both.push((format!("woven:{name}"), woven.get(name).unwrap_or(bytes).clone()));
        }
        let fails = unlinked(&java, &both);
        let fails_so = |which: &str| {
            let names = fails.iter().filter_map(|line| line.strip_prefix(which)?.split(' ').next());
            names.map(str::to_owned).collect::<HashSet<_>>()
        };
        let (plain, changed) = (fails_so("plain:"), fails_so("woven:"));
        let new: Vec<_> = fails.iter().filter(|line| line.starts_with("woven:")).collect();
        assert!(changed.is_subset(&plain), "{new:#?}");
        eprintln!("{} of {} classes link without other jars", classes.len() - plain.len(), classes.len());
    }
}

/// Guards the verification above: a wrong frame must be reported.
#[test]
fn verification_detects_wrong_frame() {
    let Some(programs) = Programs::compile("wrong_frame", &["Methods"]) else { return };
    programs.weave("woven", &mut Everywhere::new(SiteKinds::ALL, usual));
    let class = std::fs::read(programs.java.folder.join("woven/Methods.class")).unwrap();
    let link = |class: &[u8]| unlinked(&programs.java, &[("group:Methods".to_owned(), class.to_vec())]);
    assert_eq!(link(&class), Vec::<String>::new());
    // No locals, one value on the stack, of a class: the frame of the handlers that report exceptions.
    let frame = [0, 0, 0, 1, 7];
    let at = class.windows(frame.len()).rposition(|window| window == frame).unwrap();
    let mut wrong = class.clone();
    // `java.lang.Object`, which is the first class that the compiler names, is no exception.
    wrong[at + 5..at + 7].copy_from_slice(&[0, 2]);
    let report = link(&wrong);
    assert!(report[0].starts_with("group:Methods java.lang.VerifyError"), "{report:?}");
}

/// A virtual machine loads the helper as a platform class, whose native methods are not linked.
#[test]
fn helper_class_loads_as_platform_class() {
    let Some(java) = Java::find("helper_itself") else { return };
    java.tool();
    java.write("patch/java/lang/Invigil.class", &helper_class(HELPER));
    let patch = ["-Xverify:all", "--patch-module", "java.base=patch"];
    let out = java.run("java", &[&patch[..], &["-cp", "tool", "Tool", "helper"]].concat());
    let expected = ["62 63 true java.base", "java.lang.UnsatisfiedLinkError"];
    assert_eq!(out.lines().collect::<Vec<_>>(), expected);
}
