//! The debugger for models: scripted sessions.

mod expression_language;
mod history_files;
mod models;
mod sessions;
