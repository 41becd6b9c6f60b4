//! Synchronous composition: in `system sync`, every process takes a transition in each step.

use super::actions::{and, assigned_variables, substitute_in_statement};
use super::lower::{LoweredTransition, Lowering};
use invigil_expr::diag::Diagnostic;
use invigil_model::{Action, Expression, LValue, Statement, Variable, VariableId};
use std::collections::{BTreeMap, BTreeSet, HashSet};

impl<'a> Lowering<'a> {
    /// Adds one action for each combination of transitions of all processes.
    pub(super) fn sync_composition(&mut self, transitions_by_process: &[&Vec<LoweredTransition<'a>>]) {
        for lowered in transitions_by_process.iter().copied().flatten() {
            if let Some(sync) = &lowered.syntax.sync {
                let diagnostic =
                    Diagnostic::error(sync.span, "channels cannot be used in a synchronous system")
                        .label("all processes step together")
                        .help("remove the `sync`, or write `system async;`");
                self.report(diagnostic);
            }
        }
        if !self.diagnostics.is_empty()
            || transitions_by_process.iter().any(|transitions| transitions.is_empty())
        {
            return;
        }
        let mut copies = BTreeMap::new();
        let mut chosen = vec![0; transitions_by_process.len()];
        loop {
            let step: Vec<&LoweredTransition<'a>> = transitions_by_process
                .iter()
                .zip(&chosen)
                .map(|(transitions, at)| &transitions[*at])
                .collect();
            if !self.add_combination(&step, &mut copies) {
                return;
            }
            // The next combination; the last process varies first.
            let Some(at) = (0..transitions_by_process.len())
                .rev()
                .find(|at| chosen[*at] + 1 < transitions_by_process[*at].len())
            else {
                return;
            };
            chosen[at] += 1;
            chosen[at + 1..].fill(0);
        }
    }

    /// Adds the action of a combination. Returns false once the action budget is exhausted.
    fn add_combination(
        &mut self,
        step: &[&LoweredTransition<'a>],
        copies: &mut BTreeMap<VariableId, VariableId>,
    ) -> bool {
        let Some(first) = step.first() else { return false };
        let span = first.syntax.span;
        if !self.spend(step.iter().map(|lowered| lowered.size).sum(), span) {
            return false;
        }
        let mut body = Vec::new();
        let mut copied = BTreeSet::new();
        let mut changed: BTreeMap<VariableId, usize> = BTreeMap::new();
        let mut conflict = None;
        for lowered in step {
            for statement in self.effects(lowered) {
                // Variables that earlier processes have changed are read from copies.
                collect_changed_reads(&statement, &changed, lowered.process, &mut copied);
                for variable in &copied {
                    if !copies.contains_key(variable) {
                        let copy = self.add_copy(*variable);
                        copies.insert(*variable, copy);
                    }
                }
                body.push(substitute_in_statement(&statement, &|place: &LValue| {
                    let by = changed.get(&place.variable)?;
                    let variable = *copies.get(&place.variable).filter(|_| *by != lowered.process)?;
                    Some(Expression::Read(LValue { variable, index: place.index.clone() }))
                }));
            }
            for variable in assigned_variables(&lowered.effects) {
                match changed.get(&variable) {
                    Some(by) if *by != lowered.process => conflict = Some((variable, *by, lowered.process)),
                    _ => drop(changed.insert(variable, lowered.process)),
                }
            }
        }
        let mut effect = Vec::new();
        if let Some((variable, one, other)) = conflict {
            effect.push(self.conflict_fault(variable, one, other));
        }
        for variable in &copied {
            effect.extend(self.assign_elements(copies[variable], |index| {
                Expression::Read(LValue { variable: *variable, index })
            }));
        }
        effect.extend(body);
        for variable in &copied {
            // Copies are reset so that they do not distinguish configurations.
            effect.extend(self.assign_elements(copies[variable], |_| Expression::Constant(0)));
        }
        let descriptions: Vec<String> = step.iter().map(|lowered| self.describe(lowered)).collect();
        let guard =
            step.iter().fold(Expression::Constant(1), |guard, lowered| and(guard, lowered.guard.clone()));
        let action = Action {
            event: None,
            moves: step.iter().map(|lowered| self.moves(lowered)).collect(),
            guard,
            effect,
            ..Action::named(descriptions.join(", "))
        };
        self.add(action, span)
    }

    /// Adds a hidden variable that holds the value of another one before the step.
    fn add_copy(&mut self, variable: VariableId) -> VariableId {
        let original = &self.parts.variables[variable as usize];
        let copy = Variable {
            name: format!("{} (before)", original.name),
            initial: vec![0; original.initial.len()],
            is_hidden: true,
            ..original.clone()
        };
        self.parts.variables.push(copy);
        self.parts.variables.len() as VariableId - 1
    }

    /// Assigns to a scalar variable, or to each element of an array.
    fn assign_elements(
        &self,
        variable: VariableId,
        value: impl Fn(Option<Box<Expression>>) -> Expression,
    ) -> Vec<Statement> {
        let indices: Vec<Option<Box<Expression>>> = match self.parts.variables[variable as usize].length {
            Some(length) => {
                (0..length).map(|at| Some(Box::new(Expression::Constant(i64::from(at))))).collect()
            }
            None => vec![None],
        };
        let assign = |index: Option<Box<Expression>>| Statement::Assign {
            place: LValue { variable, index: index.clone() },
            value: value(index),
            wraps: false,
        };
        indices.into_iter().map(assign).collect()
    }
}

/// Collects the variables that a statement reads and that another process has changed.
fn collect_changed_reads(
    statement: &Statement,
    changed: &BTreeMap<VariableId, usize>,
    process: usize,
    into: &mut BTreeSet<VariableId>,
) {
    let Statement::Assign { place, value, .. } = statement else { return };
    let mut reads = HashSet::new();
    for expression in place.index.as_deref().into_iter().chain([value]) {
        expression.visit(&mut |inside| {
            if let Expression::Read(place) = inside {
                reads.insert(place.variable);
            }
        });
    }
    into.extend(reads.into_iter().filter(|variable| changed.get(variable).is_some_and(|by| *by != process)));
}
