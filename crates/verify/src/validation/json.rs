//! The validation report as JSON.

use super::{RecordInfo, ValidationReport, ValidationResult};
use invigil_explore::trace_validation::{ConfigGraph, Rejection};
use invigil_semantics::Fields;
use serde_json::{Value, json};

impl ValidationReport {
    /// The whole report as one document.
    pub fn json(&self) -> Value {
        let (verdict, rejection) = match &self.result {
            ValidationResult::Possible => ("possible", None),
            ValidationResult::Impossible(rejection, rejected) => {
                ("impossible", Some(self.rejection(rejection, rejected)))
            }
            ValidationResult::InvalidRecords(_)
            | ValidationResult::TooManyConfigurations(_)
            | ValidationResult::Unknown => ("unknown", None),
        };
        let pairs = |pairs: &[(String, String)]| -> Vec<Value> {
            pairs.iter().map(|(event, parameter)| json!({"event": event, "parameter": parameter})).collect()
        };
        let unknown_fields: Vec<Value> = self
            .unknown_fields
            .iter()
            .map(|(field, suggestion)| json!({"field": field, "meant": suggestion}))
            .collect();
        json!({
            "schema": 1,
            "tool": {"name": "invigil", "version": env!("CARGO_PKG_VERSION")},
            "model": self.model,
            "verdict": verdict,
            "matched": self.matched,
            "ignored": self.ignored,
            "configurations": self.configurations,
            "survivors": {
                "runs": self.survivors.runs.iter().map(|(count, run)| json!([count, run])).collect::<Vec<_>>(),
                "cut": self.survivors.is_truncated,
                "most": self.survivors.maximum,
            },
            "refusal": rejection,
            "graph": graph(&self.graph),
            "unseen": self.unseen_events,
            "untold": pairs(&self.missing_parameters),
            "unread": unknown_fields,
            "errors": self.errors(),
            "trace": {
                "files": self.inputs,
                "lines": self.trace.lines,
                "skipped": self.trace.line_errors.skipped(),
            },
        })
    }

    fn rejection(&self, rejection: &Rejection, rejected: &RecordInfo) -> Value {
        let near_misses: Vec<Value> = rejection
            .near_misses
            .iter()
            .map(|near_miss| {
                json!({
                    "action": near_miss.action,
                    "reasons": near_miss.reasons,
                    "configurations": near_miss.configurations,
                    "count": near_miss.count,
                })
            })
            .collect();
        json!({
            "event": rejected.number,
            "file": self.inputs.get(rejected.position.input),
            "line": rejected.position.line,
            "record": rejection.record,
            "count": rejection.count,
            "configurations": rejection.configurations.iter().map(fields).collect::<Vec<_>>(),
            "misses": near_misses,
            "able": rejection.possible_steps,
        })
    }
}

fn fields(config: &Fields) -> Value {
    Value::Object(config.iter().map(|field| (field.name.clone(), json!(field.value))).collect())
}

fn graph(graph: &ConfigGraph) -> Value {
    let nodes: Vec<Value> = graph
        .nodes
        .iter()
        .map(|node| json!({"layer": node.layer, "survives": node.survives, "state": fields(&node.config)}))
        .collect();
    let edges: Vec<Value> = graph
        .edges
        .iter()
        .map(
            |edge| json!({"from": edge.from, "to": edge.to, "action": edge.action, "hidden": edge.is_hidden}),
        )
        .collect();
    json!({"records": graph.records, "lost": graph.is_rejected, "cut": graph.is_truncated, "nodes": nodes, "edges": edges})
}
