//! Malformed input is reported as an error or as a counted line, and never panics.

use crate::common::*;
use invigil_trace::{BlockReader, EventBlock, Input, ReadEnd, ReadOptions, Schema, TraceError, read};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

/// Reader that generates `unit` repeatedly up to `total` bytes, with `odd` inserted at `at`.
struct Endless {
    unit: Vec<u8>,
    total: u64,
    odd: Vec<u8>,
    at: u64,
    read: u64,
}

impl Endless {
    fn new(unit: &str, count: u64, odd: &str, before: u64) -> Endless {
        let at = unit.len() as u64 * before;
        let total = unit.len() as u64 * count + odd.len() as u64;
        Endless { unit: unit.into(), total, odd: odd.into(), at, read: 0 }
    }
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() && self.read < self.total {
            let (from, start) = match self.read.checked_sub(self.at) {
                Some(past) if past < self.odd.len() as u64 => (&self.odd, past as usize),
                Some(past) => (&self.unit, (past as usize - self.odd.len()) % self.unit.len()),
                None => (&self.unit, self.read as usize % self.unit.len()),
            };
            // Stop at the odd part.
            let mut len = (from.len() - start).min(into.len() - filled);
            if self.read < self.at {
                len = len.min((self.at - self.read) as usize);
            }
            into[filled..filled + len].copy_from_slice(&from[start..start + len]);
            filled += len;
            self.read += len as u64;
        }
        Ok(filled)
    }
}

/// Peak memory of the process, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: 0 kB");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) << 10
}

#[test]
fn malformed_line_in_a_gigabyte_is_counted_in_constant_memory() {
    // Long lines with unread fields: the test is about size, not speed.
    let unit = format!("{{\"event\":\"push\",\"queue\":1,\"filler\":\"{}\"}}\n", "x".repeat(4000)).repeat(8);
    let lines = (1 << 30) / unit.len() as u64;
    let source = Endless::new(&unit, lines, "{\"event\":\"pop\",\"queue\":}\n", lines / 2);
    let before = peak_memory();
    let mut count = 0;
    let inputs = vec![Input::reader("big.jsonl", source)];
    let summary =
        read(inputs, &Schema::new(&queue_catalog()), &ReadOptions { threads: 2, ..one_thread() }, |block| {
            count += block.batch.len() as u64;
            ControlFlow::Continue(())
        });
    assert!(matches!(summary.end, ReadEnd::Finished));
    assert_eq!((count, summary.line_errors.count()), (lines * 8, 1));
    let error = &summary.line_errors.first()[0];
    assert_eq!(error.position.line, lines / 2 * 8 + 1);
    assert_eq!(error.excerpt, "{\"event\":\"pop\",\"queue\":}");
    assert!(error.message.starts_with("invalid JSON at column 24"), "{}", error.message);
    assert!(peak_memory() - before < 128 << 20, "memory grows with the trace");
}

#[test]
fn line_of_100_megabytes_is_skipped_without_being_stored() {
    for threads in [1, 2] {
        let unit = "pop(queue=1)\n";
        let text = format!("push(queue=0)\n{}", "push(".repeat(20));
        let giant = Endless::new("xxxxxxxx", (100 << 20) / 8, "", 0);
        let end = Endless::new(unit, 10, "", 0);
        let before = peak_memory();
        let source = io::Cursor::new(text).chain(giant).chain(io::Cursor::new("\n")).chain(end);
        let (seen, summary) = read_all(
            vec![Input::reader("test", source)],
            &queue_catalog(),
            &ReadOptions { threads, ..one_thread() },
        );
        assert_eq!((seen.len(), summary.line_errors.count(), summary.lines), (11, 1, 12));
        let error = &summary.line_errors.first()[0];
        assert_eq!(error.position.line, 2);
        assert_eq!(error.message, "the line has 104857700 bytes, which exceeds the limit of 16777216");
        assert!(error.excerpt.starts_with("push(push("), "{}", error.excerpt);
        assert_eq!(seen[1].line, 3);
        assert!(peak_memory() - before < 100 << 20, "the line was kept");
    }
}

#[test]
fn line_limit_is_independent_of_chunk_boundaries() {
    let catalog = queue_catalog();
    for chunk_bytes in [1, 7, 64, 1000] {
        for (len, line_errors) in [(50, 0), (51, 1)] {
            let line = format!("push(queue=\"{}\")", "x".repeat(len - 14));
            assert_eq!(line.len(), len);
            for text in
                [format!("pop()\n{line}\npop()\n"), format!("pop()\n{line}"), format!("{line}\npop()")]
            {
                let options = ReadOptions { chunk_bytes, max_line: 50, ..one_thread() };
                let (_, summary) = read_all(vec![input(&text)], &catalog, &options);
                assert_eq!(summary.line_errors.count(), line_errors, "{text} in {chunk_bytes}");
                assert_eq!(summary.lines, text.lines().count() as u64, "{text} in {chunk_bytes}");
            }
        }
    }
}

#[test]
fn truncated_compressed_data_is_an_error_after_its_events() {
    let text: String = (0..100_000).map(|i| format!("push(queue={})\n", i * 7919 % 100_003)).collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (packed, how) in [(&gzip, "gzip"), (&zstd, "zstd")] {
        for threads in [1, 2] {
            let options = ReadOptions { threads, ..one_thread() };
            let (seen, summary) =
                read_all(vec![input(&packed[..packed.len() / 2])], &queue_catalog(), &options);
            assert!(seen.len() > 1000 && seen.len() < 100_000, "{}", seen.len());
            let ReadEnd::Failed(error @ TraceError::Read { .. }) = summary.end else {
                panic!("{:?}", summary.end)
            };
            let expected = format!(
                "test:{}: the {how} data is truncated; the {} lines before were read; copy or compress the file again",
                seen.len() + 1,
                seen.len()
            );
            assert_eq!(error.to_string(), expected);
            assert!(summary.line_errors.is_empty(), "the cut line is also counted as malformed");
        }
    }
    let mut damaged = gzip.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 20].fill(0xff);
    let (_, summary) = read_all(vec![input(&damaged)], &queue_catalog(), &one_thread());
    let ReadEnd::Failed(error) = summary.end else { panic!("{:?}", summary.end) };
    assert!(error.to_string().contains("the gzip data is corrupt"), "{error}");
    let (_, summary) = read_all(vec![input(&gzip[..5])], &queue_catalog(), &one_thread());
    assert!(matches!(summary.end, ReadEnd::Failed(TraceError::Read { .. })));
}

#[test]
fn lines_with_invalid_utf_8_are_skipped() {
    let text = b"push(queue=1)\npush(queue=\"\xff\xfe\")\n\xc3\npop(queue=\"\xc3\xa9\")\nbad bad bad\n";
    let (seen, summary) = events(text, &queue_catalog());
    assert_eq!(first_params(&seen), [PlainValue::Int(1), string("é")]);
    assert_eq!(seen[1].line, 4);
    let lines: Vec<_> =
        summary.line_errors.first().iter().map(|p| (p.position.line, p.message.as_str())).collect();
    assert_eq!(lines[..2], [(2, "the line is not valid UTF-8"), (3, "the line is not valid UTF-8")]);
    assert_eq!((lines.len(), lines[2].0), (3, 5));

    let csv = b"event,queue\npush,\xff\npush,2\n";
    let (seen, summary) = events(csv, &queue_catalog());
    assert_eq!((first_params(&seen), summary.line_errors.count()), (vec![PlainValue::Int(2)], 1));
}

#[test]
fn lines_with_nul_bytes_are_skipped() {
    for text in [
        "{\"event\":\"push\",\"queue\":\"a\0b\"}\n{\"event\":\"pop\",\"queue\":1}\n\0\0\0\n",
        "event,queue\npush,a\0b\npop,1\n\0\0\0,\n",
        "push(queue=\"a\0b\")\npop(queue=1)\n\0\0\0\n",
    ] {
        let (seen, summary) = events(text, &queue_catalog());
        assert_eq!(first_params(&seen), [PlainValue::Int(1)], "{text:?}");
        assert_eq!(summary.line_errors.count(), 2, "{text:?}");
    }
}

#[test]
fn empty_files_and_missing_final_newlines_are_accepted() {
    for text in ["", "\n", "\r\n \n\n", "\u{feff}", "event,queue", "event,queue\n", "event,queue\r\n\r\n"] {
        let (seen, summary) = events(text, &queue_catalog());
        assert!(matches!(summary.end, ReadEnd::Finished), "{:?}", summary.end);
        assert_eq!((seen.len(), summary.line_errors.count()), (0, 0), "{text:?}");
    }
    for text in
        ["push(queue=1)", "{\"event\":\"push\",\"queue\":1}", "event,queue\npush,1", "push(queue=1)\r"]
    {
        let (seen, summary) = events(text, &queue_catalog());
        if text.ends_with('\r') {
            // A carriage return at the end of the file counts as a line end.
            assert_eq!(summary.line_errors.count(), 0, "{text:?}");
        }
        assert_eq!(first_params(&seen), [PlainValue::Int(1)], "{text:?}");
    }
}

#[test]
fn strict_reading_stops_at_the_first_malformed_line() {
    let mut lines: Vec<String> = (0..1000).map(|i| format!("push(queue={i})")).collect();
    lines[700] = "push(queue=".into();
    lines[800] = "\u{1}".into();
    let mut text = lines.join("\n").into_bytes();
    text.extend_from_slice(b"\n\xff\n");
    for (chunk_bytes, threads) in [(1 << 20, 1), (100, 1), (100, 2), (1000, 3)] {
        let options = ReadOptions { strict: true, chunk_bytes, threads, ..one_thread() };
        let (seen, summary) = read_all(vec![input(&text)], &queue_catalog(), &options);
        assert_eq!(seen.len(), 700, "the events before are delivered");
        let ReadEnd::Failed(error @ TraceError::Strict { .. }) = summary.end else {
            panic!("{:?}", summary.end)
        };
        assert!(error.to_string().starts_with("test:701: argument without a value"), "{error}");
    }
    let options = ReadOptions { strict: true, ..one_thread() };
    let (seen, summary) = read_all(vec![input(b"push(queue=1)\n\xff\npush(\n")], &queue_catalog(), &options);
    let ReadEnd::Failed(error) = summary.end else { panic!("{:?}", summary.end) };
    assert_eq!(seen.len(), 1);
    assert!(error.to_string().starts_with("test:2: the line is not valid UTF-8"), "{error}");
}

#[test]
fn all_malformed_lines_are_counted_and_the_first_stored() {
    let text = "x y z\n".repeat(1000);
    for threads in [1, 2] {
        let options = ReadOptions { threads, chunk_bytes: 64, ..one_thread() };
        let (_, summary) = read_all(vec![input(&text)], &queue_catalog(), &options);
        assert_eq!(summary.line_errors.count(), 1000);
        let lines: Vec<_> = summary.line_errors.first().iter().map(|error| error.position.line).collect();
        assert_eq!(lines, (1..=10).collect::<Vec<_>>());
    }
}

#[test]
fn read_error_is_reported_after_the_events_before_it() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1..4 => {
                    into[..8].copy_from_slice(b"push()\np");
                    Ok(8)
                }
                4 => Err(io::ErrorKind::Interrupted.into()),
                _ => Err(io::Error::other("the disk is on fire")),
            }
        }
    }
    // The format detection reads a magic number first, so the first read may be short.
    let source = io::Cursor::new("push()\n").chain(Failing(0));
    let mut blocks =
        BlockReader::open(Input::reader("test", source), &Schema::new(&queue_catalog()), &one_thread())
            .unwrap();
    let mut block = EventBlock::default();
    let mut events = 0;
    let error = loop {
        match blocks.fill(&mut block) {
            Ok(true) => events += block.batch.len(),
            Ok(false) => panic!("the error is lost"),
            Err(error) => break error,
        }
    };
    assert_eq!(events, 2);
    assert!(error.to_string().contains("the disk is on fire"), "{error}");
    assert!(!blocks.fill(&mut block).unwrap(), "events after an error");
}
