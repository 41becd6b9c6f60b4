//! `help`.

use crate::command::{Command, Said, Scene, Takes, Topic, Words, commands, find};
use invigil_check::report::Paint;

pub(crate) const TABLE: &[Command] =
    &[Command::new(Topic::Session, "help", "[COMMAND]", "List the commands, or tell more about one", help)
        .short(&["h", "?"])
        .takes(Takes::Command)];

fn help(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    if words.rest.is_empty() { Ok(all(scene)) } else { one(scene, find(words.rest)?) }
}

fn all(scene: &Scene<'_>) -> String {
    let style = scene.desk.style;
    let width = commands().map(|command| command.call().len()).max().unwrap_or(0).min(30);
    let mut out = String::new();
    for topic in Topic::ALL {
        out.push_str(&format!("{}\n", style.paint(Paint::Title, topic.title())));
        for command in commands().filter(|command| command.topic == topic) {
            out.push_str(&format!("  {:width$}  {}\n", command.call(), command.summary));
        }
        out.push('\n');
    }
    out + "A command may be shortened as long as it is clear which one is meant. `help COMMAND` tells more.\n"
}

fn one(scene: &Scene<'_>, command: &Command) -> Said {
    let style = scene.desk.style;
    let mut out = format!("{}\n  {}\n", style.paint(Paint::Title, &command.call()), command.summary);
    if !command.short.is_empty() {
        out.push_str(&format!("  Also called {}\n", command.short.join(", ")));
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
