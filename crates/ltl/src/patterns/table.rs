//! The specification patterns as formulae. Their placeholders are `p`, `s`, `t` and `z` for the formulae of the pattern, and
//! `q` and `r` for the start and the end of the scope.

use super::Pattern::{self, *};
use super::Scope::{self, *};
use super::normal_form::NormalForms;
use crate::Budget;
use crate::formula::Formula;
use std::sync::LazyLock;

/// The placeholders for formulae.
pub(super) const PLACEHOLDERS: [&str; 6] = ["p", "q", "r", "s", "t", "z"];

/// Template of a pattern in a scope.
pub(super) struct Template {
    pub(super) pattern: Pattern,
    pub(super) scope: Scope,
    pub(super) formula: Formula,
}

/// All templates, in the normal form that is used for matching.
pub(super) struct PatternTable {
    pub(super) normal: NormalForms,
    pub(super) templates: Vec<Template>,
}

pub(super) static TABLE: LazyLock<PatternTable> = LazyLock::new(|| {
    let mut normal = NormalForms::new(&Budget::default());
    let mut source = crate::formula::Formulae::new(&Budget::default());
    // The numbers of the first atoms are the indices of the placeholders.
    for placeholder in PLACEHOLDERS {
        let atom = crate::formula::Proposition::Name(placeholder.to_owned());
        normal.formulae.atom_for(atom.clone());
        source.atom_for(atom);
    }
    let mut templates = Vec::new();
    for (pattern, scope, text) in TEMPLATES {
        // A test checks that no template is skipped here.
        let Ok(formula) = source.parse(text) else { continue };
        let Ok(formula) = normal.of(&source, formula) else { continue };
        templates.push(Template { pattern: *pattern, scope: *scope, formula });
    }
    PatternTable { normal, templates }
});

/// The texts of the templates, by priority: of equally good matches, the first one is taken.
pub(super) const TEMPLATES: &[(Pattern, Scope, &str)] = &[
    (Universality, Globally, "G p"),
    (Universality, Before, "F r -> p U r"),
    (Universality, After, "G(q -> G p)"),
    (Universality, Between, "G(q & !r & F r -> p U r)"),
    (Universality, AfterUntil, "G(q & !r -> p W r)"),
    (Absence, Globally, "G !p"),
    (Absence, Before, "F r -> !p U r"),
    (Absence, After, "G(q -> G !p)"),
    (Absence, Between, "G(q & !r & F r -> !p U r)"),
    (Absence, AfterUntil, "G(q & !r -> !p W r)"),
    (Existence, Globally, "F p"),
    (Existence, Before, "!r W (p & !r)"),
    (Existence, After, "G !q | F(q & F p)"),
    (Existence, Between, "G(q & !r -> !r W (p & !r))"),
    (Existence, AfterUntil, "G(q & !r -> !r U (p & !r))"),
    (BoundedExistence, Globally, "!p W p W !p W p W G !p"),
    (
        BoundedExistence,
        Before,
        "F r -> (!p & !r) U (r | (p & !r) U (r | (!p & !r) U (r | (p & !r) U (r | !p U r))))",
    ),
    (BoundedExistence, After, "F q -> !q U (q & (!p W p W !p W p W G !p))"),
    (
        BoundedExistence,
        Between,
        "G(q & F r -> (!p & !r) U (r | (p & !r) U (r | (!p & !r) U (r | (p & !r) U (r | !p U r)))))",
    ),
    (
        BoundedExistence,
        AfterUntil,
        "G(q -> (!p & !r) U (r | (p & !r) U (r | (!p & !r) U (r | (p & !r) U (r | !p W r | G p)))))",
    ),
    (Precedence, Globally, "!p W s"),
    (Precedence, Before, "F r -> !p U (s | r)"),
    (Precedence, After, "G !q | F(q & (!p W s))"),
    (Precedence, Between, "G(q & !r & F r -> !p U (s | r))"),
    (Precedence, AfterUntil, "G(q & !r -> !p W (s | r))"),
    (Response, Globally, "G(p -> F s)"),
    (Response, Before, "F r -> (p -> !r U (s & !r)) U r"),
    (Response, After, "G(q -> G(p -> F s))"),
    (Response, Between, "G(q & !r & F r -> (p -> !r U (s & !r)) U r)"),
    (Response, AfterUntil, "G(q & !r -> (p -> !r U (s & !r)) W r)"),
    (PrecedenceChain, Globally, "F p -> !p U (s & !p & X(!p U t))"),
    (PrecedenceChain, Before, "F r -> !p U (r | s & !p & X(!p U t))"),
    (PrecedenceChain, After, "G !q | !q U (q & F p -> !p U (s & !p & X(!p U t)))"),
    (PrecedenceChain, After, "G !q | !q U (q & (F p -> !p U (s & !p & X(!p U t))))"),
    (PrecedenceChain, Between, "G(q & F r -> !p U (r | s & !p & X(!p U t)))"),
    (PrecedenceChain, AfterUntil, "G(q -> (F p -> !p U (r | s & !p & X(!p U t))))"),
    (ChainPrecedence, Globally, "F(s & X F t) -> !s U p"),
    (ChainPrecedence, Before, "F r -> !(s & !r & X(!r U (t & !r))) U (r | p)"),
    (ChainPrecedence, After, "G !q | !q U (q & (F(s & X F t) -> !s U p))"),
    (ChainPrecedence, Between, "G(q & F r -> !(s & !r & X(!r U (t & !r))) U (r | p))"),
    (ChainPrecedence, AfterUntil, "G(q -> !(s & !r & X(!r U (t & !r))) U (r | p) | G !(s & X F t))"),
    (ChainResponse, Globally, "G(s & X F t -> X F(t & F p))"),
    (ChainResponse, Before, "F r -> (s & X(!r U t) -> X(!r U (t & F p))) U r"),
    (ChainResponse, After, "G(q -> G(s & X F t -> X(!t U (t & F p))))"),
    (ChainResponse, Between, "G(q & F r -> (s & X(!r U t) -> X(!r U (t & F p))) U r)"),
    (
        ChainResponse,
        AfterUntil,
        "G(q -> (s & X(!r U t) -> X(!r U (t & F p))) U (r | G(s & X(!r U t) -> X(!r U (t & F p)))))",
    ),
    (ResponseChain, Globally, "G(p -> F(s & X F t))"),
    (ResponseChain, Before, "F r -> (p -> !r U (s & !r & X(!r U t))) U r"),
    (ResponseChain, After, "G(q -> G(p -> F(s & X F t)))"),
    // As published: the first response holds at the same position.
    (ResponseChain, After, "G(q -> G(p -> s & X F t))"),
    (ResponseChain, Between, "G(q & F r -> (p -> !r U (s & !r & X(!r U t))) U r)"),
    (ResponseChain, AfterUntil, "G(q -> (p -> !r U (s & !r & X(!r U t))) U (r | G(p -> s & X F t)))"),
    (ConstrainedResponseChain, Globally, "G(p -> F(s & !z & X(!z U t)))"),
    (ConstrainedResponseChain, Before, "F r -> (p -> !r U (s & !r & !z & X((!r & !z) U t))) U r"),
    (ConstrainedResponseChain, After, "G(q -> G(p -> F(s & !z & X(!z U t))))"),
    (ConstrainedResponseChain, After, "G(q -> G(p -> s & !z & X(!z U t)))"),
    (ConstrainedResponseChain, Between, "G(q & F r -> (p -> !r U (s & !r & !z & X((!r & !z) U t))) U r)"),
    (
        ConstrainedResponseChain,
        AfterUntil,
        "G(q -> (p -> !r U (s & !r & !z & X((!r & !z) U t))) U (r | G(p -> s & !z & X(!z U t))))",
    ),
    (Recurrence, Globally, "G F p"),
    (Persistence, Globally, "F G p"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_valid_and_distinct() {
        assert_eq!(TABLE.templates.len(), TEMPLATES.len());
        let mut formulae: Vec<Formula> = TABLE.templates.iter().map(|template| template.formula).collect();
        formulae.sort_unstable();
        formulae.dedup();
        assert_eq!(formulae.len(), TEMPLATES.len());
    }
}
