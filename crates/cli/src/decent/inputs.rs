//! Inputs of `decent run`: traces, tables, logs, peers and live programs.

use super::peers;
use super::program_input::{ProgramInput, RoundEnd};
use crate::interrupt::InterruptFlag;
use crate::remote::parse_timeout;
use crate::terminal::Terminal;
use crate::{CliError, files};
use clap::Args as Options;
use invigil_decent::simulate::Trace;
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_lab::black_box::BlackBoxes;
use invigil_lab::inputs::{
    ComponentInputs, EventMapping, LiveInputs, RecordedRun, Rounds, TextInput, TraceFolder, read_events,
    read_table, split_by_component,
};
use invigil_lang::ltl::event_named;
use invigil_mac::Channel;
use invigil_monitor::event::EventKind;
use invigil_trace::{Format, Input};
use std::path::PathBuf;
use std::time::Duration;

/// Options for the source of observations.
#[derive(Options)]
pub(crate) struct InputArgs {
    /// Trace: rounds separated by `>`, observations by commas: 'a0:t,b0:f>a0:f'
    #[arg(long, value_name = "TEXT", group = "observed")]
    trace: Option<String>,

    /// Directory of traces: `0-a.trace` has the observations of component a in run 0, one line per round
    #[arg(long, value_name = "DIR", group = "observed")]
    pub(super) traces: Option<PathBuf>,

    /// Only this run of the directory
    #[arg(long, value_name = "N", requires = "traces")]
    pub(super) run: Option<usize>,

    /// Table of states, one record per round: CSV with a header, or JSON Lines; `-` is standard input
    #[arg(long, value_name = "FILE", group = "observed")]
    table: Option<PathBuf>,

    /// Log of events, in any format of `check`: an event makes its proposition true in its round; several logs are merged
    /// by time
    #[arg(long, value_name = "FILE", group = "observed")]
    events: Vec<PathBuf>,

    /// Wait for a peer that sends a component's observations, one line per round: b=unix:PATH, b=tcp:PORT,
    /// b=tcp:HOST:PORT; repeatable
    #[arg(long, value_name = "COMPONENT=SOCKET", conflicts_with = "observed")]
    listen: Vec<String>,

    /// Run a native or Java program whose function calls are a component's observations; repeatable
    #[arg(long, value_name = "COMPONENT=COMMAND", conflicts_with = "observed")]
    program: Vec<String>,

    /// Duration of a round of a log or a program: 1s, 100ms, 5min
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with = "round")]
    step: Option<Duration>,

    /// Event that ends a round of a log or a program; COMPONENT=EVENT for one program only
    #[arg(long, value_name = "EVENT")]
    round: Vec<String>,

    /// Time-out for a peer, for its next line, and for the end of a program's round
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout, default_value = "30")]
    wait: Duration,

    /// Format of a table or a log: jsonl, csv or line [default: detected from the first line]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Treat unreadable lines of a log as errors
    #[arg(long)]
    strict: bool,
}

/// Recorded or live observations.
pub(super) enum Observations {
    Recorded(Vec<Trace>),
    Live(Box<LiveInputs>),
}

const NO_OBSERVATIONS: &str =
    "no source of observations; give --trace, --traces, --table, --events, --listen or --program";

impl InputArgs {
    /// Opens the inputs. With `keeps_observations`, live observations are kept so that several algorithms can read
    /// them.
    pub(super) fn open(
        &self,
        folder: Option<TraceFolder>,
        system: &System,
        mut boxes: BlackBoxes,
        keeps_observations: bool,
        terminal: &Terminal,
    ) -> Result<Observations, CliError> {
        if !self.listen.is_empty() || !self.program.is_empty() {
            return self.live(system, LiveInputs::new(system, boxes, keeps_observations), terminal);
        }
        let mut runs = match folder {
            Some(folder) => self.folder(&folder, system)?,
            None => vec![self.recorded(system, terminal)?],
        };
        for run in &mut runs {
            boxes.run(run).map_err(CliError::new)?;
        }
        Ok(Observations::Recorded(runs.iter().map(|run| Trace::from_run(run)).collect()))
    }

    fn folder(&self, folder: &TraceFolder, system: &System) -> Result<Vec<RecordedRun>, CliError> {
        let runs = match self.run {
            Some(run) if run >= folder.runs => {
                let last = folder.runs - 1;
                return Err(CliError::new(format_args!("no run {run}; the last one is {last}")));
            }
            Some(run) => run..run + 1,
            None => 0..folder.runs,
        };
        // A specification may number its components differently; components are matched by name.
        runs.map(|run| map_run(folder, run, system)).collect()
    }

    fn recorded(&self, system: &System, terminal: &Terminal) -> Result<RecordedRun, CliError> {
        let options = invigil_trace::ReadOptions {
            format: self.format,
            strict: self.strict,
            ..invigil_trace::ReadOptions::default()
        };
        if let Some(text) = &self.trace {
            let mut inputs = ComponentInputs::default();
            inputs.add(TextInput::new(text, system).map_err(CliError::new)?);
            let mut rounds = Vec::new();
            while let Some(round) = inputs.observe().map_err(CliError::new)? {
                rounds.push(round);
            }
            Ok(split_by_component(&rounds, system))
        } else if let Some(path) = &self.table {
            read_table(Input::named(path), &options, system).map_err(CliError::new)
        } else if !self.events.is_empty() {
            if self.events.iter().filter(|path| files::is_standard(path)).count() > 1 {
                return Err(CliError::new("`-` is specified twice, but there is only one standard input"));
            }
            let inputs = self.events.iter().map(Input::named).collect();
            let rounds = match (self.step, self.round.as_slice()) {
                (Some(step), _) => Rounds::Every(step),
                (None, [_]) => Rounds::AtEvent,
                (None, []) => return Err(CliError::new(NO_ROUNDS)),
                (None, _) => return Err(CliError::new("`--round` may be given only once for a log")),
            };
            let mapping = EventMapping::new(
                proposition_events(system, None),
                self.round.first().map(|name| event_named(name)),
            );
            let (run, notes) =
                read_events(inputs, &options, &mapping, rounds, system).map_err(CliError::new)?;
            notes.iter().for_each(|note| terminal.eprint(&format!("note: {note}")));
            Ok(run)
        } else {
            Err(CliError::new(NO_OBSERVATIONS))
        }
    }

    fn live(
        &self,
        system: &System,
        mut live: LiveInputs,
        terminal: &Terminal,
    ) -> Result<Observations, CliError> {
        let interrupt = InterruptFlag::install();
        let mut sources = Vec::new();
        let listen = self.listen.iter().map(|text| (text, "--listen COMPONENT=unix:PATH"));
        let program = self.program.iter().map(|text| (text, "--program COMPONENT='COMMAND …'"));
        for (text, form) in listen.chain(program) {
            let (name, rest) = text
                .split_once('=')
                .ok_or_else(|| CliError::new(format_args!("`{text}` names no component; expected {form}")))?;
            let component = component(system, name)?;
            if sources.iter().any(|(other, _)| *other == component) {
                return Err(CliError::new(format_args!("two inputs for {name}; omit one")));
            }
            sources.push((component, rest));
        }
        let (peers, programs) = sources.split_at(self.listen.len());
        for id in system.components().filter(|id| !sources.iter().any(|(component, _)| component == id)) {
            if proposition_events(system, Some(id)).next().is_some() {
                let name = system.component_name(id);
                terminal.eprint(&format!("note: no input for {name}; give --listen or --program"));
            }
        }
        // Programs first: they are stopped until they are read, while peers would wait for an answer.
        for (id, command) in programs {
            let (mapping, round_end) = self.round_end(*id, system)?;
            let name = system.component_name(*id);
            live.add(
                *id,
                ProgramInput::start(name, command, &mapping, round_end, self.wait, interrupt.clone())?,
            );
        }
        let channels = peers.iter().map(|(id, channel)| Ok((*id, socket(channel)?)));
        let channels = channels.collect::<Result<Vec<_>, CliError>>()?;
        for (id, peer) in peers::wait(&channels, system, self.wait, &interrupt, terminal)? {
            live.add(id, peer);
        }
        Ok(Observations::Live(Box::new(live)))
    }

    /// The events of a component, and what ends its rounds.
    fn round_end(&self, id: ComponentId, system: &System) -> Result<(EventMapping, RoundEnd), CliError> {
        let component = system.component_name(id);
        let own = self.round.iter().find_map(|text| text.strip_prefix(component)?.strip_prefix('='));
        let is_for_one = |text: &&String| {
            text.split_once('=').is_some_and(|(name, _)| system.find_component(name).is_some())
        };
        let all = || self.round.iter().find(|text| !is_for_one(text)).map(String::as_str);
        let mark = own.or_else(all);
        let round_end = match (self.step, mark) {
            (Some(step), _) => RoundEnd::Every(step),
            (None, Some(mark)) => RoundEnd::Marked(mark.to_owned()),
            (None, None) => return Err(CliError::new(NO_ROUNDS)),
        };
        Ok((EventMapping::new(proposition_events(system, Some(id)), mark.map(event_named)), round_end))
    }
}

const NO_ROUNDS: &str = "the end of a round is not defined; give `--step 1s` or `--round EVENT`";

/// The events of propositions, of one component or of all. Verdicts of black boxes are not events.
fn proposition_events(
    system: &System,
    of: Option<ComponentId>,
) -> impl Iterator<Item = (PropositionId, String, EventKind)> + use<'_> {
    let is_selected = move |id: &PropositionId| {
        of.is_none_or(|component| system.owner(*id) == component)
            && !system.proposition_name(*id).starts_with('@')
    };
    system.propositions().filter(is_selected).map(|id| {
        let (name, kind) = event_named(system.proposition_name(id));
        (id, name, kind)
    })
}

fn component(system: &System, name: &str) -> Result<ComponentId, CliError> {
    system.find_component(name).ok_or_else(|| {
        let names: Vec<&str> = system.components().map(|id| system.component_name(id)).collect();
        CliError::new(format_args!("no component `{name}`; expected one of {}", names.join(", ")))
    })
}

/// Parses a socket to listen on.
fn socket(text: &str) -> Result<Channel, CliError> {
    match text.parse::<Channel>().map_err(CliError::new)? {
        Channel::Tcp(place) | Channel::TcpListen(place) => Ok(Channel::TcpListen(place)),
        Channel::Unix(path) | Channel::UnixListen(path) => Ok(Channel::UnixListen(path)),
        Channel::Standard | Channel::File(_) => Err(CliError::new(format_args!(
            "`{text}` is not a socket; expected unix:PATH, tcp:PORT or tcp:HOST:PORT"
        ))),
    }
}

/// Parses a duration: `1s`, `100ms`, `5min`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "min" => 60.0,
        _ => return Err("expected a number with the unit ms, s or min".to_owned()),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|step| *step >= Duration::from_micros(1))
        .ok_or_else(|| "expected a positive number with the unit ms, s or min".to_owned())
}

/// Reads a run and maps its propositions by name.
fn map_run(folder: &TraceFolder, run: usize, system: &System) -> Result<RecordedRun, CliError> {
    let components = folder.run(run).map_err(CliError::new)?;
    let length = components.iter().map(Vec::len).max().unwrap_or(0);
    let mut rounds = vec![Vec::new(); length];
    for component in components {
        for (round, seen) in component.into_iter().enumerate() {
            // Propositions that the specification does not use are dropped.
            let observations = seen.into_iter().filter_map(|(at, value)| {
                Some((system.find_proposition(folder.system.proposition_name(at))?, value))
            });
            rounds[round].extend(observations);
        }
    }
    Ok(split_by_component(&rounds, system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_duration_accepts_units() {
        for (text, millis) in [("1s", 1000), ("100ms", 100), ("2", 2000), ("0.5s", 500), ("1min", 60_000)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1s", "1h", "0", "nan", "1e99s", "1 s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
