//! Events as observations: an event makes its proposition true in the round in which it occurs.

use super::{Observation, ObservationError, RecordedRun, split_by_component};
use invigil_decent::system::{PropositionId, System};
use invigil_monitor::event::{ANY_EVENT, EventCatalog, EventId, EventKind};
use invigil_trace::{Input, ReadEnd, ReadOptions, Schema, TraceError, read};
use std::ops::ControlFlow;
use std::time::Duration;

/// Maximum number of rounds of a log. More indicate a wrong timestamp or too small a step.
const MAX_ROUNDS: usize = 1 << 24;

/// Mapping from events to propositions, and the event that ends a round, if there is one.
///
/// ```
/// use invigil_decent::system::PropositionId;
/// use invigil_lab::inputs::EventMapping;
/// use invigil_monitor::event::EventKind;
///
/// let pushed = (PropositionId(0), "push".to_owned(), EventKind::Before);
/// let mapping = EventMapping::new([pushed], Some(("tick".to_owned(), EventKind::Before)));
/// let [push, tick] = ["push", "tick"].map(|name| mapping.catalog().find(name, EventKind::Before).unwrap());
/// let mut round = mapping.collector();
/// assert!(!round.record(push) && round.record(tick));
/// let mut seen = Vec::new();
/// round.take(&mut seen);
/// round.take(&mut seen);
/// assert_eq!(seen, [(PropositionId(0), true), (PropositionId(0), false)]);
/// ```
#[derive(Clone, Debug)]
pub struct EventMapping {
    catalog: EventCatalog,
    propositions_of: Vec<(EventId, PropositionId)>,
    round_event: Option<EventId>,
}

impl EventMapping {
    /// Creates a mapping. Several propositions may share an event.
    pub fn new(
        propositions: impl IntoIterator<Item = (PropositionId, String, EventKind)>,
        round_event: Option<(String, EventKind)>,
    ) -> EventMapping {
        let mut catalog = EventCatalog::default();
        let propositions_of = propositions
            .into_iter()
            .map(|(proposition, name, kind)| (catalog.declare(&name, kind), proposition))
            .collect();
        let round_event = round_event.map(|(name, kind)| catalog.declare(&name, kind));
        EventMapping { catalog, propositions_of, round_event }
    }

    /// Returns the events to subscribe to.
    pub fn catalog(&self) -> &EventCatalog {
        &self.catalog
    }

    /// Returns a collector for the first round.
    pub fn collector(&self) -> RoundCollector {
        RoundCollector { happened: vec![false; self.propositions_of.len()], mapping: self.clone() }
    }
}

/// Collects the events of a round.
#[derive(Clone, Debug)]
pub struct RoundCollector {
    mapping: EventMapping,
    /// Whether the event of each proposition has occurred.
    happened: Vec<bool>,
}

impl RoundCollector {
    /// Records an event. Returns whether it ends the round.
    pub fn record(&mut self, event: EventId) -> bool {
        for ((known, _), happened) in self.mapping.propositions_of.iter().zip(&mut self.happened) {
            *happened |= *known == event;
        }
        self.mapping.round_event == Some(event)
    }

    /// Returns whether no event has occurred yet.
    pub fn is_empty(&self) -> bool {
        !self.happened.contains(&true)
    }

    /// Ends the round: propositions whose event has not occurred are false. Starts the next round.
    pub fn take(&mut self, seen: &mut Vec<Observation>) {
        for ((_, proposition), happened) in self.mapping.propositions_of.iter().zip(&mut self.happened) {
            seen.push((*proposition, std::mem::take(happened)));
        }
    }
}

/// End of a round in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// At the event given to [`EventMapping::new`].
    AtEvent,
    /// After this time; the first round begins with the first record.
    Every(Duration),
}

/// Reads event logs; several are merged by time. Returns the rounds, and notes about the logs.
///
/// # Errors
/// Fails if a log cannot be read or contains no rounds.
pub fn read_events(
    inputs: Vec<Input>,
    options: &ReadOptions,
    mapping: &EventMapping,
    rounds: Rounds,
    system: &System,
) -> Result<(RecordedRun, Vec<String>), ObservationError> {
    let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
    // The time of every record counts, whether its event is mapped or not.
    let mut catalog = mapping.catalog.clone();
    let any = catalog.declare(ANY_EVENT, EventKind::Before);
    let mut log = LogReader { round: mapping.collector(), rounds: Vec::new(), start: None, mapped_count: 0 };
    let mut failure = None;
    let summary = read(inputs, &Schema::new(&catalog), options, |block| {
        for at in 0..block.batch.len() {
            let (event, time) = (block.batch.event(at).id, block.batch.meta(at).time);
            if let Err(message) = log.add(Some(event).filter(|event| *event != any), time, rounds) {
                let place = block.position(at);
                let name = names.get(place.input).map_or("", String::as_str);
                failure = Some(ObservationError::new(format_args!("{name}:{}", place.line), message));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    let all = names.join(", ");
    if let Some(error) = failure {
        return Err(error);
    }
    if let ReadEnd::Failed(error) = &summary.end {
        return Err(trace_error(error));
    }
    if log.mapped_count == 0 {
        let known: Vec<String> = mapping.catalog.iter().map(|(_, decl)| format!("`{decl}`")).collect();
        let message = format!("the log contains none of the events {}", known.join(", "));
        return Err(ObservationError::new(all, message));
    }
    if rounds == Rounds::AtEvent && log.rounds.is_empty() {
        let round_event = mapping
            .round_event
            .and_then(|round_event| mapping.catalog.get(round_event))
            .map(ToString::to_string);
        let message = format!("`{}` never occurs, so there are no rounds", round_event.unwrap_or_default());
        return Err(ObservationError::new(all, message));
    }
    let mut notes = Vec::new();
    if let Some(first) = summary.line_errors.first().first() {
        let name = names.get(first.position.input).map_or("", String::as_str);
        notes.push(format!(
            "{} of the log cannot be read, the first: {name}:{}: {first}; `--strict` makes this an error",
            counted(summary.line_errors.count(), "line"),
            first.position.line
        ));
    }
    if summary.out_of_order > 0 && rounds != Rounds::AtEvent {
        let late = counted(summary.out_of_order, "event");
        notes.push(format!("{all}: {late} are earlier than their predecessors and count for the same round"));
    }
    Ok((split_by_component(&log.finish(), system), notes))
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// State while a log is read.
struct LogReader {
    round: RoundCollector,
    rounds: Vec<Vec<Observation>>,
    /// Time of the first record.
    start: Option<f64>,
    /// Number of mapped events.
    mapped_count: u64,
}

impl LogReader {
    /// Adds an event; `None` if it is not mapped.
    fn add(&mut self, event: Option<EventId>, time: f64, rounds: Rounds) -> Result<(), String> {
        if let Rounds::Every(step) = rounds {
            if time.is_nan() {
                return Err(
                    "the event has no time: end rounds with an event instead (`--round EVENT`)".into()
                );
            }
            let start = *self.start.get_or_insert(time);
            // In whole nanoseconds, since 0.3 s is not exact in floating point.
            let number = ((time - start) * 1e9).round() as u128 / step.as_nanos().max(1);
            while (self.rounds.len() as u128) < number {
                self.end_round()?;
            }
        }
        let Some(event) = event else { return Ok(()) };
        self.mapped_count += 1;
        if self.round.record(event) && rounds == Rounds::AtEvent { self.end_round() } else { Ok(()) }
    }

    fn end_round(&mut self) -> Result<(), String> {
        if self.rounds.len() == MAX_ROUNDS {
            return Err(format!("more than {MAX_ROUNDS} rounds up to here: use a larger `--step`"));
        }
        let mut seen = Vec::new();
        self.round.take(&mut seen);
        self.rounds.push(seen);
        Ok(())
    }

    /// Returns all rounds, including the events after the last end of a round.
    fn finish(mut self) -> Vec<Vec<Observation>> {
        if self.start.is_some() || !self.round.is_empty() {
            let mut seen = Vec::new();
            self.round.take(&mut seen);
            self.rounds.push(seen);
        }
        self.rounds
    }
}

/// Splits the message of a trace error into location and message.
pub(super) fn trace_error(error: &TraceError) -> ObservationError {
    let reported = error.to_string();
    let (place, message) = reported.split_once(": ").unwrap_or(("", &reported));
    ObservationError::new(place, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn system() -> System {
        let mut system = System::default();
        let (door, lamp) = (system.component("door").unwrap(), system.component("lamp").unwrap());
        system.proposition(door, "open").unwrap();
        system.proposition(lamp, "on").unwrap();
        system
    }

    fn read(
        texts: &[&'static str],
        rounds: Rounds,
        strict: bool,
    ) -> Result<(String, Vec<String>), ObservationError> {
        let system = system();
        let named =
            system.propositions().map(|id| (id, system.proposition_name(id).to_owned(), EventKind::Before));
        let round_event = (rounds == Rounds::AtEvent).then(|| ("tick".to_owned(), EventKind::Before));
        let mapping = EventMapping::new(named, round_event);
        let inputs = (0..).zip(texts).map(|(at, text)| Input::reader(format!("l{at}"), Cursor::new(*text)));
        let options = ReadOptions { strict, ..ReadOptions::default() };
        let (run, notes) = read_events(inputs.collect(), &options, &mapping, rounds, &system)?;
        let letter = |seen: &[Observation]| if seen[0].1 { 't' } else { 'f' };
        let message = (0..run[0].len()).map(|round| {
            let all: String = run.iter().map(|component| letter(&component[round])).collect();
            all
        });
        Ok((message.collect::<Vec<_>>().join(" "), notes))
    }

    const STEP: Rounds = Rounds::Every(Duration::from_millis(1000));

    #[test]
    fn event_makes_its_proposition_true_in_its_round() {
        let marked = |text| read(&[text], Rounds::AtEvent, false).unwrap().0;
        assert_eq!(marked("open\nother\ntick\ntick\non\nopen\ntick\n"), "tf ff tt");
        assert_eq!(marked("open\ntick\non\n"), "tf ft", "events after the last end of a round count");
        assert_eq!(marked("{\"event\":\"tick\"}\n{\"event\":\"on\"}\n{\"event\":\"tick\"}\n"), "ff ft");
        let timed = |texts: &[&'static str]| read(texts, STEP, false).unwrap().0;
        assert_eq!(timed(&["@10 start\n@10.5 open\n@12.25 on\n@12.5 on\n@13 stop\n"]), "tf ff ft ff");
        assert_eq!(timed(&["@1 open\n@2.5 open\n", "@1.5 on\n@3.1 on\n"]), "tt tf ft");
        let (rounds, notes) = read(&["@5 open\n@7 on\n@6 open\n"], STEP, false).unwrap();
        assert_eq!((rounds.as_str(), notes.len()), ("tf ff tt", 1));
    }

    #[test]
    fn malformed_log_is_reported_with_line_and_remedy() {
        for (text, rounds, strict, message) in [
            ("@1 open\non\n", STEP, false, "l0:2: the event has no time"),
            ("@1 open\n@1e12 on\n", STEP, false, "l0:2: more than"),
            ("open\non\n", Rounds::AtEvent, false, "l0: `tick` never occurs"),
            (
                "push\n",
                Rounds::AtEvent,
                false,
                "l0: the log contains none of the events `open`, `on`, `tick`",
            ),
            ("tick\nopen(\n", Rounds::AtEvent, true, "l0:2: "),
        ] {
            let wrong = read(&[text], rounds, strict).unwrap_err().to_string();
            assert!(wrong.starts_with(message), "{wrong}");
        }
        let (rounds, notes) = read(&["tick\nopen(\non\ntick\n"], Rounds::AtEvent, false).unwrap();
        assert_eq!(rounds, "ff ft");
        assert!(notes[0].starts_with("1 line of the log cannot be read, the first: l0:2: "), "{notes:?}");
    }
}
