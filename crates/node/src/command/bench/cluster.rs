//! Nodes in this process.

use invigil_node::client;
use invigil_node::link::{Link, Options};
use invigil_node::serve::{NodeInput, node_channel, serve};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Returns network options for `count` nodes, each of which connects to those before it, and for a client.
pub(super) fn link_options(count: usize) -> Result<(Vec<Options>, Options), String> {
    // All ports are held at the same time, so that they differ.
    let ports = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>();
    let ports = ports.and_then(|all| all.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>());
    let endpoints: Vec<String> =
        ports.map_err(|error| error.to_string())?.iter().map(|address| format!("tcp/{address}")).collect();
    let options = |listen: &[String], connect: &[String]| Options {
        listen: listen.to_vec(),
        connect: connect.to_vec(),
        config: None,
        realm: "bench".to_owned(),
    };
    let nodes = (0..count).map(|index| options(&endpoints[index..=index], &endpoints[..index]));
    Ok((nodes.collect(), options(&[], &endpoints)))
}

/// Thread of a node.
type NodeThread = JoinHandle<Result<(), String>>;

/// Nodes, and a client's link to them.
pub(super) struct Cluster {
    names: Vec<String>,
    nodes: Vec<(SyncSender<NodeInput>, NodeThread)>,
    link: Link,
}

impl Cluster {
    pub(super) fn start(count: usize, folder: Option<&Path>) -> Result<Cluster, String> {
        let names: Vec<String> = (0..count).map(|index| format!("n{index}")).collect();
        let (link_options, client) = link_options(count)?;
        let mut nodes = Vec::new();
        for (name, options) in names.clone().into_iter().zip(link_options) {
            let (sender, receiver) = node_channel();
            let stop = sender.clone();
            let folder = folder.map(|folder| folder.join(&name));
            let work = move || serve(&name, &options, folder.as_deref(), (sender, receiver), &mut |_| {});
            nodes.push((stop, thread::spawn(work)));
        }
        let link = Link::open(&client)?;
        client::wait_for_nodes(&link, &names, Duration::from_secs(30))?;
        Ok(Cluster { names, nodes, link })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    pub(super) fn stop(self) -> Result<(), String> {
        self.link.close();
        for (stop, node) in self.nodes {
            // A failed node no longer listens.
            let _ = stop.send(NodeInput::Stop);
            node.join().map_err(|_| "a node panicked")??;
        }
        Ok(())
    }
}
