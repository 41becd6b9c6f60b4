//! `compare` and random plans: weaving adds only probes, and the result verifies.

use crate::common::HELPER;
use crate::common::plans::{Everywhere, all, usual};
use crate::common::programs::Programs;
use invigil_test_support::Rng;
use invigil_weave::{Capture, Probe, ProbePlan, Site, SiteKinds, compare, helper_class, weave};

/// Plan with random sites, captures, orders and locks.
struct Chance {
    random: Rng,
    /// One in this many sites is chosen.
    rare: usize,
}

impl ProbePlan for Chance {
    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        if self.random.below(self.rare) > 0 {
            return Vec::new();
        }
        let possible = all(site);
        (0..=self.random.below(3))
            .map(|_| {
                let captures: Vec<Capture> =
                    (0..self.random.below(7)).map(|_| possible[self.random.below(possible.len())]).collect();
                let id = self.random.next_u64() as u32 >> self.random.below(32);
                Probe { id, captures, locked: self.random.below(2) == 0 }
            })
            .collect()
    }
}

#[test]
fn woven_class_with_random_plan_differs_by_probes_only() {
    let sources = ["Corpus", "Fields", "Locals", "Methods", "Calls", "Locks"];
    let Some(programs) = Programs::compile("woven_class_with_random_plan_differs_by_probes_only", &sources)
    else {
        return;
    };
    let classes: Vec<_> = std::fs::read_dir(programs.java.folder.join("plain"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    let mut archive = Vec::new();
    for round in 0..60 {
        for (name, bytes) in &classes {
            let mut plan = Chance { random: Rng::new(round + 1), rare: 1 + round as usize % 6 };
            let bytes = match weave(bytes, HELPER, &mut plan).unwrap() {
                Some(woven) => {
                    assert_eq!(woven.skipped, []);
                    let growth =
                        compare(bytes, &woven.bytes, HELPER).unwrap_or_else(|d| panic!("{name}: {d}"));
                    assert_eq!(growth.probes, woven.probes);
                    assert_eq!((growth.bytes_before, growth.bytes_after), (bytes.len(), woven.bytes.len()));
                    woven.bytes
                }
                None => bytes.clone(),
            };
            archive.push((format!("{round}:{name}"), bytes));
        }
    }
    crate::common::write_archive(&programs.java.folder.join("archive"), &archive);
    let out = programs.java.run("java", &["-Xverify:all", "-cp", "tool", "Tool", "link", "archive"]);
    assert_eq!(out.lines().collect::<Vec<_>>(), ["linked"]);
}

/// Changes other than added probes are detected.
#[test]
fn compare_detects_changes_other_than_probes() {
    let before = helper_class("a/B");
    let weave =
        |helper| weave(&before, helper, &mut Everywhere::new(SiteKinds::ALL, usual)).unwrap().unwrap().bytes;
    let after = weave(HELPER);
    assert!(compare(&before, &after, HELPER).is_ok());
    assert_eq!(compare(&before, &before, HELPER).unwrap().probes, 0);
    assert_eq!(compare(&after, &after, HELPER).unwrap().probes, 0);
    // Calls of another class are not probes.
    let difference = compare(&before, &weave("x/Stranger"), HELPER).unwrap_err();
    assert!(difference.to_string().contains("something other than a probe was added"), "{difference}");
    // Something was removed.
    assert_eq!(compare(&after, &before, HELPER).unwrap_err().part, "the constants");
    assert!(compare(&before, &helper_class("a/C"), HELPER).is_err());
    assert!(compare(&before, b"", HELPER).is_err());
}

/// Nearly every byte of a woven class matters: one that is changed is noticed, but for identities and for what is skipped to
/// the verifier.
#[test]
fn compare_detects_single_changed_bytes() {
    let Some(programs) = Programs::compile("compare_detects_single_changed_bytes", &["Methods"]) else {
        return;
    };
    let before = std::fs::read(programs.java.folder.join("plain/Methods.class")).unwrap();
    let mut plan = Everywhere { locks: true, ..Everywhere::new(SiteKinds::ALL, all) };
    let after = weave(&before, HELPER, &mut plan).unwrap().unwrap().bytes;
    assert!(compare(&before, &after, HELPER).is_ok());
    let mut unnoticed = 0;
    for at in 0..after.len() {
        let mut changed = after.clone();
        changed[at] ^= 0x11;
        unnoticed += usize::from(compare(&before, &changed, HELPER).is_ok());
    }
    eprintln!("{unnoticed} of {} changes not noticed", after.len());
    assert!(unnoticed * 5 < after.len(), "{unnoticed} of {}", after.len());
}
