#!/bin/sh
# Set the link between two nodes of a lab down.
#
# usage: scripts/fail-link.sh NODE NODE
#
# For example: scripts/fail-link.sh core0 agg1-0
# LAB=NAME names the lab (default ss).
set -eu
. "$(dirname "$0")/common.sh"
[ $# = 2 ] || usage
$sudo "$softswitch" lab fail --name "$LAB" -- "$1" "$2"
