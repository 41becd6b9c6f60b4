//! The command `exec`, which calls methods of the current monitor under the names that Verde [Jak19] gives them.

use super::properties::{current, set_variable, slice};
use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic, listed};
use crate::render::history;
use invigil_expr::diag::nearest;
use invigil_monitor::interactive::{InteractiveMonitor, MonitorError};
use invigil_monitor::slices::SliceId;

/// The methods that `exec` can call.
pub(crate) const METHODS: [&str; 14] = [
    "get_current_states",
    "get_env",
    "get_env_keys",
    "get_env_value",
    "get_slice_bindings",
    "get_slices",
    "get_states",
    "print_monitor_state",
    "set_current_state",
    "set_env_value",
    "set_quiet",
    "step_by_step",
    "suspend",
    "resume",
];

pub(crate) const TABLE: &[Command] =
    &[Command::new(CommandTopic::Properties, "exec", "METHOD [ARGUMENT…]", "Call a method of the current property's monitor", exec)
        .argument(ArgumentKind::Method)
        .more("Slices are numbered as `slices` shows them; the default is the root slice.\n\n  exec get_current_states\n  exec get_env 2\n  exec set_current_state ready\n  exec step_by_step on        stop at every event of the property")];

fn exec(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    if arguments.rest.is_empty() {
        return Err(format!("missing method: {}", listed(&METHODS, "or")).into());
    }
    // `get_env(2, "N")` is equivalent to `get_env 2 N`.
    let separators = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',');
    let mut parts = arguments.rest.split(separators).filter(|part| !part.is_empty());
    let method = parts.next().unwrap_or("");
    let arguments: Vec<&str> = parts.collect();
    let unquoted = |word: &str| word.trim_matches(['"', '\'']).to_owned();
    let monitor = current(context)?;
    let root = || monitor.slices().root().ok_or("the root slice has been collected: specify a slice");
    let slice_argument = |at: usize| match arguments.get(at) {
        Some(word) => slice(monitor, word),
        None => Ok(root()?),
    };
    let argument =
        |at: usize, what: &str| arguments.get(at).copied().ok_or_else(|| format!("`{method}` needs {what}"));
    match method {
        "get_current_states" => Ok(comma_separated(monitor.current_states())),
        "get_states" => Ok(comma_separated(monitor.states())),
        "get_env_keys" => Ok(comma_separated(monitor.env_keys().iter().map(String::as_str))),
        "get_env" => variables(monitor, slice_argument(0)?),
        "get_env_value" => {
            let (id, key) = match &arguments[..] {
                [key] => (root()?, unquoted(key)),
                [number, key, ..] => (slice(monitor, number)?, unquoted(key)),
                [] => return Err("`get_env_value` needs a slice and a variable".into()),
            };
            let value = monitor.env_value(id, &key)?;
            Ok(monitor.slices().show(value) + "\n")
        }
        "get_slices" | "print_monitor_state" => Ok(monitor.to_string()),
        "get_slice_bindings" => {
            let line = |id: SliceId| format!("{}: {}\n", id.0 + 1, history::binding_text(monitor, id));
            Ok(monitor.slices().iter().map(line).collect())
        }
        "set_current_state" => {
            let state = unquoted(argument(0, "a state")?);
            update_current_monitor(context, |monitor| monitor.set_current_state(&state))
        }
        "set_env_value" => {
            let (id, at) = if arguments.len() > 2 { (slice_argument(0)?, 1) } else { (root()?, 0) };
            let (key, value) = (unquoted(argument(at, "a variable")?), argument(at + 1, "a value")?);
            set_variable(context, id, &key, value)?;
            Ok(String::new())
        }
        "set_quiet" => {
            let on = parse_switch(&arguments)?;
            update_current_monitor(context, |monitor| {
                monitor.set_quiet(on);
                Ok(())
            })
        }
        "step_by_step" => {
            let on = parse_switch(&arguments)?;
            update_current_monitor(context, |monitor| {
                monitor.step_by_step(on);
                Ok(())
            })
        }
        "suspend" => update_current_monitor(context, |monitor| {
            monitor.suspend();
            Ok(())
        }),
        "resume" => update_current_monitor(context, |monitor| {
            monitor.resume();
            Ok(())
        }),
        other => {
            let near =
                nearest(other, METHODS).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            Err(format!("unknown method `{other}`{near}").into())
        }
    }
}

fn comma_separated<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ") + "\n"
}

fn variables(monitor: &InteractiveMonitor, slice: SliceId) -> CommandResult {
    let env = monitor.env(slice)?;
    Ok(env.map(|(name, value)| format!("{name} = {}\n", monitor.slices().show(value))).collect())
}

/// Parses `on` or `off`; the default is on.
fn parse_switch(arguments: &[&str]) -> Result<bool, String> {
    match arguments.first().copied() {
        None | Some("on" | "True" | "true" | "1") => Ok(true),
        Some("off" | "False" | "false" | "0") => Ok(false),
        Some(other) => Err(format!("expected `on` or `off`, found `{other}`")),
    }
}

fn update_current_monitor(
    context: &mut CommandContext<'_>,
    update: impl FnOnce(&mut InteractiveMonitor) -> Result<(), MonitorError>,
) -> CommandResult {
    let property = context.session.current_property();
    context.session.update_monitor(property, update)??;
    Ok(String::new())
}
