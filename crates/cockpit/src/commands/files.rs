//! Files: properties, functions, scenarios, recordings.

use super::required;
use super::running::restart_session;
use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic};
use crate::render::stop;
use crate::session_factory::Files;
use crate::start::recorder;
use invigil_lang::ltl::FormulaArgument;
use std::path::{Path, PathBuf};

pub(crate) const TABLE: &[Command] = &[
    Command::new(CommandTopic::Session, "load-property", "PROPERTY [FUNCTIONS.py]", "Monitor another property", load_property)
        .argument(ArgumentKind::File)
        .more("If the program has already run, it is restarted, because a property monitors a run from its start.\nA process to which you attached is monitored from now on.\n\n  load-property queue.prop\n  load-property behavior.prop functions.py\n  load-property ltl:G(queue_push -> F queue_pop)"),
    Command::new(CommandTopic::Session, "load-functions", "FILE.py", "Load functions that blocks of properties may call", load_functions)
        .argument(ArgumentKind::File),
    Command::new(CommandTopic::Session, "load-scenario", "FILE.scn", "Load a scenario, which reacts to the properties", load_scenario)
        .argument(ArgumentKind::File)
        .more("Without a scenario the program is suspended at each violation."),
    Command::new(CommandTopic::Session, "delete-monitor", "[NAME]", "Stop monitoring a property", delete_monitor)
        .argument(ArgumentKind::Property)
        .more("The default is the current property. All formulae of a file are removed together."),
    Command::new(CommandTopic::Session, "record", "FILE", "Record the events from now on in a trace file", record)
        .argument(ArgumentKind::File)
        .more("The extension selects the format: .jsonl, .csv, or .trace for plain lines. `invigil check` reads all of them.\n\n  record run.jsonl"),
];

fn load_property(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let rest = required(arguments.rest, "file, as in `load-property queue.prop`")?;
    let (property, functions) = match rest.split_once(char::is_whitespace) {
        // A formula may contain blanks.
        _ if FormulaArgument::parse(rest).is_some() => (rest, None),
        Some((property, functions)) => (property, Some(functions.trim())),
        None => (rest, None),
    };
    restart_with(context, |files| {
        files.properties.push(PathBuf::from(property));
        files.functions.extend(functions.map(PathBuf::from));
    })
}

fn load_functions(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let file = required(arguments.rest, "file, as in `load-functions functions.py`")?;
    restart_with(context, |files| files.functions.push(PathBuf::from(file)))
}

fn load_scenario(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let file = required(arguments.rest, "file, as in `load-scenario mine.scn`")?;
    restart_with(context, |files| files.scenarios.push(PathBuf::from(file)))
}

fn delete_monitor(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let property = match arguments.rest {
        "" => context.session.current_property(),
        name => context.session.find_property(name)?,
    };
    if context.session.monitor(property).is_none() {
        return Err("no property is loaded".into());
    }
    let argument_index = context.repl.loaded.file_of_property.get(property).copied();
    let loaded = context.repl.config.as_ref().map_or(0, |config| config.files.properties.len());
    let Some(index) = argument_index.filter(|index| *index < loaded) else {
        let name = context.session.monitor(property).map(|monitor| monitor.automaton().name.clone());
        let name = name.unwrap_or_default();
        return Err(format!("`{name}` comes from a PEDL or MEDL script and cannot be deleted alone").into());
    };
    restart_with(context, |files| drop(files.properties.remove(index)))
}

/// Restarts the session with other files. If they are invalid, the old files are restored.
fn restart_with(context: &mut CommandContext<'_>, change: impl FnOnce(&mut Files)) -> CommandResult {
    let had_run = context.repl.has_run && context.session.is_running();
    let attached = context.repl.is_attached();
    let question = match attached {
        true => "All monitors will restart, and breakpoints and checkpoints will be lost. Continue?",
        false => "The program has already run and will be restarted. Continue?",
    };
    if had_run && !context.repl.confirmed {
        context.repl.question = Some(question.to_owned());
        return Ok(String::new());
    }
    let Some(config) = &mut context.repl.config else {
        return Err("blocks cannot load files".into());
    };
    let before = config.files.clone();
    change(&mut config.files);
    match restart_session(context) {
        Ok((notes, outcome)) => {
            let names: Vec<&str> =
                context.session.monitors().map(|monitor| monitor.automaton().name.as_str()).collect();
            let monitored = match names.is_empty() {
                true => "No property is loaded".to_owned(),
                false => format!("Monitoring {}", names.join(", ")),
            };
            let suffix = match (had_run, attached) {
                (true, true) => " from now on",
                (true, false) => "; the program is at its start",
                (false, _) => "",
            };
            let stop = outcome.map_or(String::new(), |outcome| stop::render_outcome(context, &outcome));
            Ok(format!("{notes}{monitored}{suffix}\n{stop}"))
        }
        Err(error) => {
            let Some(config) = &mut context.repl.config else { return Err(error) };
            config.files = before;
            // If the program is gone already, it is restarted with the old files.
            if !context.session.is_running() {
                restart_session(context)?;
            }
            Err(error)
        }
    }
}

fn record(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let file = required(arguments.rest, "file, as in `record run.jsonl`")?;
    let recorder = recorder(Path::new(file), &context.repl.loaded)?;
    context.session.finish_recording();
    context.session.set_recorder(recorder);
    Ok(format!("Recording events to {file} from now on\n"))
}
