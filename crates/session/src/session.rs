//! The session: what it holds, and what can be asked of it while the program stands still.

use crate::checkpoints::{Checkpoints, JointCheckpoint};
use crate::history::{History, Past};
use crate::listen::{Commander, Listener, Speaker, Unheard};
use crate::monitored::{Monitored, add_needs};
use crate::options::Options;
use crate::outcome::{Reason, VerdictChange};
use crate::pace::Pace;
use crate::playing::Playing;
use crate::record::Recorder;
use crate::report::Violation;
use crate::subject::{Done, Ending, PointId, ScriptsStep, Subject, Trouble};
use invigil_check::PathStep;
use invigil_expr::diag::nearest;
use invigil_expr::program::CodeId;
use invigil_lang::scn::Scenario;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Batch, Catalog, EventSet, SymbolId};
use invigil_monitor::mac::{Call, Plan, Scripts};
use invigil_monitor::slices::{Gone, SliceId};
use invigil_monitor::watch::Watch;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

/// A program with its monitors and scenarios.
pub struct Session {
    pub(crate) subject: Box<dyn Subject>,
    pub(crate) catalog: Catalog,
    pub(crate) monitors: Vec<Monitored>,
    /// Where each property started.
    pub(crate) origins: Vec<PathStep>,
    /// None while one plays.
    pub(crate) scenarios: Vec<Option<Playing>>,
    pub(crate) listener: Box<dyn Listener>,
    pub(crate) commander: Option<Box<dyn Commander>>,
    pub(crate) options: Options,
    pub(crate) history: History,
    pub(crate) checkpoints: Checkpoints,
    /// What makes further events of events, unless it does so inside the program for good.
    pub(crate) scripts: Scripts,
    /// Where it does so.
    pub(crate) scripts_step: ScriptsStep,
    /// The events that they make.
    pub(crate) derived: EventSet,
    /// Methods of the program that are called when an event happens.
    pub(crate) calls: Vec<(SymbolId, Call)>,
    /// The events at which the program stands, with those that are made of them.
    pub(crate) batch: Batch,
    /// The functions that points of scenarios call.
    pub(crate) callbacks: BTreeMap<PointId, (usize, CodeId)>,
    /// The events that the subject was asked for.
    pub(crate) needs: EventSet,
    /// Working memory for the same.
    pub(crate) wanted: EventSet,
    /// Objects that are no more, until there are enough to look for them.
    pub(crate) gone: Gone,
    pub(crate) turn: Turn,
    pub(crate) state: State,
    pub(crate) violations: Vec<Violation>,
    pub(crate) recorder: Option<Recorder>,
    /// Whether it is worth while to have monitors step inside.
    pub(crate) pace: Pace,
    /// Whether the program took monitors with it that stepped inside.
    pub(crate) blind: bool,
    /// At which event the last automatic checkpoint was taken.
    pub(crate) last_automatic: u64,
    current: usize,
    pub(crate) since: Instant,
}

/// How far a session has come.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// Nothing has happened.
    New,
    /// The program can be run.
    Ready,
    /// The program is no more, and this is how it ended if that is known.
    Ended(Option<Ending>),
}

/// What the handling of the present event, or whatever else made the program stop, has come to.
#[derive(Default)]
pub(crate) struct Turn {
    /// The changes that scenarios may react to.
    pub(crate) changes: Vec<VerdictChange>,
    /// Functions to call when all else is done.
    pub(crate) deferred: Vec<Deferred>,
    /// Commands that properties gave.
    pub(crate) commands: Vec<String>,
    /// Why the program is to be suspended.
    pub(crate) reasons: Vec<Reason>,
    /// What the block that plays is about.
    pub(crate) about: Option<Reason>,
    /// Whether a checkpoint was restored.
    pub(crate) restored: bool,
    /// Whether the program is to be ended.
    pub(crate) stop: bool,
}

/// A function of a scenario that is called later.
pub(crate) struct Deferred {
    pub(crate) scenario: usize,
    pub(crate) function: CodeId,
    /// The change that the scenario reacted to when it deferred the function.
    pub(crate) change: Option<VerdictChange>,
    /// What that was about.
    pub(crate) about: Option<Reason>,
}

impl Turn {
    /// Notes a reason for suspending the program, once.
    pub(crate) fn suspend(&mut self, reason: Reason) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}

impl Session {
    /// A session that has not started.
    ///
    /// `properties` are watched in this order, and `catalog` has the events of all of them. The scenarios
    /// must have been compiled for these properties in this order. Without any scenario the program is
    /// suspended where a property enters a non-accepting state.
    pub fn new(
        subject: Box<dyn Subject>,
        properties: Vec<Arc<Automaton>>,
        catalog: Catalog,
        mut scenarios: Vec<Arc<Scenario>>,
        options: Options,
    ) -> Session {
        if scenarios.is_empty() {
            let automata: Vec<&Automaton> = properties.iter().map(|property| &**property).collect();
            scenarios.push(Arc::new(Scenario::default_for(&automata)));
        }
        let monitors: Vec<Monitored> = properties
            .into_iter()
            .enumerate()
            .map(|(at, property)| Monitored::new(at, property, &scenarios))
            .collect();
        Session {
            subject,
            catalog,
            origins: monitors.iter().map(|monitored| origin(&monitored.watch)).collect(),
            monitors,
            scenarios: scenarios.into_iter().map(|scenario| Some(Playing::new(scenario))).collect(),
            listener: Box::new(Unheard),
            commander: None,
            history: History::new(options.history),
            options,
            checkpoints: Checkpoints::default(),
            scripts: Scripts::default(),
            scripts_step: ScriptsStep::Outside,
            derived: EventSet::default(),
            calls: Vec::new(),
            batch: Batch::default(),
            callbacks: BTreeMap::new(),
            needs: EventSet::default(),
            wanted: EventSet::default(),
            gone: Gone::default(),
            turn: Turn::default(),
            state: State::New,
            violations: Vec::new(),
            recorder: None,
            pace: Pace::default(),
            blind: false,
            last_automatic: 0,
            current: 0,
            since: Instant::now(),
        }
    }

    /// Lets someone hear what is said.
    pub fn set_listener(&mut self, listener: Box<dyn Listener>) {
        self.listener = listener;
    }

    /// Lets someone run the commands that blocks give with `debugger(command)`.
    pub fn set_commander(&mut self, commander: Box<dyn Commander>) {
        self.commander = Some(commander);
    }

    /// Has scripts make events of events, for the properties to follow. Before the session starts.
    ///
    /// They step inside the program where that can be, unless what it tells is recorded: who reads the recording makes the
    /// same of it again.
    ///
    /// # Errors
    /// In words, if a script cannot be run.
    pub fn set_scripts(&mut self, plans: Vec<Plan>) -> Result<(), String> {
        let scripts = Scripts::new(&plans)?;
        scripts.gives().for_each(|symbol| self.derived.insert(symbol));
        self.calls = plans.iter().flat_map(|plan| plan.calls.iter().cloned()).collect();
        for monitored in &mut self.monitors {
            self.calls.iter().for_each(|(symbol, _)| monitored.hears(*symbol));
        }
        if self.recorder.is_none() {
            self.scripts_step = self.subject.take_scripts(&plans);
        }
        if self.scripts_step != ScriptsStep::Inside {
            self.scripts = scripts;
        }
        Ok(())
    }

    /// Writes every event from now on to a recording.
    pub fn set_recorder(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    // ---- the program -----------------------------------------------------------------------------------

    /// The program. Run it, and take and restore checkpoints, through the session.
    pub fn subject(&mut self) -> &mut dyn Subject {
        &mut *self.subject
    }

    /// Whether the program has started and is still there.
    pub fn is_running(&self) -> bool {
        self.state == State::Ready && self.subject.is_alive()
    }

    /// How the program ended, if it did.
    pub fn ending(&self) -> Option<&Ending> {
        match &self.state {
            State::Ended(ending) => ending.as_ref(),
            _ => None,
        }
    }

    /// Whether the program ended with monitors inside that could not tell any more what they had seen. Then nothing is known
    /// of what happened since it was last resumed.
    pub fn is_blind(&self) -> bool {
        self.blind
    }

    /// What can be chosen about the session. Limits count from now on.
    pub fn options(&mut self) -> &mut Options {
        &mut self.options
    }

    // ---- monitors --------------------------------------------------------------------------------------

    /// The events that the properties mention.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The properties, in the order they are watched.
    pub fn watches(&self) -> impl ExactSizeIterator<Item = &Watch> {
        self.monitors.iter().map(|monitored| &monitored.watch)
    }

    /// A property by its position.
    pub fn watch(&self, property: usize) -> Option<&Watch> {
        self.monitors.get(property).map(|monitored| &monitored.watch)
    }

    /// Changes something about a property, such as its state, and asks the subject for the events that are
    /// needed then.
    ///
    /// # Errors
    /// If there is no such property, or the subject cannot follow.
    pub fn change<R>(&mut self, property: usize, change: impl FnOnce(&mut Watch) -> R) -> Done<R> {
        let count = self.monitors.len();
        let Some(monitored) = self.monitors.get_mut(property) else {
            return Err(Trouble::Request(format!(
                "there is no property {}: there are {count}",
                property + 1
            )));
        };
        let result = change(&mut monitored.watch);
        self.update_needs()?;
        Ok(result)
    }

    /// The position of the property of this name, or of this number as a person counts.
    ///
    /// # Errors
    /// If there is none, with the nearest name.
    pub fn find_property(&self, name: &str) -> Done<usize> {
        let names = || self.watches().map(|watch| watch.automaton().name.as_str());
        let by_number =
            name.parse::<usize>().ok().filter(|number| (1..=self.monitors.len()).contains(number));
        let found = names().position(|known| known == name).or(by_number.map(|number| number - 1));
        found.ok_or_else(|| {
            let help =
                nearest(name, names()).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            Trouble::Request(format!("there is no property `{name}`{help}"))
        })
    }

    /// The property that commands are about.
    pub fn current_property(&self) -> usize {
        self.current
    }

    /// Makes commands be about a property.
    ///
    /// # Errors
    /// If there is no such property.
    pub fn set_current_property(&mut self, property: usize) -> Done {
        self.change(property, |_| ())?;
        self.current = property;
        Ok(())
    }

    /// The scenarios' variables that have a value, in words, per scenario.
    pub fn scenario_variables(&self) -> Vec<(String, Vec<(String, String)>)> {
        let playing = self.scenarios.iter().flatten();
        playing.map(|playing| (playing.scenario.name.clone(), playing.variables())).collect()
    }

    // ---- the past --------------------------------------------------------------------------------------

    /// How many events there were: the number of the last.
    pub fn event_count(&self) -> u64 {
        self.history.count()
    }

    /// The numbers of the events that are remembered.
    pub fn remembered(&self) -> RangeInclusive<u64> {
        self.history.kept()
    }

    /// Some events, by their numbers, as far as they are remembered.
    pub fn events(&self, numbers: RangeInclusive<u64>) -> Vec<Past> {
        let automata: Vec<&Automaton> = self.watches().map(|watch| &**watch.automaton()).collect();
        self.history.events(numbers, &self.catalog, &automata)
    }

    /// How a slice came to where it is, the latest step last; and how many steps before those there were, if
    /// that is known.
    pub fn path(&self, property: usize, slice: SliceId) -> (Vec<PathStep>, Option<u64>) {
        match (self.watch(property), self.origins.get(property)) {
            (Some(watch), Some(origin)) => {
                self.history.path(property, slice, watch.automaton(), &self.catalog, origin)
            }
            _ => (Vec::new(), None),
        }
    }

    /// The checkpoints, in the order they were taken.
    pub fn checkpoints(&mut self) -> Vec<JointCheckpoint> {
        self.weigh();
        self.checkpoints.iter().map(|kept| kept.info.clone()).collect()
    }

    /// The checkpoint that the run comes from: the last that was taken or restored.
    pub fn current_checkpoint(&self) -> Option<u32> {
        self.checkpoints.current
    }

    /// The violations so far, as far as they are told.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    // ---- for the other parts of the session ------------------------------------------------------------

    pub(crate) fn say(&mut self, line: &str) {
        self.listener.line(Speaker::Session, line);
    }

    pub(crate) fn property_name(&self, property: usize) -> String {
        self.watch(property).map_or(String::new(), |watch| watch.automaton().name.clone())
    }

    /// Asks the subject for the events that are needed now, if those are others than before.
    pub(crate) fn update_needs(&mut self) -> Done {
        add_needs(&mut self.monitors, &mut self.wanted);
        self.wanted.union(self.scripts.needs());
        if self.wanted != self.needs && self.state != State::New {
            self.subject.instrument(&self.wanted)?;
            std::mem::swap(&mut self.wanted, &mut self.needs);
        }
        Ok(())
    }
}

/// Where a property starts.
fn origin(watch: &Watch) -> PathStep {
    let (automaton, slices) = (watch.automaton(), watch.slices());
    let state = &automaton.states[usize::from(automaton.initial)];
    PathStep {
        event: None,
        branch: None,
        state: state.name.clone(),
        verdict: state.verdict,
        env: slices.root().map_or(Vec::new(), |root| invigil_check::env(automaton, slices, root)),
    }
}
