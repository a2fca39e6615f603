//! Prices of options under geometric Brownian motion, by simulation and in closed form.
//!
//! # Paths
//! Path `i` takes the `i`-th of `n` elements of `4 2^k` words of the stream, where that is the number of steps or more: each block of four words makes four normal
//! numbers by Box and Muller's pairs, and step `j` takes number `j`. A path is a walk of the logarithm of the price over the first, in `f32`; steps are equal
//! parts of the time. So a path is a function of the seed, the stream and its number, whatever is simulated with it.

use super::host::{exp, normal_below};
use super::{Estimate, MonteCarlo};
use crate::error::{Error, Result};
use crate::input::{HostScalar, Mapped, Source as _, scalar};
use crate::ir::{Expr, lit, repeat, select_each};
use crate::random::{Attempts, Blocks, Random, normals};

/// The right to buy or to sell at the strike price.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Right {
    /// To buy.
    #[default]
    Call,
    /// To sell.
    Put,
}

/// The average that an Asian option compares with the strike price.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Average {
    /// Of prices.
    #[default]
    Arithmetic,
    /// Of their logarithms.
    Geometric,
}

/// A price that the option ends or begins at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barrier {
    /// The option is worth nothing once the price was at or below the barrier.
    DownAndOut,
    /// The option is worth nothing unless the price was at or below the barrier.
    DownAndIn,
    /// The option is worth nothing once the price was at or above the barrier.
    UpAndOut,
    /// The option is worth nothing unless the price was at or above the barrier.
    UpAndIn,
}

/// Payoff of an option.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// The price at the end.
    European,
    /// The average of the prices at the ends of this many steps.
    Asian(Average, u32),
    /// The price at the end, by whether the price at the end of any of this many steps was beyond a barrier.
    Barrier(Barrier, f64, u32),
}

impl Kind {
    const fn steps(self) -> u32 {
        match self {
            Self::European => 1,
            Self::Asian(_, steps) | Self::Barrier(_, _, steps) => steps,
        }
    }
}

/// An option on a share without dividends.
///
/// ```
/// # use isowarp::prelude::*;
/// use isowarp::monte_carlo::{Contract, Kind, MonteCarlo, Right};
/// # let dev = isowarp::Cpu::new();
/// let call = Contract { kind: Kind::European, right: Right::Call, spot: 100.0, strike: 105.0, rate: 0.03, volatility: 0.2, years: 1.0 };
/// let (found, exact) = (dev.price(&call, 1 << 18, Random::new(1))?, call.closed_form()?.expect("European options have one"));
/// assert!((found.mean - exact).abs() < 3.0 * found.standard_error && found.standard_error < 0.03, "{found:?} {exact}");
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contract {
    /// Payoff.
    pub kind: Kind,
    /// To buy or to sell.
    pub right: Right,
    /// Price of the share now.
    pub spot: f64,
    /// Price at which it may be bought or sold.
    pub strike: f64,
    /// Continuous interest rate of a year.
    pub rate: f64,
    /// Standard deviation of the logarithm of the price in a year.
    pub volatility: f64,
    /// Time until it ends.
    pub years: f64,
}

/// Steps of a path at most: words of an element.
const MAX_STEPS: u32 = 1 << 16;

impl Contract {
    fn check(&self) -> Result<()> {
        let refuse = |what, reason: String| Err(Error::InvalidArgument { what, reason });
        let barrier = if let Kind::Barrier(_, level, _) = self.kind { level } else { 1.0 };
        for (what, x) in [("spot", self.spot), ("strike", self.strike), ("years", self.years), ("barrier", barrier)] {
            if !(x.is_finite() && x > 0.0) {
                return refuse(what, format!("{x} is not a finite number above zero"));
            }
        }
        if !(self.volatility.is_finite() && self.volatility >= 0.0) {
            return refuse("volatility", format!("{} is negative or not finite", self.volatility));
        }
        if !self.rate.is_finite() {
            return refuse("rate", format!("{} is not finite", self.rate));
        }
        match self.kind.steps() {
            0 => refuse("steps", "there are none".to_owned()),
            steps if steps > MAX_STEPS => {
                Err(Error::TooLarge { what: "steps of a path", requested: steps.into(), limit: MAX_STEPS.into() })
            }
            _ => Ok(()),
        }
    }

    fn pays(&self, price: f64) -> f64 {
        (if self.right == Right::Call { price - self.strike } else { self.strike - price }).max(0.0)
    }

    fn discount(&self) -> f64 {
        exp(-self.rate * self.years)
    }

    /// 1 for the right to buy, -1 for that to sell.
    const fn sign(&self) -> f64 {
        if matches!(self.right, Right::Call) { 1.0 } else { -1.0 }
    }

    /// Black's formula: the discounted expectation of what is paid for a price whose logarithm is normal, of this mean of the price and deviation of the
    /// logarithm.
    fn black(&self, mean: f64, deviation: f64) -> f64 {
        if deviation == 0.0 {
            return self.discount() * self.pays(mean);
        }
        let near = (mean / self.strike).ln() / deviation + deviation / 2.0;
        let sign = self.sign();
        self.discount() * sign * (mean * normal_below(sign * near) - self.strike * normal_below(sign * (near - deviation)))
    }

    /// The price by a formula, in `f64` on the host: of a European option that of Black and Scholes, and of a geometric average the same for its logarithm. Of a
    /// barrier it is Reiner and Rubinstein's for a price that is watched all the time, with the barrier moved by `exp(0.5826 volatility sqrt(years / steps))` as
    /// Broadie, Glasserman and Kou found for steps. There is none for an arithmetic average, nor for a barrier where the approximation's numbers leave those of
    /// `f64`. Exponentials, logarithms and powers are the host's: unlike what is simulated, the last digits may differ from machine to machine.
    ///
    /// Source: Hull, *Options, Futures, and Other Derivatives*; Haug, *The Complete Guide to Option Pricing Formulas*.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers that are negative, NaN or infinite, for no steps, and where the formula gives no finite number of an
    /// option without a barrier.
    pub fn closed_form(&self) -> Result<Option<f64>> {
        self.check()?;
        let (years, rate, volatility) = (self.years, self.rate, self.volatility);
        let price = match self.kind {
            Kind::European => Some(self.black(self.spot * (rate * years).exp(), volatility * years.sqrt())),
            Kind::Asian(Average::Arithmetic, _) => None,
            Kind::Asian(Average::Geometric, steps) => {
                let n = f64::from(steps);
                let variance = volatility * volatility * years * (n + 1.0) * (2.0 * n + 1.0) / (6.0 * n * n);
                let drift = (rate - volatility * volatility / 2.0) * years * (n + 1.0) / (2.0 * n);
                Some(self.black(self.spot * (drift + variance / 2.0).exp(), variance.sqrt()))
            }
            Kind::Barrier(..) if volatility == 0.0 => None,
            Kind::Barrier(barrier, level, steps) => Some(self.barrier(barrier, level, steps)).filter(|price| price.is_finite()),
        };
        match price {
            Some(price) if !price.is_finite() => {
                let reason = format!("of a volatility of {volatility} and a rate of {rate} in {years} years it is no finite number");
                Err(Error::InvalidArgument { what: "closed form", reason })
            }
            price => Ok(price),
        }
    }

    fn barrier(&self, barrier: Barrier, level: f64, steps: u32) -> f64 {
        let (is_up, is_in) =
            (matches!(barrier, Barrier::UpAndIn | Barrier::UpAndOut), matches!(barrier, Barrier::UpAndIn | Barrier::DownAndIn));
        let deviation = self.volatility * self.years.sqrt();
        let shift = 0.5826 * deviation / f64::from(steps).sqrt();
        let level = level * (if is_up { shift } else { -shift }).exp();
        let plain = self.black(self.spot * (self.rate * self.years).exp(), deviation);
        let is_beyond = if is_up { self.spot >= level } else { self.spot <= level };
        let knocked_in = if is_beyond { plain } else { self.knocked_in(is_up, level, deviation) };
        let price = if is_in { knocked_in } else { plain - knocked_in };
        // A difference of what is equal may be below zero by its rounding.
        if price < 0.0 { 0.0 } else { price }
    }

    /// Reiner and Rubinstein's price of an option that begins at a barrier that was not reached.
    fn knocked_in(&self, is_up: bool, level: f64, deviation: f64) -> f64 {
        let (phi, eta) = (self.sign(), if is_up { -1.0 } else { 1.0 });
        let mu = (self.rate - self.volatility * self.volatility / 2.0) / (self.volatility * self.volatility);
        let (spot, strike, discount) = (self.spot, self.strike, self.discount());
        let with = |ratio: f64| ratio.ln() / deviation + (1.0 + mu) * deviation;
        let plain = |x: f64| phi * (spot * normal_below(phi * x) - strike * discount * normal_below(phi * (x - deviation)));
        let (once, twice) = ((level / spot).powf(2.0 * mu), (level / spot).powf(2.0 * (mu + 1.0)));
        let mirrored =
            |y: f64| phi * (spot * twice * normal_below(eta * y) - strike * discount * once * normal_below(eta * (y - deviation)));
        let (a, b) = (plain(with(spot / strike)), plain(with(spot / level)));
        let (c, d) = (mirrored(with(level * level / (spot * strike))), mirrored(with(level / spot)));
        match (self.right, is_up, strike > level) {
            (Right::Call, false, true) | (Right::Put, true, false) => c,
            (Right::Call, false, false) | (Right::Put, true, true) => a - b + d,
            (Right::Call, true, true) | (Right::Put, false, false) => a,
            (Right::Call, true, false) | (Right::Put, false, true) => b - c + d,
        }
    }
}

/// A path's words; drift and deviation of a step; first price, strike price and barrier over the first price.
type Inputs = (Attempts, (HostScalar<f32>, HostScalar<f32>), (HostScalar<f32>, HostScalar<f32>, HostScalar<f32>));
type Walk = (Expr<f32>, Expr<f32>);
type End = (Expr<f32>, Expr<f32>, Expr<f32>);

/// A path as it is walked: the logarithm of the price over the first, its sum, the sum of prices over the first, and the extreme of the logarithm.
type Path = (Expr<f32>, Expr<f32>, Expr<f32>, Expr<f32>);

/// The path of the normal numbers of an element's blocks.
fn walked(kind: Kind, blocks: &Blocks, drift: Expr<f32>, deviation: Expr<f32>) -> Path {
    let steps = kind.steps();
    let is_down = matches!(kind, Kind::Barrier(Barrier::DownAndIn | Barrier::DownAndOut, ..));
    let step = |(x, logarithms, prices, extreme): Path, normal: Expr<f32>| {
        let x = x + normal.mul_add(deviation, drift);
        (x, logarithms + x, prices + x.exp(), if is_down { extreme.min(x) } else { extreme.max(x) })
    };
    let beyond = if is_down { f32::INFINITY } else { f32::NEG_INFINITY };
    let start: Path = (lit(0f32), lit(0f32), lit(0f32), lit(beyond));
    let (_, path) = repeat(steps.div_ceil(4), (lit(0u32), start), |(block, path)| {
        let next = (0..4).zip(normals(blocks.block(block))).fold(path, |path, (k, normal)| {
            let next = step(path, normal);
            if steps.is_multiple_of(4) { next } else { select_each((block * 4 + k).lt(steps), next, path) }
        });
        (block + 1, next)
    });
    path
}

/// Payment at the end of a path.
fn paid(
    kind: Kind,
    (x, logarithms, prices, extreme): Path,
    level: Expr<f32>,
    controlled: bool,
    pays: impl Fn(Expr<f32>) -> Expr<f32>,
) -> Expr<f32> {
    let geometric = |steps: u32| pays((logarithms / steps as f32).exp());
    match kind {
        Kind::European => pays(x.exp()),
        Kind::Asian(Average::Geometric, steps) => geometric(steps),
        Kind::Asian(Average::Arithmetic, steps) if controlled => pays(prices / steps as f32) - geometric(steps),
        Kind::Asian(Average::Arithmetic, steps) => pays(prices / steps as f32),
        Kind::Barrier(Barrier::DownAndOut, ..) => extreme.le(level).select(0.0, pays(x.exp())),
        Kind::Barrier(Barrier::DownAndIn, ..) => extreme.le(level).select(pays(x.exp()), 0.0),
        Kind::Barrier(Barrier::UpAndOut, ..) => extreme.ge(level).select(0.0, pays(x.exp())),
        Kind::Barrier(Barrier::UpAndIn, ..) => extreme.ge(level).select(pays(x.exp()), 0.0),
    }
}

/// Payoffs of paths, not discounted; with an arithmetic average less what the geometric one pays, if that is `controlled`.
pub(crate) fn payments(
    of: Contract,
    paths: u64,
    random: Random,
    controlled: bool,
) -> Result<Mapped<Inputs, impl Fn((Blocks, Walk, End)) -> Expr<f32> + Copy>> {
    of.check()?;
    let (kind, steps) = (of.kind, of.kind.steps());
    let step = of.years / f64::from(steps);
    let drift = (of.rate - of.volatility * of.volatility / 2.0) * step;
    let level = if let Kind::Barrier(_, level, _) = kind { level / of.spot } else { 1.0 };
    let deviation = of.volatility * step.sqrt();
    // Paths are walked in f32.
    let of_steps = [("drift of a step", drift), ("deviation of a step", deviation), ("barrier over spot", level)];
    for (what, x) in [("spot", of.spot), ("strike", of.strike)].into_iter().chain(of_steps) {
        if !(x as f32).is_finite() || matches!(what, "spot" | "strike") && x as f32 == 0.0 {
            return Err(Error::InvalidArgument { what, reason: format!("{x:e} is beyond the range of f32, in which paths are simulated") });
        }
    }
    let walk = (scalar(drift as f32), scalar(deviation as f32));
    let end = (scalar(of.spot as f32), scalar(of.strike as f32), scalar(level as f32));
    let draw = Attempts::new(random, paths, steps.div_ceil(4).next_power_of_two().ilog2());
    Ok((draw, walk, end).map(move |(blocks, (drift, deviation), (spot, strike, level))| {
        let path = walked(kind, &blocks, drift, deviation);
        paid(kind, path, level.ln(), controlled, |price| {
            let gain = price.mul_add(spot, -strike);
            (if of.right == Right::Call { gain } else { -gain }).max(0.0)
        })
    }))
}

/// The price of an option by simulation: the mean of what paths pay at the end, discounted. With an arithmetic average, it is that of the difference to what the
/// geometric one pays, whose price is known: most of the error is common to both.
pub(super) fn price<B: MonteCarlo>(device: &B, of: Contract, paths: u64, random: Random) -> Result<Estimate> {
    let known = match of.kind {
        Kind::Asian(Average::Arithmetic, steps) => Contract { kind: Kind::Asian(Average::Geometric, steps), ..of }.closed_form()?,
        _ => None,
    };
    Ok(device.estimate(payments(of, paths, random, true)?)?.scaled(of.discount(), known.unwrap_or_default()))
}
