//! A value of one of two parts: actions, expressions and errors of a composition.

use core::error::Error;
use core::fmt;

/// A value that belongs to the left or to the right part of a composition.
///
/// ```
/// use invigil_semantics::Either;
///
/// let action: Either<&str, u8> = Either::Left("open");
/// assert_eq!(action.left(), Some(&"open"));
/// assert_eq!(action.right(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Either<L, R> {
    /// A value of the left part, or of the subject in a product.
    Left(L),
    /// A value of the right part, or of the property in a product.
    Right(R),
}

impl<L, R> Either<L, R> {
    /// The value, if it belongs to the left part.
    ///
    /// ```
    /// # use invigil_semantics::Either;
    /// assert_eq!(Either::<u8, char>::Right('b').left(), None);
    /// ```
    pub fn left(&self) -> Option<&L> {
        match self {
            Either::Left(left) => Some(left),
            Either::Right(_) => None,
        }
    }

    /// The value, if it belongs to the right part.
    ///
    /// ```
    /// # use invigil_semantics::Either;
    /// assert_eq!(Either::<u8, char>::Right('b').right(), Some(&'b'));
    /// ```
    pub fn right(&self) -> Option<&R> {
        match self {
            Either::Left(_) => None,
            Either::Right(right) => Some(right),
        }
    }
}

impl<L: fmt::Display, R: fmt::Display> fmt::Display for Either<L, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Either::Left(left) => left.fmt(f),
            Either::Right(right) => right.fmt(f),
        }
    }
}

impl<L: Error, R: Error> Error for Either<L, R> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Either::Left(left) => left.source(),
            Either::Right(right) => right.source(),
        }
    }
}
