//! The ways in which operators are written.

/// A way to write formulae.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Plain letters and signs: `G(a -> F b)`.
    #[default]
    Ascii,
    /// Mathematical signs: `□(a → ◇b)`.
    Unicode,
    /// As Spot reads it: names that are not plain stand in double quotes.
    Spot,
    /// As SPIN reads it: `[](a -> <>b)`. There is no strong release, and there are no bounds; the past keeps
    /// its letters, which SPIN does not know.
    Spin,
}

/// What is written between or before operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    True,
    False,
    Not,
    And,
    Or,
    Implies,
    Iff,
    Xor,
    Next,
    Finally,
    Globally,
    Until,
    Release,
    WeakUntil,
    StrongRelease,
    Yesterday,
    WeakYesterday,
    Once,
    Historically,
    Since,
    Triggered,
}

impl Style {
    pub(super) fn sign(self, sign: Sign) -> &'static str {
        // In the order of the styles.
        let texts = match sign {
            Sign::True => ["true", "⊤", "1", "true"],
            Sign::False => ["false", "⊥", "0", "false"],
            Sign::Not => ["!", "¬", "!", "!"],
            Sign::And => ["&", "∧", "&", "&&"],
            Sign::Or => ["|", "∨", "|", "||"],
            Sign::Implies => ["->", "→", "->", "->"],
            Sign::Iff => ["<->", "↔", "<->", "<->"],
            Sign::Xor => ["xor", "⊕", "xor", "xor"],
            Sign::Next => ["X", "○", "X", "X"],
            Sign::Finally => ["F", "◇", "F", "<>"],
            Sign::Globally => ["G", "□", "G", "[]"],
            Sign::Until => ["U"; 4],
            Sign::Release => ["R", "R", "R", "V"],
            Sign::WeakUntil => ["W"; 4],
            Sign::StrongRelease => ["M"; 4],
            Sign::Yesterday => ["Y", "●", "Y", "Y"],
            Sign::WeakYesterday => ["Z"; 4],
            Sign::Once => ["O", "◆", "O", "O"],
            Sign::Historically => ["H", "■", "H", "H"],
            Sign::Since => ["S"; 4],
            Sign::Triggered => ["T"; 4],
        };
        match self {
            Style::Ascii => texts[0],
            Style::Unicode => texts[1],
            Style::Spot => texts[2],
            Style::Spin => texts[3],
        }
    }

    /// The bound from one instant to another.
    pub(super) fn bound(self, from: usize, to: usize) -> String {
        match self {
            Style::Spot => format!("[{from}:{to}]"),
            _ => format!("[{from},{to}]"),
        }
    }

    /// Whether bounds are known.
    pub(super) fn has_bounds(self) -> bool {
        self != Style::Spin
    }
}
