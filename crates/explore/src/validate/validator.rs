//! Records in, the set of possible configurations kept.

use super::binding::Binding;
use super::given::{Given, Record};
use super::graph::Graph;
use super::observation::{Observation, Wrong};
use super::refusal::Refusal;
use super::tracker::{Set, Tracker};
use super::why;
use indexmap::{IndexMap, IndexSet};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

/// How a trace is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most actions without a record in a row; none for as many as there can be.
    pub longest_hidden: Option<u32>,
    /// The most configurations in which the model may be at the same time.
    pub most_configurations: usize,
    /// How many records the [`Graph`] goes back.
    pub remembered: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { longest_hidden: None, most_configurations: 1_000_000, remembered: 10 }
    }
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The model can do it.
    Matched,
    /// It says nothing about the model.
    Ignored,
    /// The model cannot do it. All further records are lost, too.
    Lost,
}

/// Why validation cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The record cannot be compared with the model.
    Wrong(Wrong),
    /// The model could be in more configurations than [`Options`] allow.
    TooMany,
}

/// How many configurations survived, record by record: a count, and for how many records in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survivors {
    /// The counts, from the start on.
    pub runs: Vec<(u64, u64)>,
    /// Whether there were more runs than are kept.
    pub is_cut: bool,
    /// The largest count.
    pub most: u64,
}

/// So many runs of counts are kept.
const MOST_RUNS: usize = 1 << 20;
/// Configurations beyond those that are needed are forgotten when there are so many of them.
const MOST_KEPT: usize = 1 << 20;
/// What was computed before is forgotten when it takes so many numbers.
const MOST_CACHED: usize = 1 << 24;

impl Survivors {
    fn note(&mut self, count: u64) {
        self.most = self.most.max(count);
        let is_full = self.runs.len() == MOST_RUNS;
        match self.runs.last_mut() {
            // A run behind which others are missing does not go on.
            Some((last, run)) if *last == count && !self.is_cut => *run += 1,
            _ if is_full => self.is_cut = true,
            _ => self.runs.push((count, 1)),
        }
    }
}

/// Follows a log, and knows in which configurations the model can be.
#[derive(Debug)]
pub struct Validator<'b> {
    binding: &'b Binding<'b>,
    options: Options,
    pub(crate) tracker: Tracker<'b>,
    /// Where the model can be right after the last record that matched.
    current: Set,
    /// The number of that set in the cache, if it is there.
    current_number: Option<u32>,
    /// The record that the model cannot do.
    lost: Option<Rc<Observation>>,
    /// The last records that matched, with the sets before them.
    past: VecDeque<(Set, Rc<Observation>)>,
    survivors: Survivors,
    seen: Seen,
    cache: Cache,
}

/// What the records told so far.
#[derive(Debug, Default)]
struct Seen {
    events: BTreeSet<String>,
    /// Actions that were meant, with parameters that were told.
    parameters: BTreeSet<(u32, usize)>,
    candidates: BTreeSet<u32>,
    fields: BTreeSet<u32>,
}

/// What was computed before. A log says the same thing again and again, so nearly every record is two lookups.
#[derive(Debug, Default)]
struct Cache {
    texts: IndexSet<Box<str>>,
    /// By what is written in the record; none for one that says nothing.
    observations: IndexMap<Box<[u64]>, Option<Rc<Observation>>>,
    sets: IndexSet<Set>,
    closures: HashMap<u32, Set>,
    /// From a set and an observation, by their numbers, to the set after it.
    after: HashMap<(u32, u32), u32>,
    key: Vec<u64>,
    /// How many numbers all this takes, about.
    size: usize,
}

impl Cache {
    fn text(&mut self, text: &str) -> u64 {
        let known = self.texts.get_index_of(text);
        known.unwrap_or_else(|| {
            self.size += 8 + text.len() / 4;
            self.texts.insert_full(text.into()).0
        }) as u64
    }

    /// What is written in a record, as words. Kept in `key`.
    fn spell(&mut self, record: &Record<'_>) {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.push(record.event.map_or(u64::MAX, |event| self.text(event)));
        for (field, given) in &record.values {
            let (sort, word) = match given {
                Given::Integer(value) => (0, *value as u64),
                Given::Boolean(value) => (1, u64::from(*value)),
                Given::Number(value) => (2, value.to_bits()),
                Given::Text(text) => (3, self.text(text)),
            };
            key.extend([u64::from(*field) << 2 | sort, word]);
        }
        self.key = key;
    }

    fn set(&mut self, set: &Set) -> u32 {
        let known = self.sets.get_index_of(set);
        known.unwrap_or_else(|| {
            self.size += set.len() + 8;
            self.sets.insert_full(Rc::clone(set)).0
        }) as u32
    }
}

impl<'b> Validator<'b> {
    /// The model has not moved yet.
    pub fn new(binding: &'b Binding<'b>, options: Options) -> Result<Validator<'b>, Halt> {
        let mut tracker = Tracker::new(binding.model, binding.is_hidden.clone());
        let current = tracker.starts();
        if current.len() > options.most_configurations {
            return Err(Halt::TooMany);
        }
        let mut survivors = Survivors::default();
        survivors.note(current.len() as u64);
        Ok(Validator {
            binding,
            options,
            tracker,
            current,
            current_number: None,
            lost: None,
            past: VecDeque::new(),
            survivors,
            seen: Seen::default(),
            cache: Cache::default(),
        })
    }

    /// Takes the next record.
    pub fn take(&mut self, record: &Record<'_>) -> Result<Taken, Halt> {
        if self.lost.is_some() {
            return Ok(Taken::Lost);
        }
        self.cache.spell(record);
        let observation = match self.cache.observations.get_full(&*self.cache.key) {
            Some((number, _, known)) => (number, known.clone()),
            None => self.observe(record)?,
        };
        let (number, Some(says)) = observation else { return Ok(Taken::Ignored) };
        let before = self.current_number.unwrap_or_else(|| self.cache.set(&self.current));
        let next = match self.cache.after.get(&(before, number as u32)) {
            Some(after) => *after,
            None => {
                let closed = self.closed(before)?;
                let after = self.tracker.after(&closed, &says);
                if after.len() > self.options.most_configurations {
                    return Err(Halt::TooMany);
                }
                let after = self.cache.set(&after);
                self.cache.after.insert((before, number as u32), after);
                self.cache.size += 8;
                after
            }
        };
        let after = Rc::clone(&self.cache.sets[next as usize]);
        self.survivors.note(after.len() as u64);
        if after.is_empty() {
            self.lost = Some(says);
            return Ok(Taken::Lost);
        }
        let before = std::mem::replace(&mut self.current, after);
        self.current_number = Some(next);
        if self.options.remembered > 0 {
            if self.past.len() >= self.options.remembered {
                self.past.pop_front();
            }
            self.past.push_back((before, says));
        }
        self.forget();
        Ok(Taken::Matched)
    }

    /// Whether records of this event can be compared with the model, or are ignored.
    pub fn knows(&self, event: &str) -> bool {
        self.binding.knows(event)
    }

    /// Understands a record of a new kind.
    fn observe(&mut self, record: &Record<'_>) -> Result<(usize, Option<Rc<Observation>>), Halt> {
        let observation = Observation::of(self.binding, record).map_err(Halt::Wrong)?.map(Rc::new);
        if let Some(says) = &observation {
            self.seen.events.extend(says.event.clone());
            self.seen.fields.extend(record.values.iter().map(|(field, _)| *field));
            for candidate in &says.candidates {
                self.seen.candidates.insert(candidate.action);
                let told = candidate.parameters.iter().map(|(at, _)| (candidate.action, *at));
                self.seen.parameters.extend(told);
            }
        }
        self.cache.size += self.cache.key.len() + 64;
        let key = self.cache.key.as_slice().into();
        Ok((self.cache.observations.insert_full(key, observation.clone()).0, observation))
    }

    /// The configurations of a set and all that can be reached from there unseen.
    fn closed(&mut self, set: u32) -> Result<Set, Halt> {
        if let Some(known) = self.cache.closures.get(&set) {
            return Ok(Rc::clone(known));
        }
        let Options { longest_hidden, most_configurations, .. } = self.options;
        let from = Rc::clone(&self.cache.sets[set as usize]);
        let closed = self.tracker.closure(&from, longest_hidden, most_configurations);
        let closed = closed.map_err(|_| Halt::TooMany)?;
        self.cache.size += closed.len() + 8;
        self.cache.closures.insert(set, Rc::clone(&closed));
        Ok(closed)
    }

    /// Gives memory back when there is much of it: a log may be of any length.
    fn forget(&mut self) {
        let is_full = self.tracker.len() > MOST_KEPT;
        if !is_full && self.cache.size <= MOST_CACHED {
            return;
        }
        let needed: usize = self.past.iter().map(|(set, _)| set.len()).sum::<usize>() + self.current.len();
        if is_full && self.tracker.len() > MOST_KEPT + 4 * needed {
            let past = self.past.iter_mut().map(|(set, _)| set);
            self.tracker.keep_only(past.chain([&mut self.current]));
        } else if self.cache.size <= MOST_CACHED {
            return;
        }
        self.cache = Cache::default();
        self.current_number = None;
    }

    /// In how many configurations the model can be after the last record that matched.
    pub fn configurations(&self) -> usize {
        self.current.len()
    }

    /// How many configurations survived each record.
    pub fn survivors(&self) -> &Survivors {
        &self.survivors
    }

    /// Events that the model has, that must be told, and that no record told so far.
    pub fn unseen(&self) -> Vec<&str> {
        let mut unseen: Vec<&str> = Vec::new();
        for (id, action) in (0..).zip(&self.binding.model.parts().actions) {
            let Some(event) = action.event.as_deref().filter(|event| !unseen.contains(event)) else {
                continue;
            };
            let called = self.binding.model.actions_called(event);
            if !self.tracker.is_hidden(id) && !called.iter().any(|of| self.seen.candidates.contains(of)) {
                unseen.push(event);
            }
        }
        unseen
    }

    /// Parameters that no record of their event told so far, as `event`, `parameter`.
    pub fn untold(&self) -> Vec<(&str, &str)> {
        let mut untold: Vec<(&str, &str)> = Vec::new();
        for (event, actions) in
            self.binding.events.iter().filter(|(event, _)| self.seen.events.contains(*event))
        {
            for action in actions {
                for (at, (name, _)) in self.binding.model.action(*action).parameters.iter().enumerate() {
                    let is_told = self.seen.parameters.contains(&(*action, at));
                    if !is_told && !untold.contains(&(event, name)) {
                        untold.push((event, name));
                    }
                }
            }
        }
        untold
    }

    /// Whether no record told a parameter or a variable so far.
    pub fn tells_names_only(&self) -> bool {
        self.seen.fields.is_empty()
    }

    /// The last records that matched, as people read them, with the number of configurations after each.
    pub fn recent(&self) -> Vec<(&str, usize)> {
        let after = self.past.iter().skip(1).map(|(set, _)| set.len()).chain([self.current.len()]);
        self.past.iter().map(|(_, says)| says.words.as_str()).zip(after).collect()
    }

    /// Why the model cannot do the record that was lost; none if all match.
    pub fn refusal(&mut self) -> Option<Refusal> {
        let says = Rc::clone(self.lost.as_ref()?);
        let set = self.cache.set(&self.current);
        let closed = self.closed(set).ok()?;
        Some(why::explain(&mut self.tracker, &self.current, &closed, &says))
    }

    /// The last records with the configurations between them, and the steps by which these follow each other.
    pub fn graph(&mut self) -> Graph {
        let mut sets: Vec<(Set, String)> =
            self.past.iter().map(|(set, says)| (Rc::clone(set), says.words.clone())).collect();
        let lost = self.lost.as_ref().map(|says| says.words.clone());
        let says: Vec<Rc<Observation>> = self.past.iter().map(|(_, says)| Rc::clone(says)).collect();
        sets.push((Rc::clone(&self.current), lost.clone().unwrap_or_default()));
        Graph::draw(&mut self.tracker, &sets, &says, lost.is_some(), self.options.longest_hidden)
    }
}
