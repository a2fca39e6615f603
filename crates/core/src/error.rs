//! One error type for everything that isowarp can refuse.

use crate::caps::Capability;
use crate::ir::OpError;

/// Shorthand for results of isowarp calls.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Errors of isowarp calls: what went wrong, with the offending numbers. A call that returns one has changed none of its outputs, but where memory ends or
/// the device fails ([`OutOfMemory`](Self::OutOfMemory), [`DeviceLost`](Self::DeviceLost)) in a call of several steps: their contents are undefined then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two lengths that have to agree do not.
    #[error("{what}: expected {expected} elements, found {found}")]
    LengthMismatch {
        /// Name of the argument.
        what: &'static str,
        /// Elements wanted.
        expected: u64,
        /// Elements given.
        found: u64,
    },
    /// An output does not hold the result.
    #[error("{what} holds {available} elements, but {required} are needed")]
    BufferTooSmall {
        /// Name of the argument.
        what: &'static str,
        /// Elements needed.
        required: u64,
        /// Elements there.
        available: u64,
    },
    /// A view reaches outside its buffer.
    #[error("{what}: elements {start}..{end} are outside a buffer of {len}")]
    OutOfRange {
        /// Name of the argument.
        what: &'static str,
        /// First element asked for.
        start: u64,
        /// One past the last element asked for.
        end: u64,
        /// Elements there.
        len: u64,
    },
    /// An index that was asked to be checked reaches outside.
    #[error("{pattern}: index {index} at position {position} is not in 0..{limit}")]
    IndexOutOfRange {
        /// The pattern.
        pattern: &'static str,
        /// The first position whose index is out of range.
        position: u64,
        /// The index there.
        index: i128,
        /// Elements that may be indexed.
        limit: u64,
    },
    /// An index that was asked to be checked occurs twice where it may not.
    #[error("{pattern}: index {index} at position {position} was there before")]
    DuplicateIndex {
        /// The pattern.
        pattern: &'static str,
        /// The first position whose index was there before.
        position: u64,
        /// The index there.
        index: i128,
    },
    /// An array that was asked to be checked is not sorted.
    #[error("{pattern}: {what} is not sorted: element {index} comes before its left neighbour")]
    NotSorted {
        /// The pattern.
        pattern: &'static str,
        /// Name of the argument.
        what: &'static str,
        /// The first index whose element comes before its left neighbour.
        index: u64,
    },
    /// An output overlaps an input (or another output) in a pattern that does not allow it.
    #[error("{pattern}: {what} overlaps an input or another output; use a separate buffer")]
    Aliasing {
        /// The pattern.
        pattern: &'static str,
        /// Name of the argument.
        what: &'static str,
    },
    /// A reduction that has no identity was asked of nothing.
    #[error("{pattern} of an empty array has no value")]
    Empty {
        /// The pattern or operator.
        pattern: &'static str,
    },
    /// The device lacks what the pattern needs.
    #[error("`{pattern}` is not available on {device}: it has no {capability}\n  help: {}", capability.help())]
    Unsupported {
        /// The pattern.
        pattern: &'static str,
        /// Capability that is missing.
        capability: Capability,
        /// The device's name.
        device: String,
    },
    /// The device's arithmetic is not proven to be that of the contract, and `Numerics::Strict` was asked for.
    #[error("{device} is not proven to give the same bits: {witness}\n  help: compute with `Numerics::Fast`, or on the CPU")]
    NotStrict {
        /// The device's name.
        device: String,
        /// The start-up probe's first failing case.
        witness: String,
    },
    /// A size above what the device or the pattern can address.
    #[error("{what}: {requested} is above the limit of {limit}")]
    TooLarge {
        /// Name of the quantity.
        what: &'static str,
        /// The amount asked for.
        requested: u64,
        /// The largest amount that works.
        limit: u64,
    },
    /// An argument that no device could honour.
    #[error("{what}: {reason}")]
    InvalidArgument {
        /// Name of the argument.
        what: &'static str,
        /// Reason why it is refused.
        reason: String,
    },
    /// The device has no memory left for this.
    #[error("out of memory: {requested} bytes requested{}", match available { Some(a) => format!(", {a} available"), None => String::new() })]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes free, where the driver tells.
        available: Option<u64>,
    },
    /// The device stopped: reset, unplugged, or a kernel ran too long.
    #[error("the device was lost: {reason}")]
    DeviceLost {
        /// The driver's words.
        reason: String,
    },
    /// A backend cannot run on this machine.
    #[error("backend `{backend}` is not available: {reason}")]
    Unavailable {
        /// The backend's name.
        backend: &'static str,
        /// Why.
        reason: String,
    },
    /// A backend name that does not exist.
    #[error("unknown backend `{name}`; known: auto, cpu, wgpu, cuda")]
    UnknownBackend {
        /// The name given.
        name: String,
    },
    /// A buffer of another device was passed.
    #[error("{what} belongs to another device")]
    WrongDevice {
        /// Name of the argument.
        what: &'static str,
    },
    /// A kernel did not compile: a defect of isowarp or of the driver. The log is the compiler's.
    #[error("kernel `{kernel}` did not compile:\n{log}")]
    Compile {
        /// The kernel's name.
        kernel: String,
        /// The compiler's log.
        log: String,
    },
    /// An operator is malformed.
    #[error(transparent)]
    Op(#[from] OpError),
    /// A driver call failed in a way that has no case of its own.
    #[error("{call} failed: {message}")]
    Driver {
        /// The call.
        call: &'static str,
        /// The driver's words.
        message: String,
    },
}
