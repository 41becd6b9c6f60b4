//! Syntactic classes of formulae whose value does not depend on finite prefixes.
//!
//! If an *eventual* formula holds at a position, it holds at all earlier positions. If a *universal* formula holds at a
//! position, it holds at all later ones. A formula that is both is *suspendable*: it has the same value at all positions.

use crate::formula::{Formula, Formulae, Node};

/// Syntactic class of a formula. A formula may belong to a class without its syntax showing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SyntacticClass {
    pub(crate) eventual: bool,
    pub(crate) universal: bool,
}

impl SyntacticClass {
    /// Whether the formula has the same value at all positions.
    pub(crate) fn is_suspendable(self) -> bool {
        self.eventual && self.universal
    }

    /// Returns the class of a Boolean combination.
    fn both(self, other: SyntacticClass) -> SyntacticClass {
        SyntacticClass {
            eventual: self.eventual && other.eventual,
            universal: self.universal && other.universal,
        }
    }
}

/// Syntactic classes of all formulae up to some index, computed on demand.
#[derive(Default)]
pub(crate) struct SyntacticClasses(Vec<SyntacticClass>);

impl SyntacticClasses {
    /// Returns the class of a formula.
    pub(crate) fn of(&mut self, formulae: &Formulae, formula: Formula) -> SyntacticClass {
        // Operands have smaller indices.
        for number in self.0.len()..=formula.index() {
            let of = |part: &Formula| self.0[part.index()];
            let class = match formulae.node(Formula(number as u32)) {
                Node::False | Node::True => SyntacticClass { eventual: true, universal: true },
                Node::And(all) | Node::Or(all) => all
                    .iter()
                    .map(of)
                    .fold(SyntacticClass { eventual: true, universal: true }, SyntacticClass::both),
                Node::Next(a) => of(a),
                Node::Finally(a) => SyntacticClass { eventual: true, ..of(a) },
                Node::Globally(a) => SyntacticClass { universal: true, ..of(a) },
                Node::Until([a, b]) => SyntacticClass { eventual: of(b).eventual, ..of(a).both(of(b)) },
                Node::Release([a, b]) => SyntacticClass { universal: of(b).universal, ..of(a).both(of(b)) },
                Node::WeakUntil([a, b]) | Node::StrongRelease([a, b]) => of(a).both(of(b)),
                // Literals and past operators depend on the position.
                _ => SyntacticClass::default(),
            };
            self.0.push(class);
        }
        self.0[formula.index()]
    }
}
