//! Compiles models to native code with Cranelift.
//!
//! [`CompiledModel`] is a model as a [`StateSpace`](invigil_explore::StateSpace): one generated function evaluates the
//! actions of the current locations and writes the successors directly to memory. [`CompiledLabels`] are the labels of
//! an automaton, compiled. Both give exactly the results of the interpreter. The interpreter itself is used for initial
//! configurations, for faults in actions with choices, and for predicates that test enabledness in models with
//! priorities or of too many actions.
//!
//! | module | contents |
//! | --- | --- |
//! | `codegen_module`, `function_emitter` | Cranelift modules and functions |
//! | `codegen_plan` | grouping and order of actions |
//! | `ranges` | value ranges, which make most checks unnecessary |
//! | `value`, `arithmetic`, `effect`, `config_view` | code for expressions, effects and configurations |
//! | `successors`, `predicates`, `enabledness` | generated functions |
//! | `native_code` | calls to generated functions; contains all unsafe code |
//! | `dedup` | removal of duplicate successors |
//! | `compiled_model`, `compiled_labels` | the public types |
//!
//! Invariant: generated code is memory-safe for arbitrary contents of a stored configuration (its `u64` words), not only
//! for reachable configurations.

mod arithmetic;
mod codegen_module;
mod codegen_plan;
mod compiled_labels;
mod compiled_model;
mod config_view;
mod dedup;
mod effect;
mod enabledness;
mod function_emitter;
mod native_code;
mod predicates;
mod ranges;
mod successors;
mod value;

pub use compiled_labels::CompiledLabels;
pub use compiled_model::CompiledModel;

/// Reason why a model cannot be compiled. It can be interpreted instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedModel(pub String);

impl core::fmt::Display for UnsupportedModel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for UnsupportedModel {}
