//! Claims about names, chains and lines, over programs that the machine's compilers build in each form.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod fixtures;
mod forms;
mod hostile;
mod known;
mod oracle;
mod pool;
mod separate;
