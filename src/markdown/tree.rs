//! The tree. Knows nothing of how it is read or shown.

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Vec<Inline>),
    /// Text that stands in a list item without a paragraph of its own.
    Plain(Vec<Inline>),
    /// A heading of level 1 to 6.
    Heading(u8, Vec<Inline>),
    /// Code; the language's name may be empty.
    Code {
        /// The first word behind the fence.
        language: String,
        /// The code.
        text: String,
    },
    /// A list; numbered from `start`, or with bullets.
    List {
        /// The first number.
        start: Option<u64>,
        /// Its items.
        items: Vec<Item>,
    },
    /// A quotation.
    Quote(Vec<Block>),
    /// A table.
    Table {
        /// How each column is aligned.
        columns: Vec<Align>,
        /// The heading row.
        head: Vec<Vec<Inline>>,
        /// The other rows.
        rows: Vec<Vec<Vec<Inline>>>,
    },
    /// A thematic break.
    Rule,
    /// Raw HTML, to be shown as the text it is.
    Html(String),
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Ticked or not, in a task list.
    pub task: Option<bool>,
    /// What is in it.
    pub blocks: Vec<Block>,
}

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// As the page has it.
    None,
    /// To the left.
    Left,
    /// In the middle.
    Center,
    /// To the right.
    Right,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    /// Text.
    Text(String),
    /// Code.
    Code(String),
    /// Emphasis.
    Emphasis(Vec<Inline>),
    /// Strong emphasis.
    Strong(Vec<Inline>),
    /// Struck through.
    Strike(Vec<Inline>),
    /// A link. The address is as written: nobody has judged it yet.
    Link {
        /// The address.
        address: String,
        /// What it reads.
        content: Vec<Inline>,
    },
    /// An image, which is not loaded: its description and address.
    Image {
        /// The address, not judged.
        address: String,
        /// The description.
        description: String,
    },
    /// A line break that the author asked for.
    Break,
}

impl Inline {
    /// The words of some inlines, without their marks.
    #[must_use]
    pub fn words(content: &[Self]) -> String {
        content
            .iter()
            .map(|inline| match inline {
                Self::Text(text) | Self::Code(text) => text.clone(),
                Self::Emphasis(content) | Self::Strong(content) | Self::Strike(content) => Self::words(content),
                Self::Link { content, .. } => Self::words(content),
                Self::Image { description, .. } => description.clone(),
                Self::Break => " ".to_owned(),
            })
            .collect()
    }
}
