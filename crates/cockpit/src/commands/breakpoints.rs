//! Breakpoints and watchpoints.

use super::{number, required};
use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic};
use crate::render::columns;
use invigil_target::{Breakpoint, BreakpointId, BreakpointKind, BreakpointSpec, Owner, TargetResult};

const LOCATIONS: &str = "  break queue_push             a function\n  break faulty.c:32            a line\n  break 32 if c == 'i'         a line of the current file, with a condition\n  break *0x401136              an address\n  break -leave queue_push      the return of a function";

pub(crate) const TABLE: &[Command] = &[
    Command::new(
        CommandTopic::Breakpoints,
        "break",
        "[-leave] LOCATION [if EXPR]",
        "Stop at a location, or when a function returns",
        set_break,
    )
    .aliases(&["b", "br"])
    .argument(ArgumentKind::Location)
    .more(LOCATIONS),
    Command::new(
        CommandTopic::Breakpoints,
        "tbreak",
        "[-leave] LOCATION [if EXPR]",
        "Set a breakpoint that is removed when it is hit",
        set_temporary,
    )
    .aliases(&["tb"])
    .argument(ArgumentKind::Location),
    Command::new(
        CommandTopic::Breakpoints,
        "watch",
        "EXPR [if EXPR]",
        "Stop when an lvalue is written",
        watch,
    )
    .aliases(&["wa"])
    .argument(ArgumentKind::Variable)
    .more("  watch q->size\n  watch table[3] if table[3] > 9"),
    Command::new(
        CommandTopic::Breakpoints,
        "rwatch",
        "EXPR [if EXPR]",
        "Stop when an lvalue is read",
        rwatch,
    )
    .argument(ArgumentKind::Variable),
    Command::new(
        CommandTopic::Breakpoints,
        "awatch",
        "EXPR [if EXPR]",
        "Stop when an lvalue is read or written",
        awatch,
    )
    .argument(ArgumentKind::Variable),
    Command::new(
        CommandTopic::Breakpoints,
        "delete",
        "[N…]",
        "Delete breakpoints and watchpoints; by default, all that you set",
        delete,
    )
    .aliases(&["d"])
    .argument(ArgumentKind::Breakpoint)
    .more("  delete        all breakpoints and watchpoints that you set\n  delete 1 3    these two"),
    Command::new(CommandTopic::Breakpoints, "enable", "[N…]", "Enable breakpoints and watchpoints", enable)
        .argument(ArgumentKind::Breakpoint),
    Command::new(
        CommandTopic::Breakpoints,
        "disable",
        "[N…]",
        "Disable breakpoints and watchpoints",
        disable,
    )
    .aliases(&["dis"])
    .argument(ArgumentKind::Breakpoint),
    Command::new(
        CommandTopic::Breakpoints,
        "ignore",
        "N COUNT",
        "Skip the next COUNT hits of a breakpoint",
        ignore,
    )
    .argument(ArgumentKind::Breakpoint)
    .more("  ignore 1 16    stop at the 17th hit\n\nThe breakpoint is set again and gets a new number."),
];

fn set_break(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    set_location(context, arguments.rest, false)
}

fn set_temporary(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    set_location(context, arguments.rest, true)
}

/// Sets a breakpoint at a location or at the return of a function.
fn set_location(context: &mut CommandContext<'_>, rest: &str, once: bool) -> CommandResult {
    match rest.strip_prefix("-leave") {
        Some(function) if function.is_empty() || function.starts_with(char::is_whitespace) => {
            set(context, function, once, |function| BreakpointKind::Return(function.to_owned()))
        }
        _ => set(context, rest, once, |location| BreakpointKind::Location(location.to_owned())),
    }
}

fn watch(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    set(context, arguments.rest, false, |expression| BreakpointKind::Watch {
        expression: expression.to_owned(),
        read: false,
        write: true,
    })
}

fn rwatch(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    set(context, arguments.rest, false, |expression| BreakpointKind::Watch {
        expression: expression.to_owned(),
        read: true,
        write: false,
    })
}

fn awatch(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    set(context, arguments.rest, false, |expression| BreakpointKind::Watch {
        expression: expression.to_owned(),
        read: true,
        write: true,
    })
}

/// Splits `LOCATION if EXPR`.
pub(super) fn condition(rest: &str) -> Result<(&str, Option<String>), String> {
    let rest = rest.trim();
    let keyword_at =
        if rest.starts_with("if ") || rest == "if" { Some(0) } else { rest.find(" if").map(|at| at + 1) };
    let is_word = |at: usize| rest[at + 2..].chars().next().is_none_or(|c| c.is_whitespace() || c == '(');
    match keyword_at.filter(|at| is_word(*at)) {
        Some(at) => match rest[at + 2..].trim() {
            "" => Err("missing condition after `if`".to_owned()),
            condition => Ok((rest[..at].trim(), Some(condition.to_owned()))),
        },
        None => Ok((rest, None)),
    }
}

fn set(
    context: &mut CommandContext<'_>,
    rest: &str,
    once: bool,
    kind_of: impl Fn(&str) -> BreakpointKind,
) -> CommandResult {
    let (location, condition) = condition(rest)?;
    let qualified_location;
    let location = match (location, kind_of("")) {
        ("", BreakpointKind::Watch { .. }) => return Err("missing lvalue, as in `watch q->size`".into()),
        ("", BreakpointKind::Return(_)) => {
            return Err("missing function, as in `break -leave queue_push`".into());
        }
        ("", BreakpointKind::Location(_)) => {
            // As in gdb, the default is the current line.
            let line = context.session.target().source_line(None)?;
            let line = line.ok_or("missing location, as in `break queue_push` or `break faulty.c:32`")?;
            qualified_location = format!("{}:{}", line.file.display(), line.line);
            qualified_location.as_str()
        }
        // The file is added, so that the number keeps its meaning when the program is in another file or restarted.
        (number, BreakpointKind::Location(_)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            match context.session.target().source_line(None) {
                Ok(Some(line)) => qualified_location = format!("{}:{number}", line.file.display()),
                _ => qualified_location = number.to_owned(),
            }
            qualified_location.as_str()
        }
        (location, _) => location,
    };
    let spec = BreakpointSpec { condition, once, ..BreakpointSpec::new(kind_of(location)) };
    let target = context.session.target();
    let id = target.set_breakpoint(Owner::User, &spec)?;
    let breakpoint = target.breakpoints().into_iter().find(|breakpoint| breakpoint.id == id);
    Ok(breakpoint.map_or(format!("{}\n", id.0), |breakpoint| description(&breakpoint)))
}

fn description(breakpoint: &Breakpoint) -> String {
    let (kind, stops_at) = kind_and_location(breakpoint);
    let locations = match &breakpoint.locations[..] {
        [] => "pending: no loaded code matches".to_owned(),
        [one] => one.clone(),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
    };
    format!("{kind} {}: {stops_at}, {locations}\n", breakpoint.id.0)
}

/// The kind of a breakpoint as a word, and the place where it stops.
fn kind_and_location(breakpoint: &Breakpoint) -> (&'static str, String) {
    match &breakpoint.spec.kind {
        BreakpointKind::Location(location) => ("Breakpoint", location.clone()),
        BreakpointKind::Return(function) => ("Breakpoint", format!("return of {function}")),
        BreakpointKind::Watch { expression, read: true, write: false } => {
            ("Watchpoint", format!("reads of {expression}"))
        }
        BreakpointKind::Watch { expression, read: true, write: true } => {
            ("Watchpoint", format!("accesses of {expression}"))
        }
        BreakpointKind::Watch { expression, .. } => ("Watchpoint", format!("writes of {expression}")),
    }
}

/// Sets the user's breakpoints of a terminated target again in its successor, and reports those that cannot be set.
pub(super) fn restore_breakpoints(context: &mut CommandContext<'_>, breakpoints: &[Breakpoint]) -> String {
    let mut lost = String::new();
    for breakpoint in breakpoints.iter().filter(|breakpoint| breakpoint.owner == Owner::User) {
        let target = context.session.target();
        let set = target.set_breakpoint(Owner::User, &breakpoint.spec);
        let result =
            set.and_then(
                |id| if breakpoint.enabled { Ok(()) } else { target.set_breakpoint_enabled(id, false) },
            );
        if let Err(error) = result {
            let (kind, stops_at) = kind_and_location(breakpoint);
            lost.push_str(&format!("{kind} {} ({stops_at}) cannot be set again: {error}\n", breakpoint.id.0));
        }
    }
    lost
}

/// Renders all breakpoints as a table.
pub(super) fn table(context: &mut CommandContext<'_>) -> String {
    let breakpoints = context.session.target().breakpoints();
    if breakpoints.is_empty() {
        return "No breakpoints or watchpoints.\n".to_owned();
    }
    let mut rows = vec![["", "what", "location", "hits", ""].map(str::to_owned).to_vec()];
    for breakpoint in &breakpoints {
        let (_, stops_at) = kind_and_location(breakpoint);
        let mut notes = Vec::new();
        if !breakpoint.enabled {
            notes.push("disabled".to_owned());
        }
        if breakpoint.spec.once {
            notes.push("once".to_owned());
        }
        if let Some(condition) = &breakpoint.spec.condition {
            notes.push(format!("if {condition}"));
        }
        if breakpoint.spec.ignore > 0 {
            notes.push(format!("ignores {} hits", breakpoint.spec.ignore));
        }
        if breakpoint.owner == Owner::Scenario {
            notes.push("set by the scenario".to_owned());
        }
        let locations = if breakpoint.locations.is_empty() {
            "pending".to_owned()
        } else {
            breakpoint.locations.join(", ")
        };
        rows.push(vec![
            breakpoint.id.0.to_string(),
            stops_at,
            locations,
            breakpoint.hits.to_string(),
            notes.join(", "),
        ]);
    }
    columns(&rows)
}

/// The listed breakpoints; by default, all that the user set.
fn selected_breakpoints(context: &mut CommandContext<'_>, rest: &str) -> Result<Vec<Breakpoint>, String> {
    let breakpoints = context.session.target().breakpoints();
    if rest.is_empty() {
        return Ok(breakpoints.into_iter().filter(|breakpoint| breakpoint.owner == Owner::User).collect());
    }
    let words = rest.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    words.map(|word| find(&breakpoints, word)).collect()
}

fn find(breakpoints: &[Breakpoint], word: &str) -> Result<Breakpoint, String> {
    let id = BreakpointId(number(word, "a breakpoint number")?);
    breakpoints.iter().find(|breakpoint| breakpoint.id == id).cloned().ok_or_else(|| {
        let known: Vec<String> = breakpoints.iter().map(|breakpoint| breakpoint.id.0.to_string()).collect();
        match known.is_empty() {
            true => format!("no breakpoint {word}: there are none"),
            false => format!("no breakpoint {word}; existing: {}", known.join(", ")),
        }
    })
}

fn for_selected(
    context: &mut CommandContext<'_>,
    rest: &str,
    verb: &str,
    action: impl Fn(&mut CommandContext<'_>, BreakpointId) -> TargetResult,
) -> CommandResult {
    let breakpoints = selected_breakpoints(context, rest)?;
    if breakpoints.is_empty() {
        return Err("there are no breakpoints".into());
    }
    for breakpoint in &breakpoints {
        action(context, breakpoint.id)?;
    }
    let ids: Vec<String> = breakpoints.iter().map(|breakpoint| breakpoint.id.0.to_string()).collect();
    Ok(format!("{verb} {}\n", ids.join(", ")))
}

fn delete(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    for_selected(context, arguments.rest, "Deleted", |context, id| {
        context.session.target().remove_breakpoint(id)
    })
}

fn enable(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    for_selected(context, arguments.rest, "Enabled", |context, id| {
        context.session.target().set_breakpoint_enabled(id, true)
    })
}

fn disable(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    for_selected(context, arguments.rest, "Disabled", |context, id| {
        context.session.target().set_breakpoint_enabled(id, false)
    })
}

fn ignore(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let rest = required(arguments.rest, "breakpoint number and count, as in `ignore 1 16`")?;
    let (word, count) = rest.split_once(char::is_whitespace).ok_or("missing count, as in `ignore 1 16`")?;
    let ignore = number(count.trim(), "a count")?;
    let breakpoint = find(&context.session.target().breakpoints(), word)?;
    if breakpoint.owner != Owner::User {
        return Err(format!("breakpoint {word} was set by the scenario and cannot be changed").into());
    }
    let spec = BreakpointSpec { ignore, ..breakpoint.spec };
    let target = context.session.target();
    let id = target.set_breakpoint(Owner::User, &spec)?;
    target.remove_breakpoint(breakpoint.id)?;
    Ok(format!("Breakpoint {} replaces {word} and will ignore {ignore} hits\n", id.0))
}
