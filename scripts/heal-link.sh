#!/bin/sh
# Set the link between two nodes of a lab up again.
#
# usage: scripts/heal-link.sh NODE NODE
#
# For example: scripts/heal-link.sh core0 agg1-0
# LAB=NAME names the lab (default ss).
set -eu
. "$(dirname "$0")/common.sh"
[ $# = 2 ] || usage
$sudo "$softswitch" lab heal --name "$LAB" -- "$1" "$2"
