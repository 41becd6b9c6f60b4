//! Machine-readable reports: JSON, JUnit XML and SARIF.

use crate::common::Folder;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

const BAD: &str = "@0.5 hit(x=4)\n@1.25 hit(x=1)\nother()\nhit(x=\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON document")
}

#[test]
fn json_report_has_findings_and_trace() {
    let folder = Folder::with_hit().file("t", BAD);
    let report = json(&folder.run("check -p hit.prop --json t").exits(1).stdout);
    assert_eq!(report["schema"], 1);
    assert_eq!(report["tool"]["name"], "invigil");
    assert_eq!((&report["verdict"], &report["complete"]), (&"violated".into(), &true.into()));
    assert_eq!(report["violations"], 1);

    let property = &report["properties"][0];
    assert_eq!((&property["name"], &property["file"]), (&"hit".into(), &"hit.prop".into()));
    assert_eq!(property["states"][0]["state"], "bad");
    assert_eq!(property["failure"], Value::Null);

    let finding = &report["findings"][0];
    assert_eq!((&finding["from"], &finding["to"]), (&"init".into(), &"bad".into()));
    let event = &finding["event"];
    assert_eq!((&event["index"], &event["file"], &event["line"]), (&2.into(), &"t".into(), &2.into()));
    assert_eq!((&event["time"], &event["params"]["x"]), (&1.25.into(), &1.into()));
    let path = finding["path"].as_array().unwrap();
    assert_eq!(path.len(), 3);
    assert_eq!((&path[0]["event"], &path[0]["env"]["n"]), (&Value::Null, &0.into()));
    assert_eq!((&path[1]["branch"], &path[1]["env"]["n"]), (&"success".into(), &1.into()));
    assert_eq!((&path[2]["branch"], &path[2]["verdict"]), (&"failure".into(), &"non-accepting".into()));

    let trace = &report["trace"];
    assert_eq!((&trace["events"], &trace["ignored"], &trace["lines"]), (&2.into(), &1.into(), &4.into()));
    assert_eq!((&trace["end"], &trace["mistakes"]["skipped"]), (&"finished".into(), &1.into()));
    assert_eq!(trace["mistakes"]["first"][0]["line"], 4);
}

#[test]
fn slice_keeps_order_of_parameters() {
    let folder = Folder::new().file(
        "s.prop",
        "slice on z, a\nstate init accepting { transition { event e(z, a) success bad } }\nstate bad non-accepting",
    );
    let ran = folder.feed("check -p s.prop --json", b"e(z=1, a=\"two\")\n").exits(1);
    assert!(
        ran.stdout.contains("\"slice\": {\n        \"z\": 1,\n        \"a\": \"two\"\n      }"),
        "{}",
        ran.stdout
    );
}

#[test]
fn json_report_has_failed_block() {
    let folder = Folder::with_hit().file("t", "hit(x=3)\n");
    let report = json(&folder.run("check -p hit.prop --json t").exits(2).stdout);
    assert_eq!((&report["verdict"], &report["complete"]), (&"error".into(), &false.into()));
    let failure = &report["properties"][0]["failure"];
    assert_eq!(
        (&failure["file"], &failure["line"], &failure["column"]),
        (&"hit.prop".into(), &4.into(), &36.into())
    );
    assert_eq!(failure["event"]["line"], 1);
}

/// The names of the elements of a well-formed document, with the attributes of each.
fn elements(xml: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    let mut found = Vec::new();
    let mut depth = 0;
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Eof => break,
            Event::Start(element) => {
                depth += 1;
                found.push(String::from(&*element));
            }
            Event::Empty(element) => found.push(String::from(&*element)),
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    found
}

#[test]
fn junit_has_case_per_property() {
    let folder = Folder::with_hit().file("t", BAD).file("a&b.prop", "state init accepting");
    folder.run("check -p hit.prop -p a&b.prop -q --junit out.xml t").exits(1);
    let xml = folder.read("out.xml");
    let found = elements(&xml);
    assert!(found[0].contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{found:?}");
    assert!(found[2].contains("testcase name=\"hit\" classname=\"hit.prop\""));
    assert!(found[3].contains("failure message=\"violated 1 time\""));
    assert!(found[4].contains("testcase name=\"a&amp;b\""));
    assert!(xml.contains("t:2 (event 2, time 1.25)") && xml.contains("init → bad"), "{xml}");
}

#[test]
fn junit_reports_unchecked_property_as_error() {
    let folder = Folder::with_hit().file("t", "hit(x=3)\n");
    let found = elements(&folder.run("check -p hit.prop --junit - t").exits(2).stdout);
    assert!(found[3].starts_with("error message=\"error: division by zero"), "{found:?}");
    let found = elements(&folder.run("check -p hit.prop --junit - none").exits(2).stdout);
    assert!(found[3].starts_with("error "), "{found:?}");
}

#[test]
fn junit_escapes_invalid_xml_characters() {
    let property = "state init accepting { transition { event a(x) { return x == 1 } failure bad } }\nstate bad non-accepting";
    let folder =
        Folder::new().file("a.prop", property).file("t", "{\"event\": \"a\", \"x\": \"<\\u0001\\uffff&\"}\n");
    let xml = folder.run("check -p a.prop --junit - t").exits(1).stdout;
    elements(&xml);
    assert!(!xml.contains(['\u{1}', '\u{ffff}']));
}

#[test]
fn sarif_log_has_locations_and_code_flow() {
    let folder = Folder::with_hit().file("my trace", BAD);
    let line = "invigil check -p hit.prop --sarif out.sarif 'my trace'";
    folder.shell(line).exits(1).stdout_has(&["violation 1"]);
    let log = json(&folder.read("out.sarif"));
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "hit");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let result = &run["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["ruleIndex"], &result["level"]),
        (&"hit".into(), &0.into(), &"error".into())
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "my%20trace");
    assert_eq!(place["region"]["startLine"], 2);
    assert!(result["message"]["text"].as_str().unwrap().contains("init → bad"));
    let related = &result["relatedLocations"][0]["physicalLocation"];
    assert_eq!(
        (&related["artifactLocation"]["uri"], &related["region"]["startLine"]),
        (&"hit.prop".into(), &9.into())
    );
    let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!((flow.as_array().unwrap().len(), &flow[1]["state"]["n"]["text"]), (3, &"1".into()));
}

#[test]
fn sarif_log_has_errors() {
    let folder = Folder::with_hit();
    let log = json(&folder.run("check -p hit.prop --sarif - none").exits(2).stdout);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert!(
        invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap().contains("none")
    );
    assert_eq!(log["runs"][0]["results"], json("[]"));
}

#[test]
fn second_report_on_stdout_is_rejected() {
    let folder = Folder::with_hit();
    folder.run("check -p hit.prop --json --sarif -").exits(2).stderr_has(&["name files for"]);
    folder.run("check -p hit.prop --prints --junit -").exits(2).stderr_has(&["name a file for the report"]);
    folder.run("check -p hit.prop --prints --json").exits(2).stderr_has(&["cannot be used with"]);
}

#[test]
fn unwritable_report_exits_2() {
    let folder = Folder::with_hit();
    folder
        .run("check -p hit.prop --sarif no/such/folder")
        .exits(2)
        .stderr_has(&["no/such/folder: cannot write"]);
    folder
        .shell("invigil check -p hit.prop > /dev/full")
        .exits(2)
        .stderr_has(&["cannot write to standard output"]);
}

#[test]
fn violation_takes_precedence_over_unwritable_report() {
    let folder = Folder::with_hit().file("t", BAD);
    let ran = folder.run("check -q -p hit.prop --junit no/such/x.xml --sarif out.sarif t").exits(1);
    ran.stderr_has(&["error: no/such/x.xml: cannot write"]);
    assert!(folder.read("out.sarif").contains("2.1.0"), "the other report is written");
    folder
        .shell("invigil check -p hit.prop t > /dev/full")
        .exits(1)
        .stderr_has(&["cannot write to standard"]);
}

#[test]
fn json_values_have_json_types() {
    let property = "slice on s
initialization { i = -1; f = 1.5; inf = 1e999; yes = True; none = None; list = [1, 'a'] }
state init accepting { transition { event e(s, long) success { text = long } bad } }
state bad non-accepting { transition { event z(s) { return text == '' } success init } }";
    let folder = Folder::new().file("v.prop", property);
    let trace = br#"{"event": "e", "s": "quo'ted", "long": "a text that is longer than a short one"}"#;
    let report = json(&folder.feed("check -p v.prop --json", trace).exits(1).stdout);
    let finding = &report["findings"][0];
    assert_eq!(finding["slice"], json(r#"{"s": "quo'ted"}"#));
    assert_eq!(finding["event"]["params"]["long"], "a text that is longer than a short one");
    let env = &finding["path"][1]["env"];
    let reported = [&env["i"], &env["f"], &env["yes"], &env["none"]];
    assert_eq!(reported, [&(-1).into(), &1.5.into(), &true.into(), &Value::Null]);
    assert_eq!((&env["inf"], &env["list"]), (&"inf".into(), &"[1, 'a']".into()));
    assert_eq!(env["text"], "a text that is longer than a short one");
}
