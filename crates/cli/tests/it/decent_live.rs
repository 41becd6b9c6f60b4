//! `invigil decent run`: peers and live programs as what components observe.

use crate::common::{Folder, Ran, shell};
use invigil_test_support::{Program, java};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

const LIGHT: &str = "\
component lswitch: s
component bulb: l
m1 @ bulb = l
root @ lswitch = G(s -> X(@m1 U !s))
";

/// Runs the command while peers send.
fn with_peers(folder: &Folder, line: &str, peers: impl FnOnce()) -> Ran {
    let mut command = shell(line);
    command.current_dir(folder.path(".")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the command can be run");
    peers();
    let done = child.wait_with_output().expect("it ends");
    Ran {
        status: done.status.code().expect("no signal"),
        stdout: String::from_utf8(done.stdout).expect("text"),
        stderr: String::from_utf8(done.stderr).expect("text"),
    }
}

/// Tries to connect until the socket is listening.
fn connected<S>(connect: impl Fn() -> std::io::Result<S>) -> S {
    let since = Instant::now();
    loop {
        match connect() {
            Ok(stream) => return stream,
            Err(error) => assert!(since.elapsed() < Duration::from_secs(20), "{error}"),
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn unix(folder: &Folder, name: &str) -> UnixStream {
    connected(|| UnixStream::connect(folder.path(name)))
}

#[test]
fn peers_send_one_line_per_round() {
    let folder = Folder::new().file("light.dec", LIGHT);
    // A port that is free now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let line = format!("invigil decent run light.dec --listen lswitch=unix:s.sock --listen bulb=tcp:{port}");
    let ran = with_peers(&folder, &line, || {
        let mut bulb = connected(|| TcpStream::connect(("127.0.0.1", port)));
        let mut switch = unix(&folder, "s.sock");
        switch.write_all(b"s:f\ns:t\ns:t\n").unwrap();
        bulb.write_all(b"l:f\nl:f\nl:f\n").unwrap();
    });
    ran.exits(1).stdout_has(&["as specified: 2 monitors on 2 components", "false at instant 3"]);
    assert!(!folder.path("s.sock").exists(), "the socket is gone");
    // All algorithms read the same observations, and a closed connection is reported with its component.
    let line =
        "invigil decent run 'F(s & l)' -c a:s -c b:l -a all --listen a=unix:a.sock --listen b=unix:b.sock";
    let ran = with_peers(&folder, line, || {
        unix(&folder, "a.sock").write_all(b"s:t\ns:f\n").unwrap();
        unix(&folder, "b.sock").write_all(b"l:f\n").unwrap();
    });
    let ran = ran.exits(0).stderr_has(&[
        "note: a: the peer closed the connection, after 2 rounds",
        "note: b: the peer closed the connection, after 1 round",
    ]);
    assert_eq!(ran.stdout.matches("unknown after 7 rounds").count(), 6, "{}", ran.stdout);
}

#[test]
fn misbehaving_peers_are_errors() {
    let folder = Folder::new();
    let line = "invigil decent run 'F(s & l)' -c a:s -c b:l --listen a=unix:a.sock --wait 0.6";
    let expect_error = |bytes: Vec<u8>, stays: bool, words: &str| {
        let ran = with_peers(&folder, line, || {
            let mut peer = unix(&folder, "a.sock");
            // Who is refused is not read to the end.
            let _ = peer.write_all(&bytes);
            if stays {
                thread::sleep(Duration::from_millis(1500));
            }
        });
        ran.exits(2).stderr_has(&["note: no input for b; give --listen or --program", words]);
    };
    expect_error(b"s:t\ns=t\n".to_vec(), false, "a:2: expected a name, a colon and `t` or `f`");
    expect_error(b"l:t\n".to_vec(), false, "a:1: `l` is not observed by a");
    expect_error(b"\xff\xfe\n".to_vec(), false, "a:1: the line is not valid UTF-8");
    expect_error(vec![b's'; (1 << 20) + 9], false, "a:1: the line is longer than 1048576 bytes");
    expect_error(b"s:f\ns:".to_vec(), false, "a:2: the connection was closed in the middle of the line");
    expect_error(b"s:f\ns:".to_vec(), true, "a:2: no complete line within 0.6 s");
    let nobody = folder.shell(line).exits(2);
    nobody.stderr_has(&[
        "a: no connection to unix-listen:a.sock within 0.6 s; wait longer with `--wait SECONDS`",
    ]);
    for (args, words) in [
        ("--listen a=b.sock", "`b.sock` is not a socket"),
        ("--listen c=unix:c.sock", "no component `c`; expected one of a, b"),
        ("--listen unix:c.sock", "names no component"),
        ("--listen a=unix:a.sock --program a=true --round x", "two inputs for a; omit one"),
        ("--listen a=unix:no/such/a.sock", "a: unix-listen:no/such/a.sock: cannot open"),
    ] {
        let ran = folder.shell(&format!("invigil decent run 'F(s & l)' -c a:s -c b:l {args}"));
        ran.exits(2).stderr_has(&[words]);
    }
}

const KEYS: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void press(void) {}
int hold(int n) { return n; }
void tick(void) {}

int main(int argc, char **argv) {
    printf("begin\n");
    fflush(stdout);
    for (char *at = argc > 1 ? argv[1] : ""; *at; at++) {
        if (*at == 'p') press();
        if (*at == 'h') hold(1);
        if (*at == '.') tick();
        if (*at == 's') usleep(400000);
        if (*at == 'w') sleep(60);
        if (*at == '!') raise(SIGSEGV);
        if (*at == 'x') exit(3);
    }
    return 0;
}
"#;

/// A directory with the program `keys`, whose calls its arguments determine.
fn keys() -> Folder {
    static BUILT: OnceLock<Program> = OnceLock::new();
    let program = BUILT.get_or_init(|| Program::c(KEYS, &["-g", "-O0"]));
    let folder = Folder::new();
    std::fs::copy(&program.path, folder.path("keys")).expect("the program can be copied");
    folder
}

#[test]
fn function_calls_of_native_program_are_observed() {
    let folder = keys();
    // A name with a blank is a name in single quotes.
    let spec = "component a: press, 'after hold'\nroot @ a = G(press -> X 'after hold')\n";
    let folder = folder.file("keys.dec", spec);
    let run = |args: &str| folder.shell(&format!("invigil decent run keys.dec {args}"));
    let ran = run("--program a='./keys .p.hh.p..h' --round tick").exits(1);
    let ran = ran.stdout_has(&["false at instant 5"]);
    assert!(ran.stderr.contains("begin") && !ran.stdout.contains("begin"), "{ran:?}");
    run("--program a='./keys p.h.p.h' --round tick")
        .exits(0)
        .stderr_has(&["note: a: the program has ended: it exited with status 0, after 4 rounds"]);
    // Rounds by time: the second press is not followed by anything.
    run("--program a='./keys pshspsw' --step 400ms").exits(1).stdout_has(&["false at instant"]);
}

#[test]
fn two_programs_run_concurrently() {
    let folder = keys();
    let line = "invigil decent run two.dec --program a='./keys .p........w' --program b='./keys .....h....w' \
        --round tick";
    let folder = folder.file(
        "two.dec",
        "component a: press\ncomponent b: hold\nheld @ b = hold\nroot @ a = G(press -> F<=2 @held)\n",
    );
    let since = Instant::now();
    folder.shell(line).exits(1).stdout_has(&["false at instant 4"]);
    assert!(since.elapsed() < Duration::from_secs(30), "programs end with the run");
    let line = "invigil decent run 'F(press & hold)' -c a:press -c b:hold -a all --program a='./keys .p.' \
        --program b='./keys .h.' --round tick";
    let ran = folder.shell(line).exits(0);
    assert_eq!(ran.stdout.matches("true at instant 2").count(), 6, "{ran:?}");
}

#[test]
fn failing_programs_are_errors() {
    let folder = keys();
    let run = |program: &str, rest: &str| {
        folder.shell(&format!(
            "invigil decent run 'G(press -> X hold)' -c a:press,hold --program a='{program}' {rest}"
        ))
    };
    run("./keys p.!.", "--round tick")
        .exits(0)
        .stderr_has(&["note: a: the program has ended: it was killed by SIGSEGV", "after 1 round"]);
    run("./keys .x", "--round tick").exits(0).stderr_has(&["it exited with status 3"]);
    run("./keys pw", "--round tick --wait 0.5")
        .exits(2)
        .stderr_has(&["a: the program did not reach `tick` within 0.5 s"]);
    run("./nokeys", "--round tick").exits(3).stderr_has(&["a: cannot run `./nokeys`"]);
    run("./keys p", "--round tack").exits(3).stderr_has(&["a: ", "tack", "tick"]);
    run("./keys p", "").exits(2).stderr_has(&["the end of a round is not defined"]);
    run("", "--round tick").exits(2).stderr_has(&["a: name the program to run"]);
    run("./keys \"p", "--round tick").exits(2).stderr_has(&["unclosed \" in"]);
    let wrong =
        folder.shell("invigil decent run 'F(press & hodl)' -c a:press,hodl --program a=./keys --round tick");
    wrong.exits(3).stderr_has(&["hodl", "hold"]);
}

#[test]
fn method_calls_of_java_program_are_observed() {
    let folder = Folder::new().file(
        "Keys.java",
        "class Keys {
            static void press() {}
            static int hold(int n) { return n; }
            static void tick() {}
            public static void main(String[] args) {
                for (char key : args[0].toCharArray()) {
                    if (key == 'p') press();
                    if (key == 'h') hold(1);
                    if (key == '.') tick();
                }
            }
        }",
    );
    java::compile(&[folder.path("Keys.java")], &["-g"], &folder.path("."));
    let folder = folder.file(
        "keys.dec",
        "component a: Keys.press, 'after Keys.hold'\nroot @ a = G(Keys.press -> X 'after Keys.hold')\n",
    );
    let run = |keys: &str, rest: &str| {
        folder.shell(&format!("invigil decent run keys.dec --program a='java -cp . Keys {keys}' {rest}"))
    };
    run(".p.h.p..h", "--round Keys.tick").exits(1).stdout_has(&["false at instant 5"]);
    run("p.h.", "--round Keys.tick").exits(0).stderr_has(&["it exited with status 0, after 2 rounds"]);
    run("p", "--round Keys.tock").exits(3).stderr_has(&["a: ", "tock"]);
}
