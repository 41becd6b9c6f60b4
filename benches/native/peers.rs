//! Peers of a probe: other tools that run code at a call of `push`, on the same program.
//!
//! Each looks up the state for the first argument, checks that it is not negative, and increments a counter. uftrace cannot run
//! code; it records the call. A peer that is not installed or not permitted reports the reason.

use super::programs::{Programs, take_number};
use super::{Outcome, Size};
use std::process::{Command, Stdio};

/// Result of a peer: nanoseconds per call, or why it was not measured.
pub(crate) type Figure = Result<f64, String>;

/// A peer.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) queues: u64,
    calls: u64,
    run: fn(&Programs, &[String], u64) -> Outcome<Figure>,
    /// Whether it does the same work as our probes.
    pub(crate) is_equal: bool,
}

pub(crate) const PEERS: [Peer; 5] = [
    Peer { name: "frida, hook in C, 64 queues", queues: 64, calls: 2_000_000, run: frida, is_equal: true },
    Peer {
        name: "frida, hook in C, 100,000 queues",
        queues: super::probes::MANY,
        calls: 2_000_000,
        run: frida,
        is_equal: true,
    },
    Peer {
        name: "uftrace, calls recorded, 64 queues",
        queues: 64,
        calls: 500_000,
        run: uftrace,
        is_equal: false,
    },
    Peer { name: "uprobe and eBPF, 64 queues", queues: 64, calls: 200_000, run: ebpf, is_equal: true },
    Peer {
        name: "uprobe and eBPF, 100,000 queues",
        queues: super::probes::MANY,
        calls: 200_000,
        run: ebpf,
        is_equal: true,
    },
];

impl Peer {
    /// One run.
    pub(crate) fn measure(&self, programs: &Programs, size: Size) -> Outcome<Figure> {
        let calls = if size == Size::Quick { self.calls / 4 } else { self.calls };
        let args = [calls.to_string(), self.queues.to_string(), programs.result().display().to_string()];
        (self.run)(programs, &args, calls + self.queues)
    }
}

/// Whether a command is installed.
fn is_installed(command: &str, question: &[&str]) -> bool {
    let status = Command::new(command).args(question).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Runs a command and returns its output.
fn output(command: &mut Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        text += &String::from_utf8_lossy(&output.stderr);
    }
    Ok(text)
}

/// The program's measurement, if the peer has counted every call.
fn figure(programs: &Programs, what: &str, counted: Option<u64>, calls: u64, said: &str) -> Outcome<Figure> {
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no output").trim();
    match (take_number(&programs.result()), counted) {
        (Ok(each), Some(counted)) if counted == calls => Ok(Ok(each)),
        (Ok(_), Some(counted)) if counted > 0 => {
            Err(format!("{what} counted {counted} calls, expected {calls}"))
        }
        _ => Ok(Err(format!("it does not work here: {last}"))),
    }
}

fn frida(programs: &Programs, args: &[String], calls: u64) -> Outcome<Figure> {
    if !is_installed("python3", &["-c", "import frida"]) {
        return Ok(Err("the Python package `frida` is not installed".into()));
    }
    let said = output(
        Command::new("python3")
            .args(["-c", include_str!("frida.py"), include_str!("frida.c")])
            .arg(programs.path("queues"))
            .args(args),
    )?;
    let counted = said.lines().find_map(|line| line.strip_prefix("counted ")?.parse().ok());
    figure(programs, "frida", counted, calls, &said)
}

fn uftrace(programs: &Programs, args: &[String], calls: u64) -> Outcome<Figure> {
    if !is_installed("uftrace", &["--version"]) {
        return Ok(Err("the package `uftrace` is not installed".into()));
    }
    let written = programs.path("uftrace.data");
    let mut record = Command::new("uftrace");
    record.args(["record", "--no-libcall", "-d"]).arg(&written).arg(programs.path("queues-pg")).args(args);
    let said = output(&mut record)?;
    let report = output(Command::new("uftrace").args(["report", "-d"]).arg(&written))?;
    let _ = std::fs::remove_dir_all(&written);
    // Total time, self time, calls, function; each time with its unit.
    let push = report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let counted = push.filter(|words| words.last() == Some(&"push")).find_map(|words| {
        let count = words.len().checked_sub(2)?;
        words[count].parse().ok()
    });
    figure(programs, "uftrace", counted, calls, &said)
}

fn ebpf(programs: &Programs, args: &[String], calls: u64) -> Outcome<Figure> {
    if !is_installed("bpftrace", &["--version"]) {
        return Ok(Err("the package `bpftrace` is not installed".into()));
    }
    let program = programs.path("queues");
    let code = format!("uprobe:{}:push {{ if (@n[arg0] >= 0) {{ @n[arg0]++ }} }}", program.display());
    let said = output(
        Command::new("bpftrace")
            .args(["-e", &code, "-c", &format!("{} {}", program.display(), args.join(" "))])
            .env("BPFTRACE_MAP_KEYS_MAX", "200000"),
    )?;
    let counts =
        said.lines().filter(|line| line.starts_with("@n[")).filter_map(|line| line.rsplit_once(": "));
    let counted = counts.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum();
    figure(programs, "bpftrace", Some(counted), calls, &said)
}
