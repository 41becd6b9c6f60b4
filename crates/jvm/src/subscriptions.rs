//! From the events that monitors need to subscriptions of the agent.

use crate::classpath::ClassPath;
use crate::params;
use crate::variable_path::{self, variable_path};
use invigil_expr::diag::nearest;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::names::{dotted, is_platform};
use invigil_jvm_agent::protocol::{
    self as wire, Subscription, SubscriptionId, Trigger, ValueRequest, VariablePath,
};
use invigil_monitor::event::{EventCatalog, EventId, EventKind, Param, ParamSource, ParamType};
use invigil_monitor::predefined_event::PredefinedEvent;
use invigil_target::UnresolvedEvent;
use invigil_weave::Class;

/// How a variable is reached.
enum VariableRoute {
    /// By its class or method alone.
    Direct,
    /// Through other objects.
    ThroughObjects(VariablePath),
    /// It cannot change except by a write.
    NeverChanges,
}

/// The subscriptions for the events of a catalog, and the events that cannot be reported, as far as class files reveal
/// it.
pub(crate) fn subscriptions(
    catalog: &EventCatalog,
    path: &ClassPath,
) -> (Vec<Subscription>, Vec<UnresolvedEvent>) {
    let (mut subscriptions, mut unknown) = (Vec::new(), Vec::new());
    for (event, decl) in catalog.iter() {
        let unresolved = |(reason, help): variable_path::NameError, pending| UnresolvedEvent {
            event,
            param: None,
            reason,
            help,
            pending,
        };
        let trigger = match trigger_of(&decl.name, decl.kind) {
            Ok(Some(trigger)) => trigger,
            // The event does not come from the agent.
            Ok(None) => continue,
            Err((reason, help)) => {
                unknown.push(unresolved((reason, help.to_owned()), false));
                continue;
            }
        };
        match (value_requests(event, &decl.params), route_of(path, &trigger, &decl.name)) {
            (Err(unavailable), _) => unknown.extend(unavailable),
            (_, Err(error)) => unknown.push(unresolved(error, false)),
            (_, Ok(VariableRoute::NeverChanges)) => continue,
            (Ok(value_requests), Ok(_)) => {
                unknown.extend(params::unknown_fields(path, event, &trigger, decl));
                let subscription = subscription(
                    path,
                    SubscriptionId::Event { number: event.0 },
                    trigger,
                    &decl.name,
                    value_requests,
                );
                unknown.extend(malformed_class(path, &subscription).map(|error| unresolved(error, true)));
                subscriptions.push(subscription);
            }
        }
        unknown.extend(unknown_scope(path, &decl.name).map(|error| unresolved(error, true)));
    }
    (subscriptions, unknown)
}

/// A subscription, with the classes that its name may mean.
pub(crate) fn subscription(
    path: &ClassPath,
    id: SubscriptionId,
    trigger: Trigger,
    name: &str,
    value_requests: Vec<ValueRequest>,
) -> Subscription {
    let candidates = match (&trigger, Entity::parse(name)) {
        (Trigger::Line, _) | (_, Err(_)) => Vec::new(),
        (_, Ok(entity)) => {
            let all = path.names().filter(|class| entity.name.matches_class(class));
            all.take(20).map(str::to_owned).collect()
        }
    };
    let route = match route_of(path, &trigger, name) {
        Ok(VariableRoute::ThroughObjects(route)) => Some(route),
        _ => None,
    };
    Subscription { id, trigger, name: name.to_owned(), candidates, value_requests, variable_path: route }
}

/// Whether a variable is reached through other objects.
fn route_of(
    path: &ClassPath,
    trigger: &Trigger,
    name: &str,
) -> Result<VariableRoute, variable_path::NameError> {
    let Ok(entity) = Entity::parse(name) else { return Ok(VariableRoute::Direct) };
    if *trigger != Trigger::Write {
        return Ok(VariableRoute::Direct);
    }
    Ok(match variable_path(path, &entity)? {
        Some(route) => VariableRoute::ThroughObjects(route),
        None if entity.is_by_path => VariableRoute::NeverChanges,
        None => VariableRoute::Direct,
    })
}

/// The error for a matching class whose file is malformed.
fn malformed_class(path: &ClassPath, subscription: &Subscription) -> Option<variable_path::NameError> {
    subscription.candidates.iter().find_map(|name| {
        let error = Class::read(&path.bytes(name)?).err()?;
        Some((format!("the class file of `{}` cannot be used: {error}", dotted(name)), String::new()))
    })
}

/// The error for a scope that contains no class.
fn unknown_scope(path: &ClassPath, name: &str) -> Option<variable_path::NameError> {
    let scope = Entity::parse(name).ok()?.scope?;
    if is_platform(&scope.part) || path.names().any(|class| scope.touches(class)) {
        return None;
    }
    let reason = format!("no class or package `{}` is known yet", scope.part);
    Some((reason, nearest_class(path, &scope.part).unwrap_or_default()))
}

/// A hint with the class that may have been meant by a name that no class has.
pub(crate) fn suggestion(path: &ClassPath, name: &str) -> Option<String> {
    let class = Entity::parse(name).ok()?.name.class;
    // The class of `A.b.c` may be `A`.
    let starts: Vec<&str> = class.match_indices('.').map(|(at, _)| &class[..at]).collect();
    let near = nearest_class(path, &class);
    near.or_else(|| starts.into_iter().rev().find_map(|start| nearest_class(path, start)))
}

/// A hint with the class whose name is most similar.
pub(crate) fn nearest_class(path: &ClassPath, class: &str) -> Option<String> {
    // A name without a package is compared with class names without their packages.
    let shown = path.names().map(|known| match class.contains('.') {
        true => dotted(known),
        false => dotted(known).rsplit('.').next().unwrap_or_default().to_owned(),
    });
    let shown: Vec<String> = shown.collect();
    let near = nearest(class, shown.iter().map(String::as_str))?;
    Some(format!("did you mean `{near}`? Otherwise it will be monitored once it is loaded"))
}

/// When an event is reported; `None` if it does not come from the agent.
fn trigger_of(name: &str, kind: EventKind) -> Result<Option<Trigger>, (String, &'static str)> {
    if name.starts_with('#') {
        return match PredefinedEvent::from_name(name) {
            Some(
                PredefinedEvent::Signal
                | PredefinedEvent::Fork
                | PredefinedEvent::Exec
                | PredefinedEvent::Thread
                | PredefinedEvent::ThreadExit,
            ) => Err((format!("`{name}` is not available for Java programs"), "")),
            // `#exit` needs no subscription. The others come from traces and scripts; events without such a name are
            // derived by scripts.
            Some(
                PredefinedEvent::Exit
                | PredefinedEvent::Join
                | PredefinedEvent::Leave
                | PredefinedEvent::Tick,
            )
            | None => Ok(None),
        };
    }
    if name.starts_with("syscall:") {
        return Err((
            format!("`{name}` is not available for Java programs"),
            "use an event of the method that makes the call",
        ));
    }
    match kind {
        EventKind::Before => Ok(Some(Trigger::Enter)),
        EventKind::After => Ok(Some(Trigger::Return)),
        EventKind::Write => Ok(Some(Trigger::Write)),
        EventKind::Read | EventKind::Access | EventKind::BeforeRead | EventKind::BeforeAccess => Err((
            format!("reads of `{name}` cannot be observed in Java programs"),
            "use `event write`, or an event of the method that reads it",
        )),
        EventKind::BeforeWrite => Err((
            format!("`{name}` cannot be observed before it is written in Java programs"),
            "use `event write`, which occurs right after",
        )),
        EventKind::Join | EventKind::Leave | EventKind::Tick => Ok(None),
    }
}

/// The values to request with an event, or errors for parameters that Java does not have.
fn value_requests(event: EventId, params: &[Param]) -> Result<Vec<ValueRequest>, Vec<UnresolvedEvent>> {
    let mut unavailable = Vec::new();
    let mut value_requests = Vec::new();
    for (at, param) in params.iter().enumerate() {
        let source = match &param.source {
            ParamSource::Name(name) => wire::ValueSource::Expression { text: name.clone() },
            ParamSource::Expression(text) => wire::ValueSource::Expression { text: text.clone() },
            ParamSource::Arg(number) => wire::ValueSource::Argument { number: *number },
            ParamSource::Ret => wire::ValueSource::Result,
            ParamSource::Thread => wire::ValueSource::Thread,
            ParamSource::Program => wire::ValueSource::Process,
            ParamSource::Time => wire::ValueSource::Time,
            source @ (ParamSource::Deref(_) | ParamSource::Address(_) | ParamSource::InCaller(_)) => {
                unavailable.push(UnresolvedEvent {
                    event,
                    param: Some(at),
                    reason: format!(
                        "the parameter `{source}` is not available: Java has no pointers, and callers are not inspected"
                    ),
                    help: "name a parameter, `this`, or a path such as `\"this.size\" as n`".to_owned(),
                    pending: false,
                });
                continue;
            }
        };
        let ty = param.ty.map(|ty| match ty {
            ParamType::Int => wire::ValueType::Int,
            ParamType::Float => wire::ValueType::Float,
            ParamType::Bool => wire::ValueType::Bool,
            ParamType::Str => wire::ValueType::Text,
        });
        value_requests.push(ValueRequest { source, ty });
    }
    if unavailable.is_empty() { Ok(value_requests) } else { Err(unavailable) }
}
