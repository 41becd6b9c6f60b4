//! What it costs to watch a live native program, beside GDB, and to keep checkpoints of it.
//!
//! ```console
//! $ cargo bench -p invigil-benches --bench native          # about six minutes
//! $ cargo bench -p invigil-benches --bench native -- quick # about one
//! ```

use invigil_benches::native::{Size, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let quick = std::env::args().any(|arg| arg == "quick");
    match run(if quick { Size::Quick } else { Size::Full }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("the benchmark failed: {words}");
            ExitCode::from(3)
        }
    }
}
