//! Notations for operators.

/// Notation for formulae.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// ASCII: `G(a -> F b)`.
    #[default]
    Ascii,
    /// Mathematical symbols: `□(a → ◇b)`.
    Unicode,
    /// The syntax of Spot, with names that are not identifiers in double quotes.
    Spot,
    /// The syntax of SPIN: `[](a -> <>b)`. Strong release and bounds are expanded. Past operators, which SPIN does not
    /// support, keep their letters.
    Spin,
}

/// Symbol of an operator or constant, including derived operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
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
    /// Returns the text of a symbol.
    pub(super) fn symbol(self, symbol: Symbol) -> &'static str {
        // Indexed in the order of the styles.
        let texts = match symbol {
            Symbol::True => ["true", "⊤", "1", "true"],
            Symbol::False => ["false", "⊥", "0", "false"],
            Symbol::Not => ["!", "¬", "!", "!"],
            Symbol::And => ["&", "∧", "&", "&&"],
            Symbol::Or => ["|", "∨", "|", "||"],
            Symbol::Implies => ["->", "→", "->", "->"],
            Symbol::Iff => ["<->", "↔", "<->", "<->"],
            Symbol::Xor => ["xor", "⊕", "xor", "xor"],
            Symbol::Next => ["X", "○", "X", "X"],
            Symbol::Finally => ["F", "◇", "F", "<>"],
            Symbol::Globally => ["G", "□", "G", "[]"],
            Symbol::Until => ["U"; 4],
            Symbol::Release => ["R", "R", "R", "V"],
            Symbol::WeakUntil => ["W"; 4],
            Symbol::StrongRelease => ["M"; 4],
            Symbol::Yesterday => ["Y", "●", "Y", "Y"],
            Symbol::WeakYesterday => ["Z"; 4],
            Symbol::Once => ["O", "◆", "O", "O"],
            Symbol::Historically => ["H", "■", "H", "H"],
            Symbol::Since => ["S"; 4],
            Symbol::Triggered => ["T"; 4],
        };
        match self {
            Style::Ascii => texts[0],
            Style::Unicode => texts[1],
            Style::Spot => texts[2],
            Style::Spin => texts[3],
        }
    }

    /// Returns the text of a bound.
    pub(super) fn bound(self, from: usize, to: usize) -> String {
        match self {
            Style::Spot => format!("[{from}:{to}]"),
            _ => format!("[{from},{to}]"),
        }
    }

    /// Whether the notation has bounded operators.
    pub(super) fn has_bounds(self) -> bool {
        self != Style::Spin
    }
}
