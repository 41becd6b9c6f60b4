//! Reports the results of a checker as soon as they occur, and runs its actions.

use super::actions::Actions;
use super::args::ResultArgs;
use crate::terminal::Terminal;
use invigil_check::report::{Paint, printable};
use invigil_mac::{Requirement, RequirementKind};
use invigil_monitor::mac::{Action, CheckOutput};

/// Receiver of a checker's results.
pub(super) struct ResultSink<'a> {
    pub(super) args: &'a ResultArgs,
    pub(super) terminal: &'a Terminal,
    pub(super) actions: Actions,
    /// The properties, then the alarms.
    pub(super) names: Vec<String>,
    pub(super) property_count: usize,
    /// Number of reported violations.
    pub(super) reported: u64,
    counts: Vec<u64>,
}

impl<'a> ResultSink<'a> {
    pub(super) fn new(
        args: &'a ResultArgs,
        terminal: &'a Terminal,
        actions: Actions,
        all: &[Requirement],
    ) -> ResultSink<'a> {
        let names: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
        let property_count = all.iter().filter(|one| one.kind == RequirementKind::Property).count();
        let counts = vec![0; names.len()];
        ResultSink { args, terminal, actions, names, property_count, reported: 0, counts }
    }

    pub(super) fn report(&mut self, output: &CheckOutput) {
        let time = output.time();
        for property_change in output.properties() {
            let number = property_change.property as usize;
            if property_change.violations > self.counts[number] {
                self.counts[number] = property_change.violations;
                let word = if property_change.truth == invigil_monitor::mac::Truth::False {
                    "violated"
                } else {
                    "undefined"
                };
                self.violation("property", number, word, time);
            }
        }
        for alarm in output.alarms() {
            self.violation("alarm", self.property_count + alarm.alarm as usize, "raised", time);
        }
        for action in output.actions() {
            match action {
                Action::Invoke(id) => self.actions.invoke(id.0, time),
                Action::Print(text) if self.args.json || self.args.quiet => {
                    self.terminal.eprint(&printable(text))
                }
                // Ignored: a write error is reported when the final report is printed.
                Action::Print(text) => drop(self.terminal.print(&(printable(text) + "\n"))),
            }
        }
    }

    fn violation(&mut self, kind: &str, requirement: usize, word: &str, time: i64) {
        self.reported += 1;
        if self.args.json || self.args.quiet {
            return;
        }
        let style = &self.terminal.style;
        let word = style.paint(Paint::Bad, word);
        let name = style.paint(Paint::Title, &self.names[requirement]);
        let _ = self.terminal.print(&format!("{time:>10} ms  {kind} {name} {word}\n"));
    }
}
