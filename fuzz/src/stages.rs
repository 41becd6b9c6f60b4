//! What goes between the stages of monitoring and checking: both formats of each stream.

use invigil_expr::diag::SourceId;
use invigil_lang::pedl;
use invigil_mac::{
    EntityTable, GroupReader, GroupWriter, OwnedSnapshot, ReadProgress, SnapshotReader, SnapshotWriter,
    StreamFormat,
};
use invigil_monitor::mac::EventGroup;

const SCRIPT: &str = "MonScr
    monobj boolean A.b;  monobj byte A.y;   monobj char A.c;   monobj short A.s;  monobj int A.i;
    monobj long A.l;     monobj float A.f;  monobj double A.d; monobj String A.t;
    monmeth void A.go(); monmeth int A.sum(int, String, Object);  monmeth void A.sum(double);
    event e = update(A.b);  export event e;
End";

/// Everything that can be read, in one piece or byte by byte; how often something could not.
fn taken(
    format: StreamFormat,
    entities: &EntityTable,
    data: &[u8],
    piece: usize,
) -> (Vec<OwnedSnapshot>, usize) {
    let mut reader = SnapshotReader::new(format, entities.clone(), Some(10)).expect("few entities");
    let (mut out, mut problems) = (Vec::new(), 0);
    for piece in data.chunks(piece).map(Some).chain([None]) {
        match piece {
            Some(piece) => reader.feed(piece),
            None => reader.end(),
        }
        loop {
            match reader.next() {
                Ok(Some(taken)) => out.push(taken),
                Ok(None) => break,
                Err(_) => problems += 1,
            }
        }
    }
    (out, problems)
}

/// Any bytes are read without a panic, in any pieces; what was read is read again from what is written of it.
pub(crate) fn snapshots(data: &[u8]) {
    let lowered = pedl::lower(&pedl::parse(SourceId(0), SCRIPT).0, &|_| None).0.expect("a good script");
    let entities = EntityTable::of(&lowered);
    for format in [StreamFormat::Lines, StreamFormat::Bytes] {
        let (read, problems) = taken(format, &entities, data, data.len().max(1));
        let again = taken(format, &entities, data, 3);
        assert_eq!((format!("{read:?}"), problems), (format!("{:?}", again.0), again.1));
        let mut writer =
            SnapshotWriter::new(StreamFormat::Lines, entities.clone(), None, false).expect("lines");
        let mut out = Vec::new();
        for one in &read {
            one.kind
                .with_borrowed(|what| writer.write(what, one.time, &mut out))
                .expect("lines have no limits");
        }
        let (copy, problems) = taken(StreamFormat::Lines, &entities, &out, 7);
        assert_eq!((format!("{copy:?}"), problems), (format!("{read:?}"), 0));
    }
}

/// The same for what recognisers send.
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
            // Names in bytes may be of any kind.
            continue;
        }
        let mut reader = GroupReader::new(StreamFormat::Lines);
        reader.feed(&out);
        let mut again = Vec::new();
        while let Some(said) = reader.next(&mut group).expect("what is written can be read") {
            if said == ReadProgress::Instant {
                again.push(group.clone());
            }
        }
        // NaN is not always the same NaN.
        assert!(again == read || String::from_utf8_lossy(&out).contains("NaN"), "{read:?} {again:?}");
    }
}
