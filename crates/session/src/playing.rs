//! A scenario that plays: its environment, which outlasts its blocks and is not brought back by a restore.

use crate::outcome::VerdictChange;
use invigil_expr::fault::Run;
use invigil_expr::heap::Heap;
use invigil_expr::machine::{Frame, Host, Machine};
use invigil_expr::program::CodeId;
use invigil_expr::value::Value;
use invigil_lang::scn::{IMPLICIT, Scenario};
use std::sync::Arc;

pub(crate) struct Playing {
    pub(crate) scenario: Arc<Scenario>,
    env: Vec<Value>,
    heap: Heap,
    machine: Machine,
}

/// What is run of a scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// A block.
    Block(CodeId),
    /// A function that gets this number, if it takes an argument.
    Function(CodeId, i64),
}

impl Playing {
    pub(crate) fn new(scenario: Arc<Scenario>) -> Playing {
        let env = vec![Value::UNSET; scenario.env.len()];
        Playing { scenario, env, heap: Heap::default(), machine: Machine::default() }
    }

    /// Runs a part of the scenario about a change of states.
    pub(crate) fn run<H: Host>(
        &mut self,
        part: Part,
        change: Option<&VerdictChange>,
        property: &str,
        host: &mut H,
    ) -> Run<()> {
        let mut text = String::new();
        let params: [Value; IMPLICIT.len()] = match change {
            Some(change) => [&change.from, &change.to, property, &change.slice]
                .map(|words: &str| string(words, &mut text)),
            None => [Value::NONE; IMPLICIT.len()],
        };
        let scenario = Arc::clone(&self.scenario);
        let frame = Frame { env: &mut self.env, params: &params, text: &text, heap: &mut self.heap };
        let result = match part {
            Part::Block(code) => self.machine.run(&scenario.program, code, frame, host),
            Part::Function(code, number) => {
                let takes = usize::from(scenario.program.code(code).arguments).min(1);
                self.machine.call(&scenario.program, code, &[Value::int(number)][..takes], frame, host)
            }
        };
        self.heap.sweep();
        result.map(drop)
    }

    /// The variables that have a value, in words.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let view = invigil_expr::compare::View { heap: &self.heap, texts: invigil_expr::text::Texts::NONE };
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

/// A string as a value, in itself or in a text that it is added to.
pub(crate) fn string(words: &str, text: &mut String) -> Value {
    Value::short(words).unwrap_or_else(|| {
        let start = text.len() as u32;
        text.push_str(words);
        Value::text(start, words.len() as u32)
    })
}
