//! Parameters of kernels, declared once: a Rust structure, the members of WGSL's `args`, and the words of CUDA's `u`.

use arrayvec::ArrayVec;

/// The most 32-bit words of a kernel's parameters, of which CUDA has the first [`CUDA_WORDS`]: its kernels know no others by name.
pub const MAX_WORDS: usize = 20;
/// Words of parameters that CUDA's kernels have.
pub const CUDA_WORDS: usize = 16;

/// A kernel's parameters as 32-bit words.
pub type Words = ArrayVec<u32, MAX_WORDS>;

/// One parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Member {
    /// Its name, the same in Rust, WGSL and CUDA C++.
    pub name: &'static str,
    /// Words: one, or two with the low one first, which begin at an even word.
    pub words: usize,
}

/// A type of a parameter.
pub trait Word: Copy {
    /// Words that it takes.
    const WORDS: usize;
    /// Its bits, zero-extended.
    fn bits(self) -> u64;
    /// The value of these bits.
    fn of_bits(bits: u64) -> Self;
}

macro_rules! word {
    ($($t:ty, $words:literal, $bits:expr, $of:expr;)*) => {$(
        impl Word for $t {
            const WORDS: usize = $words;
            fn bits(self) -> u64 {
                ($bits)(self).into()
            }
            fn of_bits(bits: u64) -> Self {
                ($of)(bits)
            }
        }
    )*};
}
word! {
    u32, 1, |x: u32| x, |bits: u64| bits as u32;
    i32, 1, |x: i32| x as u32, |bits: u64| bits as i32;
    f32, 1, f32::to_bits, |bits: u64| f32::from_bits(bits as u32);
    u64, 2, |x: u64| x, |bits: u64| bits;
}

/// The parameters of a kernel.
pub trait Params {
    /// In CUDA C++ the namespace of their places.
    const NAME: &'static str;
    /// All of them, in order.
    const MEMBERS: &'static [Member];
    /// Their values.
    fn words(&self) -> Words;
    /// The parameters of these words.
    fn of_words(words: &[u32]) -> Self;
}

/// Takes a value of so many words, from word `at` on, which moves behind it; words that are not there are zero.
#[doc(hidden)]
#[must_use]
pub fn take(words: &[u32], at: &mut usize, count: usize) -> u64 {
    let first = if count == 2 { at.next_multiple_of(2) } else { *at };
    *at = first + count;
    let word = |k: usize| u64::from(words.get(k).copied().unwrap_or(0));
    word(first) | if count == 2 { word(first + 1) << 32 } else { 0 }
}

/// Adds a value of so many words.
#[doc(hidden)]
pub fn push(words: &mut Words, bits: u64, count: usize) {
    if count == 2 && words.len() % 2 == 1 {
        words.push(0);
    }
    words.push(bits as u32);
    if count == 2 {
        words.push((bits >> 32) as u32);
    }
}

/// Words of parameters.
#[must_use]
pub const fn words_of(members: &[Member]) -> usize {
    let (mut at, mut k) = (0, 0);
    while k < members.len() {
        at = if members[k].words == 2 { usize::next_multiple_of(at, 2) } else { at } + members[k].words;
        k += 1;
    }
    at
}

/// Calls `f` with each parameter and its first word.
pub fn places(members: &[Member], mut f: impl FnMut(Member, usize)) {
    let mut at = 0;
    for &member in members {
        at = if member.words == 2 { usize::next_multiple_of(at, 2) } else { at };
        f(member, at);
        at += member.words;
    }
}

/// The names of the words in order, of a wide parameter `name` and `name_high`; words between parameters have a name of their own.
#[must_use]
pub fn word_names(members: &[Member]) -> Vec<String> {
    let mut names = Vec::new();
    places(members, |member, at| {
        if names.len() < at {
            names.push(format!("spare{at}"));
        }
        names.push(member.name.to_owned());
        if member.words == 2 {
            names.push(format!("{}_high", member.name));
        }
    });
    names
}

/// Declares structures of kernels' parameters: each a Rust structure, the members of WGSL's `args` (all `u32`, of two words the low one first, as `name` and
/// `name_high`), and the words of CUDA's `u`. The name in brackets is that of their places in CUDA C++.
///
/// ```
/// use isowarp_core::launch::params::Params as _;
///
/// isowarp_core::kernel_params! {
///     /// Of a scaled sum.
///     Scaled("scaled") {
///         /// The factor.
///         factor: f32,
///         /// Elements.
///         count: u64,
///     }
/// }
/// let params = Scaled { factor: 2.0, count: 7 };
/// assert_eq!(params.words()[..], [2.0f32.to_bits(), 0, 7, 0]);
/// assert_eq!(Scaled::of_words(&params.words()), params);
/// ```
#[macro_export]
macro_rules! kernel_params {
    ($($(#[$doc:meta])* $name:ident($namespace:literal) { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Debug, Default)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        const _: () = assert!(
            $crate::launch::params::words_of(<$name as $crate::launch::params::Params>::MEMBERS) <= $crate::launch::params::MAX_WORDS,
            "a kernel has at most 20 words of parameters",
        );

        impl $crate::launch::params::Params for $name {
            const NAME: &'static str = $namespace;
            const MEMBERS: &'static [$crate::launch::params::Member] = &[$($crate::launch::params::Member {
                name: stringify!($field),
                words: <$ty as $crate::launch::params::Word>::WORDS,
            },)*];
            #[allow(unused_mut, reason = "some kernels have no parameters")]
            fn words(&self) -> $crate::launch::params::Words {
                let mut words = $crate::launch::params::Words::new();
                $($crate::launch::params::push(
                    &mut words,
                    $crate::launch::params::Word::bits(self.$field),
                    <$ty as $crate::launch::params::Word>::WORDS,
                );)*
                words
            }
            #[allow(unused, reason = "some kernels have no parameters")]
            fn of_words(words: &[u32]) -> Self {
                let mut at = 0;
                Self {$(
                    $field: <$ty as $crate::launch::params::Word>::of_bits($crate::launch::params::take(
                        words,
                        &mut at,
                        <$ty as $crate::launch::params::Word>::WORDS,
                    )),
                )*}
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_parameters_begin_at_even_words_and_words_between_have_names() {
        let members = [("a", 1), ("b", 2), ("c", 1)].map(|(name, words)| Member { name, words });
        assert_eq!(word_names(&members), ["a", "spare2", "b", "b_high", "c"]);
        let mut words = Words::new();
        for (bits, count) in [(7, 1), (5 << 32 | 9, 2), (3, 1)] {
            push(&mut words, bits, count);
        }
        assert_eq!(words[..], [7, 0, 9, 5, 3]);
        assert_eq!(words_of(&members), words.len());
        let mut at = 0;
        assert_eq!([1, 2, 1].map(|count| take(&words, &mut at, count)), [7, 5 << 32 | 9, 3]);
        assert_eq!(take(&words, &mut at, 2), 0, "a word that is not there");
    }
}
