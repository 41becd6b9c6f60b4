//! Property automata (`.prop` files, monitors of formulae) that watch the steps of a model, as one space.

pub(crate) mod events;
mod memory;

use crate::path::Path;
use crate::space::{BAD, FAULT, Space, Successors};

use events::Events;
use invigil_model::{Model, Step};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use invigil_monitor::slices::Slices;
use memory::{Memory, Next};
use std::cell::RefCell;
use std::sync::{OnceLock, PoisonError, RwLock};

/// A space over a model, and property automata that see its events: those of its actions, with their parameters.
///
/// Entering a violation, or a block that fails, is [`BAD`]. The state of all automata together is one more word, the
/// number of that state: equal states have equal numbers. What an event leads to is computed once for each state.
///
/// `#thread` is the number of the process whose action it is; there is no time and no program. Values are what the
/// model's variables hold: numbers, truth values, and names as text.
pub struct Watched<'a, S> {
    space: S,
    model: &'a Model,
    /// For each action the events that it stands for, if somebody looks at them.
    events: Vec<Option<Events>>,
    memory: RwLock<Memory<'a>>,
    /// The first parameter that went wrong.
    wrong: OnceLock<String>,
}

thread_local! {
    /// Memory for one call, used again and again: successors, and values of parameters.
    static ROOM: RefCell<Vec<(Successors, Vec<i64>)>> = const { RefCell::new(Vec::new()) };
}

impl<'a, S: Space> Watched<'a, S> {
    /// Lets automata that share a catalog watch a space whose configurations and actions are those of a model.
    pub fn new(space: S, model: &'a Model, catalog: &Catalog, automata: &[&'a Automaton]) -> Watched<'a, S> {
        let actions = &model.parts().actions;
        let events = actions.iter().map(|action| Events::of(action, model, catalog)).collect();
        Watched {
            space,
            model,
            events,
            memory: RwLock::new(Memory::new(automata, actions.len())),
            wrong: OnceLock::new(),
        }
    }

    /// Why a parameter of an event could not be evaluated, if that happened. What the automata would have done there is
    /// not known: that nothing was found means nothing then.
    pub fn wrong(&self) -> Option<&str> {
        self.wrong.get().map(String::as_str)
    }

    /// The space.
    pub fn space(&self) -> &S {
        &self.space
    }

    /// The highest bits of the last word of every configuration that are always 0.
    pub fn spare(&self) -> u32 {
        u32::BITS
    }

    /// The states of the automata in a configuration, in the order in which they were given.
    pub fn monitors(&self, state: &[u64]) -> Vec<Slices> {
        let number = state[self.space.width()] as u32;
        self.memory.read().unwrap_or_else(PoisonError::into_inner).states(number)
    }

    /// Which automata are violated if the execution ends in a configuration, and are not before: a formula on finite
    /// words may owe something there. It is for whoever finds a deadlock to ask.
    pub fn violated_at_end(&self, state: &[u64]) -> Vec<usize> {
        let number = state[self.space.width()] as u32;
        self.memory.read().unwrap_or_else(PoisonError::into_inner).violated_at_end(number)
    }

    /// An execution without the automata.
    pub fn subject_path(&self, path: &Path) -> Path {
        let width = self.space.width();
        let states = path.states.iter().map(|state| state[..width].into()).collect();
        Path { states, ..path.clone() }
    }

    /// Where the automata get to.
    fn next(&self, at: u32, action: u32, events: &Events, values: &[i64]) -> Next {
        let known = self.memory.read().unwrap_or_else(PoisonError::into_inner).known(at, action, values);
        known.unwrap_or_else(|| {
            let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
            memory.learn(at, action, values, |tell| events.tell(values, tell))
        })
    }
}

impl<S: Space> Space for Watched<'_, S> {
    fn width(&self) -> usize {
        self.space.width() + 1
    }

    fn initial(&self, out: &mut Successors) {
        let mut inner = Successors::default();
        self.space.initial(&mut inner);
        let start = self.memory.read().unwrap_or_else(PoisonError::into_inner).start();
        for (words, taken) in inner.words.chunks_exact(self.space.width()).zip(&inner.taken) {
            let mut taken = *taken;
            if start.is_bad {
                taken.flags |= BAD;
            }
            out.words.extend_from_slice(words);
            out.words.push(u64::from(start.number));
            out.taken.push(taken);
        }
        out.marks.append(&mut inner.marks);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let width = self.space.width();
        let (source, at) = (&state[..width], state[width] as u32);
        let (mut inner, mut values) = ROOM.with_borrow_mut(Vec::pop).unwrap_or_default();
        inner.clear();
        self.space.successors(source, &mut inner);
        for (words, taken) in inner.words.chunks_exact(width).zip(&inner.taken) {
            let (mut taken, mut number) = (*taken, at);
            if let Some(Some(events)) = self.events.get(taken.action as usize)
                && taken.flags & FAULT == 0
            {
                let step = Step { source: Some(source), action: Some(taken.action), target: words };
                match events.values(self.model, step, &mut values) {
                    Ok(()) => {
                        let next = self.next(at, taken.action, events, &values);
                        number = next.number;
                        if next.is_bad {
                            taken.flags |= BAD;
                        }
                    }
                    Err(reason) => {
                        // The first is told.
                        let _ = self.wrong.set(reason.to_string());
                        taken.flags |= FAULT;
                    }
                }
            }
            out.words.extend_from_slice(words);
            out.words.push(u64::from(number));
            out.taken.push(taken);
        }
        out.marks.append(&mut inner.marks);
        ROOM.with_borrow_mut(|room| room.push((inner, values)));
    }

    fn sets(&self) -> u32 {
        self.space.sets()
    }

    fn pairs(&self) -> u32 {
        self.space.pairs()
    }

    fn failure(&self) -> Option<String> {
        self.space.failure()
    }
}
