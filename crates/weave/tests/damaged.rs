//! Class files that are cut short or changed: there may be a problem, or nonsense that a virtual machine refuses; there is
//! never a panic, and never a hang.

mod common;

use common::plans::{Everywhere, all, usual};
use common::programs::Programs;
use common::{HELPER, Random};
use invigil_weave::{Class, Problem, Wants, compare, helper_class, weave};

/// Everything that reads class files, on one that may be damaged.
fn use_it(bytes: &[u8], original: &[u8], heavy: bool) {
    let _ = Class::read(bytes);
    let mut plan =
        Everywhere { locks: heavy, ..Everywhere::new(Wants::ALL, if heavy { all } else { usual }) };
    if let Ok(Some(woven)) = weave(bytes, HELPER, &mut plan) {
        let _ = compare(bytes, &woven.bytes, HELPER);
    }
    let _ = compare(original, bytes, HELPER);
    let _ = compare(bytes, original, HELPER);
}

/// Classes to damage: the helper, and those of a program where there is a compiler.
fn classes() -> Vec<Vec<u8>> {
    let mut classes = vec![helper_class("a/B")];
    if let Some(programs) = Programs::compile("damaged", &["Corpus", "Locks"]) {
        for name in ["Corpus", "Corpus$Inner", "Locks"] {
            let path = |folder: &str| programs.java.folder.join(format!("{folder}/{name}.class"));
            classes.push(std::fs::read(path("plain")).unwrap());
            programs.weave("woven", &mut Everywhere { locks: true, ..Everywhere::new(Wants::ALL, all) });
            classes.push(std::fs::read(path("woven")).unwrap());
        }
    }
    classes
}

#[test]
fn cut_short_or_changed() {
    let mut random = Random(7);
    for class in classes() {
        let step = class.len() / 300 + 1;
        for length in (0..class.len()).step_by(step) {
            let problem =
                weave(&class[..length], HELPER, &mut Everywhere::new(Wants::ALL, usual)).unwrap_err();
            assert!(matches!(problem, Problem::Truncated { .. }), "{length}: {problem}");
            assert!(problem.offset() <= length);
            assert!(Class::read(&class[..length]).is_err());
        }
        for round in 0..300 {
            let mut changed = class.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(class.len());
                changed[at] = match random.below(4) {
                    0 => 0,
                    1 => 0xff,
                    2 => changed[at] ^ (1 << random.below(8)),
                    _ => random.next() as u8,
                };
            }
            use_it(&changed, &class, round % 2 == 0);
        }
    }
}

#[test]
fn words_of_problems() {
    let class = helper_class("a/B");
    let weave = |bytes: &[u8]| weave(bytes, HELPER, &mut Everywhere::new(Wants::ALL, usual));
    let words = |bytes: &[u8]| weave(bytes).unwrap_err().to_string();
    assert_eq!(
        words(b"PK\x03\x04"),
        "the class file is damaged at byte 0: it does not begin as class files do"
    );
    assert_eq!(
        words(&class[..20]),
        "the class file is cut short at byte 20, in the pool of constants: compile or copy it again"
    );
    let mut newer = class.clone();
    newer[7] = 99;
    assert_eq!(weave(&newer).unwrap_err(), Problem::Newer { major: 99 });
    assert_eq!(
        words(&newer),
        "the class file is of version 99 (Java 55), and versions up to 70 (Java 26) are known: compile with `--release 26` \
         or lower, or use a newer Invigil"
    );
    newer[7] = 70;
    assert!(weave(&newer).is_ok());
    let mut longer = class.clone();
    longer.push(0);
    assert!(words(&longer).ends_with("something follows the class"));
}
