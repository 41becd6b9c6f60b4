//! The interactively verified program (figures 3.13 to 3.16): an execution controller, a monitor, a scenario.

use crate::formal::controller::{Command, Controller, Mode, Output, Reply, Rule};
use crate::formal::monitor::{Monitor, MonitorState, State};
use crate::formal::program::{Addr, Mem};
use crate::formal::scenario::{Scenario, ScenarioState};
use invigil_semantics::{Language, Semantics};

/// `Irv(Pgrm, Mon, Scn)`, over any execution controller.
#[derive(Clone, Debug)]
pub(crate) struct Verified<C> {
    pub(crate) ec: C,
    pub(crate) monitor: Monitor,
    pub(crate) scenario: Scenario,
    /// The commands of the user.
    pub(crate) commands: Vec<Command>,
}

/// A configuration `(P, D, M, S)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Irv<D> {
    pub(crate) ec: D,
    pub(crate) m: MonitorState,
    pub(crate) s: ScenarioState,
    /// Whether INIT was received.
    pub(crate) started: bool,
}

/// One step, with everything observable about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IrvAct {
    pub(crate) input: Option<Command>,
    pub(crate) rule: Rule,
    pub(crate) output: Output,
    /// The verdicts of the monitor.
    pub(crate) verdicts: Vec<State>,
    /// The scenario's commands, or the user's one, to which a rule applied, with the replies.
    pub(crate) commands: Vec<(Command, Reply)>,
}

impl IrvAct {
    /// The observable action, `EXEC(m, a)`, if it is one.
    pub(crate) fn observable(&self) -> Option<(Mem, Addr)> {
        match &self.output {
            Output::Executed(m, pc) => Some((m.clone(), *pc)),
            _ => None,
        }
    }
}

impl<C: Controller> Verified<C> {
    pub(crate) fn start(&self) -> Irv<C::Config> {
        Irv { ec: self.ec.initial(), m: self.monitor.initial(), s: self.scenario.initial(), started: false }
    }

    pub(crate) fn mode(&self, at: &Irv<C::Config>) -> Mode {
        self.ec.mode(&at.ec)
    }

    /// Rule INIT.
    pub(crate) fn init(&self, at: &Irv<C::Config>) -> (IrvAct, Irv<C::Config>) {
        let mut to = Irv { started: true, ..at.clone() };
        to.ec = self.ec.instrument(&to.ec, &self.monitor.events_needed(to.m.state));
        let verdicts = vec![to.m.state];
        let commands = self.react(&mut to, &verdicts);
        (IrvAct { input: None, rule: Rule::Init, output: Output::Silent, verdicts, commands }, to)
    }

    /// Rules NORMALEXEC, EXECPOINT and EXECEVENT.
    pub(crate) fn run(&self, at: &Irv<C::Config>) -> Vec<(IrvAct, Irv<C::Config>)> {
        self.ec.run(&at.ec).into_iter().map(|step| self.after(at, None, step)).collect()
    }

    /// Rules STEP, STEPPOINT and STEPEVENT.
    pub(crate) fn step(&self, at: &Irv<C::Config>) -> Vec<(IrvAct, Irv<C::Config>)> {
        self.ec.step(&at.ec).into_iter().map(|step| self.after(at, Some(Command::Step), step)).collect()
    }

    /// The common part of figure 3.14: events go to the monitor, its needs back; verdicts and points go
    /// to the scenario.
    ///
    /// [9]: the monitor has all events of the step before the scenario reacts to the first verdict. The point
    /// is handled from then on, so a checkpoint that a reaction takes must not miss the rest.
    fn after(
        &self,
        at: &Irv<C::Config>,
        input: Option<Command>,
        (rule, output, ec): (Rule, Output, C::Config),
    ) -> (IrvAct, Irv<C::Config>) {
        let mut to = Irv { ec, ..at.clone() };
        let mut verdicts = vec![];
        let commands = match &output {
            Output::Events(events) => {
                let (said, needed, m) = self.monitor.events(&to.m, events);
                to.m = m;
                to.ec = self.ec.instrument(&to.ec, &needed);
                verdicts = said;
                self.react(&mut to, &verdicts)
            }
            Output::Scenario(points) => {
                let (command, s) = self.scenario.points(&to.s, points);
                to.s = s;
                self.obey(&mut to, command)
            }
            Output::Silent | Output::Developer(_) | Output::Executed(..) => vec![],
        };
        (IrvAct { input, rule, output, verdicts, commands }, to)
    }

    /// The scenario gets every verdict in turn.
    fn react(&self, to: &mut Irv<C::Config>, verdicts: &[State]) -> Vec<(Command, Reply)> {
        let mut obeyed = vec![];
        for verdict in verdicts {
            let (command, s) = self.scenario.verdict(&to.s, *verdict);
            to.s = s;
            obeyed.extend(self.obey(to, command));
        }
        obeyed
    }

    /// Rules SCNCMD and SCNCMDNOP. [10]: a command for which no rule applies does nothing, and is answered.
    fn obey(&self, to: &mut Irv<C::Config>, mut command: Option<Command>) -> Vec<(Command, Reply)> {
        let mut obeyed = vec![];
        while let Some(given) = command {
            let mut reply = Reply::Nothing;
            if let Some((said, after)) = self.command(to, &given) {
                *to = after;
                reply = said;
                obeyed.push((given, reply.clone()));
            }
            (command, to.s) = self.scenario.reply(&to.s, &reply);
        }
        obeyed
    }

    /// A command of the user as an act.
    pub(crate) fn commanded(
        &self,
        at: &Irv<C::Config>,
        command: &Command,
    ) -> Option<(IrvAct, Irv<C::Config>)> {
        let (reply, to) = self.command(at, command)?;
        let commands = vec![(command.clone(), reply)];
        let (rule, output) = (Rule::Command, Output::Silent);
        Some((IrvAct { input: Some(command.clone()), rule, output, verdicts: vec![], commands }, to))
    }

    /// Rules CKPT, RESTORE and OTHERCMD. A checkpoint's number is the same on both sides, so that the pair of
    /// the thesis is one number here.
    pub(crate) fn command(&self, at: &Irv<C::Config>, command: &Command) -> Option<(Reply, Irv<C::Config>)> {
        let (reply, ec) = self.ec.command(&at.ec, command)?;
        let mut to = Irv { ec, ..at.clone() };
        match command {
            Command::Checkpoint => {
                let (number, m) = self.monitor.checkpoint(&at.m);
                assert_eq!(reply, Reply::Checkpoint(number));
                to.m = m;
            }
            Command::Restore(number) => to.m = self.monitor.restore(&at.m, *number)?,
            _ => {}
        }
        Some((reply, to))
    }
}

impl<C: Controller> Language for Verified<C> {
    type Config = Irv<C::Config>;
    type Action = IrvAct;
}

impl<C: Controller> Semantics for Verified<C> {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        [self.start()]
    }

    fn actions(&self, at: &Self::Config) -> impl IntoIterator<Item = IrvAct> {
        self.steps(at).into_iter().map(|(act, _)| act).collect::<Vec<_>>()
    }

    fn execute(&self, at: &Self::Config, action: &IrvAct) -> impl IntoIterator<Item = Self::Config> {
        let by = self.steps(at).into_iter().filter(|(act, _)| act == action);
        by.map(|(_, to)| to).collect::<Vec<_>>()
    }

    fn steps(&self, at: &Self::Config) -> impl IntoIterator<Item = (IrvAct, Self::Config)> {
        if !at.started {
            return vec![self.init(at)];
        }
        let mut steps = match self.mode(at) {
            Mode::Passive => self.run(at),
            Mode::Interactive => vec![],
        };
        for command in &self.commands {
            if *command == Command::Step {
                if self.mode(at) == Mode::Interactive {
                    steps.extend(self.step(at));
                }
            } else {
                steps.extend(self.commanded(at, command));
            }
        }
        steps
    }
}
