//! pprof profiles, plain or in gzip: locations become frames, value types measures, labels threads.
//!
//! [`read`] expands and decodes the bytes, [`profile`] checks every index of the messages once, [`frames`]
//! and [`samples`] make rows. [`proto`] has the messages themselves, also for writing.

mod frames;
mod profile;
pub mod proto;
mod samples;

use std::io::Read;

use flate2::read::MultiGzDecoder;
use prost::Message;
use thiserror::Error;

use super::losses::ImportLosses;
use crate::{Builder, Capture, Invalid};
use frames::Frames;
use profile::Profile;
use samples::Samples;

/// The longest profile that is read, expanded. The messages take at most some 40 times that in memory.
pub const EXPANDED_BYTES_MAX: u64 = 256 << 20;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Why bytes are no profile.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PprofError {
    /// The gzip envelope is broken.
    #[error("broken gzip: {0}")]
    Gzip(#[source] std::io::Error),
    /// The profile is too long.
    #[error("more than {max} bytes expanded")]
    TooLarge {
        /// The bytes allowed.
        max: u64,
    },
    /// The bytes are no protobuf of a profile.
    #[error("malformed protobuf: {0}")]
    Protobuf(#[from] prost::DecodeError),
    /// The first string is not empty, or there is none.
    #[error("the first string is not empty")]
    FirstString,
    /// A text that the string table does not have.
    #[error("string {index} of {place} is not among the {strings} strings")]
    NoSuchString {
        /// Who names it.
        place: &'static str,
        /// Its index.
        index: i64,
        /// Strings there are.
        strings: usize,
    },
    /// An id that nothing has.
    #[error("{place} names {what} {id}, which does not exist")]
    NoSuchId {
        /// Who names it.
        place: &'static str,
        /// What kind of thing.
        what: &'static str,
        /// Its id.
        id: u64,
    },
    /// Two things have one id, or one has none.
    #[error("{what} {id} is there twice, or its id is 0")]
    BadId {
        /// What kind of thing.
        what: &'static str,
        /// The id.
        id: u64,
    },
    /// The profile says nothing of what it measures.
    #[error("there are no sample types")]
    NoSampleTypes,
    /// A sample has another number of values than there are types.
    #[error("sample {sample} has {found} values where there are {expected} sample types")]
    ValueCount {
        /// Which sample.
        sample: usize,
        /// Values it should have.
        expected: usize,
        /// Values it has.
        found: usize,
    },
    /// The rows break a rule of captures.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Whether bytes look like a profile: gzip, or messages with the empty first string and a sample type.
#[must_use]
pub fn is_pprof(bytes: &[u8]) -> bool {
    let plain = || {
        proto::Profile::decode(bytes).is_ok_and(|profile| {
            profile.string_table.first().is_some_and(String::is_empty) && !profile.sample_type.is_empty()
        })
    };
    bytes.starts_with(&GZIP_MAGIC) || plain()
}

/// Imports a profile.
pub fn read(bytes: &[u8]) -> Result<Capture, PprofError> {
    let message = if bytes.starts_with(&GZIP_MAGIC) {
        proto::Profile::decode(expand(bytes)?.as_slice())?
    } else {
        check_length(bytes.len() as u64)?;
        proto::Profile::decode(bytes)?
    };
    import(&Profile::check(&message)?)
}

fn expand(bytes: &[u8]) -> Result<Vec<u8>, PprofError> {
    let mut expanded = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes).take(EXPANDED_BYTES_MAX + 1);
    reader.read_to_end(&mut expanded).map_err(PprofError::Gzip)?;
    check_length(expanded.len() as u64)?;
    Ok(expanded)
}

fn check_length(bytes: u64) -> Result<(), PprofError> {
    match bytes <= EXPANDED_BYTES_MAX {
        true => Ok(()),
        false => Err(PprofError::TooLarge { max: EXPANDED_BYTES_MAX }),
    }
}

fn import(profile: &Profile<'_>) -> Result<Capture, PprofError> {
    let (mut builder, mut losses) = (Builder::new(), ImportLosses::default());
    add_settings(profile, &mut builder)?;
    let frames = Frames::import(profile, &mut builder, &mut losses)?;
    Samples::import(profile, &frames, &mut builder, &mut losses)?;
    if !profile.text("drop_frames", profile.message.drop_frames)?.is_empty() {
        losses.count("drop_frames and keep_frames are not applied");
    }
    losses.into_rows(&mut builder);
    Ok(builder.finish()?)
}

fn add_settings(profile: &Profile<'_>, builder: &mut Builder) -> Result<(), PprofError> {
    let message = profile.message;
    builder.set(None, "imported-from", "pprof");
    for (name, value) in [("start-realtime-ns", message.time_nanos), ("duration-ns", message.duration_nanos)]
    {
        if value > 0 {
            builder.set(None, name, &value.to_string());
        }
    }
    let comments = message.comment.iter().map(|comment| profile.text("a comment", *comment));
    let comments: Vec<&str> = comments.collect::<Result<_, _>>()?;
    if !comments.is_empty() {
        builder.set(None, "comment", &comments.join("\n"));
    }
    builder.set(None, "default-measure", profile.default_type()?);
    Ok(())
}
