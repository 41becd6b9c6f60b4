//! Ending the session, and commands of Verde without effect here.

use super::no_arguments;
use crate::command::{Arguments, Command, CommandContext, CommandResult, CommandTopic};

pub(crate) const TABLE: &[Command] = &[
    Command::new(CommandTopic::Session, "kill", "", "Kill the program", kill).aliases(&["k"]),
    Command::new(
        CommandTopic::Session,
        "detach",
        "",
        "Detach from the program, which continues unmonitored",
        detach,
    ),
    Command::new(CommandTopic::Session, "quit", "", "Kill the program and quit", quit)
        .aliases(&["q", "exit"])
        .more("A process to which you attached continues unmonitored."),
    Command::new(CommandTopic::Session, "new", "", "Verde: starts a monitor; use `load-property`", verde),
    Command::new(CommandTopic::Session, "activate", "", "Verde: enables its commands; no effect", verde),
    Command::new(
        CommandTopic::Session,
        "cmd-group-begin",
        "",
        "Verde: starts a command group; no effect",
        verde,
    ),
    Command::new(CommandTopic::Session, "cmd-group-end", "", "Verde: ends a command group; no effect", verde),
];

fn kill(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    no_arguments(arguments.rest, "kill")?;
    if !context.session.is_running() {
        return Err("the program is not running".into());
    }
    if !context.repl.confirmed {
        context.repl.question = Some("Kill the program?".to_owned());
        return Ok(String::new());
    }
    context.session.kill()?;
    Ok(match context.repl.is_attached() {
        true => "The program was killed.\n",
        false => "The program was killed; `run` restarts it.\n",
    }
    .to_owned())
}

fn detach(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    no_arguments(arguments.rest, "detach")?;
    if !context.session.is_running() {
        return Err("the program is not running".into());
    }
    context.session.detach()?;
    Ok("Detached; the program continues unmonitored.\n".to_owned())
}

fn quit(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    no_arguments(arguments.rest, "quit")?;
    if context.session.is_running() && !context.repl.confirmed {
        let question = match context.repl.is_attached() {
            true => "Detach from the program and quit?",
            false => "The program is running. Kill it and quit?",
        };
        context.repl.question = Some(question.to_owned());
        return Ok(String::new());
    }
    context.repl.has_quit = true;
    Ok(String::new())
}

fn verde(_: &mut CommandContext<'_>, _: Arguments<'_>) -> CommandResult {
    Ok(String::new())
}
