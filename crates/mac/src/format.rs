//! Readers and writers for both formats.

use crate::bytes::{ByteGroupReader, ByteGroupWriter, ByteSnapshotReader, ByteSnapshotWriter};
use crate::entities::EntityTable;
use crate::error::{FormatError, InputError};
use crate::snapshot::TimedSnapshot;
use crate::text::{TextGroupReader, TextGroupWriter, TextSnapshotReader, TextSnapshotWriter};
use invigil_monitor::mac::{EventGroup, Interface, Snapshot};
use std::str::FromStr;

/// The format of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamFormat {
    /// Lines of text, without limits.
    #[default]
    Lines,
    /// The bytes of the published formats, with their limits.
    Bytes,
}

impl FromStr for StreamFormat {
    type Err = String;

    fn from_str(word: &str) -> Result<StreamFormat, String> {
        match word {
            "lines" => Ok(StreamFormat::Lines),
            "bytes" => Ok(StreamFormat::Bytes),
            _ => Err("the formats are `lines` and `bytes`".to_owned()),
        }
    }
}

/// Reads the output of a filter. It is fed with bytes and returns complete snapshots.
///
/// After an [`InputError`] that is not fatal, reading continues with the next snapshot.
///
/// ```
/// # use invigil_expr::diag::SourceId;
/// # use invigil_lang::pedl;
/// use invigil_mac::{EntityTable, StreamFormat, OwnedValue, SnapshotReader, OwnedSnapshot};
/// use invigil_monitor::mac::{Value, VariableId};
///
/// # let text = "MonScr monobj int A.x; event e = update(A.x); export event e; End";
/// # let lowered = pedl::lower(&pedl::parse(SourceId(0), text).0, &|_| None).0.unwrap();
/// // monobj int A.x;
/// let mut reader = SnapshotReader::new(StreamFormat::Lines, EntityTable::of(&lowered), None)?;
/// reader.feed(b"update A.x 35 @10\nupdate A.x 3");
/// let first = reader.next()?.unwrap();
/// assert_eq!(first.snapshot, OwnedSnapshot::Update(VariableId(0), OwnedValue::Plain(Value::Int(35))));
/// assert_eq!(reader.next()?, None, "the second line is not complete");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SnapshotReader(SnapshotReaderKind);

#[derive(Clone, Debug)]
enum SnapshotReaderKind {
    Lines(TextSnapshotReader),
    Bytes(ByteSnapshotReader),
}

impl SnapshotReader {
    /// A reader for the filter of a script in which a tick is `period` milliseconds.
    pub fn new(
        format: StreamFormat,
        entities: EntityTable,
        period: Option<i64>,
    ) -> Result<SnapshotReader, FormatError> {
        Ok(SnapshotReader(match format {
            StreamFormat::Lines => SnapshotReaderKind::Lines(TextSnapshotReader::new(entities, period)),
            StreamFormat::Bytes => SnapshotReaderKind::Bytes(ByteSnapshotReader::new(entities, period)?),
        }))
    }

    /// Appends received bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            SnapshotReaderKind::Lines(reader) => reader.lines().push(bytes),
            SnapshotReaderKind::Bytes(reader) => reader.queue().push(bytes),
        }
    }

    /// Marks the end of the stream.
    pub fn end(&mut self) {
        match &mut self.0 {
            SnapshotReaderKind::Lines(reader) => reader.lines().end(),
            SnapshotReaderKind::Bytes(reader) => reader.queue().end(),
        }
    }

    /// The next snapshot; none if it is incomplete.
    #[expect(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<TimedSnapshot>, InputError> {
        match &mut self.0 {
            SnapshotReaderKind::Lines(reader) => reader.next(),
            SnapshotReaderKind::Bytes(reader) => reader.next(),
        }
    }
}

/// Writes the output of a filter.
#[derive(Clone, Debug)]
pub struct SnapshotWriter(SnapshotWriterKind);

#[derive(Clone, Debug)]
enum SnapshotWriterKind {
    Lines(TextSnapshotWriter),
    Bytes(ByteSnapshotWriter),
}

impl SnapshotWriter {
    /// A writer for the filter of a script in which a tick is `period` milliseconds. With `deltas`, the byte format
    /// sends small changes as differences.
    pub fn new(
        format: StreamFormat,
        entities: EntityTable,
        period: Option<i64>,
        deltas: bool,
    ) -> Result<SnapshotWriter, FormatError> {
        Ok(SnapshotWriter(match format {
            StreamFormat::Lines => SnapshotWriterKind::Lines(TextSnapshotWriter::new(entities)),
            StreamFormat::Bytes => {
                SnapshotWriterKind::Bytes(ByteSnapshotWriter::new(entities, period, deltas)?)
            }
        }))
    }

    /// Appends a snapshot. If the format cannot represent it, nothing is appended.
    pub fn write(&mut self, snapshot: Snapshot<'_>, time: i64, out: &mut Vec<u8>) -> Result<(), FormatError> {
        match &mut self.0 {
            SnapshotWriterKind::Lines(writer) => writer.write(snapshot, time, out),
            SnapshotWriterKind::Bytes(writer) => writer.write(snapshot, time, out),
        }
    }
}

/// What a [`GroupReader`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadProgress {
    /// The names are known: [`GroupReader::interface`].
    Names,
    /// An instant was read into the group.
    Instant,
    /// The end mark of the recogniser, which only the text format has.
    End,
}

/// Reads the output of a recogniser, in the same way as [`SnapshotReader`].
#[derive(Clone, Debug)]
pub struct GroupReader(GroupReaderKind);

#[derive(Clone, Debug)]
enum GroupReaderKind {
    Lines(TextGroupReader),
    Bytes(ByteGroupReader),
}

impl GroupReader {
    /// A reader at the start of a stream.
    pub fn new(format: StreamFormat) -> GroupReader {
        GroupReader(match format {
            StreamFormat::Lines => GroupReaderKind::Lines(TextGroupReader::default()),
            StreamFormat::Bytes => GroupReaderKind::Bytes(ByteGroupReader::default()),
        })
    }

    /// Appends received bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            GroupReaderKind::Lines(reader) => reader.push(bytes),
            GroupReaderKind::Bytes(reader) => reader.queue().push(bytes),
        }
    }

    /// Marks the end of the stream.
    pub fn end(&mut self) {
        match &mut self.0 {
            GroupReaderKind::Lines(reader) => reader.end(),
            GroupReaderKind::Bytes(reader) => reader.queue().end(),
        }
    }

    /// The exported names, once they are known.
    pub fn interface(&self) -> Option<&Interface> {
        match &self.0 {
            GroupReaderKind::Lines(reader) => reader.interface(),
            GroupReaderKind::Bytes(reader) => reader.interface(),
        }
    }

    /// Reads the next part; instants are stored in `group`. Returns none if the part is incomplete.
    pub fn next(&mut self, group: &mut EventGroup) -> Result<Option<ReadProgress>, InputError> {
        match &mut self.0 {
            GroupReaderKind::Lines(reader) => reader.next(group),
            GroupReaderKind::Bytes(reader) => reader.next(group),
        }
    }
}

/// Writes the output of a recogniser.
///
/// ```
/// use invigil_mac::{StreamFormat, GroupWriter};
/// use invigil_monitor::mac::{EventGroup, Interface, Truth, Value};
///
/// let names = Interface { events: vec!["entering".into()], conditions: vec!["inside".into()] };
/// let (mut out, mut group) = (Vec::new(), EventGroup::default());
/// let mut writer = GroupWriter::new(StreamFormat::Lines, &names, &mut out)?;
/// group.begin(500);
/// group.event(0);
/// group.value(Value::Int(13));
/// group.condition(0, Truth::True);
/// writer.write(&group, &mut out)?;
/// writer.finish(&mut out);
/// let text = "recognised 1\nevent entering\ncondition inside\nbegin\n500 entering(13) inside=true\nend 1\n";
/// assert_eq!(String::from_utf8(out)?, text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupWriter(GroupWriterKind);

#[derive(Clone, Debug)]
enum GroupWriterKind {
    Lines(TextGroupWriter),
    Bytes(ByteGroupWriter),
}

impl GroupWriter {
    /// Starts a stream with the exported names.
    pub fn new(
        format: StreamFormat,
        names: &Interface,
        out: &mut Vec<u8>,
    ) -> Result<GroupWriter, FormatError> {
        Ok(GroupWriter(match format {
            StreamFormat::Lines => GroupWriterKind::Lines(TextGroupWriter::new(names, out)),
            StreamFormat::Bytes => GroupWriterKind::Bytes(ByteGroupWriter::new(names, out)?),
        }))
    }

    /// Appends an instant. If the format cannot represent it, nothing is appended.
    pub fn write(&mut self, group: &EventGroup, out: &mut Vec<u8>) -> Result<(), FormatError> {
        match &mut self.0 {
            GroupWriterKind::Lines(writer) => {
                writer.write(group, out);
                Ok(())
            }
            GroupWriterKind::Bytes(writer) => writer.write(group, out),
        }
    }

    /// Appends the end mark, which only the text format has.
    pub fn finish(&self, out: &mut Vec<u8>) {
        if let GroupWriterKind::Lines(writer) = &self.0 {
            writer.finish(out);
        }
    }
}
