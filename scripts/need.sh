#!/bin/sh
# Say which commands are missing, with the line that installs all of them on Debian and Ubuntu.
#
# usage: scripts/need.sh COMMAND=PACKAGE...
#
# Exit status: 0 none is missing; 1 some are; 2 it was not asked so.
case ${1--} in -*)
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
missing= packages=
for want; do
	command -v "${want%%=*}" >/dev/null || { missing="$missing ${want%%=*}"; packages="$packages ${want#*=}"; }
done
[ -z "$missing" ] && exit
echo "missing:$missing; on Debian and Ubuntu: sudo apt-get install$packages" >&2
exit 1
