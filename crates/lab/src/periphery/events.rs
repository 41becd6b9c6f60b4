//! Events as observations: an event makes its proposition true in the round in which it happens.

use super::{Observation, Run, Trouble, spread};
use invigil_decent::system::{PropositionId, System};
use invigil_monitor::event::{ANY, Catalog, Kind, SymbolId};
use invigil_trace::{End, Input, Options, Schema, TraceError, read};
use std::ops::ControlFlow;
use std::time::Duration;

/// More rounds than this are not made of a log: a time in it is wrong, or the step is too small.
const MOST_ROUNDS: usize = 1 << 24;

/// Which events make which propositions true, and which one ends a round, if one does.
///
/// ```
/// use invigil_decent::system::PropositionId;
/// use invigil_lab::periphery::Meaning;
/// use invigil_monitor::event::Kind;
///
/// let pushed = (PropositionId(0), "push".to_owned(), Kind::Before);
/// let meaning = Meaning::new([pushed], Some(("tick".to_owned(), Kind::Before)));
/// let [push, tick] = ["push", "tick"].map(|name| meaning.catalog().find(name, Kind::Before).unwrap());
/// let mut round = meaning.gather();
/// assert!(!round.happen(push) && round.happen(tick));
/// let mut seen = Vec::new();
/// round.take(&mut seen);
/// round.take(&mut seen);
/// assert_eq!(seen, [(PropositionId(0), true), (PropositionId(0), false)]);
/// ```
#[derive(Clone, Debug)]
pub struct Meaning {
    catalog: Catalog,
    makes: Vec<(SymbolId, PropositionId)>,
    mark: Option<SymbolId>,
}

impl Meaning {
    /// The event of each proposition, and the event that ends a round. One event may be that of several.
    pub fn new(
        propositions: impl IntoIterator<Item = (PropositionId, String, Kind)>,
        mark: Option<(String, Kind)>,
    ) -> Meaning {
        let mut catalog = Catalog::default();
        let makes = propositions
            .into_iter()
            .map(|(proposition, name, kind)| (catalog.symbol(&name, kind), proposition))
            .collect();
        let mark = mark.map(|(name, kind)| catalog.symbol(&name, kind));
        Meaning { catalog, makes, mark }
    }

    /// The events to ask for.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The first round, in which nothing has happened yet.
    pub fn gather(&self) -> Gathering {
        Gathering { happened: vec![false; self.makes.len()], meaning: self.clone() }
    }
}

/// A round, while its events happen.
#[derive(Clone, Debug)]
pub struct Gathering {
    meaning: Meaning,
    /// For each proposition whether its event happened.
    happened: Vec<bool>,
}

impl Gathering {
    /// An event happens. Says whether it is the last one of the round.
    pub fn happen(&mut self, symbol: SymbolId) -> bool {
        for ((known, _), happened) in self.meaning.makes.iter().zip(&mut self.happened) {
            *happened |= *known == symbol;
        }
        self.meaning.mark == Some(symbol)
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        !self.happened.contains(&true)
    }

    /// Ends the round: what did not happen is false. The next one begins.
    pub fn take(&mut self, seen: &mut Vec<Observation>) {
        for ((_, proposition), happened) in self.meaning.makes.iter().zip(&mut self.happened) {
            seen.push((*proposition, std::mem::take(happened)));
        }
    }
}

/// Where a round of a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// With the event that [says so](Meaning::new).
    Marked,
    /// When this much time has passed; the first round begins with the first record.
    Every(Duration),
}

/// Reads logs of events; several are merged by time. Gives the rounds, and what else there is to say of the logs.
///
/// # Errors
/// If they cannot be read, or do not say where rounds end.
pub fn events(
    inputs: Vec<Input>,
    options: &Options,
    meaning: &Meaning,
    rounds: Rounds,
    system: &System,
) -> Result<(Run, Vec<String>), Trouble> {
    let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
    // Time passes with every record, whether it is observed or not.
    let mut catalog = meaning.catalog.clone();
    let any = catalog.symbol(ANY, Kind::Before);
    let mut log = Log { round: meaning.gather(), rounds: Vec::new(), start: None, known: 0 };
    let mut wrong = None;
    let summary = read(inputs, &Schema::new(&catalog), options, |block| {
        for at in 0..block.batch.len() {
            let (symbol, time) = (block.batch.event(at).symbol, block.batch.stamp(at).time);
            if let Err(words) = log.add(Some(symbol).filter(|symbol| *symbol != any), time, rounds) {
                let place = block.place(at);
                let name = names.get(place.input).map_or("", String::as_str);
                wrong = Some(Trouble::new(format_args!("{name}:{}", place.line), words));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    let all = names.join(", ");
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    if let End::Failed(error) = &summary.end {
        return Err(unreadable(error));
    }
    if log.known == 0 {
        let known: Vec<String> = meaning.catalog.iter().map(|(_, symbol)| format!("`{symbol}`")).collect();
        let words = format!("no event of the log is one that is asked for: {}", known.join(", "));
        return Err(Trouble::new(all, words));
    }
    if rounds == Rounds::Marked && log.rounds.is_empty() {
        let mark = meaning.mark.and_then(|mark| meaning.catalog.get(mark)).map(ToString::to_string);
        let words = format!("`{}` never happens, so there is no round", mark.unwrap_or_default());
        return Err(Trouble::new(all, words));
    }
    let mut notes = Vec::new();
    if let Some(first) = summary.problems.first().first() {
        let name = names.get(first.place.input).map_or("", String::as_str);
        notes.push(format!(
            "{} of the log cannot be read, the first: {name}:{}: {first}; `--strict` makes this an error",
            counted(summary.problems.count(), "line"),
            first.place.line
        ));
    }
    if summary.out_of_order > 0 && rounds != Rounds::Marked {
        let late = counted(summary.out_of_order, "event");
        notes.push(format!("{all}: {late} are earlier than the one before, and count for its round"));
    }
    Ok((spread(&log.finish(), system), notes))
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A log while it is read.
struct Log {
    round: Gathering,
    rounds: Vec<Vec<Observation>>,
    /// The time of the first record.
    start: Option<f64>,
    /// How many events were asked for.
    known: u64,
}

impl Log {
    /// One event more; none if nobody asked for it.
    fn add(&mut self, symbol: Option<SymbolId>, time: f64, rounds: Rounds) -> Result<(), String> {
        if let Rounds::Every(step) = rounds {
            if time.is_nan() {
                return Err(
                    "the event has no time: rounds can end with an event instead, `--round EVENT`".into()
                );
            }
            let start = *self.start.get_or_insert(time);
            // Whole nanoseconds, so that 0.3 s is three tenths of a second.
            let number = ((time - start) * 1e9).round() as u128 / step.as_nanos().max(1);
            while (self.rounds.len() as u128) < number {
                self.end()?;
            }
        }
        let Some(symbol) = symbol else { return Ok(()) };
        self.known += 1;
        if self.round.happen(symbol) && rounds == Rounds::Marked { self.end() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), String> {
        if self.rounds.len() == MOST_ROUNDS {
            return Err(format!(
                "there are more than {MOST_ROUNDS} rounds until here: take a larger `--step`"
            ));
        }
        let mut seen = Vec::new();
        self.round.take(&mut seen);
        self.rounds.push(seen);
        Ok(())
    }

    /// All rounds. What happened after the last mark is one, too.
    fn finish(mut self) -> Vec<Vec<Observation>> {
        if self.start.is_some() || !self.round.is_empty() {
            let mut seen = Vec::new();
            self.round.take(&mut seen);
            self.rounds.push(seen);
        }
        self.rounds
    }
}

/// What a reader of traces says, which begins with the place.
pub(super) fn unreadable(error: &TraceError) -> Trouble {
    let told = error.to_string();
    let (place, words) = told.split_once(": ").unwrap_or(("", &told));
    Trouble::new(place, words)
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

    fn read(texts: &[&'static str], rounds: Rounds, strict: bool) -> Result<(String, Vec<String>), Trouble> {
        let system = system();
        let named = system.propositions().map(|id| (id, system.name(id).to_owned(), Kind::Before));
        let mark = (rounds == Rounds::Marked).then(|| ("tick".to_owned(), Kind::Before));
        let meaning = Meaning::new(named, mark);
        let inputs = (0..).zip(texts).map(|(at, text)| Input::reader(format!("l{at}"), Cursor::new(*text)));
        let options = Options { strict, ..Options::default() };
        let (run, notes) = events(inputs.collect(), &options, &meaning, rounds, &system)?;
        let letter = |seen: &[Observation]| if seen[0].1 { 't' } else { 'f' };
        let words = (0..run[0].len()).map(|round| {
            let all: String = run.iter().map(|component| letter(&component[round])).collect();
            all
        });
        Ok((words.collect::<Vec<_>>().join(" "), notes))
    }

    const STEP: Rounds = Rounds::Every(Duration::from_millis(1000));

    #[test]
    fn an_event_makes_its_proposition_true_in_its_round() {
        let marked = |text| read(&[text], Rounds::Marked, false).unwrap().0;
        assert_eq!(marked("open\nother\ntick\ntick\non\nopen\ntick\n"), "tf ff tt");
        assert_eq!(marked("open\ntick\non\n"), "tf ft", "what comes after the last mark counts");
        assert_eq!(marked("{\"event\":\"tick\"}\n{\"event\":\"on\"}\n{\"event\":\"tick\"}\n"), "ff ft");
        let timed = |texts: &[&'static str]| read(texts, STEP, false).unwrap().0;
        assert_eq!(timed(&["@10 start\n@10.5 open\n@12.25 on\n@12.5 on\n@13 stop\n"]), "tf ff ft ff");
        assert_eq!(timed(&["@1 open\n@2.5 open\n", "@1.5 on\n@3.1 on\n"]), "tt tf ft");
        let (rounds, notes) = read(&["@5 open\n@7 on\n@6 open\n"], STEP, false).unwrap();
        assert_eq!((rounds.as_str(), notes.len()), ("tf ff tt", 1));
    }

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        for (text, rounds, strict, words) in [
            ("@1 open\non\n", STEP, false, "l0:2: the event has no time"),
            ("@1 open\n@1e12 on\n", STEP, false, "l0:2: there are more than"),
            ("open\non\n", Rounds::Marked, false, "l0: `tick` never happens"),
            (
                "push\n",
                Rounds::Marked,
                false,
                "l0: no event of the log is one that is asked for: `open`, `on`, `tick`",
            ),
            ("tick\nopen(\n", Rounds::Marked, true, "l0:2: "),
        ] {
            let wrong = read(&[text], rounds, strict).unwrap_err().to_string();
            assert!(wrong.starts_with(words), "{wrong}");
        }
        let (rounds, notes) = read(&["tick\nopen(\non\ntick\n"], Rounds::Marked, false).unwrap();
        assert_eq!(rounds, "ff ft");
        assert!(notes[0].starts_with("1 line of the log cannot be read, the first: l0:2: "), "{notes:?}");
    }
}
