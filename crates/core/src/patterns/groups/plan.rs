//! Ballots and peers: a launch each.

use super::{BallotTask, Peers, PeersTask};
use crate::backend::{Leaf, Out};
use crate::error::{Error, Result};
use crate::launch::kernels::{BALLOT, Nothing, PEERS, PeersParams};
use crate::launch::{Array, Choice, Groups, KernelSpec, Launcher, Operators, Planned, Work};

fn operands() -> Error {
    Error::InvalidArgument { what: "groups", reason: "they have one output, or two".to_owned() }
}

impl<B: Launcher> Planned<B> for BallotTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let [out] = outs else { return Err(operands()) };
        let arrays = [Array::out(out, self.n.div_ceil(32))];
        let spec = KernelSpec::new(&BALLOT, &Nothing {}, &[], &arrays);
        device.launch(&spec.with(Operators::Words(&self.func), self.numerics, leaves, &[]), Work::elements(self.n, 1024))
    }
}

impl PeersTask {
    /// Returns the parameters that the kernel's text depends on.
    #[must_use]
    pub fn choices(&self) -> [Choice; 2] {
        [("kind", self.peers as u32), ("words", self.func.result_words() as u32)]
    }
}

impl<B: Launcher> Planned<B> for PeersTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        match (outs, self.peers) {
            ([_], Peers::Mask) | ([_, _], Peers::First | Peers::Rank) => {}
            _ => return Err(operands()),
        }
        let arrays = [0, 1].map(|k| outs.get(k).map_or(Array::NONE, |out| Array::out(out, self.n)));
        let params = PeersParams { width: self.width, kind: self.peers as u32, per: 256 / self.width * self.width };
        let choices = self.choices();
        let spec = KernelSpec::new(&PEERS, &params, &choices, &arrays);
        let work = Work::elements(self.n, 4 * u64::from(self.width)).by(Groups::Elements(self.width.into()));
        device.launch(&spec.with(Operators::Words(&self.func), self.numerics, leaves, &[]), work)
    }
}
