//! What the system's events tell: the names of their parameters.

use super::{Plan, What};
use invigil_monitor::event::Source;
use invigil_session::subject::Unknown;

/// The events, each with its parameters; several names may mean the same.
const EVENTS: [(&str, &[&str]); 6] = [
    ("#signal", &["name", "number", "signal", "address", "sender"]),
    ("#fork", &["child"]),
    ("#exec", &["path"]),
    ("#thread", THREAD),
    ("#thread_exit", THREAD),
    ("#exit", &["status"]),
];
const THREAD: &[&str] = &["thread", "id", "tid"];

/// So many arguments has a system call.
const ARGUMENTS: u32 = 6;

/// The parameters of an event of the system.
pub(super) fn of(event: &str) -> Option<&'static [&'static str]> {
    EVENTS.iter().find(|(name, _)| *name == event).map(|(_, names)| *names)
}

/// The parameters that such an event does not have.
pub(super) fn unknown(plan: &Plan) -> Vec<Unknown> {
    let has = |source: &Source| match (source, &plan.what) {
        (Source::Thread | Source::Program | Source::Time, _) => true,
        (Source::Arg(number), What::Syscall { .. }) => (1..=ARGUMENTS).contains(number),
        (Source::Ret, What::Syscall { after, .. }) => *after,
        // Other events are not this program's to tell.
        (_, What::System) if of(&plan.name).is_none() => true,
        (Source::Name(word), What::System) => {
            of(&plan.name).is_some_and(|names| names.contains(&word.as_str()))
        }
        _ => false,
    };
    let help = match &plan.what {
        What::Syscall { after: true, .. } => "it has `arg 1` to `arg 6`, and `ret`".to_owned(),
        What::Syscall { .. } => "it has `arg 1` to `arg 6`".to_owned(),
        _ => {
            let names = of(&plan.name).unwrap_or_default().iter().map(|name| format!("`{name}`"));
            format!("it has {}", names.collect::<Vec<_>>().join(", "))
        }
    };
    let lacking = plan.params.iter().enumerate().filter(|(_, param)| !has(&param.source));
    lacking
        .map(|(position, param)| Unknown {
            symbol: plan.symbol,
            param: Some(position),
            reason: format!("the event `{}` has no parameter `{}`", plan.name, param.source),
            help: help.clone(),
            pending: false,
        })
        .collect()
}
