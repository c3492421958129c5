#!/bin/sh
# Show or save what a node of a lab receives, on all its ports, until Ctrl-C.
#
# usage: scripts/capture.sh NODE [FILE]
#
# Without FILE it prints the PFC and ITSY frames, each with the port that it was
# seen on. With FILE it saves all frames, those of port P in FILE-P.pcap.
# LAB=NAME names the lab (default ss).
set -eu
. "$(dirname "$0")/common.sh"
case ${1--} in -*) usage ;; esac
[ $# -le 2 ] || usage
inside="$sudo $softswitch lab exec --name $LAB $1"
ports=$($inside sed -n '/lo:/d; s/^ *\(.*\):.*/\1/p' /proc/net/dev)

pipes=$(mktemp -d)
trap 'rm -r "$pipes"' EXIT
pids=
for port in $ports; do
	if [ $# = 2 ]; then
		to=$2-$port.pcap filter=
	else
		to=$pipes/$port filter='ether proto 0x8808 or 0x88b5'
		mkfifo "$to"
		"$softswitch" decode - <"$to" | sed -u "s/^/$port /" &
	fi
	mkfifo "$pipes/$port.said" # whole lines, so that those of two ports do not mix
	sed -u "s/^/$port: /" <"$pipes/$port.said" >&2 &
	$inside tcpdump --immediate-mode -U -i "$port" -w - "$filter" >"$to" 2>"$pipes/$port.said" &
	pids="$pids $!"
done
trap 'kill -INT $pids 2>/dev/null || :' INT TERM
until wait; do :; done
