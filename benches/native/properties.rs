//! The properties that the programs are watched for.

use super::Outcome;
use invigil_expr::diag::SourceId;
use invigil_lang::prop;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
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

/// Counts the calls, whatever they carry.
pub(crate) const QUEUE_CALLS: &str = "
initialization { N = 0 }
state init accepting {
    transition { event push(item: int) { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Counts calls at their begin and at their end.
pub(crate) const QUEUE_CALLS_AND_ENDS: &str = "
initialization { N = 0 }
state init accepting {
    transition { event push(item: int) { return N >= 0 } success { N = N + 1 } init failure sink }
    transition { after event push(ret as result: int) { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Follows each queue: looks it up, asks how much is in it, and counts.
pub(crate) const QUEUES: &str = "
slice on q
initialization { N = 0 }
state init accepting {
    transition { event push(q, item: int) { return N >= 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// The same at the end of the call, too.
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

/// 42 is taken out after it was added; removals are of interest only while it is in there, and additions only
/// while it is not.
pub(crate) const REMOVED_BY_NEED: &str = "
state init accepting {
    transition { event stack_add(value: int) { return value == 42 } success inside }
}
state inside {
    transition { event stack_remove(value: int) { return value == 42 } success init }
}
";

/// The same, but every state waits for both.
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

/// Waits for the rounds of the program that takes memory.
pub(crate) const READY: &str = "
initialization { N = 0 }
state init accepting {
    transition { event ready(round: int) { return round > 0 } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Turns come one after the other.
pub(crate) const TURNS: &str = "
initialization { N = 0 }
state init accepting {
    transition { event take_turn(number: int) { return number == N } success { N = N + 1 } init failure sink }
}
state sink non-accepting
";

/// Compiles a property.
pub(crate) fn compile(text: &str) -> Outcome<(Arc<Automaton>, Catalog)> {
    let mut catalog = Catalog::default();
    let (property, problems) = prop::parse(SourceId(0), text);
    let (automaton, more) = prop::lower::lower("property", &property, &[], &mut catalog);
    match automaton {
        Some(automaton) => Ok((Arc::new(automaton), catalog)),
        None => Err(format!("a property of the benchmark is wrong: {problems:?} {more:?}")),
    }
}
