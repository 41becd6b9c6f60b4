//! Nodes in this process.

use invigil_node::client;
use invigil_node::link::{Link, Options};
use invigil_node::serve::{Signal, serve, signals};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Ways into the network for so many nodes, each of which connects to those before it, and one for a client.
pub(super) fn ways(count: usize) -> Result<(Vec<Options>, Options), String> {
    // Held together, so that all are different.
    let ports = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>();
    let ports = ports.and_then(|all| all.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>());
    let endpoints: Vec<String> =
        ports.map_err(|error| error.to_string())?.iter().map(|address| format!("tcp/{address}")).collect();
    let way = |listen: &[String], connect: &[String]| Options {
        listen: listen.to_vec(),
        connect: connect.to_vec(),
        config: None,
        realm: "bench".to_owned(),
    };
    let nodes = (0..count).map(|place| way(&endpoints[place..=place], &endpoints[..place]));
    Ok((nodes.collect(), way(&[], &endpoints)))
}

/// A node's thread.
type Work = JoinHandle<Result<(), String>>;

/// Nodes, and a client's link to them.
pub(super) struct Cluster {
    names: Vec<String>,
    nodes: Vec<(SyncSender<Signal>, Work)>,
    link: Link,
}

impl Cluster {
    pub(super) fn start(count: usize, folder: Option<&Path>) -> Result<Cluster, String> {
        let names: Vec<String> = (0..count).map(|place| format!("n{place}")).collect();
        let (ways, client) = ways(count)?;
        let mut nodes = Vec::new();
        for (name, way) in names.clone().into_iter().zip(ways) {
            let (sender, receiver) = signals();
            let stop = sender.clone();
            let folder = folder.map(|folder| folder.join(&name));
            let work = move || serve(&name, &way, folder.as_deref(), (sender, receiver), &mut |_| {});
            nodes.push((stop, thread::spawn(work)));
        }
        let link = Link::open(&client)?;
        client::gather(&link, &names, Duration::from_secs(30))?;
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
            // A node that has failed does not listen any more.
            let _ = stop.send(Signal::Stop);
            node.join().map_err(|_| "a node broke down")??;
        }
        Ok(())
    }
}
