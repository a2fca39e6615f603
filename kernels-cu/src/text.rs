//! The texts that a program carries packed.

use crate::packed::{entries, parts, pieces, unpack};
use std::sync::OnceLock;

/// A packed file of PTX, and what was asked of it.
#[derive(Debug)]
pub(crate) struct Text {
    packed: &'static [u8],
    /// Templates by the place of their entry in the file.
    templates: OnceLock<Box<[OnceLock<String>]>>,
}

impl Text {
    /// Wraps what the build script wrote.
    pub(crate) const fn new(packed: &'static [u8]) -> Self {
        Self { packed, templates: OnceLock::new() }
    }

    /// Returns the whole text, unpacked anew.
    pub(crate) fn whole(&self) -> String {
        let mut text = String::new();
        parts(self.packed).for_each(|part| unpack(part, &mut text));
        text
    }

    /// Returns what stands before the entries, and the one at `place`: unpacked when it is first asked for; who asks meanwhile waits.
    pub(crate) fn template(&'static self, place: usize) -> &'static str {
        let templates =
            self.templates.get_or_init(|| parts(self.packed).flat_map(|part| 0..entries(part)).map(|_| OnceLock::new()).collect());
        templates[place].get_or_init(|| self.unpack(place))
    }

    fn unpack(&self, place: usize) -> String {
        let mut parts = parts(self.packed);
        let mut template = String::new();
        unpack(parts.next().expect("a part before the entries"), &mut template);
        // The first entry behind the part.
        let mut end = 0;
        let holds = |part: &&[u8]| {
            end += entries(part);
            place < end
        };
        let part = parts.find(holds).expect("an entry of the file");
        let mut text = String::new();
        unpack(part, &mut text);
        template.push_str(pieces(&text).nth(place + entries(part) - end).expect("an entry of its part"));
        template.shrink_to_fit();
        template
    }
}
