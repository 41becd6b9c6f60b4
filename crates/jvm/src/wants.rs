//! From the events that monitors ask for to wants of the agent.

use crate::classpath::ClassPath;
use crate::params;
use crate::route::{self, route};
use invigil_expr::diag::nearest;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::names::{dotted, is_platform};
use invigil_jvm_agent::protocol::{self as told, Ask, Key, Moment, Route, Want};
use invigil_monitor::event::{Catalog, Kind, Param, Source, SymbolId, Type};
use invigil_session::subject::Unknown;
use invigil_weave::Class;

/// How a variable is reached.
enum Routed {
    /// By its class or method alone.
    Plain,
    /// Over other objects.
    Over(Route),
    /// It cannot change but by a write.
    Never,
}

/// What the agent is asked to tell for the events of a catalog; and what cannot be told, as far as the class files say.
pub(crate) fn wants(catalog: &Catalog, path: &ClassPath) -> (Vec<Want>, Vec<Unknown>) {
    let (mut wants, mut unknown) = (Vec::new(), Vec::new());
    for (symbol, written) in catalog.iter() {
        let problem =
            |(reason, help): route::Mistake, pending| Unknown { symbol, param: None, reason, help, pending };
        let moment = match moment(&written.name, written.kind) {
            Ok(Some(moment)) => moment,
            // Not the program's to tell, or known without the agent.
            Ok(None) => continue,
            Err((reason, help)) => {
                unknown.push(problem((reason, help.to_owned()), false));
                continue;
            }
        };
        match (asks(symbol, &written.params), routed(path, &moment, &written.name)) {
            (Err(lacking), _) => unknown.extend(lacking),
            (_, Err(mistake)) => unknown.push(problem(mistake, false)),
            (_, Ok(Routed::Never)) => continue,
            (Ok(asks), Ok(_)) => {
                unknown.extend(params::strange(path, symbol, &moment, written));
                let want = want(path, Key::Event { number: symbol.0 }, moment, &written.name, asks);
                unknown.extend(damaged(path, &want).map(|mistake| problem(mistake, true)));
                wants.push(want);
            }
        }
        unknown.extend(strange_scope(path, &written.name).map(|mistake| problem(mistake, true)));
    }
    (wants, unknown)
}

/// Something to be told, with the classes that its name may mean.
pub(crate) fn want(path: &ClassPath, key: Key, moment: Moment, name: &str, asks: Vec<Ask>) -> Want {
    let candidates = match (&moment, Entity::parse(name)) {
        (Moment::Line, _) | (_, Err(_)) => Vec::new(),
        (_, Ok(entity)) => {
            let all = path.names().filter(|class| entity.name.means_class(class));
            all.take(20).map(str::to_owned).collect()
        }
    };
    let route = match routed(path, &moment, name) {
        Ok(Routed::Over(route)) => Some(route),
        _ => None,
    };
    Want { key, moment, name: name.to_owned(), candidates, asks, route }
}

/// Whether a variable is reached over other objects.
fn routed(path: &ClassPath, moment: &Moment, name: &str) -> Result<Routed, route::Mistake> {
    let Ok(entity) = Entity::parse(name) else { return Ok(Routed::Plain) };
    if *moment != Moment::Write {
        return Ok(Routed::Plain);
    }
    Ok(match route(path, &entity)? {
        Some(route) => Routed::Over(route),
        None if entity.is_by_path => Routed::Never,
        None => Routed::Plain,
    })
}

/// Complains about a class that is meant and cannot be read.
fn damaged(path: &ClassPath, want: &Want) -> Option<route::Mistake> {
    want.candidates.iter().find_map(|name| {
        let problem = Class::read(&path.bytes(name)?).err()?;
        Some((format!("the class file of `{}` cannot be used: {problem}", dotted(name)), String::new()))
    })
}

/// Complains about a part of the program that no class is in.
fn strange_scope(path: &ClassPath, name: &str) -> Option<route::Mistake> {
    let scope = Entity::parse(name).ok()?.scope?;
    if is_platform(&scope.part) || path.names().any(|class| scope.touches(class)) {
        return None;
    }
    let reason = format!("there is no class or package `{}` so far", scope.part);
    Some((reason, nearest_class(path, &scope.part).unwrap_or_default()))
}

/// The name that may have been meant by one that no class has.
pub(crate) fn meant(path: &ClassPath, name: &str) -> Option<String> {
    let class = Entity::parse(name).ok()?.name.class;
    // Of `A.b.c` the class may be `A`.
    let starts: Vec<&str> = class.match_indices('.').map(|(at, _)| &class[..at]).collect();
    let near = nearest_class(path, &class);
    near.or_else(|| starts.into_iter().rev().find_map(|start| nearest_class(path, start)))
}

pub(crate) fn nearest_class(path: &ClassPath, class: &str) -> Option<String> {
    // Who leaves the package out compares with names without it.
    let shown = path.names().map(|known| match class.contains('.') {
        true => dotted(known),
        false => dotted(known).rsplit('.').next().unwrap_or_default().to_owned(),
    });
    let shown: Vec<String> = shown.collect();
    let near = nearest(class, shown.iter().map(String::as_str))?;
    Some(format!("did you mean `{near}`? Otherwise it is watched when it is loaded"))
}

/// When an event happens, if the agent is to tell it.
fn moment(name: &str, kind: Kind) -> Result<Option<Moment>, (String, &'static str)> {
    if name.starts_with('#') {
        let others = ["#signal", "#fork", "#exec", "#thread", "#thread_exit"];
        return match others.contains(&name) {
            true => Err((format!("a Java program does not tell `{name}`"), "")),
            false => Ok(None),
        };
    }
    if name.starts_with("syscall:") {
        return Err((
            format!("a Java program does not tell `{name}`"),
            "watch the method that makes the call",
        ));
    }
    match kind {
        Kind::Before => Ok(Some(Moment::Enter)),
        Kind::After => Ok(Some(Moment::Leave)),
        Kind::Write => Ok(Some(Moment::Write)),
        Kind::Read | Kind::Access | Kind::BeforeRead | Kind::BeforeAccess => Err((
            format!("reading `{name}` is not told of a Java program"),
            "watch `event write`, or the method that reads it",
        )),
        Kind::BeforeWrite => Err((
            format!("a Java program does not tell that `{name}` is about to be written"),
            "watch `event write`, which happens right after",
        )),
        Kind::Join | Kind::Leave | Kind::Tick => Ok(None),
    }
}

/// What is asked for with an event; or the parameters that Java does not have.
fn asks(symbol: SymbolId, params: &[Param]) -> Result<Vec<Ask>, Vec<Unknown>> {
    let mut lacking = Vec::new();
    let mut asks = Vec::new();
    for (at, param) in params.iter().enumerate() {
        let source = match &param.source {
            Source::Name(name) => told::Source::Expression { text: name.clone() },
            Source::Expression(text) => told::Source::Expression { text: text.clone() },
            Source::Arg(number) => told::Source::Argument { number: *number },
            Source::Ret => told::Source::Result,
            Source::Thread => told::Source::Thread,
            Source::Program => told::Source::Process,
            Source::Time => told::Source::Time,
            source @ (Source::Deref(_) | Source::Address(_) | Source::Outer(_)) => {
                lacking.push(Unknown {
                    symbol,
                    param: Some(at),
                    reason: format!(
                        "the parameter `{source}`: Java has no pointers, and callers are not looked at"
                    ),
                    help: "name a parameter, `this`, or a path such as `\"this.size\" as n`".to_owned(),
                    pending: false,
                });
                continue;
            }
        };
        let ty = param.ty.map(|ty| match ty {
            Type::Int => told::Type::Int,
            Type::Float => told::Type::Float,
            Type::Bool => told::Type::Bool,
            Type::Str => told::Type::Text,
        });
        asks.push(Ask { source, ty });
    }
    if lacking.is_empty() { Ok(asks) } else { Err(lacking) }
}
