//! Published specifications EH18 in our language: light switch, and smart home with the sizes of its table 9.1.

use invigil_decent::memory::Atom;
use invigil_decent::network::Network;
use invigil_decent::spec::equivalence::{Comparison, compare_formula};
use invigil_decent::spec::flatten::flatten;
use invigil_decent::spec::monitorability::Monitorability;
use invigil_decent::spec::reference::verdict;
use invigil_decent::system::MonitorId;
use invigil_expr::diag::Sources;
use invigil_lang::decent::{LoadedSpecification, load, print};
use invigil_lang::report::render;
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Budget, Logic};

fn read(name: &str, text: &str) -> (LoadedSpecification, Network) {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let (loaded, diagnostics) = load(file, text);
    assert!(diagnostics.is_empty(), "{}", render(&sources, &diagnostics, false));
    let loaded = loaded.unwrap();
    let network = loaded.network(Budget::default());
    let network = network.unwrap_or_else(|diagnostics| panic!("{}", render(&sources, &diagnostics, false)));
    (loaded, network)
}

const HOME: &str = include_str!("../../../../../examples/smart-home/apartment.dec");

fn home() -> (LoadedSpecification, Network) {
    read("apartment.dec", HOME)
}

#[test]
fn light_switch_network_matches_its_formula() {
    let (loaded, network) = read("light_switch.dec", include_str!("../../fixtures/light_switch.dec"));
    let system = &loaded.specification.system;
    assert_eq!(network.monitor(network.root).name, "m0");
    let whole = SyntaxTree::parse("G(s -> X(l U !s))").unwrap();
    assert_eq!(compare_formula(system, &network, &whole, Budget::default()), Ok(Comparison::Same));
    assert_eq!(network.monitorability(system, Budget::default()), Monitorability::Always);
    let [s, l] = ["s", "l"].map(|name| system.find_proposition(name).unwrap());
    let trace = [vec![(s, true), (l, true)], vec![(s, true), (l, false)]];
    assert_eq!(verdict(&network, &trace), Truth::False);
}

/// Name, propositions as decentralized and as centralized, depth.
const TABLE: [(&str, usize, usize, u32); 22] = [
    ("sc_light0", 2, 2, 1),
    ("sc_ok", 4, 8, 2),
    ("toilet", 1, 1, 0),
    ("sink_usage", 1, 2, 1),
    ("shower_usage", 1, 2, 1),
    ("napping", 1, 1, 1),
    ("dressing", 2, 3, 1),
    ("reading", 3, 5, 2),
    ("office_tv", 1, 1, 1),
    ("computing", 1, 1, 1),
    ("cooking", 2, 2, 1),
    ("washing_dishes", 2, 3, 1),
    ("kactivity", 4, 9, 1),
    ("preparing", 2, 11, 2),
    ("livingroom_tv", 2, 2, 1),
    ("eating", 2, 2, 1),
    ("actfloor0", 6, 16, 3),
    ("actfloor1", 7, 11, 3),
    ("acthouse", 2, 27, 4),
    ("notwopeople", 2, 27, 4),
    ("restricttv", 2, 3, 3),
    ("firehazard", 2, 3, 2),
];

#[test]
fn smart_home_sizes_match_table_9_1() {
    let (loaded, network) = home();
    let specification = &loaded.specification;
    for (name, decentralized, centralized, depth) in TABLE {
        let id = specification.find(name).unwrap();
        assert_eq!(specification.atoms(id).len(), decentralized, "{name}");
        assert_eq!(specification.observed(id).len(), centralized, "{name}");
        assert_eq!(network.depth(id), depth, "{name}");
    }
    // By the text: a message per reference; 24 for the activities, 15 more for floors and house, 2 for two people.
    let references = |names: &[&str]| -> usize {
        names.iter().map(|name| network.references(specification.find(name).unwrap()).len()).sum()
    };
    let activities: Vec<&str> = TABLE[2..16].iter().map(|(name, ..)| *name).collect();
    assert_eq!(references(&activities), 24);
    assert_eq!(references(&["actfloor0", "actfloor1", "acthouse"]), 15);
    assert_eq!(references(&["notwopeople"]), 2);
}

/// Flattened, the monitors equal the machines synthesised from the formulas with all references expanded.
#[test]
fn centralized_smart_home_monitor_has_minimal_size() {
    let (loaded, network) = home();
    let expected = [("sc_ok", 17), ("reading", 62), ("preparing", 11), ("eating", 9), ("firehazard", 33)];
    let floors =
        [("actfloor0", 17), ("actfloor1", 46), ("acthouse", 93), ("notwopeople", 127), ("restricttv", 84)];
    for (name, states) in expected.into_iter().chain(floors) {
        let id = loaded.specification.find(name).unwrap();
        let mut logic = Logic::new(Budget::default());
        let machine = flatten(&mut logic, &loaded.specification.system, &network, id).unwrap();
        assert_eq!(machine.states(), states, "{name}");
    }
}

#[test]
fn all_smart_home_monitors_are_monitorable() {
    let (loaded, network) = home();
    let system = &loaded.specification.system;
    for id in loaded.specification.monitors() {
        let found = network.rooted(id).monitorability(system, Budget::default());
        assert_eq!(found, Monitorability::Always, "{}", loaded.specification.name(id));
    }
}

#[test]
fn printed_specification_loads_identically() {
    for text in [include_str!("../../fixtures/light_switch.dec"), HOME] {
        let (loaded, network) = read("file.dec", text);
        let printed = print(&loaded.specification);
        let (again, same) = read("printed.dec", &printed);
        assert_eq!(print(&again.specification), printed);
        assert_eq!(same, network);
        assert_eq!(again.specification.system, loaded.specification.system);
    }
}

#[test]
fn black_box_is_printed_and_can_be_referenced() {
    let text =
        "component kitchen: stove\ncooking @ kitchen = black box \"cooking.prop\"\nroot = G(!@cooking)\n";
    let (loaded, network) = read("kitchen.dec", text);
    assert_eq!(network.references(MonitorId(1)), [MonitorId(0)]);
    let said = loaded.specification.system.find_proposition("@cooking").unwrap();
    assert_eq!(loaded.specification.atoms(MonitorId(0)), [Atom::Observed(said)]);
    assert!(print(&loaded.specification).contains("component kitchen: stove\n"));
    assert!(print(&loaded.specification).contains("cooking @ kitchen = black box \"cooking.prop\"\n"));
}

#[test]
fn reserved_names_are_printed_in_quotes() {
    let text = "component 'use': 'root', 'two words'\n'link' = 'root' & 'two words'\nroot 'link'\n";
    let (loaded, network) = read("words.dec", text);
    assert_eq!(network.monitors[0].name, "link");
    read("printed.dec", &print(&loaded.specification));
}
