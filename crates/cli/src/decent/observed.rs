//! Where the observations of a run come from.

use super::listen;
use super::program::{Pace, Program};
use crate::interrupt::Interrupt;
use crate::remote::patience;
use crate::terminal::Terminal;
use crate::{Trouble, files};
use clap::Args as Options;
use invigil_decent::simulate::Trace;
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_lab::boxes::Boxes;
use invigil_lab::periphery::{Folder, Inputs, Live, Meaning, Rounds, Run, Text, events, spread, table};
use invigil_lang::ltl::event_named;
use invigil_mac::Channel;
use invigil_monitor::event::Kind;
use invigil_trace::{Format, Input};
use std::path::PathBuf;
use std::time::Duration;

/// Where observations come from.
#[derive(Options)]
pub(crate) struct Observed {
    /// A trace: rounds with `>` between them, observations with commas: 'a0:t,b0:f>a0:f'
    #[arg(long, value_name = "TEXT", group = "observed")]
    trace: Option<String>,

    /// A folder of traces: `0-a.trace` is what component a saw in run 0, one line for each round
    #[arg(long, value_name = "FOLDER", group = "observed")]
    pub(super) traces: Option<PathBuf>,

    /// Only this run of the folder
    #[arg(long, value_name = "N", requires = "traces")]
    pub(super) run: Option<usize>,

    /// A table of states, one record for each round: CSV with names in its first line, or lines of JSON; `-` is
    /// standard input
    #[arg(long, value_name = "FILE", group = "observed")]
    table: Option<PathBuf>,

    /// A log of events, in any format that `check` reads: an event makes its proposition true in its round. Several
    /// are merged by time
    #[arg(long, value_name = "FILE", group = "observed")]
    events: Vec<PathBuf>,

    /// Wait for a peer that sends what a component observes, one line for each round: b=unix:PATH, b=tcp:PORT,
    /// b=tcp:HOST:PORT; may be given several times
    #[arg(long, value_name = "COMPONENT=SOCKET", conflicts_with = "observed")]
    listen: Vec<String>,

    /// Run a program, native or Java: the calls of its functions are what a component observes; may be given several
    /// times
    #[arg(long, value_name = "COMPONENT=COMMAND", conflicts_with = "observed")]
    program: Vec<String>,

    /// A round of a log or a program lasts so long: 1s, 100ms, 5min
    #[arg(long, value_name = "TIME", value_parser = step, conflicts_with = "round")]
    step: Option<Duration>,

    /// A round of a log or a program ends with this event; COMPONENT=EVENT for one program only
    #[arg(long, value_name = "EVENT")]
    round: Vec<String>,

    /// How long to wait for a peer, for its next line, and for the end of a program's round
    #[arg(long, value_name = "SECONDS", value_parser = patience, default_value = "30")]
    wait: Duration,

    /// The format of a table or a log: jsonl, csv or line [default: as its first line looks]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// A line of a log that cannot be read is an error
    #[arg(long)]
    strict: bool,
}

/// Observations that are there, or that are to come.
pub(super) enum Source {
    Recorded(Vec<Trace>),
    Live(Box<Live>),
}

const NOTHING: &str =
    "nothing is observed: give --trace, --traces or --table, --events, --listen or --program";

impl Observed {
    /// Gets ready to observe. What is live is kept if it is observed `again`.
    pub(super) fn open(
        &self,
        folder: Option<Folder>,
        system: &System,
        mut boxes: Boxes,
        again: bool,
        terminal: &Terminal,
    ) -> Result<Source, Trouble> {
        if !self.listen.is_empty() || !self.program.is_empty() {
            return self.live(system, Live::new(system, boxes, again), terminal);
        }
        let mut runs = match folder {
            Some(folder) => self.folder(&folder, system)?,
            None => vec![self.recorded(system, terminal)?],
        };
        for run in &mut runs {
            boxes.run(run).map_err(Trouble::new)?;
        }
        Ok(Source::Recorded(runs.iter().map(|run| Trace::of(run)).collect()))
    }

    fn folder(&self, folder: &Folder, system: &System) -> Result<Vec<Run>, Trouble> {
        let runs = match self.run {
            Some(run) if run >= folder.runs => {
                let last = folder.runs - 1;
                return Err(Trouble::new(format_args!("there is no run {run}: the last one is {last}")));
            }
            Some(run) => run..run + 1,
            None => 0..folder.runs,
        };
        // A specification may number its components in another way: names tell who is who.
        runs.map(|run| renamed(folder, run, system)).collect()
    }

    fn recorded(&self, system: &System, terminal: &Terminal) -> Result<Run, Trouble> {
        let options = invigil_trace::Options {
            format: self.format,
            strict: self.strict,
            ..invigil_trace::Options::default()
        };
        if let Some(text) = &self.trace {
            let mut inputs = Inputs::default();
            inputs.add(Text::new(text, system).map_err(Trouble::new)?);
            let mut rounds = Vec::new();
            while let Some(round) = inputs.observe().map_err(Trouble::new)? {
                rounds.push(round);
            }
            Ok(spread(&rounds, system))
        } else if let Some(path) = &self.table {
            table(Input::named(path), &options, system).map_err(Trouble::new)
        } else if !self.events.is_empty() {
            if self.events.iter().filter(|path| files::is_standard(path)).count() > 1 {
                return Err(Trouble::new("`-` is given twice, but there is only one standard input"));
            }
            let inputs = self.events.iter().map(Input::named).collect();
            let rounds = match (self.step, self.round.as_slice()) {
                (Some(step), _) => Rounds::Every(step),
                (None, [_]) => Rounds::Marked,
                (None, []) => return Err(Trouble::new(NO_ROUNDS)),
                (None, _) => return Err(Trouble::new("a log has one `--round`, and this is the second")),
            };
            let meaning = Meaning::new(named(system, None), self.round.first().map(|name| event_named(name)));
            let (run, notes) = events(inputs, &options, &meaning, rounds, system).map_err(Trouble::new)?;
            notes.iter().for_each(|note| terminal.complain(&format!("note: {note}")));
            Ok(run)
        } else {
            Err(Trouble::new(NOTHING))
        }
    }

    fn live(&self, system: &System, mut live: Live, terminal: &Terminal) -> Result<Source, Trouble> {
        let interrupt = Interrupt::listen();
        let mut sources = Vec::new();
        let listen = self.listen.iter().map(|text| (text, "--listen COMPONENT=unix:PATH"));
        let program = self.program.iter().map(|text| (text, "--program COMPONENT='COMMAND …'"));
        for (text, form) in listen.chain(program) {
            let (name, rest) = text
                .split_once('=')
                .ok_or_else(|| Trouble::new(format_args!("`{text}` names no component: write {form}")))?;
            let component = component(system, name)?;
            if sources.iter().any(|(known, _)| *known == component) {
                return Err(Trouble::new(format_args!(
                    "what {name} observes comes from two places: leave one out"
                )));
            }
            sources.push((component, rest));
        }
        let (peers, programs) = sources.split_at(self.listen.len());
        for id in system.components().filter(|id| !sources.iter().any(|(known, _)| known == id)) {
            if named(system, Some(id)).next().is_some() {
                let name = system.component_name(id);
                terminal
                    .complain(&format!("note: nobody says what {name} observes: give --listen or --program"));
            }
        }
        // Programs first: they stand still until they are asked, while peers would wait for an answer.
        for (id, command) in programs {
            let (meaning, pace) = self.pace(*id, system)?;
            let name = system.component_name(*id);
            live.add(*id, Program::start(name, command, &meaning, pace, self.wait, interrupt.clone())?);
        }
        let channels = peers.iter().map(|(id, channel)| Ok((*id, socket(channel)?)));
        let channels = channels.collect::<Result<Vec<_>, Trouble>>()?;
        for (id, peer) in listen::wait(&channels, system, self.wait, &interrupt, terminal)? {
            live.add(id, peer);
        }
        Ok(Source::Live(Box::new(live)))
    }

    /// The events of a component that are observed, and how rounds go on.
    fn pace(&self, id: ComponentId, system: &System) -> Result<(Meaning, Pace), Trouble> {
        let component = system.component_name(id);
        let own = self.round.iter().find_map(|text| text.strip_prefix(component)?.strip_prefix('='));
        let is_for_one = |text: &&String| {
            text.split_once('=').is_some_and(|(name, _)| system.find_component(name).is_some())
        };
        let all = || self.round.iter().find(|text| !is_for_one(text)).map(String::as_str);
        let mark = own.or_else(all);
        let pace = match (self.step, mark) {
            (Some(step), _) => Pace::Every(step),
            (None, Some(mark)) => Pace::Marked(mark.to_owned()),
            (None, None) => return Err(Trouble::new(NO_ROUNDS)),
        };
        Ok((Meaning::new(named(system, Some(id)), mark.map(event_named)), pace))
    }
}

const NO_ROUNDS: &str = "nothing says where a round ends: give `--step 1s`, or `--round EVENT`";

/// The events that propositions stand for: of one component, or of all. What black boxes say is none.
fn named(
    system: &System,
    of: Option<ComponentId>,
) -> impl Iterator<Item = (PropositionId, String, Kind)> + use<'_> {
    let wanted = move |id: &PropositionId| {
        of.is_none_or(|component| system.owner(*id) == component) && !system.name(*id).starts_with('@')
    };
    system.propositions().filter(wanted).map(|id| {
        let (name, kind) = event_named(system.name(id));
        (id, name, kind)
    })
}

fn component(system: &System, name: &str) -> Result<ComponentId, Trouble> {
    system.find_component(name).ok_or_else(|| {
        let known: Vec<&str> = system.components().map(|id| system.component_name(id)).collect();
        Trouble::new(format_args!("there is no component `{name}`: there are {}", known.join(", ")))
    })
}

/// A socket to listen at.
fn socket(text: &str) -> Result<Channel, Trouble> {
    match text.parse::<Channel>().map_err(Trouble::new)? {
        Channel::Tcp(place) | Channel::TcpListen(place) => Ok(Channel::TcpListen(place)),
        Channel::Unix(path) | Channel::UnixListen(path) => Ok(Channel::UnixListen(path)),
        Channel::Standard | Channel::File(_) => Err(Trouble::new(format_args!(
            "`{text}` is no socket: write unix:PATH, tcp:PORT or tcp:HOST:PORT"
        ))),
    }
}

/// A time: `1s`, `100ms`, `5min`.
fn step(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "min" => 60.0,
        _ => return Err("write a number with ms, s or min behind it".to_owned()),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|step| *step >= Duration::from_micros(1))
        .ok_or_else(|| "write a number with ms, s or min behind it, more than 0".to_owned())
}

fn renamed(folder: &Folder, run: usize, system: &System) -> Result<Run, Trouble> {
    let components = folder.run(run).map_err(Trouble::new)?;
    let length = components.iter().map(Vec::len).max().unwrap_or(0);
    let mut rounds = vec![Vec::new(); length];
    for component in components {
        for (round, seen) in component.into_iter().enumerate() {
            // What nobody asks for need not be there.
            let known = seen
                .into_iter()
                .filter_map(|(at, value)| Some((system.find(folder.system.name(at))?, value)));
            rounds[round].extend(known);
        }
    }
    Ok(spread(&rounds, system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, millis) in [("1s", 1000), ("100ms", 100), ("2", 2000), ("0.5s", 500), ("1min", 60_000)] {
            assert_eq!(step(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1s", "1h", "0", "nan", "1e99s", "1 s"] {
            assert!(step(text).is_err(), "{text}");
        }
    }
}
