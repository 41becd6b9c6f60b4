//! Rendering of single operators. Operands are rendered by the caller, iteratively, because formulae can be deep.

use super::expansion::{self, Expansion, Expansions};
use super::style::{Style, Symbol};
use crate::formula::{Formula, Formulae, Node, Proposition};
use crate::syntax;
use std::borrow::Cow;

/// Operand as it is printed.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Formula(Formula),
    /// The disjunction of at least two formulae.
    Disjunction(Vec<Formula>),
    /// A bounded operator with the ends of its bound and its operand.
    Bounded(Symbol, usize, usize, Formula),
}

/// Part of a rendered operator.
pub(super) enum Fragment {
    Text(Cow<'static, str>),
    /// An operand, in parentheses if its precedence is lower than this.
    Operand(Operand, u8),
    /// As `Operand`, with a space in front if there are no parentheses.
    SpacedOperand(Operand, u8),
}

impl Fragment {
    pub(super) fn text(text: &'static str) -> Fragment {
        Fragment::Text(Cow::Borrowed(text))
    }
}

/// Rendered operator with the precedence of the result.
pub(super) struct Rendering {
    pub(super) precedence: u8,
    pub(super) fragments: Vec<Fragment>,
}

// Precedences, from loose to tight.
const IMPLIES: u8 = 0;
const OR: u8 = 1;
const XOR: u8 = 2;
const AND: u8 = 3;
const TEMPORAL: u8 = 4;
const UNARY: u8 = 5;
const ATOM: u8 = 6;

/// From this many equal steps on, they are printed with a count: `X[3] a`.
const MIN_COUNTED_STEPS: usize = 3;

/// Minimum width of a bound; shorter ones stay expanded.
const MIN_BOUND_WIDTH: usize = 2;

/// Printer for one formula, which finds bounded operators in it.
pub(crate) struct Printer<'a> {
    formulae: &'a Formulae,
    style: Style,
    expansions: Expansions,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(formulae: &'a Formulae, formula: Formula, style: Style) -> Printer<'a> {
        let expansions = if style.has_bounds() {
            expansion::find_expansions(formulae, formula)
        } else {
            Expansions::default()
        };
        Printer { formulae, style, expansions }
    }

    /// Returns the precedence of an operand.
    pub(super) fn precedence(&self, operand: &Operand) -> u8 {
        match operand {
            Operand::Formula(formula) => match self.formulae.node(*formula) {
                Node::Atom(_) | Node::True | Node::False => ATOM,
                Node::Or(_) | Node::And(_) | Node::Not(_) => self.render(operand.clone()).precedence,
                node if node.parts().len() == 2 => TEMPORAL,
                _ => UNARY,
            },
            _ => self.render(operand.clone()).precedence,
        }
    }

    /// Renders the outermost operator of an operand.
    pub(super) fn render(&self, operand: Operand) -> Rendering {
        match operand {
            Operand::Formula(formula) => self.render_formula(formula),
            Operand::Disjunction(parts) => self.disjunction(&parts),
            Operand::Bounded(symbol, from, to, part) => {
                let bound = self.style.bound(from, to);
                self.prefix(Cow::Owned(self.style.symbol(symbol).to_owned() + &bound), part)
            }
        }
    }

    fn render_formula(&self, formula: Formula) -> Rendering {
        if let Some(bounded) = self.bounded_operator(formula) {
            return self.render(bounded);
        }
        let temporal = |symbol, [a, b]: [Formula; 2]| self.temporal(symbol, a, b);
        let unary = |symbol, a: Formula| self.unary(symbol, a);
        match self.formulae.node(formula) {
            Node::True => self.leaf(Cow::Borrowed(self.style.symbol(Symbol::True))),
            Node::False => self.leaf(Cow::Borrowed(self.style.symbol(Symbol::False))),
            Node::Atom(atom) => self.leaf(Cow::Owned(self.atom(self.formulae.proposition(*atom)))),
            Node::Not(a) => unary(Symbol::Not, *a),
            Node::And(parts) => self.conjunction(parts),
            Node::Or(parts) => match self.equivalence(parts) {
                Some((symbol, a, b)) => self.infix(symbol, vec![Operand::Formula(a), Operand::Formula(b)]),
                None => self.disjunction(parts),
            },
            Node::Next(a) => self.steps(Symbol::Next, formula, *a),
            Node::Finally(a) => unary(Symbol::Finally, *a),
            Node::Globally(a) => unary(Symbol::Globally, *a),
            Node::Until(both) => temporal(Symbol::Until, *both),
            Node::Release(both) => temporal(Symbol::Release, *both),
            Node::WeakUntil(both) => temporal(Symbol::WeakUntil, *both),
            Node::StrongRelease(both) => self.strong_release(*both),
            Node::Yesterday(a) => self.steps(Symbol::Yesterday, formula, *a),
            Node::WeakYesterday(a) => self.steps(Symbol::WeakYesterday, formula, *a),
            Node::Once(a) => unary(Symbol::Once, *a),
            Node::Historically(a) => unary(Symbol::Historically, *a),
            Node::Since(both) => temporal(Symbol::Since, *both),
            Node::Triggered(both) => temporal(Symbol::Triggered, *both),
        }
    }

    fn leaf(&self, text: Cow<'static, str>) -> Rendering {
        Rendering { precedence: ATOM, fragments: vec![Fragment::Text(text)] }
    }

    fn atom(&self, proposition: &Proposition) -> String {
        let written = syntax::atom(proposition);
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        match proposition {
            Proposition::Expression(_) => written,
            // Spot requires double quotes for names that are not identifiers.
            _ if self.style == Style::Spot && !written.chars().all(is_plain) => {
                syntax::atom(&Proposition::Expression(proposition.to_string()))
            }
            _ => written,
        }
    }

    fn unary(&self, symbol: Symbol, a: Formula) -> Rendering {
        self.prefix(Cow::Borrowed(self.style.symbol(symbol)), a)
    }

    fn prefix(&self, text: Cow<'static, str>, a: Formula) -> Rendering {
        // Letters and bounds are separated from the operand by a space.
        let spaced = text.ends_with(|last: char| last.is_ascii_alphabetic() || last == ']') && text != "[]";
        let fragment = if spaced { Fragment::SpacedOperand } else { Fragment::Operand };
        Rendering {
            precedence: UNARY,
            fragments: vec![Fragment::Text(text), fragment(Operand::Formula(a), UNARY)],
        }
    }

    /// Renders a sequence of equal steps, such as `X X X a`.
    fn steps(&self, symbol: Symbol, formula: Formula, a: Formula) -> Rendering {
        if !self.style.has_bounds() {
            return self.unary(symbol, a);
        }
        let (inner, count) = self.strip_steps(formula);
        if count < MIN_COUNTED_STEPS {
            return self.unary(symbol, a);
        }
        self.prefix(Cow::Owned(format!("{}[{count}]", self.style.symbol(symbol))), inner)
    }

    /// Removes leading steps of the same kind, and counts them.
    fn strip_steps(&self, formula: Formula) -> (Formula, usize) {
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

    /// Returns the bounded operator of which the formula is the expansion.
    pub(crate) fn bounded_operator(&self, formula: Formula) -> Option<Operand> {
        if self.expansions.is_empty() {
            return None;
        }
        let (inner, negated) = match self.formulae.node(formula) {
            Node::Not(a) => (*a, true),
            _ => (formula, false),
        };
        let (core, from) = self.strip_steps(inner);
        let Expansion { symbol, operand, to } =
            *self.expansions.get(&core).filter(|expansion| expansion.to >= MIN_BOUND_WIDTH)?;
        let step = match self.formulae.node(inner) {
            Node::Next(_) => Some(Symbol::Finally),
            Node::Yesterday(_) => Some(Symbol::Once),
            Node::WeakYesterday(_) => Some(Symbol::Historically),
            _ => None,
        };
        if step.is_some_and(|step| step != symbol) {
            return None;
        }
        match (negated, symbol, self.formulae.node(operand)) {
            (false, ..) => Some(Operand::Bounded(symbol, from, from + to, operand)),
            (true, Symbol::Finally, Node::Not(a)) => {
                Some(Operand::Bounded(Symbol::Globally, from, from + to, *a))
            }
            _ => None,
        }
    }

    fn temporal(&self, symbol: Symbol, a: Formula, b: Formula) -> Rendering {
        // A chain of the same operator needs no parentheses; mixed operators get them for clarity.
        let chain = match (symbol, self.formulae.node(b)) {
            (Symbol::Until, Node::Until(_))
            | (Symbol::WeakUntil, Node::WeakUntil(_))
            | (Symbol::Release, Node::Release(_))
            | (Symbol::StrongRelease, Node::StrongRelease(_))
            | (Symbol::Since, Node::Since(_))
            | (Symbol::Triggered, Node::Triggered(_)) => TEMPORAL,
            _ => UNARY,
        };
        let symbol = Fragment::Text(format!(" {} ", self.style.symbol(symbol)).into());
        let fragments = vec![
            Fragment::Operand(Operand::Formula(a), UNARY),
            symbol,
            Fragment::Operand(Operand::Formula(b), chain),
        ];
        Rendering { precedence: TEMPORAL, fragments }
    }

    fn strong_release(&self, [a, b]: [Formula; 2]) -> Rendering {
        if self.style != Style::Spin {
            return self.temporal(Symbol::StrongRelease, a, b);
        }
        let part = |operand: Formula, precedence| Fragment::Operand(Operand::Formula(operand), precedence);
        let text = Fragment::text;
        let fragments =
            vec![part(b, UNARY), text(" U ("), part(a, TEMPORAL), text(" && "), part(b, TEMPORAL), text(")")];
        Rendering { precedence: TEMPORAL, fragments }
    }

    /// Renders a conjunction.
    fn conjunction(&self, parts: &[Formula]) -> Rendering {
        self.infix(Symbol::And, self.merged_operands(parts, true))
    }

    /// Renders a disjunction; as an implication if exactly one operand is negated, or both of two.
    fn disjunction(&self, parts: &[Formula]) -> Rendering {
        let operands = self.merged_operands(parts, false);
        if let [alone] = &operands[..] {
            return self.render(alone.clone());
        }
        let negated: Vec<(usize, Formula)> = operands
            .iter()
            .enumerate()
            .filter_map(|(at, operand)| match operand {
                Operand::Formula(formula) if self.bounded_operator(*formula).is_none() => {
                    match self.formulae.node(*formula) {
                        Node::Not(a) => Some((at, *a)),
                        _ => None,
                    }
                }
                _ => None,
            })
            .collect();
        if negated.len() > 1 && operands.len() > 2 {
            return self.infix(Symbol::Or, operands);
        }
        // The smaller index was probably written first.
        let Some(&(at, premise)) = negated.iter().min_by_key(|(_, premise)| *premise) else {
            return self.infix(Symbol::Or, operands);
        };
        let conclusion = match operands.len() {
            2 => operands[1 - at].clone(),
            _ => {
                let premise = self.formulae.node(premise);
                let is_premise = |part: &Formula| match self.formulae.node(*part) {
                    Node::Not(a) => self.formulae.node(*a) == premise,
                    _ => false,
                };
                Operand::Disjunction(parts.iter().copied().filter(|part| !is_premise(part)).collect())
            }
        };
        self.infix(Symbol::Implies, vec![Operand::Formula(premise), conclusion])
    }

    /// Returns the operands of a conjunction or disjunction, with the expansion of a bounded operator merged into one.
    pub(crate) fn merged_operands(&self, parts: &[Formula], and: bool) -> Vec<Operand> {
        let whole = || parts.iter().map(|part| Operand::Formula(*part)).collect();
        let bound = parts.iter().find_map(|part| {
            let (symbol, inner) = expansion::step(self.formulae, *part, and)?;
            let expansion = self.expansions.get(&inner).filter(|expansion| expansion.symbol == symbol)?;
            let mut first = expansion::operands(self.formulae, expansion.operand, and);
            let all = first.all(|operand| operand != *part && parts.binary_search(&operand).is_ok());
            all.then_some((*part, *expansion))
        });
        let Some((last, Expansion { symbol, operand, to })) = bound else { return whole() };
        let mut merged: Vec<Formula> =
            expansion::operands(self.formulae, operand, and).chain([last]).collect();
        merged.sort_unstable();
        let rest = parts.iter().filter(|part| merged.binary_search(part).is_err());
        let mut all: Vec<Operand> = rest.map(|part| Operand::Formula(*part)).collect();
        all.push(Operand::Bounded(symbol, 0, to + 1, operand));
        all
    }

    fn infix(&self, symbol: Symbol, operands: Vec<Operand>) -> Rendering {
        if let [alone] = &operands[..] {
            return self.render(alone.clone());
        }
        let (precedence, first, others) = match symbol {
            Symbol::Implies | Symbol::Iff => (IMPLIES, OR, OR),
            Symbol::Or => (OR, XOR, XOR),
            Symbol::Xor => (XOR, XOR, AND),
            _ => (AND, TEMPORAL, TEMPORAL),
        };
        let text = format!(" {} ", self.style.symbol(symbol));
        let mut fragments = Vec::with_capacity(2 * operands.len());
        for (at, operand) in operands.into_iter().enumerate() {
            if at > 0 {
                fragments.push(Fragment::Text(Cow::Owned(text.clone())));
            }
            fragments.push(Fragment::Operand(operand, if at > 0 { others } else { first }));
        }
        Rendering { precedence, fragments }
    }

    /// Returns the sides of the equivalence or `xor` of which a disjunction is the expansion: `a & b | !a & !b`.
    fn equivalence(&self, parts: &[Formula]) -> Option<(Symbol, Formula, Formula)> {
        let &[one, other] = parts else { return None };
        let (Node::And(one), Node::And(other)) = (self.formulae.node(one), self.formulae.node(other)) else {
            return None;
        };
        let (symbol, a, b) = self.opposites(one, other).or_else(|| self.opposites(other, one))?;
        // Restores the probable source order: smaller indices first, except that a chain of `xor` is the left operand.
        let chain = |formula| symbol == Symbol::Xor && matches!(self.formulae.node(formula), Node::Or(_));
        let swapped = if chain(a) == chain(b) { b < a } else { chain(b) };
        Some(if swapped { (symbol, b, a) } else { (symbol, a, b) })
    }

    /// Returns the sides of an equivalence or `xor` if `all` is the conjunction of the negations of both formulae in
    /// `pair`.
    fn opposites(&self, all: &[Formula], pair: &[Formula]) -> Option<(Symbol, Formula, Formula)> {
        let &[one, other] = pair else { return None };
        let mut both = Vec::new();
        let mut opposite = |formula: Formula| match self.formulae.node(formula) {
            Node::Not(a) => {
                both.extend(expansion::operands(self.formulae, *a, true));
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
            (true, _) => Some((Symbol::Iff, a, b)),
            (false, Style::Spin) => {
                let (plain, negation) = if a_negated { (a, other) } else { (b, one) };
                let negation = all.iter().find(|part| *self.formulae.node(**part) == Node::Not(negation))?;
                Some((Symbol::Iff, plain, *negation))
            }
            (false, _) => Some((Symbol::Xor, a, b)),
        }
    }
}
