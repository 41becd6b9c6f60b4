//! `invigil-node serve`

use super::Network;
use clap::Args as Options;
use invigil_node::serve::{Signal, serve as work, signals};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

/// Be a node: take part in runs until told to stop
#[derive(Options)]
pub(crate) struct Serve {
    /// The name of the node, which no other has
    #[arg(long)]
    name: String,
    /// Where its runs are written down, and where its own traces are; without one it cannot go on with a run after it was killed
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    network: Network,
}

pub(crate) fn serve(options: &Serve) -> Result<ExitCode, String> {
    let (sender, receiver) = signals();
    let mut interrupts = Signals::new([SIGINT, SIGTERM]).map_err(|error| error.to_string())?;
    let stop = sender.clone();
    thread::spawn(move || {
        if interrupts.forever().next().is_some() {
            // Who does not listen has stopped already.
            let _ = stop.send(Signal::Stop);
        }
    });
    let mut say = |words: &str| eprintln!("{}: {words}", options.name);
    work(&options.name, &options.network.options(), options.folder.as_deref(), (sender, receiver), &mut say)?;
    Ok(ExitCode::SUCCESS)
}
