#!/bin/sh
# Run iperf3 and ping through two switches to a slow receiver: pauses reach the sender's
# NIC, and the fabric loses nothing.
#
# usage: scripts/nic-demo.sh [--json]
#
# LAB=NAME names the lab (default nic). Exit status 0: so it was; 1: not; 2: the demo
# could not run.
set -eu
LAB=${LAB:-nic}
. "$(dirname "$0")/common.sh"
case ${1-} in -h | --help) usage ;; esac
$sudo "$softswitch" demo nic --name "$LAB" "$@"
