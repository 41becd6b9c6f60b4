//! The tokens of a file in order, each with its role in the layout.
//!
//! The parser knows the purpose of every token. It records this list so that the formatter can lay out the same tokens
//! again without losing any.

/// How a token is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutRole {
    /// Starts a section of the file: on its own line, after an empty one.
    Item,
    /// Starts a clause: on its own line.
    Clause,
    /// Continues the line, after a space.
    Word,
    /// Continues the line, without a space.
    Tight,
    /// Belongs to the next word: `*`, `&`, `^`.
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

/// A token of a property, with its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayoutToken {
    pub(crate) role: LayoutRole,
    /// Offset of the first byte.
    pub(crate) start: usize,
    /// Offset after the last byte.
    pub(crate) end: usize,
}

/// A comment outside the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// Offset of the `#`.
    pub(crate) start: usize,
    /// Offset after the last byte, without trailing blanks.
    pub(crate) end: usize,
}
