//! The report for programs.

use super::{Answer, Moment, Validation};
use invigil_explore::validate::{Graph, Refusal};
use invigil_semantics::Fields;
use serde_json::{Value, json};

impl Validation {
    /// The whole report as one document.
    pub fn json(&self) -> Value {
        let (verdict, refusal) = match &self.answer {
            Answer::Possible => ("possible", None),
            Answer::Impossible(refusal, lost) => ("impossible", Some(self.refusal(refusal, lost))),
            Answer::Wrong(_) | Answer::TooMany(_) | Answer::Unknown => ("unknown", None),
        };
        let pairs = |pairs: &[(String, String)]| -> Vec<Value> {
            pairs.iter().map(|(event, parameter)| json!({"event": event, "parameter": parameter})).collect()
        };
        let unread: Vec<Value> =
            self.unread.iter().map(|(field, meant)| json!({"field": field, "meant": meant})).collect();
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
                "cut": self.survivors.is_cut,
                "most": self.survivors.most,
            },
            "refusal": refusal,
            "graph": graph(&self.graph),
            "unseen": self.unseen,
            "untold": pairs(&self.untold),
            "unread": unread,
            "errors": self.errors(),
            "trace": {
                "files": self.inputs,
                "lines": self.trace.lines,
                "skipped": self.trace.problems.skipped(),
            },
        })
    }

    fn refusal(&self, refusal: &Refusal, lost: &Moment) -> Value {
        let misses: Vec<Value> = refusal
            .misses
            .iter()
            .map(|miss| {
                json!({
                    "action": miss.action,
                    "reasons": miss.reasons,
                    "configurations": miss.configurations,
                    "count": miss.count,
                })
            })
            .collect();
        json!({
            "event": lost.number,
            "file": self.inputs.get(lost.place.input),
            "line": lost.place.line,
            "record": refusal.record,
            "count": refusal.count,
            "configurations": refusal.configurations.iter().map(fields).collect::<Vec<_>>(),
            "misses": misses,
            "able": refusal.able,
        })
    }
}

fn fields(config: &Fields) -> Value {
    Value::Object(config.iter().map(|field| (field.name.clone(), json!(field.value))).collect())
}

fn graph(graph: &Graph) -> Value {
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
    json!({"records": graph.records, "lost": graph.is_lost, "cut": graph.is_cut, "nodes": nodes, "edges": edges})
}
