//! The monitored properties.

use super::Outcome;
use invigil_expr::diag::SourceId;
use invigil_lang::prop;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use std::sync::Arc;

/// Counts the calls.
pub(crate) const CALLS: &str = "
initialization { N = 0 }
state init accepting {
    transition { event tick() { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Counts the calls with each value of the argument.
pub(crate) const CALLS_BY_VALUE: &str = "
slice on value
initialization { N = 0 }
state init accepting {
    transition { event tick(value: int) { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Counts the calls, ignoring their arguments.
pub(crate) const QUEUE_CALLS: &str = "
initialization { N = 0 }
state init accepting {
    transition { event push(item: int) { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Counts function entries and exits.
pub(crate) const QUEUE_CALLS_AND_ENDS: &str = "
initialization { N = 0 }
state init accepting {
    transition { event push(item: int) { return N >= 0 } success { N = N + 1 } init failure sink }
    transition { after event push(ret as result: int) { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Monitors each queue: looks up its slice, evaluates a guard, and counts.
pub(crate) const QUEUES: &str = "
slice on q
initialization { N = 0 }
state init accepting {
    transition { event push(q, item: int) { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// The same at function entry and exit.
pub(crate) const QUEUES_BEGIN_AND_END: &str = "
slice on q
initialization { N = 0 }
state init accepting {
    transition { event push(q, item: int) { return N >= 0 } success { N = N + 1 } inside failure sink }
}
state inside accepting {
    transition { after event push(q, ret as item: int) { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// 42 is removed after it was added. Removals are needed only while it is in the stack, additions only while it is not.
pub(crate) const REMOVED_BY_NEED: &str = "
state init accepting {
    transition { event stack_add(value: int) { return value == 42 } success inside }
}
state inside {
    transition { event stack_remove(value: int) { return value == 42 } success init }
}
";

/// The same, but every state needs both events.
pub(crate) const REMOVED_ALWAYS: &str = "
state init accepting {
    transition { event stack_add(value: int) { return value == 42 } success inside failure init }
    transition { event stack_remove(value: int) success init }
}
state inside {
    transition { event stack_add(value: int) success inside }
    transition { event stack_remove(value: int) { return value == 42 } success init failure inside }
}
";

/// Needs the rounds of the program that allocates memory.
pub(crate) const READY: &str = "
initialization { N = 0 }
state init accepting {
    transition { event ready(round: int) { return round > 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Turns occur in order.
pub(crate) const TURNS: &str = "
initialization { N = 0 }
state init accepting {
    transition { event take_turn(number: int) { return number == N } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Compiles a property.
pub(crate) fn compile(text: &str) -> Outcome<(Arc<Automaton>, EventCatalog)> {
    let mut catalog = EventCatalog::default();
    let (property, diagnostics) = prop::parse(SourceId(0), text);
    let (automaton, more) = prop::lower::lower("property", &property, &[], &mut catalog);
    match automaton {
        Some(automaton) => Ok((Arc::new(automaton), catalog)),
        None => Err(format!("a property of the benchmark has errors: {diagnostics:?} {more:?}")),
    }
}
