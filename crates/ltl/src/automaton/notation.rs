//! Labels as text, in disjunctive normal form.

use crate::TooLarge;
use crate::formula::Atom;
use crate::label::{Label, Labels, Variable};

/// Symbols of a notation for Boolean expressions.
pub(super) struct Notation<'a> {
    pub(super) top: &'a str,
    pub(super) bottom: &'a str,
    pub(super) and: &'a str,
    pub(super) or: &'a str,
    pub(super) atom: &'a dyn Fn(Atom) -> String,
}

impl Notation<'_> {
    /// Formats a label without parentheses: negation binds more tightly than conjunction, conjunction more than disjunction.
    pub(super) fn format(&self, labels: &Labels, label: &Label) -> Result<String, TooLarge> {
        if label.is_false() {
            return Ok(self.bottom.to_owned());
        }
        let literal = |(variable, value): &(Variable, bool)| {
            let name = match variable {
                Variable::Atom(atom) => (self.atom)(*atom),
                Variable::Helper(number) => format!("_{number}"),
            };
            if *value { name } else { format!("!{name}") }
        };
        let mut cubes = labels.cubes(label)?;
        cubes.iter_mut().for_each(|cube| cube.sort_unstable());
        cubes.sort_unstable();
        let mut products = Vec::new();
        for cube in cubes {
            let literals: Vec<String> = cube.iter().map(literal).collect();
            products.push(match literals[..] {
                [] => self.top.to_owned(),
                _ => literals.join(self.and),
            });
        }
        Ok(products.join(self.or))
    }
}
