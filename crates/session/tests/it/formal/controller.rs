//! Inputs and outputs of an execution controller [Jakse 2019, section 3.3.1 and definition 3.3.3.1], so that different
//! ones can be used in the same interactively verified program.

use crate::formal::points::{Event, Point, SymbolicEvent};
use crate::formal::program::{Addr, Mem, Sym, Val};
use std::fmt::Debug;
use std::hash::Hash;

/// Whether the program runs or the user is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    Passive,
    Interactive,
}

/// Table 3.1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Command {
    SetAddr(Addr, Val),
    GetAddr(Addr),
    SetSym(Sym, Val),
    GetSym(Sym),
    SetPc(Addr),
    GetPc,
    Checkpoint,
    Restore(usize),
    Continue,
    Interrupt,
    Step,
    SetPoint(Point),
    RemovePoint(Point),
}

/// The reply to a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reply {
    Nothing,
    Value(Val),
    Pc(Addr),
    Checkpoint(usize),
}

/// The output of one execution step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Output {
    /// Nothing for the user, the scenario or the monitor.
    Silent,
    /// The user's points: the mode is interactive now.
    Developer(Vec<Point>),
    /// The scenario's points.
    Scenario(Vec<Point>),
    /// Events for the monitor.
    Events(Vec<Event>),
    /// `EXEC(m, a)`: the program's own memory and the address of what was executed.
    Executed(Mem, Addr),
}

/// The rule that was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    Init,
    DevWatch,
    ScnWatch,
    EvtWatch,
    DevBreak,
    ScnBreak,
    EvtBreak,
    TrapNoBreak,
    NormalExec,
    Stop,
    /// A rule of figures 3.8 to 3.11, named by its input.
    Command,
}

/// An execution controller, as an input-output transition system.
pub(crate) trait Controller {
    /// A program's configuration with a debugger's.
    type Config: Clone + Eq + Hash + Debug;

    /// The initial configuration: interactive, without points.
    fn initial(&self) -> Self::Config;

    fn mode(&self, at: &Self::Config) -> Mode;

    fn with_mode(&self, at: &Self::Config, mode: Mode) -> Self::Config;

    /// The execution steps in passive mode, `-/o`: none when the program is at its end.
    fn run(&self, at: &Self::Config) -> Vec<(Rule, Output, Self::Config)>;

    /// `instr(events)`.
    fn instrument(&self, at: &Self::Config, events: &[SymbolicEvent]) -> Self::Config;

    /// Every command except `step`; `None` if no rule applies.
    fn command(&self, at: &Self::Config, command: &Command) -> Option<(Reply, Self::Config)>;

    /// Rules STEP and STEPREDO: one execution step, and interactive again.
    ///
    /// The premise of STEPREDO is garbled in print and follows its prose here: a step that handles a point
    /// executes nothing, and the next one continues from there. Both rules therefore coincide.
    fn step(&self, at: &Self::Config) -> Vec<(Rule, Output, Self::Config)> {
        let interactive = |(rule, output, to)| (rule, output, self.with_mode(&to, Mode::Interactive));
        self.run(&self.with_mode(at, Mode::Passive)).into_iter().map(interactive).collect()
    }
}
