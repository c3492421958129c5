#!/bin/sh
# Links protected by MACsec (IEEE 802.1AE), on namespaces: what becomes of a pause and of a
# detector's message there, and of what a stranger on the wire sends; and a whole lab on such
# links. The kernel has to have the module macsec; scripts/uml.sh is one.
#
# usage: scripts/macsec.sh frames | lab FILE
#
# frames: two switches, s1 and s2, and all that is done to make the link, command by command.
# Then a pause and a message cross it, and s1 takes nothing of what does not come by MACsec.
#
# lab FILE: plays a scenario whose links between switches are MACsec, and prints its verdict.
# Then, for each direction of each link, how many pauses and messages its switch sent and the
# other one received, octet for octet, and what there was on the wires below.
#
# Exit status: 0 all of it is as it should be; 1 not; 2 it could not be played.
set -eu
. "$(dirname "$0")/common.sh"
case "${1-} $#" in "frames 1" | "lab 2") ;; *) usage ;; esac
[ "$(id -u)" = 0 ] || { echo "$0: it makes namespaces; run with sudo" >&2; exit 2; }
for tool in tcpdump perl; do
	command -v $tool >/dev/null || { echo "$0: there is no $tool" >&2; exit 2; }
done
softswitch=$(cd "$root" && pwd)/bin/softswitch
dir=$(mktemp -d) pids= made=

# Without -e: what is not there need not be removed.
remove() {
	set +e
	[ -z "$pids" ] || kill $pids
	wait
	for ns in $made; do ip netns del "$ns"; done
	rm -rf "$dir"
} >/dev/null 2>&1
trap remove EXIT
trap 'exit 2' INT TERM HUP

# fail TEXT: something is not as it should be.
fail() {
	echo "$0: $1" >&2
	exit 1
}

# await TEXT COMMAND...: until the command succeeds, for a minute.
await() {
	what=$1 since=$(date +%s)
	shift
	until "$@" >/dev/null 2>&1; do
		[ $(($(date +%s) - since)) -le 60 ] || fail "no $what after a minute"
		sleep 0.1
	done
}

# capture NAMESPACE INTERFACE FILE [FILTER]: from the next frame on.
capture() {
	ip netns exec "$1" tcpdump -Z root -Uni "$2" -w "$3" ${4+"$4"} 2>"$3.log" &
	pids="$pids $!"
	await "capture at $2 of $1" grep -q listening "$3.log"
}

# namespace NAME: a new one, in which the kernel does not speak by itself.
namespace() {
	ip netns add "$1" || exit 2
	made="$made $1"
	[ ! -e /proc/sys/net/ipv6 ] || ip netns exec "$1" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
}

# hex FILE [FILTER [SINCE]]: the frames of a capture, from a time on, a line of digits each.
hex() {
	tcpdump -Z root -ttnxxr "$1" ${2+"$2"} 2>/dev/null | awk -v since="${3-0}" '
	/^\t0x/ { if (on) for (i = 2; i <= NF; i++) frame = frame $i; next }
	{ if (frame) print frame; frame = ""; on = $1 >= since }
	END { if (frame) print frame }'
}

# ---- frames

# shown COMMAND...: says what it does, and does it.
shown() {
	echo "+ $*"
	"$@"
}

# send INTERFACE HEX: a frame by an interface of s2. Perl, for it starts fast: a packet socket
# (17), SOCK_RAW (3), bound to the interface by a sockaddr_ll.
send() {
	ip netns exec s2 perl -e '
open(INDEX, "/sys/class/net/$ARGV[0]/ifindex") && socket(RAW, 17, 3, 0)
	&& bind(RAW, pack("S S L x12", 17, 0, <INDEX>)) && send(RAW, pack("H*", $ARGV[1]), 0)
	|| die "$ARGV[0]: $!\n"' "$@"
}

# counter NAME: what s1's MACsec counts, of all channels together first.
counter() {
	ip -n s1 -s macsec show to-s2 | awk -v name="$1" '
	/stats:/ { at = 0; for (i = 2; i <= NF; i++) if ($i == name) at = i - 1; next }
	at { print $at; exit }'
}

# heeded: how many pauses of priority 3 the switch s1 has heeded.
heeded() {
	"$softswitch" show pfc counters --socket "$dir/s1.sock" | awk '$1 == "to-s2" { print $5; exit }'
}

# What await waits for: that s1's MACsec counts so much, that a capture has so many frames, that
# the switch has heeded so many pauses.
counts() { [ "$(counter "$1")" = "$2" ]; }
captured() { [ "$(hex "$dir/$1" | wc -l)" = "$2" ]; }
has_heeded() { [ "$(heeded)" = "$1" ]; }

# frame N FILE: the Nth and last frame of a capture, once it is there.
frame() {
	await "frame $1 in the capture $2" captured "$2" "$1"
	hex "$dir/$2" | tail -n 1
}

# octets TITLE HEX
octets() {
	echo "$1, $((${#2} / 2)) octets:"
	echo "$2" | sed 's/.\{32\}/&\n/g' | sed '/^$/d; s/../ &/g; s/^/   /'
}

# crosses N WHAT HEX: s2 sends a frame to s1, its Nth.
crosses() {
	echo
	send to-s1 "$3"
	wire=$(frame "$1" wire)
	got=$(frame "$1" to-s2)
	octets "s2 sends $2" "$3"
	octets "on the wire" "$wire"
	[ "$got" = "$3" ] || fail "s1 received $got"
	echo "s1 receives what s2 sent"
}

# stranger WHAT HEX COUNTER N: somebody sends a frame on the wire, s1's MACsec counts it, and s1
# has heeded N pauses then.
stranger() {
	send wire "$2"
	await "$3 at s1" counts "$3" 1
	await "pause number $4 heeded" has_heeded "$4"
	printf '%-36s%-17s1   pauses heeded: %s\n' "$1" "$3" "$4"
}

frames() {
	namespace s1
	namespace s2
	printf '+ ip netns add %s\n' s1 s2
	shown ip -n s1 link add wire index 10000 mtu 1532 address 02:00:00:00:00:01 type veth peer name wire mtu 1532 address 02:00:00:00:00:02 netns s2
	shown ip -n s1 link add link wire name to-s2 type macsec encrypt on validate strict replay on window 0
	shown ip -n s2 link add link wire name to-s1 type macsec encrypt on validate strict replay on window 0
	shown ip -n s1 macsec add to-s2 tx sa 0 pn 1 on key 01 00112233445566778899aabbccddeeff
	shown ip -n s2 macsec add to-s1 tx sa 0 pn 1 on key 02 ffeeddccbbaa99887766554433221100
	shown ip -n s1 macsec add to-s2 rx port 1 address 02:00:00:00:00:02
	shown ip -n s1 macsec add to-s2 rx port 1 address 02:00:00:00:00:02 sa 0 pn 1 on key 02 ffeeddccbbaa99887766554433221100
	shown ip -n s2 macsec add to-s1 rx port 1 address 02:00:00:00:00:01
	shown ip -n s2 macsec add to-s1 rx port 1 address 02:00:00:00:00:01 sa 0 pn 1 on key 01 00112233445566778899aabbccddeeff
	for end in "s1 wire" "s2 wire" "s1 to-s2" "s2 to-s1"; do
		shown ip -n ${end% *} link set ${end#* } up
	done
	echo "+ ip netns exec s1 softswitch run --control s1.sock to-s2"
	ip netns exec s1 "$softswitch" run --control "$dir/s1.sock" to-s2 >"$dir/log" 2>&1 &
	pids="$pids $!"
	await "word of the switch at s1" grep -q '^switch: detector' "$dir/log"
	cat "$dir/log"
	capture s1 wire "$dir/wire" "ether src 02:00:00:00:00:02"
	capture s1 to-s2 "$dir/to-s2" "ether src 02:00:00:00:00:02"

	# As in docs/format, of another sender.
	pause=0180c2000001020000000002880801010008000000000000ffff$(printf %068d 0)
	message=0180c200000e02000000000288b5fe180249540113610005020009000701030c$(printf %056d 0)
	crosses 1 "a pause of priority 3" $pause
	stolen=$wire
	await "pause heeded" has_heeded 1
	crosses 2 "a message of ITSY" $message

	echo
	echo "sent on the wire                    counted by s1's MACsec"
	stranger "the pause, in clear" $pause InPktsNoTag 1
	stranger "the pause, as it crossed before" $stolen InPktsLate 1
	# The octet at offset 19 is the lowest of the packet number; the sender begins at 20.
	stranger "the same with the next number" "$(echo $stolen | sed 's/^\(.\{38\}\)../\103/')" InPktsNotValid 1
	stranger "the same of another sender" "$(echo $stolen | sed 's/^\(.\{40\}\)02/\106/')" InPktsNoSCI 1
	echo
	shown ip -n s1 link set to-s2 type macsec validate check
	stranger "the pause, in clear" $pause InPktsUntagged 2
}

# ---- lab

key() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# end INTERFACE WIRE KEY PEER KEY: what ip is to do in a namespace for MACsec on the end of a wire:
# its own key, the address of the other end and its key.
end() {
	cat <<-END
		link set $2 up
		link add link $2 name $1 type macsec encrypt on validate strict replay on window 0
		macsec add $1 tx sa 0 pn 1 on key 00 $3
		macsec add $1 rx port 1 address $4
		macsec add $1 rx port 1 address $4 sa 0 pn 1 on key 00 $5
		link set $1 up
	END
}

# port NODE INTERFACE: the address from which the node sends pauses and messages there.
port() {
	awk -v port="- name: $2" 'index($0, port) { getline; print $2; exit }' "$rundir/$1/config.yaml"
}

# received TYPE: how many frames of the type there are among those received.
received() {
	grep -c "^.\{24\}$1" "$dir/received" || :
}

lab() {
	lab=macsec$$ rundir=${SOFTSWITCH_RUN_DIR:-/run/softswitch}/macsec$$
	"$softswitch" lab deploy -t "$1" --name $lab --dry-run >"$dir/plan" || exit 2
	# One process for all nodes, for the sake of machines that are slow.
	"$softswitch" lab run "$1" --name $lab --nodes-per-process 1000 --pcap "$dir/pcap" >"$dir/verdict" 2>"$dir/progress" &
	run=$!
	pids=$run
	await "lab" grep -q 'links up in' "$dir/progress"
	cat "$dir/progress"

	# A link between switches goes, and comes back as MACsec on a wire; nodes open it anew.
	sed -n 's/^ip -n \(.*\) link add name \(.*\) index \(.*\) mtu \(.*\) address \(.*\) type veth peer name \(.*\) netns \(.*\) mtu .* address \(.*\)/\1 \2 \3 \4 \5 \6 \7 \8/p' "$dir/plan" |
		grep -v ' eth0 ' >"$dir/links"
	while read -r a to_b index mtu mac_a to_a b mac_b; do
		wire=w-${to_b#to-} key_a=$(key) key_b=$(key) mtu=$((mtu + 32))
		{
			echo "link del $to_b"
			echo "link add $wire index $index mtu $mtu address $mac_a type veth peer name $wire netns $b mtu $mtu address $mac_b"
			end "$to_b" "$wire" "$key_a" "$mac_b" "$key_b"
		} | ip -n "$a" -batch -
		end "$to_a" "$wire" "$key_b" "$mac_a" "$key_a" | ip -n "$b" -batch -
		echo "${a#$lab-} $(port "${a#$lab-}" "$to_b") ${b#$lab-}" >>"$dir/ways"
		echo "${b#$lab-} $(port "${b#$lab-}" "$to_a") ${a#$lab-}" >>"$dir/ways"
	done <"$dir/links"
	read -r a to_b rest <"$dir/links"
	capture "$a" "w-${to_b#to-}" "$dir/wire"
	since=$(date +%s.%N)
	for ns in $(sed -n "s/^ip netns add //p" "$dir/plan"); do
		# All that a host has sent so far is resumes, of 60 octets: those with which it begins.
		if ip -n "$ns" link show eth0 >/dev/null 2>&1 &&
			! ip netns exec "$ns" sh -c 'cd /sys/class/net/eth0/statistics && [ $(cat tx_bytes) -le $(($(cat tx_packets) * 60)) ]'; then
			fail "run not valid: ${ns#$lab-} sent before all links were MACsec; let the flows of $1 start later"
		fi
	done
	echo "all $(wc -l <"$dir/links") links between switches are MACsec now"

	rc=0
	wait $run || rc=$?
	[ $rc -le 1 ] || { cat "$dir/progress" >&2; exit 2; }
	cat "$dir/verdict"
	kill ${pids#"$run"} 2>/dev/null || : # it may have seen the wire go already
	wait
	pids=

	echo
	read -r from mac to <"$dir/ways"
	echo "on the wire of $from and $to"
	tcpdump -Z root -ner "$dir/wire" 2>/dev/null | sed -n 's/.*(\(0x[0-9a-f]*\)), length \([0-9]*\): .*/\1 \2/p' | sort -k1,1 -k2,2n | uniq -c |
		awk '{ printf "%8d  frames of type %s, %d octets\n", $1, $2, $3 } $2 != "0x88e5" { clear = 1 } END { exit !NR || clear }' ||
		fail "not all of these are MACsec's, or there are none"
	echo
	echo "pauses  messages  from  to"
	while read -r from mac to; do
		hex "$dir/pcap/$from.pcapng" "ether src $mac and (ether proto 0x8808 or ether proto 0x88b5)" "$since" >"$dir/sent"
		hex "$dir/pcap/$to.pcapng" "ether src $mac and (ether proto 0x8808 or ether proto 0x88b5)" "$since" >"$dir/received"
		head -n "$(wc -l <"$dir/received")" "$dir/sent" | cmp -s - "$dir/received" || fail "$to received others than $from sent"
		printf '%6d%10d  %s  %s\n' "$(received 8808)" "$(received 88b5)" "$from" "$to"
	done <"$dir/ways"
	return $rc
}

case $1 in
frames) frames ;;
lab) lab "$2" ;;
esac
