//! Durations of checkpoints, by size and number of threads. Run explicitly: `cargo test --release -p invigil-native
//! --test it process_checkpoint::timing -- --ignored --nocapture`

use invigil_test_support::Folder;
use std::time::{Duration, Instant};

use crate::process_checkpoint::launcher::{Next, Program, compile};

const SIZED: &str = r#"
static void *stay(void *argument) { for (;;) pause(); }
int main(int argc, char **argv) {
    size_t size = (size_t)atoi(argv[1]) << 20; int threads = atoi(argv[2]), huge = atoi(argv[3]);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(memory != MAP_FAILED && !madvise(memory, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
    memset(memory, 1, size);
    for (int i = 1; i < threads; i++) { pthread_t thread; pthread_create(&thread, NULL, stay, NULL); }
    usleep(20000);
    STOP();
    return 0;
}"#;

#[test]
#[ignore = "prints times, judges nothing"]
fn times() {
    let folder = Folder::new();
    let program = compile(&folder, SIZED);
    println!("{:>8} {:>8} {:>6} {:>15} {:>12}", "MB", "threads", "pages", "checkpoint, ms", "restore, ms");
    let sizes = [1, 10, 100, 1000].map(|size| (size, 1));
    let threads = [2, 8, 32].map(|threads| (1, threads));
    for (size, threads) in sizes.into_iter().chain(threads) {
        for huge in [false, true] {
            if huge && size == 1 {
                continue;
            }
            let (freeze, thaw) = measure(&program, size, threads, huge);
            let pages = if huge { "huge" } else { "4 K" };
            println!("{size:>8} {threads:>8} {pages:>6} {:>15.3} {:>12.3}", ms(freeze), ms(thaw));
        }
    }
}

/// The shortest of several: other load on the machine only adds time.
fn measure(path: &std::path::Path, size: usize, threads: usize, huge: bool) -> (Duration, Duration) {
    let arguments = [size.to_string(), threads.to_string(), u8::from(huge).to_string()];
    let mut program = Program::start(path, &arguments.each_ref().map(String::as_str));
    assert!(matches!(program.run(), Next::Trap(_)));
    program.stop();
    let (mut freeze, mut thaw) = (Duration::MAX, Duration::MAX);
    for _ in 0..if size > 500 { 10 } else { 30 } {
        let start = Instant::now();
        let checkpoint = program.checkpoint();
        freeze = freeze.min(start.elapsed());
        let start = Instant::now();
        program.restore(&checkpoint);
        thaw = thaw.min(start.elapsed());
    }
    (freeze, thaw)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
