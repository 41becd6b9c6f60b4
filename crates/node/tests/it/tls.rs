//! TLS and access control, with the commands and configurations in `docs/nodes.md`.
//!
//! The main CI job does not build the feature: `scripts/tls` runs this.

use crate::support::late;
use invigil_decent::algorithm::Algorithm;
use serde_json::Value;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::qos::CongestionControl;

/// Returns the code block of a language in the document that contains the given words.
fn block<'a>(page: &'a str, language: &str, words: &str) -> &'a str {
    let begin = format!("```{language}\n");
    let mut blocks = page.split(&begin[..]).skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks.find(|block| block.contains(words)).unwrap_or_else(|| panic!("no block with {words}"))
}

/// Two nodes, `hall` and `attic`, and the files of a user.
struct House {
    folder: tempfile::TempDir,
    endpoints: [String; 2],
    nodes: Vec<Child>,
}

impl House {
    fn new() -> House {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/nodes.md");
        let page = std::fs::read_to_string(root).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut openssl = Command::new("sh");
        openssl.args(["-ec", block(&page, "sh", "openssl")]).current_dir(&folder);
        let made = openssl.stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(made.is_ok_and(|status| status.success()), "openssl makes no certificates");
        let tls = block(&page, "json5", "root_ca_certificate").to_owned();
        let access = block(&page, "json5", "access_control");
        let guarded = tls.trim_end().trim_end_matches('}').to_owned() + access.trim_start_matches('{');
        let exchanged = guarded.replace("hall", "?").replace("attic", "hall").replace('?', "attic");
        let bare = "{ scouting: { multicast: { enabled: false } },\
                     transport: { link: { tls: { root_ca_certificate: \"ca.pem\" } } } }";
        let files = [
            ("hall", guarded),
            ("attic", exchanged),
            ("boss", tls.replace("hall", "boss")),
            ("thief", tls.replace("hall", "attic")),
            ("nobody", bare.to_owned()),
        ];
        for (name, text) in files {
            // Paths are relative to the reader, and this test runs its sessions elsewhere.
            let mut text = text;
            for owner in ["ca", "hall", "attic", "boss"] {
                for end in ["pem", "key"] {
                    let full = folder.path().join(format!("{owner}.{end}"));
                    text = text.replace(&format!("\"{owner}.{end}\""), &format!("{full:?}"));
                }
            }
            std::fs::write(folder.path().join(format!("{name}.json5")), text).unwrap();
        }
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let endpoints = ports.map(|port| format!("tls/localhost:{}", port.local_addr().unwrap().port()));
        let mut house = House { folder, endpoints, nodes: Vec::new() };
        for (place, name) in ["hall", "attic"].into_iter().enumerate() {
            let mut command = house.command("serve", name);
            command.args(["--name", name, "--folder", name, "--listen", &house.endpoints[place]]);
            if place == 1 {
                command.args(["--connect", &house.endpoints[0]]);
            }
            let node = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            house.nodes.push(node);
        }
        house
    }

    /// Runs the command with the configuration of a user.
    fn command(&self, verb: &str, who: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_invigil-node"));
        command.args([verb, "--config", &format!("{who}.json5")]).current_dir(&self.folder);
        command
    }

    /// Returns its output.
    fn output(&self, who: &str, verb: &str, arguments: &[&str]) -> (String, String) {
        let mut command = self.command(verb, who);
        let out = command.args(arguments).args(["--connect", &self.endpoints.join(",")]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&out.stdout), text(&out.stderr))
    }

    /// Returns the number of payloads that `hall` has rejected, once it reports one.
    fn refused(&self) -> u64 {
        let began = Instant::now();
        loop {
            let (out, _) = self.output("boss", "status", &["--json"]);
            let nodes: Value = serde_json::from_str(&out).unwrap_or_default();
            let hall = nodes.as_array().and_then(|nodes| nodes.iter().find(|node| node["name"] == "hall"));
            if let Some(hall) = hall.filter(|hall| hall["last_refusal"] != "no answer") {
                return hall["refused"].as_u64().unwrap();
            }
            assert!(began.elapsed() < Duration::from_secs(60), "hall does not answer: {out}");
        }
    }

    /// Sends malformed payloads to `hall` with a certificate and under a name.
    fn nonsense(&self, who: &str, name: &str) {
        let mut config = zenoh::Config::from_file(self.folder.path().join(format!("{who}.json5"))).unwrap();
        config.insert_json5("connect/endpoints", &format!("[{:?}]", self.endpoints[0])).unwrap();
        let session = zenoh::open(config).wait().unwrap();
        // Waits until the receiver has declared its interest.
        thread::sleep(Duration::from_millis(500));
        let put = session.put(format!("invigil/mail/hall/{name}"), "hello");
        put.congestion_control(CongestionControl::Block).wait().unwrap();
        thread::sleep(Duration::from_millis(500));
        session.close().wait().unwrap();
    }
}

impl Drop for House {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

#[test]
fn documented_tls_and_access_control_work() {
    let house = House::new();
    let began = Instant::now();
    loop {
        let (out, err) = house.output("boss", "status", &[]);
        if out.contains("hall: up") && out.contains("attic: up") {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "the nodes are not here: {out}{err}");
    }
    let case = late(Algorithm::Broadcast, 2, 40);
    let traces = house.folder.path().join("traces");
    std::fs::create_dir(&traces).unwrap();
    for component in case.system.components() {
        let name = case.system.component_name(component);
        std::fs::write(traces.join(format!("0-{name}.trace")), case.text(component)).unwrap();
    }
    let run = |who: &str, nodes: &str, seconds: &str| {
        let arguments = ["--json", "--formula", case.formula, "--algorithm", "broadcast"];
        let more = ["--traces", "traces", "--timeout", seconds, "--nodes", nodes];
        house.output(who, "run", &[&arguments[..], &more].concat())
    };
    let (out, err) = run("boss", "a=hall,b=attic", "60");
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let (expected, figures) = case.simulated();
    assert_eq!(report["verdict"], expected.verdict.to_string());
    assert_eq!(report["rounds"], expected.rounds);
    assert_eq!(report["messages"].as_f64(), Some(figures.messages));

    // The certificate of a node does not allow deployments, and without one no nodes are visible.
    let (_, err) = run("thief", "a=hall,b=hall", "3");
    assert!(err.contains("hall does not answer"), "{err}");
    let (_, err) = run("nobody", "a=hall,b=hall", "3");
    assert!(err.contains("node hall is not up (nodes that are: none)"), "{err}");
    let (out, err) = house.output("nobody", "status", &[]);
    assert_eq!(out, "no nodes are up\n", "{err}");

    // A node can send only under its own name; a user's certificate does not allow messages between nodes.
    assert_eq!(house.refused(), 0);
    house.nonsense("thief", "boss");
    house.nonsense("boss", "attic");
    assert_eq!(house.refused(), 0, "somebody sent as somebody else");
    house.nonsense("thief", "attic");
    assert_eq!(house.refused(), 1, "a node cannot send as itself");
}
