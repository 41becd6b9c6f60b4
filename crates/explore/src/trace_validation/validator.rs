//! Validation of a log, record by record.

use super::binding::Binding;
use super::explanation;
use super::graph::ConfigGraph;
use super::observation::{Observation, RecordError};
use super::record::{LogValue, Record};
use super::rejection::Rejection;
use super::tracker::{ConfigSet, Tracker};
use indexmap::{IndexMap, IndexSet};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

/// Options of trace validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidationOptions {
    /// Maximum number of consecutive hidden actions; unlimited if none.
    pub max_hidden_steps: Option<u32>,
    /// Maximum number of configurations in which the model may be at the same time.
    pub max_configurations: usize,
    /// Number of past records in the [`ConfigGraph`].
    pub history_length: usize,
}

impl Default for ValidationOptions {
    fn default() -> ValidationOptions {
        ValidationOptions { max_hidden_steps: None, max_configurations: 1_000_000, history_length: 10 }
    }
}

/// The result of processing a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    /// The model can match the record.
    Matched,
    /// The record is ignored.
    Ignored,
    /// The model cannot match the record. All further records are rejected, too.
    Rejected,
}

/// Why validation cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidationError {
    /// The record cannot be compared with the model.
    Record(RecordError),
    /// The model could be in more configurations than [`ValidationOptions`] allow.
    TooManyConfigurations,
}

/// The number of possible configurations after each record, run-length encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SurvivorCounts {
    /// Pairs of a count and the number of consecutive records with it.
    pub runs: Vec<(u64, u64)>,
    /// Whether later runs are omitted.
    pub is_truncated: bool,
    /// The largest count.
    pub maximum: u64,
}

/// Maximum number of runs that are kept.
const MAX_RUNS: usize = 1 << 20;
/// Configurations that are no longer needed are dropped when there are more than this.
const MAX_KEPT: usize = 1 << 20;
/// The cache is cleared when its size exceeds this.
const MAX_CACHED: usize = 1 << 24;

impl SurvivorCounts {
    fn record_count(&mut self, count: u64) {
        self.maximum = self.maximum.max(count);
        let is_full = self.runs.len() == MAX_RUNS;
        match self.runs.last_mut() {
            // After a truncation, the last run must not grow.
            Some((last, run)) if *last == count && !self.is_truncated => *run += 1,
            _ if is_full => self.is_truncated = true,
            _ => self.runs.push((count, 1)),
        }
    }
}

/// Follows a log and keeps the set of possible configurations.
#[derive(Debug)]
pub struct Validator<'b> {
    binding: &'b Binding<'b>,
    options: ValidationOptions,
    pub(crate) tracker: Tracker<'b>,
    /// The possible configurations right after the last matching record.
    current: ConfigSet,
    /// The number of this set in the cache, if it is cached.
    current_number: Option<u32>,
    /// The record that the model cannot match.
    rejected: Option<Rc<Observation>>,
    /// The last matching records, with the sets before them.
    recent_records: VecDeque<(ConfigSet, Rc<Observation>)>,
    survivors: SurvivorCounts,
    coverage: LogCoverage,
    cache: Cache,
}

/// The parts of the model that occurred in the log.
#[derive(Debug, Default)]
struct LogCoverage {
    events: BTreeSet<String>,
    /// Actions with the parameters that records had for them.
    parameters: BTreeSet<(u32, usize)>,
    candidates: BTreeSet<u32>,
    fields: BTreeSet<u32>,
}

/// Cached results. Since logs are repetitive, most records need only two lookups.
#[derive(Debug, Default)]
struct Cache {
    texts: IndexSet<Box<str>>,
    /// Interpretations by the contents of the record; none for an ignored record.
    observations: IndexMap<Box<[u64]>, Option<Rc<Observation>>>,
    sets: IndexSet<ConfigSet>,
    closures: HashMap<u32, ConfigSet>,
    /// From the numbers of a set and an observation to the set after it.
    after: HashMap<(u32, u32), u32>,
    key: Vec<u64>,
    /// Approximate size in words.
    size: usize,
}

impl Cache {
    fn intern_text(&mut self, text: &str) -> u64 {
        let existing = self.texts.get_index_of(text);
        existing.unwrap_or_else(|| {
            self.size += 8 + text.len() / 4;
            self.texts.insert_full(text.into()).0
        }) as u64
    }

    /// Computes the cache key of a record, which is stored in `key`.
    fn build_key(&mut self, record: &Record<'_>) {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.push(record.event.map_or(u64::MAX, |event| self.intern_text(event)));
        for (field, value) in &record.values {
            let (tag, bits) = match value {
                LogValue::Integer(value) => (0, *value as u64),
                LogValue::Boolean(value) => (1, u64::from(*value)),
                LogValue::Number(value) => (2, value.to_bits()),
                LogValue::Text(text) => (3, self.intern_text(text)),
            };
            key.extend([u64::from(*field) << 2 | tag, bits]);
        }
        self.key = key;
    }

    fn intern_set(&mut self, set: &ConfigSet) -> u32 {
        let existing = self.sets.get_index_of(set);
        existing.unwrap_or_else(|| {
            self.size += set.len() + 8;
            self.sets.insert_full(Rc::clone(set)).0
        }) as u32
    }
}

impl<'b> Validator<'b> {
    /// Starts with the initial configurations of the model.
    pub fn new(
        binding: &'b Binding<'b>,
        options: ValidationOptions,
    ) -> Result<Validator<'b>, ValidationError> {
        let mut tracker = Tracker::new(binding.model, binding.is_hidden.clone());
        let current = tracker.initial_configs();
        if current.len() > options.max_configurations {
            return Err(ValidationError::TooManyConfigurations);
        }
        let mut survivors = SurvivorCounts::default();
        survivors.record_count(current.len() as u64);
        Ok(Validator {
            binding,
            options,
            tracker,
            current,
            current_number: None,
            rejected: None,
            recent_records: VecDeque::new(),
            survivors,
            coverage: LogCoverage::default(),
            cache: Cache::default(),
        })
    }

    /// Processes the next record.
    pub fn take(&mut self, record: &Record<'_>) -> Result<RecordOutcome, ValidationError> {
        if self.rejected.is_some() {
            return Ok(RecordOutcome::Rejected);
        }
        self.cache.build_key(record);
        let observation = match self.cache.observations.get_full(&*self.cache.key) {
            Some((number, _, known)) => (number, known.clone()),
            None => self.interpret(record)?,
        };
        let (number, Some(observation)) = observation else { return Ok(RecordOutcome::Ignored) };
        let before = self.current_number.unwrap_or_else(|| self.cache.intern_set(&self.current));
        let next = match self.cache.after.get(&(before, number as u32)) {
            Some(after) => *after,
            None => {
                let closed = self.closed(before)?;
                let after = self.tracker.after(&closed, &observation);
                if after.len() > self.options.max_configurations {
                    return Err(ValidationError::TooManyConfigurations);
                }
                let after = self.cache.intern_set(&after);
                self.cache.after.insert((before, number as u32), after);
                self.cache.size += 8;
                after
            }
        };
        let after = Rc::clone(&self.cache.sets[next as usize]);
        self.survivors.record_count(after.len() as u64);
        if after.is_empty() {
            self.rejected = Some(observation);
            return Ok(RecordOutcome::Rejected);
        }
        let before = std::mem::replace(&mut self.current, after);
        self.current_number = Some(next);
        if self.options.history_length > 0 {
            if self.recent_records.len() >= self.options.history_length {
                self.recent_records.pop_front();
            }
            self.recent_records.push_back((before, observation));
        }
        self.free_memory();
        Ok(RecordOutcome::Matched)
    }

    /// Whether records of this event can be compared with the model, or are ignored.
    pub fn is_known_event(&self, event: &str) -> bool {
        self.binding.is_known_event(event)
    }

    /// Interprets a record that is not in the cache.
    fn interpret(
        &mut self,
        record: &Record<'_>,
    ) -> Result<(usize, Option<Rc<Observation>>), ValidationError> {
        let observation =
            Observation::of(self.binding, record).map_err(ValidationError::Record)?.map(Rc::new);
        if let Some(observation) = &observation {
            self.coverage.events.extend(observation.event.clone());
            self.coverage.fields.extend(record.values.iter().map(|(field, _)| *field));
            for candidate in &observation.candidates {
                self.coverage.candidates.insert(candidate.action);
                let reported = candidate.parameters.iter().map(|(at, _)| (candidate.action, *at));
                self.coverage.parameters.extend(reported);
            }
        }
        self.cache.size += self.cache.key.len() + 64;
        let key = self.cache.key.as_slice().into();
        Ok((self.cache.observations.insert_full(key, observation.clone()).0, observation))
    }

    /// The configurations reachable from a set by hidden steps.
    fn closed(&mut self, set: u32) -> Result<ConfigSet, ValidationError> {
        if let Some(known) = self.cache.closures.get(&set) {
            return Ok(Rc::clone(known));
        }
        let ValidationOptions { max_hidden_steps, max_configurations, .. } = self.options;
        let from = Rc::clone(&self.cache.sets[set as usize]);
        let closed = self.tracker.closure(&from, max_hidden_steps, max_configurations);
        let closed = closed.map_err(|_| ValidationError::TooManyConfigurations)?;
        self.cache.size += closed.len() + 8;
        self.cache.closures.insert(set, Rc::clone(&closed));
        Ok(closed)
    }

    /// Frees memory if much is used: a log may have any length.
    fn free_memory(&mut self) {
        let is_full = self.tracker.len() > MAX_KEPT;
        if !is_full && self.cache.size <= MAX_CACHED {
            return;
        }
        let needed: usize =
            self.recent_records.iter().map(|(set, _)| set.len()).sum::<usize>() + self.current.len();
        if is_full && self.tracker.len() > MAX_KEPT + 4 * needed {
            let recent_records = self.recent_records.iter_mut().map(|(set, _)| set);
            self.tracker.keep_only(recent_records.chain([&mut self.current]));
        } else if self.cache.size <= MAX_CACHED {
            return;
        }
        self.cache = Cache::default();
        self.current_number = None;
    }

    /// The number of possible configurations after the last matching record.
    pub fn configurations(&self) -> usize {
        self.current.len()
    }

    /// The number of possible configurations after each record.
    pub fn survivors(&self) -> &SurvivorCounts {
        &self.survivors
    }

    /// Events of the model that must be logged, but occurred in no record so far.
    pub fn unseen_events(&self) -> Vec<&str> {
        let mut unseen_events: Vec<&str> = Vec::new();
        for (id, action) in (0..).zip(&self.binding.model.parts().actions) {
            let Some(event) = action.event.as_deref().filter(|event| !unseen_events.contains(event)) else {
                continue;
            };
            let actions = self.binding.model.actions_named(event);
            if !self.tracker.is_hidden(id)
                && !actions.iter().any(|action| self.coverage.candidates.contains(action))
            {
                unseen_events.push(event);
            }
        }
        unseen_events
    }

    /// Parameters that no record of their event had so far, as pairs of event and parameter.
    pub fn missing_parameters(&self) -> Vec<(&str, &str)> {
        let mut missing_parameters: Vec<(&str, &str)> = Vec::new();
        for (event, actions) in
            self.binding.events.iter().filter(|(event, _)| self.coverage.events.contains(*event))
        {
            for action in actions {
                for (at, (name, _)) in self.binding.model.action(*action).parameters.iter().enumerate() {
                    let is_logged = self.coverage.parameters.contains(&(*action, at));
                    if !is_logged && !missing_parameters.contains(&(event, name)) {
                        missing_parameters.push((event, name));
                    }
                }
            }
        }
        missing_parameters
    }

    /// Whether no record contained a parameter or a variable so far.
    pub fn has_event_names_only(&self) -> bool {
        self.coverage.fields.is_empty()
    }

    /// The last matching records for display, with the number of configurations after each.
    pub fn recent(&self) -> Vec<(&str, usize)> {
        let after = self.recent_records.iter().skip(1).map(|(set, _)| set.len()).chain([self.current.len()]);
        self.recent_records.iter().map(|(_, observation)| observation.text.as_str()).zip(after).collect()
    }

    /// Why the model cannot match the rejected record; none if all records matched.
    pub fn rejection(&mut self) -> Option<Rejection> {
        let observation = Rc::clone(self.rejected.as_ref()?);
        let set = self.cache.intern_set(&self.current);
        let closed = self.closed(set).ok()?;
        Some(explanation::explain(&mut self.tracker, &self.current, &closed, &observation))
    }

    /// The graph of the last records and the configurations between them.
    pub fn graph(&mut self) -> ConfigGraph {
        let mut sets: Vec<(ConfigSet, String)> = self
            .recent_records
            .iter()
            .map(|(set, observation)| (Rc::clone(set), observation.text.clone()))
            .collect();
        let rejected = self.rejected.as_ref().map(|observation| observation.text.clone());
        let observations: Vec<Rc<Observation>> =
            self.recent_records.iter().map(|(_, observation)| Rc::clone(observation)).collect();
        sets.push((Rc::clone(&self.current), rejected.clone().unwrap_or_default()));
        ConfigGraph::build(
            &mut self.tracker,
            &sets,
            &observations,
            rejected.is_some(),
            self.options.max_hidden_steps,
        )
    }
}
