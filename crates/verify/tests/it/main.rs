//! Claims about models.

// Random models against a naive search.
mod differential;
// Which searches use partial-order reduction.
mod reduction;
// Verdicts against those of SPIN.
mod spin;
// From the text of a log to the report.
mod trace_validation;
