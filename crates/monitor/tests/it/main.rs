//! Monitors.

// Recogniser and checker of PEDL and MEDL.
mod mac;
