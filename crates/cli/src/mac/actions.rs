//! Runs the user's commands for actions that a script invokes.

use crate::CliError;
use invigil_expr::diag::nearest;
use std::process::{Command, Stdio};

/// The commands of the actions that a script declares.
pub(super) struct Actions {
    /// Indexed by action number; `None` for actions without a command.
    commands: Vec<Option<String>>,
    names: Vec<String>,
    failures: Vec<String>,
    failed: u64,
}

impl Actions {
    /// Assigns commands to the declared actions. A command for an undeclared action is an error.
    pub(super) fn new(assignments: &[(String, String)], declared: &[String]) -> Result<Actions, CliError> {
        if let Some((name, _)) = assignments.iter().find(|(name, _)| !declared.contains(name)) {
            let help = match nearest(name, declared.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("declare it: `import action {name};`"),
            };
            return Err(CliError::new(format_args!(
                "--action {name}: the script declares no such action; {help}"
            )));
        }
        let command = |name: &String| {
            assignments.iter().rev().find(|(other, _)| other == name).map(|(_, command)| command.clone())
        };
        let commands = declared.iter().map(command).collect();
        Ok(Actions { commands, names: declared.to_vec(), failures: Vec::new(), failed: 0 })
    }

    /// Names of the actions without a command.
    pub(super) fn without_command(&self) -> impl Iterator<Item = &str> {
        self.names
            .iter()
            .zip(&self.commands)
            .filter(|(_, command)| command.is_none())
            .map(|(name, _)| name.as_str())
    }

    /// Runs the command of an action and waits for it.
    pub(super) fn invoke(&mut self, number: u32, time: i64) {
        let Some(Some(command)) = self.commands.get(number as usize) else { return };
        let result = Command::new("sh")
            .args(["-c", &format!("{command} \"$@\""), "sh", &time.to_string()])
            .stdin(Stdio::null())
            .status();
        let message = match result {
            Ok(status) if status.success() => return,
            Ok(status) => format!("{status}"),
            Err(error) => error.to_string(),
        };
        self.failed += 1;
        if self.failures.len() < 10 {
            self.failures.push(format!("action `{}` at {time} ms: {message}", self.names[number as usize]));
        }
    }

    /// Messages of the first failures, and the number of the others.
    pub(super) fn failures(&self) -> Vec<String> {
        let mut failures = self.failures.clone();
        let hidden = self.failed - failures.len() as u64;
        if hidden > 0 {
            failures.push(format!("{hidden} more invocations of actions failed"));
        }
        failures
    }
}
