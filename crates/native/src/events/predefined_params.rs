//! Parameters of predefined events and of events of system calls.

use super::{EventPlan, Trigger};
use invigil_monitor::event::ParamSource;
use invigil_target::UnresolvedEvent;

/// Number of arguments of a system call.
const ARGUMENTS: u32 = 6;

/// Reports the parameters that a predefined event does not have.
pub(super) fn unresolved(plan: &EventPlan) -> Vec<UnresolvedEvent> {
    let has = |source: &ParamSource| match (source, &plan.trigger) {
        (ParamSource::Thread | ParamSource::Program | ParamSource::Time, _) => true,
        (ParamSource::Arg(number), Trigger::Syscall { .. }) => (1..=ARGUMENTS).contains(number),
        (ParamSource::Ret, Trigger::Syscall { after, .. }) => *after,
        (ParamSource::Name(name), Trigger::Predefined(event)) => {
            event.params().is_none_or(|names| names.contains(&name.as_str()))
        }
        // Events of traces do not come from a native program.
        (_, Trigger::Predefined(event)) => event.params().is_none(),
        (_, Trigger::WithoutSite) => true,
        _ => false,
    };
    let help = match &plan.trigger {
        Trigger::Syscall { after: true, .. } => "it has `arg 1` to `arg 6`, and `ret`".to_owned(),
        Trigger::Syscall { .. } => "it has `arg 1` to `arg 6`".to_owned(),
        Trigger::Predefined(event) => {
            let names = event.params().unwrap_or_default().iter().map(|name| format!("`{name}`"));
            format!("it has {}", names.collect::<Vec<_>>().join(", "))
        }
        Trigger::Location | Trigger::Exit | Trigger::Access(_) | Trigger::WithoutSite => String::new(),
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
