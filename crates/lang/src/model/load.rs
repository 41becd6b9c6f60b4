//! A file becomes a model.

use super::actions::Actions;
use super::ast::{self, Item};
use super::check::{Checker, has_prime};
use super::declare::Declarations;
use super::effects::Scratch;
use super::read::read;
use super::scope::Here;
use super::syntax::{Expr, Path, Segment, Shape};
use super::temporal::never_at;
use super::world::{Meaning, World};
use super::{Claim, Loaded, What};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_model::{Model, Parts, Predicate};
use std::rc::Rc;

/// How many nodes a model may become.
const ROOM: usize = 1 << 22;

/// Reads a model. There is none if there are errors; warnings may come with one.
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
/// let (loaded, problems) = load(SourceId(0), text);
/// assert!(problems.is_empty());
/// assert_eq!(loaded.unwrap().model.parts().actions[0].name, "Lamp: off → on");
///
/// let (loaded, problems) = load(SourceId(0), "process Lamp { state off { -> onn; } state on }");
/// assert!(loaded.is_none());
/// assert_eq!(problems[0].help.as_deref(), Some("did you mean `on`?"));
/// ```
pub fn load(source: SourceId, text: &str) -> (Option<Loaded>, Vec<Diagnostic>) {
    load_with(source, text, &Options::default())
}

/// How to read a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What all mailboxes are, whatever the file says of each.
    pub mailboxes: Option<Mailboxes>,
}

/// What becomes of an event that a state does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mailboxes {
    /// It is dropped.
    Fifo,
    /// It stays, and those behind it are looked at.
    Deferred,
}

/// The same, with options.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::model::{Mailboxes, Options, load_with};
/// let text = "
///     enum Signal { go }
///     process Light { mailbox fifo[1] of Signal  state red { on go -> green; }  state green }
/// ";
/// let options = Options { mailboxes: Some(Mailboxes::Deferred) };
/// assert!(load_with(SourceId(0), text, &options).0.unwrap().has_mailboxes);
/// ```
pub fn load_with(source: SourceId, text: &str, options: &Options) -> (Option<Loaded>, Vec<Diagnostic>) {
    let (mut items, problems) = read(source, text);
    if let Some(all) = options.mailboxes {
        mailboxes(&mut items).for_each(|mailbox| mailbox.is_deferred = all == Mailboxes::Deferred);
    }
    if !problems.is_empty() {
        return (None, problems);
    }
    let mut checker = Checker::new(ROOM);
    let loaded = lower(source, text, &items, &mut checker);
    let mut problems = checker.problems;
    problems.sort_by_key(|problem| problem.span.start);
    let is_wrong = problems.iter().any(Diagnostic::is_error);
    (loaded.filter(|_| !is_wrong), problems)
}

/// The mailboxes of all processes.
fn mailboxes(items: &mut [Item]) -> impl Iterator<Item = &mut ast::Mailbox> {
    items.iter_mut().filter_map(|item| match item {
        Item::Process(process) => Rc::make_mut(process).mailbox.as_mut(),
        _ => None,
    })
}

fn lower(source: SourceId, text: &str, items: &[Item], checker: &mut Checker) -> Option<Loaded> {
    let mut declarations = Declarations::new(checker);
    declarations.all(items);
    for item in items {
        if let Item::Predicate { name, body } = item {
            let world = &declarations.world;
            let meaning = match looks_at_steps(world, body) {
                true => Meaning::StepPredicate,
                false => {
                    let here = Here::outside(world);
                    let found = declarations.checker.expect(&here, body, &super::check::Type::Boolean);
                    found.map_or(Meaning::Broken, Meaning::Predicate)
                }
            };
            declarations.name(name, meaning);
        }
    }
    let (mut world, mut parts) = (declarations.world, declarations.parts);
    let has_mailboxes = world.instances.iter().any(|instance| instance.mailbox.is_some());
    if world.instances.is_empty() && !checker.problems.iter().any(Diagnostic::is_error) {
        let problem = Diagnostic::error(Span::new(source, 0, 0), "this model has no process");
        let help = "write `process P { state idle { … } }`";
        return checker.report(problem.label("nothing can happen").help(help));
    }
    let mut scratch = Scratch::new(parts.variables.iter().map(|variable| variable.kind.range()).collect());
    let mut actions = Actions::new(&world, checker, &mut scratch);
    actions.all();
    parts.actions = actions.actions;
    let spans = actions.spans;
    parts.variables.append(&mut scratch.variables);
    if checker.problems.iter().any(Diagnostic::is_error) {
        return None;
    }
    let model = make(source, parts, checker)?;
    let (predicates, claims) = claims(items, &mut world, &model, checker);
    let model = make(source, Parts { predicates, ..model.parts().clone() }, checker)?;
    let claims = claims.into_iter().chain(temporal(source, text, items, &model, checker)).collect();
    Some(Loaded { model, actions: spans, claims, has_mailboxes })
}

fn make(source: SourceId, parts: Parts, checker: &mut Checker) -> Option<Model> {
    match Model::new(parts) {
        Ok(model) => Some(model),
        Err(mistake) => {
            let problem = Diagnostic::error(Span::new(source, 0, 0), mistake.to_string());
            checker.report(problem.label("the model as a whole"))
        }
    }
}

/// Predicates over steps and invariants, which can look at the actions.
fn claims(
    items: &[Item],
    world: &mut World,
    model: &Model,
    checker: &mut Checker,
) -> (Vec<Predicate>, Vec<Claim>) {
    let (mut predicates, mut claims) = (Vec::new(), Vec::new());
    for item in items {
        let (name, body) = match item {
            Item::Predicate { name, body } | Item::Invariant { name, body } => (name, body),
            _ => continue,
        };
        let here = Here { model: Some(model), ..Here::outside(world) };
        let Some(expression) = checker.predicate(&here, body) else { continue };
        if let Item::Invariant { .. } = item {
            let what = What::Always(expression);
            claims.push(Claim { name: name.text.clone(), span: name.span, what, formula: None });
            continue;
        }
        if let Some(Meaning::StepPredicate) = world.names.get(&name.text) {
            let depth = body.depth * 2;
            let found = super::check::Typed {
                expression: expression.clone(),
                kind: super::check::Type::Boolean,
                depth,
            };
            world.names.insert(name.text.clone(), Meaning::Predicate(found));
        }
        predicates.push(Predicate { name: name.text.clone(), expression });
    }
    (predicates, claims)
}

/// Formulae of temporal logic.
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
        let Some(written) = text.get(formula.start as usize..formula.end as usize) else { continue };
        match never_at(model, (source, formula.start), written, &name.text) {
            Ok(omega) => {
                let (name, span) = (name.text.clone(), name.span);
                let formula = Some(written.to_owned());
                claims.push(Claim { name, span, what: What::Never(omega), formula });
            }
            Err(problems) => problems.into_iter().for_each(|problem| {
                checker.report::<()>(problem);
            }),
        }
    }
    claims
}

/// Whether an expression looks at steps, itself or through a predicate.
fn looks_at_steps(world: &World, written: &Expr) -> bool {
    has_prime(written) || mentions_steps(world, written)
}

fn mentions_steps(world: &World, written: &Expr) -> bool {
    let in_path = |path: &Path| {
        let index =
            |segment: &Segment| matches!(segment, Segment::Index(index) if mentions_steps(world, index));
        matches!(world.names.get(&path.head.text), Some(Meaning::StepPredicate))
            || path.rest.iter().any(index)
    };
    match &written.shape {
        Shape::Number(_) | Shape::Truth(_) => false,
        Shape::Path(path) => in_path(path),
        Shape::Unary(_, operand) => mentions_steps(world, operand),
        Shape::Binary(_, both) => mentions_steps(world, &both.0) || mentions_steps(world, &both.1),
        Shape::All(parts) | Shape::Any(parts) => parts.iter().any(|part| mentions_steps(world, part)),
        Shape::If(parts) => {
            [&parts.0, &parts.1, &parts.2].into_iter().any(|part| mentions_steps(world, part))
        }
        Shape::Each { body, .. } => mentions_steps(world, body),
        Shape::Call { name, .. } => matches!(name.text.as_str(), "enabled" | "happens"),
    }
}
