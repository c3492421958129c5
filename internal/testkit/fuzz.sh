#!/bin/sh
# Plays every native fuzz target of the module.
#
#   internal/testkit/fuzz.sh TIME            each target for TIME, such as 20s
#   internal/testkit/fuzz.sh --judge TARGET  reads what go test -fuzz printed, and fails if it tried too little
#
# Go minimises each input that reaches new code for up to a minute, in which it tries nothing else: of
# twenty seconds as few as 32 inputs were left. -fuzzminimizetime 5x bounds that, and a target that
# tries less than FLOOR inputs a second, 50 unless it is set, fails.
set -eu

usage() {
	echo "usage: internal/testkit/fuzz.sh TIME, or --judge TARGET" >&2
	exit 2
}

# judge FILE TARGET: the last line that counts says how many inputs were tried in how many seconds.
judge() {
	awk -v target="$2" -v floor="${FLOOR:-50}" '
		/^fuzz: elapsed: / { elapsed = $3; execs = $5 }
		END {
			if (elapsed == "") { print target ": it says nothing of what it tried"; exit 1 }
			sub(/,$/, "", elapsed)
			seconds = 0
			while (match(elapsed, /^[0-9.]+[hms]/)) {
				n = substr(elapsed, 1, RLENGTH - 1); u = substr(elapsed, RLENGTH, 1)
				seconds += n * (u == "h" ? 3600 : u == "m" ? 60 : 1)
				elapsed = substr(elapsed, RLENGTH + 1)
			}
			printf "%s: %d inputs in %d s\n", target, execs, seconds
			if (execs < floor * seconds) { printf "%s: less than %d inputs a second: it tries next to nothing\n", target, floor; exit 1 }
		}' "$1"
}

case ${1--h} in
-h | --help) usage ;;
--judge)
	[ $# = 2 ] || usage
	judge - "$2"
	exit
	;;
esac
[ $# = 1 ] || usage
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		if ! go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 5x "$package" >"$log" 2>&1; then
			cat "$log"
			exit 1
		fi
		judge "$log" "${package#*/} $target"
	done
done
