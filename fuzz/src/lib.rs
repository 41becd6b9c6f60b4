//! The fuzz targets: each takes arbitrary bytes and panics if Invigil violates a requirement.
//!
//! They are plain functions that run under libFuzzer (`fuzz_targets/`), in the smoke run of the tests
//! (`src/bin/smoke.rs`), and in a debugger on a single input.

mod block;
mod class;
mod decent;
mod deep;
mod dve;
mod elf;
mod expression;
mod hoa;
mod lower;
mod ltl;
mod mac;
mod model;
mod prop;
mod scn;
mod stages;
mod trace;
mod wire;

pub use deep::{LARGE_STACK, run_on_large_stack};

/// A fuzz target.
pub struct Target {
    /// Its name, and the name of its folder in `seeds/`.
    pub name: &'static str,
    /// Runs it on one input.
    pub run: fn(&[u8]),
    /// Stack size, the same as in the command.
    pub stack: usize,
    /// File name of its dictionary in `dictionaries/`.
    pub dictionary: &'static str,
    /// Further seeds: folders, relative to the root of the repository, and the file extension of the seeds in them.
    pub more_seeds: &'static [(&'static str, &'static str)],
}

/// The default stack size of a thread.
const DEFAULT_STACK: usize = 2 << 20;

const PROPERTY_SEEDS: &[(&str, &str)] = &[("crates/lang/tests/fixtures", "prop"), ("examples/queue", "prop")];

const SCENARIO_SEEDS: &[(&str, &str)] = &[("crates/lang/tests/fixtures", "scn")];

/// All targets.
pub const TARGETS: [Target; 21] = [
    Target {
        name: "prop",
        run: prop::run,
        stack: LARGE_STACK,
        dictionary: "prop.dict",
        more_seeds: PROPERTY_SEEDS,
    },
    Target {
        name: "lower",
        run: lower::run,
        stack: LARGE_STACK,
        dictionary: "prop.dict",
        more_seeds: PROPERTY_SEEDS,
    },
    Target { name: "block", run: block::run, stack: LARGE_STACK, dictionary: "block.dict", more_seeds: &[] },
    Target {
        name: "scn",
        run: scn::run,
        stack: LARGE_STACK,
        dictionary: "scn.dict",
        more_seeds: SCENARIO_SEEDS,
    },
    Target { name: "dve", run: dve::run, stack: DEFAULT_STACK, dictionary: "dve.dict", more_seeds: &[] },
    Target {
        name: "expression",
        run: expression::run,
        stack: DEFAULT_STACK,
        dictionary: "expression.dict",
        more_seeds: &[],
    },
    Target { name: "ltl", run: ltl::run, stack: DEFAULT_STACK, dictionary: "ltl.dict", more_seeds: &[] },
    Target {
        name: "model",
        run: model::run,
        stack: DEFAULT_STACK,
        dictionary: "model.dict",
        more_seeds: &[],
    },
    Target {
        name: "dec",
        run: decent::dec,
        stack: DEFAULT_STACK,
        dictionary: "dec.dict",
        more_seeds: &[("crates/lang/tests/fixtures", "dec")],
    },
    Target {
        name: "themis",
        run: decent::xml,
        stack: DEFAULT_STACK,
        dictionary: "themis.dict",
        more_seeds: &[],
    },
    Target {
        name: "class",
        run: class::run,
        stack: DEFAULT_STACK,
        dictionary: "trace.dict",
        more_seeds: &[],
    },
    Target { name: "pedl", run: mac::pedl, stack: DEFAULT_STACK, dictionary: "mac.dict", more_seeds: &[] },
    Target { name: "medl", run: mac::medl, stack: DEFAULT_STACK, dictionary: "mac.dict", more_seeds: &[] },
    Target {
        name: "snapshots",
        run: stages::snapshots,
        stack: DEFAULT_STACK,
        dictionary: "stages.dict",
        more_seeds: &[],
    },
    Target {
        name: "groups",
        run: stages::groups,
        stack: DEFAULT_STACK,
        dictionary: "stages.dict",
        more_seeds: &[],
    },
    Target { name: "hoa", run: hoa::run, stack: DEFAULT_STACK, dictionary: "hoa.dict", more_seeds: &[] },
    Target { name: "elf", run: elf::run, stack: DEFAULT_STACK, dictionary: "trace.dict", more_seeds: &[] },
    Target { name: "wire", run: wire::run, stack: DEFAULT_STACK, dictionary: "trace.dict", more_seeds: &[] },
    Target {
        name: "json",
        run: trace::json,
        stack: DEFAULT_STACK,
        dictionary: "trace.dict",
        more_seeds: &[],
    },
    Target { name: "csv", run: trace::csv, stack: DEFAULT_STACK, dictionary: "trace.dict", more_seeds: &[] },
    Target {
        name: "line",
        run: trace::line,
        stack: DEFAULT_STACK,
        dictionary: "trace.dict",
        more_seeds: &[],
    },
];

/// Properties are parsed, diagnosed and formatted.
pub fn prop(data: &[u8]) {
    run_on_large_stack(prop::run, data);
}

/// Properties are compiled, explained, drawn and stepped on events.
pub fn lower(data: &[u8]) {
    run_on_large_stack(lower::run, data);
}

/// Blocks are compiled and run.
pub fn block(data: &[u8]) {
    run_on_large_stack(block::run, data);
}

/// Scenarios are parsed, diagnosed and compiled.
pub fn scn(data: &[u8]) {
    run_on_large_stack(scn::run, data);
}

/// DVE models are parsed, diagnosed and executed for some steps.
pub fn dve(data: &[u8]) {
    dve::run(data);
}

/// Expressions over a program's variables are parsed and printed.
pub fn expression(data: &[u8]) {
    expression::run(data);
}

/// Formulae of temporal logic are parsed, printed and explained.
pub fn ltl(data: &[u8]) {
    ltl::run(data);
}

/// Models are parsed, diagnosed and executed for some steps.
pub fn model(data: &[u8]) {
    model::run(data);
}

/// Decentralized specifications are parsed, diagnosed and translated to automata.
pub fn dec(data: &[u8]) {
    decent::dec(data);
}

/// Specifications in the XML format of THEMIS are parsed, diagnosed and translated to automata.
pub fn themis(data: &[u8]) {
    decent::xml(data);
}

/// Malformed class files are woven.
pub fn class(data: &[u8]) {
    class::run(data);
}

/// Monitoring scripts (PEDL) are parsed, diagnosed and run.
pub fn pedl(data: &[u8]) {
    mac::pedl(data);
}

/// Requirement scripts (MEDL) are parsed, diagnosed and run.
pub fn medl(data: &[u8]) {
    mac::medl(data);
}

/// Streams of snapshots are read in both formats.
pub fn snapshots(data: &[u8]) {
    stages::snapshots(data);
}

/// Streams of event groups are read in both formats.
pub fn groups(data: &[u8]) {
    stages::groups(data);
}

/// Automata in the HOA format are read and written.
pub fn hoa(data: &[u8]) {
    hoa::run(data);
}

/// Malformed ELF files are parsed.
pub fn elf(data: &[u8]) {
    elf::run(data);
}

/// Traces are read as JSON Lines.
pub fn json(data: &[u8]) {
    trace::json(data);
}

/// Traces are read as CSV.
pub fn csv(data: &[u8]) {
    trace::csv(data);
}

/// Traces are read as plain lines.
pub fn line(data: &[u8]) {
    trace::line(data);
}

/// Messages received by a node are decoded and processed.
pub fn wire(data: &[u8]) {
    wire::run(data);
}
