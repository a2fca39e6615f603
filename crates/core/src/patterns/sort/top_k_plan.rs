//! P07 top-k: a sample says how far to look, one launch lists the keys up to there, and launches count digits, which find the last of them.

use super::{Digit, SortPayload, SortTask, TopKTask};
use crate::backend::{Leaf, Out, Run};
use crate::element::DType;
use crate::error::Result;
use crate::launch::kernels::{
    Kernel, TOP_K_COLLECT, TOP_K_COUNT, TOP_K_DECIDE, TOP_K_FILTER, TOP_K_PICK, TOP_K_SAMPLE, TOP_K_START, TopKParams,
};
use crate::launch::{Array, Groups, KernelSpec, Launcher, Piece, Planned, Work};

/// Words of the state, with a count to each value of a digit of the most bits.
const STATE_WORDS: u64 = 16 + 2048;

impl TopKTask {
    /// Indices from the lowest on.
    fn put_in_order<B: Run<SortTask>>(&self, device: &B, found: B::Raw, out: &Out<B::Raw>) -> Result<()> {
        let leaf = Leaf::Elements { raw: found, dtype: DType::U32, offset: 0, stride: 1 };
        device.run(&self.sort_of_indices(), &[leaf], std::slice::from_ref(out))
    }

    /// For more keys than a kernel sees the indices of.
    fn first_of_all_sorted<B: Run<SortTask>>(&self, device: &B, leaves: &[Leaf<B::Raw>], out: &Out<B::Raw>) -> Result<()> {
        let all = device.allocate_bytes(self.n * 4)?;
        let Self { dtype, order, bits, n, .. } = self.clone();
        let sort = SortTask { dtype, order, bits, rows: 1, n, payload: SortPayload::Indices, keys_out: false, lent: false };
        device.run(&sort, leaves, &[Out { raw: all.clone(), dtype: DType::U32, offset: 0 }])?;
        self.put_in_order(device, all, out)
    }
}

impl<B: Launcher + Run<SortTask>> Planned<B> for TopKTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (keys, out) = self.places(leaves, outs)?;
        let (size, tuning) = (self.dtype.size_bytes(), device.tuning());
        if self.k > tuning.most(4) {
            return self.first_of_all_sorted(device, leaves, out);
        }
        // A list that is too short for what is found is not read. Samples are in its place before.
        let most = tuning.most(size.max(4));
        let samples = tuning.top_k_samples.min(self.n).min(most);
        let room = self.room(samples).min(most);
        // Held until everything is enqueued.
        let own = |bytes: u64| device.allocate_bytes(bytes).map(|raw| Piece { raw, offset: 0, bytes });
        let (values, places, found) = (own(room.max(samples) * size.max(4))?, own(room * 4)?, device.allocate_bytes(self.k * 4)?);
        let state = device.scratch(&[4 * STATE_WORDS])?;
        let state = state.first().map_or(Array::NONE, Array::piece);
        let arrays =
            [Array::of(keys, size, self.n), Array::of((&found, 0), 4, self.k), state, Array::piece(&values), Array::piece(&places)];

        let (map, width) = (self.key_bits(), self.bits.end - self.bits.start);
        let mut params = TopKParams {
            rank: self.sample_rank(samples) as u32,
            room: room as u32,
            wanted: self.k as u32,
            start: self.bits.start,
            width,
            negative: map.negative,
            flip: map.flip,
            samples: samples as u32,
            part: (self.n / samples) as u32,
            sign_bit: (map.width - 1) & 31,
            compared: if width == 0 { 0 } else { u64::MAX >> (64 - width) },
            ..TopKParams::default()
        };
        let choices = [("size", size as u32)];
        let launch = |kernel: &'static Kernel<TopKParams>, params: &TopKParams, work: Work<'_>| {
            device.launch(&KernelSpec::new(kernel, params, &choices, &arrays), work)
        };
        let all = Work::elements(self.n, 1).by(Groups::Strided);
        let once = Work::whole(self.n, &|_| 1);
        launch(&TOP_K_SAMPLE, &params, all.by(Groups::Of(&|_| samples.div_ceil(256))))?;
        launch(&TOP_K_START, &params, once)?;
        launch(&TOP_K_FILTER, &params, all)?;
        launch(&TOP_K_DECIDE, &params, once)?;
        for (digits, indexed) in [(self.key_digits(), 0), (self.index_digits(), 1)] {
            for Digit { shift, bits } in digits {
                params = TopKParams { shift, digit_bits: bits, indexed, ..params };
                launch(&TOP_K_COUNT, &params, all)?;
                launch(&TOP_K_PICK, &params, once)?;
            }
        }
        launch(&TOP_K_COLLECT, &params, all)?;
        self.put_in_order(device, found, out)
    }
}
