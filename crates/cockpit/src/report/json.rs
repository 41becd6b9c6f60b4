//! The report as JSON.

use super::RunReport;
use invigil_check::report::{presumption, verdict_word};
use invigil_check::{PropertyResult, ReportedEvent, Variable};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::verdict::Verdict;
use invigil_session::{CheckpointInfo, LiveViolation, ReportedFrame};
use invigil_target::Termination;
use serde_json::{Map, Value, json};

/// The version of the schema.
const SCHEMA: u32 = 1;

impl RunReport<'_> {
    /// Renders the report as a JSON document with a trailing newline.
    ///
    /// Properties and findings have the format of `invigil check --json`, without positions in a trace. In addition:
    ///
    /// ```text
    /// events        number of events
    /// actions       of scripts: [{ name, invoked }], with the number of invocations
    /// findings      also thread, undone, and the stack:
    ///               [{ function, inlined, address, file, line, object, arguments, locals: { NAME: WORDS } }]
    /// checkpoints   [{ id, parent, label, automatic, event, place, memory, restored, limits }]
    /// program       { end: "exited", "killed", "detached", "ended" (killed by the debugger) or "alive",
    ///                 status, signal, core }
    /// crash         null, or { signal, detail, thread, stack }
    /// cut_short     null, or why monitoring stopped before the end
    /// errors        errors because of which the result is incomplete
    /// ```
    pub fn json(&self) -> String {
        let (properties, actions) = self.properties_and_actions();
        let action = |of: &&PropertyResult| json!({ "name": of.name, "invoked": of.steps });
        let document = json!({
            "schema": SCHEMA,
            "tool": { "name": "invigil", "version": env!("CARGO_PKG_VERSION") },
            "verdict": self.verdict(),
            "complete": self.is_complete(),
            "violations": self.violation_count(),
            "events": self.report.events,
            "properties": properties.iter().map(|property| self.property(property)).collect::<Vec<_>>(),
            "actions": actions.iter().map(action).collect::<Vec<_>>(),
            "findings": self.report.violations.iter().map(|violation| self.violation_json(violation)).collect::<Vec<_>>(),
            "checkpoints": self.report.checkpoints.iter().map(checkpoint).collect::<Vec<_>>(),
            "program": self.program(),
            "crash": self.crash.map(|crash| json!({
                "signal": crash.signal,
                "detail": crash.detail,
                "thread": crash.thread,
                "stack": stack(&crash.stack),
            })),
            "cut_short": self.early_end_reason,
            "errors": self.errors,
        });
        // Serializing plain data into memory cannot fail.
        serde_json::to_string_pretty(&document).map_or(String::new(), |text| text + "\n")
    }

    fn verdict(&self) -> &'static str {
        let properties = &self.report.properties;
        if self.violation_count() > 0 {
            "violated"
        } else if !self.errors.is_empty() {
            "error"
        } else {
            properties.iter().max_by_key(|property| property.verdict()).map_or("holds", verdict_word)
        }
    }

    fn property(&self, of: &PropertyResult) -> Value {
        let states = of.states.iter().map(|(state, verdict, slices)| {
            json!({ "state": state, "verdict": Verdict::word(*verdict), "slices": slices })
        });
        let skipped = of
            .skipped
            .iter()
            .map(|skipped| json!({ "event": skipped.event, "param": skipped.param, "count": skipped.count }));
        let failure = of.failure.as_ref().map(|(failure, at)| {
            let position = failure.span.and_then(|span| self.loaded.sources.line_column(span));
            let source = failure.span.and_then(|span| self.loaded.sources.get(span.source));
            json!({
                "message": failure.message,
                "file": source.map(|source| source.name.as_str()),
                "line": position.as_ref().map(|place| place.line),
                "column": position.as_ref().map(|place| place.column),
                "event": at.as_ref().map(event),
            })
        });
        json!({
            "name": of.name,
            "file": self.file(of),
            "verdict": verdict_word(of),
            "violations": of.violations,
            "slices": of.slices,
            "live": of.live,
            "steps": of.steps,
            "states": states.collect::<Vec<_>>(),
            "failure": failure,
            "presumably": of.presumably.map(presumption),
            "formula": self.automaton(of).and_then(|automaton| automaton.formula.as_deref()),
            "missing": skipped.collect::<Vec<_>>(),
            "silent": of.never_supplied.iter().map(|parameter| json!({ "event": parameter.event, "param": parameter.param })).collect::<Vec<_>>(),
            "commands": of.commands,
        })
    }

    fn automaton(&self, of: &PropertyResult) -> Option<&Automaton> {
        self.loaded.automata.iter().find(|automaton| automaton.name == of.name).map(AsRef::as_ref)
    }

    fn file(&self, of: &PropertyResult) -> Option<&str> {
        let source = self.loaded.sources.get(self.automaton(of)?.states.first()?.span.source)?;
        Some(&source.name)
    }

    fn violation_json(&self, live: &LiveViolation) -> Value {
        let violation = &live.violation;
        let name = self.loaded.automata.get(violation.property).map_or("", |property| property.name.as_str());
        let mut slice = Map::new();
        for bound in &violation.slice {
            let value = bound.value.as_ref().map_or(Value::Null, |value| value.json());
            slice.insert(bound.name.clone(), value);
        }
        let path = violation.path.iter().map(|step| {
            json!({
                "event": step.event.as_ref().map(event),
                "branch": step.branch.map(|branch| branch.word()),
                "state": step.state,
                "verdict": Verdict::word(step.verdict),
                "env": pairs(&step.env),
            })
        });
        json!({
            "property": name,
            "slice": slice,
            "event": violation.event.as_ref().map(event),
            "at_end": violation.at_end,
            "why": violation.reason,
            "from": violation.from,
            "to": violation.to,
            "path": path.collect::<Vec<_>>(),
            "untold": violation.omitted,
            "thread": live.thread,
            "undone": live.undone,
            "stack": stack(&live.stack),
        })
    }

    fn program(&self) -> Value {
        let (end, status, signal, core) = match &self.report.termination {
            Some(Termination::Exited(status)) => ("exited", Some(*status), None, false),
            Some(Termination::Killed { signal, core }) => ("killed", None, Some(signal.as_str()), *core),
            Some(Termination::Detached) => ("detached", None, None, false),
            None if self.report.has_ended => ("ended", None, None, false),
            None => ("alive", None, None, false),
        };
        json!({ "end": end, "status": status, "signal": signal, "core": core })
    }
}

fn event(of: &ReportedEvent) -> Value {
    json!({ "index": of.index, "time": of.time, "name": of.name, "params": pairs(&of.params) })
}

fn pairs(variables: &[Variable]) -> Value {
    Value::Object(variables.iter().map(|variable| (variable.name.clone(), variable.value.json())).collect())
}

fn variables_json(variables: &[invigil_target::Variable]) -> Value {
    let pairs = variables.iter().map(|variable| (variable.name.clone(), variable.value.as_str().into()));
    Value::Object(pairs.collect())
}

fn stack(frames: &[ReportedFrame]) -> Value {
    let frame = |reported: &ReportedFrame| {
        let frame = &reported.frame;
        json!({
            "function": frame.function,
            "inlined": frame.inlined,
            "address": format!("{:#x}", frame.address),
            "file": frame.line.as_ref().map(|line| line.file.display().to_string()),
            "line": frame.line.as_ref().map(|line| line.line),
            "object": frame.object.as_ref().map(|object| object.display().to_string()),
            "arguments": variables_json(&frame.arguments),
            "locals": variables_json(&reported.locals),
        })
    };
    Value::Array(frames.iter().map(frame).collect())
}

fn checkpoint(of: &CheckpointInfo) -> Value {
    json!({
        "id": of.id,
        "parent": of.parent,
        "label": of.label,
        "automatic": of.automatic,
        "event": of.event_count,
        "place": of.location,
        "memory": of.memory,
        "restored": of.restore_count,
        "limits": of.limitations,
    })
}
