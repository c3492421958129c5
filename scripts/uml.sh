#!/bin/sh
# Run a command in User Mode Linux: a kernel of its own, as a process of this machine. It has
# what the machine's kernel may lack, the module macsec for one, and takes no root: Debian's
# package user-mode-linux is all. It has one processor, and each system call is slow.
#
# usage: scripts/uml.sh COMMAND [ARGUMENT...]
#
# The command is root there, in the same directory. It sees the files of the machine, but can
# write only below /run, which is empty when it begins and gone when it ends. Its input is
# empty. The exit status is the command's, or 2 if the kernel could not be run.
#
# Where a processor has AMX it takes a C compiler too: scripts/uml-xstate.c says why.
set -eu
. "$(dirname "$0")/common.sh"
case ${1-} in '' | -*) usage ;; esac
command -v linux.uml >/dev/null || { echo "$0: there is no linux.uml (on Debian: apt install user-mode-linux)" >&2; exit 2; }
command -v insmod >/dev/null || { echo "$0: there is no insmod (on Debian: apt install kmod)" >&2; exit 2; }

dir=$(mktemp -d) kernel=
# The kernel ends by SIGTERM, and its processes with it.
trap '[ -z "$kernel" ] || kill "$kernel" 2>/dev/null || :; wait; rm -rf "$dir"' EXIT
trap 'exit 2' INT TERM HUP

xstate=
if grep -qw amx_tile /proc/cpuinfo; then
	command -v cc >/dev/null || { echo "$0: there is no cc, which a processor with AMX takes (on Debian: apt install gcc libc6-dev)" >&2; exit 2; }
	xstate=$dir/xstate.so
	cc -O2 -Wall -Werror -shared -fPIC -o "$xstate" "$(dirname "$0")/uml-xstate.c" -ldl || exit 2
fi

# quoted prints words as a shell reads them.
quoted() {
	for word; do
		printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"
	done
}

cat >"$dir/init" <<INIT
#!/bin/sh
export PATH=$(quoted "$PATH:/usr/sbin:/sbin") HOME=/run TMPDIR=/run LC_ALL=C.UTF-8
exec >/dev/tty1 2>&1
stty -onlcr <&1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs run /run
mkdir /run/machine
mount -t hostfs machine /run/machine -o $(quoted "$dir")
ip link set lo up
cd /usr/lib/uml/modules/\$(uname -r)/kernel
# insmod takes one file at a time, and first those that the others need.
for module in crypto/gf128mul crypto/ghash-generic crypto/ctr crypto/gcm drivers/net/veth drivers/net/macsec; do
	insmod \$module.ko
done
# A lab's processes are real-time. With one processor they take turns every 100 ms, and keep the
# kernel's own process from handing on what they send, unless told otherwise.
echo 10 >/proc/sys/kernel/sched_rr_timeslice_ms
ksoftirqd=\$(grep -l "^ksoftirqd" /proc/[0-9]*/comm 2>/dev/null)
chrt --fifo --pid 2 "\$(echo "\$ksoftirqd" | tr -dc 0-9)"
cd $(quoted "$PWD")
$(quoted "$@") </dev/null
echo \$? >/run/machine/status
echo o >/proc/sysrq-trigger
sleep 60
INIT
chmod +x "$dir/init"

# It does not wait for who reads what it writes, so that is a pipe of its own.
mkfifo "$dir/out"
cat "$dir/out" &
# The kernel and its processes take turns at every system call, which on one processor of the
# machine costs half of what it does on two.
taskset -c "$(taskset -cp $$ | sed 's/.*[^0-9]//')" env ${xstate:+LD_PRELOAD="$xstate"} linux.uml mem=512M uml_dir="$dir" umid=uml quiet root=/dev/root rootfstype=hostfs rootflags=/ ro \
	init="$dir/init" con=null con0=null,fd:2 con1=null,fd:1 </dev/null >"$dir/out" 2>"$dir/log" &
kernel=$!
# Some kernels abort when they halt, of which the shell would tell; what they ran has its status by then.
wait "$kernel" 2>/dev/null || :
kernel=
wait
[ -s "$dir/status" ] || { echo "$0: the kernel ended before the command did:" >&2; tail -n 20 "$dir/log" >&2; exit 2; }
exit "$(cat "$dir/status")"
