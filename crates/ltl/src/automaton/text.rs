//! Labels as text: sums of products.

use crate::TooLarge;
use crate::formula::Atom;
use crate::label::{Label, Labels, Variable};

/// How a notation writes what it is made of.
pub(super) struct Notation<'a> {
    pub(super) yes: &'a str,
    pub(super) no: &'a str,
    pub(super) and: &'a str,
    pub(super) or: &'a str,
    pub(super) atom: &'a dyn Fn(Atom) -> String,
}

impl Notation<'_> {
    /// A label. Negation binds more tightly than conjunction, and that more than disjunction.
    pub(super) fn write(&self, labels: &Labels, label: &Label) -> Result<String, TooLarge> {
        if label.is_false() {
            return Ok(self.no.to_owned());
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
                [] => self.yes.to_owned(),
                _ => literals.join(self.and),
            });
        }
        Ok(products.join(self.or))
    }
}
