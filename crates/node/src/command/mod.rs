//! Command line.

pub(crate) mod bench;
pub(crate) mod deploy;
pub(crate) mod node;
pub(crate) mod shell_files;
pub(crate) mod spec;
pub(crate) mod status;

use clap::{Args as Options, Parser, Subcommand};
use invigil_node::link;
use std::path::PathBuf;

/// Decentralized monitors on a real network.
#[derive(Parser)]
#[command(name = "invigil-node", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Serve(node::Serve),
    Run(deploy::Deploy),
    Wait(deploy::Wait),
    Status(status::Status),
    Stop(status::Stop),
    Bench(bench::Bench),
    #[command(hide = true)]
    Completions(shell_files::Completions),
    #[command(hide = true)]
    Man(shell_files::Man),
}

/// Network options.
#[derive(Options, Clone)]
pub(crate) struct Network {
    /// Listen at this endpoint: `tcp/0.0.0.0:7447`
    #[arg(long, value_name = "ENDPOINT", value_delimiter = ',')]
    listen: Vec<String>,
    /// Connect to this endpoint, where another node listens
    #[arg(long, value_name = "ENDPOINT", value_delimiter = ',')]
    connect: Vec<String>,
    /// A configuration file of zenoh: TLS, access control, routers and everything else
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Name of the realm; nodes of different realms do not see each other
    #[arg(long, value_name = "NAME", default_value = "invigil")]
    realm: String,
}

impl Network {
    pub(crate) fn options(&self) -> link::Options {
        let Network { listen, connect, config, realm } = self.clone();
        link::Options { listen, connect, config, realm }
    }
}
