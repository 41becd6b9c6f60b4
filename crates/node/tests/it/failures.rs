//! Failures around nodes: stopped and dead clients, occupied folders, full disks.

use crate::support::cluster::{Cluster, command, direct, run, until, until_round, write_traces};
use crate::support::{Case, late};
use invigil_decent::algorithm::Algorithm;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Client in a process of its own, with the id of its run and its later output.
fn client(cluster: &Cluster, case: &Case) -> (Child, String, JoinHandle<String>) {
    let traces = cluster.folder.path().join("traces");
    write_traces(case, &traces);
    let mut command = Command::new(env!("CARGO_BIN_EXE_invigil-node"));
    command.args(["run", "--json", "--formula", case.formula, "--algorithm", "broadcast"]);
    command.args(["--nodes", "a=a,b=b", "--connect", &cluster.endpoints().join(","), "--traces"]).arg(traces);
    let mut client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = String::new();
    let mut reported = BufReader::new(client.stderr.take().unwrap());
    reported.read_line(&mut words).unwrap();
    let reported = thread::spawn(move || std::io::read_to_string(reported).unwrap());
    let run = words.split(' ').nth(1).unwrap_or_default().to_owned();
    assert!(words.starts_with("run ") && run.len() == 16, "{words}");
    (client, run, reported)
}

fn compare(report: &str, case: &Case) {
    let report: Value = serde_json::from_str(report).expect("a report");
    let (expected, figures) = case.simulated();
    assert_eq!(report["verdict"], expected.verdict.to_string());
    assert_eq!(report["rounds"], expected.rounds);
    assert_eq!(report["messages"].as_f64(), Some(figures.messages));
}

#[test]
fn stopped_client_gets_the_verdict_when_continued() {
    let cluster = Cluster::start(2, None, direct);
    let link = cluster.link();
    let case = late(Algorithm::Broadcast, 2, 3000);
    let (client, _, _) = client(&cluster, &case);
    until_round(&link, "a", 50);
    let id = Pid::from_raw(client.id() as i32);
    kill(id, Signal::SIGSTOP).unwrap();
    // Longer than the timeout after which a link is closed; the run has ended by then.
    thread::sleep(Duration::from_secs(4));
    until(&link, "a", |status| status.runs[0].end.is_some());
    kill(id, Signal::SIGCONT).unwrap();
    let out = client.wait_with_output().unwrap();
    compare(&String::from_utf8_lossy(&out.stdout), &case);
    until(&link, "b", |status| status.runs.is_empty());
}

#[test]
fn run_of_dead_client_can_be_attached_or_stopped() {
    let cluster = Cluster::start(2, None, direct);
    let link = cluster.link();
    let case = late(Algorithm::Broadcast, 2, 2000);
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
        assert!(code == Some(2) && err.contains("no node that is up takes part"), "{err}");
    }
}

/// Returns the output of a node that fails to start.
fn fails(name: &str, folder: &Path, connect: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_invigil-node"));
    command.args(["serve", "--name", name, "--listen", "tcp/127.0.0.1:0", "--connect", connect, "--folder"]);
    let mut node = command.arg(folder).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while node.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(10));
    }
    // A node that is still running has not failed.
    let _ = node.kill();
    let out = node.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{words}");
    words
}

#[test]
fn duplicate_name_or_folder_is_rejected() {
    let mut cluster = Cluster::start(2, None, direct);
    let link = cluster.link();
    let case = late(Algorithm::Orchestration, 2, 3000);
    let (own, new) = (cluster.folder.path().join("a"), cluster.folder.path().join("new"));
    let at = cluster.endpoints()[0].clone();
    let words = fails("z", &own, &at);
    assert!(words.contains("another node uses this folder: use a separate one for each node"), "{words}");
    let words = fails("a", &new, &at);
    assert!(words.contains("another node a is up"), "{words}");
    run(&link, &case, || {
        until_round(&link, "b", 50);
        cluster.kill(0);
        let words = fails("z", &own, &at);
        assert!(words.contains("of node a: use a separate folder for each node"), "{words}");
        cluster.restart(0);
    });
}

/// Small disk, removed on drop.
struct Disk(PathBuf);

impl Disk {
    /// Returns `None` without privileges.
    fn new(folder: PathBuf) -> Option<Disk> {
        fs::create_dir_all(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=128k", "tmpfs"]).arg(&folder).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Disk(folder))
    }

    /// Fills the disk until `until` holds.
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
fn full_disk_fails_the_run_not_the_node() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(folder.path().join("b")) else {
        eprintln!("skipped: a small disk needs the right to mount one");
        return;
    };
    let cluster = Cluster::start_in(folder, 2, None, direct);
    let link = cluster.link();
    // More than fits on the disk.
    let traces = cluster.folder.path().join("traces");
    write_traces(&late(Algorithm::Broadcast, 2, 30_000), &traces);
    let arguments = ["run", "--formula", "G a0", "--nodes", "a=a,b=b", "--traces", traces.to_str().unwrap()];
    let (_, err, code) = command(&cluster, &arguments);
    assert!(code == Some(2) && err.contains("b rejects the run: ") && err.contains("No space left"), "{err}");
    assert_eq!(fs::read_dir(disk.0.join("runs")).unwrap().count(), 0, "it left something behind");

    let case = late(Algorithm::Broadcast, 2, 3000);
    let (mut client, _, reported) = client(&cluster, &case);
    until_round(&link, "b", 50);
    disk.fill(|| client.try_wait().unwrap().is_some());
    assert_eq!(client.wait().unwrap().code(), Some(2));
    let reported = reported.join().unwrap();
    assert!(
        reported.contains("the run fails on b: cannot save the state of round ")
            && reported.contains("No space left"),
        "{reported}"
    );
    fs::remove_file(disk.0.join("filler")).unwrap();
    run(&link, &late(Algorithm::Broadcast, 2, 20), || {});
}
