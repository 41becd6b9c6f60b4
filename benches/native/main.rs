//! Cost of monitoring a live native program and of checkpoints, compared with GDB and other tools.
//!
//! ```console
//! $ cargo bench --manifest-path benches/Cargo.toml --bench native                # about seven minutes
//! $ cargo bench --manifest-path benches/Cargo.toml --bench native -- quick       # about one minute
//! $ cargo bench --manifest-path benches/Cargo.toml --bench native -- quick heap  # one part of it
//! ```

use invigil_benches::native::{Size, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let (quick, parts): (Vec<String>, Vec<String>) = args.into_iter().partition(|word| word == "quick");
    match run(if quick.is_empty() { Size::Full } else { Size::Quick }, &parts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the benchmark failed: {error}");
            ExitCode::from(3)
        }
    }
}
