//! Nodes as processes.

use super::Case;
use invigil_node::client::{self, RunSummary};
use invigil_node::link::{Link, Options};
use invigil_node::run::RunProgress;
use invigil_node::wire::NodeStatus;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Generous timeout, for a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(240);

/// Nodes a, b, … on this machine, killed on drop.
pub(crate) struct Cluster {
    pub(crate) folder: tempfile::TempDir,
    nodes: Vec<Node>,
    config: Option<PathBuf>,
}

struct Node {
    name: String,
    listen: String,
    connect: Vec<String>,
    process: Child,
}

impl Cluster {
    /// Starts nodes, each of which connects to those before it. `way` may replace the endpoint of a connection.
    pub(crate) fn start(
        count: usize,
        config: Option<&str>,
        way: impl Fn(usize, usize, &str) -> String,
    ) -> Cluster {
        Cluster::start_in(tempfile::tempdir().unwrap(), count, config, way)
    }

    /// The same with a folder.
    pub(crate) fn start_in(
        folder: tempfile::TempDir,
        count: usize,
        config: Option<&str>,
        way: impl Fn(usize, usize, &str) -> String,
    ) -> Cluster {
        let config = config.map(|text| {
            let path = folder.path().join("config.json5");
            std::fs::write(&path, text).unwrap();
            path
        });
        // All ports are held at the same time, so that they differ.
        let ports: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let endpoints: Vec<String> =
            ports.iter().map(|port| format!("tcp/{}", port.local_addr().unwrap())).collect();
        drop(ports);
        let mut cluster = Cluster { folder, nodes: Vec::new(), config };
        for (place, listen) in endpoints.iter().enumerate() {
            let name = char::from(b'a' + place as u8).to_string();
            let connect: Vec<String> = (0..place).map(|other| way(place, other, &endpoints[other])).collect();
            let process = cluster.spawn(&name, listen, &connect);
            cluster.nodes.push(Node { name, listen: listen.clone(), connect, process });
        }
        cluster
    }

    /// Starts nodes that do not listen; the configuration contains their endpoints.
    pub(crate) fn of_clients(count: usize, config: &str) -> Cluster {
        let mut cluster = Cluster::start(0, Some(config), direct);
        for name in ["a", "b", "c", "d", "e"].into_iter().take(count) {
            let process = cluster.spawn(name, "", &[]);
            let (name, listen) = (name.to_owned(), String::new());
            cluster.nodes.push(Node { name, listen, connect: Vec::new(), process });
        }
        cluster
    }

    fn spawn(&self, name: &str, listen: &str, connect: &[String]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_invigil-node"));
        command.args(["serve", "--name", name]);
        if !listen.is_empty() {
            command.args(["--listen", listen]);
        }
        command.arg("--folder").arg(self.folder.path().join(name));
        if !connect.is_empty() {
            command.args(["--connect", &connect.join(",")]);
        }
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    }

    pub(crate) fn endpoints(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.listen.clone()).filter(|listen| !listen.is_empty()).collect()
    }

    /// Returns a link once all nodes are up.
    pub(crate) fn link(&self) -> Link {
        let connect = self.endpoints();
        let config = self.config.clone().filter(|_| connect.is_empty());
        let options = Options { connect, config, realm: "invigil".to_owned(), ..Options::default() };
        let link = Link::open(&options).unwrap();
        let names: Vec<String> = self.nodes.iter().map(|node| node.name.clone()).collect();
        client::wait_for_nodes(&link, &names, LONG).unwrap();
        link
    }

    pub(crate) fn kill(&mut self, place: usize) {
        self.nodes[place].process.kill().unwrap();
        self.nodes[place].process.wait().unwrap();
    }

    pub(crate) fn restart(&mut self, place: usize) {
        let Node { name, listen, connect, .. } = &self.nodes[place];
        self.nodes[place].process = self.spawn(name, listen, connect);
    }

    pub(crate) fn signal(&self, place: usize, signal: Signal) {
        kill(Pid::from_raw(self.nodes[place].process.id() as i32), signal).unwrap();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.process.kill();
            let _ = node.process.wait();
        }
    }
}

/// Runs a case with one node per component while `meanwhile` runs, and compares the result with the simulator.
pub(crate) fn run(link: &Link, case: &Case, meanwhile: impl FnOnce()) -> RunSummary {
    let plan = case.plan(|name| name.to_owned());
    let report = thread::scope(|scope| {
        let run = scope.spawn(|| client::run(link, plan, LONG, &mut |words| eprintln!("{words}")));
        meanwhile();
        run.join().unwrap().unwrap()
    });
    let (expected, figures) = case.simulated();
    assert_eq!(invigil_decent::simulate::SimulationResult::from(report.end), expected, "{}", case.formula);
    let sent = [report.sum(|node| node.stats.traffic.messages), report.sum(|node| node.stats.traffic.data)];
    // The client may not have reconnected yet; the verdict does not depend on it.
    if report.nodes.len() == case.system.components().len() {
        assert_eq!(sent.map(|sent| sent as f64), [figures.messages, figures.data]);
    }
    report
}

/// Direct connection between two nodes.
pub(crate) fn direct(_: usize, _: usize, endpoint: &str) -> String {
    endpoint.to_owned()
}

/// Returns the output of the command and its exit status.
pub(crate) fn command(cluster: &Cluster, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invigil-node"));
    let out = command.args(arguments).args(["--connect", &cluster.endpoints().join(",")]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&out.stdout), text(&out.stderr), out.status.code())
}

/// Writes the traces of a case for the command.
pub(crate) fn write_traces(case: &Case, folder: &std::path::Path) {
    std::fs::create_dir_all(folder).unwrap();
    for component in case.system.components() {
        let path = folder.join(format!("0-{}.trace", case.system.component_name(component)));
        std::fs::write(path, case.text(component)).unwrap();
    }
}

/// Waits until a node prints something.
pub(crate) fn until(link: &Link, name: &str, good: impl Fn(&NodeStatus) -> bool) -> NodeStatus {
    let began = Instant::now();
    loop {
        let all = client::status(link).unwrap();
        if let Some(status) = all.into_iter().find(|status| status.name == name && good(status)) {
            return status;
        }
        assert!(began.elapsed() < LONG, "{name} never comes to it");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a node's run has reached a round and has not ended.
pub(crate) fn until_round(link: &Link, name: &str, round: u32) -> RunProgress {
    let status = until(link, name, |status| status.runs.first().is_some_and(|run| run.round >= round));
    let progress = status.runs[0].clone();
    assert_eq!(progress.end, None, "it was too fast for the test");
    progress
}
