//! Everything that reads what people give the command, over bytes: for random ones, which no reader may answer by a panic. What is right or wrong with
//! them is tested elsewhere; here a result is thrown away.

use crate::args::{Cli, Command};
use crate::npy::{Array, Reader};
use crate::{image, run};
use clap::Parser as _;
use isowarp::element::{DType, Ty};
use isowarp::expression;
use std::io::Cursor;

/// An operator's text. The first byte says over how many inputs, the next ones of which types.
pub fn expression(bytes: &[u8]) {
    const TYPES: [Ty; 6] = [Ty::F32, Ty::I32, Ty::U32, Ty::F64, Ty::I64, Ty::U64];
    let Some((&count, rest)) = bytes.split_first() else { return };
    let (types, text) = rest.split_at(rest.len().min(usize::from(count % 5)));
    let types: Vec<Ty> = types.iter().map(|b| TYPES[usize::from(*b) % TYPES.len()]).collect();
    let text = String::from_utf8_lossy(text);
    let index = (count & 0x40 != 0).then_some(Ty::U32);
    let _ = expression::parse(&expression::applied(&text, types.len()), &types, index, (count & 0x80 != 0).then_some(Ty::F32));
}

/// A .npy file, of a known size and as a stream.
pub fn npy(bytes: &[u8]) {
    for size in [Some(bytes.len() as u64), None] {
        let reader = Reader::new("bytes".to_owned(), Box::new(Cursor::new(bytes.to_vec())), size);
        let _ = reader.and_then(Reader::all);
    }
}

/// An image file of any format.
pub fn image(bytes: &[u8]) {
    let _ = image::decode(bytes, "bytes");
}

/// A command line, an argument a line, and what it would do with arrays of a few elements.
pub fn options(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Cli::try_parse_from(std::iter::once("isowarp").chain(text.lines())).map(|c| c.command) {
        Ok(Some(Command::Run(args))) => {
            for (dtype, shape) in [(DType::F32, vec![3, 2]), (DType::U8, vec![0]), (DType::I64, vec![4])] {
                let bytes = vec![1; (shape.iter().product::<u64>() * dtype.size_bytes()) as usize];
                let array = Array { shape, dtype, boolean: dtype == DType::U8, bytes };
                let _ = run::plan(&args, &vec![array; args.inputs.len()]);
            }
        }
        Ok(Some(Command::Image(args))) => {
            let _ = image::check(&args);
        }
        _ => {}
    }
}
