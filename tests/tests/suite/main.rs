//! The tests of isowarp as a whole, in one program: identity, accuracy, properties, bad input, streams, and the workspace's own shape.

mod accuracy;
mod bad_input;
mod common;
mod dependencies;
mod identity;
mod oracles;
mod properties;
mod streams;
mod table;
