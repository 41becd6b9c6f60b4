//! The check loop: from the blocks of a trace through the monitors to the result.

use crate::property_run::PropertyRun;
use crate::replay::Replay;
use crate::result::{CheckResult, StoppedAt};
use crate::supplied::SuppliedTracker;
use crate::violation::Violation;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_trace::{EventBlock, Input, ReadEnd, ReadSummary, Schema, read};
use std::ops::ControlFlow;

/// Options of a check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Stop at the first violation.
    pub first: bool,
    /// Maximum number of violations reported in full. All are counted.
    pub limit: usize,
    /// Whether the inputs can be opened a second time, to collect the paths of the violations. Otherwise a ring of
    /// recent steps is kept, and the listener is notified of each violation as it occurs.
    pub can_reread: bool,
    /// Options of the trace reader.
    pub trace: invigil_trace::ReadOptions,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            first: false,
            limit: 10,
            can_reread: true,
            trace: invigil_trace::ReadOptions::default(),
        }
    }
}

/// Receives notifications while a trace is checked.
pub trait CheckListener {
    /// Whether [`print`](CheckListener::print) has an effect. If not, properties can be stepped block by block.
    fn prints(&self) -> bool {
        false
    }

    /// A block of property number `property` printed a line.
    fn print(&mut self, property: usize, line: &str) {
        let _ = (property, line);
    }

    /// A block of property number `property` called `debugger(command)`.
    fn command(&mut self, property: usize, command: &str) {
        let _ = (property, command);
    }

    /// A violation occurred. Called only for inputs that cannot be opened a second time: otherwise the path of a
    /// violation is known only after the second reading.
    fn violation(&mut self, violation: &Violation) {
        let _ = violation;
    }

    /// Progress: number of events that properties mention, of decompressed bytes, and of violations. Called once per
    /// block. `Break` ends the check with the results so far.
    fn progress(&mut self, events: u64, bytes: u64, violations: u64) -> ControlFlow<()> {
        let _ = (events, bytes, violations);
        ControlFlow::Continue(())
    }
}

/// Listener that ignores all notifications.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopListener;

impl CheckListener for NoopListener {}

/// Checks a trace against properties that share an event catalog.
///
/// `open` returns the inputs. It is called a second time if there are violations and
/// [`CheckOptions::can_reread`] is set.
///
/// ```
/// use invigil_check::{CheckOptions, NoopListener, check};
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::prop;
/// use invigil_monitor::event::EventCatalog;
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
/// let mut catalog = EventCatalog::default();
/// let (automaton, _) = prop::lower::lower("open once", &property, &[], &mut catalog);
///
/// let open = || vec![Input::reader("trace", std::io::Cursor::new("open(file=1)\nopen(file=2)\n"))];
/// let outcome = check(&[automaton.unwrap()], &catalog, open, &CheckOptions::default(), &mut NoopListener);
/// assert_eq!(outcome.violation_count(), 1);
/// assert_eq!(outcome.violations[0].event.as_ref().unwrap().position.line, 2);
/// assert_eq!(outcome.violations[0].path.len(), 3);
/// ```
pub fn check<L: CheckListener>(
    automata: &[Automaton],
    catalog: &EventCatalog,
    open: impl Fn() -> Vec<Input>,
    options: &CheckOptions,
    listener: &mut L,
) -> CheckResult {
    let inputs = open();
    let names = inputs.iter().map(|input| input.name().to_owned()).collect();
    let schema = Schema::new(catalog);
    let mut violations = Vec::new();
    let mut runs: Vec<PropertyRun<'_>> = automata
        .iter()
        .enumerate()
        .map(|(at, automaton)| {
            PropertyRun::start(at, automaton, catalog, !options.can_reread, listener, &mut violations)
        })
        .collect();
    violations.truncate(remaining(options, 0));
    announce(&violations, options, listener);
    let mut position = Position::default();
    let mut supplied = SuppliedTracker::new(automata, catalog);
    let trace = if options.first && !violations.is_empty() {
        nothing_read()
    } else {
        read(inputs, &schema, &options.trace, |block| {
            let flow = follow(&mut runs, block, position.events, options, listener, &mut violations);
            supplied.observe(&block.batch);
            position.events += block.records();
            position.bytes += block.bytes();
            let violations = runs.iter().map(PropertyRun::violation_count).sum();
            match flow {
                ControlFlow::Continue(()) => listener.progress(position.events, position.bytes, violations),
                stop => stop,
            }
        })
    };
    let complete = matches!(trace.end, ReadEnd::Finished);
    if complete {
        let reported = violations.len();
        for run in &mut runs {
            run.end(remaining(options, violations.len()), &mut violations);
        }
        announce(&violations[reported..], options, listener);
    }
    let mut properties: Vec<_> = runs.into_iter().map(|run| run.finish(complete)).collect();
    for (property, parameter) in supplied.finish(catalog) {
        properties[property].never_supplied.push(parameter);
    }
    for (property, event) in supplied.absent(catalog) {
        properties[property].absent.push(event);
    }
    if options.can_reread {
        explain(automata, catalog, open, &schema, options, &mut violations);
    }
    let stop = violations.first().filter(|_| options.first).and_then(|first| first.event.as_ref());
    let stop = stop.map(|event| StoppedAt { event: event.index, position: event.position });
    CheckResult { properties, violations, trace, stop, strict: options.trace.strict, inputs: names }
}

/// Number of violations that may still be reported. The one at which the check stops is always reported.
fn remaining(options: &CheckOptions, reported: usize) -> usize {
    options.limit.max(options.first.into()).saturating_sub(reported)
}

/// Notifies the listener of violations if the inputs cannot be read again.
fn announce<L: CheckListener>(fresh: &[Violation], options: &CheckOptions, listener: &mut L) {
    if !options.can_reread {
        fresh.iter().for_each(|violation| listener.violation(violation));
    }
}

#[derive(Default)]
struct Position {
    events: u64,
    bytes: u64,
}

fn nothing_read() -> ReadSummary {
    read(Vec::new(), &Schema::new(&EventCatalog::default()), &invigil_trace::ReadOptions::default(), |_| {
        ControlFlow::Break(())
    })
}

/// Steps every property through a block.
fn follow<L: CheckListener>(
    runs: &mut [PropertyRun<'_>],
    block: &EventBlock,
    before: u64,
    options: &CheckOptions,
    listener: &mut L,
    violations: &mut Vec<Violation>,
) -> ControlFlow<()> {
    let len = block.batch.len();
    // To stop at the first violation of all properties, or to print in the order of the events, the properties are
    // stepped event by event.
    let in_lockstep = runs.len() > 1 && (options.first || listener.prints());
    let stride = if in_lockstep { 1 } else { len.max(1) };
    for start in (0..len).step_by(stride) {
        let end = (start + stride).min(len);
        let limit = remaining(options, violations.len());
        // Collect up to the limit per property: the first ones in trace order are selected after all have stepped.
        let mut fresh: Vec<Violation> = Vec::new();
        for run in runs.iter_mut() {
            let (mut at, others) = (start, fresh.len());
            while at < end && !run.failed() && (fresh.is_empty() || !options.first) {
                let limit = limit.saturating_sub(fresh.len() - others);
                at = run.follow(block, at..end, before, limit, listener, &mut fresh);
            }
        }
        fresh.sort_by_key(|violation| violation.event.as_ref().map_or(0, |event| event.index));
        fresh.truncate(limit);
        announce(&fresh, options, listener);
        violations.append(&mut fresh);
        if options.first && !violations.is_empty() {
            return ControlFlow::Break(());
        }
        if runs.iter().all(PropertyRun::failed) {
            return ControlFlow::Break(());
        }
    }
    ControlFlow::Continue(())
}

/// Reads the trace again, up to the last reported violation, and fills in the paths of the violations.
fn explain(
    automata: &[Automaton],
    catalog: &EventCatalog,
    open: impl Fn() -> Vec<Input>,
    schema: &Schema,
    options: &CheckOptions,
    violations: &mut [Violation],
) {
    let mut replays: Vec<Replay<'_>> = automata
        .iter()
        .enumerate()
        .filter_map(|(at, automaton)| Replay::new(at, automaton, catalog, violations))
        .collect();
    let Some(last) = replays.iter().map(Replay::last).max() else { return };
    let mut events = 0;
    let options = invigil_trace::ReadOptions { strict: false, ..options.trace.clone() };
    // If the file was changed in between, the paths stay empty.
    read(open(), schema, &options, |block| {
        for replay in &mut replays {
            replay.follow(block, events, violations);
        }
        events += block.records();
        if events >= last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    for replay in &replays {
        replay.end(violations);
    }
}
