//! Automata and catalogs from texts.

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::scn::Scenario;
use invigil_lang::{ltl, prop, report, scn};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{EventCatalog, EventId, EventKind, Param, ParamSource, ParamType};

/// Compiles a property and declares its events in a catalog. There must be no errors.
#[track_caller]
pub fn property(name: &str, text: &str, catalog: &mut EventCatalog) -> Automaton {
    let (parsed, diagnostics) = prop::parse(SourceId(0), text);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{}", render(text, &diagnostics));
    let (automaton, diagnostics) = prop::lower::lower(name, &parsed, &[], catalog);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{}", render(text, &diagnostics));
    automaton.expect("there are no errors")
}

/// Compiles a formula as it is written on the command line: `ltl:G(a -> X b)`, `ltlf[q]:…`.
///
/// Returns `None` for a text of another form.
#[track_caller]
pub fn formula(text: &str, catalog: &mut EventCatalog) -> Option<Automaton> {
    let argument = ltl::FormulaArgument::parse(text)?;
    let options = argument.options(SourceId(0), text);
    let (properties, diagnostics) = ltl::parse(SourceId(0), text, argument.formula, options);
    assert!(diagnostics.is_empty(), "{}", render(text, &diagnostics));
    let (automaton, diagnostics) = properties[0].lower(&[], catalog);
    Some(automaton.unwrap_or_else(|| panic!("{}", render(text, &diagnostics))))
}

/// Compiles a formula or a property, with a catalog of its events.
#[track_caller]
pub fn compile(text: &str) -> (Automaton, EventCatalog) {
    let mut catalog = EventCatalog::default();
    let automaton = formula(text, &mut catalog).unwrap_or_else(|| property("test", text, &mut catalog));
    (automaton, catalog)
}

/// Compiles a scenario over automata. There must be no errors.
#[track_caller]
pub fn scenario(name: &str, text: &str, automata: &[&Automaton]) -> Scenario {
    let (parsed, diagnostics) = scn::parse(SourceId(0), text);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{}", render(text, &diagnostics));
    let (scenario, diagnostics) = scn::lower(name, &parsed, automata);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{}", render(text, &diagnostics));
    scenario.expect("there are no errors")
}

/// Diagnostics of one file as a user sees them.
pub fn render(text: &str, diagnostics: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("test", text);
    report::render(&sources, diagnostics, false)
}

/// Declares an event and its parameters in a catalog.
///
/// A parameter is written `x`, `arg 1`, `ret`, `#thread`, `*p`, `&x`, `^x`, `name=expression` or an expression,
/// followed by an optional type: `ret: float`.
pub fn declare(catalog: &mut EventCatalog, kind: EventKind, name: &str, params: &[&str]) -> EventId {
    let id = catalog.declare(name, kind);
    for text in params {
        let (text, ty) = match text.rsplit_once(": ") {
            Some((text, ty)) => (text, ParamType::from_word(ty)),
            None => (*text, None),
        };
        let (name, source) = match text.split_once('=') {
            Some((name, expression)) => (name, ParamSource::Expression(expression.to_owned())),
            None => (text, source(text)),
        };
        catalog.declare_param(id, &Param { source, name: name.to_owned(), ty });
    }
    id
}

/// The source of a parameter.
fn source(text: &str) -> ParamSource {
    let inner = |rest: &str| Box::new(source(rest));
    match text.split_at(1) {
        ("*", rest) => ParamSource::Deref(inner(rest)),
        ("&", rest) => ParamSource::Address(inner(rest)),
        ("^", rest) => ParamSource::InCaller(inner(rest)),
        _ if text == "ret" => ParamSource::Ret,
        _ if text == "#thread" => ParamSource::Thread,
        _ => match text.strip_prefix("arg ") {
            Some(number) => ParamSource::Arg(number.parse().expect("the number of an argument")),
            None if text.chars().all(|c| c.is_alphanumeric() || c == '_') => ParamSource::Name(text.into()),
            None => ParamSource::Expression(text.into()),
        },
    }
}
