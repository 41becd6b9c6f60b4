//! Nodes as processes on this machine: every algorithm gives the simulator's verdict, even if a node is killed and
//! restarted, stopped, or disconnected; malformed payloads are rejected.

use crate::support::cluster::{Cluster, command, direct, run, until, until_round, write_traces};
use crate::support::{case, late};
use invigil_decent::algorithm::Algorithm;
use invigil_decent::system::MonitorId;
use invigil_ltl::moore::Truth;
use invigil_node::client;
use invigil_node::deployment::{Deployment, TraceSource};
use invigil_node::serve::MAX_RUNS;
use invigil_node::wire::{self, Envelope, NodeMessage, Reply, Request, RunId};
use invigil_test_support::Rng;
use nix::sys::signal::Signal;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use zenoh::Wait;
use zenoh::qos::CongestionControl;

#[test]
fn all_algorithms_give_the_simulators_verdict() {
    let cluster = Cluster::start(4, None, direct);
    let link = cluster.link();
    let random = Rng::new(11);
    for choice in Algorithm::ALL {
        for _ in 0..3 {
            run(&link, &case(choice, 4, 30, &random), || {});
        }
    }
}

#[test]
fn killed_node_resumes_its_run() {
    let mut cluster = Cluster::start(3, None, direct);
    let link = cluster.link();
    let case = late(Algorithm::Migration { active: 2 }, 3, 3000);
    let report = run(&link, &case, || {
        for (place, round) in [(1, 50), (2, 200)] {
            until_round(&link, "a", round);
            cluster.kill(place);
            // The third one may be missing, too, if it waits for a round itself.
            let name = ["a", "b", "c"][place].to_owned();
            until(&link, "a", |status| status.runs[0].missing.contains(&name));
            cluster.restart(place);
        }
    });
    for (name, progress) in report.nodes {
        assert_eq!(progress.stats.restarts, u32::from(name != "a"), "{name}");
    }
}

#[test]
fn stopped_node_is_waited_for() {
    let cluster = Cluster::start(3, None, direct);
    let link = cluster.link();
    let case = late(Algorithm::Broadcast, 3, 2000);
    run(&link, &case, || {
        let before = until_round(&link, "a", 50);
        cluster.signal(2, Signal::SIGSTOP);
        // Longer than the timeout after which a link is closed.
        thread::sleep(Duration::from_secs(4));
        let during = until(&link, "a", |_| true).runs[0].clone();
        assert_eq!(during.missing, ["c"], "{before:?} {during:?}");
        cluster.signal(2, Signal::SIGCONT);
    });
}

/// Proxy that forwards data with a small delay until it is asked to cut all connections; then it starts again.
fn proxy(listener: TcpListener, to: String, cuts: Receiver<()>) {
    let (alive, connections) = channel::<TcpStream>();
    thread::spawn(move || {
        for one in listener.incoming() {
            let (Ok(one), Ok(other)) = (one, TcpStream::connect(&to)) else { continue };
            for (from, to) in [(&one, &other), (&other, &one)] {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                alive.send(from.try_clone().unwrap()).unwrap();
                thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(count @ 1..) = from.read(&mut buffer) {
                        thread::sleep(Duration::from_millis(1));
                        if to.write_all(&buffer[..count]).is_err() {
                            break;
                        }
                    }
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        }
    });
    thread::spawn(move || {
        for () in cuts {
            for stream in connections.try_iter() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    });
}

#[test]
fn repeatedly_cut_link_does_not_change_the_verdict() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Nodes do not learn a path around the proxy.
    let config = r#"{
        scouting: { multicast: { enabled: false }, gossip: { enabled: false } },
        connect: { retry: { period_init_ms: 50, period_max_ms: 200, period_increase_factor: 2 } },
    }"#;
    let way = |from, to, endpoint: &str| match (from, to) {
        (1, 0) => format!("tcp/{address}"),
        _ => endpoint.to_owned(),
    };
    let cluster = Cluster::start(3, Some(config), way);
    let (cut, cuts) = channel();
    proxy(listener, cluster.endpoints()[0].trim_start_matches("tcp/").to_owned(), cuts);
    let link = cluster.link();
    let case = late(Algorithm::Abridged, 3, 400);
    run(&link, &case, || {
        for round in [20, 60, 100, 140, 180] {
            until_round(&link, "a", round);
            cut.send(()).unwrap();
        }
    });
}

#[test]
fn malformed_payloads_are_rejected_and_counted() {
    let cluster = Cluster::start(3, None, direct);
    let link = cluster.link();
    let mut config = zenoh::Config::default();
    config.insert_json5("connect/endpoints", &format!("{:?}", cluster.endpoints())).unwrap();
    config.insert_json5("scouting/multicast/enabled", "false").unwrap();
    let stranger = zenoh::open(config).wait().unwrap();
    let ahead = wire::RoundBundle { round: 1_000_000, messages: Vec::new(), verdict: None, is_over: true };
    let case = late(Algorithm::Orchestration, 3, 1500);
    let mut other_version =
        wire::encode(&Envelope { run: RunId(1), from: 1, message: NodeMessage::Resend(1) }).unwrap();
    other_version[4] = 77;
    let hostile: [(&str, Vec<u8>); 7] = [
        ("b", b"hello".to_vec()),
        ("b", Vec::new()),
        ("b", other_version),
        ("b", vec![0; 9 << 20]),
        (
            "b",
            wire::encode(&Envelope { run: RunId(1), from: 1, message: NodeMessage::Bundle(ahead) }).unwrap(),
        ),
        ("\u{1b}[31m", b"hello".to_vec()),
        (
            "mallory",
            wire::encode(&Envelope { run: RunId(1), from: 1, message: NodeMessage::Resend(1) }).unwrap(),
        ),
    ];
    run(&link, &case, || {
        until_round(&link, "a", 20);
        for (from, bytes) in &hostile {
            stranger
                .put(format!("invigil/mail/a/{from}"), bytes.clone())
                .congestion_control(CongestionControl::Block)
                .wait()
                .unwrap();
        }
        until(&link, "a", |status| status.refused == hostile.len() as u64);
        // A duplicate of an old message with different content.
        let verdict = wire::Verdict { truth: Truth::True, instant: 1, monitor: MonitorId(0) };
        for round in 1..=10 {
            let old =
                wire::RoundBundle { round, messages: Vec::new(), verdict: Some(verdict), is_over: true };
            let old = wire::encode(&Envelope { run: RunId(1), from: 1, message: NodeMessage::Bundle(old) })
                .unwrap();
            stranger
                .put("invigil/mail/a/b", old)
                .congestion_control(CongestionControl::Block)
                .wait()
                .unwrap();
        }
        until(&link, "a", |status| status.runs[0].stats.duplicates >= 10);
    });
    let too_large = (65 << 20, "the payload has 68157440 bytes, more than the limit of 67108864");
    for (size, words) in
        [(0, "the payload is not of this protocol"), (5, "the payload is not of this protocol"), too_large]
    {
        let replies = stranger.get("invigil/ask/a").payload(vec![0; size]).wait().unwrap();
        let reply = replies.recv().unwrap();
        let bytes = reply.result().unwrap().payload().to_bytes().into_owned();
        let Ok(Reply::Refused(why)) = wire::decode(&bytes) else { panic!("it was taken") };
        assert_eq!(why, words);
    }
    // The part of another node, and the id of a different run.
    let plan = case.plan(|name| name.to_owned());
    let wrong = Request::Deploy(Box::new(plan[1].clone()));
    let reply = link.request("a", &wrong, crate::support::cluster::LONG).unwrap();
    assert!(matches!(reply, Some(Reply::Refused(why)) if why.contains("not for node")));
    let mut large = plan[0].clone();
    large.sources[0].1 = TraceSource::Inline("a0:t\n".repeat(14 << 20));
    let why =
        link.request("a", &Request::Deploy(Box::new(large)), crate::support::cluster::LONG).unwrap_err();
    assert!(
        why.contains(
            "more than the limit of 67108864; traces can be stored on the nodes instead (--own-traces)"
        ),
        "{why}"
    );
}

#[test]
fn node_at_its_limit_drops_finished_runs() {
    let cluster = Cluster::start(2, None, direct);
    let link = cluster.link();
    let plan = late(Algorithm::Orchestration, 2, 5).plan(|_| "a".to_owned()).remove(0);
    let deploy = |number| {
        let plan = Deployment { run: RunId(number), ..plan.clone() };
        match link.request("a", &Request::Deploy(Box::new(plan)), crate::support::cluster::LONG).unwrap() {
            Some(Reply::Done) => Ok(()),
            Some(Reply::Refused(why)) => Err(why),
            other => panic!("{other:?}"),
        }
    };
    for number in 0..80 {
        assert_eq!(deploy(number), Ok(()));
        until(&link, "a", |status| status.runs.iter().all(|run| run.end.is_some()));
    }
    assert_eq!(until(&link, "a", |_| true).runs.len(), MAX_RUNS);
}

#[test]
fn nodes_can_be_clients_of_a_router() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut config = zenoh::Config::default();
    for (key, value) in [
        ("mode", "\"router\""),
        ("listen/endpoints", &format!("[\"tcp/127.0.0.1:{port}\"]")[..]),
        ("scouting/multicast/enabled", "false"),
    ] {
        config.insert_json5(key, value).unwrap();
    }
    let router = zenoh::open(config).wait().unwrap();
    let config = format!("{{ mode: \"client\", connect: {{ endpoints: [\"tcp/127.0.0.1:{port}\"] }} }}");
    let cluster = Cluster::of_clients(3, &config);
    let link = cluster.link();
    for choice in [Algorithm::Broadcast, Algorithm::Abridged] {
        run(&link, &case(choice, 3, 30, &Rng::new(7)), || {});
    }
    router.close().wait().unwrap();
}

#[test]
fn zenoh_admin_space_is_available_when_enabled() {
    let config = "{ scouting: { multicast: { enabled: false } }, adminspace: { enabled: true } }";
    for (config, is_there) in [(Some(config), true), (None, false)] {
        let cluster = Cluster::start(2, config, direct);
        cluster.link();
        let mut config = zenoh::Config::default();
        config.insert_json5("connect/endpoints", &format!("{:?}", cluster.endpoints())).unwrap();
        config.insert_json5("scouting/multicast/enabled", "false").unwrap();
        let stranger = zenoh::open(config).wait().unwrap();
        let replies = stranger.get("@/*/peer").wait().unwrap();
        let count = replies.iter().filter(|reply| reply.result().is_ok()).count();
        assert_eq!(count, if is_there { 2 } else { 0 });
    }
}

#[test]
fn command_runs_shows_and_stops_runs() {
    let cluster = Cluster::start(2, None, direct);
    let link = cluster.link();
    let case = late(Algorithm::Abridged, 2, 40);
    let traces = cluster.folder.path().join("traces");
    write_traces(&case, &traces);
    let folder = traces.to_str().unwrap();
    let (out, err, code) = command(
        &cluster,
        &["run", "--formula", case.formula, "--traces", folder, "--nodes", "a=a,b=b", "--json"],
    );
    assert_eq!(code, Some(1), "{err}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let (expected, figures) = case.simulated();
    assert_eq!(report["verdict"], expected.verdict.to_string());
    assert_eq!(report["rounds"], expected.rounds);
    assert_eq!(report["messages"].as_f64(), Some(figures.messages));
    assert!(report["latency_microseconds"].is_u64());

    // A specification with several monitors; the traces are on the nodes.
    for name in ["a", "b"] {
        write_traces(&case, &cluster.folder.path().join(name).join("traces"));
    }
    let spec = cluster.folder.path().join("both.dec");
    std::fs::write(
        &spec,
        "component a: a0, a1\ncomponent b: b0, b1\nright @ b = b0\nroot @ a = G(a0 & @right)\n",
    )
    .unwrap();
    let spec = spec.to_str().unwrap();
    let (out, err, code) = command(&cluster, &["run", "--spec", spec, "--own-traces", "--nodes", "a=a,b=b"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(out.starts_with("verdict false at instant"), "{out}");

    let (out, _, _) = command(&cluster, &["status", "--wait-for", "2"]);
    assert!(out.contains("a: up for") && out.contains("b: up for") && out.contains("0 runs"), "{out}");
    for (arguments, words) in [
        (&["run", "--formula", "F a0", "--traces", folder, "--nodes", "a=a"][..], "component b has no node"),
        (&["run", "--formula", "F z", "--traces", folder, "--nodes", "a=a,b=b"], "`z`"),
        (&["run", "--formula", "F a0", "--traces", folder, "--nodes", "a=a,b=b/*"], "is not a valid name"),
        (
            &["run", "--formula", "F a0", "--traces", folder, "--nodes", "a=a,b=b,a=b"],
            "assigned to two nodes",
        ),
        (
            &[
                "run",
                "--formula",
                "F a0",
                "--own-traces",
                "--trace",
                "7",
                "--observes",
                "a=a0",
                "--nodes",
                "a=a",
            ],
            "7-a.trace",
        ),
        (
            &["run", "--formula", "F a0", "--traces", folder, "--nodes", "a=a,b=nemo", "--timeout", "1"],
            "node nemo is not up (nodes that are: a, b)",
        ),
    ] {
        let (_, err, code) = command(&cluster, arguments);
        assert!(code == Some(2) && err.contains(words), "{err}");
    }
    for text in [&b"a0:t\na0:f\n\xff\xfe\n"[..], b"a0:t\n\nnonsense\n"] {
        std::fs::write(cluster.folder.path().join("a/traces/3-a.trace"), text).unwrap();
        let arguments =
            ["run", "--formula", "F (a0 & b0)", "--own-traces", "--observes", "a=a0", "--observes", "b=b0"];
        std::fs::write(cluster.folder.path().join("b/traces/3-b.trace"), "\n\n\n\n").unwrap();
        let (_, err, code) =
            command(&cluster, &[&arguments[..], &["--trace", "3", "--nodes", "a=a,b=b"]].concat());
        assert!(code == Some(2) && err.contains("the run fails on a: 3-a.trace:3: "), "{err}");
    }
    std::fs::write(traces.join("4-a.trace"), b"\xff").unwrap();
    let wrong = ["run", "--formula", "F a0", "--traces", folder, "--trace", "4", "--nodes", "a=a"];
    let (_, err, code) = command(&cluster, &wrong);
    assert!(code == Some(2) && err.contains("4-a.trace: ") && err.contains("UTF-8"), "{err}");

    let stuck = case.plan(|name| name.to_owned()).remove(0);
    let reply = link.request("a", &Request::Deploy(Box::new(stuck)), crate::support::cluster::LONG).unwrap();
    assert!(matches!(reply, Some(Reply::Done)));
    let (out, err, _) = command(&cluster, &["stop", "0000000000000001"]);
    assert!(out.starts_with("stopped on 2"), "{out}{err}");
    until(&link, "a", |status| status.runs.is_empty());
    assert_eq!(client::status(&link).unwrap().len(), 2);
}
