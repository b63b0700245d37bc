//! Identifiers, one type each, and the mint that makes ours. Knows nothing of randomness: the host gives the seed.

use std::fmt;

use serde::Serialize;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

id!(
    /// A conversation.
    ThreadId
);
id!(
    /// From a user's message to the end of the answer.
    RunId
);
id!(
    /// One message of a thread.
    MessageId
);
id!(
    /// One tool call, in our own books: unique in its thread and never taken from a model.
    ToolCallId
);

/// Makes identifiers: nine characters of `[A-Za-z0-9]`, the strictest form any provider asks of a call id.
///
/// The same seed gives the same identifiers, so a simulated run can be replayed.
#[derive(Clone, Debug)]
pub struct IdMint {
    state: u64,
}

impl IdMint {
    /// A mint for one session. The seed comes from the host's random source.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next identifier's text.
    pub fn mint(&mut self) -> String {
        const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut bits = self.random();
        (0..9)
            .map(|_| {
                let letter = ALPHABET[(bits % 62) as usize];
                bits /= 62;
                char::from(letter)
            })
            .collect()
    }

    /// A number below this bound: for what should differ from page to page, and not from replay to replay.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.random() % bound.max(1)
    }

    // SplitMix64 (Steele, Lea, Flood 2014): every seed has the full period, so ids of one session never repeat.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
