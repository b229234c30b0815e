# Two commands for a newcomer: `make demo` and `make test`. The rest is for those who work here.
CARGO ?= cargo
SHAKEDOWN := target/release/shakedown

.PHONY: help build demo test lint bench
help:
	@echo 'make demo   build, make sure an engine is there, run a first experiment, show where the CSV and the charts are'
	@echo 'make test   everything, engine tests included'
	@echo 'make lint   format, clippy, documentation'
	@echo 'make bench  every performance bar beside its limit, and what peers take for the same work'

build:
	$(CARGO) build --release --locked

demo: build
	./scripts/machine engine
	$(SHAKEDOWN) run experiments/cpus.yaml --quick --fresh
	@echo
	@echo 'demo: the numbers are in reports/cpus/trials.csv and summary.csv, the charts in reports/cpus/*.png, the report in reports/cpus/README.md'

test: lint
	./scripts/machine engine sysbench nginx mariadbd ab wrk fio mkfs.xfs mkfs.btrfs fuse-overlayfs ip iptables busybox tini
	SHAKEDOWN_TEST_ENGINE=required $(CARGO) test --locked
	$(CARGO) run --locked --quiet -- clean

# Components that a minimal toolchain lacks are passed over, and said so.
lint:
	@if $(CARGO) fmt --version >/dev/null 2>&1; then $(CARGO) fmt --all --check; else echo 'lint: rustfmt is not installed, skipped'; fi
	@if $(CARGO) clippy --version >/dev/null 2>&1; then $(CARGO) clippy --locked --all-targets -- -D warnings; else echo 'lint: clippy is not installed, skipped'; fi
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps --document-private-items

bench: build
	./scripts/machine engine hyperfine
	$(CARGO) bench --locked --bench bars
