//! The words and marks of a property in the order written, each with the part it plays in the layout.
//!
//! The parser knows what every token is for; it leaves this list behind so that the formatter can lay the
//! same tokens out again, and lose none.

/// How a piece is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Opens a part of the property: on a line of its own, set off by an empty line.
    Item,
    /// Opens a clause: on a line of its own.
    Clause,
    /// Goes on with the line, after a space.
    Word,
    /// Goes on with the line, without a space.
    Tight,
    /// Belongs to the word that follows: `*`, `&`, `^`.
    Prefix,
    /// The parenthesis that opens a list of parameters.
    OpenList,
    /// The parenthesis that closes it.
    CloseList,
    /// The comma between two parameters.
    Comma,
    /// The brace that opens the body of a state or transition.
    OpenBody,
    /// The brace that closes it.
    CloseBody,
    /// A block of Python with its braces.
    Block,
}

/// A word or mark of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) role: Role,
    /// Its first byte in the file.
    pub(crate) start: usize,
    /// The byte after its last.
    pub(crate) end: usize,
}

/// A comment outside the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// Its `#`.
    pub(crate) start: usize,
    /// The byte after its last, blanks at the end left off.
    pub(crate) end: usize,
}
