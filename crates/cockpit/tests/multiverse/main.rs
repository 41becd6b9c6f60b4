//! The debugger for models: scripted sessions.

mod files;
mod models;
mod sessions;
mod written;
