//! The commonest transitions, in one go.
//!
//! Most transitions compare two integers and add to one. Where a state has just one transition on an event,
//! and its blocks are no more than that, it is taken here without setting the machine up. Whenever anything
//! is not as expected (a value that is no integer, a sum out of range, someone who listens to what is
//! printed), nothing has been touched yet and the general way is taken instead.
//!
//! Which event comes next is what a processor can predict least. So all such transitions do the same: both
//! comparisons and sums are brought into one form when the property is loaded, and operands are read from a
//! table of places rather than by asking what they are.

use crate::automaton::{Arc, Branch, Entry, Exit, StateId};
use invigil_expr::program::{CodeId, Comparison, Program, Quick as Operand, Shortcut};
use invigil_expr::value::{Tag, Value};

/// A transition that can be taken in one go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quick {
    pub(crate) guard: Guard,
    pub(crate) success: QuickExit,
    pub(crate) failure: QuickExit,
    /// Whether a block prints: then it matters whether anyone listens.
    pub(crate) prints: bool,
    /// Its position in [`Parts::transitions`](crate::automaton::Parts::transitions).
    pub(crate) number: u32,
    /// The constants among its operands.
    constants: [Value; CONSTANTS],
}

/// Two operands for the guard and two for each end.
const CONSTANTS: usize = 6;

/// Where an operand is: which array, and where in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    array: u8,
    at: u16,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Guard {
    Always,
    /// `a < b`, or the contrary; all four orders come down to this.
    Less {
        a: Place,
        b: Place,
        contrary: bool,
    },
    /// `a == b`, or the contrary.
    Equal {
        a: Place,
        b: Place,
        contrary: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum QuickExit {
    /// There is no such end.
    Absent,
    /// There is one, and it is more than can be done in one go.
    Unusual,
    /// Add two integers and keep the result, if anything; and go to a state.
    Usual(Option<Sum>, StateId),
}

/// `slot = a + b`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub(crate) slot: u16,
    pub(crate) a: Place,
    pub(crate) b: Place,
}

/// What a quick transition came to.
pub(crate) enum Outcome {
    /// It was taken.
    Taken(Branch, StateId),
    /// It does not apply: the event is not handled.
    Unhandled,
    /// Something is out of the ordinary: take the general way.
    Unusual,
}

/// Gives operands their places.
struct Places {
    constants: [Value; CONSTANTS],
    used: usize,
}

impl Places {
    fn of(&mut self, operand: Operand) -> Place {
        match operand {
            Operand::Env(at) => Place { array: 0, at },
            Operand::Param(at) => Place { array: 1, at },
            Operand::Int(constant) => {
                self.constants[self.used] = Value::int(constant);
                self.used += 1;
                Place { array: 2, at: self.used as u16 - 1 }
            }
        }
    }

    fn guard(&mut self, op: Comparison, a: Operand, b: Operand) -> Option<Guard> {
        let (a, b) = (self.of(a), self.of(b));
        Some(match op {
            Comparison::Lt => Guard::Less { a, b, contrary: false },
            Comparison::Ge => Guard::Less { a, b, contrary: true },
            Comparison::Gt => Guard::Less { a: b, b: a, contrary: false },
            Comparison::Le => Guard::Less { a: b, b: a, contrary: true },
            Comparison::Eq => Guard::Equal { a, b, contrary: false },
            Comparison::Ne => Guard::Equal { a, b, contrary: true },
            Comparison::Is | Comparison::IsNot | Comparison::In | Comparison::NotIn => return None,
        })
    }
}

impl Quick {
    /// The one transition of a state on an event, if it can be taken in one go.
    pub(crate) fn new(from: StateId, arcs: &[Arc], entries: &[Entry], program: &Program) -> Option<Quick> {
        let [arc] = arcs else { return None };
        let mut places = Places { constants: [Value::UNSET; CONSTANTS], used: 0 };
        let guard = match arc.guard.map(|code| program.code(code).shortcut) {
            None => Guard::Always,
            Some(Shortcut::Compare { op, a, b }) if !arc.is_update => places.guard(op, a, b)?,
            Some(_) => return None,
        };
        let mut prints = false;
        let mut exit = |exit| QuickExit::new(from, exit, entries, program, &mut places, &mut prints);
        let (success, failure) = (exit(arc.success), exit(arc.failure));
        Some(Quick { guard, success, failure, prints, number: arc.number, constants: places.constants })
    }

    /// What is at a place.
    pub(crate) fn operand(&self, place: Place) -> Option<Operand> {
        match place.array {
            0 => Some(Operand::Env(place.at)),
            1 => Some(Operand::Param(place.at)),
            _ => self.constants.get(usize::from(place.at))?.as_int().map(Operand::Int),
        }
    }

    /// The constants among its operands.
    pub(crate) fn constants(&self) -> impl Iterator<Item = i64> {
        self.constants.iter().filter_map(|value| value.as_int())
    }

    /// Takes the transition in a slice with this environment.
    #[inline(always)]
    pub(crate) fn take(&self, env: &mut [Value], params: &[Value]) -> Outcome {
        let arrays = [&*env, params, &self.constants, &[]];
        let read = |place: Place| {
            arrays[usize::from(place.array & 3)].get(usize::from(place.at)).and_then(|value| value.as_int())
        };
        let holds = match self.guard {
            Guard::Always => true,
            Guard::Less { a, b, contrary } => match (read(a), read(b)) {
                (Some(a), Some(b)) => (a < b) != contrary,
                _ => return Outcome::Unusual,
            },
            Guard::Equal { a, b, contrary } => match (read(a), read(b)) {
                (Some(a), Some(b)) => (a == b) != contrary,
                _ => return Outcome::Unusual,
            },
        };
        let (branch, exit) =
            if holds { (Branch::Success, &self.success) } else { (Branch::Failure, &self.failure) };
        let (sum, target) = match exit {
            QuickExit::Usual(sum, target) => (sum, *target),
            QuickExit::Absent => return Outcome::Unhandled,
            QuickExit::Unusual => return Outcome::Unusual,
        };
        if let Some(Sum { slot, a, b }) = *sum {
            let (Some(a), Some(b)) = (read(a), read(b)) else { return Outcome::Unusual };
            match (a.checked_add(b), env.get_mut(usize::from(slot))) {
                // A variable that holds an object would have to be released.
                (Some(sum), Some(variable)) if !variable.is(Tag::Object) => *variable = Value::int(sum),
                _ => return Outcome::Unusual,
            }
        }
        Outcome::Taken(branch, target)
    }
}

impl QuickExit {
    fn new(
        from: StateId,
        exit: Option<Exit>,
        entries: &[Entry],
        program: &Program,
        places: &mut Places,
        prints: &mut bool,
    ) -> QuickExit {
        let Some(exit) = exit else { return QuickExit::Absent };
        let target = exit.target.unwrap_or(from);
        let entry = entries[usize::from(target)];
        if exit.action.is_some() || entry.action.is_some() || entry.is_final {
            return QuickExit::Unusual;
        }
        let shortcut = |code: CodeId| program.code(code).shortcut;
        let (slot, a, b, prints_too) = match exit.block.map(shortcut) {
            None => return QuickExit::Usual(None, target),
            Some(Shortcut::Add { slot, a, b, prints }) => (slot, a, b, prints),
            // To take away a constant is to add another.
            Some(Shortcut::Sub { slot, a, b: Operand::Int(b), prints }) => match b.checked_neg() {
                Some(b) => (slot, a, Operand::Int(b), prints),
                None => return QuickExit::Unusual,
            },
            Some(_) => return QuickExit::Unusual,
        };
        *prints |= prints_too;
        QuickExit::Usual(Some(Sum { slot, a: places.of(a), b: places.of(b) }), target)
    }
}
