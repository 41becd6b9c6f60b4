//! Normal form that maps common ways to write the same formula to one, on infinite words.
//!
//! `!` occurs only before atoms, `R` and `M` are replaced by `W` and `U`, and redundant operands are removed. The form is not
//! canonical: formulae with different normal forms may be equivalent.

use crate::formula::{Formula, Formulae, Node};
use crate::{Budget, TooLarge};
use rustc_hash::FxHashMap;

/// Store of formulae in normal form, with cached negations.
#[derive(Clone)]
pub(super) struct NormalForms {
    pub(super) formulae: Formulae,
    negations: FxHashMap<Formula, Formula>,
}

type FormulaResult = Result<Formula, TooLarge>;

impl NormalForms {
    pub(super) fn new(budget: &Budget) -> NormalForms {
        NormalForms { formulae: Formulae::new(budget), negations: FxHashMap::default() }
    }

    /// Returns the normal form of a formula from another store.
    pub(super) fn of(&mut self, other: &Formulae, formula: Formula) -> FormulaResult {
        let mut normal: FxHashMap<Formula, Formula> = FxHashMap::default();
        for part in other.subformulae(formula) {
            let of = |inner: &Formula| normal[inner];
            let new = match other.node(part) {
                Node::False => Formula::FALSE,
                Node::True => Formula::TRUE,
                Node::Atom(atom) => {
                    let atom = self.formulae.atom_for(other.proposition(*atom).clone());
                    self.formulae.atom(atom)?
                }
                Node::Not(a) => self.not(of(a))?,
                Node::And(all) => self.join(all.iter().map(of).collect(), true)?,
                Node::Or(all) => self.join(all.iter().map(of).collect(), false)?,
                Node::Next(a) => self.formulae.next(of(a))?,
                Node::Finally(a) => self.finally(of(a))?,
                Node::Globally(a) => self.globally(of(a))?,
                Node::Until([a, b]) => self.until(of(a), of(b))?,
                Node::WeakUntil([a, b]) => self.weak_until(of(a), of(b))?,
                Node::Release([a, b]) => {
                    let both = self.join(vec![of(a), of(b)], true)?;
                    self.weak_until(of(b), both)?
                }
                Node::StrongRelease([a, b]) => {
                    let both = self.join(vec![of(a), of(b)], true)?;
                    self.until(of(b), both)?
                }
                Node::Yesterday(a) => self.formulae.yesterday(of(a))?,
                Node::WeakYesterday(a) => self.formulae.weak_yesterday(of(a))?,
                Node::Once(a) => self.formulae.once(of(a))?,
                Node::Historically(a) => self.formulae.historically(of(a))?,
                Node::Since([a, b]) => self.formulae.since(of(a), of(b))?,
                Node::Triggered([a, b]) => self.formulae.triggered(of(a), of(b))?,
            };
            normal.insert(part, new);
        }
        Ok(normal[&formula])
    }

    /// Returns the normal form of the negation. The recursion is as deep as the formula, which is small.
    pub(super) fn not(&mut self, formula: Formula) -> FormulaResult {
        if let Some(known) = self.negations.get(&formula) {
            return Ok(*known);
        }
        let normal = match self.formulae.node(formula).clone() {
            Node::False | Node::True | Node::Atom(_) | Node::Not(_) => self.formulae.not(formula)?,
            Node::And(all) => self.join_negations(&all, false)?,
            Node::Or(all) => self.join_negations(&all, true)?,
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
                let (not_b, neither) = (self.not(b)?, self.join_negations(&[a, b], true)?);
                self.weak_until(not_b, neither)?
            }
            Node::WeakUntil([a, b]) | Node::Release([a, b]) => {
                let (not_b, neither) = (self.not(b)?, self.join_negations(&[a, b], true)?);
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
        self.negations.insert(formula, normal);
        Ok(normal)
    }

    /// Returns the conjunction or disjunction of the negations.
    fn join_negations(&mut self, all: &[Formula], and: bool) -> FormulaResult {
        let negations = all.iter().map(|part| self.not(*part)).collect::<Result<Vec<_>, _>>()?;
        self.join(negations, and)
    }

    fn finally(&mut self, a: Formula) -> FormulaResult {
        match *self.formulae.node(a) {
            Node::False | Node::True | Node::Finally(_) => Ok(a),
            Node::Next(inner) => {
                let later = self.finally(inner)?;
                self.formulae.next(later)
            }
            _ => self.formulae.finally(a),
        }
    }

    fn globally(&mut self, a: Formula) -> FormulaResult {
        match *self.formulae.node(a) {
            Node::False | Node::True | Node::Globally(_) => Ok(a),
            Node::Next(inner) => {
                let always = self.globally(inner)?;
                self.formulae.next(always)
            }
            _ => self.formulae.globally(a),
        }
    }

    fn until(&mut self, a: Formula, b: Formula) -> FormulaResult {
        let a = self.simplify_until_left(a, b)?;
        match (a, b) {
            (_, Formula::TRUE | Formula::FALSE) | (Formula::FALSE, _) => Ok(b),
            (Formula::TRUE, _) => self.finally(b),
            _ if a == b => Ok(b),
            _ => self.formulae.until(a, b),
        }
    }

    fn weak_until(&mut self, a: Formula, b: Formula) -> FormulaResult {
        let a = self.simplify_until_left(a, b)?;
        match (a, b) {
            (Formula::FALSE, _) | (_, Formula::TRUE) => Ok(b),
            (Formula::TRUE, _) => Ok(a),
            (_, Formula::FALSE) => self.globally(a),
            _ if a == b => Ok(b),
            _ => self.formulae.weak_until(a, b),
        }
    }

    /// Simplifies the left operand of `a U b` or `a W b`: removes disjuncts of `b`, and conjuncts implied by `!b`.
    fn simplify_until_left(&mut self, a: Formula, b: Formula) -> FormulaResult {
        let goals = self.operands(b, false);
        match self.formulae.node(a).clone() {
            Node::Or(parts) if goals.iter().all(|goal| parts.contains(goal)) => {
                self.join(parts.iter().copied().filter(|part| !goals.contains(part)).collect(), false)
            }
            Node::And(parts) => {
                let mut remaining = Vec::new();
                for part in parts {
                    if !goals.contains(&self.not(part)?) {
                        remaining.push(part);
                    }
                }
                self.join(remaining, true)
            }
            _ => Ok(a),
        }
    }

    /// Returns the operands of a formula within a conjunction or disjunction: its own if it has the same operator, or itself.
    pub(super) fn operands(&self, formula: Formula, and: bool) -> Vec<Formula> {
        match self.formulae.node(formula) {
            Node::And(parts) if and => parts.to_vec(),
            Node::Or(parts) if !and => parts.to_vec(),
            _ => vec![formula],
        }
    }

    /// Whether all operands of a formula within a conjunction or disjunction are contained in `parts`.
    fn is_contained(&self, formula: Formula, parts: &[Formula], and: bool) -> bool {
        self.operands(formula, and).iter().all(|operand| parts.contains(operand))
    }

    /// Returns the normal form of a conjunction or disjunction.
    pub(super) fn join(&mut self, parts: Vec<Formula>, and: bool) -> FormulaResult {
        let joined = if and { self.formulae.and(parts)? } else { self.formulae.or(parts)? };
        let parts = self.operands(joined, and);
        let mut remaining = Vec::new();
        for part in &parts {
            // Absorption: `a & (a | b) = a` and `a & (!a | b) = a & b`.
            let inner = self.operands(*part, !and);
            let mut kept = Vec::new();
            let other = |other: &Formula| other != part && self.is_contained(*other, &inner, !and);
            let mut absorbed = parts.iter().any(other);
            for operand in &inner {
                let negation = self.not(*operand)?;
                absorbed |= inner.len() > 1 && self.is_contained(*operand, &parts, and);
                if inner.len() == 1 || !self.is_contained(negation, &parts, and) {
                    kept.push(*operand);
                }
            }
            if !absorbed {
                remaining.push(match kept.len() == inner.len() {
                    true => *part,
                    false if and => self.formulae.or(kept)?,
                    false => self.formulae.and(kept)?,
                });
            }
        }
        if remaining == parts {
            return self.merge_weak_and_strong(parts, and);
        }
        self.join(remaining, and)
    }

    /// Applies `G a | a U b = a W b` and `F b & (a W b) = a U b`.
    fn merge_weak_and_strong(&mut self, mut parts: Vec<Formula>, and: bool) -> FormulaResult {
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
        self.join(parts, and)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::word::{Lasso, Letter};

    /// Pseudo-random generator xorshift64, with random formulae and words.
    pub(crate) struct XorShift64(u64);

    impl XorShift64 {
        pub(crate) fn new(seed: u64) -> XorShift64 {
            XorShift64(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed))
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
                // Formulae to which the rules apply, with a higher probability.
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
    fn normal_form_and_negation_preserve_language() {
        for seed in 1..4000_u64 {
            let mut random = XorShift64::new(seed);
            let budget = Budget::default();
            let (mut formulae, mut normal) = (Formulae::new(&budget), NormalForms::new(&budget));
            // Both stores number the atoms in the same way.
            for name in ["a", "b", "c"] {
                formulae.name(name).unwrap();
                normal.formulae.name(name).unwrap();
            }
            let size = 1 + random.below(9);
            let text = random.formula(size);
            let formula = formulae.parse(&text).unwrap();
            let new = normal.of(&formulae, formula).unwrap();
            let negation = normal.not(new).unwrap();
            for _ in 0..10 {
                let (prefix, cycle) = (random.below(4), 1 + random.below(3));
                let word = Lasso {
                    prefix: random.letters(&formulae, prefix),
                    cycle: random.letters(&formulae, cycle),
                };
                let expected = word.satisfies(&formulae, formula);
                let shown = normal.formulae.show(new);
                assert_eq!(
                    word.satisfies(&normal.formulae, new),
                    expected,
                    "{text} is not equivalent to {shown}"
                );
                let shown = normal.formulae.show(negation);
                assert_eq!(
                    word.satisfies(&normal.formulae, negation),
                    !expected,
                    "!({text}) is not equivalent to {shown}"
                );
            }
        }
    }
}
