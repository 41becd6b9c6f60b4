//! The fuzz targets: each takes any bytes, and panics if Invigil does something that it never should.
//!
//! They are plain functions, so that libFuzzer can run them (`fuzz_targets/`), the smoke run of the tests
//! (`src/bin/smoke.rs`), and a debugger on one input.

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

pub use deep::{STACK, deeply};

/// A fuzz target.
pub struct Target {
    /// Its name, which is also that of its folder of seeds.
    pub name: &'static str,
    /// What it does with an input.
    pub run: fn(&[u8]),
    /// The stack that it may use: as much as the command has for the same.
    pub stack: usize,
    /// Its dictionary: a file in `dictionaries/`.
    pub dictionary: &'static str,
    /// Where more seeds are, from the root of the repository: a folder, and the ending of their names.
    pub more_seeds: &'static [(&'static str, &'static str)],
}

/// Traces are read on ordinary threads.
const ORDINARY: usize = 2 << 20;

const PROPERTIES: &[(&str, &str)] = &[("crates/lang/tests/fixtures", "prop"), ("examples/queue", "prop")];

const SCENARIOS: &[(&str, &str)] = &[("crates/lang/tests/fixtures", "scn")];

/// All targets.
pub const TARGETS: [Target; 21] = [
    Target { name: "prop", run: prop::run, stack: STACK, dictionary: "prop.dict", more_seeds: PROPERTIES },
    Target { name: "lower", run: lower::run, stack: STACK, dictionary: "prop.dict", more_seeds: PROPERTIES },
    Target { name: "block", run: block::run, stack: STACK, dictionary: "block.dict", more_seeds: &[] },
    Target { name: "scn", run: scn::run, stack: STACK, dictionary: "scn.dict", more_seeds: SCENARIOS },
    Target { name: "dve", run: dve::run, stack: ORDINARY, dictionary: "dve.dict", more_seeds: &[] },
    Target {
        name: "expression",
        run: expression::run,
        stack: ORDINARY,
        dictionary: "expression.dict",
        more_seeds: &[],
    },
    Target { name: "ltl", run: ltl::run, stack: ORDINARY, dictionary: "ltl.dict", more_seeds: &[] },
    Target { name: "model", run: model::run, stack: ORDINARY, dictionary: "model.dict", more_seeds: &[] },
    Target {
        name: "dec",
        run: decent::dec,
        stack: ORDINARY,
        dictionary: "dec.dict",
        more_seeds: &[("crates/lang/tests/fixtures", "dec")],
    },
    Target { name: "themis", run: decent::xml, stack: ORDINARY, dictionary: "themis.dict", more_seeds: &[] },
    Target { name: "class", run: class::run, stack: ORDINARY, dictionary: "trace.dict", more_seeds: &[] },
    Target { name: "pedl", run: mac::pedl, stack: ORDINARY, dictionary: "mac.dict", more_seeds: &[] },
    Target { name: "medl", run: mac::medl, stack: ORDINARY, dictionary: "mac.dict", more_seeds: &[] },
    Target {
        name: "snapshots",
        run: stages::snapshots,
        stack: ORDINARY,
        dictionary: "stages.dict",
        more_seeds: &[],
    },
    Target {
        name: "groups",
        run: stages::groups,
        stack: ORDINARY,
        dictionary: "stages.dict",
        more_seeds: &[],
    },
    Target { name: "hoa", run: hoa::run, stack: ORDINARY, dictionary: "hoa.dict", more_seeds: &[] },
    Target { name: "elf", run: elf::run, stack: ORDINARY, dictionary: "trace.dict", more_seeds: &[] },
    Target { name: "wire", run: wire::run, stack: ORDINARY, dictionary: "trace.dict", more_seeds: &[] },
    Target { name: "json", run: trace::json, stack: ORDINARY, dictionary: "trace.dict", more_seeds: &[] },
    Target { name: "csv", run: trace::csv, stack: ORDINARY, dictionary: "trace.dict", more_seeds: &[] },
    Target { name: "line", run: trace::line, stack: ORDINARY, dictionary: "trace.dict", more_seeds: &[] },
];

/// Properties are read, reported on and formatted.
pub fn prop(data: &[u8]) {
    deeply(prop::run, data);
}

/// Properties are compiled, explained, drawn and stepped.
pub fn lower(data: &[u8]) {
    deeply(lower::run, data);
}

/// Blocks are compiled and run.
pub fn block(data: &[u8]) {
    deeply(block::run, data);
}

/// Scenarios are read, reported on and compiled.
pub fn scn(data: &[u8]) {
    deeply(scn::run, data);
}

/// Models in DVE are read, reported on and stepped.
pub fn dve(data: &[u8]) {
    dve::run(data);
}

/// Expressions about a program are read and printed.
pub fn expression(data: &[u8]) {
    expression::run(data);
}

/// Formulae of temporal logic are read, printed and said in words.
pub fn ltl(data: &[u8]) {
    ltl::run(data);
}

/// Models are read, reported on and run.
pub fn model(data: &[u8]) {
    model::run(data);
}

/// Decentralized specifications are read, reported on and made into automata.
pub fn dec(data: &[u8]) {
    decent::dec(data);
}

/// Specifications in the XML of THEMIS are read, reported on and made into automata.
pub fn themis(data: &[u8]) {
    decent::xml(data);
}

/// Files that pretend to be Java classes are woven.
pub fn class(data: &[u8]) {
    class::run(data);
}

/// Monitoring scripts are read, reported on and run.
pub fn pedl(data: &[u8]) {
    mac::pedl(data);
}

/// Requirement scripts are read, reported on and run.
pub fn medl(data: &[u8]) {
    mac::medl(data);
}

/// What filters send is read, in lines and in bytes.
pub fn snapshots(data: &[u8]) {
    stages::snapshots(data);
}

/// What recognisers send is read, in lines and in bytes.
pub fn groups(data: &[u8]) {
    stages::groups(data);
}

/// Automata in the HOA format are read and written.
pub fn hoa(data: &[u8]) {
    hoa::run(data);
}

/// Files that pretend to be programs are looked into.
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

/// Traces are read in the line format.
pub fn line(data: &[u8]) {
    trace::line(data);
}

/// What comes to a node of a network is decoded and used.
pub fn wire(data: &[u8]) {
    wire::run(data);
}
