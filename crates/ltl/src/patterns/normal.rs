//! One form for the usual spellings of the same formula, on infinite words.
//!
//! `!` stands before atoms only; of `R`, `M`, `U` and `W` only the last two are left; what is said twice is said
//! once. It is no canonical form: two formulae with different forms may well be equivalent.

use crate::formula::{Formula, Formulae, Node};
use crate::{Budget, TooLarge};
use rustc_hash::FxHashMap;

/// Formulae in normal form.
#[derive(Clone)]
pub(super) struct Normal {
    pub(super) formulae: Formulae,
    negations: FxHashMap<Formula, Formula>,
}

type Made = Result<Formula, TooLarge>;

impl Normal {
    pub(super) fn new(budget: &Budget) -> Normal {
        Normal { formulae: Formulae::new(budget), negations: FxHashMap::default() }
    }

    /// The normal form of a formula of other formulae.
    pub(super) fn of(&mut self, other: &Formulae, formula: Formula) -> Made {
        let mut made: FxHashMap<Formula, Formula> = FxHashMap::default();
        for part in other.within(formula) {
            let of = |inner: &Formula| made[inner];
            let new = match other.node(part) {
                Node::False => Formula::FALSE,
                Node::True => Formula::TRUE,
                Node::Atom(atom) => {
                    let atom = self.formulae.atom_for(other.proposition(*atom).clone());
                    self.formulae.atom(atom)?
                }
                Node::Not(a) => self.not(of(a))?,
                Node::And(all) => self.all(all.iter().map(of).collect(), true)?,
                Node::Or(all) => self.all(all.iter().map(of).collect(), false)?,
                Node::Next(a) => self.formulae.next(of(a))?,
                Node::Finally(a) => self.finally(of(a))?,
                Node::Globally(a) => self.globally(of(a))?,
                Node::Until([a, b]) => self.until(of(a), of(b))?,
                Node::WeakUntil([a, b]) => self.weak_until(of(a), of(b))?,
                Node::Release([a, b]) => {
                    let both = self.all(vec![of(a), of(b)], true)?;
                    self.weak_until(of(b), both)?
                }
                Node::StrongRelease([a, b]) => {
                    let both = self.all(vec![of(a), of(b)], true)?;
                    self.until(of(b), both)?
                }
                Node::Yesterday(a) => self.formulae.yesterday(of(a))?,
                Node::WeakYesterday(a) => self.formulae.weak_yesterday(of(a))?,
                Node::Once(a) => self.formulae.once(of(a))?,
                Node::Historically(a) => self.formulae.historically(of(a))?,
                Node::Since([a, b]) => self.formulae.since(of(a), of(b))?,
                Node::Triggered([a, b]) => self.formulae.triggered(of(a), of(b))?,
            };
            made.insert(part, new);
        }
        Ok(made[&formula])
    }

    /// The normal form of the negation. It goes as deep as the formula, which is small.
    pub(super) fn not(&mut self, formula: Formula) -> Made {
        if let Some(known) = self.negations.get(&formula) {
            return Ok(*known);
        }
        let made = match self.formulae.node(formula).clone() {
            Node::False | Node::True | Node::Atom(_) | Node::Not(_) => self.formulae.not(formula)?,
            Node::And(all) => self.none(&all, false)?,
            Node::Or(all) => self.none(&all, true)?,
            Node::Next(a) => {
                let a = self.not(a)?;
                self.formulae.next(a)?
            }
            Node::Finally(a) => {
                let a = self.not(a)?;
                self.globally(a)?
            }
            Node::Globally(a) => {
                let a = self.not(a)?;
                self.finally(a)?
            }
            Node::Until([a, b]) | Node::StrongRelease([a, b]) => {
                let (not_b, neither) = (self.not(b)?, self.none(&[a, b], true)?);
                self.weak_until(not_b, neither)?
            }
            Node::WeakUntil([a, b]) | Node::Release([a, b]) => {
                let (not_b, neither) = (self.not(b)?, self.none(&[a, b], true)?);
                self.until(not_b, neither)?
            }
            Node::Yesterday(a) => {
                let a = self.not(a)?;
                self.formulae.weak_yesterday(a)?
            }
            Node::WeakYesterday(a) => {
                let a = self.not(a)?;
                self.formulae.yesterday(a)?
            }
            Node::Once(a) => {
                let a = self.not(a)?;
                self.formulae.historically(a)?
            }
            Node::Historically(a) => {
                let a = self.not(a)?;
                self.formulae.once(a)?
            }
            Node::Since([a, b]) => {
                let (a, b) = (self.not(a)?, self.not(b)?);
                self.formulae.triggered(a, b)?
            }
            Node::Triggered([a, b]) => {
                let (a, b) = (self.not(a)?, self.not(b)?);
                self.formulae.since(a, b)?
            }
        };
        self.negations.insert(formula, made);
        Ok(made)
    }

    /// The conjunction or disjunction of the negations.
    fn none(&mut self, all: &[Formula], and: bool) -> Made {
        let negations = all.iter().map(|part| self.not(*part)).collect::<Result<Vec<_>, _>>()?;
        self.all(negations, and)
    }

    fn finally(&mut self, a: Formula) -> Made {
        match *self.formulae.node(a) {
            Node::False | Node::True | Node::Finally(_) => Ok(a),
            Node::Next(inner) => {
                let later = self.finally(inner)?;
                self.formulae.next(later)
            }
            _ => self.formulae.finally(a),
        }
    }

    fn globally(&mut self, a: Formula) -> Made {
        match *self.formulae.node(a) {
            Node::False | Node::True | Node::Globally(_) => Ok(a),
            Node::Next(inner) => {
                let always = self.globally(inner)?;
                self.formulae.next(always)
            }
            _ => self.formulae.globally(a),
        }
    }

    fn until(&mut self, a: Formula, b: Formula) -> Made {
        let a = self.before(a, b)?;
        match (a, b) {
            (_, Formula::TRUE | Formula::FALSE) | (Formula::FALSE, _) => Ok(b),
            (Formula::TRUE, _) => self.finally(b),
            _ if a == b => Ok(b),
            _ => self.formulae.until(a, b),
        }
    }

    fn weak_until(&mut self, a: Formula, b: Formula) -> Made {
        let a = self.before(a, b)?;
        match (a, b) {
            (Formula::FALSE, _) | (_, Formula::TRUE) => Ok(b),
            (Formula::TRUE, _) => Ok(a),
            (_, Formula::FALSE) => self.globally(a),
            _ if a == b => Ok(b),
            _ => self.formulae.weak_until(a, b),
        }
    }

    /// What must hold until `b`, less what says no more than that `b` does not hold yet.
    fn before(&mut self, a: Formula, b: Formula) -> Made {
        let ends = self.operands(b, false);
        match self.formulae.node(a).clone() {
            Node::Or(parts) if ends.iter().all(|end| parts.contains(end)) => {
                self.all(parts.iter().copied().filter(|part| !ends.contains(part)).collect(), false)
            }
            Node::And(parts) => {
                let mut left = Vec::new();
                for part in parts {
                    if !ends.contains(&self.not(part)?) {
                        left.push(part);
                    }
                }
                self.all(left, true)
            }
            _ => Ok(a),
        }
    }

    /// What a formula gives to a conjunction or disjunction.
    pub(super) fn operands(&self, formula: Formula, and: bool) -> Vec<Formula> {
        match self.formulae.node(formula) {
            Node::And(parts) if and => parts.to_vec(),
            Node::Or(parts) if !and => parts.to_vec(),
            _ => vec![formula],
        }
    }

    /// Whether all that a formula gives to a conjunction or disjunction is there already.
    fn are_in(&self, formula: Formula, parts: &[Formula], and: bool) -> bool {
        self.operands(formula, and).iter().all(|operand| parts.contains(operand))
    }

    /// The conjunction or disjunction of some formulae.
    pub(super) fn all(&mut self, parts: Vec<Formula>, and: bool) -> Made {
        let joined = if and { self.formulae.and(parts)? } else { self.formulae.or(parts)? };
        let parts = self.operands(joined, and);
        let mut left = Vec::new();
        for part in &parts {
            // `a & (a | b)` is `a`, and `a & (!a | b)` is `a & b`.
            let inner = self.operands(*part, !and);
            let mut kept = Vec::new();
            let other = |other: &Formula| other != part && self.are_in(*other, &inner, !and);
            let mut absorbed = parts.iter().any(other);
            for operand in &inner {
                let negation = self.not(*operand)?;
                absorbed |= inner.len() > 1 && self.are_in(*operand, &parts, and);
                if inner.len() == 1 || !self.are_in(negation, &parts, and) {
                    kept.push(*operand);
                }
            }
            if !absorbed {
                left.push(match kept.len() == inner.len() {
                    true => *part,
                    false if and => self.formulae.or(kept)?,
                    false => self.formulae.and(kept)?,
                });
            }
        }
        if left == parts {
            return self.weak_or_strong(parts, and);
        }
        self.all(left, and)
    }

    /// `G a | a U b` is `a W b`, and `F b & (a W b)` is `a U b`.
    fn weak_or_strong(&mut self, mut parts: Vec<Formula>, and: bool) -> Made {
        let pair = parts.iter().enumerate().find_map(|(at, part)| {
            let (a, b) = match self.formulae.node(*part) {
                Node::Until([a, b]) if !and => (*a, *b),
                Node::WeakUntil([a, b]) if and => (*a, *b),
                _ => return None,
            };
            let is_other = |other: &Formula| match self.formulae.node(*other) {
                Node::Globally(inner) => !and && *inner == a,
                Node::Finally(inner) => and && *inner == b,
                _ => false,
            };
            Some((at, parts.iter().position(is_other)?, a, b))
        });
        let Some((at, other, a, b)) = pair else {
            return if and { self.formulae.and(parts) } else { self.formulae.or(parts) };
        };
        parts[at] = if and { self.until(a, b)? } else { self.weak_until(a, b)? };
        parts.swap_remove(other);
        self.all(parts, and)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::word::{Lasso, Letter};

    pub(crate) struct Dice(u64);

    impl Dice {
        pub(crate) fn new(seed: u64) -> Dice {
            Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed))
        }

        pub(crate) fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as usize % limit
        }

        pub(crate) fn formula(&mut self, size: usize) -> String {
            if size < 2 {
                return ["a", "b", "c"][self.below(3)].to_owned();
            }
            let left = 1 + self.below(size - 1);
            let (a, b) = (self.formula(left), self.formula(size - left));
            match self.below(9) {
                0 => format!("{}({a})", ["!", "X", "F", "G", "Y", "Z", "O", "H"][self.below(8)]),
                // What the rules are made for, more often than by chance.
                1 => format!("(G({a}) | (({a}) U ({b}))) & ({b} | !({a}))"),
                2 => format!("F({b}) & (({a}) W ({b})) | ({a}) & !({b})"),
                _ => {
                    let operator = ["&", "|", "U", "W", "R", "M", "S", "T"][self.below(8)];
                    format!("({a}) {operator} ({b})")
                }
            }
        }

        pub(crate) fn letters(&mut self, formulae: &Formulae, count: usize) -> Vec<Letter> {
            let mut letter =
                || formulae.atoms().map(|(atom, _)| atom).filter(|_| self.below(2) == 0).collect();
            (0..count).map(|_| letter()).collect()
        }
    }

    #[test]
    fn normal_forms_and_their_negations_mean_the_same() {
        for seed in 1..4000_u64 {
            let mut dice = Dice::new(seed);
            let budget = Budget::default();
            let (mut formulae, mut normal) = (Formulae::new(&budget), Normal::new(&budget));
            // The same atoms with the same numbers.
            for name in ["a", "b", "c"] {
                formulae.name(name).unwrap();
                normal.formulae.name(name).unwrap();
            }
            let size = 1 + dice.below(9);
            let text = dice.formula(size);
            let formula = formulae.parse(&text).unwrap();
            let new = normal.of(&formulae, formula).unwrap();
            let negation = normal.not(new).unwrap();
            for _ in 0..10 {
                let (prefix, cycle) = (dice.below(4), 1 + dice.below(3));
                let word =
                    Lasso { prefix: dice.letters(&formulae, prefix), cycle: dice.letters(&formulae, cycle) };
                let expected = word.satisfies(&formulae, formula);
                let shown = normal.formulae.show(new);
                assert_eq!(word.satisfies(&normal.formulae, new), expected, "{text} is no {shown}");
                let shown = normal.formulae.show(negation);
                assert_eq!(word.satisfies(&normal.formulae, negation), !expected, "!({text}) is no {shown}");
            }
        }
    }
}
