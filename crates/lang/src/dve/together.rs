//! `system sync`: every process takes a transition in each step.

use super::actions::{both, rewritten, written};
use super::lower::{Lowered, Lowering};
use invigil_expr::diag::Diagnostic;
use invigil_model::{Action, Expression, Place, Statement, Variable, VariableId};
use std::collections::{BTreeMap, BTreeSet, HashSet};

impl<'a> Lowering<'a> {
    /// One action for each way to choose a transition of every process.
    pub(super) fn together(&mut self, movers: &[&Vec<Lowered<'a>>]) {
        for lowered in movers.iter().copied().flatten() {
            if let Some(sync) = &lowered.written.sync {
                let problem = Diagnostic::error(sync.span, "channels are not used in a synchronous system")
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
            let step: Vec<&Lowered<'a>> = movers.iter().zip(&chosen).map(|(of, at)| &of[*at]).collect();
            if !self.step(&step, &mut copies) {
                return;
            }
            // The next choice, that of the last process first.
            let Some(at) = (0..movers.len()).rev().find(|at| chosen[*at] + 1 < movers[*at].len()) else {
                return;
            };
            chosen[at] += 1;
            chosen[at + 1..].fill(0);
        }
    }

    /// Says no if there is no room for more.
    fn step(&mut self, step: &[&Lowered<'a>], copies: &mut BTreeMap<VariableId, VariableId>) -> bool {
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
                // What others have changed by now is read as it was.
                note_reads(&statement, &changed, lowered.process, &mut copied);
                for variable in &copied {
                    if !copies.contains_key(variable) {
                        let copy = self.copy_of(*variable);
                        copies.insert(*variable, copy);
                    }
                }
                effect.push(rewritten(&statement, &|place: &Place| {
                    let by = changed.get(&place.variable)?;
                    let variable = *copies.get(&place.variable).filter(|_| *by != lowered.process)?;
                    Some(Expression::Read(Place { variable, index: place.index.clone() }))
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
                self.each(copies[variable], |index| Expression::Read(Place { variable: *variable, index })),
            );
        }
        all.extend(effect);
        for variable in &copied {
            // Copies must not tell configurations apart.
            all.extend(self.each(copies[variable], |_| Expression::Constant(0)));
        }
        let ways: Vec<String> = step.iter().map(|lowered| self.way(lowered)).collect();
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

    /// A hidden variable for the value of another before the step.
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
            place: Place { variable, index: index.clone() },
            value: value(index),
            wraps: false,
        };
        indices.into_iter().map(assign).collect()
    }
}

/// Notes the variables that a statement reads and that another process has changed.
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
