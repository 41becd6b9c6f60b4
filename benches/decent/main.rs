//! How fast decentralized monitoring is simulated, and how its cost grows.
//!
//! ```console
//! $ cargo bench -p invigil-benches --bench decent            # about a minute
//! $ cargo bench -p invigil-benches --bench decent -- quick   # some seconds
//! ```

mod growth;
mod home;
mod rooms;
mod throughput;

use invigil_benches::{print_machine, print_table};
use std::path::{Path, PathBuf};

/// What is asked, and what is reached.
struct Asked {
    what: &'static str,
    asked: &'static str,
    reached: String,
    is_met: bool,
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "quick");
    print_machine();
    let mut asked = Vec::new();
    throughput::run(quick);
    asked.extend(growth::run(quick));
    asked.push(rooms::run());
    asked.push(home::run());
    println!("\nAsked and reached\n");
    let mut rows = vec![["what", "asked", "reached", ""].map(str::to_owned).to_vec()];
    rows.extend(asked.iter().map(|line| {
        let met = if line.is_met { "met" } else { "short" };
        vec![line.what.to_owned(), line.asked.to_owned(), line.reached.clone(), met.to_owned()]
    }));
    print_table(&rows);
}

/// Writes a drawing into the build directory, and says where it is.
fn draw(name: &str, svg: &str) {
    // The benchmark itself is in `release/deps` of that directory.
    let folder: PathBuf = std::env::current_exe()
        .ok()
        .and_then(|program| program.ancestors().nth(3).map(Path::to_owned))
        .unwrap_or_else(|| PathBuf::from("."));
    let path = folder.join(name);
    match std::fs::write(&path, svg) {
        Ok(()) => println!("  drawn: {}", path.display()),
        Err(error) => println!("  not drawn: {}: {error}", path.display()),
    }
}
