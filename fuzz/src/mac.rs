//! PEDL and MEDL: parsing, diagnostics, formatting, compiling, and some snapshots or instants.

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::pedl::ast::Literal;
use invigil_lang::{medl, pedl, report};
use invigil_monitor::mac::{Checker, EventGroup, MethodId, Recogniser, Snapshot, Truth, Value, VariableId};

/// No input causes a panic, and a valid script can be run.
pub(crate) fn pedl(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.pedl", &*text);
    let (script, diagnostics) = pedl::parse(file, &text);
    report::render(&sources, &diagnostics, true);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return;
    }
    check_formatted(pedl::format, &text);
    let (lowered, diagnostics) =
        pedl::lower(&script, &|name| (name.len() % 2 == 1).then_some(Literal::Int(1)));
    report::render(&sources, &diagnostics, true);
    let is_valid = !diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(lowered.is_some(), is_valid, "the result is inconsistent with the diagnostics");
    let Some(lowered) = lowered else { return };
    lowered.entities.iter().for_each(|entity| drop(entity.entity_ref()));
    let mut recogniser = Recogniser::new(lowered.parts).expect("a compiled script can be run");
    let variables = recogniser.script().variables().len() as u32;
    for at in 0..variables.min(8) {
        // A value of another type is rejected.
        _ = recogniser.snapshot(Snapshot::Update(VariableId(at), Value::Int(1)), i64::from(at));
        _ = recogniser.snapshot(Snapshot::Update(VariableId(at), Value::Double(-0.5)), i64::from(at));
    }
    for at in 0..(recogniser.script().methods().len() as u32).min(8) {
        _ = recogniser.snapshot(Snapshot::Start(MethodId(at), &[]), 100);
        _ = recogniser.snapshot(Snapshot::End(MethodId(at), &[], Value::Undefined), 101);
    }
}

/// The same for requirement scripts.
pub(crate) fn medl(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.medl", &*text);
    let (script, diagnostics) = medl::parse(file, &text);
    report::render(&sources, &diagnostics, true);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return;
    }
    check_formatted(medl::format, &text);
    let (lowered, diagnostics) = medl::lower(&script, None);
    report::render(&sources, &diagnostics, true);
    let is_valid = !diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(lowered.is_some(), is_valid, "the result is inconsistent with the diagnostics");
    let Some(lowered) = lowered else { return };
    let mut checker = Checker::new(lowered.parts).expect("a compiled script can be run");
    let imports = checker.script().imports();
    let mut group = EventGroup::default();
    for time in 0..4 {
        group.begin(time * 1000);
        for at in 0..imports.events.len() as u32 {
            group.event(at);
            group.value(Value::Int(1));
        }
        for at in 0..imports.conditions.len() as u32 {
            group.condition(at, if time % 2 == 0 { Truth::True } else { Truth::False });
        }
        checker.instant(&group);
    }
}

/// Asserts that a valid script can be formatted, that the result is valid and formatted, and that only white space,
/// semicolons and spellings change.
fn check_formatted(format: fn(SourceId, &str) -> Result<String, Vec<Diagnostic>>, text: &str) {
    let printed = format(SourceId(0), text).expect("a valid script can be formatted");
    let again =
        format(SourceId(0), &printed).unwrap_or_else(|_| panic!("cannot be parsed again:\n{printed}"));
    assert_eq!(again, printed, "formatting is not idempotent");
    assert_eq!(significant_text(&printed), significant_text(text), "formatting changed the text");
}

/// The text without white space and semicolons, with one spelling of primes and of `End`.
fn significant_text(text: &str) -> String {
    let plain = |c: char| if matches!(c, '\u{2019}' | '\u{2032}') { '\'' } else { c };
    let is_significant = |c: &char| !c.is_whitespace() && !matches!(c, ';' | '\u{feff}');
    text.chars()
        .filter(is_significant)
        .map(plain)
        .collect::<String>()
        .replace("END", "End")
        .replace("end", "End")
}
