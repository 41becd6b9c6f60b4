//! Synchronous composition: in `system sync`, every process takes a transition in each step.

use super::actions::{both, rewritten, written};
use super::lower::{LoweredTransition, Lowering};
use invigil_expr::diag::Diagnostic;
use invigil_model::{Action, Expression, LValue, Statement, Variable, VariableId};
use std::collections::{BTreeMap, BTreeSet, HashSet};

impl<'a> Lowering<'a> {
    /// Adds one action for each combination of transitions of all processes.
    pub(super) fn sync_composition(&mut self, movers: &[&Vec<LoweredTransition<'a>>]) {
        for lowered in movers.iter().copied().flatten() {
            if let Some(sync) = &lowered.written.sync {
                let problem = Diagnostic::error(sync.span, "channels cannot be used in a synchronous system")
                    .label("all processes step together")
                    .help("remove the `sync`, or write `system async;`");
                self.report(problem);
            }
        }
        if !self.problems.is_empty() || movers.iter().any(|of| of.is_empty()) {
            return;
        }
        let mut copies = BTreeMap::new();
        let mut chosen = vec![0; movers.len()];
        loop {
            let step: Vec<&LoweredTransition<'a>> =
                movers.iter().zip(&chosen).map(|(of, at)| &of[*at]).collect();
            if !self.step(&step, &mut copies) {
                return;
            }
            // The next combination; the last process varies first.
            let Some(at) = (0..movers.len()).rev().find(|at| chosen[*at] + 1 < movers[*at].len()) else {
                return;
            };
            chosen[at] += 1;
            chosen[at + 1..].fill(0);
        }
    }

    /// Adds the action of a combination. Returns false if there are too many.
    fn step(
        &mut self,
        step: &[&LoweredTransition<'a>],
        copies: &mut BTreeMap<VariableId, VariableId>,
    ) -> bool {
        let Some(first) = step.first() else { return false };
        let span = first.written.span;
        if !self.spend(step.iter().map(|lowered| lowered.size).sum(), span) {
            return false;
        }
        let mut effect = Vec::new();
        let mut copied = BTreeSet::new();
        let mut changed: BTreeMap<VariableId, usize> = BTreeMap::new();
        let mut conflict = None;
        for lowered in step {
            for statement in self.effects(lowered) {
                // Variables that earlier processes have changed are read from copies.
                note_reads(&statement, &changed, lowered.process, &mut copied);
                for variable in &copied {
                    if !copies.contains_key(variable) {
                        let copy = self.copy_of(*variable);
                        copies.insert(*variable, copy);
                    }
                }
                effect.push(rewritten(&statement, &|place: &LValue| {
                    let by = changed.get(&place.variable)?;
                    let variable = *copies.get(&place.variable).filter(|_| *by != lowered.process)?;
                    Some(Expression::Read(LValue { variable, index: place.index.clone() }))
                }));
            }
            for variable in written(&lowered.effects) {
                match changed.get(&variable) {
                    Some(by) if *by != lowered.process => conflict = Some((variable, *by, lowered.process)),
                    _ => drop(changed.insert(variable, lowered.process)),
                }
            }
        }
        let mut all = Vec::new();
        if let Some((variable, one, other)) = conflict {
            all.push(self.conflict(variable, one, other));
        }
        for variable in &copied {
            all.extend(
                self.each(copies[variable], |index| Expression::Read(LValue { variable: *variable, index })),
            );
        }
        all.extend(effect);
        for variable in &copied {
            // Copies are reset so that they do not distinguish configurations.
            all.extend(self.each(copies[variable], |_| Expression::Constant(0)));
        }
        let ways: Vec<String> = step.iter().map(|lowered| self.describe(lowered)).collect();
        let guard =
            step.iter().fold(Expression::Constant(1), |guard, lowered| both(guard, lowered.guard.clone()));
        let action = Action {
            event: None,
            moves: step.iter().map(|lowered| self.moves(lowered)).collect(),
            guard,
            effect: all,
            ..Action::named(ways.join(", "))
        };
        self.add(action, span)
    }

    /// Returns a hidden variable for the value of another before the step.
    fn copy_of(&mut self, variable: VariableId) -> VariableId {
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

    /// Assigns to a variable, or to each of its elements.
    fn each(
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
fn note_reads(
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
