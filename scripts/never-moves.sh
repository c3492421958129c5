#!/bin/sh
# Hold what a verdict says against what moves, by the program alone.
#
# usage: scripts/never-moves.sh [--seed N | --live] FILE...
#
# FILE is a scenario whose sources stop long before its end, so that what is in flight at the end
# never moves again: some frames are exactly if the verdict says that there is a deadlock then. It
# prints a line for each file, and its exit status is 1 if a verdict is wrong, 2 if a file cannot be
# played. With --live each is played on a lab of its own, which takes root. Files in which a switch is dead, a host pauses for ever, or frames are dropped on purpose (limits,
# no_flood) prove nothing: the verdict counts those frames as in flight too.
set -eu
. "$(dirname "$0")/common.sh"

case ${1-} in -h | --help) usage ;; esac
seed=1 live=
case ${1-} in
--seed)
	[ $# -gt 2 ] || usage
	seed=$2
	shift 2
	;;
--live)
	live=1
	shift
	;;
esac
[ $# -gt 0 ] || usage

play() {
	if [ "$live" ]; then
		"$softswitch" lab run "$1" --json --name nm$$
	else
		"$softswitch" sim run "$1" --json --seed "$seed"
	fi
}

verdict=$(mktemp)
trap 'rm -f "$verdict"' EXIT
wrong=0
for file; do
	code=0
	play "$file" >"$verdict" || code=$?
	[ $code -le 1 ] || exit 2
	awk -v file="$file" '
		$1 == "\"in_flight\":" { left += $2 }
		/^  "deadlock": true/ { deadlock = 1 }
		/^  "invalid": "[^"]/ { invalid = 1 }
		/^  "recovered": true/ { recovered = 1 }
		/^  "false_positives":/ { false_alarms = $2 + 0 }
		/^  "false_negatives":/ { missed = $2 + 0 }
		END {
			says = deadlock && !recovered
			printf "%s: %s: %d frames never move; deadlock at the end: %s; %d false alarms, %d missed\n",
				file, invalid ? "not valid" : (left > 0) == says ? "right" : "WRONG", left, says ? "yes" : "no", false_alarms, missed
			exit invalid || (left > 0) != says
		}' "$verdict" || wrong=1
done
exit $wrong
