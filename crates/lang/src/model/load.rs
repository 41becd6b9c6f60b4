//! Loads a model from a file.

use super::actions::ActionBuilder;
use super::ast::{self, Item};
use super::check::{Checker, has_prime};
use super::declare::Declarations;
use super::effects::Scratch;
use super::parse_declarations::parse_items;
use super::scope::ModelScope;
use super::symbols::{NameKind, SymbolTable};
use super::syntax::{Expr, ExprKind, Path, Segment};
use super::temporal::never_claim_at;
use super::{Claim, ClaimBody, ModelFile};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_model::{Model, ModelParts, Predicate};
use std::rc::Rc;

/// The maximum number of nodes of a lowered model.
const MAX_NODES: usize = 1 << 22;

/// Loads a model. Returns a model if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::model::load;
/// let text = "
///     process Lamp {
///         state off { push: -> on; }
///         state on { push: -> off; }
///     }
///     invariant known: Lamp.off or Lamp.on
/// ";
/// let (loaded, diagnostics) = load(SourceId(0), text);
/// assert!(diagnostics.is_empty());
/// assert_eq!(loaded.unwrap().model.parts().actions[0].name, "Lamp: off → on");
///
/// let (loaded, diagnostics) = load(SourceId(0), "process Lamp { state off { -> onn; } state on }");
/// assert!(loaded.is_none());
/// assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `on`?"));
/// ```
pub fn load(source: SourceId, text: &str) -> (Option<ModelFile>, Vec<Diagnostic>) {
    load_with(source, text, &Options::default())
}

/// Options for loading a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Overrides the kind of all mailboxes.
    pub mailboxes: Option<MailboxKind>,
}

/// What happens to an event that a state does not handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailboxKind {
    /// It is dropped.
    Fifo,
    /// It stays in the mailbox, and later events are considered.
    Deferred,
}

/// As [`load`], with options.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::model::{MailboxKind, Options, load_with};
/// let text = "
///     enum Signal { go }
///     process Light { mailbox fifo[1] of Signal  state red { on go -> green; }  state green }
/// ";
/// let options = Options { mailboxes: Some(MailboxKind::Deferred) };
/// assert!(load_with(SourceId(0), text, &options).0.unwrap().has_mailboxes);
/// ```
pub fn load_with(source: SourceId, text: &str, options: &Options) -> (Option<ModelFile>, Vec<Diagnostic>) {
    let (mut items, diagnostics) = parse_items(source, text);
    if let Some(all) = options.mailboxes {
        mailboxes(&mut items).for_each(|mailbox| mailbox.is_deferred = all == MailboxKind::Deferred);
    }
    if !diagnostics.is_empty() {
        return (None, diagnostics);
    }
    let mut checker = Checker::new(MAX_NODES);
    let loaded = lower(source, text, &items, &mut checker);
    let mut diagnostics = checker.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    let has_errors = diagnostics.iter().any(Diagnostic::is_error);
    (loaded.filter(|_| !has_errors), diagnostics)
}

/// The mailboxes of all processes.
fn mailboxes(items: &mut [Item]) -> impl Iterator<Item = &mut ast::Mailbox> {
    items.iter_mut().filter_map(|item| match item {
        Item::Process(process) => Rc::make_mut(process).mailbox.as_mut(),
        _ => None,
    })
}

fn lower(source: SourceId, text: &str, items: &[Item], checker: &mut Checker) -> Option<ModelFile> {
    let mut declarations = Declarations::new(checker);
    declarations.declare_all(items);
    for item in items {
        if let Item::Predicate { name, body } = item {
            let symbols = &declarations.symbols;
            let meaning = match refers_to_steps(symbols, body) {
                true => NameKind::StepPredicate,
                false => {
                    let scope = ModelScope::top_level(symbols);
                    let found = declarations.checker.expect(&scope, body, &super::check::Type::Boolean);
                    found.map_or(NameKind::Broken, NameKind::Predicate)
                }
            };
            declarations.declare_name(name, meaning);
        }
    }
    let (mut symbols, mut parts) = (declarations.symbols, declarations.parts);
    let has_mailboxes = symbols.instances.iter().any(|instance| instance.mailbox.is_some());
    if symbols.instances.is_empty() && !checker.diagnostics.iter().any(Diagnostic::is_error) {
        let diagnostic = Diagnostic::error(Span::new(source, 0, 0), "the model has no processes");
        let help = "write `process P { state idle { … } }`";
        return checker.report(diagnostic.label("the model has no transitions").help(help));
    }
    let mut scratch = Scratch::new(parts.variables.iter().map(|variable| variable.domain.range()).collect());
    let mut actions = ActionBuilder::new(&symbols, checker, &mut scratch);
    actions.build_all();
    parts.actions = actions.actions;
    let spans = actions.spans;
    parts.variables.append(&mut scratch.variables);
    if checker.diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    let model = build_model(source, parts, checker)?;
    let (predicates, claims) = claims(items, &mut symbols, &model, checker);
    let model = build_model(source, ModelParts { predicates, ..model.parts().clone() }, checker)?;
    let claims = claims.into_iter().chain(temporal(source, text, items, &model, checker)).collect();
    Some(ModelFile { model, action_spans: spans, claims, has_mailboxes })
}

fn build_model(source: SourceId, parts: ModelParts, checker: &mut Checker) -> Option<Model> {
    match Model::new(parts) {
        Ok(model) => Some(model),
        Err(error) => {
            let diagnostic = Diagnostic::error(Span::new(source, 0, 0), error.to_string());
            checker.report(diagnostic.label("the model as a whole"))
        }
    }
}

/// Lowers predicates over steps and invariants, which can refer to actions.
fn claims(
    items: &[Item],
    symbols: &mut SymbolTable,
    model: &Model,
    checker: &mut Checker,
) -> (Vec<Predicate>, Vec<Claim>) {
    let (mut predicates, mut claims) = (Vec::new(), Vec::new());
    for item in items {
        let (name, body) = match item {
            Item::Predicate { name, body } | Item::Invariant { name, body } => (name, body),
            _ => continue,
        };
        let scope = ModelScope { model: Some(model), ..ModelScope::top_level(symbols) };
        let Some(expression) = checker.predicate(&scope, body) else { continue };
        if let Item::Invariant { .. } = item {
            let body = ClaimBody::Always(expression);
            claims.push(Claim { name: name.text.clone(), span: name.span, body, formula: None });
            continue;
        }
        if let Some(NameKind::StepPredicate) = symbols.names.get(&name.text) {
            let depth = body.depth * 2;
            let found = super::check::Typed {
                expression: expression.clone(),
                kind: super::check::Type::Boolean,
                depth,
            };
            symbols.names.insert(name.text.clone(), NameKind::Predicate(found));
        }
        predicates.push(Predicate { name: name.text.clone(), expression });
    }
    (predicates, claims)
}

/// Lowers temporal formulae.
fn temporal(
    source: SourceId,
    text: &str,
    items: &[Item],
    model: &Model,
    checker: &mut Checker,
) -> Vec<Claim> {
    let mut claims = Vec::new();
    for item in items {
        let Item::Temporal { name, formula } = item else { continue };
        let Some(syntax) = text.get(formula.start as usize..formula.end as usize) else { continue };
        match never_claim_at(model, (source, formula.start), syntax, &name.text) {
            Ok(omega) => {
                let (name, span) = (name.text.clone(), name.span);
                let formula = Some(syntax.to_owned());
                claims.push(Claim { name, span, body: ClaimBody::Never(omega), formula });
            }
            Err(diagnostics) => diagnostics.into_iter().for_each(|diagnostic| {
                checker.report::<()>(diagnostic);
            }),
        }
    }
    claims
}

/// Whether an expression refers to steps, directly or through a predicate.
fn refers_to_steps(symbols: &SymbolTable, syntax: &Expr) -> bool {
    has_prime(syntax) || mentions_steps(symbols, syntax)
}

fn mentions_steps(symbols: &SymbolTable, syntax: &Expr) -> bool {
    let in_path = |path: &Path| {
        let index =
            |segment: &Segment| matches!(segment, Segment::Index(index) if mentions_steps(symbols, index));
        matches!(symbols.names.get(&path.head.text), Some(NameKind::StepPredicate))
            || path.rest.iter().any(index)
    };
    match &syntax.kind {
        ExprKind::Number(_) | ExprKind::Boolean(_) => false,
        ExprKind::Path(path) => in_path(path),
        ExprKind::Unary(_, operand) => mentions_steps(symbols, operand),
        ExprKind::Binary(_, operands) => {
            mentions_steps(symbols, &operands.0) || mentions_steps(symbols, &operands.1)
        }
        ExprKind::All(parts) | ExprKind::Any(parts) => parts.iter().any(|part| mentions_steps(symbols, part)),
        ExprKind::If(parts) => {
            [&parts.0, &parts.1, &parts.2].into_iter().any(|part| mentions_steps(symbols, part))
        }
        ExprKind::Quantifier { body, .. } => mentions_steps(symbols, body),
        ExprKind::Call { name, .. } => matches!(name.text.as_str(), "enabled" | "happens"),
    }
}
