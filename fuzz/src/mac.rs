//! PEDL and MEDL: reading, reporting, compiling, and a few snapshots or instants.

use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::pedl::ast::Literal;
use invigil_lang::{medl, pedl, report};
use invigil_monitor::mac::{Checker, Group, MethodId, Recogniser, Snapshot, Truth, Value, VariableId};

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
    let (lowered, problems) = medl::lower(&script, None);
    report::render(&sources, &problems, true);
    let usable = !problems.iter().any(Diagnostic::is_error);
    assert_eq!(lowered.is_some(), usable, "compiled or not, against what was said");
    let Some(lowered) = lowered else { return };
    let mut checker = Checker::new(lowered.parts).expect("what was compiled can be run");
    let imports = checker.parts().imports();
    let mut group = Group::default();
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
