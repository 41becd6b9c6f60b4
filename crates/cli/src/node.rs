//! `invigil node`: runs the separate command `invigil-node`, because its network layer takes long to compile.

use crate::{CliError, SUBJECT_FAILED};
use clap::Args;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

const COMMAND: &str = "invigil-node";

/// Run decentralized monitors on the nodes of a network
///
/// Passes all arguments to the command `invigil-node`: `serve` runs a node, `run` deploys monitors on nodes and waits for
/// their verdict, `status` lists the nodes. See `invigil node --help`.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Node {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

pub(crate) fn run(options: &Node) -> Result<ExitCode, CliError> {
    // The binary in the same directory has the same version; otherwise one in `PATH` is used.
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(COMMAND)));
    let beside = beside.filter(|path| path.is_file());
    let error = Command::new(beside.as_deref().unwrap_or(Path::new(COMMAND))).args(&options.arguments).exec();
    let message =
        format!("cannot start `{COMMAND}` ({error}); install it with `cargo install --path crates/node`");
    Err(CliError { status: SUBJECT_FAILED, ..CliError::new(message) })
}
