#!/bin/sh
# How much processor time the tests of each package take, their processes included.
#
#   CPU_LOG=FILE go test -exec "$PWD/internal/testkit/cpu-time.sh" ./...   adds a line for each package to FILE
#   internal/testkit/cpu-time.sh --check FILE                              fails if one took more than it may
set -eu

usage() {
	echo "usage: internal/testkit/cpu-time.sh PROGRAM [ARGUMENT...], or --check FILE" >&2
	exit 2
}

# What a package may take, in seconds of a quiet machine. More is told, and twice as much fails: the
# same tests count up to 1.8 times as much where other processes share the caches. A change makes a
# package or two dear; where more than most_dear are, it is the machine that is slow (all tests took 1,114 s
# on one that had taken 510, and eleven packages too much), and none fails. Those that may
# take more than others start labs, links or browsers, which are counted too; study/fuzz has sixteen modes.
limits='
* 10
cmd/softswitch 200
live 70
play 12
study/fuzz 25
view/ui 50
'
most_dear=5

case ${1--h} in
-h | --help) usage ;;
--check)
	[ $# = 2 ] || usage
	printf '%s' "$limits" | awk -v file="$2" -v most_dear=$most_dear '
		NF == 2 { limit[$1] = $2 }
		END {
			while ((getline line < file) > 0) {
				split(line, f, "\t")
				used[f[1]] += f[2]
				all += f[2]
			}
			if (all == 0) { print "cpu-time: " file ": no package"; exit 2 }
			for (p in used) {
				most = p in limit ? limit[p] : limit["*"]
				if (used[p] <= most) continue
				dear++
				printf "cpu-time: the tests of %s took %.1f s of processor time, of %d s that they may: play less of it in make test, and all in make long (internal/testkit)\n", p, used[p], most
				if (used[p] > 2 * most) bad = 1
			}
			if (bad && dear > most_dear) {
				printf "cpu-time: %d packages took too much at once: the machine is slow or busy, and none fails for it\n", dear
				bad = 0
			}
			printf "cpu-time: %.0f s of processor time in all tests; by package: %s\n", all, file
			exit bad
		}'
	;;
*)
	code=0
	"$@" || code=$?
	# The second line of times is of the processes that have ended and were waited for. In a pipe it
	# would be of another shell.
	[ -n "${CPU_LOG-}" ] || exit $code
	log=$CPU_LOG
	times >"$log.$$"
	awk -v at="${PWD#"$(cd "$(dirname "$0")/../.." && pwd)/"}" '
		NR == 2 {
			for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); s += 60 * t[1] + t[2] }
			printf "%s\t%.2f\n", at, s
		}' "$log.$$" >>"$log"
	rm -f "$log.$$"
	exit $code
	;;
esac
