#!/bin/sh
# TCP between two NICs on one wire, by program.
#
# usage: scripts/nic-tcp.sh PROGRAM... [-- IPERF3 FLAGS]
#
# Each round plays every program once; five rounds of three seconds, or ROUNDS and SECONDS_EACH.
# It prints Gbit/s, the median last, and of each program how many times the first it is.
#
#   git worktree add /tmp/old REVISION && (cd /tmp/old && go build -o /tmp/softswitch-old ./cmd/softswitch)
#   sudo scripts/nic-tcp.sh /tmp/softswitch-old bin/softswitch
#
# Needs root and iperf3. It makes two network namespaces of its own, and removes them.
set -eu
. "$(dirname "$0")/common.sh"
case ${1--} in -*) usage ;; esac

rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-3}
a=nictcp$$a b=nictcp$$b dir=$(mktemp -d) pids=
flags= programs=
for arg; do
	case $arg in
	--) flags=yes ;;
	*) if [ "$flags" ]; then flags="$flags $arg"; else programs="$programs $(realpath "$arg")"; fi ;;
	esac
done
flags=${flags#yes}

clear_up() {
	for p in $pids; do kill "$p" 2>/dev/null || true; done
	for p in $pids; do wait "$p" 2>/dev/null || true; done
	pids=
	ip netns del $a 2>/dev/null || true
	ip netns del $b 2>/dev/null || true
}
trap 'clear_up; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

# turn PROGRAM prints Gbit/s received.
turn() {
	ip netns add $a
	ip netns add $b
	ip link add eth0 index 10000 netns $a type veth peer name eth0 netns $b
	for n in $a $b; do
		ip netns exec $n ethtool -K eth0 gro off gso off tso off tx off >/dev/null
		ip -n $n link set eth0 up
	done
	ip netns exec $a "$1" nic --wire eth0 --address 10.77.0.1/24 >"$dir/a.log" 2>&1 & pids="$pids $!"
	ip netns exec $b "$1" nic --wire eth0 --address 10.77.0.2/24 >"$dir/b.log" 2>&1 & pids="$pids $!"
	tries=0
	until ip netns exec $a ping -q -c 1 -W 1 10.77.0.2 >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { cat "$dir/a.log" "$dir/b.log" >&2; return 1; }
	done
	ip netns exec $b iperf3 -s -1 >"$dir/server.log" 2>&1 & pids="$pids $!"
	until ip netns exec $b ss -Hltn sport = :5201 | grep -q .; do :; done
	# shellcheck disable=SC2086
	ip netns exec $a iperf3 -c 10.77.0.2 --dscp 26 -t "$seconds" -f g $flags | awk '/receiver/ {r = $(NF-2)} END {print r}'
}

for round in $(seq "$rounds"); do
	line=
	for p in $programs; do
		turn "$p" >"$dir/rate"
		clear_up
		line="$line $(cat "$dir/rate")"
	done
	echo "round $round:$line Gbit/s"
	echo "$line" >>"$dir/rounds"
done
awk '
	function median(x, n,   i, j, t) {
		for (i = 2; i <= n; i++) for (j = i; j > 1 && x[j] < x[j-1]; j--) { t = x[j]; x[j] = x[j-1]; x[j-1] = t }
		return n % 2 ? x[(n+1)/2] : (x[n/2] + x[n/2+1]) / 2
	}
	{ for (i = 1; i <= NF; i++) { rate[i, NR] = $i; ratio[i, NR] = $i / $1 } fields = NF }
	END {
		for (i = 1; i <= fields; i++) {
			for (k = 1; k <= NR; k++) { x[k] = rate[i, k]; y[k] = ratio[i, k] }
			printf "program %d: %.2f Gbit/s, %.2f times the first (medians of %d rounds)\n", i, median(x, NR), median(y, NR), NR
		}
	}' "$dir/rounds"
