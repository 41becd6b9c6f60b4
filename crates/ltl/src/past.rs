//! Formulae that only look back: a value after every letter, with a bit of memory for each operator.
//!
//! The formula becomes a list of operations on words of bits, without jumps. A word holds the value of a
//! subformula at up to 64 instants, the first one lowest, so the same list reads one letter or 64 at once:
//! `a S b` over the instants of a word is how the carries run when `b` is added to `a | b`.

use crate::formula::{Atom, Formula, Formulae, Node};
use crate::moore::Truth;
use rustc_hash::FxHashMap;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The most instants that are read at once.
pub const BLOCK: usize = u64::BITS as usize;

/// A formula that only looks back, made to run.
///
/// Of `G a`, where `a` only looks back, it says whether `a` has held at every instant so far.
///
/// ```
/// use invigil_ltl::past::Past;
/// use invigil_ltl::{Budget, Logic};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut logic = Logic::new(Budget::default());
/// let (close, open) = (logic.formulae.name("close")?, logic.formulae.name("open")?);
/// let before = logic.formulae.once(open)?;
/// let lawful = logic.formulae.implies(close, before)?;
/// let past = Past::new(&logic.formulae, lawful)?;
/// // The atoms are those of the formula in their order: close, open.
/// let mut state = past.start();
/// assert!(past.step(&mut state, &[0b00]));
/// assert!(!past.step(&mut state, &[0b01]));
/// assert!(past.step(&mut state, &[0b10]));
/// assert!(past.step(&mut state, &[0b01]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Past {
    atoms: Vec<Atom>,
    operations: Vec<Operation>,
    /// How many bits are remembered.
    memories: usize,
    always: bool,
}

/// An operation; operands are places of operations before it.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Constant(u64),
    /// An atom, by its place.
    Atom(u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    /// What was before; the memory.
    Before(u32, u32),
    /// `a S b`; the memory.
    Since(u32, u32, u32),
}

/// Where a formula is: what it remembers.
#[derive(Clone, Debug)]
pub struct State {
    /// One bit for each memory.
    memory: Box<[u64]>,
    /// Where values are put while letters are read.
    values: Box<[u64]>,
    now: bool,
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        (self.now, &self.memory) == (other.now, &other.memory)
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.now, &self.memory).hash(state);
    }
}

/// The formula looks ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LooksAhead {
    /// The part that does.
    pub part: Formula,
}

impl fmt::Display for LooksAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the formula looks ahead: write it with Y, Z, O, H, S and T, with at most one G around all of it, \
             or monitor it as a formula of infinite words",
        )
    }
}

impl std::error::Error for LooksAhead {}

impl Past {
    /// Makes a formula run.
    ///
    /// # Errors
    /// If it looks ahead.
    pub fn new(formulae: &Formulae, formula: Formula) -> Result<Past, LooksAhead> {
        let mut past = Past { atoms: Vec::new(), operations: Vec::new(), memories: 0, always: false };
        let body = match *formulae.node(formula) {
            Node::Globally(a) => {
                past.always = true;
                a
            }
            _ => formula,
        };
        let parts = formulae.within(body);
        for part in &parts {
            if let Node::Atom(atom) = formulae.node(*part) {
                past.atoms.push(*atom);
            }
        }
        past.atoms.sort_unstable();
        let mut places: FxHashMap<Formula, u32> = FxHashMap::default();
        let top = past.push(Operation::Constant(u64::MAX));
        for part in parts {
            let place = past.operation(formulae, part, &places, top)?;
            places.insert(part, place);
        }
        if past.always {
            past.historically(places[&body], top);
        } else if places[&body] + 1 != past.operations.len() as u32 {
            past.push(Operation::And(places[&body], top));
        }
        Ok(past)
    }

    fn operation(
        &mut self,
        formulae: &Formulae,
        part: Formula,
        places: &FxHashMap<Formula, u32>,
        top: u32,
    ) -> Result<u32, LooksAhead> {
        let of = |part: &Formula| places[part];
        Ok(match formulae.node(part) {
            Node::False => self.push(Operation::Constant(0)),
            Node::True => top,
            Node::Atom(atom) => {
                let place = self.atoms.binary_search(atom).unwrap_or_default();
                self.push(Operation::Atom(place as u32))
            }
            Node::Not(a) => self.push(Operation::Not(of(a))),
            Node::And(all) => self.chain(all.iter().map(of), Operation::And),
            Node::Or(all) => self.chain(all.iter().map(of), Operation::Or),
            Node::Yesterday(a) => {
                let memory = self.memory();
                self.push(Operation::Before(of(a), memory))
            }
            // What is weak is the negation of what is strong: all memories begin with false.
            Node::WeakYesterday(a) => {
                let (not, memory) = (self.push(Operation::Not(of(a))), self.memory());
                let before = self.push(Operation::Before(not, memory));
                self.push(Operation::Not(before))
            }
            Node::Once(a) => self.since(top, of(a)),
            Node::Historically(a) => self.historically(of(a), top),
            Node::Since([a, b]) => self.since(of(a), of(b)),
            Node::Triggered([a, b]) => {
                let (a, b) = (self.push(Operation::Not(of(a))), self.push(Operation::Not(of(b))));
                let since = self.since(a, b);
                self.push(Operation::Not(since))
            }
            _ => return Err(LooksAhead { part }),
        })
    }

    fn push(&mut self, operation: Operation) -> u32 {
        self.operations.push(operation);
        self.operations.len() as u32 - 1
    }

    fn memory(&mut self) -> u32 {
        self.memories += 1;
        self.memories as u32 - 1
    }

    fn since(&mut self, a: u32, b: u32) -> u32 {
        let memory = self.memory();
        self.push(Operation::Since(a, b, memory))
    }

    fn historically(&mut self, a: u32, top: u32) -> u32 {
        let not = self.push(Operation::Not(a));
        let once = self.since(top, not);
        self.push(Operation::Not(once))
    }

    fn chain(&mut self, all: impl Iterator<Item = u32>, join: fn(u32, u32) -> Operation) -> u32 {
        all.reduce(|one, other| self.push(join(one, other))).unwrap_or_default()
    }

    /// The atoms of the formula, in the order of the bits of a letter.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Whether the formula was `G a`, so that what is false once is false for ever.
    pub fn is_always(&self) -> bool {
        self.always
    }

    /// How many bits are remembered from one letter to the next.
    pub fn memories(&self) -> usize {
        self.memories
    }

    /// Before the first letter.
    pub fn start(&self) -> State {
        State {
            memory: vec![0; self.memories.div_ceil(BLOCK)].into(),
            values: vec![0; self.operations.len()].into(),
            now: true,
        }
    }

    /// Reads a letter and tells whether the formula holds now. Bit `n % 64` of word `n / 64` of the letter is
    /// the atom at place `n`; words that are missing are zero.
    #[inline]
    pub fn step(&self, state: &mut State, letter: &[u64]) -> bool {
        let word = |atom: usize| letter.get(atom / BLOCK).map_or(0, |word| word >> (atom % BLOCK) & 1);
        self.read(state, word, 1) & 1 == 1
    }

    /// Reads up to 64 letters at once: for each atom a word in which bit `n` is its value at the `n`-th of
    /// them. Bit `n` of the result tells whether the formula holds then; bits beyond `count` mean nothing.
    pub fn block(&self, state: &mut State, columns: &[u64], count: usize) -> u64 {
        if count == 0 {
            return 0;
        }
        self.read(state, |atom| columns.get(atom).copied().unwrap_or(0), count.min(BLOCK) as u32)
    }

    /// What is certain of infinite words: of `G a`, that it does not hold, as soon as `a` did not.
    pub fn truth(&self, state: &State) -> Truth {
        if self.always && !state.now { Truth::False } else { Truth::Unknown }
    }

    #[inline]
    fn read(&self, state: &mut State, atom: impl Fn(usize) -> u64, count: u32) -> u64 {
        let State { memory, values, now } = state;
        let last = count - 1;
        let mut result = 0;
        for (at, operation) in self.operations.iter().enumerate() {
            let of = |at: u32| values[at as usize];
            result = match *operation {
                Operation::Constant(value) => value,
                Operation::Atom(place) => atom(place as usize),
                Operation::Not(a) => !of(a),
                Operation::And(a, b) => of(a) & of(b),
                Operation::Or(a, b) => of(a) | of(b),
                Operation::Before(a, place) => {
                    let (value, before) = (of(a), bit(memory, place));
                    remember(memory, place, value >> last);
                    value << 1 | before
                }
                Operation::Since(a, b, place) => {
                    let (keep, goal) = (of(a) | of(b), of(b));
                    let sum = keep.wrapping_add(goal).wrapping_add(bit(memory, place));
                    let since = goal | keep & !sum;
                    remember(memory, place, since >> last);
                    since
                }
            };
            values[at] = result;
        }
        *now = result >> last & 1 == 1;
        result
    }
}

#[inline]
fn bit(memory: &[u64], place: u32) -> u64 {
    memory[place as usize / BLOCK] >> (place % u64::BITS) & 1
}

#[inline]
fn remember(memory: &mut [u64], place: u32, value: u64) {
    let (word, shift) = (&mut memory[place as usize / BLOCK], place % u64::BITS);
    *word = *word & !(1 << shift) | (value & 1) << shift;
}
