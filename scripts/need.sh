#!/bin/sh
# need.sh COMMAND=PACKAGE...: says which commands are missing, with the line that installs all of them on
# Debian and Ubuntu, and fails then.
missing= packages=
for want; do
	command -v "${want%%=*}" >/dev/null || { missing="$missing ${want%%=*}"; packages="$packages ${want#*=}"; }
done
[ -z "$missing" ] && exit
echo "missing:$missing; on Debian and Ubuntu: sudo apt-get install$packages" >&2
exit 1
