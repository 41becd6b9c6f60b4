//! The case study in the documentation: its scripts are valid, and give the documented output.

use crate::mac::common::{Session, good_medl, good_pedl, show};
use invigil_expr::diag::SourceId;
use invigil_lang::medl;
use invigil_lang::pedl::ast::Literal;
use invigil_monitor::mac::Value;

const DOCUMENT: &str = include_str!("../../../../../docs/mac.md");

fn example(language: &str) -> &'static str {
    let fence = format!("```{language}\n");
    let mut found = DOCUMENT.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next());
    let first = found.next().expect("an example");
    assert_eq!(found.next(), None, "one example in {language}");
    first
}

#[test]
fn stuck_gate_example_matches_document() {
    let constants = |name: &str| (name == "Control.GATE_DOWN").then_some(Literal::Int(1));
    let pedl = good_pedl(example("pedl"), &constants);
    let medl = good_medl(example("medl"), Some(&pedl));
    let mut gate = Session::new(pedl, medl);
    gate.set("Control.gatePos", Value::Int(0));
    gate.at(1_000).enter("Control.close()", &[]);
    gate.at(1_050).set("Control.gatePos", Value::Int(2));
    for time in 11..400 {
        gate.at(time * 100).tick();
    }
    gate.at(40_000).set("Control.gatePos", Value::Int(1));
    assert_eq!(
        gate.reported(),
        ["0: ClosesInTime true", "31000: ClosesInTime false", "40000: ClosesInTime true"]
    );
}

#[test]
fn diagnostic_example_matches_document() {
    let constants = |name: &str| (name == "Control.GATE_DOWN").then_some(Literal::Int(1));
    let pedl = good_pedl(example("pedl"), &constants);
    let text = example("medl").replace("OpenGate, CloseGate;", "OpenGate, CloseGat;");
    let (script, _) = medl::parse(SourceId(1), &text);
    let (_, diagnostics) = medl::lower(&script, Some(&pedl));
    let shown = show("", &text, &diagnostics[..1]).replace("test.medl", "gate.medl");
    assert!(DOCUMENT.contains(&shown), "{shown}");
}
