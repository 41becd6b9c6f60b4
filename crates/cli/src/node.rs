//! Nodes of decentralized monitoring: a command of its own, since the network is much to build.

use crate::{Trouble, UNRUNNABLE};
use clap::Args;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

const COMMAND: &str = "invigil-node";

/// Run decentralized monitors on the nodes of a network
///
/// All that follows is given to the command `invigil-node`: `serve` is a node, `run` deploys monitors on nodes and
/// waits for their verdict, `status` shows who is there.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Node {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

pub(crate) fn run(options: &Node) -> Result<ExitCode, Trouble> {
    // The one beside this command is of the same version; an installed one may be elsewhere.
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(COMMAND)));
    let beside = beside.filter(|path| path.is_file());
    let error = Command::new(beside.as_deref().unwrap_or(Path::new(COMMAND))).args(&options.arguments).exec();
    let message =
        format!("{COMMAND} cannot be started ({error}): build it with `cargo build --release -p {COMMAND}`");
    Err(Trouble { status: UNRUNNABLE, ..Trouble::new(message) })
}
