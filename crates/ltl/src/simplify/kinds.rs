//! Formulae that do not care about a finite beginning.
//!
//! An *eventual* formula that holds at an instant held at all instants before; a *universal* one that holds
//! at an instant holds at all later ones. What is both says something about the end of time only.

use crate::formula::{Formula, Formulae, Node};

/// What is known of a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) eventual: bool,
    pub(crate) universal: bool,
}

impl Kind {
    /// Whether it says something about the end of time only.
    pub(crate) fn is_lasting(self) -> bool {
        self.eventual && self.universal
    }

    fn both(self, other: Kind) -> Kind {
        Kind { eventual: self.eventual && other.eventual, universal: self.universal && other.universal }
    }
}

/// The kinds of all formulae up to some number.
#[derive(Default)]
pub(crate) struct Kinds(Vec<Kind>);

impl Kinds {
    pub(crate) fn of(&mut self, formulae: &Formulae, formula: Formula) -> Kind {
        // Parts have smaller numbers.
        for number in self.0.len()..=formula.index() {
            let of = |part: &Formula| self.0[part.index()];
            let kind = match formulae.node(Formula(number as u32)) {
                Node::False | Node::True => Kind { eventual: true, universal: true },
                Node::And(all) | Node::Or(all) => {
                    all.iter().map(of).fold(Kind { eventual: true, universal: true }, Kind::both)
                }
                Node::Next(a) => of(a),
                Node::Finally(a) => Kind { eventual: true, ..of(a) },
                Node::Globally(a) => Kind { universal: true, ..of(a) },
                Node::Until([a, b]) => Kind { eventual: of(b).eventual, ..of(a).both(of(b)) },
                Node::Release([a, b]) => Kind { universal: of(b).universal, ..of(a).both(of(b)) },
                Node::WeakUntil([a, b]) | Node::StrongRelease([a, b]) => of(a).both(of(b)),
                // What looks back does care.
                _ => Kind::default(),
            };
            self.0.push(kind);
        }
        self.0[formula.index()]
    }
}
