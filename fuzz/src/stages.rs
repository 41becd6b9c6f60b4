//! Streams between the stages of monitoring and checking: both formats of each stream.

use invigil_expr::diag::SourceId;
use invigil_lang::pedl;
use invigil_mac::{
    EntityTable, GroupReader, GroupWriter, ReadProgress, SnapshotReader, SnapshotWriter, StreamFormat,
    TimedSnapshot,
};
use invigil_monitor::mac::EventGroup;

const SCRIPT: &str = "MonScr
    monobj boolean A.b;  monobj byte A.y;   monobj char A.c;   monobj short A.s;  monobj int A.i;
    monobj long A.l;     monobj float A.f;  monobj double A.d; monobj String A.t;
    monmeth void A.go(); monmeth int A.sum(int, String, Object);  monmeth void A.sum(double);
    event e = update(A.b);  export event e;
End";

/// Reads a stream in pieces of this size. Returns the snapshots and the number of errors.
fn read_snapshots(
    format: StreamFormat,
    entities: &EntityTable,
    data: &[u8],
    piece_size: usize,
) -> (Vec<TimedSnapshot>, usize) {
    let mut reader = SnapshotReader::new(format, entities.clone(), Some(10)).expect("few entities");
    let (mut snapshots, mut errors) = (Vec::new(), 0);
    for piece in data.chunks(piece_size).map(Some).chain([None]) {
        match piece {
            Some(piece) => reader.feed(piece),
            None => reader.end(),
        }
        loop {
            match reader.next() {
                Ok(Some(snapshot)) => snapshots.push(snapshot),
                Ok(None) => break,
                Err(_) => errors += 1,
            }
        }
    }
    (snapshots, errors)
}

/// No input causes a panic, and the result does not depend on the size of the pieces. Snapshots survive writing and
/// reading.
pub(crate) fn snapshots(data: &[u8]) {
    let lowered = pedl::lower(&pedl::parse(SourceId(0), SCRIPT).0, &|_| None).0.expect("a valid script");
    let entities = EntityTable::of(&lowered);
    for format in [StreamFormat::Lines, StreamFormat::Bytes] {
        let (read, errors) = read_snapshots(format, &entities, data, data.len().max(1));
        let again = read_snapshots(format, &entities, data, 3);
        assert_eq!((format!("{read:?}"), errors), (format!("{:?}", again.0), again.1));
        let mut writer =
            SnapshotWriter::new(StreamFormat::Lines, entities.clone(), None, false).expect("lines");
        let mut out = Vec::new();
        for timed in &read {
            timed
                .snapshot
                .with_borrowed(|snapshot| writer.write(snapshot, timed.time, &mut out))
                .expect("lines have no limits");
        }
        let (copy, errors) = read_snapshots(StreamFormat::Lines, &entities, &out, 7);
        assert_eq!((format!("{copy:?}"), errors), (format!("{read:?}"), 0));
    }
}

/// The same for event groups, the output of recognisers.
pub(crate) fn groups(data: &[u8]) {
    for format in [StreamFormat::Lines, StreamFormat::Bytes] {
        let (mut reader, mut group, mut read) = (GroupReader::new(format), EventGroup::default(), Vec::new());
        for piece in data.chunks(5).map(Some).chain([None]) {
            match piece {
                Some(piece) => reader.feed(piece),
                None => reader.end(),
            }
            loop {
                match reader.next(&mut group) {
                    Ok(Some(ReadProgress::Instant)) => read.push(group.clone()),
                    Ok(None) => break,
                    _ => {}
                }
            }
        }
        let Some(names) = reader.interface() else { continue };
        let mut out = Vec::new();
        let mut writer =
            GroupWriter::new(StreamFormat::Lines, names, &mut out).expect("lines have no limits");
        read.iter().for_each(|group| writer.write(group, &mut out).expect("lines have no limits"));
        writer.finish(&mut out);
        if format == StreamFormat::Bytes {
            // The byte format allows names that the line format cannot represent.
            continue;
        }
        let mut reader = GroupReader::new(StreamFormat::Lines);
        reader.feed(&out);
        let mut again = Vec::new();
        while let Some(progress) = reader.next(&mut group).expect("the written stream is valid") {
            if progress == ReadProgress::Instant {
                again.push(group.clone());
            }
        }
        // NaN is not equal to itself.
        assert!(again == read || String::from_utf8_lossy(&out).contains("NaN"), "{read:?} {again:?}");
    }
}
