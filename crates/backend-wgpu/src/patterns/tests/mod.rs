//! Patterns on the adapter at hand, bit by bit against the CPU's definition.

mod bands;
mod by_key;
mod filter;
mod groups;
pub(super) mod guarded;
mod histogram;
mod histogram_variants;
mod leftovers;
mod map;
mod merge;
mod merge_sort;
mod merge_variants;
mod moves;
mod products;
mod reduce;
mod rows;
mod scan;
mod seeds;
mod segments;
mod select;
mod sizes;
mod solves;
mod sort;
mod sort_variants;
pub(super) mod subgroups;
mod texts;
mod texts_of_filters;
mod top_k;
mod trees;
mod variants;

use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::backend::Backend;
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::element::Element;
use isowarp_cpu::Cpu;
use std::sync::OnceLock;

/// One device for all tests of this process.
fn device() -> &'static Wgpu {
    static DEVICE: OnceLock<Wgpu> = OnceLock::new();
    DEVICE.get_or_init(|| Wgpu::new_blocking().expect("an adapter"))
}

/// A device of its own, whose windows may be changed.
fn own_device(options: &Options) -> Wgpu {
    pollster::block_on(Wgpu::with_options(options)).expect("an adapter")
}

/// Sizes around every boundary of vectors, subgroups, workgroups and tiles.
const SIZES: [usize; 22] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 8191, 8192, 8193, 70_001];

/// A generator of reproducible bits (SplitMix64).
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Element types with values that go wrong where something is loose.
trait Sample: Element {
    fn sample(bits: &mut Bits) -> Self;
    fn samples(n: usize, seed: u64) -> Vec<Self> {
        let mut bits = Bits(seed);
        (0..n).map(|_| Self::sample(&mut bits)).collect()
    }
}

impl Sample for f32 {
    fn sample(bits: &mut Bits) -> Self {
        let b = bits.next();
        let special = [0x8000_0000, 0, 1, 0x807f_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc1_2345, 0xffa0_0001, 0x0080_0000, 0x7f7f_ffff];
        match b >> 58 {
            0 => Self::from_bits(special[(b % special.len() as u64) as usize]),
            1..8 => Self::from_bits(b as u32),
            8..12 => Self::from_bits(b as u32 & 0x807f_ffff),
            _ => (b as u32 as Self / u32::MAX as Self - 0.5) * [1.0, 1.0, 1e-3, 1e7][(b >> 40 & 3) as usize],
        }
    }
}
impl Sample for f64 {
    fn sample(bits: &mut Bits) -> Self {
        let b = bits.next();
        match b >> 60 {
            0 => Self::from(f32::sample(bits)),
            1 => Self::from_bits(bits.next()),
            _ => (b as Self / u64::MAX as Self - 0.5) * [1.0, 1e-3, 1e9, 1.0][(b >> 3 & 3) as usize],
        }
    }
}
impl Sample for f16 {
    fn sample(bits: &mut Bits) -> Self {
        Self::from_bits(bits.next() as u16)
    }
}
macro_rules! int_sample {
    ($($t:ty)*) => {$(impl Sample for $t {
        fn sample(bits: &mut Bits) -> Self {
            let b = bits.next();
            if b >> 61 == 0 { [Self::MAX, Self::MIN, 0, 1][(b & 3) as usize] } else { b as Self }
        }
    })*};
}
int_sample!(i32 u32 i64 u64 u8 i8 i16 u16);

/// The bytes of a buffer.
fn bytes<B: Backend, T: Element>(buffer: &Buffer<B, T>) -> Vec<u8> {
    bytemuck::cast_slice(&buffer.read_blocking().expect("read")).to_vec()
}

/// Says where two results differ.
#[track_caller]
fn same_bits<T: Element>(what: &str, cpu: &Buffer<Cpu, T>, gpu: &Buffer<Wgpu, T>) {
    let (expected, found) = (bytes(cpu), bytes(gpu));
    let size = T::DTYPE.size_bytes() as usize;
    assert_eq!(expected.len(), found.len(), "{what}: length");
    for (i, (e, f)) in expected.chunks(size).zip(found.chunks(size)).enumerate() {
        assert!(e == f, "{what}: element {i} of {}: expected {e:02x?}, found {f:02x?}", expected.len() / size);
    }
}

/// A buffer of the same elements on both devices.
fn both<T: Element>(gpu: &Wgpu, data: &[T]) -> (Buffer<Cpu, T>, Buffer<Wgpu, T>) {
    (Cpu::new().upload(data).expect("upload"), gpu.upload(data).expect("upload"))
}
