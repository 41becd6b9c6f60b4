//! Scripts over a subject that tells events: which events are snapshots, and which automata say what the scripts find.

use super::Lowered;
use crate::pedl::ast::Path;
use crate::pedl::{self, Id};
use crate::prop;
use invigil_expr::diag::{SourceId, Span};
use invigil_monitor::automaton::{AtEnd, Automaton, End, Parts, State, StateId, Transition};
use invigil_monitor::event::{Catalog, Kind, Param, Source, SymbolId, Type};
use invigil_monitor::mac::{Deriver, Input, Outputs, Plan, Type as ScriptType};
use invigil_monitor::verdict::Verdict;

/// What kind of names a subject knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Methods are told apart by the types of their parameters, as in Java.
    WithTypes,
    /// They are not, as in C.
    Plain,
}

/// Stands behind the name of a variable whose writes and their reports are one step each (`multithread`).
const LOCKED: &str = " locked";
/// Stands behind the name of a variable, for changes that are no writes: the name means another object.
const BY_PATH: &str = " by path";

/// Scripts that watch a subject.
#[derive(Clone, Debug)]
pub struct Watched {
    /// How events are made of events.
    pub plan: Plan,
    /// Where the monitoring script names what each event is about.
    pub places: Vec<(SymbolId, Span)>,
    /// What they mean: an automaton for each property, alarm and action, and one that prints.
    pub automata: Vec<Automaton>,
}

/// Has a pair of scripts watch a subject: the events that the scripts must be told, and those that tell what they find,
/// are added to `catalog`. The latter have names that begin with `#`, which no subject shows.
///
/// # Errors
/// In words, if the scripts do not fit each other.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::medl::{self, Names};
/// use invigil_lang::pedl;
/// use invigil_monitor::event::{Catalog, Kind};
///
/// let recogniser = "MonScr  export event opened;  monmeth void Gate.open();  event opened = startM(Gate.open());  End";
/// let (script, _) = pedl::parse(SourceId(0), recogniser);
/// let recogniser = pedl::lower(&script, &|_| None).0.unwrap();
/// let (script, _) = medl::parse(SourceId(1), "ReqSpec  import event opened;  alarm open = opened;  End");
/// let checker = medl::lower(&script, Some(&recogniser)).0.unwrap();
///
/// let mut catalog = Catalog::default();
/// let watched = medl::watch(&recogniser, &checker, Names::Plain, false, &mut catalog).unwrap();
/// assert!(catalog.find("Gate.open", Kind::Before).is_some());
/// assert_eq!(watched.automata[0].name, "open");
/// ```
pub fn watch(
    recogniser: &pedl::Lowered,
    checker: &Lowered,
    names: Names,
    strict: bool,
    catalog: &mut Catalog,
) -> Result<Watched, String> {
    let asks_time = recogniser.parts.asks_time() || checker.parts.asks_time();
    let Snapshots { inputs, places } = inputs(recogniser, asks_time, names, catalog);
    let tick = recogniser.options.timestamp.as_ref().map(|timestamp| {
        let name = format!("#tick {}", timestamp.milliseconds);
        (catalog.symbol(&name, Kind::Tick), timestamp.milliseconds)
    });
    let mut outputs = Outputs::default();
    let mut automata = Vec::new();
    for (name, span) in &checker.properties {
        let symbols =
            ["undefined", "false", "true"].map(|truth| found(catalog, &format!("{name} is {truth}")));
        automata.push(property(name, *span, symbols, strict));
        outputs.properties.push(symbols);
    }
    for (name, span) in &checker.alarms {
        let symbols = [found(catalog, name), found(catalog, &format!("{name} is over"))];
        automata.push(alarm(name, *span, symbols));
        outputs.alarms.push(symbols);
    }
    let mut calls = Vec::new();
    for ((name, span), call) in checker.actions.iter().zip(&checker.calls) {
        let symbol = found(catalog, &format!("invoke {name}"));
        automata.push(action(name, *span, symbol));
        outputs.actions.push(symbol);
        calls.extend(call.clone().map(|call| (symbol, call)));
    }
    if checker.parts.prints() {
        let title = checker.title.as_deref().unwrap_or("MEDL");
        let says = found(catalog, &format!("{title} says"));
        catalog.param(says, &Param { source: Source::Ret, name: "words".to_owned(), ty: Some(Type::Str) });
        automata.extend(printer(title, says));
        outputs.print = Some(says);
    }
    let plan = Plan {
        recogniser: recogniser.parts.clone(),
        checker: checker.parts.clone(),
        inputs,
        outputs,
        strict,
        abstracts: recogniser.options.valueabstract.is_some(),
        tick,
        calls,
    };
    // Whether it can be run is told here, before a program is started.
    Deriver::new(&plan)?;
    Ok(Watched { plan, places, automata })
}

/// An event that tells what was found.
fn found(catalog: &mut Catalog, what: &str) -> SymbolId {
    catalog.symbol(&format!("#{what}"), Kind::Before)
}

/// The events that a monitoring script must be told, added to `catalog`, each with where the script names what it is about;
/// for those who instrument a program without running it.
pub fn snapshots(recogniser: &pedl::Lowered, names: Names, catalog: &mut Catalog) -> Vec<(SymbolId, Span)> {
    inputs(recogniser, recogniser.parts.asks_time(), names, catalog).places
}

/// The events that are snapshots, and where the script names what each is about.
#[derive(Default)]
struct Snapshots {
    inputs: Vec<(SymbolId, Input)>,
    places: Vec<(SymbolId, Span)>,
}

impl Snapshots {
    fn push(&mut self, symbol: SymbolId, input: Input, entity: &pedl::Entity) {
        self.inputs.push((symbol, input));
        self.places.push((symbol, entity.span));
    }
}

fn inputs(recogniser: &pedl::Lowered, asks_time: bool, names: Names, catalog: &mut Catalog) -> Snapshots {
    // Where nothing ticks, each event tells when it happened.
    let is_timed = recogniser.options.timestamp.is_none() && asks_time;
    let mut inputs = Snapshots::default();
    for entity in recogniser.entities.iter().filter(|entity| !entity.is_constant) {
        let mut name = spelled(&entity.path, names);
        if let Some(scope) = &entity.scope {
            let not = if scope.is_negated { "not " } else { "" };
            name = format!("{name} {not}in {}", spelled(&scope.path, names));
        }
        if names == Names::WithTypes
            && matches!(entity.id, Id::Variable(_))
            && recogniser.options.multithread.is_some()
        {
            name += LOCKED;
        }
        let event = |catalog: &mut Catalog, name: &str, kind| {
            let symbol = catalog.symbol(name, kind);
            if is_timed {
                catalog.param(symbol, &Param { source: Source::Time, name: "time".to_owned(), ty: None });
            }
            symbol
        };
        match entity.id {
            Id::Variable(variable) => {
                let symbol = event(catalog, &name, Kind::Write);
                let value = Param { source: Source::Ret, name: "value".to_owned(), ty: None };
                let value = catalog.param(symbol, &value);
                inputs.push(symbol, Input::Update { variable, value }, entity);
                // Where the class ends and other objects begin is for the subject to say.
                if names == Names::WithTypes && entity.path.segments.len() > 2 {
                    let symbol = event(catalog, &format!("{name}{BY_PATH}"), Kind::Write);
                    let value = Param { source: Source::Ret, name: "value".to_owned(), ty: None };
                    let value = catalog.param(symbol, &value);
                    inputs.push(symbol, Input::Changed { variable, value }, entity);
                }
            }
            Id::Method(method) => {
                let (starts, ends) = recogniser.parts.moments(method);
                let declared = &recogniser.parts.methods()[method.0 as usize];
                if starts {
                    let symbol = event(catalog, &name, Kind::Before);
                    let arguments = arguments(catalog, symbol, &declared.parameters);
                    inputs.push(symbol, Input::Start { method, arguments }, entity);
                }
                if ends {
                    let symbol = event(catalog, &name, Kind::After);
                    let arguments = arguments(catalog, symbol, &declared.parameters);
                    let result = declared.result.map(|_| {
                        let result = Param { source: Source::Ret, name: "result".to_owned(), ty: None };
                        catalog.param(symbol, &result)
                    });
                    inputs.push(symbol, Input::End { method, arguments, result }, entity);
                }
            }
        }
    }
    inputs
}

/// Asks for the arguments that are no objects.
fn arguments(catalog: &mut Catalog, symbol: SymbolId, types: &[Option<ScriptType>]) -> Vec<Option<usize>> {
    let argument = |(at, ty): (u32, &Option<ScriptType>)| {
        ty.map(|_| {
            let source = Source::Arg(at);
            catalog.param(symbol, &Param { name: format!("arg{at}"), source, ty: None })
        })
    };
    (1..).zip(types).map(argument).collect()
}

/// A name as the subject knows it.
fn spelled(path: &Path, names: Names) -> String {
    match names {
        Names::WithTypes => path.to_string(),
        Names::Plain => path.segments.iter().map(|part| format!("{}{}", part.joint, part.name)).collect(),
    }
}

fn state(name: &str, verdict: Verdict, span: Span) -> State {
    State { name: name.to_owned(), verdict, is_final: false, action: None, at_end: AtEnd::Nothing, span }
}

fn step(from: StateId, symbol: SymbolId, to: StateId, span: Span) -> Transition {
    Transition {
        from,
        symbol,
        guard: None,
        success: Some(End { target: Some(to), ..End::default() }),
        failure: None,
        reads: Vec::new(),
        condition: None,
        span,
    }
}

/// A property: it has the value that the checker last told.
fn property(name: &str, span: Span, symbols: [SymbolId; 3], strict: bool) -> Automaton {
    let undefined = if strict { Verdict::NonAccepting } else { Verdict::Undecided };
    let states = vec![
        // Before anything is known, nothing is wrong.
        state("init", Verdict::Undecided, span),
        state("violated", Verdict::NonAccepting, span),
        state("holds", Verdict::Accepting, span),
        state("undefined", undefined, span),
    ];
    let targets: [StateId; 3] = [3, 1, 2];
    let steps = (0..4).flat_map(|from| {
        let others = symbols.into_iter().zip(targets).filter(move |(_, to)| from != *to);
        others.map(move |(symbol, to)| step(from, symbol, to, span))
    });
    let transitions = steps.collect();
    Automaton::new(Parts { name: name.to_owned(), states, transitions, ..Parts::default() })
}

/// An alarm: each time that it is raised is a violation of its own.
fn alarm(name: &str, span: Span, [raised, over]: [SymbolId; 2]) -> Automaton {
    let states = vec![state("quiet", Verdict::Accepting, span), state("raised", Verdict::NonAccepting, span)];
    let transitions = vec![step(0, raised, 1, span), step(1, over, 0, span)];
    Automaton::new(Parts { name: name.to_owned(), states, transitions, ..Parts::default() })
}

/// An action: scenarios react when it enters `invoked`.
fn action(name: &str, span: Span, invoked: SymbolId) -> Automaton {
    let states = vec![state("ready", Verdict::Accepting, span), state("invoked", Verdict::Accepting, span)];
    let transitions = vec![step(0, invoked, 1, span), step(1, invoked, 1, span)];
    Automaton::new(Parts { name: name.to_owned(), states, transitions, ..Parts::default() })
}

/// Says what the guards print.
fn printer(name: &str, says: SymbolId) -> Option<Automaton> {
    const TEXT: &str =
        "state init accepting { transition { event said(ret as words: str) { print(words) } success init } }";
    let (property, _) = prop::parse(SourceId(0), TEXT);
    let (automaton, _) = prop::lower::lower(name, &property, &[], &mut Catalog::default());
    let mut parts = Parts::clone(&*automaton?);
    for transition in &mut parts.transitions {
        transition.symbol = says;
    }
    Some(Automaton::new(parts))
}
