//! Machines made to run: plain numbers in tables.
//!
//! A letter is a word of bits, one for each atom. Where there are few atoms, a state has a row with a place for
//! every letter. Where there are more, letters that no state tells apart are one class, found a byte of the
//! letter at a time and without looking at the state; a row then has a place for every class. Where even the
//! classes are many, a state decides atom by atom.

mod composite;
mod decisions;

pub use composite::{Running, Tables};

use crate::automaton::State;
use crate::formula::Atom;
use crate::label::Labels;
use crate::moore::{Moore, Verdict};
use crate::{Budget, TooLarge};
use decisions::{Builder, Decisions, LEAF};

/// The most atoms of a letter.
pub const MAX_ATOMS: usize = u64::BITS as usize;

/// The most places of all rows together.
const PLACES: usize = 1 << 20;

/// The most atoms for which every letter has a place.
const DENSE: u32 = 10;

/// A machine made to run. Its states are numbered so that those with a final verdict come last.
///
/// ```
/// use invigil_ltl::formula::Proposition;
/// use invigil_ltl::moore::Truth;
/// use invigil_ltl::table::Table;
/// use invigil_ltl::{Budget, Logic, TooLarge};
/// # fn main() -> Result<(), TooLarge> {
/// let mut logic = Logic::new(Budget::default());
/// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
/// let until = logic.formulae.until(a, b)?;
/// let monitor = logic.monitor(until)?;
/// let atoms = ["a", "b"].map(|name| logic.formulae.atom_for(Proposition::Name(name.to_owned())));
/// let table = Table::new(&logic.labels, &monitor, &atoms)?;
/// let mut state = table.start();
/// assert_eq!(table.run(&mut state, &[0b01, 0b01, 0b10, 0b00]), Some(2));
/// assert_eq!(table.output(state), Truth::True);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Table<Output> {
    start: State,
    outputs: Vec<Output>,
    /// The first state whose verdict is final.
    decided: State,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// `next[state << bits | letter]`
    Dense { bits: u32, next: Vec<State> },
    /// `next[state << bits | class]`
    Classes { bytes: Vec<Byte>, bits: u32, next: Vec<State> },
    /// Where each state begins to decide.
    Decisions { roots: Vec<u32>, all: Decisions },
}

/// What a byte of a letter tells of its class: `next[known << 8 | byte]`.
#[derive(Clone, Debug)]
struct Byte {
    shift: u32,
    next: Vec<u16>,
}

impl<Output: Verdict> Table<Output> {
    /// A table of a machine. Bit `n` of a letter stands for the atom at place `n`; there may be atoms of which
    /// the machine does not speak, and those of which it speaks but which are not there are false.
    ///
    /// # Errors
    /// If there are more than 64 atoms, or the table would be too large.
    pub fn new(labels: &Labels, machine: &Moore<Output>, atoms: &[Atom]) -> Result<Table<Output>, TooLarge> {
        Budget::allows("atoms in a letter", atoms.len(), MAX_ATOMS)?;
        let (order, decided) = numbering(machine);
        let mut outputs: Vec<(State, Output)> =
            machine.outputs.iter().enumerate().map(|(at, output)| (order[at], *output)).collect();
        outputs.sort_unstable_by_key(|(state, _)| *state);
        let outputs = outputs.into_iter().map(|(_, output)| output).collect();
        let kind = Kind::new(labels, machine, atoms, &order)?;
        Ok(Table { start: order[machine.initial as usize], outputs, decided, kind })
    }

    /// The state before the first letter.
    pub fn start(&self) -> State {
        self.start
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.outputs.len()
    }

    /// What a state says.
    #[inline]
    pub fn output(&self, state: State) -> Output {
        self.outputs[state as usize]
    }

    /// Whether what a state says is final.
    #[inline]
    pub fn is_decided(&self, state: State) -> bool {
        state >= self.decided
    }

    /// The state after a letter.
    #[inline]
    pub fn step(&self, state: State, letter: u64) -> State {
        match &self.kind {
            Kind::Dense { bits, next } => dense(next, *bits, state, letter),
            Kind::Classes { bytes, bits, next } => next[(state << bits) as usize | class(bytes, letter)],
            Kind::Decisions { roots, all } => all.walk(roots[state as usize], letter),
        }
    }

    /// Reads letters up to the first after which the verdict is final, and tells its place.
    pub fn run(&self, state: &mut State, letters: &[u64]) -> Option<usize> {
        match &self.kind {
            Kind::Dense { bits, next } => {
                self.read(state, letters, |state, letter| dense(next, *bits, state, letter))
            }
            Kind::Classes { bytes, bits, next } => self
                .read(state, letters, |state, letter| next[(state << bits) as usize | class(bytes, letter)]),
            Kind::Decisions { roots, all } => {
                self.read(state, letters, |state, letter| all.walk(roots[state as usize], letter))
            }
        }
    }

    #[inline]
    fn read(&self, state: &mut State, letters: &[u64], step: impl Fn(State, u64) -> State) -> Option<usize> {
        let mut now = *state;
        for (at, letter) in letters.iter().enumerate() {
            now = step(now, *letter);
            if now >= self.decided {
                *state = now;
                return Some(at);
            }
        }
        *state = now;
        None
    }
}

#[inline]
fn dense(next: &[State], bits: u32, state: State, letter: u64) -> State {
    next[(state << bits) as usize | (letter & ((1 << bits) - 1)) as usize]
}

#[inline]
fn class(bytes: &[Byte], letter: u64) -> usize {
    bytes
        .iter()
        .fold(0, |known, byte| usize::from(byte.next[known << 8 | (letter >> byte.shift & 0xff) as usize]))
}

/// The number of each state in the table, and the first of those with a final verdict.
fn numbering<Output: Verdict>(machine: &Moore<Output>) -> (Vec<State>, State) {
    let decided = machine.outputs.iter().filter(|output| output.is_final()).count();
    let first = (machine.states() - decided) as State;
    let (mut open, mut last) = (0, first);
    let number = |output: &Output| {
        let next = if output.is_final() { &mut last } else { &mut open };
        *next += 1;
        *next - 1
    };
    (machine.outputs.iter().map(number).collect(), first)
}

impl Kind {
    fn new<Output>(
        labels: &Labels,
        machine: &Moore<Output>,
        atoms: &[Atom],
        order: &[State],
    ) -> Result<Kind, TooLarge> {
        let used = machine.atoms(labels);
        let bits =
            atoms.iter().rposition(|atom| used.binary_search(atom).is_ok()).map_or(0, |at| at + 1) as u32;
        let mut all = Builder::new(labels, atoms);
        let dense = bits <= DENSE && machine.states() << bits <= PLACES;
        if !dense && let Some(kind) = classes(&mut all, machine, bits, order)? {
            return Ok(kind);
        }
        let mut roots = vec![0; order.len()];
        for (edges, number) in machine.edges.iter().zip(order) {
            let leaves =
                edges.iter().map(|(label, target)| (order[*target as usize], label.clone())).collect();
            roots[*number as usize] = all.add(leaves)?;
        }
        if !dense {
            return Ok(Kind::Decisions { roots, all: all.made });
        }
        let next =
            roots.iter().flat_map(|root| (0..1 << bits).map(|letter| all.made.walk(*root, letter))).collect();
        Ok(Kind::Dense { bits, next })
    }
}

/// A table by classes, unless there are too many.
fn classes<Output>(
    all: &mut Builder<'_>,
    machine: &Moore<Output>,
    bits: u32,
    order: &[State],
) -> Result<Option<Kind>, TooLarge> {
    let most = PLACES / machine.states().next_power_of_two();
    let Some(classes) = all.classes(machine, most)? else { return Ok(None) };
    let width = classes.len().next_power_of_two().trailing_zeros();
    let mut next = vec![0; order.len() << width];
    for (class, (_, targets)) in classes.iter().enumerate() {
        for (state, target) in targets.iter().enumerate() {
            next[(order[state] << width) as usize | class] = order[*target as usize];
        }
    }
    let leaves = classes.into_iter().enumerate().map(|(class, (label, _))| (class as u32, label)).collect();
    let root = all.add(leaves)?;
    let Some(bytes) = bytes(&all.made, root, bits) else { return Ok(None) };
    Ok(Some(Kind::Classes { bytes, bits: width, next }))
}

/// Decisions on bits as decisions on bytes. None if they are too many.
fn bytes(all: &Decisions, root: u32, bits: u32) -> Option<Vec<Byte>> {
    let mut found = Vec::new();
    let mut now = vec![root];
    for shift in (0..bits).step_by(8) {
        let last = shift + 8 >= bits;
        let mut then = indexmap::IndexSet::<u32, rustc_hash::FxBuildHasher>::default();
        let mut next = Vec::with_capacity(now.len() << 8);
        for node in &now {
            for byte in 0..256 {
                let node = all.walk_byte(*node, shift, byte);
                let known = if last { node & !LEAF } else { then.insert_full(node).0 as u32 };
                next.push(u16::try_from(known).ok()?);
            }
        }
        if next.len() > PLACES {
            return None;
        }
        found.push(Byte { shift, next });
        now = then.into_iter().collect();
    }
    Some(found)
}
