//! `invigil-node bench`

use clap::Args as Options;
use invigil_decent::algorithm::{Choice, Prepared};
use invigil_decent::system::System;
use invigil_ltl::{Budget, Logic};
use invigil_node::client::{self, Report};
use invigil_node::deployment::{Deployment, Source};
use invigil_node::link::{self, Link};
use invigil_node::serve::{Signal, serve, signals};
use invigil_node::wire::RunId;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

/// Measure rounds, messages and latency of nodes on this machine, over TCP
#[derive(Options)]
pub(crate) struct Bench {
    /// How many nodes, each with one component
    #[arg(long, default_value_t = 3)]
    nodes: usize,
    /// How many rounds
    #[arg(long, default_value_t = 2000)]
    rounds: u32,
    /// One algorithm instead of all
    #[arg(long)]
    algorithm: Option<Choice>,
    /// Write down every round in this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(options: &Bench) -> Result<ExitCode, String> {
    let ports =
        (0..options.nodes.max(1)).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>();
    let ports = ports.and_then(|all| all.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>());
    let endpoints: Vec<String> =
        ports.map_err(|error| error.to_string())?.iter().map(|address| format!("tcp/{address}")).collect();
    let network = |listen: &[String], connect: &[String]| link::Options {
        listen: listen.to_vec(),
        connect: connect.to_vec(),
        config: None,
        realm: "bench".to_owned(),
    };
    let mut nodes = Vec::new();
    let mut names = Vec::new();
    for (place, endpoint) in endpoints.iter().enumerate() {
        let (sender, receiver) = signals();
        let (stop, name) = (sender.clone(), format!("n{place}"));
        let folder = options.folder.as_ref().map(|folder| folder.join(&name));
        let way = network(std::slice::from_ref(endpoint), &endpoints[..place]);
        names.push(name.clone());
        let work = move || serve(&name, &way, folder.as_deref(), (sender, receiver), &mut |_| {});
        nodes.push((stop, thread::spawn(work)));
    }
    let link = Link::open(&network(&[], &endpoints))?;
    client::gather(&link, &names, Duration::from_secs(30))?;
    println!(
        "{:<14} {:>10} {:>12} {:>12} {:>12}",
        "algorithm", "rounds/s", "messages/s", "bytes/round", "latency µs"
    );
    let all = options.algorithm.map_or(Choice::ALL.to_vec(), |one| vec![one]);
    let mut done = Ok(());
    for choice in all {
        done = done.and_then(|()| {
            measure(&link, choice, &names, options.rounds).map(|report| show(choice, &report))
        });
    }
    link.close();
    for (stop, node) in nodes {
        // A node that has failed does not listen any more.
        let _ = stop.send(Signal::Stop);
        node.join().map_err(|_| "a node broke down")??;
    }
    done.map(|()| ExitCode::SUCCESS)
}

/// Everything is well until the last round, in which one component sees something that it should not.
fn measure(link: &Link, choice: Choice, names: &[String], rounds: u32) -> Result<Report, String> {
    let mut system = System::default();
    let mut parts = Vec::new();
    for name in names {
        let component = system.component(name).map_err(|clash| clash.to_string())?;
        let proposition = format!("{name}_ok");
        system.proposition(component, &proposition).map_err(|clash| clash.to_string())?;
        parts.push(proposition);
    }
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(&format!("G ({})", parts.join(" & "))).map_err(|error| error.to_string())?;
    let prepared = Prepared::new(choice, &mut logic, formula, &system).map_err(|error| error.to_string())?;
    let last = names.len() - 1;
    let source = |component: invigil_decent::system::ComponentId| {
        let name = &parts[component.index()];
        let good = format!("{name}:t\n").repeat(rounds.saturating_sub(1) as usize);
        Source::Sent(format!("{good}{name}:{}\n", if component.index() == last { 'f' } else { 't' }))
    };
    let home = |component: &str| Some(component.to_owned());
    let deployments = Deployment::plan(RunId(u64::from(rounds)), &system, &prepared, home, source, 20);
    let deployments = deployments.map_err(|unfit| unfit.to_string())?;
    client::run(link, deployments, Duration::from_secs(600), &mut |_| {})
}

fn show(choice: Choice, report: &Report) {
    let seconds =
        report.nodes.iter().map(|(_, node)| node.figures.microseconds).max().unwrap_or(0) as f64 / 1e6;
    let rounds = f64::from(report.end.rounds);
    println!(
        "{:<14} {:>10.0} {:>12.0} {:>12.0} {:>12}",
        choice.name(),
        rounds / seconds.max(1e-9),
        report.sum(|node| node.figures.traffic.messages) as f64 / seconds.max(1e-9),
        report.sum(|node| node.figures.bytes) as f64 / rounds.max(1.0),
        report.latency().map_or("-".to_owned(), |latency| latency.to_string()),
    );
}
