//! Past events and the transitions that they triggered.

use crate::command::CommandContext;
use invigil_check::report::{Paint, event_text};
use invigil_check::{Violation, binding};
use invigil_monitor::interactive::{Change, InteractiveMonitor};
use invigil_monitor::slices::SliceId;
use invigil_monitor::verdict::Verdict;
use invigil_session::{HistoryEvent, HistoryStep, Session};
use std::ops::RangeInclusive;

/// Renders events, one per line, each followed by the transitions that it triggered.
pub(crate) fn render_events(context: &CommandContext<'_>, numbers: RangeInclusive<u64>) -> String {
    let events = context.session.events(numbers);
    let threads = events.windows(2).any(|pair| pair[0].thread != pair[1].thread);
    let width = events.last().map_or(0, |last| last.event.index.to_string().len());
    let mut out = String::new();
    for past in &events {
        let thread = if threads { format!("[{}] ", past.thread) } else { String::new() };
        out.push_str(&format!("{:>width$}  {thread}{}\n", past.event.index, event_text(&past.event)));
        for step in &past.steps {
            out.push_str(&format!("{:width$}    {}\n", "", render_transition(context, step)));
        }
    }
    out
}

fn render_transition(context: &CommandContext<'_>, step: &HistoryStep) -> String {
    let Some(monitor) = context.session.monitor(step.property) else { return String::new() };
    let name = &monitor.automaton().name;
    let slice = binding_text(monitor, step.slice);
    let owner = if slice.is_empty() { name.clone() } else { format!("{name} [{slice}]") };
    let to = render_state(context, monitor, &step.to);
    context.repl.style.paint(Paint::Faint, &format!("{owner}: {} → ", step.from)) + &to
}

/// Renders a state name in the colour of its verdict.
pub(crate) fn render_state(context: &CommandContext<'_>, monitor: &InteractiveMonitor, name: &str) -> String {
    let automaton = monitor.automaton();
    let verdict = automaton.state_named(name).map(|at| automaton.states[usize::from(at)].verdict);
    let paint = match verdict {
        Some(Verdict::NonAccepting | Verdict::Error) => Paint::Bad,
        Some(Verdict::Accepting) => Paint::Good,
        _ => Paint::Undecided,
    };
    context.repl.style.paint(paint, name)
}

/// Renders a binding, such as `queue = 7`. Empty if the property is not sliced or the slice has been collected.
pub(crate) fn binding_text(monitor: &InteractiveMonitor, slice: SliceId) -> String {
    if !monitor.slices().contains(slice) {
        return String::new();
    }
    let bound = binding(monitor.automaton(), monitor.slices(), slice);
    let pairs: Vec<String> = bound
        .iter()
        .map(|bound| {
            let value = bound.value.as_ref().map_or("any", |value| value.text.as_str());
            format!("{} = {value}", bound.name)
        })
        .collect();
    pairs.join(", ")
}

/// Renders the path of a slice to its current state as a table.
pub(crate) fn path_table(
    session: &Session,
    property: usize,
    slice: SliceId,
    style: &invigil_check::report::Style,
) -> String {
    let Some(monitor) = session.monitor(property) else { return String::new() };
    let (path, omitted) = session.path(property, slice);
    let violation = Violation {
        property,
        slice: match monitor.slices().contains(slice) {
            true => binding(monitor.automaton(), monitor.slices(), slice),
            false => Vec::new(),
        },
        event: None,
        at_end: false,
        reason: None,
        from: String::new(),
        to: String::new(),
        path,
        omitted,
    };
    invigil_check::report::path_table(&violation, style)
}

/// The condition of the transition that led to a state at the last event, if the property has text for it.
pub(crate) fn reason_of_change<'a>(monitor: &'a InteractiveMonitor, to: &str) -> Option<&'a str> {
    let automaton = monitor.automaton();
    monitor.changes().iter().rev().find_map(|change| match change {
        Change::Taken(taken) if automaton.state_name(taken.to) == to => {
            automaton.transitions.get(taken.transition)?.condition.as_deref()
        }
        _ => None,
    })
}

/// The slice that entered a state at an event.
pub(crate) fn slice_of(past: &HistoryEvent, property: usize, to: &str) -> Option<SliceId> {
    let mut steps = past.steps.iter().filter(|step| step.property == property && step.to == to);
    steps.next_back().map(|step| step.slice)
}
