# SPDX-License-Identifier: Apache-2.0

GO        ?= go
PREFIX    ?= /usr/local
KERNEL    ?= 6.1
NIC       ?= e1000e
SCENARIO  ?= bulk-udp
OUT       ?= out/$(SCENARIO)
# For a KERNEL that is a path: its lib/modules/<version>, if it needs modules.
MODULES   ?=
SEED      ?= 1
# More flags of bin/vm, for make vm; make demo says -q and prints all verdicts.
VMFLAGS   ?=
# More flags of bin/matrix, such as -jobs 1, for make matrix.
MATRIXFLAGS ?=
# FUZZTIME=30s makes test-fuzz look for new inputs; empty runs the seeds.
FUZZTIME  ?=
# How many random cases the tests of the rules play, if not as many as the
# target says; go test alone plays fewer.
CASES     ?=
# What make bench watches the memory over; the whole claim is for 1e8.
BENCH_RECORDS ?= 2e7

# The pin: the BPF object in the tree is this compiler's, byte for byte.
CLANG        := clang-14
CLANG_PIN    := Debian clang version 14.0.6
CLANG_FORMAT := clang-format-14

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
# Every run notes here what this machine could not do; .ci/run prints it.
LEFT_OUT := out/left-out.txt

.DEFAULT_GOAL := help
.PHONY: help generate build check check-go check-c check-generate \
	test test-setup test-unit test-long test-fuzz test-cli test-vm test-faults bench cost branches demo vm matrix clean install

help: ## print this
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

build: ## bin/txtrace, static; needs Go and nothing else
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false \
		-ldflags '-s -w -X main.buildVersion=$(VERSION)' -o bin/txtrace ./cmd/txtrace

install: build ## bin/txtrace, its manual page and completions to $(DESTDIR)$(PREFIX)
	install -D -m 0755 bin/txtrace $(DESTDIR)$(PREFIX)/bin/txtrace
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d)
	bin/txtrace man >$(DESTDIR)$(PREFIX)/share/man/man1/txtrace.1
	bin/txtrace completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/txtrace
	bin/txtrace completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_txtrace
	bin/txtrace completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/txtrace.fish

generate: ## the BPF object, its Go, the licences; needs the pinned clang
	BPF2GO_CC=$(CLANG) $(GO) generate ./...

check: check-go check-c check-generate ## format, vet, staticcheck, arrows, generated files

check-go:
	@bad=$$(gofmt -l bpf cmd internal testenv); \
	if [ -n "$$bad" ]; then echo "gofmt would change: $$bad"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test -count=1 -run Arrows ./internal

check-c:
	@mkdir -p out
	@if command -v $(CLANG_FORMAT) >/dev/null; then \
		find bpf testenv/faultnic -name '*.[ch]' -exec $(CLANG_FORMAT) --dry-run -Werror {} +; \
	else \
		echo "clang-format of bpf/ and testenv/faultnic/: skipped, the pin $(CLANG_FORMAT) is not here" | tee -a $(LEFT_OUT); \
	fi

# Compared are the files as they were and as go generate leaves them, so it
# works in a tree with other changes, and in one without git.
SUMS = find bpf cmd internal -type f -exec sha256sum {} + | sort -k 2

check-generate:
	@mkdir -p out
	@$(SUMS) >out/generate.before
	@if $(CLANG) --version 2>/dev/null | grep -q '$(CLANG_PIN)'; then \
		BPF2GO_CC=$(CLANG) $(GO) generate ./...; \
	else \
		echo "go generate of the BPF object: skipped, the pin ($(CLANG_PIN)) is not here" | tee -a $(LEFT_OUT); \
		$(GO) generate $$($(GO) list ./... | grep -v /internal/probes); \
	fi
	@$(SUMS) >out/generate.after
	@diff out/generate.before out/generate.after || { echo "go generate changed these files"; exit 1; }

test: test-setup check test-unit test-fuzz test-cli test-vm ## everything, guests too; installs what is missing when root

test-setup:
	@mkdir -p out && rm -f $(LEFT_OUT)
	@$(GO) run ./testenv/setup test
	@$(GO) run ./testenv/setup oracle || \
		echo "BQL model against the kernel's own code: in part skipped, no source of some kernel" | tee -a $(LEFT_OUT)

test-unit: ## packages, without root and without a guest
	TXTRACE_CASES=$(or $(CASES),100000) $(GO) test $$($(GO) list ./... | grep -v /cmd/txtrace)

test-long: ## random cases of the rules, CASES=3000000 of each kind
	TXTRACE_CASES=$(or $(CASES),3000000) $(GO) test -count=1 -timeout 6h -v \
		-run 'Interleavings|Loss|Blind|Clocks' ./internal/...

test-fuzz: ## fuzz targets: their seeds, or FUZZTIME=30s each
	@for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' cmd internal | xargs -r -n 1 dirname | sort -u); do \
		if [ -z "$(FUZZTIME)" ]; then $(GO) test -run '^Fuzz' ./$$pkg || exit 1; continue; fi; \
		for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$pkg/*_test.go | cut -d ' ' -f 2); do \
			$(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./$$pkg || exit 1; \
		done; \
	done

test-cli: ## the command line, without root and without a guest
	$(GO) test ./cmd/txtrace/...

test-vm: build ## guests: real kernels in QEMU
	@mkdir -p out
	TXTRACE_VM=1 bash -o pipefail -c '$(GO) test -count=1 -timeout 120m -v ./testenv/... | tee out/test-vm.log'; \
	code=$$?; grep -B 1 -e '--- SKIP' out/test-vm.log | grep -v -e '^--$$' -e '^=== ' >>$(LEFT_OUT); exit $$code

test-faults: build ## every fault of testenv/faultnic on two kernels, half an hour
	TXTRACE_VM=1 TXTRACE_FAULTS=all $(GO) test -count=1 -timeout 90m -v -run Faultnic ./testenv/accept

bench: ## decode, rebuild, rules: records per second, memory; BENCH_RECORDS=2e7
	@$(GO) run ./testenv/cost/bench -records $(BENCH_RECORDS)

cost: OUT = out/cost
cost: build ## what txtrace, trace-cmd and perf add to each packet, in one guest
	@$(GO) run ./testenv/setup test
	@$(GO) run ./testenv/cost -kernel $(KERNEL) $(if $(MODULES),-modules $(MODULES) )-nic $(NIC) -out $(OUT)

demo: ## boot Debian's kernel, load a NIC, show what txtrace says
	@$(GO) run ./testenv/setup demo
	@$(MAKE) --no-print-directory vm KERNEL=6.1 NIC=e1000e SCENARIO=bulk-udp OUT=out/demo VMFLAGS=-q; code=$$?; \
	echo; cat out/demo/verify.txt; \
	echo; echo "The report and the capture it was made from are in out/demo."; exit $$code

vm: build ## one guest: KERNEL=6.1 NIC=e1000e SCENARIO=bulk-udp OUT=out/bulk-udp
	$(GO) build -o bin/vm ./testenv/vm
	bin/vm $(if $(VMFLAGS),$(VMFLAGS) )-kernel $(KERNEL) $(if $(MODULES),-modules $(MODULES) )\
		-nic $(NIC) -scenario $(SCENARIO) -seed $(SEED) -out $(OUT)

MATRIX := out/matrix
matrix: build ## every kernel with every NIC: KERNELS= NICS= SCENARIOS= SECONDS= RESUME=1
	@$(GO) run ./testenv/setup demo
	$(GO) build -o bin/vm ./testenv/vm
	$(GO) build -o bin/matrix ./testenv/matrix
	bin/matrix -out $(MATRIX) $(if $(KERNELS),-kernels '$(KERNELS)' )$(if $(MODULES),-modules $(MODULES) )\
		$(if $(NICS),-nics '$(NICS)' )$(if $(SCENARIOS),-scenarios '$(SCENARIOS)' )\
		$(if $(SECONDS),-seconds $(SECONDS) )$(if $(RESUME),-resume $(RESUME) )$(MATRIXFLAGS)

# Three guests, of which only the last lets BQL see slack: testenv/branches says why.
BRANCHES := out/branches
branches: build ## how often real kernels took each branch of the model, in three guests
	@$(GO) run ./testenv/setup test
	$(GO) build -o bin/vm ./testenv/vm
	bin/vm -kernel 6.1 -nic igb -scenario bounds,tcp-gso,tcp-small -out $(BRANCHES)/igb
	bin/vm -kernel 6.12.43 -nic e1000e -scenario bulk-udp -out $(BRANCHES)/e1000e
	bin/vm -kernel 7.2 -nic virtio -scenario bounds,bulk-udp -out $(BRANCHES)/virtio \
		-qemu-arg -global -qemu-arg virtio-net-pci.tx=timer \
		-qemu-arg -global -qemu-arg virtio-net-pci.x-txtimer=1000000 \
		-qemu-arg -global -qemu-arg virtio-net-pci.x-txburst=16
	$(GO) run ./testenv/branches $(BRANCHES)/igb/*/capture.txtrace $(BRANCHES)/e1000e/capture.txtrace $(BRANCHES)/virtio/*/capture.txtrace

clean: ## remove what was built and recorded
	rm -rf bin out
