//! The report as JSON.

use super::{Report, presumption, verdict_word};
use crate::rendered_value::RenderedValue;
use crate::result::PropertyResult;
use crate::violation::{PathStep, ReportedEvent, Variable, Violation};
use invigil_monitor::verdict::{MonitorFault, Verdict};
use invigil_trace::ReadEnd;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The version of the schema.
const SCHEMA: u32 = 1;

impl Report<'_> {
    /// Renders the report as a JSON document with a trailing line end.
    ///
    /// The schema is stable: fields may be added; `schema` is incremented if a field is removed or changes its meaning.
    ///
    /// ```text
    /// schema        1
    /// tool          { name, version }
    /// verdict       "violated" if a property is; else "error" if the trace could not be read, a property failed, or
    ///               `--strict` found a missing parameter; else "undecided" if a
    ///               property is, or "holds"
    /// complete      whether every property was checked on every event of the trace
    /// violations    number of violations
    /// properties    in the order given:
    ///   name, file, verdict, violations
    ///   slices      number of slices; live: number of slices at the end
    ///   steps       number of transitions taken
    ///   states      at the end: [{ state, verdict, slices }]
    ///   failure     null, or { message, file, line, column, event }: the error that ended the property
    ///   presumably  null, or "holds" or "violated": the verdict of an undecided property if the trace ended here
    ///   formula     null, or the formula of the property
    ///   missing     events skipped for a missing parameter: [{ event, param, fields, count, file, line }]
    ///   silent      parameters never supplied, treated as false: [{ event, param }]
    ///   commands    number of calls of `debugger(command)`
    /// findings      the first violations, in the order of the trace:
    ///   property, slice: { PARAMETER: VALUE or null }, event, from, to
    ///   at_end      whether the property is violated at the end of the trace; then `event` is null
    ///   why         null, or the condition that held at the event, as a formula
    ///   path        [{ event, branch: null, "success" or "failure", state, verdict, env: { VARIABLE: VALUE } }]
    ///   untold      number of omitted earlier steps; null if unknown
    /// trace         statistics of the trace:
    ///   inputs, events (mentioned by a property), ignored (not mentioned), lines, bytes, out_of_order;
    ///               all but the first two are null if `--first` ended the check
    ///   end         "finished", "stopped" (result decided), "interrupted" (by the user) or "failed"
    ///   error       null, or the error message
    ///   mistakes    { skipped, partial, first: [{ file, line, skipped, message, excerpt }] }: number of skipped lines,
    ///               number of lines read without a value of the wrong type, the first of both
    /// ```
    ///
    /// Except in `missing` and `silent`, where it is a name, an `event` is null or
    /// `{ index, time, file, line, name, params: { NAME: VALUE } }`. Values of the program are JSON's null, booleans,
    /// numbers and strings; other values, and floats that JSON does not know (`nan`, `inf`), are strings as the block
    /// language writes them: `"[1, 2]"`.
    pub fn json(&self) -> String {
        let document = document(self);
        // Serializing plain data into memory cannot fail.
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
    findings: Vec<ViolationJson<'a>>,
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
    missing: Vec<MissingJson<'a>>,
    silent: Vec<SilentJson<'a>>,
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
struct MissingJson<'a> {
    event: &'a str,
    param: &'a str,
    fields: &'a [String],
    count: u64,
    file: &'a str,
    line: u64,
}

#[derive(serde::Serialize)]
struct SilentJson<'a> {
    event: &'a str,
    param: &'a str,
}

#[derive(serde::Serialize)]
struct ViolationJson<'a> {
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
    mistakes: MalformedLinesJson<'a>,
}

#[derive(serde::Serialize)]
struct MalformedLinesJson<'a> {
    skipped: u64,
    partial: u64,
    first: Vec<LineErrorJson<'a>>,
}

#[derive(serde::Serialize)]
struct LineErrorJson<'a> {
    file: &'a str,
    line: u64,
    skipped: bool,
    message: &'a str,
    excerpt: &'a str,
}

/// A JSON object that keeps the order of its members.
struct Pairs<'a>(Vec<(&'a str, Option<&'a RenderedValue>)>);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, &value.map(RenderedValue::json))?;
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
        violations: outcome.violation_count(),
        properties: properties.map(|(at, outcome)| property(report, at, outcome)).collect(),
        findings: outcome.violations.iter().map(|violation| violation_json(report, violation)).collect(),
        trace: trace(report),
    }
}

/// The overall verdict. The command chooses the exit status.
fn verdict(report: &Report<'_>) -> &'static str {
    let properties = &report.outcome.properties;
    if report.outcome.violation_count() > 0 {
        "violated"
    } else if report.outcome.is_incomplete() || report.is_not_a_trace() {
        "error"
    } else {
        properties.iter().max_by_key(|property| property.verdict()).map_or("holds", verdict_word)
    }
}

fn property<'a>(report: &Report<'a>, at: usize, outcome: &'a PropertyResult) -> Property<'a> {
    let states = outcome.states.iter();
    let failure = outcome.failure.as_ref();
    let skipped = outcome.skipped.iter();
    Property {
        name: &outcome.name,
        file: report.file(at),
        verdict: verdict_word(outcome),
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
        missing: skipped
            .map(|skipped| MissingJson {
                event: &skipped.event,
                param: &skipped.param,
                fields: &skipped.fields,
                count: skipped.count,
                file: report.input(skipped.first),
                line: skipped.first.line,
            })
            .collect(),
        silent: outcome
            .never_supplied
            .iter()
            .map(|of| SilentJson { event: &of.event, param: &of.param })
            .collect(),
        commands: outcome.commands,
    }
}

fn fault<'a>(report: &Report<'a>, failure: &'a MonitorFault, at: Option<&'a ReportedEvent>) -> Fault<'a> {
    let position = failure.span.and_then(|span| report.sources.line_column(span));
    let source = failure.span.and_then(|span| report.sources.get(span.source));
    Fault {
        message: &failure.message,
        file: source.map(|source| source.name.as_str()),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        event: at.map(|at| event(report, at)),
    }
}

fn violation_json<'a>(report: &Report<'a>, violation: &'a Violation) -> ViolationJson<'a> {
    let slice = violation.slice.iter().map(|bound| (bound.name.as_str(), bound.value.as_ref()));
    ViolationJson {
        property: report.outcome.properties.get(violation.property).map_or("", |property| &property.name),
        slice: Pairs(slice.collect()),
        event: violation.event.as_ref().map(|at| event(report, at)),
        at_end: violation.at_end,
        why: violation.reason.as_deref(),
        from: &violation.from,
        to: &violation.to,
        path: violation.path.iter().map(|at| step(report, at)).collect(),
        untold: violation.omitted,
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

fn event<'a>(report: &Report<'a>, event: &'a ReportedEvent) -> Event<'a> {
    Event {
        index: event.index,
        time: event.time,
        file: report.input(event.position),
        line: event.position.line,
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
        ReadEnd::Finished => ("finished", None),
        ReadEnd::Stopped => ("stopped", None),
        ReadEnd::Failed(error) => ("failed", Some(error.to_string())),
    };
    let malformed = outcome.malformed_lines();
    // After an early stop, these counts would include events that were read but not checked.
    let unless_stopped = |count: u64| outcome.stop.is_none().then_some(count);
    Trace {
        inputs: &outcome.inputs,
        events: outcome.events(),
        ignored: unless_stopped(summary.ignored),
        lines: unless_stopped(summary.lines),
        bytes: unless_stopped(summary.bytes),
        out_of_order: unless_stopped(summary.out_of_order),
        end,
        error,
        mistakes: MalformedLinesJson {
            skipped: malformed.skipped,
            partial: malformed.partial,
            first: malformed
                .first
                .into_iter()
                .map(|error| LineErrorJson {
                    file: report.input(error.position),
                    line: error.position.line,
                    skipped: error.skipped,
                    message: &error.message,
                    excerpt: &error.excerpt,
                })
                .collect(),
        },
    }
}
