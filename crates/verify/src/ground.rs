//! The space on which a search runs: the model, compiled if it can be, under its set-up.

use crate::task::{Manner, Task};
use invigil_compile::Compiled;
use invigil_explore::plain::Plain;
use invigil_explore::reading::{self, Reading};
use invigil_explore::reduced::{Reduced, Reduction, Unsound};
use invigil_explore::scheduled::{Performer, Scheduled, Setup};
use invigil_explore::{Pulse, Report, Search, Space, bitstate, breadth, compacted, depth, swarm, walk};
use invigil_model::{Expression, Model, Omega};

/// What a search looks at.
#[derive(Default)]
pub(crate) struct Look<'a> {
    /// What must not be reached.
    pub(crate) bad: Vec<Expression>,
    /// The expressions that make a difference.
    pub(crate) seen: Vec<&'a Expression>,
    /// Why all orders must be looked at, if so.
    pub(crate) whole: Option<&'static str>,
}

/// A model ready to be searched.
pub(crate) struct Ground<'a> {
    model: &'a Model,
    engine: Engine<'a>,
    /// Why the model is not compiled.
    pub(crate) interpreted: Option<String>,
    performers: Vec<Performer>,
    /// None if nobody asked for it; else the reduction, or why there is none.
    reduction: Option<Result<Reduction, &'static str>>,
}

enum Engine<'a> {
    Compiled(Box<Compiled>),
    /// Where there is no compiler for this machine, or the model is too large for it.
    Plain(Plain<'a>),
}

impl<'a> Ground<'a> {
    pub(crate) fn new(task: &Task<'a>, look: &Look<'_>) -> Ground<'a> {
        let (engine, interpreted) = match Compiled::new(task.model, &look.bad) {
            Ok(compiled) => (Engine::Compiled(Box::new(compiled)), None),
            Err(why) => (Engine::Plain(Plain::new(task.model, look.bad.clone())), Some(why.0)),
        };
        let reduction = task.reduces.then(|| match look.whole {
            Some(why) => Err(why),
            None if task.setup != Setup::default() => Err(Unsound::Scheduled.words()),
            None => Reduction::of(task.model, &look.seen, &[]).map_err(Unsound::words),
        });
        Ground { model: task.model, engine, interpreted, performers: task.performers(), reduction }
    }

    /// Gives the space to `work`.
    pub(crate) fn with<T>(&self, task: &Task<'_>, work: impl FnOnce(&Self, &dyn Space) -> T) -> T {
        let base: &dyn Space = match &self.engine {
            Engine::Compiled(compiled) => &**compiled,
            Engine::Plain(plain) => plain,
        };
        match &self.reduction {
            Some(Ok(reduction)) => work(self, &Reduced::new(base, reduction)),
            _ if task.setup == Setup::default() => work(self, base),
            _ => work(self, &Scheduled::new(base, &self.performers, &task.setup)),
        }
    }

    /// Whether it is reduced, if somebody asked for it, or why not.
    pub(crate) fn reduction(&self) -> Option<Result<(), &'static str>> {
        self.reduction.as_ref().map(|reduction| reduction.as_ref().map(|_| ()).map_err(|why| *why))
    }

    /// An automaton, ready to read.
    pub(crate) fn reading<'b>(&'b self, omega: &'b Omega) -> Box<dyn Reading + 'b> {
        match &self.engine {
            Engine::Compiled(compiled) => match compiled.reading(omega) {
                Ok(compiled) => Box::new(compiled),
                Err(_) => Box::new(reading::Plain { model: self.model, omega }),
            },
            Engine::Plain(_) => Box::new(reading::Plain { model: self.model, omega }),
        }
    }
}

impl Manner {
    /// Looks for configurations in this manner, in any space.
    pub fn search(self, space: &impl Space, search: &Search, pulse: &impl Pulse) -> Report {
        match self {
            Manner::Breadth => breadth(space, search, pulse),
            Manner::Depth => depth(space, search, pulse),
            Manner::Walk(walks) => walk(space, &walks, search, pulse),
            Manner::Compact { kept, bytes } => compacted(space, kept, bytes, search, pulse),
            Manner::Bitstate(bits) => bitstate(space, &bits, search, pulse),
            Manner::Swarm(searches) => swarm(space, &searches, search, pulse),
        }
    }
}
