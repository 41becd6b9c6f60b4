//! Explores a remote subject, with single and with batched requests, and prints the speed:
//!
//! ```console
//! $ cargo run --release -p invigil-remote --example explore -- python3 language.py philosophers.soup
//! ```

use invigil_explore::{SearchOptions, SearchResult, bfs};
use invigil_remote::{Address, Remote, RemoteListener, RemoteOptions, RemoteSpace};
use invigil_semantics::Describe;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let address = Address::command(std::env::args_os().skip(1));
    for batch in [1, 16, 256] {
        let remote = Remote::start(&address, RemoteOptions { max_batch: batch, ..RemoteOptions::default() })?;
        let since = Instant::now();
        let search = SearchOptions { exhaustive: true, ..SearchOptions::default() };
        let listener = RemoteListener { remote: &remote, listener: () };
        let report = bfs(&RemoteSpace::new(&remote, Vec::new()), &search, &listener);
        let time = since.elapsed().as_secs_f64();
        let (totals, trips) = (report.totals, remote.round_trips());
        println!(
            "{} configurations, {} steps, {} deadlocks; {batch} at once: {trips} round trips, {time:.3} s, {:.0}/s",
            totals.states,
            totals.transitions,
            totals.deadlocks,
            totals.states as f64 / time
        );
        match remote.error() {
            Some(failure) => println!("{}", failure.incomplete_note()),
            None if batch == 256 => tell(&remote, &report),
            None => {}
        }
    }
    Ok(())
}

/// Prints the path to the first finding.
fn tell(remote: &Remote, report: &SearchResult) {
    let Some(found) = report.findings.first() else { return };
    println!("the shortest way to a {:?}:", found.kind);
    let actions = found.path.actions.iter().filter_map(|number| remote.action(*number));
    let words = actions.map(|action| remote.describe_action(&action));
    for (state, words) in found.path.states.iter().zip(["begins".to_owned()].into_iter().chain(words)) {
        let config = remote
            .config_by_number(state[0])
            .map(|config| remote.describe_config(&config))
            .unwrap_or_default();
        println!("  {words:16} {config}");
    }
}
