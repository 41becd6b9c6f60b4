//! Claims in a DVE model: assertions and the property process.

use super::lower::{LoweredTransition, Lowering, is_at};
use crate::model::{Claim, ClaimBody};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Binary, Expression, OmegaAutomaton, OmegaEdge};

/// The maximum length of a condition in the name of a claim.
const MAX_CONDITION_LENGTH: usize = 60;

impl<'a> Lowering<'a> {
    /// Adds the assertions: each must hold whenever its process is in the given state.
    pub(super) fn add_assertions(&mut self) {
        let file = self.file;
        for (at, process) in file.processes.iter().enumerate() {
            for (state, condition) in &process.assertions {
                let number = self.state_called(at, state);
                let holds = self.expression(condition, at);
                let Some(location) = self.processes[at].location else {
                    let diagnostic =
                        Diagnostic::error(condition.span, "a property process cannot contain assertions");
                    self.report(diagnostic.label("not supported").help("move it to a process of the model"));
                    continue;
                };
                let (Some(number), Some(holds)) = (number, holds) else { continue };
                let always = Expression::binary(Binary::Implies, is_at(location, number), holds);
                let name = format!("{}.{}: {}", self.name_of(at), state.text, self.excerpt(condition.span));
                self.claims.push(Claim {
                    name,
                    span: condition.span,
                    body: ClaimBody::Always(always),
                    formula: None,
                });
            }
        }
    }

    /// Returns source text on a single line, shortened if necessary.
    fn excerpt(&self, span: Span) -> String {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        let mut normalized = String::new();
        for word in text.split_whitespace() {
            if normalized.len() > MAX_CONDITION_LENGTH {
                return format!("{normalized} …");
            }
            if !normalized.is_empty() {
                normalized.push(' ');
            }
            normalized.extend(word.chars().take(MAX_CONDITION_LENGTH));
        }
        normalized
    }

    /// Adds the property process: no execution may be accepted by it.
    pub(super) fn add_property_automaton(&mut self, process: usize, lowered: &[LoweredTransition<'a>]) {
        let syntax = &self.file.processes[process];
        let Some(name) = &syntax.name else { return };
        let mut marks = vec![0_u64; syntax.states.len()];
        for (set, states) in syntax.accepting.iter().enumerate() {
            if set == 64 {
                let diagnostic =
                    Diagnostic::error(name.span, "this property has too many sets of accepting states");
                self.report(diagnostic.label("more than 64"));
                return;
            }
            for state in states {
                if let Some(number) = self.state_called(process, state) {
                    marks[number as usize] |= 1 << set;
                }
            }
        }
        let mut edges = vec![Vec::new(); syntax.states.len()];
        for transition in lowered {
            if !transition.effects.is_empty() {
                let diagnostic =
                    Diagnostic::error(transition.syntax.span, "a property process cannot have effects")
                        .label("effect")
                        .help("a property process only observes the model");
                self.report(diagnostic);
            }
            if transition.syntax.sync.is_some() {
                let diagnostic =
                    Diagnostic::error(transition.syntax.span, "a property process cannot synchronise")
                        .label("synchronisation")
                        .help("a property process only observes the model");
                self.report(diagnostic);
            }
            let marks = marks[transition.from as usize];
            let edge = OmegaEdge { label: transition.guard.clone(), marks, target: transition.to };
            edges[transition.from as usize].push(edge);
        }
        let initial =
            syntax.initial.as_ref().and_then(|state| self.state_called(process, state)).unwrap_or(0);
        // Without accepting states nothing is accepted: use one set that contains no edge.
        let sets = syntax.accepting.len().max(1) as u32;
        let omega =
            OmegaAutomaton { name: name.text.clone(), initial, edges, sets, is_stutter_invariant: false };
        self.claims.push(Claim {
            name: name.text.clone(),
            span: name.span,
            body: ClaimBody::Never(omega),
            formula: None,
        });
    }
}
