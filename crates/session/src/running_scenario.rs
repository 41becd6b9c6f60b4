//! A running scenario. Its environment outlives its blocks and is not changed by a restore.

use crate::outcome::StateChange;
use invigil_expr::fault::EvalResult;
use invigil_expr::heap::Heap;
use invigil_expr::machine::{Frame, Host, Machine};
use invigil_expr::program::CodeId;
use invigil_expr::value::Value;
use invigil_lang::scn::{IMPLICIT, Scenario};
use std::sync::Arc;

pub(crate) struct RunningScenario {
    pub(crate) scenario: Arc<Scenario>,
    env: Vec<Value>,
    heap: Heap,
    machine: Machine,
}

/// What to run of a scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScenarioEntry {
    /// A block.
    Block(CodeId),
    /// A function, with the number that it receives if it takes an argument.
    Function(CodeId, i64),
}

impl RunningScenario {
    pub(crate) fn new(scenario: Arc<Scenario>) -> RunningScenario {
        let env = vec![Value::UNSET; scenario.env.len()];
        RunningScenario { scenario, env, heap: Heap::default(), machine: Machine::default() }
    }

    /// Runs a part of the scenario in reaction to a change.
    pub(crate) fn run<H: Host>(
        &mut self,
        part: ScenarioEntry,
        change: Option<&StateChange>,
        property: &str,
        host: &mut H,
    ) -> EvalResult<()> {
        let mut text = String::new();
        let params: [Value; IMPLICIT.len()] = match change {
            Some(change) => [&change.from, &change.to, property, &change.slice]
                .map(|words: &str| string(words, &mut text)),
            None => [Value::NONE; IMPLICIT.len()],
        };
        let scenario = Arc::clone(&self.scenario);
        let frame = Frame { env: &mut self.env, params: &params, text: &text, heap: &mut self.heap };
        let result = match part {
            ScenarioEntry::Block(code) => self.machine.run(&scenario.program, code, frame, host),
            ScenarioEntry::Function(code, number) => {
                let takes = usize::from(scenario.program.code(code).arguments).min(1);
                self.machine.call(&scenario.program, code, &[Value::int(number)][..takes], frame, host)
            }
        };
        self.heap.sweep();
        result.map(drop)
    }

    /// The variables that have a value, as text.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let view = invigil_expr::compare::ValueReader {
            heap: &self.heap,
            texts: invigil_expr::text::TextArenas::NONE,
        };
        let all = self.scenario.env.iter().zip(&self.env).filter(|(_, value)| !value.is_unset());
        all.map(|(name, value)| {
            let mut words = String::new();
            if view.write_repr(&mut words, *value).is_err() {
                words.push('…');
            }
            (name.clone(), words)
        })
        .collect()
    }
}

/// A string as a value: inline if it is short, otherwise appended to `text`.
pub(crate) fn string(words: &str, text: &mut String) -> Value {
    Value::short(words).unwrap_or_else(|| {
        let start = text.len() as u32;
        text.push_str(words);
        Value::text(start, words.len() as u32)
    })
}
