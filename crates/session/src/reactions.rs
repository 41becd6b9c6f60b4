//! What scenarios do: when they begin, when a property changes its state, and when all else is done.

use crate::listen::{Commander, Speaker};
use crate::outcome::{Reason, VerdictChange};
use crate::playing::Part;
use crate::session::{Deferred, Session};
use invigil_expr::program::CodeId;
use invigil_lang::scn::ast::Moment;
use invigil_monitor::automaton::StateId;
use invigil_monitor::verdict::Failure;

impl Session {
    /// Runs what scenarios do before anything happens.
    pub(crate) fn initialize_scenarios(&mut self) {
        for scenario in 0..self.scenarios.len() {
            let playing = self.scenarios[scenario].as_ref();
            if let Some(code) = playing.and_then(|playing| playing.scenario.initialization) {
                self.turn.about = Some(Reason::Start);
                self.play(scenario, Part::Block(code), None);
            }
        }
    }

    /// Lets the scenarios react to the changes of this turn, in the order of the properties, and in the order
    /// in which reactions are written; then calls what was deferred.
    ///
    /// A restore ends the turn: what is left of it belongs to a run that is undone.
    pub(crate) fn react(&mut self) {
        let mut changes = std::mem::take(&mut self.turn.changes);
        'turn: for change in &changes {
            for scenario in 0..self.scenarios.len() {
                let mut from = 0;
                while let Some((at, code)) = self.next_reaction(scenario, from, change) {
                    self.turn.about = Some(Reason::Verdict(change.clone()));
                    self.play(scenario, Part::Block(code), Some(change));
                    if self.turn.restored || self.turn.stop {
                        break 'turn;
                    }
                    from = at + 1;
                }
            }
        }
        changes.clear();
        self.turn.changes = changes;
        self.call_deferred();
    }

    /// The first reaction of a scenario, from a position on, that is about a change.
    fn next_reaction(&self, scenario: usize, from: usize, change: &VerdictChange) -> Option<(usize, CodeId)> {
        let automaton = self.watch(change.property)?.automaton();
        let state = |name: &str| automaton.state_named(name);
        let (left, entered): (Option<StateId>, Option<StateId>) = (state(&change.from), state(&change.to));
        let reactions = &self.scenarios.get(scenario)?.as_ref()?.scenario.reactions;
        let is_due = |reaction: &invigil_lang::scn::Reaction| {
            let state = match reaction.moment {
                Moment::Entering => entered,
                Moment::Leaving => left,
            };
            let states = reaction.states.get(change.property);
            state.is_some_and(|state| states.is_some_and(|states| states.contains(state)))
        };
        let mut due = reactions.iter().enumerate().skip(from).filter(|(_, reaction)| is_due(reaction));
        due.next().map(|(at, reaction)| (at, reaction.code))
    }

    /// Calls the functions that were deferred. Those that they defer wait for the next turn.
    pub(crate) fn call_deferred(&mut self) {
        for Deferred { scenario, function, change, about } in std::mem::take(&mut self.turn.deferred) {
            if self.turn.stop {
                return;
            }
            self.turn.about = about;
            self.play(scenario, Part::Function(function, 0), change.as_ref());
        }
    }

    /// Runs a part of a scenario. An error in it suspends the program.
    pub(crate) fn play(&mut self, scenario: usize, part: Part, change: Option<&VerdictChange>) {
        let Some(mut playing) = self.scenarios.get_mut(scenario).and_then(Option::take) else { return };
        let property = change.map_or(String::new(), |change| self.property_name(change.property));
        let script = std::sync::Arc::clone(&playing.scenario);
        let mut hosting = crate::hosting::Hosting::new(self, scenario, script, change);
        let result = playing.run(part, change, &property, &mut hosting);
        self.scenarios[scenario] = Some(playing);
        if let Err(fault) = result {
            let failure = Failure { message: fault.message, span: fault.span };
            self.turn.suspend(Reason::ScenarioFailed { scenario, failure });
        }
    }

    /// Runs the commands that properties gave on this event, and tells what they say.
    pub(crate) fn run_commands(&mut self) {
        for command in std::mem::take(&mut self.turn.commands) {
            let line = match self.command(&command) {
                Ok(words) | Err(words) => words,
            };
            line.lines().for_each(|line| self.listener.line(Speaker::Session, line));
        }
    }

    /// Runs a command of the prompt.
    ///
    /// # Errors
    /// With words for the user, if it cannot be run, or there is no prompt.
    pub fn command(&mut self, command: &str) -> Result<String, String> {
        let Some(mut commander) = self.commander.take() else {
            return Err(format!("there is no prompt here to run `{command}`"));
        };
        let result = Commander::command(&mut *commander, self, command);
        self.commander.get_or_insert(commander);
        result
    }
}
