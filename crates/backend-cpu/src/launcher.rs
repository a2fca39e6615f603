//! Launches of kernels that other crates define in Rust.

use crate::Cpu;
use crate::memory::HostBuffer;
use isowarp_core::backend::{Backend as _, RawBuffer as _};
use isowarp_core::error::{Error, Result};
use isowarp_core::host;
use isowarp_core::launch::{
    Access, Array, Code, Def, Face, HostArray, HostLaunch, KernelSpec, Launcher, MatrixInstructions, Operators, Piece, Tuning, Work,
};

/// An array's first byte in its memory, and how many bytes it has.
fn bytes_of(array: &Array<'_, HostBuffer>) -> (u64, u64) {
    (array.offset * array.size, array.len * array.size)
}

/// Output of a definition, kept apart until the locks on its inputs are released: words, so that elements are aligned.
fn copy_of(array: &Array<'_, HostBuffer>, raw: &HostBuffer) -> Result<Vec<u64>> {
    let (offset, len) = bytes_of(array);
    let mut words = host::zeroed::<u64>(len.div_ceil(8))?;
    bytemuck::cast_slice_mut(&mut words)[..len as usize].copy_from_slice(&raw.read(offset, len)?);
    Ok(words)
}

impl Launcher for Cpu {
    fn code(&self) -> Code {
        Code::Rust
    }

    fn launch(&self, spec: &KernelSpec<'_, HostBuffer>, work: Work<'_>) -> Result<()> {
        self.check_kernel(spec.kernel)?;
        let Some(define) = spec.kernel.host.filter(|_| matches!(spec.operators, Operators::Nothing)) else {
            let reason = format!("the definition of `{}` takes no operators: a plan of it maps its inputs first", spec.kernel.name);
            return Err(Error::InvalidArgument { what: "a kernel", reason });
        };
        let faces = || spec.kernel.arrays.iter().zip(spec.arrays);
        let written = |face: &Face| face.access != Access::Read;
        let mut copies: Vec<Vec<u64>> = faces()
            .filter(|(face, _)| written(face))
            .map(|(_, array)| array.raw.map_or(Ok(Vec::new()), |raw| copy_of(array, raw)))
            .collect::<Result<_>>()?;
        {
            let locks: Vec<_> = faces().map(|(face, array)| array.raw.filter(|_| !written(face)).map(HostBuffer::lock)).collect();
            let mut next = copies.iter_mut();
            let mut arrays = Vec::with_capacity(locks.len());
            for ((face, array), lock) in faces().zip(&locks) {
                let (offset, len) = bytes_of(array);
                let (start, end) = (offset as usize, (offset + len) as usize);
                let copy = if written(face) { next.next() } else { None };
                arrays.push(match (array.raw, lock, copy) {
                    (Some(raw), Some(words), _) => {
                        let all: &[u8] = bytemuck::cast_slice(words);
                        let out_of_range =
                            || Error::OutOfRange { what: "an array of a kernel", start: offset, end: offset + len, len: raw.size_bytes() };
                        HostArray::Read(all.get(start..end).ok_or_else(out_of_range)?)
                    }
                    (Some(_), None, Some(words)) => HostArray::Write(&mut bytemuck::cast_slice_mut(words)[..len as usize]),
                    _ => HostArray::Nothing,
                });
            }
            define(&mut HostLaunch::new(work.n, &spec.params, spec.choices, arrays))?;
        }
        for ((_, array), words) in faces().filter(|(face, _)| written(face)).zip(&copies) {
            let (offset, len) = bytes_of(array);
            array.raw.map_or(Ok(()), |raw| raw.write(offset, &bytemuck::cast_slice(words)[..len as usize]))?;
        }
        Ok(())
    }

    fn scratch(&self, bytes: &[u64]) -> Result<Vec<Piece<HostBuffer>>> {
        bytes.iter().map(|&bytes| Ok(Piece { raw: self.allocate_bytes(bytes)?, offset: 0, bytes })).collect()
    }

    fn phase(&self, _: &HostBuffer, offset_bytes: u64) -> Result<u64> {
        Ok(offset_bytes % 16)
    }

    fn elements_of_group(&self, _: &Def) -> u64 {
        1
    }

    fn tuning(&self) -> Tuning {
        Tuning {
            window_bytes: u64::MAX,
            numbered: u64::MAX,
            wide_extremes: true,
            stores_narrow: true,
            top_k_samples: 0,
            shared_bytes: u64::MAX,
            matrix_instructions: MatrixInstructions::None,
            product: [[1, 1]; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp_core::buffer::Memory as _;
    use isowarp_core::kernel_params;
    use isowarp_core::launch::{Kernel, Reach};

    kernel_params! {
        /// A factor.
        Factor("factor") {
            /// It.
            by: u64,
        }
    }

    fn scaled(launch: &mut HostLaunch<'_>) -> Result<()> {
        let Factor { by } = launch.params();
        let [x, y] = launch.arrays()?;
        y.write::<u64>()?.iter_mut().zip(x.read::<u64>()).for_each(|(y, x)| *y += x * by);
        Ok(())
    }

    static SCALED: Kernel<Factor> =
        Kernel::new("scaled", &[Face::read("x", Reach::Along(1)), Face::write("y", Reach::Along(1))]).host(scaled);
    static NOWHERE: Kernel<Factor> = Kernel::new("nowhere", &[]);

    #[test]
    fn a_definition_sees_views_and_what_lies_beside_them_stays() {
        let dev = Cpu::new();
        let (x, y) = (dev.upload(&[1u64, 2, 3]).expect("upload"), dev.upload(&[10u64, 20, 30]).expect("upload"));
        let (from, to) = (x.slice(1..).expect("slice"), y.slice(..2).expect("slice"));
        let arrays = [Array::buffer(&dev, &from, "x").expect("here"), Array::buffer(&dev, &to, "y").expect("here")];
        dev.launch(&KernelSpec::new(&SCALED, &Factor { by: 100 }, &[], &arrays), Work::elements(2, 1)).expect("launch");
        assert_eq!(y.read_blocking().expect("read"), [210, 320, 30]);
        // One buffer may be both: the definition reads what was there.
        let arrays = [Array::buffer(&dev, &x, "x").expect("here"); 2];
        dev.launch(&KernelSpec::new(&SCALED, &Factor { by: 1 }, &[], &arrays), Work::elements(3, 1)).expect("launch");
        assert_eq!(x.read_blocking().expect("read"), [2, 4, 6]);
    }

    #[test]
    fn a_kernel_without_a_definition_is_unsupported() {
        let error = Cpu::new().launch(&KernelSpec::new(&NOWHERE, &Factor::default(), &[], &[]), Work::elements(1, 1)).unwrap_err();
        assert!(matches!(error, Error::Unsupported { pattern: "nowhere", .. }), "{error:?}");
    }
}
