//! Models compiled to native code.
//!
//! [`Compiled`] is a model as a [`Space`](invigil_explore::Space): one generated function looks at the actions of the
//! locations where the processes are and writes the successors straight into memory. [`CompiledReading`] is an
//! automaton with its labels compiled. Both give exactly what the interpreter gives, which is asked where it is
//! simpler and speed does not matter: for the initial configurations, and for what goes wrong under choices.

mod arithmetic;
mod compiled;
mod effect;
mod emit;
mod machine;
mod plan;
mod predicates;
mod presence;
mod range;
mod reading;
mod successors;
mod twins;
mod value;
mod view;
mod workshop;

pub use compiled::Compiled;
pub use reading::CompiledReading;

/// Why a model cannot be compiled: in words for people. It can be interpreted instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl core::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Unsupported {}
