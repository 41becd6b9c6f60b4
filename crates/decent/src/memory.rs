//! Observations and their instants.

use crate::system::{Instant, MonitorId, PropositionId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Atom of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Atom {
    /// Proposition that a component observes.
    Observed(PropositionId),
    /// Verdict of another monitor for the run from that instant on.
    Verdict(MonitorId),
}

/// Atom at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Obligation {
    /// The instant.
    pub at: Instant,
    /// The atom.
    pub atom: Atom,
}

/// Values of atoms at instants ([EH18 §4]). Merging is commutative, associative and idempotent, so messages may be
/// late, duplicated or reordered.
///
/// ```
/// use invigil_decent::memory::{Atom, Memory};
/// use invigil_decent::system::PropositionId;
///
/// let on = Atom::Observed(PropositionId(0));
/// let (mut here, mut there) = (Memory::default(), Memory::default());
/// here.learn(1, on, true);
/// there.learn(2, on, false);
/// here.merge(&there);
/// here.merge(&there);
/// assert_eq!((here.get(1, on), here.get(2, on), here.get(3, on)), (Some(true), Some(false), None));
/// here.forget_before(2);
/// assert_eq!(here.len(), 1);
/// ```
///
/// THEMIS has read-only memories, negated atoms and memories of whole events [EH18 §7]. None is needed here: `&Memory`
/// is read-only, false is a value, and an event is a proposition of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Row>", into = "Vec<Row>")]
pub struct Memory {
    /// Rows in order of instants, none empty. Instants are usually contiguous, so a row is found without search.
    rows: VecDeque<Row>,
    /// Allocations of dropped rows, for reuse.
    spare: Vec<Vec<(Atom, bool)>>,
}

/// Values of one instant, sorted by atom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    at: Instant,
    values: Vec<(Atom, bool)>,
}

/// Maximum number of allocations kept for reuse.
const MAX_SPARE: usize = 16;

/// Rows from the network may be in any order.
impl From<Vec<Row>> for Memory {
    fn from(rows: Vec<Row>) -> Memory {
        let mut memory = Memory::default();
        for row in rows {
            for (atom, value) in row.values {
                memory.learn(row.at, atom, value);
            }
        }
        memory
    }
}

impl From<Memory> for Vec<Row> {
    fn from(memory: Memory) -> Vec<Row> {
        memory.rows.into()
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Memory) -> bool {
        self.rows == other.rows
    }
}

impl Eq for Memory {}

impl Memory {
    /// Stores a value. True wins over false, so that merging does not depend on the order.
    pub fn learn(&mut self, at: Instant, atom: Atom, value: bool) {
        let values = self.row(at);
        // Fast path: values mostly arrive in order.
        if values.last().is_none_or(|(last, _)| *last < atom) {
            return values.push((atom, value));
        }
        match values.binary_search_by_key(&atom, |(known, _)| *known) {
            Ok(index) => values[index].1 |= value,
            Err(index) => values.insert(index, (atom, value)),
        }
    }

    /// Returns the value of an atom at an instant, if it is known.
    pub fn get(&self, at: Instant, atom: Atom) -> Option<bool> {
        let values = self.at(at);
        let index = values.binary_search_by_key(&atom, |(known, _)| *known).ok()?;
        Some(values[index].1)
    }

    /// Returns all values of an instant, sorted by atom.
    pub fn at(&self, at: Instant) -> &[(Atom, bool)] {
        self.index(at).map_or(&[], |index| &self.rows[index].values)
    }

    /// Returns the known instants with their values, the earliest first.
    pub fn instants(&self) -> impl Iterator<Item = (Instant, &[(Atom, bool)])> {
        self.rows.iter().map(|row| (row.at, &row.values[..]))
    }

    /// Adds all values of another memory.
    pub fn merge(&mut self, other: &Memory) {
        for (obligation, value) in other.iter() {
            self.learn(obligation.at, obligation.atom, value);
        }
    }

    /// Drops all instants before the given one.
    pub fn forget_before(&mut self, at: Instant) {
        while let Some(row) = self.rows.pop_front_if(|row| row.at < at) {
            self.recycle(row);
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        while let Some(row) = self.rows.pop_front() {
            self.recycle(row);
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.rows.iter().map(|row| row.values.len()).sum()
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns all values, the earliest first.
    pub fn iter(&self) -> impl Iterator<Item = (Obligation, bool)> {
        self.instants().flat_map(|(at, values)| {
            values.iter().map(move |(atom, value)| (Obligation { at, atom: *atom }, *value))
        })
    }

    /// Returns the index of an instant's row, or where to insert it.
    fn index(&self, at: Instant) -> Result<usize, usize> {
        let guess = self.rows.front().and_then(|first| at.checked_sub(first.at)).unwrap_or(0) as usize;
        match self.rows.get(guess) {
            Some(row) if row.at == at => Ok(guess),
            _ => self.rows.binary_search_by_key(&at, |row| row.at),
        }
    }

    /// Returns the values of an instant for writing; inserts the row if needed.
    fn row(&mut self, at: Instant) -> &mut Vec<(Atom, bool)> {
        let index = self.index(at).unwrap_or_else(|index| {
            self.rows.insert(index, Row { at, values: self.spare.pop().unwrap_or_default() });
            index
        });
        &mut self.rows[index].values
    }

    fn recycle(&mut self, mut row: Row) {
        if self.spare.len() < MAX_SPARE {
            row.values.clear();
            self.spare.push(row.values);
        }
    }
}
