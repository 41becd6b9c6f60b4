//! Java programs under properties, with the prompt and with reports.

use crate::common::Folder;
use crate::prompt::Typed;
use invigil_test_support::java;

const MAIN: &str = r#"package shop;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

public class Main {
    public static void main(String[] args) {
        Basket basket = new Basket();
        basket.add("apple", 3);
        basket.add("pear", 4);
        Walk walk = basket.walk();
        walk.next();
        basket.add(args[0], 5);
        String last = walk.next();
        while (last.equals(args[args.length - 1])) {
            basket.spin();
        }
        System.out.println("last " + last + " of " + basket.count);
    }
}

class Basket {
    final List<String> names = new ArrayList<>();
    int count;

    void add(String name, int price) {
        names.add(name);
        count++;
    }

    void spin() {
        count++;
    }

    Walk walk() {
        return new Walk(this, names.size());
    }
}

class Walk {
    final Basket basket;
    int left;

    Walk(Basket basket, int left) {
        this.basket = basket;
        this.left = left;
    }

    String next() {
        left--;
        return basket.names.get(left);
    }
}
"#;

/// An iterator is not used any more once its basket has changed.
const ITERATOR: &str = r#"slice on basket, walk

state init accepting {
    transition { after event Walk.new(basket, this as walk) success fresh }
}

state fresh accepting {
    transition { event Basket.add(this as basket) success stale }
}

state stale accepting {
    transition { event Walk.next(this as walk, left: int) success used_when_stale }
}

state used_when_stale non-accepting
"#;

fn folder() -> Folder {
    let folder = Folder::new().file("iterator.prop", ITERATOR);
    std::fs::create_dir_all(folder.path("src/shop")).unwrap();
    std::fs::write(folder.path("src/shop/Main.java"), MAIN).unwrap();
    java::compile(&[folder.path("src/shop/Main.java")], &["-g"], &folder.path("classes"));
    folder
}

#[test]
fn prompt_session_inspects_java_program() {
    let line = format!(
        "exec {} --color never run -p iterator.prop -- java -cp classes shop.Main plum",
        env!("CARGO_BIN_EXE_invigil")
    );
    let mut typed = Typed::line(folder(), &line);
    typed.waits("Violation of iterator");
    typed.waits("Walk.next(");
    typed.waits("shop.Walk.next");
    typed.waits("left--;");
    typed.enters("where\r");
    typed.waits("#1 shop.Main.main");
    typed.enters("print basket.count + left\r");
    typed.waits("= 4");
    typed.enters("up\r");
    typed.enters("info locals\r");
    typed.waits("walk   = shop.Walk@");
    typed.enters("set basket.count = 40\r");
    typed.waits("= 40");
    typed.enters("down\r");
    typed.enters("finish\r");
    typed.waits("\"apple\"");
    typed.enters("checkpoint\r");
    typed.waits("--record");
    typed.enters("continue\r");
    typed.waits("last apple of 40");
    typed.waits("exited with status 0");
    typed.enters("quit\r");
    typed.exits(1);
}

#[test]
fn ctrl_c_stops_java_program() {
    let line = format!(
        "exec {} --color never run -- java -cp classes shop.Main x apple",
        env!("CARGO_BIN_EXE_invigil")
    );
    let mut typed = Typed::line(folder(), &line);
    typed.waits("stopped at its entry");
    typed.enters("break Basket.spin\r");
    typed.waits("Breakpoint 1: Basket.spin");
    typed.enters("continue\r");
    typed.waits("Breakpoint 1, Basket.spin");
    typed.enters("delete 1\r");
    typed.enters("continue\r");
    std::thread::sleep(std::time::Duration::from_millis(300));
    typed.types("\u{3}");
    typed.waits("Interrupted");
    typed.enters("where\r");
    typed.waits("shop.Main.main");
    typed.enters("print Basket.nothing\r");
    typed.waits("no static field `nothing`");
    typed.enters("info threads\r");
    typed.waits("main");
    typed.enters("quit\r");
    typed.waits("(y or n)");
    typed.types("y\r");
    typed.exits(0);
}

#[test]
fn batch_run_reports_violation() {
    let folder = folder();
    let ran = folder.run("run --batch -p iterator.prop -- java -cp classes shop.Main plum").exits(1);
    ran.stderr_has(&["iterator", "Walk.next", "shop.Main.main", "Main.java:15"]);
    let ran =
        folder.run("run --batch --on-violation continue -p iterator.prop -- java -cp classes shop.Main plum");
    ran.exits(1).stdout_has(&["last apple of 3"]);
}

#[test]
fn formula_and_recorded_trace_agree() {
    let folder = folder();
    // A name with dots is quoted in a formula, as an event of the property language.
    let args = r#"invigil run --batch --record run.jsonl -p 'ltl:G("before Basket.add" -> F "before Walk.next")' -- java -cp classes shop.Main x"#;
    folder.shell(args).exits(0).stdout_has(&["last apple of 3"]);
    // The pear changes nothing for the formula, so it is not asked for.
    assert_eq!(folder.read("run.jsonl").lines().filter(|line| line.contains("Basket.add")).count(), 2);
}

#[test]
fn invalid_inputs_are_errors() {
    let folder = folder().file("wrong.prop", ITERATOR.replace("Walk.next", "Walk.nxt"));
    let ran = folder.run("run --batch -p wrong.prop -- java -cp classes shop.Main plum").exits(2);
    ran.stderr_has(&["no method `nxt`", "did you mean `next`?", "wrong.prop"]);
    let ran = folder.shell(
        "INVIGIL_AGENT=/nowhere.so invigil run --batch -p iterator.prop -- java -cp classes shop.Main",
    );
    ran.exits(3).stderr_has(&["INVIGIL_AGENT"]);
    // A failure of the program is reported and does not affect the exit status.
    let ran = folder.run("run --batch -p iterator.prop -- java -cp classes shop.Main").exits(0);
    ran.stderr_has(&["ArrayIndexOutOfBounds", "status 1"]);
}

#[test]
fn breakpoints_survive_restart() {
    let line = format!(
        "exec {} --color never run -- java -cp classes shop.Main plum",
        env!("CARGO_BIN_EXE_invigil")
    );
    let mut typed = Typed::line(folder(), &line);
    typed.waits("stopped at its entry");
    typed.enters("break Basket.add\r");
    typed.waits("Breakpoint 1: Basket.add, pending: no loaded code matches");
    typed.enters("continue\r");
    typed.waits("Breakpoint 1, Basket.add");
    // Java programs cannot be restored, so `back` is not offered.
    typed.waits("`continue` resumes. `help`");
    typed.enters("back 0\r");
    typed.waits("Java programs have no checkpoints");
    typed.enters("info breakpoints\r");
    typed.waits("shop.Basket.add (Main.java:");
    typed.enters("break 30\r");
    typed.waits("Main.java:30");
    typed.enters("run\r");
    typed.waits("(y or n)");
    typed.types("y\r");
    typed.waits("Breakpoint 1, Basket.add");
    typed.enters("delete 1\r");
    typed.waits("Deleted 1");
    typed.enters("continue\r");
    typed.waits("Breakpoint 2, ");
    typed.enters("disable\r");
    typed.waits("Disabled");
    typed.enters("continue\r");
    typed.waits("last apple of 3");
    // They are also kept when the program has exited.
    typed.enters("run\r");
    typed.waits("last apple of 3");
    typed.enters("info breakpoints\r");
    typed.waits("disabled");
    typed.enters("quit\r");
    typed.exits(0);
}
