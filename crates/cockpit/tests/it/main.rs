//! The prompt on a scripted target, and the debugger for models.

// Sessions of the debugger for models.
mod multiverse;
// Commands of the prompt over a scripted program.
mod prompt;
// The table of commands in `docs/prompt.md`.
mod prompt_reference;
