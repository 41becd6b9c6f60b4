//! What is shown when the program stands still: why, and where.

use super::with_addresses;
use super::{frame, past, source};
use crate::command::Scene;
use invigil_check::report::{Paint, described, grouped};
use invigil_expr::diag::Diagnostic;
use invigil_lang::report::render;
use invigil_monitor::automaton::AtEnd;
use invigil_monitor::verdict::{Failure, Verdict};
use invigil_monitor::watch::Watch;
use invigil_session::subject::{Ending, Frame, PointId, What};
use invigil_session::{Outcome, Reason, VerdictChange};

/// How many lines of source are shown around the current one.
const CONTEXT: u32 = 2;

/// What there is to do; `back` only where there is a way back.
fn hint(goes_back: bool) -> &'static str {
    match goes_back {
        true => {
            "\
`where` tells how the program got here, `path` and `events` how the property
did; `print` and `info locals` show values; `continue` goes on, `back` goes
back. `help` lists all commands."
        }
        false => {
            "\
`where` tells how the program got here, `path` and `events` how the property
did; `print` and `info locals` show values; `continue` goes on. `help` lists
all commands."
        }
    }
}

/// Why the program stands still, and where.
pub(crate) fn outcome(scene: &mut Scene<'_>, outcome: &Outcome) -> String {
    let style = scene.desk.style;
    let mut out = match outcome {
        Outcome::Suspended(reasons) => reasons.iter().map(|reason| told(scene, reason)).collect(),
        Outcome::Points(points) => points.iter().map(|point| reached(scene, *point)).collect(),
        Outcome::Stepped { returned } => {
            let value =
                returned.as_ref().map(|value| format!("The value returned is {}\n", frame::lines(value)));
            return value.unwrap_or_default() + &place(scene, true);
        }
        Outcome::Interrupted => style.paint(Paint::Title, "Interrupted") + "\n",
        Outcome::Signal { name, detail } => {
            let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
            format!("{}{detail}\n", style.paint(Paint::Bad, &format!("The program is about to get {name}")))
        }
        Outcome::Ended(ending) => return ended(scene, ending),
        Outcome::Stopped => return "The scenario ended the program.\n".to_owned(),
    };
    out.push_str(&place(scene, false));
    if !scene.desk.hinted {
        scene.desk.hinted = true;
        out.push('\n');
        let goes_back = scene.session.subject().no_checkpoints().is_none();
        out.push_str(&style.paint(Paint::Faint, hint(goes_back)));
        out.push('\n');
    }
    out
}

/// Where the selected thread stands. After a step in the same function the line is enough.
pub(crate) fn place(scene: &mut Scene<'_>, briefly: bool) -> String {
    scene.desk.listing = None;
    let style = scene.desk.style;
    let depth = scene.session.subject().selected_frame();
    let frames = match scene.session.subject().frames(depth + 1) {
        Ok(frames) => frames,
        Err(trouble) => return format!("  {}\n", style.paint(Paint::Faint, &format!("({trouble})"))),
    };
    let Some(here) = frames.get(depth) else { return String::new() };
    let is_new = std::mem::replace(&mut scene.desk.function, here.function.clone()) != here.function;
    let mut out = String::new();
    if is_new || !briefly {
        out.push_str(&format!("{}\n", frame::frame(here, &style)));
    }
    out + &source_of(scene, here, if briefly { 0 } else { CONTEXT })
}

fn source_of(scene: &Scene<'_>, frame: &Frame, context: u32) -> String {
    let style = scene.desk.style;
    match &frame.line {
        Some(line) => source::around(&line.file, line.line, context, &style),
        None => {
            let words = format!("(there is no line information for {:#x})", frame.address);
            format!("  {}\n", style.paint(Paint::Faint, &words))
        }
    }
}

fn ended(scene: &Scene<'_>, ending: &Ending) -> String {
    let (paint, words) = match ending {
        Ending::Exited(0) => (Paint::Good, "The program has ended: it exited with status 0".to_owned()),
        ending => (Paint::Bad, format!("The program has ended: {ending}")),
    };
    let mut out = scene.desk.style.paint(paint, &words) + "\n";
    for watch in scene.session.watches() {
        let states: Vec<String> =
            watch.current_states().map(|name| last(scene, watch, ending, name)).collect();
        let states = if states.is_empty() { "no slice left".to_owned() } else { states.join(", ") };
        out.push_str(&format!("  {}: {states}\n", watch.automaton().name));
    }
    out
}

/// A state in which the program ended; that may decide.
fn last(scene: &Scene<'_>, watch: &Watch, ending: &Ending, name: &str) -> String {
    let automaton = watch.automaton();
    let state = automaton.state_named(name).map(|at| &automaton.states[usize::from(at)]);
    let shown = past::state(scene, watch, name);
    match state.map(|state| (state.at_end, state.verdict)) {
        Some((AtEnd::Decided(false), Verdict::Undecided)) if !matches!(ending, Ending::Detached) => {
            format!("{shown}, {}", scene.desk.style.paint(Paint::Bad, "violated at the end"))
        }
        _ => shown,
    }
}

fn told(scene: &mut Scene<'_>, reason: &Reason) -> String {
    let style = scene.desk.style;
    match reason {
        Reason::Verdict(change) => changed(scene, change),
        Reason::Point(point) => reached(scene, *point),
        Reason::Start => "The scenario asks for the prompt before the program runs.\n".to_owned(),
        Reason::Property(property) => {
            let watch = scene.session.watch(*property);
            let name = watch.map_or(String::new(), |watch| watch.automaton().name.clone());
            let number = scene.session.event_count();
            let event = scene.session.events(number..=number).pop();
            let event =
                event.map_or(String::new(), |past| format!(": event {number}, {}", described(&past.event)));
            format!("{} asks for the prompt{event}\n", style.paint(Paint::Title, &name))
        }
        Reason::PropertyFailed { property, failure } => {
            let watch = scene.session.watch(*property);
            let name = watch.map_or(String::new(), |watch| watch.automaton().name.clone());
            failed(
                scene,
                &format!("a block of property {name} failed, and it is not followed any more"),
                failure,
            )
        }
        Reason::ScenarioFailed { failure, .. } => failed(scene, "a block of the scenario failed", failure),
    }
}

fn failed(scene: &Scene<'_>, what: &str, failure: &Failure) -> String {
    let message = format!("{what}: {}", failure.message);
    match failure.span {
        Some(span) if scene.desk.loaded.sources.get(span.source).is_some() => {
            let diagnostic = Diagnostic::error(span, message);
            render(&scene.desk.loaded.sources, &[diagnostic], scene.desk.style.colour) + "\n"
        }
        _ => format!("{} {message}\n", scene.desk.style.paint(Paint::Bad, "error:")),
    }
}

/// A change of states that the scenario suspended the program for.
fn changed(scene: &Scene<'_>, change: &VerdictChange) -> String {
    let style = scene.desk.style;
    let Some(watch) = scene.session.watch(change.property) else { return String::new() };
    let name = style.paint(Paint::Title, &watch.automaton().name);
    let with = if change.slice.is_empty() {
        String::new()
    } else {
        format!(" with {}", with_addresses(&change.slice))
    };
    let is_violation = change.verdict == Verdict::NonAccepting;
    let headline = match is_violation {
        true => style.paint(Paint::Bad, "Violation of "),
        false => style.paint(Paint::Title, "Change of "),
    };
    let mut out = format!("{headline}{name}{with}\n");
    let formula = watch.automaton().formula.as_ref().filter(|formula| **formula != watch.automaton().name);
    formula.into_iter().for_each(|formula| out.push_str(&format!("  says       {formula}\n")));
    let to = past::state(scene, watch, &change.to);
    let from = if change.from.is_empty() { String::new() } else { format!("{} → ", change.from) };
    out.push_str(&format!("  state      {from}{to} ({})\n", change.verdict));
    let past = scene.session.events(change.event..=change.event).pop();
    match &past {
        Some(past) => {
            out.push_str(&format!("  event      {}, {}\n", grouped(change.event), described(&past.event)));
        }
        None => out.push_str("  event      none yet\n"),
    }
    let why = past::reason(watch, &change.to);
    why.into_iter().for_each(|why| out.push_str(&format!("  since      {why}\n")));
    let slice = match &past {
        Some(past) => past::slice_of(past, change.property, &change.to),
        None => watch.slices().root(),
    };
    let slice = slice.filter(|slice| watch.slices().contains(*slice));
    let env = slice.map_or(Vec::new(), |slice| invigil_check::env(watch.automaton(), watch.slices(), slice));
    if !env.is_empty() {
        let env: Vec<String> = env.iter().map(|at| format!("{} = {}", at.name, at.value)).collect();
        out.push_str(&format!("  variables  {}\n", env.join(", ")));
    }
    out + "\n"
}

/// A point that was reached.
fn reached(scene: &mut Scene<'_>, id: PointId) -> String {
    let style = scene.desk.style;
    let Some(point) = scene.session.subject().points().into_iter().find(|point| point.id == id) else {
        return format!("{}\n", style.paint(Paint::Title, &format!("Point {}", id.0)));
    };
    let (kind, of) = match &point.spec.what {
        What::Reach(place) => ("Breakpoint", place.clone()),
        What::Leave(function) => ("Breakpoint", format!("the end of {function}")),
        What::Access { of, .. } => ("Watchpoint", of.clone()),
    };
    let mut out = format!("{}, {of}", style.paint(Paint::Title, &format!("{kind} {}", id.0)));
    if let What::Access { of, .. } = &point.spec.what
        && let Ok(value) = scene.session.subject().print(of)
    {
        out.push_str(&format!(" = {}", frame::lines(&value)));
    }
    out + "\n"
}
