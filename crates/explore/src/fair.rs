//! Fairness: who must not be kept waiting for ever.
//!
//! A space with demands for fairness marks its steps; a search for accepting cycles in it, or in its product with an
//! automaton, then finds fair executions only. What is enabled is what leads somewhere, or goes wrong.

use crate::product::{MAX_MARKS, TooManyMarks};
use crate::space::{Space, Successors};
use invigil_model::{Actions, Model, ProcessId};

/// How fair an execution must be to some actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strength {
    /// If from some point on one of them is enabled all the time, one of them is taken again and again.
    Weak,
    /// If one of them is enabled again and again, one of them is taken again and again.
    Strong,
}

/// What is demanded of executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Whom they must be fair to.
    pub actions: Actions,
    /// How fair.
    pub strength: Strength,
}

impl Demand {
    /// Fairness to a process: to all actions in which it moves.
    ///
    /// ```
    /// use invigil_explore::fair::{Demand, Strength};
    /// use invigil_model::{Model, Parts};
    /// let nobody = Model::new(Parts::default()).unwrap();
    /// assert!(Demand::of_process(&nobody, 0, Strength::Weak).actions.is_empty());
    /// ```
    pub fn of_process(model: &Model, process: ProcessId, strength: Strength) -> Demand {
        let moves = |action: &u32| model.action(*action).moves.iter().any(|by| by.process == process);
        Demand { actions: (0..model.parts().actions.len() as u32).filter(moves).collect(), strength }
    }

    /// Fairness to every process of a model, each by itself. Those that have no action need none.
    ///
    /// ```
    /// use invigil_explore::fair::{Demand, Strength};
    /// use invigil_model::{Model, Parts};
    /// let nobody = Model::new(Parts::default()).unwrap();
    /// assert!(Demand::of_processes(&nobody, Strength::Strong).is_empty());
    /// ```
    pub fn of_processes(model: &Model, strength: Strength) -> Vec<Demand> {
        let processes = 0..model.parts().processes.len() as ProcessId;
        let demands = processes.map(|process| Demand::of_process(model, process, strength));
        demands.filter(|demand| !demand.actions.is_empty()).collect()
    }
}

/// A space of which only the fair executions count as infinite ones.
pub struct Fair<S> {
    space: S,
    weak: Members,
    strong: Members,
}

/// For each action, which demands of one strength it is about, one bit for each.
struct Members {
    count: u32,
    of_action: Vec<u64>,
}

impl Members {
    fn new(demands: &[Demand], strength: Strength) -> Members {
        let mut members = Members { count: 0, of_action: Vec::new() };
        for demand in demands.iter().filter(|demand| demand.strength == strength) {
            for &action in &demand.actions {
                let at = action as usize;
                members.of_action.resize(members.of_action.len().max(at + 1), 0);
                members.of_action[at] |= 1u64.checked_shl(members.count).unwrap_or(0);
            }
            members.count += 1;
        }
        members
    }

    fn of(&self, action: u32) -> u64 {
        self.of_action.get(action as usize).copied().unwrap_or(0)
    }

    fn all(&self) -> u64 {
        low(self.count)
    }
}

/// That many bits.
fn low(count: u32) -> u64 {
    !u64::MAX.checked_shl(count).unwrap_or(0)
}

impl<S: Space> Fair<S> {
    /// Demands fairness of the executions of a space.
    ///
    /// # Errors
    /// If the demands are too many: a weak one needs one mark, a strong one two.
    pub fn new(space: S, demands: &[Demand]) -> Result<Fair<S>, TooManyMarks> {
        let weak = Members::new(demands, Strength::Weak);
        let strong = Members::new(demands, Strength::Strong);
        let inner = space.sets().saturating_add(space.pairs().saturating_mul(2));
        let needed = inner.saturating_add(weak.count).saturating_add(strong.count.saturating_mul(2));
        if needed > MAX_MARKS {
            return Err(TooManyMarks { needed });
        }
        Ok(Fair { space, weak, strong })
    }

    /// The space.
    pub fn space(&self) -> &S {
        &self.space
    }

    /// Marks the successors from `first` on, all of one configuration.
    fn mark(&self, first: usize, out: &mut Successors) {
        let (sets, pairs) = (self.space.sets(), self.space.pairs());
        out.marks.resize(out.len(), 0);
        let taken = &out.taken[first..];
        let enabled = |members: &Members| taken.iter().fold(0, |all, taken| all | members.of(taken.action));
        let (waiting, wanting) = (enabled(&self.weak), enabled(&self.strong));
        for (taken, marks) in taken.iter().zip(&mut out.marks[first..]) {
            let up = |bits: u64, by: u32| bits.checked_shl(by).unwrap_or(0);
            let inner_pairs = marks.checked_shr(sets).unwrap_or(0) & low(2 * pairs);
            let content = (!waiting | self.weak.of(taken.action)) & self.weak.all();
            let mut all = *marks & low(sets) | up(content, sets);
            let mut at = sets + self.weak.count;
            all |= up(inner_pairs, at);
            at += 2 * pairs;
            let moved = self.strong.of(taken.action);
            for demand in 0..self.strong.count {
                all |= up(wanting >> demand & 1 | (moved >> demand & 1) << 1, at + 2 * demand);
            }
            *marks = all;
        }
    }
}

impl<S: Space> Space for Fair<S> {
    fn width(&self) -> usize {
        self.space.width()
    }

    fn initial(&self, out: &mut Successors) {
        self.space.initial(out);
        out.marks.resize(out.len(), 0);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let first = out.len();
        self.space.successors(state, out);
        self.mark(first, out);
    }

    fn sets(&self) -> u32 {
        self.space.sets() + self.weak.count
    }

    fn pairs(&self) -> u32 {
        self.space.pairs() + self.strong.count
    }

    fn failure(&self) -> Option<String> {
        self.space.failure()
    }
}
