//! Compiled models.

// Compiled models against interpreted ones.
mod differential;
// Helper: random models and configurations.
mod random_models;
