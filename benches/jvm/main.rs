//! Cost of monitoring a live Java program, compared with AspectJ and a debugger client.
//!
//! ```console
//! $ cargo bench --manifest-path benches/Cargo.toml --bench jvm          # about five minutes
//! $ cargo bench --manifest-path benches/Cargo.toml --bench jvm -- quick # about one minute
//! ```

use invigil_benches::jvm::{Size, run};
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
