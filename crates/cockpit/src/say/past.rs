//! Events of the past, and what properties made of them.

use crate::command::Scene;
use invigil_check::report::{Paint, described};
use invigil_check::{Finding, binding};
use invigil_monitor::slices::SliceId;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::watch::{Change, Watch};
use invigil_session::{Past, PastStep, Session};
use std::ops::RangeInclusive;

/// Some events, one to a line, and under each the transitions that it led to.
pub(crate) fn events(scene: &Scene<'_>, numbers: RangeInclusive<u64>) -> String {
    let past = scene.session.events(numbers);
    let threads = past.windows(2).any(|pair| pair[0].thread != pair[1].thread);
    let width = past.last().map_or(0, |last| last.event.index.to_string().len());
    let mut out = String::new();
    for past in &past {
        let thread = if threads { format!("[{}] ", past.thread) } else { String::new() };
        out.push_str(&format!("{:>width$}  {thread}{}\n", past.event.index, described(&past.event)));
        for step in &past.steps {
            out.push_str(&format!("{:width$}    {}\n", "", taken(scene, step)));
        }
    }
    out
}

fn taken(scene: &Scene<'_>, step: &PastStep) -> String {
    let Some(watch) = scene.session.watch(step.property) else { return String::new() };
    let name = &watch.automaton().name;
    let slice = slice_words(watch, step.slice);
    let of = if slice.is_empty() { name.clone() } else { format!("{name} [{slice}]") };
    let to = state(scene, watch, &step.to);
    scene.desk.style.paint(Paint::Faint, &format!("{of}: {} → ", step.from)) + &to
}

/// A state in the colour of its verdict.
pub(crate) fn state(scene: &Scene<'_>, watch: &Watch, name: &str) -> String {
    let automaton = watch.automaton();
    let verdict = automaton.state_named(name).map(|at| automaton.states[usize::from(at)].verdict);
    let paint = match verdict {
        Some(Verdict::NonAccepting | Verdict::Error) => Paint::Bad,
        Some(Verdict::Accepting) => Paint::Good,
        _ => Paint::Open,
    };
    scene.desk.style.paint(paint, name)
}

/// `queue = 7`; empty if the property is not sliced, or the slice is gone.
pub(crate) fn slice_words(watch: &Watch, slice: SliceId) -> String {
    if !watch.slices().contains(slice) {
        return String::new();
    }
    let bound = binding(watch.automaton(), watch.slices(), slice);
    let words: Vec<String> = bound
        .iter()
        .map(|bound| {
            let value = bound.value.as_ref().map_or("any", |value| value.text.as_str());
            format!("{} = {value}", bound.name)
        })
        .collect();
    words.join(", ")
}

/// How a slice came to where it is, as a table.
pub(crate) fn way(
    session: &Session,
    property: usize,
    slice: SliceId,
    style: &invigil_check::report::Style,
) -> String {
    let Some(watch) = session.watch(property) else { return String::new() };
    let (path, untold) = session.path(property, slice);
    let finding = Finding {
        property,
        slice: match watch.slices().contains(slice) {
            true => binding(watch.automaton(), watch.slices(), slice),
            false => Vec::new(),
        },
        event: None,
        at_end: false,
        why: None,
        from: String::new(),
        to: String::new(),
        path,
        untold,
    };
    invigil_check::report::way(&finding, style)
}

/// What was so at the last event, which led to a state, in the words of the property.
pub(crate) fn reason<'a>(watch: &'a Watch, to: &str) -> Option<&'a str> {
    let automaton = watch.automaton();
    watch.changes().iter().rev().find_map(|change| match change {
        Change::Taken(taken) if automaton.state_name(taken.to) == to => {
            automaton.transitions.get(taken.transition)?.condition.as_deref()
        }
        _ => None,
    })
}

/// The slice that took the step to a state on an event.
pub(crate) fn slice_of(past: &Past, property: usize, to: &str) -> Option<SliceId> {
    let mut steps = past.steps.iter().filter(|step| step.property == property && step.to == to);
    steps.next_back().map(|step| step.slice)
}
