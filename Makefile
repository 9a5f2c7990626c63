# The front door. `make help` lists what is here; meson and ninja do the work.

PREFIX ?= /usr/local
LIBDIR ?= lib
FUZZ_SECONDS ?= 10
MINUTES ?= 10
# Options for meson when build/ is first set up, and for ninja always, such as NINJAFLAGS=-j2.
MESONFLAGS ?=
NINJAFLAGS ?=
export NINJAFLAGS

CLANG_FORMAT ?= clang-format
SOURCES = find include src test bench -name '*.[ch]'
SETUP = -Dwerror=true $(MESONFLAGS)
# One build for the sanitizers and the fuzz targets, with clang, which has both. Reports name lines, for which line tables are
# enough; of the linkers that are there the quickest is taken, as there are hundreds of programs to link.
SANITIZE = --buildtype=debugoptimized -Dc_args=-gline-tables-only -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
LINKER = $(firstword $(foreach linker,mold lld,$(if $(shell command -v $(linker) 2>/dev/null),$(linker))))
CLANG = CC=clang $(if $(LINKER),CC_LD=$(LINKER))

.PHONY: all demo demo-cluster replay check bench install sanitize fuzz attack format check-format clean help

all: build/build.ninja
	@ninja -C build $(NINJAFLAGS) product

build/build.ninja:
	@sh scripts/deps.sh build
	@sh scripts/setup.sh build $(SETUP)
	@sed -n 's/^Message: \(Flux modules\)/berth: \1/p' build/meson-logs/meson-log.txt

# Real jobs on this machine, by a server of its own.
demo: build/build.ninja
	@ninja -C build -n product | grep -q 'no work to do' || ninja -C build $(NINJAFLAGS) product
	@sh scripts/demo.sh build build/demo.svg

# A private Slurm on this machine, and jobs on nodes that it lends.
demo-cluster: build/build.ninja
	@sh scripts/deps.sh cluster
	@ninja -C build -n product | grep -q 'no work to do' || ninja -C build $(NINJAFLAGS) product
	@sh scripts/demo_cluster.sh build build/demo-cluster.svg

# A workload that tells the policies apart in a picture; its table fits a terminal of 80 x 24.
REPLAY = --model lublin --jobs-count 800 --procs 128 --seed 23 --policy fcfs,easy,hybrid,conservative

replay: build/build.ninja
	@ninja -C build -n product | grep -q 'no work to do' || ninja -C build $(NINJAFLAGS) product
	@build/berth sim $(REPLAY) --plot build/replay.svg
	@echo
	@echo 'The picture: build/replay.svg, for a web browser. The command: make -n replay'

check:
	@sh scripts/deps.sh check
	@sh scripts/check.sh build $(SETUP)

# In the order of their names; each prints its own rows.
bench: build/build.ninja
	@set -e; for source in $(sort $(wildcard bench/bench_*.c)); do \
	    bench=$${source%.c}; \
	    ninja -C build $(NINJAFLAGS) $$bench >build/bench.log || { cat build/bench.log; exit 1; }; \
	    build/$$bench; \
	    echo; \
	done
	@ninja -C build $(NINJAFLAGS) product >build/bench.log || { cat build/bench.log; exit 1; }
	@sh bench/bench_client.sh build
	@sh bench/bench_berthd.sh build
	@sh bench/bench_server_arrays.sh build

install: build/build.ninja
	@meson setup --reconfigure build --prefix=$(abspath $(PREFIX)) --libdir=$(LIBDIR) \
	    >build/install.log || { cat build/install.log; exit 1; }
	@ninja -C build $(NINJAFLAGS) product
	@meson install -C build --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig || true; fi

sanitize:
	@sh scripts/deps.sh ci
	@$(CLANG) sh scripts/check.sh build-sanitize $(SETUP) $(SANITIZE)

fuzz:
	@sh scripts/deps.sh ci
	@$(CLANG) sh scripts/setup.sh build-sanitize $(SETUP) $(SANITIZE)
	@sh scripts/fuzz.sh build-sanitize $(FUZZ_SECONDS)

# SEED repeats a run, ONLY chooses attacks, BUILD=build-sanitize has them made on that build.
BUILD ?= build
ATTACK = --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

attack:
	@sh scripts/deps.sh check
	@$(if $(findstring sanitize,$(BUILD)),$(CLANG) )sh scripts/setup.sh $(BUILD) $(SETUP) \
	    $(if $(findstring sanitize,$(BUILD)),$(SANITIZE))
	@ninja -C $(BUILD) $(NINJAFLAGS) product >$(BUILD)/attack.log || { cat $(BUILD)/attack.log; exit 1; }
	@python3 -B test/attack/attack.py --build $(BUILD) $(ATTACK)

format:
	@$(SOURCES) -exec $(CLANG_FORMAT) -i {} +

check-format:
	@$(SOURCES) -exec $(CLANG_FORMAT) --dry-run -Werror {} +

clean:
	rm -rf build build-sanitize

help:
	@echo 'make               build build/berth, build/berthd, build/libberth.a, build/libberth.so'
	@echo 'make demo          run jobs of mixed shapes on this machine, in half a minute'
	@echo 'make demo-cluster  the same on nodes that a private Slurm lends, in a minute'
	@echo 'make replay        see four policies schedule the same workload'
	@echo 'make check         run all tests'
	@echo 'make bench         measure'
	@echo 'make install       install under PREFIX=$(PREFIX), staged in DESTDIR if set'
	@echo 'make sanitize      run all tests under the address and undefined-behaviour sanitizers (clang)'
	@echo 'make fuzz          run each fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS) (clang)'
	@echo 'make attack        attack servers of its own for MINUTES=$(MINUTES), and say what was lost'
	@echo 'make format        lay out the sources with clang-format 14; check-format only looks'
	@echo 'make clean         remove what was built'
