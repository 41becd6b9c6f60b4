//! Connects scripts to a target: events to instrument, and automata for properties, alarms and actions.

use super::RequirementScript;
use crate::pedl::ast::Path;
use crate::pedl::{self, EntityId};
use crate::prop;
use invigil_expr::diag::{SourceId, Span};
use invigil_monitor::automaton::{
    Automaton, AutomatonDef, BranchEffect, EndVerdict, State, StateId, Transition,
};
use invigil_monitor::event::{EventCatalog, EventId, EventKind, Param, ParamSource, ParamType};
use invigil_monitor::mac::{EventDeriver, ScriptOutputs, ScriptPlan, SnapshotInput, Type as ScriptType};
use invigil_monitor::verdict::Verdict;

/// How a target names methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodNaming {
    /// Overloads are distinguished by parameter types, as in Java.
    WithTypes,
    /// Method names are unique, as in C.
    Plain,
}

/// Suffix of an event name: a write and its report are one atomic step (`multithread`).
const LOCKED: &str = " locked";
/// Suffix of an event name: changes that are not writes, because the name refers to another object.
const BY_PATH: &str = " by path";

/// A pair of scripts, connected to a target.
#[derive(Clone, Debug)]
pub struct ConnectedScripts {
    /// How derived events are made from the events of the target.
    pub plan: ScriptPlan,
    /// For each event, the position of the entity in the PEDL script.
    pub event_spans: Vec<(EventId, Span)>,
    /// An automaton for each property, alarm and action, and one that prints.
    pub automata: Vec<Automaton>,
}

/// Connects a pair of scripts to a target. Adds to `catalog` the events that the scripts read, and the derived events
/// that carry their results. The names of derived events start with `#`; a target has such an event only if it is
/// predefined.
///
/// # Errors
/// As text, if the scripts do not match.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::medl::{self, MethodNaming};
/// use invigil_lang::pedl;
/// use invigil_monitor::event::{EventCatalog, EventKind};
///
/// let recogniser = "MonScr  export event opened;  monmeth void Gate.open();  event opened = startM(Gate.open());  End";
/// let (script, _) = pedl::parse(SourceId(0), recogniser);
/// let recogniser = pedl::lower(&script, &|_| None).0.unwrap();
/// let (script, _) = medl::parse(SourceId(1), "ReqSpec  import event opened;  alarm open = opened;  End");
/// let checker = medl::lower(&script, Some(&recogniser)).0.unwrap();
///
/// let mut catalog = EventCatalog::default();
/// let watched = medl::connect(&recogniser, &checker, MethodNaming::Plain, false, &mut catalog).unwrap();
/// assert!(catalog.find("Gate.open", EventKind::Before).is_some());
/// assert_eq!(watched.automata[0].name, "open");
/// ```
pub fn connect(
    recogniser: &pedl::MonitoringScript,
    checker: &RequirementScript,
    naming: MethodNaming,
    undefined_violates: bool,
    catalog: &mut EventCatalog,
) -> Result<ConnectedScripts, String> {
    let uses_time = recogniser.parts.uses_time() || checker.parts.uses_time();
    let Snapshots { inputs, event_spans } = inputs(recogniser, uses_time, naming, catalog);
    let tick = recogniser.options.timestamp.as_ref().map(|timestamp| {
        let name = format!("#tick {}", timestamp.milliseconds);
        (catalog.declare(&name, EventKind::Tick), timestamp.milliseconds)
    });
    let mut outputs = ScriptOutputs::default();
    let mut automata = Vec::new();
    for (name, span) in &checker.properties {
        let events = ["undefined", "false", "true"]
            .map(|truth| declare_derived_event(catalog, &format!("{name} is {truth}")));
        automata.push(property(name, *span, events, undefined_violates));
        outputs.properties.push(events);
    }
    for (name, span) in &checker.alarms {
        let events = [
            declare_derived_event(catalog, name),
            declare_derived_event(catalog, &format!("{name} is over")),
        ];
        automata.push(alarm(name, *span, events));
        outputs.alarms.push(events);
    }
    let mut calls = Vec::new();
    for ((name, span), call) in checker.actions.iter().zip(&checker.calls) {
        let event = declare_derived_event(catalog, &format!("invoke {name}"));
        automata.push(action(name, *span, event));
        outputs.actions.push(event);
        calls.extend(call.clone().map(|call| (event, call)));
    }
    if checker.parts.prints() {
        let title = checker.title.as_deref().unwrap_or("MEDL");
        let print_event = declare_derived_event(catalog, &format!("{title} says"));
        catalog.declare_param(
            print_event,
            &Param { source: ParamSource::Ret, name: "words".to_owned(), ty: Some(ParamType::Str) },
        );
        automata.extend(printer(title, print_event));
        outputs.print = Some(print_event);
    }
    let plan = ScriptPlan {
        recogniser: recogniser.parts.clone(),
        checker: checker.parts.clone(),
        inputs,
        outputs,
        undefined_violates,
        abstracts: recogniser.options.valueabstract.is_some(),
        tick,
        calls,
    };
    // Check here that the plan can run, before the target is started.
    EventDeriver::new(&plan)?;
    Ok(ConnectedScripts { plan, event_spans, automata })
}

/// Declares a derived event.
fn declare_derived_event(catalog: &mut EventCatalog, description: &str) -> EventId {
    catalog.declare(&format!("#{description}"), EventKind::Before)
}

/// Returns the events that a PEDL script reads, added to `catalog`, each with the position of its entity. Used for
/// instrumentation without running the target.
pub fn snapshots(
    recogniser: &pedl::MonitoringScript,
    naming: MethodNaming,
    catalog: &mut EventCatalog,
) -> Vec<(EventId, Span)> {
    inputs(recogniser, recogniser.parts.uses_time(), naming, catalog).event_spans
}

/// The events that are snapshots, each with the position of its entity.
#[derive(Default)]
struct Snapshots {
    inputs: Vec<(EventId, SnapshotInput)>,
    event_spans: Vec<(EventId, Span)>,
}

impl Snapshots {
    fn push(&mut self, event: EventId, input: SnapshotInput, entity: &pedl::Entity) {
        self.inputs.push((event, input));
        self.event_spans.push((event, entity.span));
    }
}

fn inputs(
    recogniser: &pedl::MonitoringScript,
    uses_time: bool,
    naming: MethodNaming,
    catalog: &mut EventCatalog,
) -> Snapshots {
    // Without a timestamp declaration, each event carries its time.
    let is_timed = recogniser.options.timestamp.is_none() && uses_time;
    let mut inputs = Snapshots::default();
    for entity in recogniser.entities.iter().filter(|entity| !entity.is_constant) {
        let mut name = name_in_target(&entity.path, naming);
        if let Some(scope) = &entity.scope {
            let not = if scope.is_negated { "not " } else { "" };
            name = format!("{name} {not}in {}", name_in_target(&scope.path, naming));
        }
        if naming == MethodNaming::WithTypes
            && matches!(entity.id, EntityId::Variable(_))
            && recogniser.options.multithread.is_some()
        {
            name += LOCKED;
        }
        let declare = |catalog: &mut EventCatalog, name: &str, kind| {
            let event = catalog.declare(name, kind);
            if is_timed {
                catalog.declare_param(
                    event,
                    &Param { source: ParamSource::Time, name: "time".to_owned(), ty: None },
                );
            }
            event
        };
        match entity.id {
            EntityId::Variable(variable) => {
                let event = declare(catalog, &name, EventKind::Write);
                let value = Param { source: ParamSource::Ret, name: "value".to_owned(), ty: None };
                let value = catalog.declare_param(event, &value);
                inputs.push(event, SnapshotInput::Update { variable, value }, entity);
                // Only the target determines where the class ends and the members start.
                if naming == MethodNaming::WithTypes && entity.path.segments.len() > 2 {
                    let event = declare(catalog, &format!("{name}{BY_PATH}"), EventKind::Write);
                    let value = Param { source: ParamSource::Ret, name: "value".to_owned(), ty: None };
                    let value = catalog.declare_param(event, &value);
                    inputs.push(event, SnapshotInput::Changed { variable, value }, entity);
                }
            }
            EntityId::Method(method) => {
                let (starts, ends) = recogniser.parts.observed_boundaries(method);
                let declared = &recogniser.parts.methods()[method.0 as usize];
                if starts {
                    let event = declare(catalog, &name, EventKind::Before);
                    let arguments = arguments(catalog, event, &declared.parameters);
                    inputs.push(event, SnapshotInput::Start { method, arguments }, entity);
                }
                if ends {
                    let event = declare(catalog, &name, EventKind::After);
                    let arguments = arguments(catalog, event, &declared.parameters);
                    let result = declared.result.map(|_| {
                        let result = Param { source: ParamSource::Ret, name: "result".to_owned(), ty: None };
                        catalog.declare_param(event, &result)
                    });
                    inputs.push(event, SnapshotInput::End { method, arguments, result }, entity);
                }
            }
        }
    }
    inputs
}

/// Requests the arguments that are not objects.
fn arguments(catalog: &mut EventCatalog, event: EventId, types: &[Option<ScriptType>]) -> Vec<Option<usize>> {
    let argument = |(at, ty): (u32, &Option<ScriptType>)| {
        ty.map(|_| {
            let source = ParamSource::Arg(at);
            catalog.declare_param(event, &Param { name: format!("arg{at}"), source, ty: None })
        })
    };
    (1..).zip(types).map(argument).collect()
}

/// Returns a name in the target's notation.
fn name_in_target(path: &Path, naming: MethodNaming) -> String {
    match naming {
        MethodNaming::WithTypes => path.to_string(),
        MethodNaming::Plain => {
            path.segments.iter().map(|part| format!("{}{}", part.separator, part.name)).collect()
        }
    }
}

fn state(name: &str, verdict: Verdict, span: Span) -> State {
    State { name: name.to_owned(), verdict, is_final: false, action: None, at_end: EndVerdict::Nothing, span }
}

fn step(from: StateId, event: EventId, to: StateId, span: Span) -> Transition {
    Transition {
        from,
        event,
        guard: None,
        success: Some(BranchEffect { target: Some(to), ..BranchEffect::default() }),
        failure: None,
        reads: Vec::new(),
        condition: None,
        span,
    }
}

/// The automaton of a property, which takes the value last reported by the checker.
fn property(name: &str, span: Span, events: [EventId; 3], undefined_violates: bool) -> Automaton {
    let undefined = if undefined_violates { Verdict::NonAccepting } else { Verdict::Undecided };
    let states = vec![
        // Initially the value is unknown, which is not a violation.
        state("init", Verdict::Undecided, span),
        state("violated", Verdict::NonAccepting, span),
        state("holds", Verdict::Accepting, span),
        state("undefined", undefined, span),
    ];
    let targets: [StateId; 3] = [3, 1, 2];
    let steps = (0..4).flat_map(|from| {
        let others = events.into_iter().zip(targets).filter(move |(_, to)| from != *to);
        others.map(move |(event, to)| step(from, event, to, span))
    });
    let transitions = steps.collect();
    Automaton::new(AutomatonDef { name: name.to_owned(), states, transitions, ..AutomatonDef::default() })
}

/// The automaton of an alarm; each occurrence is a separate violation.
fn alarm(name: &str, span: Span, [raised, over]: [EventId; 2]) -> Automaton {
    let states = vec![state("quiet", Verdict::Accepting, span), state("raised", Verdict::NonAccepting, span)];
    let transitions = vec![step(0, raised, 1, span), step(1, over, 0, span)];
    Automaton::new(AutomatonDef { name: name.to_owned(), states, transitions, ..AutomatonDef::default() })
}

/// The automaton of an action; scenarios react when it enters `invoked`.
fn action(name: &str, span: Span, invoked: EventId) -> Automaton {
    let states = vec![state("ready", Verdict::Accepting, span), state("invoked", Verdict::Accepting, span)];
    let transitions = vec![step(0, invoked, 1, span), step(1, invoked, 1, span)];
    Automaton::new(AutomatonDef { name: name.to_owned(), states, transitions, ..AutomatonDef::default() })
}

/// The automaton that prints the output of guards.
fn printer(name: &str, print_event: EventId) -> Option<Automaton> {
    const TEXT: &str =
        "state init accepting { transition { event said(ret as words: str) { print(words) } success init } }";
    let (property, _) = prop::parse(SourceId(0), TEXT);
    let (automaton, _) = prop::lower::lower(name, &property, &[], &mut EventCatalog::default());
    let mut parts = AutomatonDef::clone(&*automaton?);
    for transition in &mut parts.transitions {
        transition.event = print_event;
    }
    Some(Automaton::new(parts))
}
