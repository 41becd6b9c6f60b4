//! A program to be watched, compiled once.

use crate::common::Folder;
use invigil_test_support::Program;
use std::sync::OnceLock;
use std::{fs, path::PathBuf};

const SOURCE: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

static int level;

void fill(int amount) {
    level += amount;
}

void drain(int amount) {
    level -= amount;
}

void spin(void) {
    for (;;) usleep(1000);
}

void pour(void) {
    for (;;) { fill(0); usleep(1000); }
}

void raw(void) {
    struct termios modes;
    tcgetattr(0, &modes);
    cfmakeraw(&modes);
    tcsetattr(0, TCSANOW, &modes);
}

void front(void) {
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(0, getpid());
}

void modes(void) {
    struct termios modes;
    tcgetattr(0, &modes);
    printf("modes %s\n", modes.c_lflag & ICANON ? "cooked" : "raw");
    printf("group %s\n", tcgetpgrp(0) == getpid() ? "own" : "shared");
}

int main(int argc, char **argv) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    printf("begin\n");
    fflush(stdout);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "crash")) raise(SIGSEGV);
        else if (!strcmp(argv[i], "spin")) spin();
        else if (!strcmp(argv[i], "pour")) pour();
        else if (!strcmp(argv[i], "name")) printf("called %s\n", argv[0]);
        else if (!strcmp(argv[i], "raw")) raw();
        else if (!strcmp(argv[i], "front")) front();
        else if (!strcmp(argv[i], "modes")) modes();
        else if (!strcmp(argv[i], "env")) printf("%s\n", getenv("COLOUR") ? getenv("COLOUR") : "none");
        else if (!strcmp(argv[i], "cat")) { int c; while ((c = getchar()) != EOF) putchar(c); }
        else if (argv[i][0] == '-') drain(atoi(argv[i] + 1));
        else fill(atoi(argv[i]));
    }
    printf("level %d\n", level);
    return level;
}
"#;

/// A tank must not be filled above 10.
pub(crate) const TANK: &str = "\
initialization { total = 0 }
state init accepting {
    transition {
        event fill(amount: int) { return total + amount <= 10 }
        success { total = total + amount; print(\"total\", total) } init
        failure spilt
    }
    transition { event drain(amount: int) { total = total - amount } success init }
}
state spilt non-accepting
";

/// Path of the compiled program.
fn tank() -> &'static PathBuf {
    static BUILT: OnceLock<Program> = OnceLock::new();
    &BUILT.get_or_init(|| Program::c(SOURCE, &["-g", "-O0"])).path
}

/// A folder with the program `tank` and the property `tank.prop`.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new().file("tank.prop", TANK);
    // A hard link would do where both are on one file system.
    fs::copy(tank(), folder.path("tank")).expect("the program can be copied");
    folder
}
