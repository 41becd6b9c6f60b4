//! Helpers for the tests of PEDL and MEDL. Not every test needs all of them.

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::pedl::EntityId;
use invigil_lang::pedl::ast::Literal;
use invigil_lang::{medl, pedl, report};
use invigil_monitor::mac::{Action, Checker, Recogniser, Snapshot, Value};
use invigil_test_support::tools;

/// Renders the diagnostics of a PEDL script (file 0) and a MEDL script (file 1).
pub(crate) fn show(pedl: &str, medl: &str, diagnostics: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("test.pedl", pedl);
    sources.add("test.medl", medl);
    report::render(&sources, diagnostics, false)
}

/// The diagnostics of a PEDL script without constants.
pub(crate) fn pedl_problems(text: &str) -> Vec<Diagnostic> {
    let (script, mut diagnostics) = pedl::parse(SourceId(0), text);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(pedl::lower(&script, &|_| None).1);
    }
    diagnostics
}

/// The diagnostics of a MEDL script without its PEDL script.
pub(crate) fn medl_problems(text: &str) -> Vec<Diagnostic> {
    let (script, mut diagnostics) = medl::parse(SourceId(1), text);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(medl::lower(&script, None).1);
    }
    diagnostics
}

/// Compiles a PEDL script without diagnostics.
pub(crate) fn good_pedl(text: &str, constants: &dyn Fn(&str) -> Option<Literal>) -> pedl::MonitoringScript {
    let (script, diagnostics) = pedl::parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{}", show(text, "", &diagnostics));
    let (lowered, diagnostics) = pedl::lower(&script, constants);
    assert!(diagnostics.is_empty(), "{}", show(text, "", &diagnostics));
    lowered.expect("no error")
}

/// Compiles a MEDL script without diagnostics.
pub(crate) fn good_medl(text: &str, pedl: Option<&pedl::MonitoringScript>) -> medl::RequirementScript {
    let (script, diagnostics) = medl::parse(SourceId(1), text);
    assert!(diagnostics.is_empty(), "{}", show("", text, &diagnostics));
    let (lowered, diagnostics) = medl::lower(&script, pedl);
    assert!(diagnostics.is_empty(), "{}", show("", text, &diagnostics));
    lowered.expect("no error")
}

/// The text that describes the languages, if available.
pub(crate) fn document() -> Option<String> {
    let shared = tools::shared();
    let text = std::fs::read_to_string(shared.join("seeds/001_db640c332afcc61b.txt")).ok();
    if text.is_none() {
        eprintln!("skipped: the document is not in {}", shared.display());
    }
    text
}

/// A script printed in the text: the given lines, counted from 1, without line numbers and margins. `anchor` must occur
/// in the first line.
pub(crate) fn printed(document: &str, lines: (usize, usize), anchor: &str) -> String {
    let all: Vec<&str> = document.lines().skip(lines.0 - 1).take(lines.1 + 1 - lines.0).collect();
    assert!(all.first().is_some_and(|first| first.contains(anchor)), "{anchor} is not in line {}", lines.0);
    let unnumbered = |line: &&str| match line.split_once(':') {
        Some((number, rest)) if number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit()) => {
            rest.to_owned()
        }
        _ => (*line).to_owned(),
    };
    let script: Vec<String> = all.iter().filter(|line| !line.starts_with("```")).map(unnumbered).collect();
    script.join("\n") + "\n"
}

/// A recogniser and a checker, fed manually.
pub(crate) struct Session {
    pedl: pedl::MonitoringScript,
    medl: medl::RequirementScript,
    recogniser: Recogniser,
    checker: Checker,
    now: i64,
    /// The output since the last call of `take`.
    reported: Vec<String>,
}

impl Session {
    pub(crate) fn new(pedl: pedl::MonitoringScript, medl: medl::RequirementScript) -> Session {
        let recogniser = Recogniser::new(pedl.parts.clone()).expect("a monitoring script");
        let mut checker = Checker::new(medl.parts.clone()).expect("a requirement script");
        checker.connect(&pedl.parts.exports()).expect("what is imported is exported");
        Session { pedl, medl, recogniser, checker, now: 0, reported: Vec::new() }
    }

    /// Builds both from the texts of valid scripts.
    pub(crate) fn of(pedl: &str, medl: &str) -> Session {
        let pedl = good_pedl(pedl, &|_| None);
        let medl = good_medl(medl, Some(&pedl));
        Session::new(pedl, medl)
    }

    pub(crate) fn at(&mut self, time: i64) -> &mut Session {
        self.now = time;
        self
    }

    fn id(&self, path: &str) -> EntityId {
        let entity = self.pedl.entities.iter().find(|one| one.path.to_string() == path);
        entity.unwrap_or_else(|| panic!("{path} is not watched")).id
    }

    pub(crate) fn set(&mut self, path: &str, value: Value<'_>) -> &mut Session {
        let EntityId::Variable(id) = self.id(path) else { panic!("{path} is no variable") };
        self.snapshot(Snapshot::Update(id, value))
    }

    pub(crate) fn enter(&mut self, path: &str, arguments: &[Value<'_>]) -> &mut Session {
        let EntityId::Method(id) = self.id(path) else { panic!("{path} is no method") };
        self.snapshot(Snapshot::Start(id, arguments))
    }

    pub(crate) fn leave(&mut self, path: &str, arguments: &[Value<'_>], result: Value<'_>) -> &mut Session {
        let EntityId::Method(id) = self.id(path) else { panic!("{path} is no method") };
        self.snapshot(Snapshot::End(id, arguments, result))
    }

    pub(crate) fn tick(&mut self) -> &mut Session {
        self.snapshot(Snapshot::Tick)
    }

    fn snapshot(&mut self, snapshot: Snapshot<'_>) -> &mut Session {
        let group = self.recogniser.snapshot(snapshot, self.now).expect("a snapshot of the script's");
        let findings = self.checker.instant(group);
        for judged in findings.properties() {
            let (name, _) = &self.medl.properties[judged.property as usize];
            self.reported.push(format!("{}: {name} {}", self.now, judged.truth));
        }
        for raised in findings.alarms() {
            let (name, _) = &self.medl.alarms[raised.alarm as usize];
            self.reported.push(format!("{}: {name}!", self.now));
        }
        for done in findings.actions() {
            self.reported.push(match done {
                Action::Print(text) => text.to_owned(),
                Action::Invoke(action) => format!("invoke {}", self.medl.actions[action.0 as usize].0),
            });
        }
        self
    }

    /// Returns the output and clears it.
    pub(crate) fn reported(&mut self) -> Vec<String> {
        std::mem::take(&mut self.reported)
    }
}
