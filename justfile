# Shortcuts. None is needed: each runs one command that the documents name.

# Runs everything that CI runs, or the tests whose name contains FILTER.
test FILTER='':
    scripts/test {{FILTER}}

# Formatting and lints.
lint:
    cargo fmt --all -- --check
    cargo clippy --workspace --all-targets -- -D warnings

# Formats all code.
fmt:
    cargo fmt --all

# What CI runs, as CI runs it.
ci:
    CI=true .ci/run

# Runs every bench briefly, to see that it still works.
bench-smoke:
    scripts/bench-smoke

# Measures what recording costs under every preset and compares with bench/overhead.json.
profile-overhead *ARGS:
    cargo build --release --package microscope-adapter --bin microscope
    cargo bench --package microscope-bench --bench overhead -- {{ARGS}}

# Fuzzes a target, or all of them, for SECONDS each.
fuzz TARGET='all' SECONDS='600':
    scripts/fuzz {{TARGET}} {{SECONDS}}

# Rebuilds the BPF objects from bpf/*.c.
bpf:
    scripts/build-bpf

# Records the raw logs of tests/goldens anew on this kernel and rewrites what they replay to.
refresh-goldens:
    scripts/refresh-goldens
