//! Texts with several formulae that refer to each other.

use super::lower::Lower;
use super::scan::{self, Kind, Token};
use super::{Mistake, Tree, parse};
use crate::formula::{Formula, Formulae};
use invigil_suggest::nearest;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A formula of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name; a formula that is alone may have none.
    pub name: Option<Name>,
    /// What it says, with the formulae that it refers to in the place of the references.
    pub formula: Formula,
    /// Where it stands, in bytes of the text, without its name.
    pub formula_span: Range<usize>,
    /// It as it was written.
    pub written: Tree,
}

/// A name, and where it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
}

/// A definition before it is read.
pub(super) struct Outline<'a> {
    pub(super) name: Option<Name>,
    pub(super) tokens: &'a [Token],
    /// Where the name begins, and where the last token ends.
    pub(super) span: Range<usize>,
}

/// The definitions of a text: each begins where a name has a `=` after it.
pub(super) fn outline<'a>(tokens: &'a [Token], text: &str) -> Result<Vec<Outline<'a>>, Vec<Mistake>> {
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    let is_begin = |at: usize| tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Equals);
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].kind == Kind::Semicolon {
            at += 1;
            continue;
        }
        let start = at;
        let mut name = None;
        if is_begin(at) {
            match name_of(&tokens[at], text) {
                Ok(text) => name = Some(Name { text, span: tokens[at].span.clone() }),
                Err(mistake) => mistakes.push(mistake),
            }
            at += 2;
        }
        let body = at;
        while at < tokens.len() && tokens[at].kind != Kind::Semicolon && !is_begin(at) {
            at += 1;
        }
        let end = tokens[at - 1].span.end;
        found.push(Outline { name, tokens: &tokens[body..at], span: tokens[start].span.start..end });
    }
    if found.is_empty() {
        mistakes.push(Mistake::expected(&["a formula"], "none", text.len()..text.len()));
    }
    if found.len() > 1 {
        let nameless = found.iter().filter(|outline| outline.name.is_none() && !outline.tokens.is_empty());
        mistakes.extend(nameless.map(|outline| {
            let mistake = Mistake::new("a formula among others needs a name", outline.span.clone());
            mistake.hint("write it as: name = formula")
        }));
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}

/// The name that a definition gives.
fn name_of(token: &Token, text: &str) -> Result<String, Mistake> {
    match &token.kind {
        Kind::Name(name) => Ok(name.clone()),
        Kind::Soft(_) => Ok(text[token.span.clone()].to_owned()),
        Kind::Bad(mistake) => Err((**mistake).clone()),
        _ => {
            let mistake = Mistake::expected(
                &["a name before `=`"],
                &scan::shown(Some(token), text),
                token.span.clone(),
            );
            Err(mistake.hint("quotes make a name of anything: 'U' = …"))
        }
    }
}

/// A definition whose formula is not yet made.
struct Draft {
    name: Option<Name>,
    span: Range<usize>,
    tree: Tree,
}

/// Reads all formulae of a text.
pub(super) fn read(formulae: &mut Formulae, text: &str) -> Result<Vec<Definition>, Vec<Mistake>> {
    let scanned = scan::scan(text);
    let (mut drafts, mut mistakes) = (Vec::new(), Vec::new());
    for outline in outline(&scanned.tokens, text)? {
        match parse::parse(outline.tokens, text, outline.span.end) {
            Ok(tree) => {
                let start = outline.tokens.first().map_or(outline.span.end, |token| token.span.start);
                drafts.push(Draft { name: outline.name, span: start..outline.span.end, tree });
            }
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let names = names(&drafts)?;
    let order = order(&drafts, &names)?;
    let mut made: Vec<Option<Formula>> = vec![None; drafts.len()];
    let mut lower = Lower::new(formulae);
    for at in order {
        let meaning = |name: &str| names.get(name).and_then(|at| made[*at]);
        made[at] = Some(lower.formula(&drafts[at].tree, meaning).map_err(|mistake| vec![mistake])?);
    }
    let definition = |(draft, formula): (Draft, Option<Formula>)| {
        Some(Definition {
            name: draft.name,
            formula: formula?,
            formula_span: draft.span,
            written: draft.tree,
        })
    };
    Ok(drafts.into_iter().zip(made).filter_map(definition).collect())
}

/// Nobody reads more mistakes of one kind.
const ENOUGH: usize = 20;

/// Which definition has which name.
fn names(drafts: &[Draft]) -> Result<FxHashMap<&str, usize>, Vec<Mistake>> {
    let (mut names, mut mistakes) = (FxHashMap::default(), Vec::new());
    for (at, draft) in drafts.iter().enumerate() {
        let Some(name) = &draft.name else { continue };
        if names.insert(name.text.as_str(), at).is_some() {
            let message = format!("there is another formula with the name `{}`", name.text);
            mistakes.push(Mistake::new(message, name.span.clone()));
        }
    }
    if mistakes.is_empty() { Ok(names) } else { Err(mistakes) }
}

/// An order in which every formula comes after those that it refers to.
fn order(drafts: &[Draft], names: &FxHashMap<&str, usize>) -> Result<Vec<usize>, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut uses: Vec<Vec<(usize, &Range<usize>)>> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let mut used = Vec::new();
        for (name, span) in draft.tree.references() {
            match names.get(name) {
                Some(at) => used.push((*at, span)),
                None if mistakes.len() < ENOUGH => mistakes.push(unknown(name, span, names)),
                None => {}
            }
        }
        uses.push(used);
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let (mut order, mut begun, mut done) = (Vec::new(), vec![false; drafts.len()], vec![false; drafts.len()]);
    for start in 0..drafts.len() {
        // The formulae on the way, each with how many of its references were followed.
        let mut path = if done[start] { vec![] } else { vec![(start, 0)] };
        while let Some((at, followed)) = path.last_mut() {
            let at = *at;
            begun[at] = true;
            match uses[at].get(*followed) {
                Some((next, span)) => {
                    *followed += 1;
                    if begun[*next] && !done[*next] {
                        mistakes.push(cycle(drafts, &path, *next, span));
                        if mistakes.len() == ENOUGH {
                            return Err(mistakes);
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
    if mistakes.is_empty() { Ok(order) } else { Err(mistakes) }
}

fn unknown(name: &str, span: &Range<usize>, names: &FxHashMap<&str, usize>) -> Mistake {
    let mistake = Mistake::new(format!("there is no formula with the name `{name}`"), span.clone());
    match nearest(name, names.keys().copied()) {
        Some(near) => mistake.hint(format!("did you mean `@{near}`?")),
        None => mistake,
    }
}

fn cycle(drafts: &[Draft], path: &[(usize, usize)], back: usize, span: &Range<usize>) -> Mistake {
    const MOST: usize = 8;
    let name = |at: usize| drafts[at].name.as_ref().map_or("", |name| &name.text);
    let begin = path.iter().position(|(at, _)| *at == back).unwrap_or_default();
    let mut names: Vec<&str> = path[begin..].iter().take(MOST).map(|(at, _)| name(*at)).collect();
    if path.len() - begin > MOST {
        names.push("…");
    }
    names.push(name(back));
    let message = format!("`{}` refers to itself: {}", name(back), names.join(" → "));
    Mistake::new(message, span.clone())
}
