//! `docs/prompt.md` lists every command. `UPDATE_EXAMPLES=1` rewrites the table.

use invigil_cockpit::{CommandTopic, commands};
use invigil_test_support::snapshot;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

fn table() -> String {
    let mut out = String::new();
    for topic in CommandTopic::ALL {
        let _ = writeln!(out, "### {}\n\n| command | aliases | does |\n| --- | --- | --- |", topic.title());
        for command in commands().filter(|command| command.topic == topic) {
            let aliases: Vec<String> = command.aliases.iter().map(|name| format!("`{name}`")).collect();
            let call = command.call().replace('|', "\\|");
            let _ = writeln!(out, "| `{call}` | {} | {} |", aliases.join(", "), command.summary);
        }
        out.push('\n');
    }
    out
}

#[test]
fn command_table_of_the_documentation_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prompt.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- commands -->\n").expect("the mark before the table");
    let (_, after) = rest.split_once("A condition is an expression").expect("the text after the table");
    let wanted = format!("{before}<!-- commands -->\n\n{}A condition is an expression{after}", table());
    snapshot::assert_all([snapshot::compare(&path, &wanted)]);
}
