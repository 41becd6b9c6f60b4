//! State of a property as console text (`print_monitor_state`).
//!
//! ```text
//!   Slice 1 <None>: init
//!       N: 0
//!   Slice 2 <93824992252512>: sink (from queue_ready) non-accepting
//!       N: 16
//! ```

use super::InteractiveMonitor;
use crate::slices::SliceId;
use crate::verdict::Verdict;
use core::fmt;

impl fmt::Display for InteractiveMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for slice in self.slices().iter() {
            self.slice(f, slice)?;
        }
        match self.fault() {
            Some(fault) => writeln!(f, "  Ended by an error: {}", fault.message),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for InteractiveMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Monitor of {}:\n{self}", self.automaton.name)
    }
}

impl InteractiveMonitor {
    fn slice(&self, f: &mut fmt::Formatter<'_>, slice: SliceId) -> fmt::Result {
        let slices = self.slices();
        write!(f, "  Slice {}", slice.0 + 1)?;
        for (at, value) in slices.binding(slice).iter().enumerate() {
            f.write_str(if at == 0 { " <" } else { ", " })?;
            match value.is_unset() {
                true => f.write_str("None")?,
                false => f.write_str(&slices.show(*value))?,
            }
        }
        let state = slices.state(slice);
        let separator = if slices.binding(slice).is_empty() { ": " } else { ">: " };
        write!(f, "{separator}{}", self.automaton.state_name(state))?;
        let previous_states = &self.state.log.previous_states;
        if let Ok(at) = previous_states.binary_search_by_key(&slice, |(other, _)| *other) {
            write!(f, " (from {})", self.automaton.state_name(previous_states[at].1))?;
        }
        if self.automaton.states[usize::from(state)].verdict == Verdict::NonAccepting {
            f.write_str(" non-accepting")?;
        }
        writeln!(f)?;
        let variables = self.env_keys().iter().zip(slices.env(slice));
        for (name, value) in variables.filter(|(_, value)| !value.is_unset()) {
            writeln!(f, "      {name}: {}", slices.show(*value))?;
        }
        Ok(())
    }
}
