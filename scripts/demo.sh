#!/bin/sh
# Make a PFC deadlock on a k=4 fat-tree of namespaces and detect it.
#
# usage: scripts/demo.sh [--json] [--detector NAME] [--pcap DIR]
#
# LAB=NAME names the lab (default ss). Exit status 0: the deadlock formed and was
# detected; 1: not; 2: the demo could not run.
set -eu
. "$(dirname "$0")/common.sh"
case ${1-} in -h | --help) usage ;; esac
$sudo "$softswitch" demo --name "$LAB" "$@"
