//! The loop: from the trace through the monitors to the outcome.

use crate::finding::Finding;
use crate::outcome::{Outcome, Stop};
use crate::replay::Replay;
use crate::silent::Silence;
use crate::watcher::Watcher;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use invigil_trace::{Block, End, Input, Schema, Summary, read};
use std::ops::ControlFlow;

/// How a trace is checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Stop at the first violation.
    pub first: bool,
    /// How many violations are told in full, the first of the whole trace; all are counted.
    pub limit: usize,
    /// Whether the inputs can be opened a second time, to find out how violations came about. If not, the
    /// recent past is remembered instead, and the listener is told of each violation as it is found.
    pub again: bool,
    /// How the trace is read.
    pub trace: invigil_trace::Options,
}

impl Default for Options {
    fn default() -> Options {
        Options { first: false, limit: 10, again: true, trace: invigil_trace::Options::default() }
    }
}

/// Told of what happens while a trace is checked.
pub trait Listener {
    /// Whether [`print`](Listener::print) does anything.
    fn prints(&self) -> bool {
        false
    }

    /// A block of property number `property` printed a line.
    fn print(&mut self, property: usize, line: &str) {
        let _ = (property, line);
    }

    /// A block of property number `property` gave a debugger's command.
    fn command(&mut self, property: usize, command: &str) {
        let _ = (property, command);
    }

    /// There is a violation to tell. Only of inputs that cannot be opened a second time, which may never end:
    /// otherwise the way to a violation is not known before the end.
    fn violation(&mut self, finding: &Finding) {
        let _ = finding;
    }

    /// How far the reading is: `events` that properties know, `bytes` (decompressed), `violations`. Called
    /// often; to break off ends the check with what there is.
    fn progress(&mut self, events: u64, bytes: u64, violations: u64) -> ControlFlow<()> {
        let _ = (events, bytes, violations);
        ControlFlow::Continue(())
    }
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Listener for Quiet {}

/// Checks a trace against properties that share a catalog.
///
/// `open` gives the inputs; it is called once, and a second time if there is a violation to explain and
/// [`Options::again`] says that this can be done.
///
/// ```
/// use invigil_check::{Options, Quiet, check};
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::prop;
/// use invigil_monitor::event::Catalog;
/// use invigil_trace::Input;
///
/// let text = "state init accepting {
///     transition { event open(file) success opened }
/// }
/// state opened accepting {
///     transition { event open(file) success twice }
/// }
/// state twice non-accepting";
/// let (property, _) = prop::parse(SourceId(0), text);
/// let mut catalog = Catalog::default();
/// let (automaton, _) = prop::lower::lower("open once", &property, &[], &mut catalog);
///
/// let open = || vec![Input::reader("trace", std::io::Cursor::new("open(file=1)\nopen(file=2)\n"))];
/// let outcome = check(&[automaton.unwrap()], &catalog, open, &Options::default(), &mut Quiet);
/// assert_eq!(outcome.violations(), 1);
/// assert_eq!(outcome.findings[0].event.as_ref().unwrap().place.line, 2);
/// assert_eq!(outcome.findings[0].path.len(), 3);
/// ```
pub fn check<L: Listener>(
    automata: &[Automaton],
    catalog: &Catalog,
    open: impl Fn() -> Vec<Input>,
    options: &Options,
    listener: &mut L,
) -> Outcome {
    let inputs = open();
    let names = inputs.iter().map(|input| input.name().to_owned()).collect();
    let schema = Schema::new(catalog);
    let mut findings = Vec::new();
    let mut watchers: Vec<Watcher<'_>> = automata
        .iter()
        .enumerate()
        .map(|(at, automaton)| {
            Watcher::start(at, automaton, catalog, !options.again, listener, &mut findings)
        })
        .collect();
    findings.truncate(wanted(options, 0));
    announce(&findings, options, listener);
    let mut position = Position::default();
    let mut silence = Silence::new(automata, catalog);
    let trace = if options.first && !findings.is_empty() {
        nothing_read()
    } else {
        read(inputs, &schema, &options.trace, |block| {
            let flow = follow(&mut watchers, block, position.events, options, listener, &mut findings);
            silence.listen(&block.batch);
            position.events += block.records();
            position.bytes += block.bytes();
            let violations = watchers.iter().map(Watcher::violations).sum();
            match flow {
                ControlFlow::Continue(()) => listener.progress(position.events, position.bytes, violations),
                stop => stop,
            }
        })
    };
    let complete = matches!(trace.end, End::Finished);
    if complete {
        let told = findings.len();
        for watcher in &mut watchers {
            watcher.end(wanted(options, findings.len()), &mut findings);
        }
        announce(&findings[told..], options, listener);
    }
    let mut properties: Vec<_> = watchers.into_iter().map(|watcher| watcher.finish(complete)).collect();
    for (property, silent) in silence.finish(catalog) {
        properties[property].silent.push(silent);
    }
    for (property, event) in silence.absent(catalog) {
        properties[property].absent.push(event);
    }
    if options.again {
        explain(automata, catalog, open, &schema, options, &mut findings);
    }
    let stop = findings.first().filter(|_| options.first).and_then(|first| first.event.as_ref());
    let stop = stop.map(|event| Stop { event: event.index, place: event.place });
    Outcome { properties, findings, trace, stop, strict: options.trace.strict, inputs: names }
}

/// How many violations are still to be told. The one to stop at is, whatever the limit.
fn wanted(options: &Options, told: usize) -> usize {
    options.limit.max(options.first.into()).saturating_sub(told)
}

/// Tells of violations at once where that is possible.
fn announce<L: Listener>(fresh: &[Finding], options: &Options, listener: &mut L) {
    if !options.again {
        fresh.iter().for_each(|finding| listener.violation(finding));
    }
}

#[derive(Default)]
struct Position {
    events: u64,
    bytes: u64,
}

fn nothing_read() -> Summary {
    read(Vec::new(), &Schema::new(&Catalog::default()), &invigil_trace::Options::default(), |_| {
        ControlFlow::Break(())
    })
}

/// Takes every property through a block.
fn follow<L: Listener>(
    watchers: &mut [Watcher<'_>],
    block: &Block,
    before: u64,
    options: &Options,
    listener: &mut L,
    findings: &mut Vec<Finding>,
) -> ControlFlow<()> {
    let len = block.batch.len();
    // To stop at the very first violation, or to print in the order of the events, several properties must go
    // hand in hand.
    let together = watchers.len() > 1 && (options.first || listener.prints());
    let stride = if together { 1 } else { len.max(1) };
    for start in (0..len).step_by(stride) {
        let end = (start + stride).min(len);
        let room = wanted(options, findings.len());
        // Of each property as many as there is room for: which of them come first is known after all went on.
        let mut fresh: Vec<Finding> = Vec::new();
        for watcher in watchers.iter_mut() {
            let (mut at, others) = (start, fresh.len());
            while at < end && !watcher.failed() && (fresh.is_empty() || !options.first) {
                let room = room.saturating_sub(fresh.len() - others);
                at = watcher.follow(block, at..end, before, room, listener, &mut fresh);
            }
        }
        fresh.sort_by_key(|finding| finding.event.as_ref().map_or(0, |event| event.index));
        fresh.truncate(room);
        announce(&fresh, options, listener);
        findings.append(&mut fresh);
        if options.first && !findings.is_empty() {
            return ControlFlow::Break(());
        }
        if watchers.iter().all(Watcher::failed) {
            return ControlFlow::Break(());
        }
    }
    ControlFlow::Continue(())
}

/// Reads the trace again, up to the last violation that is told, to find out how each came about.
fn explain(
    automata: &[Automaton],
    catalog: &Catalog,
    open: impl Fn() -> Vec<Input>,
    schema: &Schema,
    options: &Options,
    findings: &mut [Finding],
) {
    let mut replays: Vec<Replay<'_>> = automata
        .iter()
        .enumerate()
        .filter_map(|(at, automaton)| Replay::new(at, automaton, catalog, findings))
        .collect();
    let Some(last) = replays.iter().map(Replay::last).max() else { return };
    let mut events = 0;
    let options = invigil_trace::Options { strict: false, ..options.trace.clone() };
    // A file that was changed in between leaves paths untold, which is what findings say until they are told.
    read(open(), schema, &options, |block| {
        for replay in &mut replays {
            replay.follow(block, events, findings);
        }
        events += block.records();
        if events >= last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    for replay in &replays {
        replay.end(findings);
    }
}
