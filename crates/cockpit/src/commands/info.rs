//! The command `info`.

use super::{breakpoints, history, properties, stack};
use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic, listed};
use crate::render::{columns, frame};
use invigil_expr::diag::nearest;

pub(crate) const TABLE: &[Command] =
    &[Command::new(CommandTopic::Program, "info", "WHAT", "Show a list or a fact about the session", info)
        .aliases(&["i"])
        .argument(ArgumentKind::Info)
        .more("  info breakpoints    breakpoints and watchpoints, with their hit counts\n  info locals         local variables of the selected frame\n  info args           its arguments\n  info registers      its registers\n  info frame          the frame itself\n  info line [LOC]     source line of a location\n  info threads        threads\n  info program        the program: path, process, images\n  info probes         instrumentation of each site\n  info signals        handling of signals\n  info properties     properties and their states\n  info checkpoints    checkpoints, as a tree")];

/// The topics of `info`.
pub(crate) const TOPICS: [&str; 13] = [
    "args",
    "breakpoints",
    "checkpoints",
    "frame",
    "line",
    "locals",
    "probes",
    "program",
    "properties",
    "registers",
    "signals",
    "threads",
    "watchpoints",
];

fn info(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (word, rest) = arguments.rest.split_once(char::is_whitespace).unwrap_or((arguments.rest, ""));
    let matching: Vec<&str> = TOPICS.into_iter().filter(|name| name.starts_with(word)).collect();
    // The short forms of gdb.
    let name = match (word, &matching[..]) {
        ("", _) => return Err(format!("missing topic: {}", listed(&TOPICS, "or")).into()),
        ("b" | "br" | "break", _) => "breakpoints",
        ("r" | "reg", _) => "registers",
        ("f", _) => "frame",
        ("p" | "prop" | "property", _) => "properties",
        ("l", _) => "locals",
        ("s" | "stack", _) => "stack",
        (_, [one]) => one,
        (_, []) => {
            let near =
                nearest(word, TOPICS).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            return Err(format!("unknown topic `{word}`{near}").into());
        }
        (_, several) => return Err(format!("ambiguous topic `{word}`: {}", listed(several, "or")).into()),
    };
    match name {
        "breakpoints" | "watchpoints" => Ok(breakpoints::table(context)),
        "threads" => Ok(stack::threads(context)),
        "frame" => stack::describe_frame(context),
        "stack" => {
            (crate::command::find_command("backtrace")?.action)(context, Arguments { format: "", rest })
        }
        "locals" => {
            let locals = context.session.target().locals()?;
            Ok(render_variables(&locals, "There are no local variables."))
        }
        "args" => args(context),
        "registers" => {
            let registers = context.session.target().native_inspection()?.registers()?;
            Ok(render_variables(&registers, "The registers are not available."))
        }
        "program" => Ok(render_facts(context, |name| name != "signals")),
        "signals" => Ok(render_facts(context, |name| name.contains("signal"))),
        "checkpoints" => history::tree(context),
        "probes" => Ok(probes(context)),
        "properties" => Ok(properties::list_properties(context)),
        _ => line(context, rest),
    }
}

fn render_variables(variables: &[invigil_target::Variable], none: &str) -> String {
    if variables.is_empty() { format!("{none}\n") } else { frame::render_variables(variables, "") }
}

fn probes(context: &mut CommandContext<'_>) -> String {
    let probes = context.session.target().probes();
    if probes.is_empty() {
        return "No sites are instrumented.\n".to_owned();
    }
    let rows = probes.into_iter().map(|probe| vec![probe.event, probe.location, probe.mechanism]);
    columns(&rows.collect::<Vec<_>>())
}

fn args(context: &mut CommandContext<'_>) -> CommandResult {
    let target = context.session.target();
    let depth = target.selected_frame();
    let frames = target.frames(depth + 1)?;
    let arguments = frames.get(depth).map_or(&[][..], |frame| &frame.arguments);
    Ok(render_variables(arguments, "There are no arguments."))
}

fn render_facts(context: &mut CommandContext<'_>, is_selected: impl Fn(&str) -> bool) -> String {
    let facts = context.session.target().info();
    let rows: Vec<Vec<String>> = facts
        .into_iter()
        .filter(|(name, _)| is_selected(name))
        .map(|(name, value)| vec![name, value])
        .collect();
    match (rows.is_empty(), context.session.termination()) {
        (false, _) => columns(&rows),
        (true, Some(ending)) => format!("The program has ended: {ending}\n"),
        (true, None) => "No information available.\n".to_owned(),
    }
}

fn line(context: &mut CommandContext<'_>, rest: &str) -> CommandResult {
    let location = (!rest.is_empty()).then_some(rest);
    match context.session.target().source_line(location)? {
        Some(line) => Ok(format!("{}:{}\n", line.file.display(), line.line)),
        None => Err("no source line for this address in the debug information".into()),
    }
}
