//! Specifications in the XML format of THEMIS: the published listings EH18, errors, and malicious files.

use invigil_decent::spec::equivalence::{Comparison, compare_formula};
use invigil_decent::system::System;
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::{decent, themis};
use invigil_ltl::Budget;
use invigil_ltl::syntax::SyntaxTree;

const CLASS: &str = "uga.corse.themis.monitoring.specifications.SpecLTL";

/// Example 28, completed.
fn rooms(instances: &str) -> String {
    format!(
        r#"<?xml version="1.0"?>
<specifications>
  <!-- a switch and a light in a room -->
  <template id="lightswitch">
    <arg>room</arg>
    <arg>roomid</arg>
    <specification id="switch%roomid%" class="{CLASS}">
      <setLTL><![CDATA[(%room%_switch)]]></setLTL>
    </specification>
    <specification id="light%roomid%" class="{CLASS}">
      <setLTL><![CDATA[(%room%_light)]]></setLTL>
    </specification>
    <specification id="checklight%roomid%" class="{CLASS}">
      <setLTL>[] (@switch%roomid% -&gt; X(@light%roomid% U !@switch%roomid%))</setLTL>
    </specification>
  </template>
  {instances}
</specifications>
"#
    )
}

fn instance(room: &str, id: usize) -> String {
    format!("<instanciate template=\"lightswitch\"><room>{room}</room><roomid> {id} </roomid></instanciate>")
}

fn read(text: &str) -> (Option<decent::LoadedSpecification>, Vec<Diagnostic>) {
    themis::load(SourceId(0), text, None)
}

#[test]
fn light_switch_template_of_examples_27_and_28_expands() {
    let root = format!(
        "<specification id=\"root\" class=\"{CLASS}\"><setLTL>@checklight1 &amp;&amp; @checklight2</setLTL></specification>"
    );
    let text = rooms(&[instance("office", 1), instance("kitchen", 2), root].concat());
    let (loaded, diagnostics) = read(&text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let loaded = loaded.unwrap();
    let names: Vec<&str> = loaded.specification.monitors().map(|id| loaded.specification.name(id)).collect();
    assert_eq!(names, ["switch1", "light1", "checklight1", "switch2", "light2", "checklight2", "root"]);
    let system = &loaded.specification.system;
    let components: Vec<&str> = system.components().map(|id| system.component_name(id)).collect();
    assert_eq!(components, ["office_switch", "office_light", "kitchen_switch", "kitchen_light"]);
    let network = loaded.network(Budget::default()).unwrap();
    assert_eq!(network.depth(network.root), 2);
    let whole = |room| format!("G({room}_switch -> X({room}_light U !{room}_switch))");
    let whole = SyntaxTree::parse(&format!("{} & {}", whole("office"), whole("kitchen"))).unwrap();
    assert_eq!(compare_formula(system, &network, &whole, Budget::default()), Ok(Comparison::Same));
    // The same in our language.
    let printed = decent::print(&loaded.specification);
    assert_eq!(decent::load(SourceId(0), &printed).0.unwrap().network(Budget::default()).unwrap(), network);
}

#[test]
fn letter_number_propositions_define_components() {
    let text = format!("<specifications><specification id=\"root\" class=\"{CLASS}\"><setLTL>&lt;&gt;(b1 &amp; b0) | @other</setLTL></specification>
        <specification id=\"other\" class=\"SpecLTL\"><setLTL>a0</setLTL></specification></specifications>");
    let system = read(&text).0.unwrap().specification.system;
    assert_eq!(
        system.components().map(|id| system.component_name(id).to_owned()).collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(system.owner(system.find_proposition("b1").unwrap()), system.find_component("b").unwrap());
}

#[test]
fn given_system_overrides_inferred_components() {
    let text = format!(
        "<specifications><specification id=\"root\" class=\"{CLASS}\"><setLTL>F(p &amp; q)</setLTL></specification></specifications>"
    );
    let mut system = System::default();
    let [a, b] = ["a", "b"].map(|name| system.component(name).unwrap());
    system.proposition(a, "p").unwrap();
    system.proposition(b, "q").unwrap();
    let (_, diagnostics) = themis::load(SourceId(0), &text, Some(&system));
    assert_eq!(diagnostics[0].message, "`p` is observed by a, but `q` by b: one monitor cannot see both");
}

#[test]
fn malicious_xml_is_rejected() {
    let laughs = "<!DOCTYPE lolz [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]><specifications>&b;</specifications>";
    assert_eq!(read(laughs).1[0].message, "document types are not supported");
    let outside = "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><specifications/>";
    assert_eq!(read(outside).1[0].message, "document types are not supported");
    let deep = "<a>".repeat(300_000);
    assert_eq!(read(&deep).1[0].message, "more than 200000 elements and texts");
    let deep =
        format!("<specifications>{}{}</specifications>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert_eq!(read(&deep).1[0].message, "unexpected element <a>");
    let wide = format!("<specifications>{}</specifications>", "<a/>".repeat(250_000));
    assert_eq!(read(&wide).1[0].message, "more than 200000 elements and texts");
    let doubling: String = (0..30)
        .map(|at| {
            let next = format!("<instanciate template=\"t{}\"/>", at + 1);
            format!("<template id=\"t{at}\">{next}{next}</template>")
        })
        .collect();
    let last = format!(
        "<template id=\"t30\"><specification id=\"x\" class=\"{CLASS}\"><setLTL>p</setLTL></specification></template>"
    );
    let bomb = format!("<specifications>{doubling}{last}<instanciate template=\"t0\"/></specifications>");
    assert!(
        read(&bomb)
            .1
            .iter()
            .any(|diagnostic| diagnostic.message == "the expanded specification is too large")
    );
    let growing = format!(
        "<specifications><template id=\"t\"><arg>a</arg><specification id=\"x\" class=\"{CLASS}\"><setLTL>{}</setLTL></specification></template><instanciate template=\"t\"><a>{}</a></instanciate></specifications>",
        "%a%".repeat(10_000),
        "p".repeat(10_000),
    );
    assert!(
        read(&growing)
            .1
            .iter()
            .any(|diagnostic| diagnostic.message == "the expanded specification is too large")
    );
    for text in
        ["", "<", "<specifications", "<specifications>", "<html/>", "\u{0}", "<specifications/>", "<![CDATA["]
    {
        let (loaded, diagnostics) = read(text);
        assert!(loaded.is_none() && !diagnostics.is_empty(), "{text}");
    }
}
