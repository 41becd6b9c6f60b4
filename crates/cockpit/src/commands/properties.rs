//! Properties, their slices and their states.

use super::number;
use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic};
use crate::command_error::CommandError;
use crate::graph;
use crate::render::{history, with_addresses};
use invigil_check::report::Paint;
use invigil_expr::value::Value;
use invigil_monitor::interactive::{InteractiveMonitor, UserValue};
use invigil_monitor::slices::SliceId;
use std::path::Path;

pub(crate) const TABLE: &[Command] = &[
    Command::new(CommandTopic::Properties, "property", "[NAME]", "Show the properties, or select the current one", property)
        .aliases(&["prop", "set-current", "get-current"])
        .argument(ArgumentKind::Property)
        .more("Commands such as `slices` and `graph` refer to the current property.\n\n  property          all properties with their states\n  property queue    select one by name or number"),
    Command::new(CommandTopic::Properties, "slices", "", "Show the slices of the current property", slices),
    Command::new(CommandTopic::Properties, "path", "[SLICE]", "Show the steps that led a slice to its current state", path)
        .more("The default is the slice that changed last."),
    Command::new(CommandTopic::Properties, "state", "[[SLICE] NAME]", "Show the current states, or set one", state)
        .aliases(&["set-state"])
        .argument(ArgumentKind::State)
        .more("  state              the current states of the slices\n  state ready        put the root slice into a state\n  state 2 ready      put slice 2 into a state"),
    Command::new(CommandTopic::Properties, "env", "[[SLICE] NAME = VALUE]", "Show the variables of a property, or set one", env)
        .argument(ArgumentKind::Nothing)
        .more("  env                the variables of every slice\n  env N = 3          set a variable of the root slice\n  env 2 N = 3        set a variable of slice 2"),
    Command::new(CommandTopic::Properties, "graph", "[FILE.svg]", "Draw the current property with its current states highlighted", graph)
        .aliases(&["show-graph"])
        .argument(ArgumentKind::File)
        .more("Current states are green if accepting, red if non-accepting; the transitions taken last are brown, their source\nstates grey. The default file name is the name of the property."),
];

/// The current property.
pub(super) fn current<'a>(context: &'a CommandContext<'_>) -> Result<&'a InteractiveMonitor, String> {
    let none = "no property is loaded; `load-property FILE` loads one";
    context.session.monitor(context.session.current_property()).ok_or_else(|| none.to_owned())
}

fn property(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    if !arguments.rest.is_empty() {
        let found = context.session.find_property(arguments.rest)?;
        context.session.set_current_property(found)?;
    }
    Ok(list_properties(context))
}

/// Lists all properties with the current states of their slices.
pub(super) fn list_properties(context: &mut CommandContext<'_>) -> String {
    if context.session.monitors().len() == 0 {
        return "No property is loaded; `load-property FILE` loads one.\n".to_owned();
    }
    let mut out = String::new();
    for (at, monitor) in context.session.monitors().enumerate() {
        let mark = if at == context.session.current_property() { '*' } else { ' ' };
        let name = context.repl.style.paint(Paint::Title, &monitor.automaton().name);
        let (automaton, slices) = (monitor.automaton(), monitor.slices());
        let mut states = Vec::new();
        for (id, state) in automaton.states.iter().enumerate() {
            let count = slices.count(id as u16);
            if count > 0 {
                let many = if slices.len() > 1 { format!(" ({count})") } else { String::new() };
                states.push(history::render_state(context, monitor, &state.name) + &many);
            }
        }
        let mut text = if states.is_empty() { "no slices".to_owned() } else { states.join(", ") };
        if monitor.fault().is_some() {
            text.push_str(", failed");
        } else if monitor.is_suspended() {
            text.push_str(", suspended");
        }
        out.push_str(&format!("{mark} {} {name}: {text}\n", at + 1));
    }
    out
}

fn slices(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    super::no_arguments(arguments.rest, "slices")?;
    let monitor = current(context)?;
    let mut out = format!("{}:\n", context.repl.style.paint(Paint::Title, &monitor.automaton().name));
    for slice in monitor.slices().iter() {
        out.push_str(&render_slice(context, monitor, slice));
    }
    if let Some(failure) = monitor.fault() {
        out.push_str(&format!("  failed: {}\n", failure.message));
    }
    Ok(out)
}

fn render_slice(context: &CommandContext<'_>, monitor: &InteractiveMonitor, slice: SliceId) -> String {
    let (automaton, slices) = (monitor.automaton(), monitor.slices());
    let text = history::binding_text(monitor, slice);
    let binding = if text.is_empty() { String::new() } else { format!("  {}", with_addresses(&text)) };
    let state = automaton.state_name(slices.state(slice));
    let env: Vec<String> = invigil_check::env(automaton, slices, slice)
        .iter()
        .map(|variable| format!("{} = {}", variable.name, variable.value))
        .collect();
    let env = if env.is_empty() { String::new() } else { format!("  {}", env.join(", ")) };
    format!("  slice {}{binding}  {}{env}\n", slice.0 + 1, history::render_state(context, monitor, state))
}

/// Finds a slice by its number, counted from 1.
pub(super) fn slice(monitor: &InteractiveMonitor, word: &str) -> Result<SliceId, String> {
    let position: u32 = number(word, "a slice number")?;
    let id = position.checked_sub(1).map(SliceId).filter(|id| monitor.slices().contains(*id));
    id.ok_or_else(|| format!("no slice {position}; `slices` lists all"))
}

/// The slice that changed last; the root slice if none has changed recently.
fn last_changed_slice(context: &CommandContext<'_>, monitor: &InteractiveMonitor) -> Option<SliceId> {
    let property = context.session.current_property();
    let last = context.session.event_count();
    let first = *context.session.event_range().start();
    // Searching the most recent events suffices: usually the slice changed on the last one.
    let events = context.session.events(first.max(last.saturating_sub(1000))..=last);
    let steps = events.iter().rev().flat_map(|event| event.steps.iter().rev());
    let changed = steps.into_iter().find(|step| step.property == property).map(|step| step.slice);
    changed.or_else(|| monitor.slices().root())
}

fn path(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let monitor = current(context)?;
    let slice = match arguments.rest {
        "" => last_changed_slice(context, monitor).ok_or("no slices")?,
        word => slice(monitor, word)?,
    };
    let binding = history::binding_text(monitor, slice);
    let with = if binding.is_empty() { String::new() } else { format!(" with {binding}") };
    let title = context.repl.style.paint(Paint::Title, &monitor.automaton().name);
    let style = context.repl.style;
    Ok(format!("{title}{with}\n")
        + &history::path_table(context.session, context.session.current_property(), slice, &style))
}

fn state(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let monitor = current(context)?;
    if arguments.rest.is_empty() {
        let states: Vec<String> =
            monitor.current_states().map(|name| history::render_state(context, monitor, name)).collect();
        return Ok(format!("{}: {}\n", monitor.automaton().name, states.join(", ")));
    }
    let (slice, name) = match arguments.rest.split_once(char::is_whitespace) {
        Some((word, name)) => (Some(slice(monitor, word)?), name.trim()),
        None => (None, arguments.rest),
    };
    let change = |monitor: &mut InteractiveMonitor| match slice {
        Some(slice) => monitor.set_state(slice, name),
        None => monitor.set_current_state(name),
    };
    let property = context.session.current_property();
    let result = context.session.update_monitor(property, change)?;
    result?;
    slices(context, Arguments { format: "", rest: "" })
}

fn env(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let monitor = current(context)?;
    if arguments.rest.is_empty() {
        return slices(context, arguments);
    }
    let Some((lvalue, value)) = super::data::split_assignment(arguments.rest) else {
        return Err(
            format!("`{}` is not an assignment; usage: `env [SLICE] NAME = VALUE`", arguments.rest).into()
        );
    };
    let (slice, name) = match lvalue.split_once(char::is_whitespace) {
        Some((word, name)) => (slice(monitor, word)?, name.trim()),
        None => {
            (monitor.slices().root().ok_or("the root slice has been collected: specify a slice")?, lvalue)
        }
    };
    set_variable(context, slice, name, value)?;
    slices(context, Arguments { format: "", rest: "" })
}

/// Assigns to a variable of the current property.
pub(super) fn set_variable(
    context: &mut CommandContext<'_>,
    slice: SliceId,
    name: &str,
    value: &str,
) -> Result<(), CommandError> {
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let value = match value {
        "None" => UserValue::Plain(Value::NONE),
        "True" | "true" => UserValue::Plain(Value::bool(true)),
        "False" | "false" => UserValue::Plain(Value::bool(false)),
        _ => match (quoted('\'').or(quoted('"')), value.parse::<i64>(), value.parse::<f64>()) {
            (Some(text), _, _) => UserValue::Text(text),
            (_, Ok(number), _) => UserValue::Plain(Value::int(number)),
            (_, _, Ok(number)) => UserValue::Plain(Value::float(number)),
            _ => {
                return Err(format!(
                    "invalid value `{value}`: expected a number, True, False, None or a quoted string"
                )
                .into());
            }
        },
    };
    let property = context.session.current_property();
    let change = |monitor: &mut InteractiveMonitor| monitor.set_env(slice, &[(name, value)]);
    Ok(context.session.update_monitor(property, change)??)
}

fn graph(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let monitor = current(context)?;
    let default_name = format!("{}.svg", monitor.automaton().name.replace(['/', '\\'], "-"));
    let path = Path::new(if arguments.rest.is_empty() { default_name.as_str() } else { arguments.rest });
    if path.extension().is_none_or(|extension| extension != "svg") {
        return Err(format!("{}: the file name must end with .svg", path.display()).into());
    }
    let svg = graph::render_svg(context)?;
    let result = std::fs::write(path, svg);
    result.map_err(|error| format!("{}: cannot write: {error}", path.display()))?;
    Ok(format!("Wrote {}\n", path.display()))
}
