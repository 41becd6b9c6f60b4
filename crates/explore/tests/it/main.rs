//! State spaces: search, cycles, validation, debugging.

// Accepting cycles in random graphs.
mod accepting_cycles;
// Bulk scheduling against the operators of the semantic interface.
mod bulk_scheduling;
// The breakpoint finder and the unified debugger.
mod debugger;
// Subjects that fail during exploration.
mod failing_subjects;
// Products of models and automata, with and without fairness.
mod fairness;
// Reduced state spaces against full ones.
mod partial_order_reduction;
// Searches of random graphs.
mod reachability;
// Trace validation against a naive search.
mod trace_validation;
