//! Telling what a checker finds, as soon as it does.

use super::actions::Actions;
use super::args::Judging;
use crate::terminal::Terminal;
use invigil_check::report::{Paint, printable};
use invigil_mac::{Requirement, Sort};
use invigil_monitor::mac::{Done, Findings};

/// Who is told of findings.
pub(super) struct Judge<'a> {
    pub(super) args: &'a Judging,
    pub(super) terminal: &'a Terminal,
    pub(super) actions: Actions,
    /// The properties, then the alarms.
    pub(super) names: Vec<String>,
    pub(super) properties: usize,
    /// How many violations have been told.
    pub(super) told: u64,
    counts: Vec<u64>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        args: &'a Judging,
        terminal: &'a Terminal,
        actions: Actions,
        all: &[Requirement],
    ) -> Judge<'a> {
        let names: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
        let properties = all.iter().filter(|one| one.sort == Sort::Property).count();
        let counts = vec![0; names.len()];
        Judge { args, terminal, actions, names, properties, told: 0, counts }
    }

    pub(super) fn tell(&mut self, findings: &Findings) {
        let time = findings.time();
        for judged in findings.properties() {
            let number = judged.property as usize;
            if judged.violations > self.counts[number] {
                self.counts[number] = judged.violations;
                let word =
                    if judged.truth == invigil_monitor::mac::Truth::False { "violated" } else { "undefined" };
                self.violation("property", number, word, time);
            }
        }
        for raised in findings.alarms() {
            self.violation("alarm", self.properties + raised.alarm as usize, "raised", time);
        }
        for done in findings.done() {
            match done {
                Done::Invoke(action) => self.actions.invoke(action.0, time),
                Done::Print(text) if self.args.json || self.args.quiet => {
                    self.terminal.complain(&printable(text))
                }
                // That nobody reads it is no trouble; what else is wrong will be told with the report.
                Done::Print(text) => drop(self.terminal.print(&(printable(text) + "\n"))),
            }
        }
    }

    fn violation(&mut self, sort: &str, number: usize, word: &str, time: i64) {
        self.told += 1;
        if self.args.json || self.args.quiet {
            return;
        }
        let style = &self.terminal.style;
        let word = style.paint(Paint::Bad, word);
        let name = style.paint(Paint::Title, &self.names[number]);
        let _ = self.terminal.print(&format!("{time:>10} ms  {sort} {name} {word}\n"));
    }
}
