//! Footprints of actions: the variables that they read and write. Basis of independence in partial-order reduction.

use crate::action::{ActionId, Statement};
use crate::expression::{Expression, LValue};
use crate::model::Model;
use crate::variable::VariableId;
use std::collections::BTreeSet;

/// One element of a variable, or the whole variable.
type Cell = (VariableId, Option<u32>);

/// The variables that an action or expression reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    reads: BTreeSet<Cell>,
    writes: BTreeSet<Cell>,
    /// The actions whose occurrence or enabledness is read.
    actions: BTreeSet<ActionId>,
}

impl Footprint {
    /// Whether the order of this and `other` may matter.
    pub fn interferes(&self, other: &Footprint) -> bool {
        meets(&self.writes, &other.writes)
            || meets(&self.writes, &other.reads)
            || meets(&self.reads, &other.writes)
    }

    /// Whether an observer with the footprint `observer` may notice this action.
    pub fn is_seen_by(&self, observer: &Footprint) -> bool {
        meets(&self.writes, &observer.reads)
    }

    /// Whether the footprint refers to an action: its occurrence or its enabledness.
    pub fn refers_to(&self, action: ActionId) -> bool {
        self.actions.contains(&action)
    }

    fn read(&mut self, expression: &Expression) {
        expression.visit(&mut |inside| match inside {
            Expression::Read(place) => drop(self.reads.insert(cell(place))),
            Expression::Happens(actions) | Expression::Enabled(actions) => self.actions.extend(actions),
            _ => {}
        });
    }

    fn write(&mut self, place: &LValue) {
        self.writes.insert(cell(place));
        if let Some(index) = &place.index {
            self.read(index);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign { place, value, .. } => {
                self.write(place);
                self.read(value);
            }
            Statement::Choose { place, .. } => self.write(place),
            Statement::Require(condition) | Statement::Assert { condition, .. } => self.read(condition),
            Statement::If { condition, then, otherwise } => {
                self.read(condition);
                then.iter().chain(otherwise).for_each(|inside| self.statement(inside));
            }
        }
    }
}

impl Model {
    /// The variables that an action reads and writes.
    ///
    /// ```
    /// use invigil_model::{Action, Expression, Domain, Model, ModelParts, Statement, Variable};
    /// let set = |variable, name: &str| Action {
    ///     effect: vec![Statement::assign(variable, Expression::Constant(1))],
    ///     ..Action::named(name)
    /// };
    /// let bit = |name: &str| Variable::scalar(name, Domain::Boolean, 0);
    /// let model = Model::new(ModelParts {
    ///     variables: vec![bit("a"), bit("b")],
    ///     actions: vec![set(0, "one"), set(1, "two"), set(1, "three")],
    ///     ..ModelParts::default()
    /// });
    /// let model = model.unwrap();
    /// assert!(!model.footprint(0).interferes(&model.footprint(1)));
    /// assert!(model.footprint(1).interferes(&model.footprint(2)));
    /// ```
    pub fn footprint(&self, action: ActionId) -> Footprint {
        let definition = self.action(action);
        let mut footprint = Footprint::default();
        footprint.read(&definition.guard);
        definition.effect.iter().for_each(|statement| footprint.statement(statement));
        for movement in &definition.moves {
            let location = (self.parts().processes[movement.process as usize].location, None);
            footprint.reads.insert(location);
            // A process that stays at its location changes nothing that others can read.
            if movement.from != movement.to {
                footprint.writes.insert(location);
            }
        }
        footprint
    }

    /// The footprint of an expression. Whether an action is enabled depends on everything that its guard reads.
    pub fn footprint_of(&self, expression: &Expression) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.read(expression);
        let mut enabled = Vec::new();
        expression.visit(&mut |inside| {
            if let Expression::Enabled(actions) = inside {
                enabled.extend_from_slice(actions);
            }
        });
        for action in enabled {
            footprint.reads.extend(self.footprint(action).reads);
        }
        footprint
    }
}

/// A constant index denotes one element; any other index may denote each of them.
fn cell(place: &LValue) -> Cell {
    match place.index.as_deref() {
        Some(Expression::Constant(index)) => (place.variable, u32::try_from(*index).ok()),
        _ => (place.variable, None),
    }
}

fn meets(one: &BTreeSet<Cell>, other: &BTreeSet<Cell>) -> bool {
    one.iter().any(|(variable, element)| match element {
        Some(_) => other.contains(&(*variable, *element)) || other.contains(&(*variable, None)),
        None => other.range((*variable, None)..=(*variable, Some(u32::MAX))).next().is_some(),
    })
}
