//! What was observed, and when.

use crate::system::{Instant, MonitorId, PropositionId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What a label can speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Atom {
    /// Something that a component observes.
    Observed(PropositionId),
    /// What another monitor says of the run from that instant on.
    Verdict(MonitorId),
}

/// An atom at an instant: what must be known to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Obligation {
    /// When.
    pub at: Instant,
    /// What.
    pub atom: Atom,
}

/// Values of atoms at instants. Two memories are joined by taking what either has, in any order and as often as one
/// likes, so messages may come late, twice, and in another order.
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
/// Who may only look gets a `&Memory`: no other kind is needed that forbids to write. That something was seen to be false is
/// a value, not an atom of its own.
///
/// The document also knows memories of whole events, where a label is a set of names that must have been seen together.
/// That is a matter of what is observed, not of the memory: an event is a proposition of its own, and "none was seen" is
/// all of them being false. So there is one kind of atom and one way to look it up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Row>", into = "Vec<Row>")]
pub struct Memory {
    /// The earliest first, none empty. Mostly there is one for every instant, so its place is found at once.
    rows: VecDeque<Row>,
    /// Room of forgotten rows, for new ones.
    spare: Vec<Vec<(Atom, bool)>>,
}

/// What is known of one instant, sorted by atom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    at: Instant,
    values: Vec<(Atom, bool)>,
}

/// How many forgotten rows are kept for their room.
const SPARE: usize = 16;

/// What came from elsewhere may be in any order.
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
    /// Notes a value. If there is one already, true is kept: what is joined must not depend on the order.
    pub fn learn(&mut self, at: Instant, atom: Atom, value: bool) {
        let values = self.row(at);
        // Most come in order.
        if values.last().is_none_or(|(last, _)| *last < atom) {
            return values.push((atom, value));
        }
        match values.binary_search_by_key(&atom, |(known, _)| *known) {
            Ok(place) => values[place].1 |= value,
            Err(place) => values.insert(place, (atom, value)),
        }
    }

    /// The value of an atom at an instant, if it is known.
    pub fn get(&self, at: Instant, atom: Atom) -> Option<bool> {
        let values = self.at(at);
        let place = values.binary_search_by_key(&atom, |(known, _)| *known).ok()?;
        Some(values[place].1)
    }

    /// All values of an instant, sorted by atom.
    pub fn at(&self, at: Instant) -> &[(Atom, bool)] {
        self.place(at).map_or(&[], |place| &self.rows[place].values)
    }

    /// All instants of which something is known, with their values, the earliest first.
    pub fn instants(&self) -> impl Iterator<Item = (Instant, &[(Atom, bool)])> {
        self.rows.iter().map(|row| (row.at, &row.values[..]))
    }

    /// Takes all that another memory has.
    pub fn merge(&mut self, other: &Memory) {
        for (obligation, value) in other.iter() {
            self.learn(obligation.at, obligation.atom, value);
        }
    }

    /// Forgets what is before an instant.
    pub fn forget_before(&mut self, at: Instant) {
        while let Some(row) = self.rows.pop_front_if(|row| row.at < at) {
            self.keep(row);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        while let Some(row) = self.rows.pop_front() {
            self.keep(row);
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.rows.iter().map(|row| row.values.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All values, the earliest first.
    pub fn iter(&self) -> impl Iterator<Item = (Obligation, bool)> {
        self.instants().flat_map(|(at, values)| {
            values.iter().map(move |(atom, value)| (Obligation { at, atom: *atom }, *value))
        })
    }

    /// Where the row of an instant is, or where it would be.
    fn place(&self, at: Instant) -> Result<usize, usize> {
        let guess = self.rows.front().and_then(|first| at.checked_sub(first.at)).unwrap_or(0) as usize;
        match self.rows.get(guess) {
            Some(row) if row.at == at => Ok(guess),
            _ => self.rows.binary_search_by_key(&at, |row| row.at),
        }
    }

    /// The values of an instant, to which something will be added.
    fn row(&mut self, at: Instant) -> &mut Vec<(Atom, bool)> {
        let place = self.place(at).unwrap_or_else(|place| {
            self.rows.insert(place, Row { at, values: self.spare.pop().unwrap_or_default() });
            place
        });
        &mut self.rows[place].values
    }

    fn keep(&mut self, mut row: Row) {
        if self.spare.len() < SPARE {
            row.values.clear();
            self.spare.push(row.values);
        }
    }
}
