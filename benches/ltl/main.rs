//! Sizes of automata for temporal formulae, speed of their construction, and speed of monitors.
//!
//! ```console
//! $ cargo bench --manifest-path benches/Cargo.toml --bench ltl            # with the peers that are installed
//! $ cargo bench --manifest-path benches/Cargo.toml --bench ltl -- quick   # without them
//! ```

mod files;
mod monitors;
mod peers;
mod sizes;
mod speed;

use invigil_benches::print_machine;

fn main() {
    let quick = std::env::args().any(|arg| arg == "quick");
    print_machine();
    sizes::run(!quick);
    monitors::run();
    speed::run(if quick { 10_000_000 } else { 100_000_000 });
    files::run(if quick { 1_000_000 } else { 10_000_000 });
}
