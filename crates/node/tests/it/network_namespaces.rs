//! Five hosts, each a network namespace with its own link to a switch: every algorithm gives the simulator's verdict,
//! even if a link is cut until the host is considered down.
//!
//! Needs `ip` and the privilege to create network namespaces; prints a note and passes without them.

use crate::support::cases::{Case, case, late};
use invigil_decent::algorithm::Algorithm;
use invigil_test_support::Rng;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const HOSTS: usize = 5;

/// Hosts and a switch, removed on drop.
struct Hosts {
    tag: String,
    nodes: Vec<Child>,
    folder: tempfile::TempDir,
}

fn ip(arguments: &str) -> bool {
    let done = Command::new("ip").args(arguments.split(' ')).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

impl Hosts {
    /// Returns `None` without privileges.
    fn new() -> Option<Hosts> {
        let tag = format!("iv{}", std::process::id());
        let hosts = Hosts { tag: tag.clone(), nodes: Vec::new(), folder: tempfile::tempdir().unwrap() };
        if !ip(&format!("netns add {tag}s")) {
            return None;
        }
        let mut good =
            ip(&format!("-n {tag}s link add sw type bridge")) && ip(&format!("-n {tag}s link set sw up"));
        for host in 0..HOSTS {
            let own = format!("{tag}{host}");
            good = good
                && ip(&format!("netns add {own}"))
                && ip(&format!("-n {own} link add eth type veth peer name p{host} netns {tag}s"))
                && ip(&format!("-n {own} addr add 10.77.0.{}/24 dev eth", host + 1))
                && ip(&format!("-n {own} link set eth up"))
                && ip(&format!("-n {own} link set lo up"))
                && ip(&format!("-n {tag}s link set p{host} master sw up"));
        }
        // Dropping `hosts` removes what has been created so far.
        good.then_some(hosts)
    }

    fn endpoint(host: usize) -> String {
        format!("tcp/10.77.0.{}:7447", host + 1)
    }

    /// Returns the command, run on a host.
    fn on(&self, host: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}{host}", self.tag), env!("CARGO_BIN_EXE_invigil-node")]);
        command
    }

    fn start(&mut self) {
        for host in 0..HOSTS {
            let name = char::from(b'a' + host as u8).to_string();
            let mut command = self.on(host);
            command.args(["serve", "--name", &name, "--listen", &Hosts::endpoint(host)]);
            command.arg("--folder").arg(self.folder.path().join(&name));
            if host > 0 {
                let others: Vec<String> = (0..host).map(Hosts::endpoint).collect();
                command.args(["--connect", &others.join(",")]);
            }
            self.nodes.push(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
        }
    }

    /// Starts a run from the first host.
    fn run(&self, choice: Algorithm, case: &Case) -> Child {
        let traces = self.folder.path().join("traces");
        std::fs::create_dir_all(&traces).unwrap();
        for component in case.system.components() {
            let name = case.system.component_name(component);
            std::fs::write(traces.join(format!("0-{name}.trace")), case.text(component)).unwrap();
        }
        let mut command = self.on(0);
        command.args(["run", "--json", "--formula", case.formula, "--algorithm", choice.name()]);
        command.args(["--nodes", "a=a,b=b,c=c,d=d,e=e", "--timeout", "240", "--traces"]).arg(traces);
        command.args(["--connect", &(0..HOSTS).map(Hosts::endpoint).collect::<Vec<_>>().join(",")]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Returns the round of the node on the first host.
    fn round(&self) -> Option<u64> {
        let out = self.on(0).args(["status", "--json", "--connect", &Hosts::endpoint(0)]).output().unwrap();
        let nodes: Value = serde_json::from_slice(&out.stdout).ok()?;
        nodes.as_array()?.iter().find(|node| node["name"] == "a")?["runs"][0]["round"].as_u64()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
        for host in 0..HOSTS {
            ip(&format!("netns del {}{host}", self.tag));
        }
        ip(&format!("netns del {}s", self.tag));
    }
}

fn compare(run: Child, case: &Case) {
    let out = run.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&out.stdout).expect("a report");
    let (expected, figures) = case.simulated();
    assert_eq!(report["verdict"], expected.verdict.to_string(), "{}", case.formula);
    assert_eq!(report["rounds"], expected.rounds);
    assert_eq!(report["instant"].as_u64(), expected.verdict_origin.map(|(of, _)| u64::from(of)));
    assert_eq!(report["messages"].as_f64(), Some(figures.messages));
}

#[test]
fn run_on_five_hosts_survives_a_cut_link() {
    let Some(mut hosts) = Hosts::new() else {
        eprintln!("skipped: network namespaces need the right to make them, and the command `ip`");
        return;
    };
    hosts.start();
    let random = Rng::new(5);
    for choice in Algorithm::ALL {
        let case = case(choice, HOSTS, 20, &random);
        compare(hosts.run(choice, &case), &case);
    }
    let case = late(Algorithm::Broadcast, HOSTS, 3000);
    let run = hosts.run(Algorithm::Broadcast, &case);
    let began = Instant::now();
    while hosts.round().is_none_or(|round| round < 20) {
        assert!(began.elapsed() < Duration::from_secs(120), "the run does not begin");
    }
    let tag = hosts.tag.clone();
    assert!(ip(&format!("-n {tag}s link set p3 down")));
    // Longer than the timeout after which the host is considered down.
    thread::sleep(Duration::from_secs(4));
    let (one, two) = (hosts.round(), hosts.round());
    assert!(one == two && one < Some(3000), "it went on without the host: {one:?} {two:?}");
    assert!(ip(&format!("-n {tag}s link set p3 up")));
    compare(run, &case);
}
