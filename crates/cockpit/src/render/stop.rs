//! Rendering of a stop: the reason and the location.

use super::with_addresses;
use super::{frame, history, source};
use crate::command::CommandContext;
use invigil_check::report::{Paint, event_text, grouped};
use invigil_expr::diag::Diagnostic;
use invigil_lang::report::render;
use invigil_monitor::automaton::EndVerdict;
use invigil_monitor::interactive::InteractiveMonitor;
use invigil_monitor::verdict::{MonitorFault, Verdict};
use invigil_session::{RunOutcome, StateChange, SuspendReason};
use invigil_target::{BreakpointId, BreakpointKind, Frame, Termination};

/// Number of source lines shown before and after the current one.
const CONTEXT: u32 = 2;

/// Returns the introductory hint, which mentions `back` only if the target supports checkpoints.
fn hint(can_reverse: bool) -> &'static str {
    match can_reverse {
        true => {
            "\
`where` shows the call stack, `path` and `events` show the history of the
property, `print` and `info locals` show values; `continue` resumes, `back`
goes back to an earlier event. `help` lists all commands."
        }
        false => {
            "\
`where` shows the call stack, `path` and `events` show the history of the
property, `print` and `info locals` show values; `continue` resumes. `help`
lists all commands."
        }
    }
}

/// Renders why and where the target is stopped.
pub(crate) fn render_outcome(context: &mut CommandContext<'_>, outcome: &RunOutcome) -> String {
    let style = context.repl.style;
    let mut out = match outcome {
        RunOutcome::Suspended(reasons) => {
            reasons.iter().map(|reason| render_suspend_reason(context, reason)).collect()
        }
        RunOutcome::Breakpoints(hit) => {
            hit.iter().map(|breakpoint| render_breakpoint_hit(context, *breakpoint)).collect()
        }
        RunOutcome::Stepped { returned } => {
            let value =
                returned.as_ref().map(|value| format!("Value returned: {}\n", frame::printable_lines(value)));
            return value.unwrap_or_default() + &render_location(context, true);
        }
        RunOutcome::Interrupted => style.paint(Paint::Title, "Interrupted") + "\n",
        RunOutcome::Signal { name, detail } => {
            let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
            format!(
                "{}{detail}\n",
                style.paint(Paint::Bad, &format!("The program is about to receive {name}"))
            )
        }
        RunOutcome::Ended(ending) => return render_termination(context, ending),
        RunOutcome::KilledOnRequest => return "The scenario killed the program.\n".to_owned(),
    };
    out.push_str(&render_location(context, false));
    if !context.repl.hint_shown {
        context.repl.hint_shown = true;
        out.push('\n');
        let can_reverse = context.session.target().checkpoints().is_ok();
        out.push_str(&style.paint(Paint::Faint, hint(can_reverse)));
        out.push('\n');
    }
    out
}

/// Renders the location of the selected frame. With `brief`, the frame is included only if the function has changed.
pub(crate) fn render_location(context: &mut CommandContext<'_>, brief: bool) -> String {
    context.repl.listing = None;
    let style = context.repl.style;
    let depth = context.session.target().selected_frame();
    let frames = match context.session.target().frames(depth + 1) {
        Ok(frames) => frames,
        Err(error) => return format!("  {}\n", style.paint(Paint::Faint, &format!("({error})"))),
    };
    let Some(selected) = frames.get(depth) else { return String::new() };
    let is_new =
        std::mem::replace(&mut context.repl.function, selected.function.clone()) != selected.function;
    let mut out = String::new();
    if is_new || !brief {
        out.push_str(&format!("{}\n", frame::render_frame(selected, &style)));
    }
    out + &render_source(context, selected, if brief { 0 } else { CONTEXT })
}

fn render_source(context: &CommandContext<'_>, frame: &Frame, margin: u32) -> String {
    let style = context.repl.style;
    match &frame.line {
        Some(line) => source::render_around(&line.file, line.line, margin, &style),
        None => {
            let message = format!("(no line information for {:#x})", frame.address);
            format!("  {}\n", style.paint(Paint::Faint, &message))
        }
    }
}

fn render_termination(context: &CommandContext<'_>, ending: &Termination) -> String {
    let (paint, message) = match ending {
        Termination::Exited(0) => (Paint::Good, "The program exited with status 0".to_owned()),
        Termination::Exited(status) => (Paint::Bad, format!("The program exited with status {status}")),
        ending => (Paint::Bad, format!("The program has ended: {ending}")),
    };
    let mut out = context.repl.style.paint(paint, &message) + "\n";
    for monitor in context.session.monitors() {
        let states: Vec<String> =
            monitor.current_states().map(|name| render_final_state(context, monitor, ending, name)).collect();
        let states = if states.is_empty() { "no slices".to_owned() } else { states.join(", ") };
        out.push_str(&format!("  {}: {states}\n", monitor.automaton().name));
    }
    out
}

/// Renders a final state, and whether the end of the run makes it a violation.
fn render_final_state(
    context: &CommandContext<'_>,
    monitor: &InteractiveMonitor,
    ending: &Termination,
    name: &str,
) -> String {
    let automaton = monitor.automaton();
    let state = automaton.state_named(name).map(|at| &automaton.states[usize::from(at)]);
    let shown = history::render_state(context, monitor, name);
    match state.map(|state| (state.at_end, state.verdict)) {
        Some((EndVerdict::Decided(false), Verdict::Undecided))
            if !matches!(ending, Termination::Detached) =>
        {
            format!("{shown}, {}", context.repl.style.paint(Paint::Bad, "violated at the end of the run"))
        }
        _ => shown,
    }
}

fn render_suspend_reason(context: &mut CommandContext<'_>, reason: &SuspendReason) -> String {
    let style = context.repl.style;
    match reason {
        SuspendReason::StateChange(change) => render_state_change(context, change),
        SuspendReason::Breakpoint(breakpoint) => render_breakpoint_hit(context, *breakpoint),
        SuspendReason::Start => "The scenario suspended the program before its start.\n".to_owned(),
        SuspendReason::Property(property) => {
            let monitor = context.session.monitor(*property);
            let name = monitor.map_or(String::new(), |monitor| monitor.automaton().name.clone());
            let number = context.session.event_count();
            let event = context.session.events(number..=number).pop();
            let event =
                event.map_or(String::new(), |past| format!(": event {number}, {}", event_text(&past.event)));
            format!("Suspended by {}{event}\n", style.paint(Paint::Title, &name))
        }
        SuspendReason::PropertyFailed { property, failure } => {
            let monitor = context.session.monitor(*property);
            let name = monitor.map_or(String::new(), |monitor| monitor.automaton().name.clone());
            render_failure(
                context,
                &format!("a block of property {name} failed; the property is no longer monitored"),
                failure,
            )
        }
        SuspendReason::ScenarioFailed { failure, .. } => {
            render_failure(context, "a block of the scenario failed", failure)
        }
    }
}

fn render_failure(context: &CommandContext<'_>, what: &str, failure: &MonitorFault) -> String {
    let message = format!("{what}: {}", failure.message);
    match failure.span {
        Some(span) if context.repl.loaded.sources.get(span.source).is_some() => {
            let diagnostic = Diagnostic::error(span, message);
            render(&context.repl.loaded.sources, &[diagnostic], context.repl.style.colour) + "\n"
        }
        _ => format!("{} {message}\n", context.repl.style.paint(Paint::Bad, "error:")),
    }
}

/// Renders a state change for which the scenario suspended the program.
fn render_state_change(context: &CommandContext<'_>, change: &StateChange) -> String {
    let style = context.repl.style;
    let Some(monitor) = context.session.monitor(change.property) else { return String::new() };
    let name = style.paint(Paint::Title, &monitor.automaton().name);
    let with = if change.slice.is_empty() {
        String::new()
    } else {
        format!(" with {}", with_addresses(&change.slice))
    };
    let headline = match change.is_violation {
        true => style.paint(Paint::Bad, "Violation of "),
        false => style.paint(Paint::Title, "State change of "),
    };
    let mut out = format!("{headline}{name}{with}\n");
    let formula =
        monitor.automaton().formula.as_ref().filter(|formula| **formula != monitor.automaton().name);
    formula.into_iter().for_each(|formula| out.push_str(&format!("  spec       {formula}\n")));
    let to = history::render_state(context, monitor, &change.to);
    let from = if change.from.is_empty() { String::new() } else { format!("{} → ", change.from) };
    out.push_str(&format!("  state      {from}{to} ({})\n", change.verdict));
    let past = context.session.events(change.event..=change.event).pop();
    match &past {
        Some(past) => {
            out.push_str(&format!("  event      {}, {}\n", grouped(change.event), event_text(&past.event)));
        }
        None => out.push_str("  event      none so far\n"),
    }
    let reason = history::reason_of_change(monitor, &change.to);
    reason.into_iter().for_each(|reason| out.push_str(&format!("  since      {reason}\n")));
    let slice = match &past {
        Some(past) => history::slice_of(past, change.property, &change.to),
        None => monitor.slices().root(),
    };
    let slice = slice.filter(|slice| monitor.slices().contains(*slice));
    let env =
        slice.map_or(Vec::new(), |slice| invigil_check::env(monitor.automaton(), monitor.slices(), slice));
    if !env.is_empty() {
        let env: Vec<String> = env.iter().map(|at| format!("{} = {}", at.name, at.value)).collect();
        out.push_str(&format!("  variables  {}\n", env.join(", ")));
    }
    out + "\n"
}

/// Renders a breakpoint that was hit.
fn render_breakpoint_hit(context: &mut CommandContext<'_>, id: BreakpointId) -> String {
    let style = context.repl.style;
    let Some(breakpoint) =
        context.session.target().breakpoints().into_iter().find(|breakpoint| breakpoint.id == id)
    else {
        return format!("{}\n", style.paint(Paint::Title, &format!("Breakpoint {}", id.0)));
    };
    let (kind, stops_at) = match &breakpoint.spec.kind {
        BreakpointKind::Location(location) => ("Breakpoint", location.clone()),
        BreakpointKind::Return(function) => ("Breakpoint", format!("return of {function}")),
        BreakpointKind::Watch { expression, .. } => ("Watchpoint", expression.clone()),
    };
    let mut out = format!("{}, {stops_at}", style.paint(Paint::Title, &format!("{kind} {}", id.0)));
    if let BreakpointKind::Watch { expression, .. } = &breakpoint.spec.kind
        && let Ok(value) = context.session.target().evaluate(expression)
    {
        out.push_str(&format!(" = {}", frame::printable_lines(&value)));
    }
    out + "\n"
}
