//! `invigil decent gen-day` and `detect`: days of sensors, and what was done.

use crate::common::{Folder, Ran};
use serde_json::Value;

const FLAT: &str = "\
component bed: weight
component lamp: light
m_weight @ bed = weight
m_light @ lamp = light
napping @ bed = G<=1 weight
reading @ lamp = @m_light & !@napping
root reading
";

const HOME: &str = "\
day 2017-01-31 08:00 08:10
sensor weight: 0..5, 60..80 above 20
sensor light: OFF, ON
activity napping
    weight on after 10s before 10s
activity reading
    weight, light on
08:01 napping 3m
08:05 reading 2m
";

/// A flat with a day in `day`.
fn flat() -> Folder {
    let folder = Folder::new().file("flat.dec", FLAT).file("flat.home", HOME);
    folder.run("decent gen-day flat.home day").exits(0).stdout_has(&["day: 2 sensors with ", "2 activities"]);
    folder
}

fn detect(folder: &Folder, more: &str) -> Ran {
    folder.shell(&format!("invigil decent detect flat.dec --sensors day {more}"))
}

#[test]
fn detect_scores_activities() {
    let folder = flat();
    let ran = detect(&folder, "--json --watch root").exits(2);
    assert!(ran.stderr.contains("no monitor is named `root`"), "{ran:?}");
    let ran = detect(&folder, "--json --watch m_light --variant 'napping = weight & !@m_light'").exits(0);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["instants"], 600);
    let [napping, other, reading] = &report["activities"].as_array().unwrap()[..] else { panic!("{report}") };
    // 160 seconds of the nap, of each of which it is known only with the next; and all of the time that was read.
    assert_eq!(
        (&napping["annotated"], &napping["right"], &napping["found"]),
        (&180.into(), &159.into(), &278.into())
    );
    assert_eq!((&other["name"], &other["right"]), (&"napping = weight & !@m_light".into(), &160.into()));
    assert_eq!((&other["precision"], &other["recall"]), (&1.0.into(), &(160.0 / 180.0).into()));
    // In bed, so it was a nap.
    assert_eq!((&reading["name"], &reading["right"]), (&"reading".into(), &1.into()));
    assert_eq!(
        (&report["monitors"][0]["name"], &report["monitors"][0]["found"]),
        (&"m_light".into(), &120.into())
    );

    let instead = "--instead 'napping = weight & !@m_light'";
    detect(&folder, instead).exits(0).stdout_has(&["activity", "precision  recall    F1", "reading", "1.00"]);
    detect(&folder, "--from '2017-01-31 08:00:30' --to '2017-01-31 08:00:50' --step 500")
        .exits(0)
        .stdout_has(&["40 instants, ", "napping          0         0          -       -     -"]);
    folder.run("decent analyze-rate day").exits(0).stdout_has(&[
        "weight",
        "threshold",
        "Poll every 70000 ms",
    ]);
}

#[test]
fn same_seed_generates_same_day() {
    let folder = flat();
    folder.run("decent gen-day flat.home again --seed 1").exits(0);
    folder.run("decent gen-day flat.home other --seed 2").exits(0);
    assert_eq!(folder.read("day/weight.csv"), folder.read("again/weight.csv"));
    assert_ne!(folder.read("day/weight.csv"), folder.read("other/weight.csv"));
    assert_eq!(
        folder.read("day/sensors.csv"),
        "sensor,file,reading\nweight,weight.csv,above 20\nlight,light.csv,switch\n"
    );
}

#[test]
fn errors_have_position_and_remedy() {
    let broken = |name: &str, text: &str| flat().file(name, text);
    for (folder, more, words) in [
        (
            broken("day/light.csv", "1,ON\n3,OFF\n2,ON\n"),
            "",
            "day/light.csv:3: the time is earlier than in the line above",
        ),
        (
            broken("day/light.csv", "1,ON\n2,HALF\n"),
            "",
            "day/light.csv:2: expected ON, OPEN, true or 1, or OFF, CLOSED, false or 0, found `HALF`",
        ),
        (broken("day/light.csv", "1,ON\nsoon,OFF\n"), "", "day/light.csv:2: `soon` is not a timestamp"),
        (broken("day/weight.csv", "1,heavy\n"), "", "day/weight.csv:1: `heavy` is not a number"),
        (broken("day/sensors.csv", "head\nlight,gone.csv,switch\n"), "", "day/gone.csv: No such file"),
        (
            broken("day/sensors.csv", "head\nlight,light.csv,bright\n"),
            "",
            "day/sensors.csv:2: unknown reading `bright`",
        ),
        (
            broken("day/sensors.csv", "head\nlight,light.csv,switch\n"),
            "",
            "`napping` needs the sensor `weight`, which is not in day/sensors.csv",
        ),
        (
            broken("day/activities.csv", "h\n1,5,napping\n4,9,reading\n"),
            "",
            "day/activities.csv:3: `reading` begins before",
        ),
        (
            broken("day/activities.csv", "h\n1,5,sleeping\n"),
            "",
            "day/activities.csv:2: no monitor is named `sleeping`",
        ),
        (
            broken("day/activities.csv", "h\n5,1,napping\n"),
            "",
            "day/activities.csv:2: `napping` does not end after it begins",
        ),
        (flat(), "--activities none.csv", "none.csv"),
        (flat(), "--instead 'naping = weight'", "did you mean `napping`?"),
        (flat(), "--instead 'napping = light'", "write a monitor for it"),
        (flat(), "--instead 'napping = @m_lihgt'", "there is no monitor `m_lihgt`"),
        (flat(), "--instead 'napping = G('", "<instead>:1:"),
        (flat(), "--instead napping", "write: NAME = FORMULA"),
        (flat(), "--variant 'napping = weight' --variant 'napping = weight'", "duplicate monitor"),
        (
            flat(),
            "--only cooking",
            "`cooking` is not an annotated activity; expected one of napping, reading",
        ),
        (flat(), "--to '2017-01-31 07:00:00'", "no polls: the end is not after the start"),
        (flat(), "--to noon", "expected milliseconds, or a date and time"),
        (flat(), "--from 0 --step 1", "give a larger --step"),
    ] {
        let ran = detect(&folder, more).exits(2);
        assert!(ran.stderr.contains(words), "{more}: {words}: {}", ran.stderr);
    }
    let folder = Folder::new().file("flat.home", "day 2017-01-31 08:00 08:10\nactivity a\n    tv on\n");
    folder.run("decent gen-day flat.home day").exits(2).stderr_has(&["flat.home:3: unknown sensor `tv`"]);
    folder.run("decent detect flat.dec --sensors nowhere").exits(2);
    let folder = flat();
    folder
        .run("decent detect flat.dec --sensors nowhere --activities day/activities.csv")
        .exits(2)
        .stderr_has(&["nowhere/sensors.csv", "a sensor folder needs a list"]);
}
