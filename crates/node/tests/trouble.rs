//! What goes wrong around nodes: clients that stand still or die, folders that are taken, disks that are full.

mod support {
    pub(crate) mod cases;
    pub(crate) mod cluster;
    pub(crate) use cases::*;
}

use invigil_decent::algorithm::Choice;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use support::cluster::{Cluster, command, direct, run, until, until_round, write_traces};
use support::{Case, late};

/// A client of its own process, with the number of its run, and what it says later.
fn client(cluster: &Cluster, case: &Case) -> (Child, String, JoinHandle<String>) {
    let traces = cluster.folder.path().join("traces");
    write_traces(case, &traces);
    let mut command = Command::new(env!("CARGO_BIN_EXE_invigil-node"));
    command.args(["run", "--json", "--formula", case.formula, "--algorithm", "broadcast"]);
    command.args(["--nodes", "a=a,b=b", "--connect", &cluster.endpoints().join(","), "--traces"]).arg(traces);
    let mut client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = String::new();
    let mut told = BufReader::new(client.stderr.take().unwrap());
    told.read_line(&mut words).unwrap();
    let told = thread::spawn(move || std::io::read_to_string(told).unwrap());
    let run = words.split(' ').nth(1).unwrap_or_default().to_owned();
    assert!(words.starts_with("run ") && run.len() == 16, "{words}");
    (client, run, told)
}

fn compare(report: &str, case: &Case) {
    let report: Value = serde_json::from_str(report).expect("a report");
    let (expected, figures) = case.simulated();
    assert_eq!(report["verdict"], expected.verdict.to_string());
    assert_eq!(report["rounds"], expected.rounds);
    assert_eq!(report["messages"].as_f64(), Some(figures.messages));
}

#[test]
fn a_client_that_stands_still_finds_the_verdict_when_it_goes_on() {
    let cluster = Cluster::start(2, None, direct);
    let link = cluster.link();
    let case = late(Choice::Broadcast, 2, 3000);
    let (client, _, _) = client(&cluster, &case);
    until_round(&link, "a", 50);
    let id = Pid::from_raw(client.id() as i32);
    kill(id, Signal::SIGSTOP).unwrap();
    // Longer than it takes until a link is closed; by then all is over.
    thread::sleep(Duration::from_secs(4));
    until(&link, "a", |status| status.runs[0].end.is_some());
    kill(id, Signal::SIGCONT).unwrap();
    let out = client.wait_with_output().unwrap();
    compare(&String::from_utf8_lossy(&out.stdout), &case);
    until(&link, "b", |status| status.runs.is_empty());
}

#[test]
fn a_run_whose_client_died_is_taken_up_or_stopped() {
    let cluster = Cluster::start(2, None, direct);
    let link = cluster.link();
    let case = late(Choice::Broadcast, 2, 2000);
    for verb in ["wait", "stop"] {
        let (mut client, id, _) = client(&cluster, &case);
        until_round(&link, "a", 50);
        client.kill().unwrap();
        client.wait().unwrap();
        let (status, _, _) = command(&cluster, &["status"]);
        assert!(status.contains(&format!("run {id}: round ")), "{status}");
        if verb == "wait" {
            let (out, err, code) = command(&cluster, &["wait", &id, "--json"]);
            assert_eq!(code, Some(1), "{err}");
            compare(&out, &case);
        } else {
            let (out, err, code) = command(&cluster, &["stop", &id]);
            assert_eq!((&out[..], code), ("stopped on 2 nodes\n", Some(0)), "{err}");
        }
        until(&link, "a", |status| status.runs.is_empty());
        let (_, err, code) = command(&cluster, &["wait", &id, "--timeout", "0"]);
        assert!(code == Some(2) && err.contains("no node that is here takes part"), "{err}");
    }
}

/// A node that ends at once, and what it says.
fn fails(name: &str, folder: &Path, connect: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invigil-node"));
    command.args(["serve", "--name", name, "--listen", "tcp/127.0.0.1:0", "--connect", connect, "--folder"]);
    let mut node = command.arg(folder).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while node.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(10));
    }
    // If it lives, it has not failed.
    let _ = node.kill();
    let out = node.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{words}");
    words
}

#[test]
fn a_node_has_its_name_and_its_folder_for_itself() {
    let mut cluster = Cluster::start(2, None, direct);
    let link = cluster.link();
    let case = late(Choice::Orchestration, 2, 3000);
    let (own, new) = (cluster.folder.path().join("a"), cluster.folder.path().join("new"));
    let at = cluster.endpoints()[0].clone();
    let words = fails("z", &own, &at);
    assert!(words.contains("another node uses this folder: give each its own"), "{words}");
    let words = fails("a", &new, &at);
    assert!(words.contains("there is another node a in the network"), "{words}");
    run(&link, &case, || {
        until_round(&link, "b", 50);
        cluster.kill(0);
        let words = fails("z", &own, &at);
        assert!(words.contains("of node a: give each node a folder of its own"), "{words}");
        cluster.restart(0);
    });
}

/// A disk with little room. It is taken away at the end.
struct Disk(PathBuf);

impl Disk {
    /// None if there are no rights.
    fn new(folder: PathBuf) -> Option<Disk> {
        fs::create_dir_all(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=128k", "tmpfs"]).arg(&folder).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Disk(folder))
    }

    /// Takes what room there is, as long as somebody wants it.
    fn fill(&self, mut until: impl FnMut() -> bool) {
        let mut filler = fs::File::create(self.0.join("filler")).unwrap();
        while !until() {
            while filler.write_all(&[0; 512]).is_ok() {}
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_and_the_node_lives() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(folder.path().join("b")) else {
        eprintln!("skipped: a small disk needs the right to mount one");
        return;
    };
    let cluster = Cluster::start_in(folder, 2, None, direct);
    let link = cluster.link();
    // More than there is room for.
    let traces = cluster.folder.path().join("traces");
    write_traces(&late(Choice::Broadcast, 2, 30_000), &traces);
    let arguments = ["run", "--formula", "G a0", "--nodes", "a=a,b=b", "--traces", traces.to_str().unwrap()];
    let (_, err, code) = command(&cluster, &arguments);
    assert!(code == Some(2) && err.contains("b refuses: ") && err.contains("No space left"), "{err}");
    assert_eq!(fs::read_dir(disk.0.join("runs")).unwrap().count(), 0, "it left something behind");

    let case = late(Choice::Broadcast, 2, 3000);
    let (mut client, _, told) = client(&cluster, &case);
    until_round(&link, "b", 50);
    disk.fill(|| client.try_wait().unwrap().is_some());
    assert_eq!(client.wait().unwrap().code(), Some(2));
    let told = told.join().unwrap();
    assert!(
        told.contains("the run fails on b: what it did in round ") && told.contains("No space left"),
        "{told}"
    );
    fs::remove_file(disk.0.join("filler")).unwrap();
    run(&link, &late(Choice::Broadcast, 2, 20), || {});
}
