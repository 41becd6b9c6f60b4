//! Class files and weaving.

// Contents of class files, and unavailable captures.
mod class_files;
// Helpers: Java tools, class archives, plans.
mod common;
// Woven programs behave as before, and every event is reported.
mod corpus;
// Truncated and changed class files: no panic, no hang.
mod malformed_class_files;
// Methods near the limits of the format.
mod method_limits;
// Whole libraries, woven and verified.
mod platform;
// `compare`, and random plans: only probes are added.
mod random_plans;
