//! Properties that are large, deep, mutated or random: rejected in reasonable time, without a panic.

use crate::prop::common::{FIXTURES, show};
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::prop;
use invigil_test_support::cases;
use proptest::prelude::*;

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    prop::parse(SourceId(0), text).1
}

#[test]
fn non_property_file_is_rejected_with_help() {
    let found = diagnostics(&"x".repeat((4 << 20) + 1));
    assert!(found[0].message.contains("too large"));
    let found = diagnostics(&"\"event\": [1, 2]}\n".repeat(10_000));
    assert!(found.len() <= 101, "{}", found.len());
    assert!(found.last().unwrap().message.contains("more than 100 errors"));
}

#[test]
fn large_and_deep_input_parses_in_linear_time() {
    for text in [
        format!("initialization {{{}", "{".repeat(1 << 20)),
        format!("initialization {{{}{}}} state a", "{".repeat(1 << 19), "}".repeat(1 << 19)),
        format!("state init {{ transition {{ event f({}x) success init }} }}", "*&^".repeat(1 << 18)),
        "state a {".repeat(1 << 17),
        "transition {".repeat(1 << 17),
        format!("state init {{ {} }}", "transition { event f() { x } success { y } init }".repeat(20_000)),
        format!("initialization {{ {} }} state a", "'\\\n\"".repeat(1 << 17)),
        format!("state a {}", "f(".repeat(1 << 18)),
        format!("slice on {}", "a,".repeat(1 << 18)),
        "event f<".repeat(1 << 18),
        "#".repeat(1 << 20),
    ] {
        let start = std::time::Instant::now();
        diagnostics(&text);
        let _ = prop::format(SourceId(0), &text);
        assert!(start.elapsed().as_secs() < 20, "{}…", &text[..40]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    #[test]
    fn mutated_properties_never_panic(
        which in 0usize..FIXTURES.len(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0u8..4), 1..8),
    ) {
        let mut bytes = FIXTURES[which].1.as_bytes().to_vec();
        for (place, byte, what) in changes {
            let at = place.index(bytes.len().max(1));
            bytes.extend(if bytes.is_empty() { Some(b' ') } else { None });
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"{}()#'\"\n\\"[byte as usize % 9]),
                2 => { bytes.remove(at); }
                _ => bytes.truncate(at.max(1)),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let found = diagnostics(&text);
        prop_assert!(found.iter().all(|diagnostic| diagnostic.span.end as usize <= text.len()));
        prop_assert!(found.iter().all(|diagnostic| text.is_char_boundary(diagnostic.span.start as usize)));
        show(&text, &found);
        let formatted = prop::format(SourceId(0), &text);
        prop_assert_eq!(formatted.is_err(), !found.is_empty());
    }

    #[test]
    fn shuffled_words_never_panic(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "state", "init", "{", "}", "transition", "event", "before", "success", "failure", "(", ")", ",",
            "accepting", "non-accepting", "final", "import", "transitions", "from", "slice", "on", "->", ":",
            "initialization", "write", "arg", "1", "as", "*", "#join", "#ecid", "\n", "'", "\"", "# c\n", "call",
        ]), 0..60,
    )) {
        let text = words.join(" ");
        let found = diagnostics(&text);
        show(&text, &found);
    }
}
