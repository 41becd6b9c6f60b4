//! The report for programs: one JSON document.

use super::{Report, presumption, word};
use crate::finding::{Finding, Happening, PathStep, Variable};
use crate::outcome::PropertyOutcome;
use crate::shown::Shown;
use invigil_monitor::verdict::{Failure, Verdict};
use invigil_trace::End;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The version of the schema.
const SCHEMA: u32 = 1;

impl Report<'_> {
    /// The report as a JSON document, ended by a line end.
    ///
    /// The schema is stable: fields may be added, and `schema` is raised if one changes its meaning or goes.
    ///
    /// ```text
    /// schema        1
    /// tool          { name, version }
    /// verdict       "violated" if a property is; else "error" if there is no answer; else "undecided" if a
    ///               property is, or "holds"
    /// complete      whether every property saw every event of the trace
    /// violations    how many there were, told or not
    /// properties    one each, in the order given:
    ///   name, file, verdict, violations
    ///   slices      how many slices there were; live: how many at the end
    ///   steps       how many transitions were taken
    ///   states      at the end: [{ state, verdict, slices }]
    ///   failure     null, or { message, file, line, column, event }: the error that ended the property
    ///   presumably  null, or whether an undecided property "holds" or is "violated" as things stand
    ///   formula     null, or the formula that the property was made from
    ///   missing     events that lack a parameter: [{ event, param, fields, count, file, line }]
    ///   silent      what no event told and so counts as false: [{ event, param }]
    ///   commands    how many commands it gave to a debugger
    /// findings      the violations that are told, in the order of the trace:
    ///   property, slice: { PARAMETER: VALUE or null }, event, from, to
    ///   at_end      whether it was the end of the trace that decided; then `event` is null
    ///   why         null, or what was so at the event, in the words of the formula
    ///   path        [{ event, branch: null, "success" or "failure", state, verdict, env: { VARIABLE: VALUE } }]
    ///   untold      how many earlier steps are left out; null if that is not known
    /// trace         what was read:
    ///   inputs, events (known to some property), ignored (known to none), lines, bytes, out_of_order;
    ///               all but the first two are null if `--first` ended the check
    ///   end         "finished", "stopped" (enough was seen), "interrupted" (by the user) or "failed"
    ///   error       null, or why it failed
    ///   mistakes    { skipped, partial, first: [{ file, line, skipped, message, excerpt }] }: how many lines
    ///               could not be read, how many were read without a value that does not fit, the first of both
    /// ```
    ///
    /// An `event` is null or `{ index, time, file, line, name, params: { NAME: VALUE } }`. Values of the
    /// program are JSON's null, booleans, numbers and strings; other values, and floats that JSON does not know
    /// (`nan`, `inf`), are strings as the block language writes them: `"[1, 2]"`.
    pub fn json(&self) -> String {
        let document = document(self);
        // Writing plain data into memory does not fail.
        serde_json::to_string_pretty(&document).map_or(String::new(), |text| text + "\n")
    }
}

#[derive(serde::Serialize)]
struct Document<'a> {
    schema: u32,
    tool: Tool,
    verdict: &'static str,
    complete: bool,
    violations: u64,
    properties: Vec<Property<'a>>,
    findings: Vec<Violation<'a>>,
    trace: Trace<'a>,
}

#[derive(serde::Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(serde::Serialize)]
struct Property<'a> {
    name: &'a str,
    file: &'a str,
    verdict: &'static str,
    violations: u64,
    slices: u64,
    live: u64,
    steps: u64,
    states: Vec<State<'a>>,
    failure: Option<Fault<'a>>,
    presumably: Option<&'static str>,
    formula: Option<&'a str>,
    missing: Vec<Missing<'a>>,
    silent: Vec<Silent<'a>>,
    commands: u64,
}

#[derive(serde::Serialize)]
struct State<'a> {
    state: &'a str,
    verdict: &'static str,
    slices: u64,
}

#[derive(serde::Serialize)]
struct Fault<'a> {
    message: &'a str,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    event: Option<Event<'a>>,
}

#[derive(serde::Serialize)]
struct Missing<'a> {
    event: &'a str,
    param: &'a str,
    fields: &'a [String],
    count: u64,
    file: &'a str,
    line: u64,
}

#[derive(serde::Serialize)]
struct Silent<'a> {
    event: &'a str,
    param: &'a str,
}

#[derive(serde::Serialize)]
struct Violation<'a> {
    property: &'a str,
    slice: Pairs<'a>,
    event: Option<Event<'a>>,
    at_end: bool,
    why: Option<&'a str>,
    from: &'a str,
    to: &'a str,
    path: Vec<Step<'a>>,
    untold: Option<u64>,
}

#[derive(serde::Serialize)]
struct Step<'a> {
    event: Option<Event<'a>>,
    branch: Option<&'static str>,
    state: &'a str,
    verdict: &'static str,
    env: Pairs<'a>,
}

#[derive(serde::Serialize)]
struct Event<'a> {
    index: u64,
    time: Option<f64>,
    file: &'a str,
    line: u64,
    name: &'a str,
    params: Pairs<'a>,
}

#[derive(serde::Serialize)]
struct Trace<'a> {
    inputs: &'a [String],
    events: u64,
    ignored: Option<u64>,
    lines: Option<u64>,
    bytes: Option<u64>,
    out_of_order: Option<u64>,
    end: &'static str,
    error: Option<String>,
    mistakes: Mistakes<'a>,
}

#[derive(serde::Serialize)]
struct Mistakes<'a> {
    skipped: u64,
    partial: u64,
    first: Vec<Problem<'a>>,
}

#[derive(serde::Serialize)]
struct Problem<'a> {
    file: &'a str,
    line: u64,
    skipped: bool,
    message: &'a str,
    excerpt: &'a str,
}

/// An object whose members keep their order.
struct Pairs<'a>(Vec<(&'a str, Option<&'a Shown>)>);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, &value.map(Shown::json))?;
        }
        map.end()
    }
}

fn document<'a>(report: &Report<'a>) -> Document<'a> {
    let outcome = report.outcome;
    let properties = outcome.properties.iter().enumerate();
    Document {
        schema: SCHEMA,
        tool: Tool { name: "invigil", version: env!("CARGO_PKG_VERSION") },
        verdict: verdict(report),
        complete: report.is_complete(),
        violations: outcome.violations(),
        properties: properties.map(|(at, outcome)| property(report, at, outcome)).collect(),
        findings: outcome.findings.iter().map(|finding| violation(report, finding)).collect(),
        trace: trace(report),
    }
}

/// The answer to all properties together, as the exit status of the command gives it.
fn verdict(report: &Report<'_>) -> &'static str {
    let properties = &report.outcome.properties;
    if report.outcome.violations() > 0 {
        "violated"
    } else if report.outcome.is_incomplete() || report.is_about_nothing() {
        "error"
    } else {
        properties.iter().max_by_key(|property| property.verdict()).map_or("holds", word)
    }
}

fn property<'a>(report: &Report<'a>, at: usize, outcome: &'a PropertyOutcome) -> Property<'a> {
    let states = outcome.states.iter();
    let failure = outcome.failure.as_ref();
    let missing = outcome.missing.iter();
    Property {
        name: &outcome.name,
        file: report.file(at),
        verdict: word(outcome),
        violations: outcome.violations,
        slices: outcome.slices,
        live: outcome.live,
        steps: outcome.steps,
        states: states
            .map(|(state, verdict, slices)| State { state, verdict: verdict.word(), slices: *slices })
            .collect(),
        failure: failure.map(|(failure, event)| fault(report, failure, event.as_ref())),
        presumably: outcome.presumably.map(presumption),
        formula: report.automata.get(at).and_then(|automaton| automaton.formula.as_deref()),
        missing: missing
            .map(|missing| Missing {
                event: &missing.event,
                param: &missing.param,
                fields: &missing.fields,
                count: missing.count,
                file: report.input(missing.first),
                line: missing.first.line,
            })
            .collect(),
        silent: outcome.silent.iter().map(|of| Silent { event: &of.event, param: &of.param }).collect(),
        commands: outcome.commands,
    }
}

fn fault<'a>(report: &Report<'a>, failure: &'a Failure, at: Option<&'a Happening>) -> Fault<'a> {
    let place = failure.span.and_then(|span| report.sources.place(span));
    let source = failure.span.and_then(|span| report.sources.get(span.source));
    Fault {
        message: &failure.message,
        file: source.map(|source| source.name.as_str()),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        event: at.map(|at| event(report, at)),
    }
}

fn violation<'a>(report: &Report<'a>, finding: &'a Finding) -> Violation<'a> {
    let slice = finding.slice.iter().map(|bound| (bound.name.as_str(), bound.value.as_ref()));
    Violation {
        property: report.outcome.properties.get(finding.property).map_or("", |property| &property.name),
        slice: Pairs(slice.collect()),
        event: finding.event.as_ref().map(|at| event(report, at)),
        at_end: finding.at_end,
        why: finding.why.as_deref(),
        from: &finding.from,
        to: &finding.to,
        path: finding.path.iter().map(|at| step(report, at)).collect(),
        untold: finding.untold,
    }
}

fn step<'a>(report: &Report<'a>, step: &'a PathStep) -> Step<'a> {
    Step {
        event: step.event.as_ref().map(|at| event(report, at)),
        branch: step.branch.map(|branch| branch.word()),
        state: &step.state,
        verdict: Verdict::word(step.verdict),
        env: pairs(&step.env),
    }
}

fn event<'a>(report: &Report<'a>, event: &'a Happening) -> Event<'a> {
    Event {
        index: event.index,
        time: event.time,
        file: report.input(event.place),
        line: event.place.line,
        name: &event.name,
        params: pairs(&event.params),
    }
}

fn pairs(variables: &[Variable]) -> Pairs<'_> {
    Pairs(variables.iter().map(|variable| (variable.name.as_str(), Some(&variable.value))).collect())
}

fn trace<'a>(report: &Report<'a>) -> Trace<'a> {
    let outcome = report.outcome;
    let summary = &outcome.trace;
    let (end, error) = match &summary.end {
        _ if report.interrupted => ("interrupted", None),
        End::Finished => ("finished", None),
        End::Stopped => ("stopped", None),
        End::Failed(error) => ("failed", Some(error.to_string())),
    };
    let mistakes = outcome.mistakes();
    // After an early stop, these are known of the blocks that were read only.
    let known = |count: u64| outcome.stop.is_none().then_some(count);
    Trace {
        inputs: &outcome.inputs,
        events: outcome.events(),
        ignored: known(summary.ignored),
        lines: known(summary.lines),
        bytes: known(summary.bytes),
        out_of_order: known(summary.out_of_order),
        end,
        error,
        mistakes: Mistakes {
            skipped: mistakes.skipped,
            partial: mistakes.partial,
            first: mistakes
                .told
                .into_iter()
                .map(|problem| Problem {
                    file: report.input(problem.place),
                    line: problem.place.line,
                    skipped: problem.skipped,
                    message: &problem.message,
                    excerpt: &problem.excerpt,
                })
                .collect(),
        },
    }
}
