//! A running scenario. Its environment outlives its blocks and is not changed by a restore.

use crate::outcome::StateChange;
use invigil_expr::fault::EvalResult;
use invigil_expr::heap::Heap;
use invigil_expr::machine::{Frame, Host, Machine};
use invigil_expr::program::CodeId;
use invigil_expr::value::Value;
use invigil_lang::scn::{IMPLICIT_VARIABLES, Scenario};
use std::sync::Arc;

pub(crate) struct RunningScenario {
    pub(crate) scenario: Arc<Scenario>,
    env: Vec<Value>,
    heap: Heap,
    machine: Machine,
}

/// The code of a scenario that is to run.
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

    /// Runs a block or function of the scenario in reaction to a change.
    pub(crate) fn run<H: Host>(
        &mut self,
        entry: ScenarioEntry,
        change: Option<&StateChange>,
        property: &str,
        host: &mut H,
    ) -> EvalResult<()> {
        let mut text = String::new();
        let params: [Value; IMPLICIT_VARIABLES.len()] = match change {
            Some(change) => [&change.from, &change.to, property, &change.slice]
                .map(|param: &str| Value::of_text(param, &mut text)),
            None => [Value::NONE; IMPLICIT_VARIABLES.len()],
        };
        let scenario = Arc::clone(&self.scenario);
        let frame = Frame { env: &mut self.env, params: &params, text: &text, heap: &mut self.heap };
        let result = match entry {
            ScenarioEntry::Block(code) => self.machine.run(&scenario.program, code, frame, host),
            ScenarioEntry::Function(code, number) => {
                let arity = usize::from(scenario.program.code(code).arguments).min(1);
                self.machine.call(&scenario.program, code, &[Value::int(number)][..arity], frame, host)
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
            let mut text = String::new();
            if view.write_repr(&mut text, *value).is_err() {
                text.push('…');
            }
            (name.clone(), text)
        })
        .collect()
    }
}
