//! NVRTC through its C interface, loaded from an explicit path.
//!
//! cudarc's bindings load whichever libnvrtc the loader finds first; reproducible output needs the
//! one of the pinned release, so the few calls are bound here.

use anyhow::{Context, Result, bail};
use libloading::Library as Dl;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

type Program = *mut c_void;
type Status = c_int;
type Create = unsafe extern "C" fn(*mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> Status;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status;
type GetSize = unsafe extern "C" fn(Program, *mut usize) -> Status;
type GetText = unsafe extern "C" fn(Program, *mut c_char) -> Status;
type Destroy = unsafe extern "C" fn(*mut Program) -> Status;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status;
type ErrorString = unsafe extern "C" fn(Status) -> *const c_char;

/// A loaded NVRTC.
pub(super) struct Library {
    dl: Dl,
    // NVRTC asks the loader for this one by name; loaded first and held, it is found although its folder is on no path.
    _builtins: Option<Dl>,
}

/// Results of a compilation.
pub(super) struct Built {
    pub(super) ptx: String,
    pub(super) log: String,
}

impl Library {
    /// Loads `libnvrtc.so.12` from `dir`.
    pub(super) fn load(dir: &Path) -> Result<Self> {
        let builtins = std::fs::read_dir(dir)
            .ok()
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .find(|entry| entry.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so"))
            .map(|entry| {
                // SAFETY: NVIDIA's library runs no initialiser with preconditions.
                unsafe { Dl::new(entry.path()) }
            })
            .transpose()?;
        let path = dir.join("libnvrtc.so.12");
        // SAFETY: as above.
        let dl = unsafe { Dl::new(&path) }.with_context(|| format!("loading {}", path.display()))?;
        Ok(Self { dl, _builtins: builtins })
    }

    /// Major and minor version of the toolkit that this NVRTC belongs to.
    pub(super) fn version(&self) -> Result<(i32, i32)> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the signature is nvrtc.h's; both pointers are to live integers.
        let status = unsafe { self.dl.get::<Version>(b"nvrtcVersion\0")?(&mut major, &mut minor) };
        self.ok(status, "nvrtcVersion")?;
        Ok((major, minor))
    }

    /// Compiles `source` to PTX with in-memory `headers`.
    pub(super) fn compile(&self, name: &str, source: &str, headers: &BTreeMap<String, String>, options: &[String]) -> Result<Built> {
        let name = CString::new(name)?;
        let source = CString::new(source)?;
        let header_names = c_strings(headers.keys())?;
        let header_texts = c_strings(headers.values())?;
        let options = c_strings(options)?;
        let name_pointers = pointers(&header_names);
        let text_pointers = pointers(&header_texts);
        let mut program = ptr::null_mut();
        // SAFETY: the signature is nvrtc.h's; every string outlives `program`, which lives in this
        // function, and both arrays have the stated length.
        let status = unsafe {
            self.dl.get::<Create>(b"nvrtcCreateProgram\0")?(
                &mut program,
                source.as_ptr(),
                name.as_ptr(),
                c_int::try_from(headers.len())?,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        };
        self.ok(status, "nvrtcCreateProgram")?;
        let result = self.compile_program(program, &options);
        // SAFETY: `program` was created above and is not used again.
        unsafe { self.dl.get::<Destroy>(b"nvrtcDestroyProgram\0")?(&mut program) };
        result
    }

    fn compile_program(&self, program: Program, options: &[CString]) -> Result<Built> {
        let option_pointers = pointers(options);
        // SAFETY: the signature is nvrtc.h's; the array has the stated length.
        let status = unsafe {
            self.dl.get::<Compile>(b"nvrtcCompileProgram\0")?(program, c_int::try_from(options.len())?, option_pointers.as_ptr())
        };
        let log = self.text(program, b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0")?;
        let log = log.trim().to_owned();
        if status != 0 {
            bail!("{}\n{log}", self.describe(status));
        }
        let ptx = self.text(program, b"nvrtcGetPTXSize\0", b"nvrtcGetPTX\0")?;
        Ok(Built { ptx, log })
    }

    fn text(&self, program: Program, size: &[u8], get: &[u8]) -> Result<String> {
        let mut bytes = 0usize;
        // SAFETY: the signature is nvrtc.h's; `bytes` is live.
        let status = unsafe { self.dl.get::<GetSize>(size)?(program, &mut bytes) };
        self.ok(status, "reading a size")?;
        let mut buffer = vec![0u8; bytes.max(1)];
        // SAFETY: the buffer has the size that NVRTC asked for.
        let status = unsafe { self.dl.get::<GetText>(get)?(program, buffer.as_mut_ptr().cast()) };
        self.ok(status, "reading a text")?;
        let text = CStr::from_bytes_until_nul(&buffer).map_or(&buffer[..], CStr::to_bytes);
        Ok(String::from_utf8(text.to_vec())?)
    }

    fn ok(&self, status: Status, what: &str) -> Result<()> {
        if status != 0 {
            bail!("{what}: {}", self.describe(status));
        }
        Ok(())
    }

    fn describe(&self, status: Status) -> String {
        // SAFETY: the signature is nvrtc.h's; the string is static.
        unsafe {
            self.dl
                .get::<ErrorString>(b"nvrtcGetErrorString\0")
                .map_or_else(|_| format!("NVRTC status {status}"), |get| CStr::from_ptr(get(status)).to_string_lossy().into_owned())
        }
    }
}

fn c_strings<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Result<Vec<CString>> {
    texts.into_iter().map(|text| Ok(CString::new(text.as_ref())?)).collect()
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).collect()
}
