#!/bin/sh
# Remove a lab: its processes, links and namespaces.
#
# usage: scripts/destroy.sh [--all]
#
# LAB=NAME names the lab (default ss); --all removes every lab of this machine.
set -eu
. "$(dirname "$0")/common.sh"
case $#:${1-} in
0:) set -- "$LAB" ;;
1:--all) ;;
*) usage ;;
esac
$sudo "$softswitch" lab destroy "$@"
