//! Files with several named formulae that refer to each other.

use super::lower::Lowering;
use super::scan::{self, Token, TokenKind};
use super::{SyntaxError, SyntaxTree, parse};
use crate::formula::{Formula, Formulae};
use invigil_suggest::nearest;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Definition of a formula in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name, which is optional if the file has a single formula.
    pub name: Option<Name>,
    /// The formula, with references replaced by the formulae that they refer to.
    pub formula: Formula,
    /// The position of the formula without its name, as a byte range of the text.
    pub formula_span: Range<usize>,
    /// The syntax tree of the formula.
    pub tree: SyntaxTree,
}

/// Name of a definition, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// The position, as a byte range of the text.
    pub span: Range<usize>,
}

/// Name and tokens of a definition before parsing.
pub(super) struct DefinitionTokens<'a> {
    pub(super) name: Option<Name>,
    pub(super) tokens: &'a [Token],
    /// From the start of the name to the end of the last token.
    pub(super) span: Range<usize>,
}

/// Splits the tokens of a file into definitions, each of which starts at a name followed by `=`.
pub(super) fn split_definitions<'a>(
    tokens: &'a [Token],
    text: &str,
) -> Result<Vec<DefinitionTokens<'a>>, Vec<SyntaxError>> {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    let starts_definition = |at: usize| tokens.get(at + 1).is_some_and(|next| next.kind == TokenKind::Equals);
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].kind == TokenKind::Semicolon {
            at += 1;
            continue;
        }
        let start = at;
        let mut name = None;
        if starts_definition(at) {
            match definition_name(&tokens[at], text) {
                Ok(text) => name = Some(Name { text, span: tokens[at].span.clone() }),
                Err(error) => errors.push(error),
            }
            at += 2;
        }
        let body = at;
        while at < tokens.len() && tokens[at].kind != TokenKind::Semicolon && !starts_definition(at) {
            at += 1;
        }
        let end = tokens[at - 1].span.end;
        found.push(DefinitionTokens { name, tokens: &tokens[body..at], span: tokens[start].span.start..end });
    }
    if found.is_empty() {
        errors.push(SyntaxError::expected(&["a formula"], "the end", text.len()..text.len()));
    }
    if found.len() > 1 {
        let nameless =
            found.iter().filter(|definition| definition.name.is_none() && !definition.tokens.is_empty());
        errors.extend(nameless.map(|definition| {
            let error = SyntaxError::new(
                "this formula needs a name, because the file has several",
                definition.span.clone(),
            );
            error.hint("write it as: name = formula")
        }));
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

/// Returns the name that a token before `=` denotes.
fn definition_name(token: &Token, text: &str) -> Result<String, SyntaxError> {
    match &token.kind {
        TokenKind::Name(name) => Ok(name.clone()),
        TokenKind::SoftKeyword(_) => Ok(text[token.span.clone()].to_owned()),
        TokenKind::Invalid(error) => Err((**error).clone()),
        _ => {
            let error = SyntaxError::expected(
                &["a name before `=`"],
                &scan::token_text(Some(token), text),
                token.span.clone(),
            );
            Err(error.hint("any text in quotes is a name: 'U' = …"))
        }
    }
}

/// Parsed definition before lowering.
struct ParsedDefinition {
    name: Option<Name>,
    span: Range<usize>,
    tree: SyntaxTree,
}

/// Parses and lowers all formulae of a file.
pub(super) fn parse_file(formulae: &mut Formulae, text: &str) -> Result<Vec<Definition>, Vec<SyntaxError>> {
    let stream = scan::scan(text);
    let (mut parsed, mut errors) = (Vec::new(), Vec::new());
    for definition in split_definitions(&stream.tokens, text)? {
        match parse::parse(definition.tokens, text, definition.span.end) {
            Ok(tree) => {
                let start = definition.tokens.first().map_or(definition.span.end, |token| token.span.start);
                parsed.push(ParsedDefinition {
                    name: definition.name,
                    span: start..definition.span.end,
                    tree,
                });
            }
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let names = index_by_name(&parsed)?;
    let order = dependency_order(&parsed, &names)?;
    let mut lowered: Vec<Option<Formula>> = vec![None; parsed.len()];
    let mut lowering = Lowering::new(formulae);
    for at in order {
        let resolve = |name: &str| names.get(name).and_then(|at| lowered[*at]);
        lowered[at] = Some(lowering.formula(&parsed[at].tree, resolve).map_err(|error| vec![error])?);
    }
    let definition = |(definition, formula): (ParsedDefinition, Option<Formula>)| {
        Some(Definition {
            name: definition.name,
            formula: formula?,
            formula_span: definition.span,
            tree: definition.tree,
        })
    };
    Ok(parsed.into_iter().zip(lowered).filter_map(definition).collect())
}

/// Maximum number of reported errors of one kind.
const MAX_ERRORS: usize = 20;

/// Returns the index of each definition by name.
fn index_by_name(parsed: &[ParsedDefinition]) -> Result<FxHashMap<&str, usize>, Vec<SyntaxError>> {
    let (mut names, mut errors) = (FxHashMap::default(), Vec::new());
    for (at, definition) in parsed.iter().enumerate() {
        let Some(name) = &definition.name else { continue };
        if names.insert(name.text.as_str(), at).is_some() {
            let message = format!("the name `{}` is defined twice", name.text);
            errors.push(SyntaxError::new(message, name.span.clone()));
        }
    }
    if errors.is_empty() { Ok(names) } else { Err(errors) }
}

/// Returns a topological order: each definition after those that it refers to.
fn dependency_order(
    parsed: &[ParsedDefinition],
    names: &FxHashMap<&str, usize>,
) -> Result<Vec<usize>, Vec<SyntaxError>> {
    let mut errors = Vec::new();
    let mut uses: Vec<Vec<(usize, &Range<usize>)>> = Vec::with_capacity(parsed.len());
    for definition in parsed {
        let mut used = Vec::new();
        for (name, span) in definition.tree.references() {
            match names.get(name) {
                Some(at) => used.push((*at, span)),
                None if errors.len() < MAX_ERRORS => errors.push(unknown(name, span, names)),
                None => {}
            }
        }
        uses.push(used);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let (mut order, mut visited, mut done) =
        (Vec::new(), vec![false; parsed.len()], vec![false; parsed.len()]);
    for start in 0..parsed.len() {
        // The path of the depth-first search, each definition with its number of followed references.
        let mut path = if done[start] { vec![] } else { vec![(start, 0)] };
        while let Some((at, followed)) = path.last_mut() {
            let at = *at;
            visited[at] = true;
            match uses[at].get(*followed) {
                Some((next, span)) => {
                    *followed += 1;
                    if visited[*next] && !done[*next] {
                        errors.push(cycle(parsed, &path, *next, span));
                        if errors.len() == MAX_ERRORS {
                            return Err(errors);
                        }
                    } else if !done[*next] {
                        path.push((*next, 0));
                    }
                }
                None => {
                    done[at] = true;
                    order.push(at);
                    path.pop();
                }
            }
        }
    }
    if errors.is_empty() { Ok(order) } else { Err(errors) }
}

fn unknown(name: &str, span: &Range<usize>, names: &FxHashMap<&str, usize>) -> SyntaxError {
    let error = SyntaxError::new(format!("unknown formula `{name}`"), span.clone());
    match nearest(name, names.keys().copied()) {
        Some(near) => error.hint(format!("did you mean `@{near}`?")),
        None => error,
    }
}

fn cycle(
    parsed: &[ParsedDefinition],
    path: &[(usize, usize)],
    target: usize,
    span: &Range<usize>,
) -> SyntaxError {
    const MAX_SHOWN: usize = 8;
    let name = |at: usize| parsed[at].name.as_ref().map_or("", |name| &name.text);
    let start = path.iter().position(|(at, _)| *at == target).unwrap_or_default();
    let mut names: Vec<&str> = path[start..].iter().take(MAX_SHOWN).map(|(at, _)| name(*at)).collect();
    if path.len() - start > MAX_SHOWN {
        names.push("…");
    }
    names.push(name(target));
    let message = format!("`{}` refers to itself: {}", name(target), names.join(" → "));
    SyntaxError::new(message, span.clone())
}
