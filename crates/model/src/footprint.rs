//! What actions touch: the ground on which one can say that the order of two of them does not matter.

use crate::action::{ActionId, Statement};
use crate::expression::{Expression, Place};
use crate::model::Model;
use crate::variable::VariableId;
use std::collections::BTreeSet;

/// One element of a variable, or all of it if none is named.
type Cell = (VariableId, Option<u32>);

/// The variables that an action, or an expression, looks at and changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    reads: BTreeSet<Cell>,
    writes: BTreeSet<Cell>,
    /// The actions whose taking or enabledness is looked at.
    actions: BTreeSet<ActionId>,
}

impl Footprint {
    /// Whether the order in which this and `other` happen may matter.
    pub fn interferes(&self, other: &Footprint) -> bool {
        meets(&self.writes, &other.writes)
            || meets(&self.writes, &other.reads)
            || meets(&self.reads, &other.writes)
    }

    /// Whether whoever looks at `seen` may notice that this happened.
    pub fn is_seen_by(&self, seen: &Footprint) -> bool {
        meets(&self.writes, &seen.reads)
    }

    /// Whether this looks at an action: that it happens, or that it is enabled.
    pub fn names(&self, action: ActionId) -> bool {
        self.actions.contains(&action)
    }

    fn read(&mut self, expression: &Expression) {
        expression.visit(&mut |inside| match inside {
            Expression::Read(place) => drop(self.reads.insert(cell(place))),
            Expression::Happens(actions) | Expression::Enabled(actions) => self.actions.extend(actions),
            _ => {}
        });
    }

    fn write(&mut self, place: &Place) {
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
    /// What an action touches.
    ///
    /// ```
    /// use invigil_model::{Action, Expression, Kind, Model, Parts, Statement, Variable};
    /// let set = |variable, name: &str| Action {
    ///     effect: vec![Statement::assign(variable, Expression::Constant(1))],
    ///     ..Action::named(name)
    /// };
    /// let bit = |name: &str| Variable::scalar(name, Kind::Boolean, 0);
    /// let model = Model::new(Parts {
    ///     variables: vec![bit("a"), bit("b")],
    ///     actions: vec![set(0, "one"), set(1, "two"), set(1, "three")],
    ///     ..Parts::default()
    /// });
    /// let model = model.unwrap();
    /// assert!(!model.footprint(0).interferes(&model.footprint(1)));
    /// assert!(model.footprint(1).interferes(&model.footprint(2)));
    /// ```
    pub fn footprint(&self, action: ActionId) -> Footprint {
        let of = self.action(action);
        let mut footprint = Footprint::default();
        footprint.read(&of.guard);
        of.effect.iter().for_each(|statement| footprint.statement(statement));
        for by in &of.moves {
            let location = (self.parts().processes[by.process as usize].location, None);
            footprint.reads.insert(location);
            // Who stays where it is changes nothing that others can see.
            if by.from != by.to {
                footprint.writes.insert(location);
            }
        }
        footprint
    }

    /// What an expression looks at. Whether an action is enabled depends on all that its guard reads.
    pub fn looks_at(&self, expression: &Expression) -> Footprint {
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

/// A constant index names one element; any other may name each of them.
fn cell(place: &Place) -> Cell {
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
