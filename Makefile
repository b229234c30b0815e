# Two commands for a newcomer: `make demo` and `make test`. The rest is for those who work here.
CARGO ?= cargo
SHAKEDOWN := target/release/shakedown
# Tests that this host cannot run add a line each to this file; the last words of their command name them.
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
SKIPPED := $(TARGET)/skipped-tests.txt
TEST := SHAKEDOWN_TEST_ENGINE=required SHAKEDOWN_TEST_SKIPPED="$(SKIPPED)" $(CARGO) test --locked
forget_skipped := mkdir -p "$(TARGET)" && : >"$(SKIPPED)"
tell_skipped := sort -u -t' ' -k1,1 "$(SKIPPED)" | sed 's/^/skipped: /' && echo "skipped tests: $$(cut -d' ' -f1 "$(SKIPPED)" | sort -u | wc -l)"

.PHONY: help build demo test soak lint bench bench-statistics
help:
	@echo 'make demo   build, make sure an engine is there, run a first experiment, show where the CSV and the charts are'
	@echo 'make test   everything, engine tests included'
	@echo 'make soak   the long tests: hundreds of killed runs, 100,000 damaged outputs, eighty identical containers; takes a quarter of an hour'
	@echo 'make lint   format, clippy, documentation'
	@echo 'make bench  every performance bar beside its limit, and what peers take for the same work'
	@echo 'make bench-statistics  error rates of the analysis over seven kinds of noise, simulated'

build:
	$(CARGO) build --release --locked

demo: build
	./scripts/machine engine
	$(SHAKEDOWN) run experiments/cpus.yaml --quick --fresh
	@echo
	@echo 'demo: the numbers are in reports/cpus/trials.csv and summary.csv, the charts in reports/cpus/*.png, the report in reports/cpus/index.html and README.md'

test: lint
	./scripts/machine engine sysbench nginx mariadbd ab wrk fio mkfs.xfs mkfs.btrfs fuse-overlayfs ip iptables busybox tini
	./scripts/machine chromium
	@$(forget_skipped)
	$(TEST)
	$(TEST) --test main -- --ignored --test-threads=1 alone
	$(CARGO) run --locked --quiet -- clean
	@$(tell_skipped)

soak:
	./scripts/machine engine ip iptables busybox tini
	@$(forget_skipped)
	$(TEST) --test main -- --ignored soak
	$(CARGO) run --locked --quiet -- clean
	@$(tell_skipped)

# Components that a minimal toolchain lacks are passed over, and said so.
lint:
	@if $(CARGO) fmt --version >/dev/null 2>&1; then $(CARGO) fmt --all --check; else echo 'lint: rustfmt is not installed, skipped'; fi
	@if $(CARGO) clippy --version >/dev/null 2>&1; then $(CARGO) clippy --locked --all-targets -- -D warnings; else echo 'lint: clippy is not installed, skipped'; fi
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps --document-private-items

bench: build
	./scripts/machine engine hyperfine
	$(CARGO) bench --locked --bench bars

bench-statistics:
	$(CARGO) bench --locked --bench statistics
