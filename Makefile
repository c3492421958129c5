# The few commands of daily work. `make` alone builds. Times are on two processors that do nothing
# else; CONTRIBUTING.md has those of all targets.

BIN := bin/softswitch

# Where go.dev's archive puts Go: sudo leaves that out of PATH.
export PATH := $(PATH):/usr/local/go/bin

# Without C the program is static, as a container needs it, and what make builds, tests and puts into
# an image is compiled once. The race detector needs C.
export CGO_ENABLED := 0

# No path of this machine is in what is compiled: a clone in another place compiles nothing anew.
export GOFLAGS += -trimpath

.PHONY: build test test-pure test-labs test-pages test-links test-wires docs-check long race demo busy bench big soak congested harms restarts guides figures show-acts learn cause prove worlds comparison comparison-live clocks congestion docs man mutants image install uninstall lint fuzz fuzz-configs fuzz-frames clean

build:
	@scripts/need.sh go=golang-go
	go build -o $(BIN) ./cmd/softswitch

# Packages whose tests make labs, and those whose tests run links, one after the other in each group,
# for they must not starve each other of a processor; cmd has its labs up side by side. They wait most
# of the time, so make test plays the groups beside each other, and all others beside them on half of
# the processors. The limits are for what hangs: cmd takes three minutes, and twenty where a busy
# machine compiles all of it first.
LABS := ./cmd/softswitch/... ./netns-lab/...
LINKS := ./internal/timer ./link/... ./live/... ./cmd/bench
# Tests in cmd that need no link and no process that goes on.
NOLINK := ^(TestScripts|TestGuides|TestControlC|TestDocsCurrent)$$
# Packages whose tests start a browser.
PAGES := ./play ./view/ui
# Packages with goroutines that serve many at once, or run links: make test plays them under the race
# detector alone, but for two tests that take too long there; make long plays them as they are.
# make race takes every package.
RACE := ./event/follow ./internal/control ./internal/progress ./internal/timer ./link ./link/merge ./link/offload ./link/pcapng ./live ./live/hosting ./live/node ./live/record
NORACE := ^(TestLinkGoneAndBack|TestOffWhileTheStackMoves)$$
CASES := 1000
# What tests use where it is there, and the packages that have it.
TOOLS := curl=curl ethtool=ethtool ping=iputils-ping tcpdump=tcpdump tshark=tshark scapy=python3-scapy ovs-vswitchd=openvswitch-switch \
	chromium=chromium iperf3=iperf3 qemu-system-x86_64=qemu-system-x86 promtool=prometheus slurmctld=slurm-wlm munged=munge parallel=parallel busybox=busybox-static \
	modprobe=kmod lldpcli=lldpd linux.uml=user-mode-linux

# Symbols for debuggers are left out of test binaries: linking takes half the time without them.
GOTEST = go test -vet=off -ldflags=-s -exec $(CURDIR)/internal/testkit/cpu-time.sh
export CPU_LOG := $(CURDIR)/build/cpu-time.tsv

# Everything that can be checked in minutes, about ten. Tests that need root or a tool skip with their reason where
# it is missing; run as root to miss none. At its end internal/testkit/cpu-time.sh names the packages
# that take too much processor time.
test: build
	@scripts/need.sh ip=iproute2 gcc=gcc
	-@scripts/need.sh $(TOOLS) || echo "tests that need them skip"
	@mkdir -p build && rm -f $(CPU_LOG)
	$(MAKE) --no-print-directory -j 4 test-pure test-labs test-pages test-links
	internal/testkit/cpu-time.sh --check $(CPU_LOG)

# The parts of make test, after build. GOGC: simulations live shortly, and a collector that waits for
# four times as much to collect saves a seventh of their time.
HALF := $(shell echo $$((($$(nproc) + 1) / 2)))
test-pure:
	GOGC=400 GOMAXPROCS=$(HALF) $(GOTEST) -timeout 15m $$(go list ./... | grep -vxF "$$(go list $(LABS) $(LINKS) $(PAGES) $(RACE))")
	GOMAXPROCS=$(HALF) $(GOTEST) -timeout 15m -run '$(NOLINK)' ./cmd/softswitch
	cd examples/detector && go vet ./... && go test ./...
	GOGC=400 GOMAXPROCS=$(HALF) $(BIN) sim fuzz --n $(CASES) --seed 1 --detector itsy

test-pages:
	GOMAXPROCS=$(HALF) $(GOTEST) -timeout 20m -p 1 $(PAGES)

test-labs:
	$(GOTEST) -timeout 40m -p 1 -skip '$(NOLINK)' $(LABS)

test-links: test-wires lint

test-wires:
	$(GOTEST) -timeout 20m -p 1 $$(go list $(LINKS) | grep -vxF "$$(go list $(RACE))")
	$(GOTEST) -timeout 20m -p 1 -run '$(NORACE)' ./link/offload ./live
	CGO_ENABLED=1 $(GOTEST) -timeout 20m -p 1 -race -short $(RACE)
	CGO_ENABLED=1 $(GOTEST) -timeout 20m -race -short ./live -polled

# What documents and drawings show against what the programs print.
docs-check: build
	DOCS=1 go test -count=1 -vet=off ./cmd/figures ./host/congestion
	DOCS=1 go test -count=1 -vet=off -run '^(TestGuides|TestGuidesLive|TestDocsCurrent)$$' ./cmd/softswitch

# What make test plays a part of, as a whole: all cases, seeds, sizes, looks, documents and blocks of
# guides: about 15 min. As root, to miss none.
long: build
	LONG=1 go test -count=1 -vet=off -timeout 1h -p 1 $$(grep -rlE 'testkit\.(Sized|Long|LongOnly|Docs)\(' --include='*_test.go' . | xargs -n 1 dirname | sort -u)
	go test -count=1 -vet=off -timeout 20m -p 1 $(RACE)
	$(BIN) sim fuzz --n 10000 --seed 1 --detector itsy

# The race detector on every package: about 10 min.
race:
	CGO_ENABLED=1 go test -timeout 15m -p 1 -race -short ./...

# A PFC deadlock on a k=4 fat-tree of network namespaces, detected. Needs root.
# make demo NAME=x calls the lab x, beside others.
demo: build
	@scripts/need.sh ip=iproute2
	$(if $(filter-out 0,$(shell id -u)),sudo) $(BIN) demo $(if $(NAME),--name $(NAME))

# fattree-on-loop RUNS times with a compiler beside it: how many runs are valid. Needs root, and
# about 10 min for a hundred.
RUNS := 100
busy: build
	@while :; do GOMAXPROCS=1 go build -a -p 1 -o /dev/null ./cmd/softswitch; done & beside=$$!; \
	trap 'kill $$beside' EXIT; trap exit INT TERM; \
	$(BIN) lab run scenarios/fattree-on-loop.yaml --repeat $(RUNS) --name busy

# Speed beside Open vSwitch and others, the floor of a lap, and micro-benchmarks.
bench: build
	go run ./cmd/bench forward --softswitch $(BIN)
	go run ./cmd/bench floor
	go test -run '^$$' -bench . -benchmem ./pfcframe ./itsyhdr ./buffer ./dataplane ./internal/timer ./link/auth

# A k=8 fabric in which ten switches die while traffic flows, with a process for each node
# and with one for all. Needs root.
big: build
	go test -count=1 -v ./cmd/softswitch -run TestKillsInAFabric -big

# A lab with random failures, kills, storms and captures, round after round for TIME: what it takes of
# the machine stays the same, and no frame is missing. Needs root and a machine that does nothing else.
TIME := 2h
soak: build
	go test -count=1 -v -timeout 24h ./cmd/softswitch -run 'TestSoak$$' -soak $(TIME)

# A lab that is congested for CONGESTED: every link on the way pauses all the time, and no lossless
# frame is lost. Needs root and a machine that does nothing else.
CONGESTED := 15m
congested: build
	go test -count=1 -v -timeout 24h ./cmd/softswitch -run 'TestLongCongestion$$' -congestion $(CONGESTED)

# Runs to which something happens at a random moment, HARMS of them: nothing is left behind. Needs
# root, and about 15 min for two hundred.
HARMS := 200
harms: build
	go test -count=1 -v -timeout 24h ./cmd/softswitch -run 'TestHarmAtAnyMoment$$' -harms $(HARMS)

# A lab under lossless load whose nodes are killed and started again, RESTARTS times: connections go on,
# neighbours are let go, no frame is lost. Needs root, and about 4 min for two hundred.
RESTARTS := 200
restarts: build
	go test -count=1 -v -timeout 24h ./cmd/softswitch -run 'TestRestartsUnderLoad$$' -restarts $(RESTARTS)

# What README.md and the pages of docs show of commands, from those commands: only what
# no longer fits is replaced. Without root, what is simulated only.
guides:
	go test -count=1 ./cmd/softswitch -run TestGuides -rewrite

# The figures and the table of the boundary in docs/figures, from simulations: the
# same files, byte for byte, wherever they are made.
figures: build
	go run ./cmd/figures draw --out docs/figures
	$(BIN) cause n1-two-triggers --svg > docs/figures/n1-chronology.svg
	go test -count=1 -vet=off ./host/congestion -run TestFairnessTable -rewrite

# The page docs/show-acts.md and its pictures, from the show of simulated runs. Needs Chromium
# and ImageMagick.
show-acts:
	rm -f build/screenshots/film-*.png
	go test -count=1 ./play -run TestShow$$ -rewrite
	for n in 1 2 3 4 5 6 7 8 9; do convert build/screenshots/act-$$n.png +dither -colors 200 -strip docs/show-acts/act-$$n.png || exit 1; done
	mkdir -p docs/failures
	for n in links loop storm slow; do convert build/screenshots/failure-$$n.png +dither -colors 200 -strip docs/failures/$$n.png || exit 1; done
	convert -delay 25 -loop 0 build/screenshots/film-*.png -delay 200 $$(ls build/screenshots/film-*.png | tail -1) -resize 800x -colors 24 -layers OptimizePlus docs/cured.gif

# The course of docs/learn.md, from simulations, with the replays of its steps.
learn:
	go test -count=1 ./play/learn -run TestPage -rewrite

# How often the named causes of deadlocks are right, planted and random ones, the files
# docs/figures/causes-*.txt: the same byte for byte, wherever they are made: about 25 min. A false
# alarm in a control, which ends with 1, is in them.
CAUSES := 1144
cause: build
	$(BIN) sim fuzz --mode cause --n $(CAUSES) --seed 3301 --detector itsy,itsypaper --shrink 0 --out build/causes > docs/figures/causes-planted.txt || test $$? = 1
	$(BIN) sim fuzz --mode random-cause --n 2200 --seed 3302 --detector itsy,itsypaper > docs/figures/causes-random.txt

# Every interleaving of small fabrics that run the exact detector, the table
# docs/figures/proof.md, and all faults that are put into it on purpose: about 10 min, and
# 9 GB.
prove:
	go test -count=1 -v -timeout 2h -parallel 2 -run 'TestProof|TestMutants' ./detect/itsy -prove

# What the oracle says of logs by several clocks against what it says by one, the file
# docs/figures/clocks.txt: the same byte for byte, wherever it is made: about
# 5 min.
clocks: build
	$(BIN) sim fuzz --mode clocks --n 10000 --seed 2026 > docs/figures/clocks.txt

# Every scenario simulated and on namespaces, the table of docs/lab.md. Needs root,
# about 15 min, and a machine that does nothing else.
worlds: build
	$(BIN) lab worlds scenarios/*.yaml > docs/figures/worlds.md

# The scenarios that deadlock, with RDMA traffic and congestion control:
# docs/congestion-control.md. About 8 min; the figure of how connections
# come to equal shares is one of make figures.
congestion: build
	$(BIN) compare traffic --runs 30 --markdown docs/congestion-control.md > /dev/null

# Every scenario against every system: docs/comparison.md, and build/comparison.html
# with all figures and plots. About 16 min.
comparison: build
	$(BIN) compare --runs 30 --markdown docs/comparison.md --html build/comparison.html

# The reference of all files and their schemas, from the source: docs/scenarios.md,
# docs/configuration.md, docs/schema.
docs: build
	$(BIN) gen docs

# What cases of softswitch conform make of planted defects, conform/mutant/matrix.tsv: about 10 min.
mutants:
	MATRIX=write go test -count=1 -vet=off -timeout 2h -run '^TestMatrix$$' -v ./conform/mutant

# Manual pages in build/man.
man: build
	$(BIN) gen man --out build/man

# A container image, softswitch:latest. Needs Docker and a static busybox.
IMAGE ?= softswitch
image:
	scripts/image.sh $(IMAGE)

# The program, its manual pages, completion for three shells and the dissector below
# PREFIX; LUADIR=... puts the dissector where a Wireshark looks for plugins.
PREFIX ?= /usr/local
DATA = $(DESTDIR)$(PREFIX)/share
LUADIR ?= $(PREFIX)/share/softswitch
install: build man
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/softswitch
	install -d $(DATA)/man/man1 $(DATA)/man/man5
	install -m 644 build/man/*.1 $(DATA)/man/man1
	install -m 644 build/man/*.5 $(DATA)/man/man5
	$(BIN) completion bash | install -D -m 644 /dev/stdin $(DATA)/bash-completion/completions/softswitch
	$(BIN) completion zsh | install -D -m 644 /dev/stdin $(DATA)/zsh/site-functions/_softswitch
	$(BIN) completion fish | install -D -m 644 /dev/stdin $(DATA)/fish/vendor_completions.d/softswitch.fish
	install -D -m 644 view/wireshark/itsy.lua $(DESTDIR)$(LUADIR)/itsy.lua

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/softswitch $(DATA)/man/man1/softswitch.1 $(DATA)/man/man1/softswitch-*.1 $(DATA)/man/man5/softswitch-*.5
	rm -f $(DATA)/bash-completion/completions/softswitch $(DATA)/zsh/site-functions/_softswitch
	rm -f $(DATA)/fish/vendor_completions.d/softswitch.fish $(DESTDIR)$(LUADIR)/itsy.lua

# The fat-tree part on namespaces. Needs root, about 5 min, and a machine that does
# nothing else.
comparison-live: build
	$(BIN) compare --world live --markdown docs/comparison-live.md --html build/comparison-live.html

lint:
	@unformatted=$$(gofmt -l .; go tool gofumpt -l .); test -z "$$unformatted" || { echo "not formatted; run gofmt -w and go tool gofumpt -w on:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...

# Each native fuzz target for FUZZTIME.
FUZZTIME ?= 20s
fuzz:
	@internal/testkit/fuzz.sh $(FUZZTIME)

# Random valid configurations of a switch, with random frames and failures, for FUZZTIME.
fuzz-configs:
	@mkdir -p build
	@go test -count=1 -v -timeout 24h ./dataplane -run 'TestAnyConfig$$' -configs $(FUZZTIME) > build/fuzz-configs.txt; code=$$?; \
	grep -v '^ *\(===\|---\) ' build/fuzz-configs.txt; exit $$code

# A billion frames, on the processors of the machine.
N ?= 1e9
fuzz-frames: build
	$(BIN) sim frames --n $$(printf %.0f $(N)) --seed 1

clean:
	rm -rf bin build
