//! Tests of the command: the real binary on real files, its output and its exit status.

// The same random properties and runs in every host of monitors.
mod all_hosts;
// `attach`: processes that were started elsewhere.
mod attach;
// Bad input: messages and exit statuses.
mod bad_input;
// `check` on good input: exit statuses, trace sources, options.
mod check;
// The Chiron specifications on a recorded run.
mod chiron;
// Helpers: runs the command in a temporary directory.
mod common;
// `decent`: runs, experiments, generators, drawings, checks.
mod decent;
// `decent run` with properties, formulae and scripts as components.
mod decent_boxes;
// `decent run` on live programs and peers.
mod decent_live;
// `decent run` on state tables and event logs.
mod decent_logs;
// `demo`, complete and with missing tools.
mod demo;
// Properties in the README and the documents.
mod documents;
// READMEs of the examples: every command prints the quoted output.
mod examples;
// Reports about formulae: instances, positions, misleading names.
mod formula_reports;
// Formulae in place of property files.
mod formulae;
// `mac instrument`: woven classes under the agent.
mod instrument;
// Java programs among the examples.
mod java_examples;
// Unknown names in Java programs, and programs that fail to start.
mod java_name_resolution;
// Java programs at the prompt and in reports.
mod jvm;
// `mac`: the stages as processes on files, FIFOs and sockets.
mod mac;
// `explore`, `debug` and `run` on models.
mod models;
// Several properties: reports keep the order of the trace.
mod multiple_properties;
// Helper: a C program that several modules run.
mod program;
// The prompt in a terminal.
mod prompt;
// `record`, and checking what it wrote.
mod record;
// `explore` and `debug` on remote languages.
mod remote;
// JSON, JUnit XML and SARIF.
mod reports;
// `run` without a terminal: reports, exit statuses, cleanup.
mod run;
// PEDL and MEDL on a native program.
mod scripts;
// `decent gen-day` and `decent detect`.
mod smart_home;
// Endless streams: violations are reported as they occur.
mod streams;
// The command alone: what it carries.
mod single_file;
// `fmt`, `explain`, `completions`, `man` and help.
mod subcommands;
// `check -m`: a model against a log.
mod trace_validation;
// Warnings about verdicts that may be wrong.
mod unsound_verdict_warnings;
// The zsh example in a terminal.
mod zsh;
