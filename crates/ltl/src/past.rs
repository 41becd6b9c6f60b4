//! Monitors for formulae without future operators, with one bit of memory per past operator.
//!
//! The formula is compiled to a straight-line program of bitwise operations on machine words. A word holds the value of a
//! subformula at up to 64 positions, the first one in the lowest bit, so the same program reads one letter or 64 at once:
//! `a S b` over the positions of a word is the carry propagation when `b` is added to `a | b`.

use crate::formula::{Atom, Formula, Formulae, Node};
use crate::moore::Truth;
use rustc_hash::FxHashMap;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Maximum number of letters that are read at once.
pub const BLOCK: usize = u64::BITS as usize;

/// Monitor of a formula without future operators.
///
/// For `G a`, where `a` has no future operators, it reports whether `a` has held at every position so far.
///
/// ```
/// use invigil_ltl::past::PastMonitor;
/// use invigil_ltl::{Budget, Logic};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut logic = Logic::new(Budget::default());
/// let (close, open) = (logic.formulae.name("close")?, logic.formulae.name("open")?);
/// let before = logic.formulae.once(open)?;
/// let formula = logic.formulae.implies(close, before)?;
/// let past = PastMonitor::new(&logic.formulae, formula)?;
/// // Bits of a letter, in the order of the atoms: close, open.
/// let mut state = past.start();
/// assert!(past.step(&mut state, &[0b00]));
/// assert!(!past.step(&mut state, &[0b01]));
/// assert!(past.step(&mut state, &[0b10]));
/// assert!(past.step(&mut state, &[0b01]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PastMonitor {
    atoms: Vec<Atom>,
    operations: Vec<Operation>,
    /// Number of memory bits.
    memories: usize,
    /// Whether the formula is `G a`.
    always: bool,
}

/// Operation; operands are indices of earlier operations.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Constant(u64),
    /// Index of an atom.
    Atom(u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    /// Previous value of the operand; index of the memory bit.
    Previous(u32, u32),
    /// `a S b`; index of the memory bit.
    Since(u32, u32, u32),
}

/// State of a [`PastMonitor`].
#[derive(Clone, Debug)]
pub struct State {
    /// Memory bits.
    memory: Box<[u64]>,
    /// Scratch space for the values of operations; not part of the state.
    values: Box<[u64]>,
    /// Value of the formula after the last letter.
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

/// Error: a formula for a [`PastMonitor`] contains a future operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FutureOperatorError {
    /// Subformula with the operator.
    pub part: Formula,
}

impl fmt::Display for FutureOperatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the formula looks ahead: write it with Y, Z, O, H, S and T, with at most one G around all of it, \
             or monitor it as a formula of infinite words",
        )
    }
}

impl std::error::Error for FutureOperatorError {}

impl PastMonitor {
    /// Compiles a formula.
    ///
    /// # Errors
    /// Fails if the formula contains future operators, other than an outermost `G`.
    pub fn new(formulae: &Formulae, formula: Formula) -> Result<PastMonitor, FutureOperatorError> {
        let mut past = PastMonitor { atoms: Vec::new(), operations: Vec::new(), memories: 0, always: false };
        let body = match *formulae.node(formula) {
            Node::Globally(a) => {
                past.always = true;
                a
            }
            _ => formula,
        };
        let parts = formulae.subformulae(body);
        for part in &parts {
            if let Node::Atom(atom) = formulae.node(*part) {
                past.atoms.push(*atom);
            }
        }
        past.atoms.sort_unstable();
        let mut indices: FxHashMap<Formula, u32> = FxHashMap::default();
        let top = past.push(Operation::Constant(u64::MAX));
        for part in parts {
            let index = past.operation(formulae, part, &indices, top)?;
            indices.insert(part, index);
        }
        if past.always {
            past.historically(indices[&body], top);
        } else if indices[&body] + 1 != past.operations.len() as u32 {
            past.push(Operation::And(indices[&body], top));
        }
        Ok(past)
    }

    fn operation(
        &mut self,
        formulae: &Formulae,
        part: Formula,
        indices: &FxHashMap<Formula, u32>,
        top: u32,
    ) -> Result<u32, FutureOperatorError> {
        let of = |part: &Formula| indices[part];
        Ok(match formulae.node(part) {
            Node::False => self.push(Operation::Constant(0)),
            Node::True => top,
            Node::Atom(atom) => {
                let index = self.atoms.binary_search(atom).unwrap_or_default();
                self.push(Operation::Atom(index as u32))
            }
            Node::Not(a) => self.push(Operation::Not(of(a))),
            Node::And(all) => self.chain(all.iter().map(of), Operation::And),
            Node::Or(all) => self.chain(all.iter().map(of), Operation::Or),
            Node::Yesterday(a) => {
                let memory = self.memory();
                self.push(Operation::Previous(of(a), memory))
            }
            // Memories are initially false, so weak operators are negations of strong ones.
            Node::WeakYesterday(a) => {
                let (not, memory) = (self.push(Operation::Not(of(a))), self.memory());
                let before = self.push(Operation::Previous(not, memory));
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
            _ => return Err(FutureOperatorError { part }),
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

    /// Returns the atoms of the formula, in the order of the bits of a letter.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Whether the formula is `G a`, so that it stays false once it is false.
    pub fn is_always(&self) -> bool {
        self.always
    }

    /// Returns the number of memory bits.
    pub fn memories(&self) -> usize {
        self.memories
    }

    /// Returns the state before the first letter.
    pub fn start(&self) -> State {
        State {
            memory: vec![0; self.memories.div_ceil(BLOCK)].into(),
            values: vec![0; self.operations.len()].into(),
            now: true,
        }
    }

    /// Reads a letter. Returns whether the formula holds at its position. Bit `n % 64` of word `n / 64` of the letter is the
    /// value of atom `n`; missing words are zero.
    #[inline]
    pub fn step(&self, state: &mut State, letter: &[u64]) -> bool {
        let word = |atom: usize| letter.get(atom / BLOCK).map_or(0, |word| word >> (atom % BLOCK) & 1);
        self.read(state, word, 1) & 1 == 1
    }

    /// Reads up to 64 letters at once. `columns` has a word for each atom, whose bit `n` is the value in letter `n`. Bit `n` of
    /// the result is the value of the formula at letter `n`; bits from `count` on are unspecified.
    pub fn step_block(&self, state: &mut State, columns: &[u64], count: usize) -> u64 {
        if count == 0 {
            return 0;
        }
        self.read(state, |atom| columns.get(atom).copied().unwrap_or(0), count.min(BLOCK) as u32)
    }

    /// Returns the verdict on infinite continuations: `G a` fails as soon as `a` has failed.
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
                Operation::Atom(index) => atom(index as usize),
                Operation::Not(a) => !of(a),
                Operation::And(a, b) => of(a) & of(b),
                Operation::Or(a, b) => of(a) | of(b),
                Operation::Previous(a, index) => {
                    let (value, before) = (of(a), load_bit(memory, index));
                    store_bit(memory, index, value >> last);
                    value << 1 | before
                }
                Operation::Since(a, b, index) => {
                    let (keep, goal) = (of(a) | of(b), of(b));
                    let sum = keep.wrapping_add(goal).wrapping_add(load_bit(memory, index));
                    let since = goal | keep & !sum;
                    store_bit(memory, index, since >> last);
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
fn load_bit(memory: &[u64], index: u32) -> u64 {
    memory[index as usize / BLOCK] >> (index % u64::BITS) & 1
}

#[inline]
fn store_bit(memory: &mut [u64], index: u32, value: u64) {
    let (word, shift) = (&mut memory[index as usize / BLOCK], index % u64::BITS);
    *word = *word & !(1 << shift) | (value & 1) << shift;
}
