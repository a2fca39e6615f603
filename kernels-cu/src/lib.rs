//! The CUDA kernels of isowarp: CUDA C++ sources and the PTX that `cargo xtask ptx` built from them.
//!
//! The crate holds text only; it needs neither a GPU nor a CUDA toolkit. A program carries the PTX packed, a tenth of its size, and an
//! entry is unpacked when it is first used. A kernel is named by a constant (one module per source file), so a typo does not compile:
//!
//! ```
//! use isowarp_kernels::Source;
//!
//! for source in Source::ALL {
//!     let baseline = &source.builds()[0];
//!     assert!(baseline.ptx().contains(".version"));
//! }
//! ```

#[cfg(test)]
mod pack;
mod packed;
#[cfg(test)]
mod tests;
mod text;

/// A function that returns the text of a file of `ptx`. Constants may name a function, but no text that is unpacked later.
macro_rules! text {
    ($file:literal) => {{
        fn text() -> &'static crate::text::Text {
            static TEXT: crate::text::Text = crate::text::Text::new(include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".packed")));
            &TEXT
        }
        text
    }};
}

#[rustfmt::skip]
#[path = "../ptx/table.rs"]
mod table;

pub use table::*;

/// The architecture that a PTX text was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arch {
    /// Major compute capability.
    pub major: u32,
    /// Minor compute capability.
    pub minor: u32,
    /// Whether the text runs on exactly this capability (`compute_90a`) and not on later ones.
    pub exact: bool,
}

impl Arch {
    /// Whether a device of the given compute capability runs PTX built for this architecture.
    #[must_use]
    pub const fn runs_on(self, major: u32, minor: u32) -> bool {
        if self.exact {
            self.major == major && self.minor == minor
        } else {
            self.major < major || (self.major == major && self.minor <= minor)
        }
    }
}

/// An entry point of a PTX text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the PTX.
    pub name: &'static str,
    /// Names of the holes that its body leaves for the op, without the `@op.` prefix.
    pub holes: &'static [&'static str],
}

/// The PTX of one source for one architecture.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// Architecture that it was built for.
    pub arch: Arch,
    /// Its entry points.
    pub entries: &'static [Entry],
    ptx: fn() -> &'static text::Text,
}

impl Build {
    /// Returns the whole text, a template where its entries have holes. Unpacked at every call: what a program uses is a [`Build::template`].
    #[must_use]
    pub fn ptx(&self) -> String {
        (self.ptx)().whole()
    }

    /// Returns the text with one entry, a template where that has holes. `None` without such an entry. Unpacked at the first call, and kept.
    #[must_use]
    pub fn template(&self, entry: &str) -> Option<&'static str> {
        let place = self.entries.iter().position(|found| found.name == entry)?;
        Some((self.ptx)().template(place))
    }
}

/// A kernel by name: a source file and an entry point in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kernel {
    source: Source,
    entry: &'static str,
}

impl Kernel {
    pub(crate) const fn new(source: Source, entry: &'static str) -> Self {
        Self { source, entry }
    }

    /// The kernel whose entry point has this name.
    #[must_use]
    pub fn named(entry: &str) -> Option<Self> {
        let of = |&source: &Source| {
            let found = source.builds().iter().flat_map(|build| build.entries).find(|known| known.name == entry);
            found.map(|known| Self::new(source, known.name))
        };
        Source::ALL.iter().find_map(of)
    }

    /// The source file that it lives in.
    #[must_use]
    pub const fn source(self) -> Source {
        self.source
    }

    /// The name of its entry point.
    #[must_use]
    pub const fn entry(self) -> &'static str {
        self.entry
    }

    /// Names of the holes that its body leaves for the op, without the `@op.` prefix.
    #[must_use]
    pub fn holes(self) -> &'static [&'static str] {
        let entries = self.source.builds().iter().flat_map(|build| build.entries);
        entries.filter(|entry| entry.name == self.entry).map(|entry| entry.holes).next().unwrap_or_default()
    }

    /// The best build for a device: of those that run on it and have the entry, the one for the
    /// highest architecture. `None` when the device is older than every build.
    #[must_use]
    pub fn build(self, major: u32, minor: u32) -> Option<&'static Build> {
        self.source
            .builds()
            .iter()
            .filter(|build| build.arch.runs_on(major, minor))
            .filter(|build| build.entries.iter().any(|entry| entry.name == self.entry))
            .max_by_key(|build| build.arch)
    }
}
