//! Transition tables: machines compiled for fast execution.
//!
//! A letter is a machine word with one bit per atom. The layout depends on the numbers of atoms and
//! states:
//!
//! - few of both: the row of a state has an entry for every letter;
//! - more: the row has an entry for every class of letters that no state distinguishes. The class is computed one byte
//!   of the letter at a time, independently of the state;
//! - too many classes: each state has a decision graph over the atoms.

mod composite;
mod decision_graph;

pub use composite::{CompositeState, CompositeTable};

use crate::automaton::State;
use crate::formula::Atom;
use crate::label::Labels;
use crate::moore::{Moore, Verdict};
use crate::{Budget, TooLarge};
use decision_graph::{DecisionGraph, GraphBuilder, LEAF};

/// Maximum number of atoms of a letter.
pub const MAX_ATOMS: usize = u64::BITS as usize;

/// Maximum number of entries of a table.
const MAX_ENTRIES: usize = 1 << 20;

/// Maximum number of atoms for which a row has an entry for every letter.
const MAX_DENSE_ATOMS: u32 = 10;

/// Moore machine compiled to a table. States with a final verdict have the largest numbers.
///
/// ```
/// use invigil_ltl::formula::Proposition;
/// use invigil_ltl::moore::Truth;
/// use invigil_ltl::table::TransitionTable;
/// use invigil_ltl::{Budget, Logic, TooLarge};
/// # fn main() -> Result<(), TooLarge> {
/// let mut logic = Logic::new(Budget::default());
/// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
/// let until = logic.formulae.until(a, b)?;
/// let monitor = logic.monitor(until)?;
/// let atoms = ["a", "b"].map(|name| logic.formulae.atom_for(Proposition::Name(name.to_owned())));
/// let table = TransitionTable::new(&logic.labels, &monitor, &atoms)?;
/// let mut state = table.start();
/// assert_eq!(table.run(&mut state, &[0b01, 0b01, 0b10, 0b00]), Some(2));
/// assert_eq!(table.output(state), Truth::True);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TransitionTable<Output> {
    start: State,
    outputs: Vec<Output>,
    /// First state with a final verdict.
    first_decided: State,
    layout: Layout,
}

/// Representation of the transition function.
#[derive(Clone, Debug)]
enum Layout {
    /// `next[state << bits | letter]`
    Dense { bits: u32, next: Vec<State> },
    /// `next[state << bits | class]`
    Classes { stages: Vec<ByteStage>, bits: u32, next: Vec<State> },
    /// Root of each state in the graph.
    Decisions { roots: Vec<u32>, graph: DecisionGraph },
}

/// Stage of the classification of letters, for one byte: `next[class << 8 | byte]`, where `class` is the result of the previous stage.
#[derive(Clone, Debug)]
struct ByteStage {
    shift: u32,
    next: Vec<u16>,
}

impl<Output: Verdict> TransitionTable<Output> {
    /// Compiles a machine. Bit `n` of a letter is the value of `atoms[n]`. The machine need not read all atoms; atoms that it
    /// reads but that are missing from the list are false.
    ///
    /// # Errors
    /// Fails if there are more than 64 atoms, or if the table is too large.
    pub fn new(
        labels: &Labels,
        machine: &Moore<Output>,
        atoms: &[Atom],
    ) -> Result<TransitionTable<Output>, TooLarge> {
        Budget::check("atoms in a letter", atoms.len(), MAX_ATOMS)?;
        let (order, first_decided) = numbering(machine);
        let mut outputs: Vec<(State, Output)> =
            machine.outputs.iter().enumerate().map(|(at, output)| (order[at], *output)).collect();
        outputs.sort_unstable_by_key(|(state, _)| *state);
        let outputs = outputs.into_iter().map(|(_, output)| output).collect();
        let layout = Layout::new(labels, machine, atoms, &order)?;
        Ok(TransitionTable { start: order[machine.initial as usize], outputs, first_decided, layout })
    }

    /// Returns the state before the first letter.
    pub fn start(&self) -> State {
        self.start
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.outputs.len()
    }

    /// Returns the output of a state.
    #[inline]
    pub fn output(&self, state: State) -> Output {
        self.outputs[state as usize]
    }

    /// Whether the output of a state is final.
    #[inline]
    pub fn is_decided(&self, state: State) -> bool {
        state >= self.first_decided
    }

    /// Returns the state after a letter.
    #[inline]
    pub fn step(&self, state: State, letter: u64) -> State {
        match &self.layout {
            Layout::Dense { bits, next } => dense(next, *bits, state, letter),
            Layout::Classes { stages, bits, next } => next[(state << bits) as usize | class(stages, letter)],
            Layout::Decisions { roots, graph } => graph.evaluate(roots[state as usize], letter),
        }
    }

    /// Reads letters until the verdict is final. Returns the index of the letter that decided it.
    pub fn run(&self, state: &mut State, letters: &[u64]) -> Option<usize> {
        match &self.layout {
            Layout::Dense { bits, next } => {
                self.read(state, letters, |state, letter| dense(next, *bits, state, letter))
            }
            Layout::Classes { stages, bits, next } => self
                .read(state, letters, |state, letter| next[(state << bits) as usize | class(stages, letter)]),
            Layout::Decisions { roots, graph } => {
                self.read(state, letters, |state, letter| graph.evaluate(roots[state as usize], letter))
            }
        }
    }

    #[inline]
    fn read(&self, state: &mut State, letters: &[u64], step: impl Fn(State, u64) -> State) -> Option<usize> {
        let mut now = *state;
        for (at, letter) in letters.iter().enumerate() {
            now = step(now, *letter);
            if now >= self.first_decided {
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
fn class(stages: &[ByteStage], letter: u64) -> usize {
    stages
        .iter()
        .fold(0, |class, stage| usize::from(stage.next[class << 8 | (letter >> stage.shift & 0xff) as usize]))
}

/// Returns the number of each state in the table, and the first number of a state with a final verdict.
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

impl Layout {
    fn new<Output>(
        labels: &Labels,
        machine: &Moore<Output>,
        atoms: &[Atom],
        order: &[State],
    ) -> Result<Layout, TooLarge> {
        let used = machine.atoms(labels);
        let bits =
            atoms.iter().rposition(|atom| used.binary_search(atom).is_ok()).map_or(0, |at| at + 1) as u32;
        let mut builder = GraphBuilder::new(labels, atoms);
        let dense = bits <= MAX_DENSE_ATOMS && machine.states() << bits <= MAX_ENTRIES;
        if !dense && let Some(layout) = classes(&mut builder, machine, bits, order)? {
            return Ok(layout);
        }
        let mut roots = vec![0; order.len()];
        for (edges, number) in machine.edges.iter().zip(order) {
            let cases =
                edges.iter().map(|(label, target)| (order[*target as usize], label.clone())).collect();
            roots[*number as usize] = builder.add(cases)?;
        }
        if !dense {
            return Ok(Layout::Decisions { roots, graph: builder.graph });
        }
        let next = roots
            .iter()
            .flat_map(|root| (0..1 << bits).map(|letter| builder.graph.evaluate(*root, letter)))
            .collect();
        Ok(Layout::Dense { bits, next })
    }
}

/// Compiles a machine to a table with an entry for every class, unless there are too many classes.
fn classes<Output>(
    builder: &mut GraphBuilder<'_>,
    machine: &Moore<Output>,
    bits: u32,
    order: &[State],
) -> Result<Option<Layout>, TooLarge> {
    let most = MAX_ENTRIES / machine.states().next_power_of_two();
    let Some(classes) = builder.classes(machine, most)? else { return Ok(None) };
    let width = classes.len().next_power_of_two().trailing_zeros();
    let mut next = vec![0; order.len() << width];
    for (class, (_, targets)) in classes.iter().enumerate() {
        for (state, target) in targets.iter().enumerate() {
            next[(order[state] << width) as usize | class] = order[*target as usize];
        }
    }
    let cases = classes.into_iter().enumerate().map(|(class, (label, _))| (class as u32, label)).collect();
    let root = builder.add(cases)?;
    let Some(stages) = byte_stages(&builder.graph, root, bits) else { return Ok(None) };
    Ok(Some(Layout::Classes { stages, bits: width, next }))
}

/// Converts decisions on bits to stages for bytes. `None` if the stages are too large.
fn byte_stages(graph: &DecisionGraph, root: u32, bits: u32) -> Option<Vec<ByteStage>> {
    let mut stages = Vec::new();
    let mut now = vec![root];
    for shift in (0..bits).step_by(8) {
        let last = shift + 8 >= bits;
        let mut targets = indexmap::IndexSet::<u32, rustc_hash::FxBuildHasher>::default();
        let mut next = Vec::with_capacity(now.len() << 8);
        for node in &now {
            for byte in 0..256 {
                let node = graph.evaluate_byte(*node, shift, byte);
                let class = if last { node & !LEAF } else { targets.insert_full(node).0 as u32 };
                next.push(u16::try_from(class).ok()?);
            }
        }
        if next.len() > MAX_ENTRIES {
            return None;
        }
        stages.push(ByteStage { shift, next });
        now = targets.into_iter().collect();
    }
    Some(stages)
}
