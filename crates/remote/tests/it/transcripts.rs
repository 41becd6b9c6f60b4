//! The transcripts of `docs/remote.md`, word for word, with our client and with the Python server.

use crate::common::{root, soup};
use invigil_remote::{Address, Remote, RemoteOptions};
use invigil_semantics::{Describe, Semantics, Step};
use invigil_test_support::Folder;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::thread;

/// The transcripts: pairs of a request and its reply.
fn transcripts() -> Vec<Vec<(String, String)>> {
    let page = std::fs::read_to_string(root().join("docs/remote.md")).unwrap();
    let blocks =
        page.split("```transcript\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned());
    let pairs = |block: String| {
        let lines: Vec<_> = block.lines().collect();
        let said = |line: &str, who: &str| line.strip_prefix(who).unwrap().trim_start().to_owned();
        lines.chunks(2).map(|pair| (said(pair[0], "→"), said(pair[1], "←"))).collect()
    };
    blocks.map(pairs).collect()
}

/// Replies as in a transcript; returns the requests.
fn by_the_book(
    transcript: Vec<(String, String)>,
    options: RemoteOptions,
    drive: impl FnOnce(&Remote),
) -> Vec<String> {
    let folder = Folder::new();
    let path = folder.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        let requests = BufReader::new(stream.try_clone().unwrap()).lines();
        for (request, (_, answer)) in requests.zip(transcript) {
            asked.push(request.unwrap());
            writeln!(stream, "{answer}").unwrap();
        }
        asked
    });
    let remote = Remote::start(&Address::Unix(path), options).unwrap();
    drive(&remote);
    assert_eq!(remote.error(), None);
    drop(remote);
    server.join().unwrap()
}

fn requests(transcript: &[(String, String)]) -> Vec<String> {
    transcript.iter().map(|(request, _)| request.clone()).collect()
}

#[test]
fn requests_match_documented_transcripts() {
    let [plain, forgetful] = transcripts().try_into().unwrap();
    let asked = by_the_book(plain.clone(), RemoteOptions::default(), |remote| {
        assert_eq!(remote.name(), "soup");
        let off = remote.initial().into_iter().next().unwrap();
        let press = remote.actions(&off).into_iter().next().unwrap();
        let [on, broken] = remote.execute(&off, &press).into_iter().collect::<Vec<_>>().try_into().unwrap();
        let steps = remote.steps_of(&[off, on, broken]);
        assert_eq!(steps[0], [(press, on), (press, broken)]);
        assert_eq!((steps[1][0].1, steps[2].len()), (off, 0));
        let looked_at = [Step::by_action(&off, &press, &on), Step::idle(&on, &on), Step::initial(&off)];
        let values = remote.values_of("lamp == was(lamp)", &looked_at);
        assert_eq!(values[..2], [Ok(false), Ok(true)]);
        assert!(values[2].as_ref().unwrap_err().contains("nothing was before"));
        assert_eq!(remote.describe_config(&broken).to_string(), "lamp = broken");
        assert_eq!(remote.describe_action(&press), "press");
    });
    assert_eq!(asked, requests(&plain));

    let asked = by_the_book(
        forgetful.clone(),
        RemoteOptions { max_cached: 2, ..RemoteOptions::default() },
        |remote| {
            let off = remote.initial().into_iter().next().unwrap();
            let [(_, on), (_, broken)] =
                remote.steps(&off).into_iter().collect::<Vec<_>>().try_into().unwrap();
            let steps = remote.steps_of(&[on, broken]);
            assert_eq!(steps[0][0].1, off);
        },
    );
    assert_eq!(asked, requests(&forgetful));
}

#[test]
fn python_server_matches_documented_transcripts() {
    let Some(Address::Command(words)) = soup("lamp.soup") else { return };
    for transcript in transcripts() {
        let mut server = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = server.stdin.take().unwrap();
        input.write_all((requests(&transcript).join("\n") + "\n").as_bytes()).unwrap();
        drop(input);
        let answers = String::from_utf8(server.wait_with_output().unwrap().stdout).unwrap();
        let expected: Vec<_> = transcript.iter().map(|(_, answer)| answer.as_str()).collect();
        assert_eq!(answers.lines().collect::<Vec<_>>(), expected);
    }
}
