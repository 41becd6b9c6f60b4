//! The laws of `&` and `|`: operators that stand side by side are brought together, what is implied is left out.

use super::Simplifier;
use crate::TooLarge;
use crate::formula::{Formula, Node};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

type Made = Result<Formula, TooLarge>;

/// More operands than this are not compared with each other.
const COMPARED: usize = 40;

/// What operands have in common that can be brought together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Family {
    /// `X a`
    Next,
    /// `G a` in a conjunction, `F a` in a disjunction.
    Always,
    /// `F G a` in a conjunction, `G F a` in a disjunction.
    Lasting,
    /// `a U c` or `a W c` in a conjunction, `c U a` or `c W a` in a disjunction: by `c`.
    Until(Formula),
    /// `c R a` or `c M a` in a conjunction, `a R c` or `a M c` in a disjunction: by `c`.
    Release(Formula),
    /// Anything else.
    Alone(Formula),
}

impl Simplifier<'_> {
    /// All of these.
    pub(super) fn and(&mut self, parts: Vec<Formula>) -> Made {
        self.combine(parts, true)
    }

    /// Some of these.
    pub(super) fn or(&mut self, parts: Vec<Formula>) -> Made {
        self.combine(parts, false)
    }

    fn plain(&mut self, parts: impl IntoIterator<Item = Formula>, and: bool) -> Made {
        if and { self.logic.formulae.and(parts) } else { self.logic.formulae.or(parts) }
    }

    fn operands(&self, formula: Formula, and: bool) -> Option<Vec<Formula>> {
        match self.node(formula) {
            Node::And(all) if and => Some(all.to_vec()),
            Node::Or(all) if !and => Some(all.to_vec()),
            _ => None,
        }
    }

    fn combine(&mut self, parts: Vec<Formula>, and: bool) -> Made {
        let made = self.plain(parts, and)?;
        let Some(parts) = self.operands(made, and) else { return Ok(made) };
        let Some(made) = self.deeper(|this| this.together(parts, and).map(Some))? else { return Ok(made) };
        let Some(parts) = self.operands(made, and) else { return Ok(made) };
        if parts.len() > COMPARED {
            return Ok(made);
        }
        let Some(parts) = self.needed(parts, and)? else { return Ok(self.logic.formulae.constant(!and)) };
        let made = self.plain(parts, and)?;
        let Some(parts) = self.operands(made, and) else { return Ok(made) };
        Ok(self.deeper(|this| this.shortened(parts, and))?.unwrap_or(made))
    }

    /// Brings families together.
    fn together(&mut self, parts: Vec<Formula>, and: bool) -> Made {
        let mut families: IndexMap<Family, Vec<Formula>, FxBuildHasher> = IndexMap::default();
        for part in &parts {
            families.entry(self.family(*part, and)).or_default().push(*part);
        }
        let mut made = Vec::new();
        for (family, members) in families {
            if members.len() == 1 {
                made.extend(members);
                continue;
            }
            let nodes: Vec<Node> = members.iter().map(|part| self.node(*part).clone()).collect();
            let inner = |at: usize| nodes.iter().filter_map(move |node| node.parts().get(at).copied());
            made.push(match family {
                Family::Next => {
                    let all = inner(0).collect();
                    let all = self.combine(all, and)?;
                    self.next(all)?
                }
                Family::Always => {
                    let all = inner(0).collect();
                    let all = self.combine(all, and)?;
                    if and { self.globally(all)? } else { self.finally(all)? }
                }
                Family::Lasting => {
                    let under: Vec<Formula> = inner(0).collect();
                    let all = under.iter().filter_map(|part| self.node(*part).parts().first().copied());
                    let all = all.collect();
                    let all = self.combine(all, and)?;
                    if and {
                        let stays = self.globally(all)?;
                        self.finally(stays)?
                    } else {
                        let comes = self.finally(all)?;
                        self.globally(comes)?
                    }
                }
                Family::Until(shared) => {
                    let all = self.combine(inner(usize::from(!and)).collect(), and)?;
                    let weak = |node: &Node| matches!(node, Node::WeakUntil(_));
                    // One that must come makes all come; one that may last makes the whole last.
                    let is_weak = if and { nodes.iter().all(weak) } else { nodes.iter().any(weak) };
                    let (a, b) = if and { (all, shared) } else { (shared, all) };
                    if is_weak { self.weak_until(a, b)? } else { self.until(a, b)? }
                }
                Family::Release(shared) => {
                    let all = self.combine(inner(usize::from(and)).collect(), and)?;
                    let weak = |node: &Node| matches!(node, Node::Release(_));
                    let is_weak = if and { nodes.iter().all(weak) } else { nodes.iter().any(weak) };
                    let (a, b) = if and { (shared, all) } else { (all, shared) };
                    if is_weak { self.release(a, b)? } else { self.strong_release(a, b)? }
                }
                Family::Alone(part) => part,
            });
        }
        self.pairs(made, and)
    }

    fn family(&self, part: Formula, and: bool) -> Family {
        let under = |inner: &Formula| self.node(*inner);
        match (self.node(part), and) {
            (Node::Next(_), _) => Family::Next,
            (Node::Finally(a), true) if matches!(under(a), Node::Globally(_)) => Family::Lasting,
            (Node::Globally(a), false) if matches!(under(a), Node::Finally(_)) => Family::Lasting,
            (Node::Globally(a), true) if !matches!(under(a), Node::Finally(_)) => Family::Always,
            (Node::Finally(a), false) if !matches!(under(a), Node::Globally(_)) => Family::Always,
            (Node::Until([_, shared]) | Node::WeakUntil([_, shared]), true)
            | (Node::Until([shared, _]) | Node::WeakUntil([shared, _]), false) => Family::Until(*shared),
            (Node::Release([shared, _]) | Node::StrongRelease([shared, _]), true)
            | (Node::Release([_, shared]) | Node::StrongRelease([_, shared]), false) => {
                Family::Release(*shared)
            }
            _ => Family::Alone(part),
        }
    }

    /// `(a W b) & F b = a U b`, `(a R b) & F a = a M b`; `(a U b) | G a = a W b`, `(a M b) | G b = a R b`.
    fn pairs(&mut self, parts: Vec<Formula>, and: bool) -> Made {
        let mut made = Vec::with_capacity(parts.len());
        for part in &parts {
            let partner = |inner: Formula| {
                parts.iter().any(|other| match (self.node(*other), and) {
                    (Node::Finally(a), true) | (Node::Globally(a), false) => *a == inner,
                    _ => false,
                })
            };
            made.push(match (self.node(*part), and) {
                (&Node::WeakUntil([a, b]), true) if partner(b) => self.until(a, b)?,
                (&Node::Release([a, b]), true) if partner(a) => self.strong_release(a, b)?,
                (&Node::Until([a, b]), false) if partner(a) => self.weak_until(a, b)?,
                (&Node::StrongRelease([a, b]), false) if partner(b) => self.release(a, b)?,
                _ => *part,
            });
        }
        let mut at = 0;
        while at < made.len() {
            if let Some((other, whole)) = self.first_time(made[at], and)?
                && let Some(other) = made.iter().position(|part| *part == other)
            {
                made[at] = whole;
                made.remove(other);
                at = 0;
            } else {
                at += 1;
            }
        }
        self.plain(made, and)
    }

    /// For `a U (b & e)` in a disjunction, with `e` eventual: `!a R !b`, and what both are together, which is that
    /// `e` holds the first time that `b` does. For `a R (b | u)` in a conjunction the same upside down.
    fn first_time(&mut self, part: Formula, and: bool) -> Result<Option<(Formula, Formula)>, TooLarge> {
        let (a, inner) = match (self.node(part), and) {
            (Node::Until([a, inner]), false) | (Node::Release([a, inner]), true) => (*a, *inner),
            (Node::Finally(inner), false) => (Formula::TRUE, *inner),
            (Node::Globally(inner), true) => (Formula::FALSE, *inner),
            _ => return Ok(None),
        };
        let Some(all) = self.operands(inner, !and) else { return Ok(None) };
        let (any, event): (Vec<Formula>, Vec<Formula>) = all.iter().partition(|part| {
            let kind = self.kind(**part);
            if and { kind.universal } else { kind.eventual }
        });
        if any.is_empty() || event.is_empty() {
            return Ok(None);
        }
        let (b, any) = (self.plain(event, !and)?, self.plain(any, !and)?);
        let (not_a, not_b) = (self.negation(a)?, self.negation(b)?);
        let other = match (a, and) {
            (Formula::TRUE, false) => self.logic.formulae.globally(not_b)?,
            (Formula::FALSE, true) => self.logic.formulae.finally(not_b)?,
            (_, false) => self.logic.formulae.release(not_a, not_b)?,
            (_, true) => self.logic.formulae.until(not_a, not_b)?,
        };
        let (left, right) = (self.combine(vec![not_a, b], and)?, self.combine(vec![not_b, any], and)?);
        let whole = if and { self.until(left, right)? } else { self.release(left, right)? };
        Ok(Some((other, whole)))
    }

    /// The operands that others do not make superfluous; none if two of them decide the whole.
    fn needed(&mut self, mut parts: Vec<Formula>, and: bool) -> Result<Option<Vec<Formula>>, TooLarge> {
        let mut at = 0;
        'parts: while at < parts.len() {
            for other in 0..parts.len() {
                if other == at {
                    continue;
                }
                let (a, b) = (parts[at], parts[other]);
                if if and { self.excludes(a, b)? } else { self.covers(a, b)? } {
                    return Ok(None);
                }
                if if and { self.implies(b, a)? } else { self.implies(a, b)? } {
                    parts.remove(at);
                    continue 'parts;
                }
            }
            at += 1;
        }
        Ok(Some(parts))
    }

    /// Alternatives that another condition excludes are left out (`a & (!a | b) = a & b`), and so is what it
    /// asks for already (`a & (a & b | c) = a & (b | c)`); and upside down.
    fn shortened(&mut self, parts: Vec<Formula>, and: bool) -> Result<Option<Formula>, TooLarge> {
        let mut made = parts.clone();
        for at in 0..made.len() {
            let Some(inner) = self.operands(made[at], !and) else { continue };
            let mut kept = Vec::new();
            'inner: for choice in &inner {
                let mut rest = self.operands(*choice, and).unwrap_or_default();
                for (other, part) in made.iter().enumerate() {
                    if other == at {
                        continue;
                    }
                    if if and { self.excludes(*choice, *part)? } else { self.covers(*choice, *part)? } {
                        continue 'inner;
                    }
                    let mut index = 0;
                    while index < rest.len() {
                        let (asked, part) = if and { (*part, rest[index]) } else { (rest[index], *part) };
                        if self.implies(asked, part)? {
                            rest.remove(index);
                        } else {
                            index += 1;
                        }
                    }
                }
                kept.push(match self.operands(*choice, and) {
                    Some(all) if all.len() > rest.len() => self.combine(rest, and)?,
                    _ => *choice,
                });
            }
            if kept != inner {
                made[at] = self.combine(kept, !and)?;
            }
        }
        if made == parts { Ok(None) } else { self.combine(made, and).map(Some) }
    }
}
