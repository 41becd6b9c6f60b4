//! PEDL and MEDL: reading, reporting, formatting, compiling, and a few snapshots or instants.

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::pedl::ast::Literal;
use invigil_lang::{medl, pedl, report};
use invigil_monitor::mac::{Checker, EventGroup, MethodId, Recogniser, Snapshot, Truth, Value, VariableId};

/// Any text is read and complained about without a panic, and what has no mistake in it can be run.
pub(crate) fn pedl(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.pedl", &*text);
    let (script, problems) = pedl::parse(file, &text);
    report::render(&sources, &problems, true);
    if problems.iter().any(Diagnostic::is_error) {
        return;
    }
    formatted(pedl::format, &text);
    let (lowered, problems) = pedl::lower(&script, &|name| (name.len() % 2 == 1).then_some(Literal::Int(1)));
    report::render(&sources, &problems, true);
    let usable = !problems.iter().any(Diagnostic::is_error);
    assert_eq!(lowered.is_some(), usable, "compiled or not, against what was said");
    let Some(lowered) = lowered else { return };
    lowered.entities.iter().for_each(|entity| drop(entity.place()));
    let mut recogniser = Recogniser::new(lowered.parts).expect("what was compiled can be run");
    let variables = recogniser.parts().variables().len() as u32;
    for at in 0..variables.min(8) {
        // A value of another type is refused.
        _ = recogniser.snapshot(Snapshot::Update(VariableId(at), Value::Int(1)), i64::from(at));
        _ = recogniser.snapshot(Snapshot::Update(VariableId(at), Value::Double(-0.5)), i64::from(at));
    }
    for at in 0..(recogniser.parts().methods().len() as u32).min(8) {
        _ = recogniser.snapshot(Snapshot::Start(MethodId(at), &[]), 100);
        _ = recogniser.snapshot(Snapshot::End(MethodId(at), &[], Value::Undefined), 101);
    }
}

/// The same for requirement scripts.
pub(crate) fn medl(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.medl", &*text);
    let (script, problems) = medl::parse(file, &text);
    report::render(&sources, &problems, true);
    if problems.iter().any(Diagnostic::is_error) {
        return;
    }
    formatted(medl::format, &text);
    let (lowered, problems) = medl::lower(&script, None);
    report::render(&sources, &problems, true);
    let usable = !problems.iter().any(Diagnostic::is_error);
    assert_eq!(lowered.is_some(), usable, "compiled or not, against what was said");
    let Some(lowered) = lowered else { return };
    let mut checker = Checker::new(lowered.parts).expect("what was compiled can be run");
    let imports = checker.parts().imports();
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

/// What can be read can be formatted; that can be read again, is formatted already, and has lost nothing but semicolons.
fn formatted(format: fn(SourceId, &str) -> Result<String, Vec<Diagnostic>>, text: &str) {
    let printed = format(SourceId(0), text).expect("what can be read can be formatted");
    let again = format(SourceId(0), &printed).unwrap_or_else(|_| panic!("cannot be read again:\n{printed}"));
    assert_eq!(again, printed, "formatting twice is not formatting once");
    assert_eq!(marks(&printed), marks(text), "words were lost or made up");
}

/// The text without white space and semicolons, and with one kind of prime and of `End`.
fn marks(text: &str) -> String {
    let plain = |c: char| if matches!(c, '\u{2019}' | '\u{2032}') { '\'' } else { c };
    let is_mark = |c: &char| !c.is_whitespace() && !matches!(c, ';' | '\u{feff}');
    text.chars().filter(is_mark).map(plain).collect::<String>().replace("END", "End").replace("end", "End")
}
