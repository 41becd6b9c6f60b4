//! The page on the prompt has every command. With `UPDATE` set in the environment, the table is written.

use invigil_cockpit::{Topic, commands};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn table() -> String {
    let mut out = String::new();
    for topic in Topic::ALL {
        let _ = writeln!(out, "### {}\n\n| command | short | does |\n| --- | --- | --- |", topic.title());
        for command in commands().filter(|command| command.topic == topic) {
            let short: Vec<String> = command.short.iter().map(|name| format!("`{name}`")).collect();
            let call = command.call().replace('|', "\\|");
            let _ = writeln!(out, "| `{call}` | {} | {} |", short.join(", "), command.summary);
        }
        out.push('\n');
    }
    out
}

#[test]
fn every_command_is_on_the_page() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prompt.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- commands -->\n").expect("the mark before the table");
    let (_, after) = rest.split_once("A condition is an expression").expect("the text after the table");
    let wanted = format!("{before}<!-- commands -->\n\n{}A condition is an expression{after}", table());
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == wanted, "run this test with UPDATE=1 to write the table");
}
