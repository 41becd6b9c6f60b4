//! Very large properties: rejected with an error, or loaded in time.

use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::prop;
use invigil_monitor::event::EventCatalog;

fn diagnostics(text: &str) -> Vec<String> {
    let (property, mut diagnostics) = prop::parse(SourceId(0), text);
    diagnostics.extend(prop::lower::lower("large", &property, &[], &mut EventCatalog::default()).1);
    diagnostics.into_iter().filter(Diagnostic::is_error).map(|diagnostic| diagnostic.message).collect()
}

#[test]
fn more_than_256_parameters_compile() {
    let params: Vec<String> = (0..=16_384).map(|i| format!("p{i}")).collect();
    let event = format!("event f({}) {{ return p16384 }}", params.join(", "));
    let text = format!("state init {{ transition {{ {event} success init }} }}");
    let diagnostics = diagnostics(&text);
    assert!(diagnostics.iter().any(|p| p.contains("more than 16384")), "{diagnostics:?}");
}

#[test]
fn repeated_imports_stay_small() {
    let mut text = String::from("state init { transition { event e() success init } }\n");
    text += "state s0 import transitions from state init\n";
    for i in 1..40 {
        let from = format!("import transitions from state s{}", i - 1);
        text += &format!("state s{i} {from} {from}\n");
    }
    assert_eq!(diagnostics(&text), [""; 0]);
}

#[test]
fn chain_of_1000_states_compiles() {
    let mut text = String::from("state init { transition { event e0() success s0 } }\n");
    for i in 0..1_000 {
        text += &format!(
            "state s{i} accepting {{ transition {{ event e{i}() success s{} }} }}\n",
            (i + 1) % 1_000
        );
    }
    assert_eq!(diagnostics(&text), [""; 0]);
}
