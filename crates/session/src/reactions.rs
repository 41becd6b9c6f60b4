//! When scenarios run: at the start, when a property changes its state, and after all reactions.

use crate::listener::{CommandRunner, MessageSource};
use crate::outcome::{StateChange, SuspendReason};
use crate::running_scenario::ScenarioEntry;
use crate::session::{Deferred, Session};
use invigil_expr::program::CodeId;
use invigil_lang::scn::ast::Trigger;
use invigil_monitor::automaton::StateId;
use invigil_monitor::verdict::MonitorFault;

impl Session {
    /// Runs the initialization of each scenario.
    pub(crate) fn initialize_scenarios(&mut self) {
        for scenario in 0..self.scenarios.len() {
            let running = self.scenarios[scenario].as_ref();
            if let Some(code) = running.and_then(|running| running.scenario.initialization) {
                self.handling.cause = Some(SuspendReason::Start);
                self.run_scenario(scenario, ScenarioEntry::Block(code), None);
            }
        }
    }

    /// Lets the scenarios react to the changes of this stop, in the order of the properties and of the reactions in the
    /// file. Then calls the deferred functions.
    ///
    /// A restore ends the handling: remaining changes belong to a run that is undone.
    pub(crate) fn react(&mut self) {
        let mut changes = std::mem::take(&mut self.handling.changes);
        'changes: for change in &changes {
            for scenario in 0..self.scenarios.len() {
                let mut first = 0;
                while let Some((at, code)) = self.next_reaction(scenario, first, change) {
                    self.handling.cause = Some(SuspendReason::StateChange(change.clone()));
                    self.run_scenario(scenario, ScenarioEntry::Block(code), Some(change));
                    if self.handling.restored || self.handling.kill {
                        break 'changes;
                    }
                    first = at + 1;
                }
            }
        }
        changes.clear();
        self.handling.changes = changes;
        self.call_deferred();
    }

    /// Finds the first reaction of a scenario, from position `first` on, that applies to a change.
    fn next_reaction(&self, scenario: usize, first: usize, change: &StateChange) -> Option<(usize, CodeId)> {
        let automaton = self.monitor(change.property)?.automaton();
        let state = |name: &str| automaton.state_named(name);
        let (left, entered): (Option<StateId>, Option<StateId>) = (state(&change.from), state(&change.to));
        let reactions = &self.scenarios.get(scenario)?.as_ref()?.scenario.reactions;
        let is_due = |reaction: &invigil_lang::scn::Reaction| {
            let state = match reaction.trigger {
                Trigger::Entering => entered,
                Trigger::Leaving => left,
            };
            let states = reaction.states.get(change.property);
            state.is_some_and(|state| states.is_some_and(|states| states.contains(state)))
        };
        let mut due = reactions.iter().enumerate().skip(first).filter(|(_, reaction)| is_due(reaction));
        due.next().map(|(at, reaction)| (at, reaction.code))
    }

    /// Calls the deferred functions. Those that they defer in turn wait until the next stop.
    pub(crate) fn call_deferred(&mut self) {
        for Deferred { scenario, function, change, cause } in std::mem::take(&mut self.handling.deferred) {
            if self.handling.kill {
                return;
            }
            self.handling.cause = cause;
            self.run_scenario(scenario, ScenarioEntry::Function(function, 0), change.as_ref());
        }
    }

    /// Runs a block or function of a scenario. A fault in it suspends the target.
    pub(crate) fn run_scenario(
        &mut self,
        scenario: usize,
        entry: ScenarioEntry,
        change: Option<&StateChange>,
    ) {
        let Some(mut running) = self.scenarios.get_mut(scenario).and_then(Option::take) else { return };
        let property = change.map_or(String::new(), |change| self.property_name(change.property));
        let script = std::sync::Arc::clone(&running.scenario);
        let mut host = crate::scenario_host::ScenarioHost::new(self, scenario, script, change);
        let result = running.run(entry, change, &property, &mut host);
        self.scenarios[scenario] = Some(running);
        if let Err(fault) = result {
            let failure = MonitorFault { message: fault.message, span: fault.span };
            self.handling.suspend(SuspendReason::ScenarioFailed { scenario, failure });
        }
    }

    /// Runs the commands that properties issued on this event, and reports their output.
    pub(crate) fn run_commands(&mut self) {
        for command in std::mem::take(&mut self.handling.commands) {
            let output = match self.command(&command) {
                Ok(output) | Err(output) => output,
            };
            output.lines().for_each(|line| self.listener.message(MessageSource::Session, line));
        }
    }

    /// Runs a command of the prompt.
    ///
    /// # Errors
    /// A message for the user, if the command cannot be run, or there is no prompt.
    pub fn command(&mut self, command: &str) -> Result<String, String> {
        let Some(mut command_runner) = self.command_runner.take() else {
            return Err(format!("`{command}` cannot be run: there is no prompt"));
        };
        let result = CommandRunner::command(&mut *command_runner, self, command);
        self.command_runner.get_or_insert(command_runner);
        result
    }
}
