//! Parameters of predefined events and of events of system calls.

use super::{EventPlan, Trigger};
use invigil_monitor::event::ParamSource;
use invigil_target::UnresolvedEvent;

/// The events with their parameters; several parameters may be synonyms.
const PARAMETERS_BY_EVENT: [(&str, &[&str]); 6] = [
    ("#signal", &["name", "number", "signal", "address", "sender"]),
    ("#fork", &["child"]),
    ("#exec", &["path"]),
    ("#thread", THREAD_PARAMS),
    ("#thread_exit", THREAD_PARAMS),
    ("#exit", &["status"]),
];
/// Parameters of the events of a thread.
const THREAD_PARAMS: &[&str] = &["thread", "id", "tid"];

/// Number of arguments of a system call.
const ARGUMENTS: u32 = 6;

/// The parameters of a predefined event.
pub(super) fn params_of(event: &str) -> Option<&'static [&'static str]> {
    PARAMETERS_BY_EVENT.iter().find(|(name, _)| *name == event).map(|(_, names)| *names)
}

/// Reports the parameters that a predefined event does not have.
pub(super) fn unresolved(plan: &EventPlan) -> Vec<UnresolvedEvent> {
    let has = |source: &ParamSource| match (source, &plan.trigger) {
        (ParamSource::Thread | ParamSource::Program | ParamSource::Time, _) => true,
        (ParamSource::Arg(number), Trigger::Syscall { .. }) => (1..=ARGUMENTS).contains(number),
        (ParamSource::Ret, Trigger::Syscall { after, .. }) => *after,
        // `#join`, `#leave` and `#tick` do not come from a native program.
        (_, Trigger::WithoutSite) if params_of(&plan.name).is_none() => true,
        (ParamSource::Name(name), Trigger::WithoutSite) => {
            params_of(&plan.name).is_some_and(|names| names.contains(&name.as_str()))
        }
        _ => false,
    };
    let help = match &plan.trigger {
        Trigger::Syscall { after: true, .. } => "it has `arg 1` to `arg 6`, and `ret`".to_owned(),
        Trigger::Syscall { .. } => "it has `arg 1` to `arg 6`".to_owned(),
        _ => {
            let names = params_of(&plan.name).unwrap_or_default().iter().map(|name| format!("`{name}`"));
            format!("it has {}", names.collect::<Vec<_>>().join(", "))
        }
    };
    let missing = plan.params.iter().enumerate().filter(|(_, param)| !has(&param.source));
    missing
        .map(|(position, param)| UnresolvedEvent {
            event: plan.event,
            param: Some(position),
            reason: format!("the event `{}` has no parameter `{}`", plan.name, param.source),
            help: help.clone(),
            pending: false,
        })
        .collect()
}
