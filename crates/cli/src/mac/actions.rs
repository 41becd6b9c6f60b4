//! What `invoke` does: commands of the user's.

use crate::Trouble;
use invigil_expr::diag::nearest;
use std::process::{Command, Stdio};

/// The commands of the actions that a script declares.
pub(super) struct Actions {
    /// By the numbers of the actions.
    commands: Vec<Option<String>>,
    names: Vec<String>,
    failures: Vec<String>,
    failed: u64,
}

impl Actions {
    /// Commands for the declared actions; one for an action that is not declared is a mistake.
    pub(super) fn new(given: &[(String, String)], declared: &[String]) -> Result<Actions, Trouble> {
        if let Some((name, _)) = given.iter().find(|(name, _)| !declared.contains(name)) {
            let help = match nearest(name, declared.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("declare it: `import action {name};`"),
            };
            return Err(Trouble::new(format_args!("--action {name}: the script has no such action; {help}")));
        }
        let command = |name: &String| {
            given.iter().rev().find(|(known, _)| known == name).map(|(_, command)| command.clone())
        };
        let commands = declared.iter().map(command).collect();
        Ok(Actions { commands, names: declared.to_vec(), failures: Vec::new(), failed: 0 })
    }

    /// The actions that nothing is done for.
    pub(super) fn idle(&self) -> impl Iterator<Item = &str> {
        self.names
            .iter()
            .zip(&self.commands)
            .filter(|(_, command)| command.is_none())
            .map(|(name, _)| name.as_str())
    }

    /// Runs the command of an action, and waits for it.
    pub(super) fn invoke(&mut self, number: u32, time: i64) {
        let Some(Some(command)) = self.commands.get(number as usize) else { return };
        let ran = Command::new("sh")
            .args(["-c", &format!("{command} \"$@\""), "sh", &time.to_string()])
            .stdin(Stdio::null())
            .status();
        let words = match ran {
            Ok(status) if status.success() => return,
            Ok(status) => format!("{status}"),
            Err(error) => error.to_string(),
        };
        self.failed += 1;
        if self.failures.len() < 10 {
            self.failures.push(format!("action `{}` at {time} ms: {words}", self.names[number as usize]));
        }
    }

    /// What went wrong, the first few times.
    pub(super) fn failures(&self) -> &[String] {
        &self.failures
    }
}
