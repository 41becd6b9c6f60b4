//! Class files that are cut short or changed: weaving may return an error or an invalid class file, but it never panics
//! or hangs.

use crate::common::HELPER;
use crate::common::plans::{Everywhere, all, usual};
use crate::common::programs::Programs;
use invigil_test_support::Rng;
use invigil_weave::{Class, ClassFileError, SiteKinds, compare, helper_class, weave};

/// Applies every reader of class files to a possibly malformed one.
fn read_and_weave(bytes: &[u8], original: &[u8], heavy: bool) {
    let _ = Class::read(bytes);
    let mut plan =
        Everywhere { locks: heavy, ..Everywhere::new(SiteKinds::ALL, if heavy { all } else { usual }) };
    if let Ok(Some(woven)) = weave(bytes, HELPER, &mut plan) {
        let _ = compare(bytes, &woven.bytes, HELPER);
    }
    let _ = compare(original, bytes, HELPER);
    let _ = compare(bytes, original, HELPER);
}

/// Classes to corrupt: the helper, and those of a program if a compiler is installed.
fn classes() -> Vec<Vec<u8>> {
    let mut classes = vec![helper_class("a/B")];
    if let Some(programs) = Programs::compile("damaged", &["Corpus", "Locks"]) {
        for name in ["Corpus", "Corpus$Inner", "Locks"] {
            let path = |folder: &str| programs.java.folder.join(format!("{folder}/{name}.class"));
            classes.push(std::fs::read(path("plain")).unwrap());
            programs.weave("woven", &mut Everywhere { locks: true, ..Everywhere::new(SiteKinds::ALL, all) });
            classes.push(std::fs::read(path("woven")).unwrap());
        }
    }
    classes
}

#[test]
fn truncated_or_changed_class_files_never_panic() {
    let random = Rng::new(7);
    for class in classes() {
        let step = class.len() / 300 + 1;
        for length in (0..class.len()).step_by(step) {
            let problem =
                weave(&class[..length], HELPER, &mut Everywhere::new(SiteKinds::ALL, usual)).unwrap_err();
            assert!(matches!(problem, ClassFileError::Truncated { .. }), "{length}: {problem}");
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
                    _ => random.next_u64() as u8,
                };
            }
            read_and_weave(&changed, &class, round % 2 == 0);
        }
    }
}

#[test]
fn errors_name_the_offset_and_remedy() {
    let class = helper_class("a/B");
    let weave = |bytes: &[u8]| weave(bytes, HELPER, &mut Everywhere::new(SiteKinds::ALL, usual));
    let words = |bytes: &[u8]| weave(bytes).unwrap_err().to_string();
    assert_eq!(
        words(b"PK\x03\x04"),
        "the class file is malformed at byte 0: it does not start with 0xCAFEBABE"
    );
    assert_eq!(
        words(&class[..20]),
        "the class file is truncated at byte 20, in the constant pool; compile or copy it again"
    );
    let mut newer = class.clone();
    newer[7] = 99;
    assert_eq!(weave(&newer).unwrap_err(), ClassFileError::Newer { major: 99 });
    assert_eq!(
        words(&newer),
        "the class file has version 99 (Java 55), and only versions up to 70 (Java 26) are supported; compile with `--release 26` \
         or lower, or use a newer Invigil"
    );
    newer[7] = 70;
    assert!(weave(&newer).is_ok());
    let mut longer = class.clone();
    longer.push(0);
    assert!(words(&longer).ends_with("unexpected bytes after the class"));
}
