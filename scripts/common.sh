# What the scripts here share. Not to be run by itself.
#
# LAB names the lab (default ss); the nodes' namespaces are $LAB-NODE.

root=$(dirname "$0")/..
softswitch=$root/bin/softswitch
LAB=${LAB:-ss}

# Before a command that needs root; empty if this is root already.
sudo=
[ "$(id -u)" = 0 ] || sudo='sudo --preserve-env=SOFTSWITCH_RUN_DIR'

# usage prints the comment at the head of the script, and ends it.
usage() {
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

[ -x "$softswitch" ] || {
	echo "$0: there is no $softswitch; run make first" >&2
	exit 2
}
