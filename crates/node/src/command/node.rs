//! `invigil-node serve`

use super::Network;
use clap::Args as Options;
use invigil_node::serve::{NodeInput, node_channel, serve as run_node};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

/// Run a node: take part in runs until stopped
#[derive(Options)]
pub(crate) struct Serve {
    /// Unique name of the node
    #[arg(long)]
    name: String,
    /// Folder for the state of runs and for local traces; without it, runs cannot be resumed after a restart
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    network: Network,
}

pub(crate) fn serve(options: &Serve) -> Result<ExitCode, String> {
    let (sender, receiver) = node_channel();
    let mut interrupts = Signals::new([SIGINT, SIGTERM]).map_err(|error| error.to_string())?;
    let stop = sender.clone();
    thread::spawn(move || {
        if interrupts.forever().next().is_some() {
            // The node may have stopped already.
            let _ = stop.send(NodeInput::Stop);
        }
    });
    let mut notify = |message: &str| eprintln!("{}: {message}", options.name);
    run_node(
        &options.name,
        &options.network.options(),
        options.folder.as_deref(),
        (sender, receiver),
        &mut notify,
    )?;
    Ok(ExitCode::SUCCESS)
}
