//! How one formula is written, when its parts are left to others.

use super::style::{Sign, Style};
use super::window::{self, Window, Windows};
use crate::formula::{Formula, Formulae, Node, Proposition};
use crate::syntax;
use std::borrow::Cow;

/// Something that is written as a formula.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Whole(Formula),
    /// The disjunction of two or more.
    Any(Vec<Formula>),
    /// An operator with a bound.
    Bounded(Sign, usize, usize, Formula),
}

/// What is written, one after the other.
pub(super) enum Piece {
    Text(Cow<'static, str>),
    /// In parentheses, if it holds together less than this.
    Part(Operand, u8),
    /// The same, with a space before it if there are no parentheses.
    Apart(Operand, u8),
}

impl Piece {
    pub(super) fn text(text: &'static str) -> Piece {
        Piece::Text(Cow::Borrowed(text))
    }
}

/// How something is written, and how strongly it holds together.
pub(super) struct View {
    pub(super) strength: u8,
    pub(super) pieces: Vec<Piece>,
}

/// How strongly things hold together.
const IMPLIES: u8 = 0;
const OR: u8 = 1;
const XOR: u8 = 2;
const AND: u8 = 3;
const TEMPORAL: u8 = 4;
const UNARY: u8 = 5;
const ATOM: u8 = 6;

/// Steps of the same kind that are counted rather than written one by one.
const MANY_STEPS: usize = 3;

/// The last instant of the shortest bound that is not written out.
const LONG_BOUND: usize = 2;

/// What is needed to view the parts of one formula.
pub(crate) struct Printer<'a> {
    formulae: &'a Formulae,
    style: Style,
    windows: Windows,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(formulae: &'a Formulae, formula: Formula, style: Style) -> Printer<'a> {
        let windows =
            if style.has_bounds() { window::windows(formulae, formula) } else { Windows::default() };
        Printer { formulae, style, windows }
    }

    /// How strongly an operand holds together.
    pub(super) fn strength(&self, operand: &Operand) -> u8 {
        match operand {
            Operand::Whole(formula) => match self.formulae.node(*formula) {
                Node::Atom(_) | Node::True | Node::False => ATOM,
                Node::Or(_) | Node::And(_) | Node::Not(_) => self.view(operand.clone()).strength,
                node if node.parts().len() == 2 => TEMPORAL,
                _ => UNARY,
            },
            _ => self.view(operand.clone()).strength,
        }
    }

    pub(super) fn view(&self, operand: Operand) -> View {
        match operand {
            Operand::Whole(formula) => self.whole(formula),
            Operand::Any(parts) => self.any(&parts),
            Operand::Bounded(sign, from, to, part) => {
                let bound = self.style.bound(from, to);
                self.prefix(Cow::Owned(self.style.sign(sign).to_owned() + &bound), part)
            }
        }
    }

    fn whole(&self, formula: Formula) -> View {
        if let Some(bounded) = self.bounded(formula) {
            return self.view(bounded);
        }
        let temporal = |sign, [a, b]: [Formula; 2]| self.temporal(sign, a, b);
        let unary = |sign, a: Formula| self.unary(sign, a);
        match self.formulae.node(formula) {
            Node::True => self.word(Cow::Borrowed(self.style.sign(Sign::True))),
            Node::False => self.word(Cow::Borrowed(self.style.sign(Sign::False))),
            Node::Atom(atom) => self.word(Cow::Owned(self.atom(self.formulae.proposition(*atom)))),
            Node::Not(a) => unary(Sign::Not, *a),
            Node::And(parts) => self.all(parts),
            Node::Or(parts) => match self.equivalence(parts) {
                Some((sign, a, b)) => self.infix(sign, vec![Operand::Whole(a), Operand::Whole(b)]),
                None => self.any(parts),
            },
            Node::Next(a) => self.steps(Sign::Next, formula, *a),
            Node::Finally(a) => unary(Sign::Finally, *a),
            Node::Globally(a) => unary(Sign::Globally, *a),
            Node::Until(both) => temporal(Sign::Until, *both),
            Node::Release(both) => temporal(Sign::Release, *both),
            Node::WeakUntil(both) => temporal(Sign::WeakUntil, *both),
            Node::StrongRelease(both) => self.strong_release(*both),
            Node::Yesterday(a) => self.steps(Sign::Yesterday, formula, *a),
            Node::WeakYesterday(a) => self.steps(Sign::WeakYesterday, formula, *a),
            Node::Once(a) => unary(Sign::Once, *a),
            Node::Historically(a) => unary(Sign::Historically, *a),
            Node::Since(both) => temporal(Sign::Since, *both),
            Node::Triggered(both) => temporal(Sign::Triggered, *both),
        }
    }

    fn word(&self, text: Cow<'static, str>) -> View {
        View { strength: ATOM, pieces: vec![Piece::Text(text)] }
    }

    fn atom(&self, proposition: &Proposition) -> String {
        let written = syntax::atom(proposition);
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        match proposition {
            Proposition::Expression(_) => written,
            // Spot has double quotes for all that is not plain.
            _ if self.style == Style::Spot && !written.chars().all(is_plain) => {
                syntax::atom(&Proposition::Expression(proposition.to_string()))
            }
            _ => written,
        }
    }

    fn unary(&self, sign: Sign, a: Formula) -> View {
        self.prefix(Cow::Borrowed(self.style.sign(sign)), a)
    }

    fn prefix(&self, text: Cow<'static, str>, a: Formula) -> View {
        // Letters and bounds want a space behind them.
        let apart = text.ends_with(|last: char| last.is_ascii_alphabetic() || last == ']') && text != "[]";
        let piece = if apart { Piece::Apart } else { Piece::Part };
        View { strength: UNARY, pieces: vec![Piece::Text(text), piece(Operand::Whole(a), UNARY)] }
    }

    /// Several steps of the same kind.
    fn steps(&self, sign: Sign, formula: Formula, a: Formula) -> View {
        if !self.style.has_bounds() {
            return self.unary(sign, a);
        }
        let (inner, count) = self.stepped(formula);
        if count < MANY_STEPS {
            return self.unary(sign, a);
        }
        self.prefix(Cow::Owned(format!("{}[{count}]", self.style.sign(sign))), inner)
    }

    /// What is left behind steps of the same kind, and how many they are.
    fn stepped(&self, formula: Formula) -> (Formula, usize) {
        let kind = std::mem::discriminant(self.formulae.node(formula));
        let (mut at, mut count) = (formula, 0);
        while let node @ (Node::Next(a) | Node::Yesterday(a) | Node::WeakYesterday(a)) =
            self.formulae.node(at)
            && std::mem::discriminant(node) == kind
        {
            (at, count) = (*a, count + 1);
        }
        (at, count)
    }

    /// The operator with a bound that a formula came from.
    pub(crate) fn bounded(&self, formula: Formula) -> Option<Operand> {
        if self.windows.is_empty() {
            return None;
        }
        let (inner, negated) = match self.formulae.node(formula) {
            Node::Not(a) => (*a, true),
            _ => (formula, false),
        };
        let (core, from) = self.stepped(inner);
        let Window { sign, part, to } = *self.windows.get(&core).filter(|window| window.to >= LONG_BOUND)?;
        let step = match self.formulae.node(inner) {
            Node::Next(_) => Some(Sign::Finally),
            Node::Yesterday(_) => Some(Sign::Once),
            Node::WeakYesterday(_) => Some(Sign::Historically),
            _ => None,
        };
        if step.is_some_and(|step| step != sign) {
            return None;
        }
        match (negated, sign, self.formulae.node(part)) {
            (false, ..) => Some(Operand::Bounded(sign, from, from + to, part)),
            (true, Sign::Finally, Node::Not(a)) => {
                Some(Operand::Bounded(Sign::Globally, from, from + to, *a))
            }
            _ => None,
        }
    }

    fn temporal(&self, sign: Sign, a: Formula, b: Formula) -> View {
        // A chain of one operator needs no parentheses, and others are clearer with them.
        let chain = match (sign, self.formulae.node(b)) {
            (Sign::Until, Node::Until(_))
            | (Sign::WeakUntil, Node::WeakUntil(_))
            | (Sign::Release, Node::Release(_))
            | (Sign::StrongRelease, Node::StrongRelease(_))
            | (Sign::Since, Node::Since(_))
            | (Sign::Triggered, Node::Triggered(_)) => TEMPORAL,
            _ => UNARY,
        };
        let sign = Piece::Text(format!(" {} ", self.style.sign(sign)).into());
        let pieces = vec![Piece::Part(Operand::Whole(a), UNARY), sign, Piece::Part(Operand::Whole(b), chain)];
        View { strength: TEMPORAL, pieces }
    }

    fn strong_release(&self, [a, b]: [Formula; 2]) -> View {
        if self.style != Style::Spin {
            return self.temporal(Sign::StrongRelease, a, b);
        }
        let part = |operand: Formula, strength| Piece::Part(Operand::Whole(operand), strength);
        let text = Piece::text;
        let pieces =
            vec![part(b, UNARY), text(" U ("), part(a, TEMPORAL), text(" && "), part(b, TEMPORAL), text(")")];
        View { strength: TEMPORAL, pieces }
    }

    /// A conjunction.
    fn all(&self, parts: &[Formula]) -> View {
        self.infix(Sign::And, self.gathered(parts, true))
    }

    /// A disjunction: an implication if one side is negated.
    fn any(&self, parts: &[Formula]) -> View {
        let operands = self.gathered(parts, false);
        if let [alone] = &operands[..] {
            return self.view(alone.clone());
        }
        let negated: Vec<(usize, Formula)> = operands
            .iter()
            .enumerate()
            .filter_map(|(at, operand)| match operand {
                Operand::Whole(formula) if self.bounded(*formula).is_none() => {
                    match self.formulae.node(*formula) {
                        Node::Not(a) => Some((at, *a)),
                        _ => None,
                    }
                }
                _ => None,
            })
            .collect();
        if negated.len() > 1 && operands.len() > 2 {
            return self.infix(Sign::Or, operands);
        }
        // Of two, the one that was written first, as far as one can tell.
        let Some(&(at, cause)) = negated.iter().min_by_key(|(_, cause)| *cause) else {
            return self.infix(Sign::Or, operands);
        };
        let effect = match operands.len() {
            2 => operands[1 - at].clone(),
            _ => {
                let cause = self.formulae.node(cause);
                let is_cause = |part: &Formula| match self.formulae.node(*part) {
                    Node::Not(a) => self.formulae.node(*a) == cause,
                    _ => false,
                };
                Operand::Any(parts.iter().copied().filter(|part| !is_cause(part)).collect())
            }
        };
        self.infix(Sign::Implies, vec![Operand::Whole(cause), effect])
    }

    /// The parts of a conjunction or disjunction, those that make a bound together as one.
    pub(crate) fn gathered(&self, parts: &[Formula], and: bool) -> Vec<Operand> {
        let whole = || parts.iter().map(|part| Operand::Whole(*part)).collect();
        let bound = parts.iter().find_map(|part| {
            let (sign, inner) = window::step(self.formulae, *part, and)?;
            let window = self.windows.get(&inner).filter(|window| window.sign == sign)?;
            let mut first = window::operands(self.formulae, window.part, and);
            let all = first.all(|operand| operand != *part && parts.binary_search(&operand).is_ok());
            all.then_some((*part, *window))
        });
        let Some((last, Window { sign, part, to })) = bound else { return whole() };
        let mut taken: Vec<Formula> = window::operands(self.formulae, part, and).chain([last]).collect();
        taken.sort_unstable();
        let rest = parts.iter().filter(|part| taken.binary_search(part).is_err());
        let mut all: Vec<Operand> = rest.map(|part| Operand::Whole(*part)).collect();
        all.push(Operand::Bounded(sign, 0, to + 1, part));
        all
    }

    fn infix(&self, sign: Sign, operands: Vec<Operand>) -> View {
        if let [alone] = &operands[..] {
            return self.view(alone.clone());
        }
        let (strength, first, others) = match sign {
            Sign::Implies | Sign::Iff => (IMPLIES, OR, OR),
            Sign::Or => (OR, XOR, XOR),
            Sign::Xor => (XOR, XOR, AND),
            _ => (AND, TEMPORAL, TEMPORAL),
        };
        let text = format!(" {} ", self.style.sign(sign));
        let mut pieces = Vec::with_capacity(2 * operands.len());
        for (at, operand) in operands.into_iter().enumerate() {
            if at > 0 {
                pieces.push(Piece::Text(Cow::Owned(text.clone())));
            }
            pieces.push(Piece::Part(operand, if at > 0 { others } else { first }));
        }
        View { strength, pieces }
    }

    /// What is equivalent, or just not, if a disjunction says that: `a & b | !a & !b`.
    fn equivalence(&self, parts: &[Formula]) -> Option<(Sign, Formula, Formula)> {
        let &[one, other] = parts else { return None };
        let (Node::And(one), Node::And(other)) = (self.formulae.node(one), self.formulae.node(other)) else {
            return None;
        };
        let (sign, a, b) = self.opposites(one, other).or_else(|| self.opposites(other, one))?;
        // As written, as far as one can tell: older parts first, but a chain of `xor` grows to the right.
        let chain = |formula| sign == Sign::Xor && matches!(self.formulae.node(formula), Node::Or(_));
        let turned = if chain(a) == chain(b) { b < a } else { chain(b) };
        Some(if turned { (sign, b, a) } else { (sign, a, b) })
    }

    /// Whether `all` is just what the negations of the two of `pair` have in common.
    fn opposites(&self, all: &[Formula], pair: &[Formula]) -> Option<(Sign, Formula, Formula)> {
        let &[one, other] = pair else { return None };
        let mut both = Vec::new();
        let mut opposite = |formula: Formula| match self.formulae.node(formula) {
            Node::Not(a) => {
                both.extend(window::operands(self.formulae, *a, true));
                Some((*a, true))
            }
            _ => {
                let negation = all.iter().find(|part| *self.formulae.node(**part) == Node::Not(formula))?;
                both.push(*negation);
                Some((formula, false))
            }
        };
        let ((a, a_negated), (b, b_negated)) = (opposite(one)?, opposite(other)?);
        both.sort_unstable();
        both.dedup();
        if both != all {
            return None;
        }
        match (a_negated == b_negated, self.style) {
            (true, _) => Some((Sign::Iff, a, b)),
            (false, Style::Spin) => {
                let (plain, negation) = if a_negated { (a, other) } else { (b, one) };
                let negation = all.iter().find(|part| *self.formulae.node(**part) == Node::Not(negation))?;
                Some((Sign::Iff, plain, *negation))
            }
            (false, _) => Some((Sign::Xor, a, b)),
        }
    }
}
