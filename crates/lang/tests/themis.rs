//! Specifications in the XML of THEMIS: the document's listings, mistakes, and files that mean harm.

use invigil_decent::spec::equivalent::{Comparison, compare_formula};
use invigil_decent::system::System;
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::{decent, report, themis};
use invigil_ltl::Budget;
use invigil_ltl::syntax::Tree;

const CLASS: &str = "uga.corse.themis.monitoring.specifications.SpecLTL";

/// Example 28, with what its listing leaves out.
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

fn read(text: &str) -> (Option<decent::Loaded>, Vec<Diagnostic>) {
    themis::load(SourceId(0), text, None)
}

#[test]
fn example_27_and_28_a_template_for_light_switches() {
    let root = format!(
        "<specification id=\"root\" class=\"{CLASS}\"><setLTL>@checklight1 &amp;&amp; @checklight2</setLTL></specification>"
    );
    let text = rooms(&[instance("office", 1), instance("kitchen", 2), root].concat());
    let (loaded, problems) = read(&text);
    assert!(problems.is_empty(), "{problems:?}");
    let loaded = loaded.unwrap();
    let names: Vec<&str> = loaded.specification.monitors().map(|id| loaded.specification.name(id)).collect();
    assert_eq!(names, ["switch1", "light1", "checklight1", "switch2", "light2", "checklight2", "root"]);
    let system = &loaded.specification.system;
    let components: Vec<&str> = system.components().map(|id| system.component_name(id)).collect();
    assert_eq!(components, ["office_switch", "office_light", "kitchen_switch", "kitchen_light"]);
    let network = loaded.network(Budget::default()).unwrap();
    assert_eq!(network.depth(network.root), 2);
    let whole = |room| format!("G({room}_switch -> X({room}_light U !{room}_switch))");
    let whole = Tree::parse(&format!("{} & {}", whole("office"), whole("kitchen"))).unwrap();
    assert_eq!(compare_formula(system, &network, &whole, Budget::default()), Ok(Comparison::Same));
    // It can be written in our own language.
    let printed = decent::print(&loaded.specification);
    assert_eq!(decent::load(SourceId(0), &printed).0.unwrap().network(Budget::default()).unwrap(), network);
}

#[test]
fn propositions_of_a_letter_and_a_number_belong_to_the_letter() {
    let text = format!("<specifications><specification id=\"root\" class=\"{CLASS}\"><setLTL>&lt;&gt;(b1 &amp; b0) | @other</setLTL></specification>
        <specification id=\"other\" class=\"SpecLTL\"><setLTL>a0</setLTL></specification></specifications>");
    let system = read(&text).0.unwrap().specification.system;
    assert_eq!(
        system.components().map(|id| system.component_name(id).to_owned()).collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(system.owner(system.find("b1").unwrap()), system.find_component("b").unwrap());
}

#[test]
fn the_system_can_come_from_elsewhere() {
    let text = format!(
        "<specifications><specification id=\"root\" class=\"{CLASS}\"><setLTL>F(p &amp; q)</setLTL></specification></specifications>"
    );
    let mut system = System::default();
    let [a, b] = ["a", "b"].map(|name| system.component(name).unwrap());
    system.proposition(a, "p").unwrap();
    system.proposition(b, "q").unwrap();
    let (_, problems) = themis::load(SourceId(0), &text, Some(&system));
    assert_eq!(problems[0].message, "`p` is observed by a, but `q` by b: one monitor cannot see both");
}

#[test]
fn mistakes_say_what_and_where() {
    let ltl = |id: &str, formula: &str| {
        format!("<specification id=\"{id}\" class=\"{CLASS}\"><setLTL>{formula}</setLTL></specification>")
    };
    for (inside, message, place, help) in [
        (ltl("root", "G(p -> )"), "expected a formula, found `)`", ")", ""),
        (ltl("root", "<![CDATA[F (p & @othr)]]>") + &ltl("other", "q"), "there is no monitor `othr`", "@othr", "did you mean `other`?"),
        (ltl("root", "p") + &ltl("root", "q"), "there are two monitors `root`", "root", "rename one of them"),
        (ltl("it's", "p"), "`it\\'s` cannot be a name", "it's", "a name has no quotes, no `#`, and stands on one line"),
        ("<specification id=\"root\"><setLTL>p</setLTL></specification>".to_owned(), "<specification> needs the attribute `class`", "<specification", "write: <specification class=\"…\">"),
        (format!("<specification id=\"root\" class=\"{CLASS}\"/>"), "the specification `root` has no formula", "root", "write: <setLTL><![CDATA[formula]]></setLTL>"),
        (format!("<specification id=\"root\" class=\"{CLASS}\"><setltl>p</setltl></specification>"), "the class `SpecLTL` has no `setltl`", "<setltl", "did you mean `setLTL`?"),
        ("<specification id=\"root\" class=\"a.SpecRTLConv\"><arg>-salt</arg></specification>".to_owned(), "specifications of the class `SpecRTLConv` cannot be read", "a.SpecRTLConv", "`SpecLTL` can, with <setLTL>; what something else says can be a black box in a `.dec` file"),
        ("<specificaton/>".to_owned(), "<specificaton> has no meaning here", "<specificaton", "did you mean `specification`?"),
        (instance("office", 1).replace("lightswitch", "lightswich"), "there is no template `lightswich`", "lightswich", "did you mean `lightswitch`?"),
        (instance("office", 1).replace("room>", "rom>"), "`lightswitch` has no argument `rom`", "<rom", "did you mean `room`?"),
        (instance("office", 1).replace("<room>office</room>", ""), "the argument `room` of `lightswitch` is missing", "lightswitch", "write: <room>value</room>"),
        ("<template id=\"t\"><arg>a</arg><instanciate template=\"t\"><a>%a%</a></instanciate></template><instanciate template=\"t\"><a>1</a></instanciate>".to_owned(), "the template `t` instantiates itself: it would never end", "t", ""),
        (format!("<template id=\"t\"><arg>a</arg>{}</template><instanciate template=\"t\"><a>1</a></instanciate>", ltl("r%b%", "p")), "the template has no argument `b`", "%b%", "did you mean `a`?"),
        ("<template id=\"t\">".to_owned(), "this is no XML: expected 'template' tag, not 'specifications'", "<", ""),
        ("&boom;".to_owned(), "this is no XML: unknown entity reference 'boom'", "&", ""),
    ] {
        let text = rooms(&inside);
        let (loaded, problems) = read(&text);
        assert!(loaded.is_none(), "{text}");
        let said: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        let Some(found) = problems.iter().find(|problem| problem.message == message) else {
            panic!("{inside}\nexpected {message:?}, found {said:?}")
        };
        let caret = &text[found.span.start as usize..found.span.end as usize];
        assert_eq!((caret, found.help.as_deref().unwrap_or_default()), (place, help), "{inside}");
        let mut sources = Sources::default();
        sources.add("file.xml", &*text);
        assert!(report::render(&sources, &problems, false).contains(message));
    }
}

#[test]
fn files_that_mean_harm_are_refused() {
    let laughs = "<!DOCTYPE lolz [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]><specifications>&b;</specifications>";
    assert_eq!(read(laughs).1[0].message, "a specification has no document type");
    let outside = "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><specifications/>";
    assert_eq!(read(outside).1[0].message, "a specification has no document type");
    let deep = "<a>".repeat(300_000);
    assert_eq!(read(&deep).1[0].message, "there are more than 200000 elements and texts");
    let deep =
        format!("<specifications>{}{}</specifications>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert_eq!(read(&deep).1[0].message, "<a> has no meaning here");
    let wide = format!("<specifications>{}</specifications>", "<a/>".repeat(250_000));
    assert_eq!(read(&wide).1[0].message, "there are more than 200000 elements and texts");
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
        read(&bomb).1.iter().any(|problem| problem.message == "the templates make too much of this file")
    );
    let growing = format!(
        "<specifications><template id=\"t\"><arg>a</arg><specification id=\"x\" class=\"{CLASS}\"><setLTL>{}</setLTL></specification></template><instanciate template=\"t\"><a>{}</a></instanciate></specifications>",
        "%a%".repeat(10_000),
        "p".repeat(10_000),
    );
    assert!(
        read(&growing).1.iter().any(|problem| problem.message == "the templates make too much of this file")
    );
    for text in
        ["", "<", "<specifications", "<specifications>", "<html/>", "\u{0}", "<specifications/>", "<![CDATA["]
    {
        let (loaded, problems) = read(text);
        assert!(loaded.is_none() && !problems.is_empty(), "{text}");
    }
}
