//! The command `help`.

use crate::command::{
    ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic, commands, find_command,
};
use invigil_check::report::Paint;

pub(crate) const TABLE: &[Command] =
    &[Command::new(CommandTopic::Session, "help", "[COMMAND]", "List the commands, or explain one", help)
        .aliases(&["h", "?"])
        .argument(ArgumentKind::Command)];

fn help(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    if arguments.rest.is_empty() {
        Ok(list_commands(context))
    } else {
        explain_command(context, find_command(arguments.rest)?)
    }
}

fn list_commands(context: &CommandContext<'_>) -> String {
    let style = context.repl.style;
    let width = commands().map(|command| command.call().len()).max().unwrap_or(0).min(30);
    let mut out = String::new();
    for topic in CommandTopic::ALL {
        out.push_str(&format!("{}\n", style.paint(Paint::Title, topic.title())));
        for command in commands().filter(|command| command.topic == topic) {
            out.push_str(&format!("  {:width$}  {}\n", command.call(), command.summary));
        }
        out.push('\n');
    }
    out + "A command may be abbreviated as long as it is unambiguous. `help COMMAND` explains a command.\n"
}

fn explain_command(context: &CommandContext<'_>, command: &Command) -> CommandResult {
    let style = context.repl.style;
    let mut out = format!("{}\n  {}\n", style.paint(Paint::Title, &command.call()), command.summary);
    if !command.aliases.is_empty() {
        out.push_str(&format!("  Aliases: {}\n", command.aliases.join(", ")));
    }
    if !command.more.is_empty() {
        out.push('\n');
        for line in command.more.lines() {
            out.push_str(format!("  {line}").trim_end());
            out.push('\n');
        }
    }
    Ok(out)
}
