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
# same tests count up to 1.8 times as much where other processes share the caches. Those that may
# take more than others start labs, links or browsers, which are counted too; study/fuzz has sixteen modes, and
# play has all cases of conform, with several profiles.
limits='
* 10
cmd/softswitch 200
live 70
conform/mutant 20
play 50
study/fuzz 25
view/ui 50
'
# A machine may itself be slow for minutes: all tests took 1,114 s on one that had taken 510, labs three
# times as much. So a fixed count, a table of some MiB and fixed system calls are timed beside the tests of each
# package, which nothing in this repository can make slower. They take 0.18 s when nothing runs. Where they take
# longer, packages may too; where a quarter longer, nothing fails.
yardstick() {
	awk 'BEGIN { for (i = 0; i < 5000000; i++) n += i; for (i = 0; i < 200000; i++) t[i * 7919 % 200003] = i }'
	dd if=/dev/zero of=/dev/null bs=1 count=40000 2>/dev/null
}
quiet=0.18

# spent prints how many seconds of processor time the processes have taken that a shell, whose times are
# in FILE, has waited for: its second line.
spent() { awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); s += 60 * t[1] + t[2] }; printf "%.2f", s }' "$1"; }

case ${1--h} in
-h | --help) usage ;;
--check)
	[ $# = 2 ] || usage
	printf '%s' "$limits" | awk -v file="$2" -v quiet=$quiet '
		NF == 2 { limit[$1] = $2 }
		END {
			while ((getline line < file) > 0) {
				split(line, f, "\t")
				if (f[1] == "yardstick") { yards++; yard += f[2]; continue }
				used[f[1]] += f[2]
				all += f[2]
			}
			slow = yards && yard / yards > quiet ? yard / yards / quiet : 1
			if (all == 0) { print "cpu-time: " file ": no package"; exit 2 }
			for (p in used) {
				most = p in limit ? limit[p] : limit["*"]
				if (used[p] > most)
					printf "cpu-time: the tests of %s took %.1f s of processor time, of %d s that they may: play less of it in make test, and all in make long (internal/testkit)\n", p, used[p], most
				if (used[p] > 2 * most * slow) bad = 1
			}
			if (slow > 1.25) {
				printf "cpu-time: the processor was slow, %.1f times as slow as a quiet one: nothing fails for what it took\n", slow
				bad = 0
			}
			printf "cpu-time: %.0f s of processor time in all tests; by package: %s\n", all, file
			exit bad
		}'
	;;
*)
	code=0
	"$@" || code=$?
	[ -n "${CPU_LOG-}" ] || exit $code
	log=$CPU_LOG
	times >"$log.$$" # in a pipe they would be another shell's
	printf '%s\t%s\n' "${PWD#"$(cd "$(dirname "$0")/../.." && pwd)/"}" "$(spent "$log.$$")" >>"$log"
	(yardstick; times) >"$log.$$"
	printf 'yardstick\t%s\n' "$(spent "$log.$$")" >>"$log"
	rm -f "$log.$$"
	exit $code
	;;
esac
