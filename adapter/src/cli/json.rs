//! Results for programs: one JSON document, documented in `docs/json.md`.

use serde::Serialize;

/// `value` as a document with its final line break.
pub(super) fn text(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}
