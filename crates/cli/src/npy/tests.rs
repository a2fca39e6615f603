//! Files as NumPy and others write them.

use super::*;

fn file(version: u8, header: &str, body: &[u8]) -> Vec<u8> {
    let mut f = b"\x93NUMPY".to_vec();
    f.extend([version, 0]);
    let size = (header.len() as u32).to_le_bytes();
    f.extend(&size[..if version == 1 { 2 } else { 4 }]);
    f.extend(header.as_bytes());
    f.extend(body);
    f
}

fn read_all(bytes: &[u8], size: Option<u64>) -> Result<Array, String> {
    let from = Box::new(io::Cursor::new(bytes.to_vec()));
    Reader::new("x.npy".to_owned(), from, size).and_then(Reader::numbers).and_then(Reader::all).map_err(|f| f.to_string())
}

fn parse(bytes: &[u8]) -> Result<Array, String> {
    let known = read_all(bytes, Some(bytes.len() as u64));
    let streamed = read_all(bytes, None);
    assert_eq!(known.is_ok(), streamed.is_ok(), "{known:?} {streamed:?}");
    known
}

#[test]
fn every_version_and_type_is_read() {
    for version in 1..=3 {
        for (descr, dtype) in [
            ("<f4", DType::F32),
            ("<f8", DType::F64),
            ("<f2", DType::F16),
            ("<i4", DType::I32),
            ("<u8", DType::U64),
            ("|u1", DType::U8),
            ("|i1", DType::I8),
            ("<i2", DType::I16),
            ("<u2", DType::U16),
        ] {
            let body = vec![7; 6 * dtype.size_bytes() as usize];
            let f = file(version, &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 3), }}\n"), &body);
            assert_eq!(parse(&f), Ok(Array { shape: vec![2, 3], dtype, boolean: false, bytes: body }));
        }
    }
    let scalar = file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': ()}", &[1]);
    assert_eq!(parse(&scalar), Ok(Array { shape: vec![], dtype: DType::U8, boolean: true, bytes: vec![1] }));
    let empty = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5)}", &[]);
    assert_eq!(parse(&empty).map(|a| a.len()), Ok(0));
}

/// As NumPy 2.4 does.
#[test]
fn types_are_read_as_other_writers_spell_them() {
    for (descr, dtype) in [
        ("=f4", DType::F32),
        ("f4", DType::F32),
        ("float32", DType::F32),
        ("=u2", DType::U16),
        ("uint16", DType::U16),
        ("i8", DType::I64),
        ("int8", DType::I8),
        ("u1", DType::U8),
        ("=i1", DType::I8),
        ("|f4", DType::F32),
        ("f", DType::F32),
        ("<e", DType::F16),
        ("=q", DType::I64),
        ("I", DType::U32),
        ("<B", DType::U8),
        ("double", DType::F64),
        ("float", DType::F64),
    ] {
        let body = vec![7; 2 * dtype.size_bytes() as usize];
        for header in [
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n"),
            format!("{{'shape':(2,),'descr':'{descr}','fortran_order':False}}"),
        ] {
            let expected = Array { shape: vec![2], dtype, boolean: false, bytes: body.clone() };
            assert_eq!(parse(&file(1, &header, &body)), Ok(expected), "{header}");
        }
    }
    let python_2 = file(1, "{u'descr': u'<f4', u'fortran_order': False, u'shape': (2L,)}", &[0; 8]);
    assert_eq!(parse(&python_2).expect("it is read").shape, [2]);
    let truth = file(1, "{'fortran_order': False, 'descr': 'bool', 'shape': (2,)}", &[1, 0]);
    assert_eq!(parse(&truth).map(|a| (a.boolean, a.bytes)), Ok((true, vec![1, 0])));
    for bad in ["=z", "floats", "int7", "=", "<", "|", "", "float12", "|S4", "U"] {
        assert!(parse(&file(1, &format!("{{'descr': '{bad}', 'fortran_order': False, 'shape': (1,)}}"), &[0; 8])).is_err(), "{bad}");
    }
}

#[test]
fn every_order_of_bytes_and_axes_is_read() {
    let of = |descr: &str, order: &str, shape: &str, body: &[u8]| {
        let f = file(1, &format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}}}"), body);
        let reader = Reader::new("x.npy".to_owned(), Box::new(io::Cursor::new(f)), None).expect("a header");
        (reader.fortran_axes().is_some(), reader.all().expect("elements").bytes)
    };
    assert_eq!(of(">f4", "False", "(2,)", &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 1]), (false, vec![0, 0, 0x80, 0x3f, 1, 0, 0, 0xc0]));
    assert_eq!(of(">i2", "True", "(2L, 1L)", &[1, 2, 3, 4]), (false, vec![2, 1, 4, 3]));
    assert_eq!(of(">u8", "False", "()", &[1, 2, 3, 4, 5, 6, 7, 8]), (false, vec![8, 7, 6, 5, 4, 3, 2, 1]));
    assert_eq!(of(">u1", "True", "(3,)", &[1, 2, 3]), (false, vec![1, 2, 3]));
    assert_eq!(of("|i1", "True", "(3, 0)", &[]), (false, vec![]));
    assert_eq!(of("|i1", "True", "(2, 1, 2)", &[1, 2, 3, 4]), (true, vec![1, 2, 3, 4]));
    assert_eq!(of("|b1", "False", "(4,)", &[0, 1, 2, 255]), (false, vec![0, 1, 1, 1]));
}

#[test]
fn arrays_are_read_in_pieces() {
    let array = Array { shape: vec![5], dtype: DType::U8, boolean: false, bytes: vec![1, 2, 3, 4, 5] };
    let pairs = file(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}", &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]);
    let reader = Reader::new("x.npy".to_owned(), Box::new(io::Cursor::new(pairs)), None).expect("a header");
    let pairs = reader.all().expect("an array");
    assert_eq!((pairs.shape, pairs.dtype, pairs.bytes), (vec![1, 2], DType::F32, vec![0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]));
    let turned = file(1, "{'descr': '<c8', 'fortran_order': True, 'shape': (2, 2)}", &[0; 32]);
    let turned = Reader::new("x.npy".to_owned(), Box::new(io::Cursor::new(turned)), None).expect("a header");
    assert_eq!(turned.fortran_axes(), Some(2), "parts of numbers are side by side in either order");
    let f = file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (5,)}", &array.bytes);
    let of_file = |f: &[u8]| Reader::new("x.npy".to_owned(), Box::new(io::Cursor::new(f.to_vec())), None).expect("a header");
    let progress = Progress::new("", 0);
    for mut reader in [Reader::from(array.clone()), of_file(&f)] {
        assert_eq!(reader.head().shape, [5]);
        let mut next = |n| reader.next(n, &progress).ok();
        assert_eq!([next(2), next(0), next(2), next(9), next(1)], [vec![1, 2], vec![], vec![3, 4], vec![5], vec![]].map(Some));
    }
    let mut short = of_file(&f[..f.len() - 1]);
    assert!(short.next(4, &progress).is_ok() && short.next(1, &progress).is_err_and(|e| e.to_string().contains("truncated")));
    let mut long = of_file(&[&f[..], &[6]].concat());
    assert!(long.next(4, &progress).is_ok() && long.next(1, &progress).is_err_and(|e| e.to_string().contains("more than the 5 bytes")));
}

#[test]
fn bad_files_say_why() {
    let header = |descr: &str, order: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}");
    let good = header("'<f4'", "False", "(2,)");
    let cases = [
        (Vec::new(), "no .npy file"),
        (b"PK\x03\x04 not numpy".to_vec(), "archive of arrays"),
        (b"\x93NUMPY\x01\x00".to_vec(), "truncated in its header"),
        (b"\x93NUMPY\x09\x00\x10\x00".to_vec(), "version 9.0"),
        (file(1, &good, &[0; 7]), "truncated: its header announces 8 bytes of elements, 7"),
        (file(2, "{'descr", &[]), "header is corrupt"),
        (file(1, &good[..20], &[]), "header is corrupt"),
        (file(1, "[1, 2]", &[]), "header is corrupt"),
        (file(1, &"(".repeat(5000), &[]), "header is corrupt"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "no array of numbers needs"),
        (b"PK\x05\x06".to_vec(), "archive of arrays"),
        (file(1, &header("'|O'", "False", "(2,)"), &[0; 8]), "Python objects"),
        (file(1, &header("'<c8'", "False", "(1,)"), &[0; 8]), "not supported"),
        (file(1, &header("'<M8[s]'", "False", "(1,)"), &[0; 8]), "not supported"),
        (file(1, &header("[('a', '<f4')]", "False", "(1,)"), &[0; 4]), "records"),
        (file(1, &header("'<f4'", "False", "(99999999999, 99999999999)"), &[]), "too large"),
        (file(1, &header("'<f4'", "False", "(99999999999999999999999,)"), &[]), "too large"),
        (file(1, &header("'<f4'", "False", "(-2,)"), &[]), "header is corrupt"),
        (file(1, &header("'<f8'", "False", "(4611686018427387904,)"), &[]), "too large"),
    ];
    for (bytes, why) in cases {
        let found = parse(&bytes).expect_err(why);
        assert!(found.contains(why), "{why}: {found}");
    }
    let long = file(1, &good, &[0; 9]);
    assert!(read_all(&long, Some(long.len() as u64)).is_err_and(|why| why.contains("too long")));
    assert!(read_all(&long, None).is_err_and(|why| why.contains("more than the 8 bytes")));
}
