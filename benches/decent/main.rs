//! Speed of simulated decentralized monitoring, and the growth of its cost.
//!
//! ```console
//! $ cargo bench --manifest-path benches/Cargo.toml --bench decent            # about a minute
//! $ cargo bench --manifest-path benches/Cargo.toml --bench decent -- quick   # a few seconds
//! ```

mod growth;
mod home;
mod rooms;
mod throughput;

use invigil_benches::{print_machine, print_table};
use std::path::{Path, PathBuf};

/// A requirement and the measured value.
struct Requirement {
    what: &'static str,
    required: &'static str,
    reached: String,
    is_met: bool,
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "quick");
    print_machine();
    let mut requirements = Vec::new();
    throughput::run(quick);
    requirements.extend(growth::run(quick));
    requirements.push(rooms::run());
    requirements.push(home::run());
    println!("\nRequired and measured\n");
    let mut rows = vec![["figure", "required", "measured", ""].map(str::to_owned).to_vec()];
    rows.extend(requirements.iter().map(|line| {
        let met = if line.is_met { "met" } else { "short" };
        vec![line.what.to_owned(), line.required.to_owned(), line.reached.clone(), met.to_owned()]
    }));
    print_table(&rows);
}

/// Writes a plot to the build directory and prints its path.
fn draw(name: &str, svg: &str) {
    // The benchmark runs from `release/deps` of that directory.
    let folder: PathBuf = std::env::current_exe()
        .ok()
        .and_then(|program| program.ancestors().nth(3).map(Path::to_owned))
        .unwrap_or_else(|| PathBuf::from("."));
    let path = folder.join(name);
    match std::fs::write(&path, svg) {
        Ok(()) => println!("  plot: {}", path.display()),
        Err(error) => println!("  cannot write the plot {}: {error}", path.display()),
    }
}
