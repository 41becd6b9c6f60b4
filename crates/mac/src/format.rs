//! The two formats, behind one face.

use crate::bytes::{ByteGroupReader, ByteGroupWriter, ByteSnapshotReader, ByteSnapshotWriter};
use crate::entities::Entities;
use crate::problem::{Limit, Problem};
use crate::taken::Taken;
use crate::text::{TextGroupReader, TextGroupWriter, TextSnapshotReader, TextSnapshotWriter};
use invigil_monitor::mac::{Group, Interface, Snapshot};
use std::str::FromStr;

/// How things are written on a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Lines of text, without limits.
    #[default]
    Lines,
    /// The bytes of the published formats, with their limits.
    Bytes,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Format, String> {
        match word {
            "lines" => Ok(Format::Lines),
            "bytes" => Ok(Format::Bytes),
            _ => Err("the formats are `lines` and `bytes`".to_owned()),
        }
    }
}

/// Reads what a filter sends. It is fed with bytes, and gives the snapshots that are complete.
///
/// After a [`Problem`] that is not fatal, it goes on with what comes next.
///
/// ```
/// # use invigil_expr::diag::SourceId;
/// # use invigil_lang::pedl;
/// use invigil_mac::{Entities, Format, Held, SnapshotReader, What};
/// use invigil_monitor::mac::{Value, VariableId};
///
/// # let text = "MonScr monobj int A.x; event e = update(A.x); export event e; End";
/// # let lowered = pedl::lower(&pedl::parse(SourceId(0), text).0, &|_| None).0.unwrap();
/// // monobj int A.x;
/// let mut reader = SnapshotReader::new(Format::Lines, Entities::of(&lowered), None)?;
/// reader.feed(b"update A.x 35 @10\nupdate A.x 3");
/// let first = reader.next()?.unwrap();
/// assert_eq!(first.what, What::Update(VariableId(0), Held::Plain(Value::Int(35))));
/// assert_eq!(reader.next()?, None, "the second line is not complete");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SnapshotReader(Snapshots);

#[derive(Clone, Debug)]
enum Snapshots {
    Lines(TextSnapshotReader),
    Bytes(ByteSnapshotReader),
}

impl SnapshotReader {
    /// A reader for the filter of a script, in which a tick is `period` milliseconds.
    pub fn new(format: Format, entities: Entities, period: Option<i64>) -> Result<SnapshotReader, Limit> {
        Ok(SnapshotReader(match format {
            Format::Lines => Snapshots::Lines(TextSnapshotReader::new(entities, period)),
            Format::Bytes => Snapshots::Bytes(ByteSnapshotReader::new(entities, period)?),
        }))
    }

    /// Takes what has come.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Snapshots::Lines(reader) => reader.lines().push(bytes),
            Snapshots::Bytes(reader) => reader.feed().push(bytes),
        }
    }

    /// No more will come.
    pub fn end(&mut self) {
        match &mut self.0 {
            Snapshots::Lines(reader) => reader.lines().end(),
            Snapshots::Bytes(reader) => reader.feed().end(),
        }
    }

    /// The next snapshot; nothing if none is complete.
    #[expect(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Taken>, Problem> {
        match &mut self.0 {
            Snapshots::Lines(reader) => reader.next(),
            Snapshots::Bytes(reader) => reader.next(),
        }
    }
}

/// Writes what a filter sends.
#[derive(Clone, Debug)]
pub struct SnapshotWriter(Written);

#[derive(Clone, Debug)]
enum Written {
    Lines(TextSnapshotWriter),
    Bytes(ByteSnapshotWriter),
}

impl SnapshotWriter {
    /// A writer for the filter of a script, in which a tick is `period` milliseconds. In bytes, small changes can be sent
    /// as differences.
    pub fn new(
        format: Format,
        entities: Entities,
        period: Option<i64>,
        deltas: bool,
    ) -> Result<SnapshotWriter, Limit> {
        Ok(SnapshotWriter(match format {
            Format::Lines => Written::Lines(TextSnapshotWriter::new(entities)),
            Format::Bytes => Written::Bytes(ByteSnapshotWriter::new(entities, period, deltas)?),
        }))
    }

    /// Appends a snapshot. If the format has no room for it, nothing is appended.
    pub fn write(&mut self, what: Snapshot<'_>, time: i64, out: &mut Vec<u8>) -> Result<(), Limit> {
        match &mut self.0 {
            Written::Lines(writer) => writer.write(what, time, out),
            Written::Bytes(writer) => writer.write(what, time, out),
        }
    }
}

/// What a [`GroupReader`] has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// The names are known: [`GroupReader::interface`].
    Names,
    /// An instant was read into the group.
    Instant,
    /// The recogniser has said that this was all. Only lines have this.
    End,
}

/// Reads what a recogniser sends, as [`SnapshotReader`] does for filters.
#[derive(Clone, Debug)]
pub struct GroupReader(Groups);

#[derive(Clone, Debug)]
enum Groups {
    Lines(TextGroupReader),
    Bytes(ByteGroupReader),
}

impl GroupReader {
    /// A reader that has seen nothing yet.
    pub fn new(format: Format) -> GroupReader {
        GroupReader(match format {
            Format::Lines => Groups::Lines(TextGroupReader::default()),
            Format::Bytes => Groups::Bytes(ByteGroupReader::default()),
        })
    }

    /// Takes what has come.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Groups::Lines(reader) => reader.push(bytes),
            Groups::Bytes(reader) => reader.feed().push(bytes),
        }
    }

    /// No more will come.
    pub fn end(&mut self) {
        match &mut self.0 {
            Groups::Lines(reader) => reader.end(),
            Groups::Bytes(reader) => reader.feed().end(),
        }
    }

    /// The names behind the numbers, once they are known.
    pub fn interface(&self) -> Option<&Interface> {
        match &self.0 {
            Groups::Lines(reader) => reader.interface(),
            Groups::Bytes(reader) => reader.interface(),
        }
    }

    /// What comes next, with instants in `group`; nothing if it is not complete.
    pub fn next(&mut self, group: &mut Group) -> Result<Option<Said>, Problem> {
        match &mut self.0 {
            Groups::Lines(reader) => reader.next(group),
            Groups::Bytes(reader) => reader.next(group),
        }
    }
}

/// Writes what a recogniser sends.
///
/// ```
/// use invigil_mac::{Format, GroupWriter};
/// use invigil_monitor::mac::{Group, Interface, Truth, Value};
///
/// let names = Interface { events: vec!["entering".into()], conditions: vec!["inside".into()] };
/// let (mut out, mut group) = (Vec::new(), Group::default());
/// let mut writer = GroupWriter::new(Format::Lines, &names, &mut out)?;
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
pub struct GroupWriter(Sent);

#[derive(Clone, Debug)]
enum Sent {
    Lines(TextGroupWriter),
    Bytes(ByteGroupWriter),
}

impl GroupWriter {
    /// Begins with the names of what is exported.
    pub fn new(format: Format, names: &Interface, out: &mut Vec<u8>) -> Result<GroupWriter, Limit> {
        Ok(GroupWriter(match format {
            Format::Lines => Sent::Lines(TextGroupWriter::new(names, out)),
            Format::Bytes => Sent::Bytes(ByteGroupWriter::new(names, out)?),
        }))
    }

    /// Appends an instant. If the format has no room for it, nothing is appended.
    pub fn write(&mut self, group: &Group, out: &mut Vec<u8>) -> Result<(), Limit> {
        match &mut self.0 {
            Sent::Lines(writer) => {
                writer.write(group, out);
                Ok(())
            }
            Sent::Bytes(writer) => writer.write(group, out),
        }
    }

    /// Appends that this was all; bytes have no way to say that.
    pub fn finish(&self, out: &mut Vec<u8>) {
        if let Sent::Lines(writer) = &self.0 {
            writer.finish(out);
        }
    }
}
