//! The models of the benchmark. Each is a table of transitions that is printed in DVE and in Promela, so that all tools
//! get the same model.

/// A model.
pub(crate) struct Sketch {
    pub(crate) name: &'static str,
    /// The number of reachable states, which every tool must find.
    pub(crate) states: u64,
    /// Shared bytes: name, initial values, whether it is an array.
    shared: Vec<(&'static str, Vec<u8>, bool)>,
    processes: Vec<Process>,
}

struct Process {
    name: String,
    /// Local bytes, initially 0.
    locals: Vec<&'static str>,
    locations: Vec<&'static str>,
    /// Source, target, guard (`true` for none), effects. The expressions are valid in both languages.
    rows: Vec<(&'static str, &'static str, String, Vec<String>)>,
}

impl Process {
    fn new(name: String, locals: &[&'static str], locations: &[&'static str]) -> Process {
        Process { name, locals: locals.to_vec(), locations: locations.to_vec(), rows: Vec::new() }
    }

    fn row(mut self, from: &'static str, to: &'static str, guard: &str, effects: &[String]) -> Process {
        self.rows.push((from, to, guard.to_owned(), effects.to_vec()));
        self
    }
}

impl Sketch {
    pub(crate) fn dve(&self) -> String {
        let mut text = String::new();
        for (name, first, is_array) in &self.shared {
            let first: Vec<String> = first.iter().map(u8::to_string).collect();
            text += &match is_array {
                true => format!("byte {name}[{}] = {{{}}};\n", first.len(), first.join(", ")),
                false => format!("byte {name} = {};\n", first[0]),
            };
        }
        for process in &self.processes {
            text += &format!("process {} {{\n", process.name);
            if !process.locals.is_empty() {
                text += &format!("byte {};\n", process.locals.join(", "));
            }
            text +=
                &format!("state {};\ninit {};\ntrans\n", process.locations.join(", "), process.locations[0]);
            let rows = process.rows.iter().map(|(from, to, guard, effects)| {
                let guard = if guard == "true" { String::new() } else { format!(" guard {guard};") };
                let effects = if effects.is_empty() {
                    String::new()
                } else {
                    format!(" effect {};", effects.join(", "))
                };
                format!(" {from} -> {to} {{{guard}{effects} }}")
            });
            text += &format!("{};\n}}\n", rows.collect::<Vec<_>>().join(",\n"));
        }
        text + "system async;\n"
    }

    pub(crate) fn promela(&self) -> String {
        let mut text = String::new();
        let mut start = Vec::new();
        for (name, first, is_array) in &self.shared {
            match is_array {
                true => {
                    text += &format!("byte {name}[{}];\n", first.len());
                    let set = first.iter().enumerate().filter(|(_, value)| **value != 0);
                    start.extend(set.map(|(at, value)| format!("{name}[{at}] = {value};")));
                }
                false => text += &format!("byte {name} = {};\n", first[0]),
            }
        }
        let run: String = self.processes.iter().map(|process| format!("run {}(); ", process.name)).collect();
        text += &format!("init {{ atomic {{ {} {run} }} }}\n", start.join(" "));
        for process in &self.processes {
            text += &format!("proctype {}() {{\n", process.name);
            text += &process.locals.iter().map(|local| format!("byte {local} = 0;\n")).collect::<String>();
            for location in &process.locations {
                let rows: String = process
                    .rows
                    .iter()
                    .filter(|(from, ..)| from == location)
                    .map(|(_, to, guard, effects)| {
                        let guard = if guard == "true" { String::new() } else { format!("{guard}; ") };
                        match effects.is_empty() {
                            true => format!(":: {guard}goto {to}\n"),
                            false => format!(":: d_step {{ {guard}{}; }} goto {to}\n", effects.join("; ")),
                        }
                    })
                    .collect();
                text += &format!("{location}: if\n{rows}fi;\n");
            }
            text += "}\n";
        }
        text
    }
}

/// All models, in the order of the table.
pub(crate) fn all() -> Vec<Sketch> {
    vec![peterson(4), buffer(), at(5), bakery(4, 7), philosophers(15), anderson(6)]
}

/// Peterson's mutual exclusion for several processes.
fn peterson(n: usize) -> Sketch {
    let one = |i: usize| {
        Process::new(format!("P_{i}"), &["j", "k"], &["NCS", "wait", "q2", "q3", "CS"])
            .row("NCS", "wait", "true", &["j = 1".into()])
            .row("wait", "q2", &format!("j < {n}"), &[format!("pos[{i}] = j")])
            .row("q2", "q3", "true", &[format!("stp[j-1] = {i}"), "k = 0".into()])
            .row("q3", "q3", &format!("k < {n} && (k == {i} || pos[k] < j)"), &["k = k+1".into()])
            .row("q3", "wait", &format!("stp[j-1] != {i} || k == {n}"), &["j = j+1".into()])
            .row("wait", "CS", &format!("j == {n}"), &[])
            .row("CS", "NCS", "true", &[format!("pos[{i}] = 0")])
    };
    Sketch {
        name: "peterson.4",
        states: 1_119_560,
        shared: vec![("pos", vec![0; n], true), ("stp", vec![0; n], true)],
        processes: (0..n).map(one).collect(),
    }
}

/// A ring of cells between producers and consumers that claim a cell, then use it.
fn buffer() -> Sketch {
    let cells = 6;
    let producer = |i: usize| {
        Process::new(format!("Producer_{i}"), &["at", "item"], &["idle", "made", "claimed"])
            .row("idle", "made", "true", &["item = 0".into()])
            .row("idle", "made", "true", &["item = 1".into()])
            .row(
                "made",
                "claimed",
                &format!("used < {cells}"),
                &["at = head".into(), format!("head = (head+1)%{cells}"), "used = used+1".into()],
            )
            .row("claimed", "idle", "true", &["cell[at] = 1+item".into(), "at = 0".into(), "item = 0".into()])
    };
    let consumer = |i: usize| {
        Process::new(format!("Consumer_{i}"), &["at", "item"], &["idle", "claimed", "got"])
            .row(
                "idle",
                "claimed",
                "cell[tail] != 0 && taken[tail] == 0",
                &["at = tail".into(), "taken[at] = 1".into(), format!("tail = (tail+1)%{cells}")],
            )
            .row(
                "claimed",
                "got",
                "true",
                &["item = cell[at]".into(), "cell[at] = 0".into(), "taken[at] = 0".into(), "at = 0".into()],
            )
            .row("got", "idle", "true", &["used = used-1".into(), "item = 0".into()])
    };
    let processes = (0..3).map(producer).chain((0..2).map(consumer)).collect();
    Sketch {
        name: "buffer",
        states: 9_959_148,
        shared: vec![
            ("cell", vec![0; cells], true),
            ("taken", vec![0; cells], true),
            ("head", vec![0], false),
            ("tail", vec![0], false),
            ("used", vec![0], false),
        ],
        processes,
    }
}

/// Mutual exclusion by Alur and Taubenfeld, with timers that count down together.
fn at(n: usize) -> Sketch {
    let all = |of: &dyn Fn(usize) -> String, by: &str| (0..n).map(of).collect::<Vec<_>>().join(by);
    let timer = Process::new("Timer".to_owned(), &[], &["q"]).row(
        "q",
        "q",
        &all(&|i| format!("t[{i}] != 0"), " && "),
        &(0..n).map(|i| format!("t[{i}] = (t[{i}]-1) | ((t[{i}] == 255)*255)")).collect::<Vec<_>>(),
    );
    let one = |i: usize| {
        let locations = ["NCS", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "CS", "p12", "p13"];
        let set = |value: u8| format!("t[{i}] = {value}");
        Process::new(format!("P_{i}"), &[], &locations)
            .row("NCS", "p3", "true", &[format!("x = {i}"), set(255)])
            .row("p3", "p4", "y == 255", &[set(1)])
            .row("p4", "p5", "true", &[format!("y = {i}"), set(1)])
            .row("p5", "p9", &format!("x == {i}"), &[set(1)])
            .row("p9", "CS", "true", &["z = 1".into(), set(255)])
            .row("p5", "p6", &format!("x != {i}"), &[set(3)])
            .row("p6", "p7", &format!("t[{i}] == 0"), &[set(1)])
            .row("p7", "NCS", &format!("y != {i}"), &[set(1)])
            .row("p7", "p8", &format!("y == {i}"), &[set(255)])
            .row("p8", "CS", "z == 0", &[])
            .row("CS", "p12", "true", &["z = 0".into(), set(1)])
            .row("p12", "NCS", &format!("y != {i}"), &[set(255)])
            .row("p12", "p13", &format!("y == {i}"), &[set(1)])
            .row("p13", "NCS", "true", &["y = 255".into(), set(255)])
    };
    Sketch {
        name: "at.4",
        states: 6_597_245,
        shared: vec![
            ("x", vec![0], false),
            ("y", vec![255], false),
            ("z", vec![0], false),
            ("t", vec![255; n], true),
        ],
        processes: std::iter::once(timer).chain((0..n).map(one)).collect(),
    }
}

/// Lamport's bakery, with tickets up to `most`.
fn bakery(n: usize, most: usize) -> Sketch {
    let one = |i: usize| {
        let first =
            format!("number[j] == 0 || number[j] > number[{i}] || (number[j] == number[{i}] && {i} <= j)");
        Process::new(format!("P_{i}"), &["j", "max"], &["NCS", "choose", "for_loop", "wait", "CS"])
            .row("NCS", "choose", "true", &[format!("choosing[{i}] = 1"), "j = 0".into(), "max = 0".into()])
            .row(
                "choose",
                "choose",
                &format!("j < {n} && number[j] > max"),
                &["max = number[j]".into(), "j = j+1".into()],
            )
            .row("choose", "choose", &format!("j < {n} && number[j] <= max"), &["j = j+1".into()])
            .row(
                "choose",
                "for_loop",
                &format!("j == {n} && max < {most}"),
                &[format!("number[{i}] = max+1"), "j = 0".into(), format!("choosing[{i}] = 0")],
            )
            .row("for_loop", "wait", &format!("j < {n} && choosing[j] == 0"), &[])
            .row("wait", "for_loop", &first, &["j = j+1".into()])
            .row("for_loop", "CS", &format!("j == {n}"), &[])
            .row("CS", "NCS", "true", &[format!("number[{i}] = 0")])
    };
    Sketch {
        name: "bakery.5",
        states: 7_866_401,
        shared: vec![("choosing", vec![0; n], true), ("number", vec![0; n], true)],
        processes: (0..n).map(one).collect(),
    }
}

/// Dining philosophers who take the left fork first.
fn philosophers(n: usize) -> Sketch {
    let one = |i: usize| {
        let right = (i + 1) % n;
        Process::new(format!("P_{i}"), &[], &["think", "one", "eat", "finish"])
            .row("think", "one", &format!("fork[{i}] == 0"), &[format!("fork[{i}] = 1")])
            .row("one", "eat", &format!("fork[{right}] == 0"), &[format!("fork[{right}] = 1")])
            .row("eat", "finish", "true", &[format!("fork[{i}] = 0")])
            .row("finish", "think", "true", &[format!("fork[{right}] = 0")])
    };
    Sketch {
        name: "phils.6",
        states: 14_348_906,
        shared: vec![("fork", vec![0; n], true)],
        processes: (0..n).map(one).collect(),
    }
}

/// Anderson's queue lock.
fn anderson(n: usize) -> Sketch {
    let one = |i: usize| {
        Process::new(format!("P_{i}"), &["my_place"], &["NCS", "p1", "p2", "p3", "CS"])
            .row("NCS", "p1", "true", &["my_place = next".into(), "next = next+1".into()])
            .row("p1", "p2", &format!("my_place == {n}-1"), &[format!("next = next-{n}")])
            .row("p1", "p2", &format!("my_place != {n}-1"), &[format!("my_place = my_place%{n}")])
            .row("p2", "p3", "slot[my_place] == 1", &[])
            .row("p3", "CS", "true", &["slot[my_place] = 0".into()])
            .row("CS", "NCS", "true", &[format!("slot[(my_place+1)%{n}] = 1")])
    };
    let mut slots = vec![0; n];
    slots[0] = 1;
    Sketch {
        name: "anderson.6",
        states: 18_206_917,
        shared: vec![("slot", slots, true), ("next", vec![0], false)],
        processes: (0..n).map(one).collect(),
    }
}
