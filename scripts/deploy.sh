#!/bin/sh
# Build a lab and start its switches and hosts; nothing flows yet.
#
# usage: scripts/deploy.sh [SCENARIO]
#
# SCENARIO is a file such as scenarios/pause.yaml (default: the k=4 fat-tree of
# scenarios/fattree-on-loop.yaml). LAB=NAME gives the lab another name than ss.
set -eu
. "$(dirname "$0")/common.sh"
case ${1-} in -*) usage ;; esac
[ $# -le 1 ] || usage
$sudo "$softswitch" lab deploy --name "$LAB" -t "${1:-$root/scenarios/fattree-on-loop.yaml}"
