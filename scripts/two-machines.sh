#!/bin/sh
# Play a scenario across two machines, both of which are on this one: two namespaces, joined
# by an underlay, each with the nodes of its half; links between them are VXLAN, and the clock
# of the second machine is two hours ahead.
#
# usage: scripts/two-machines.sh [--namespaces | --docker] [--runs N] [--delay TIME] [FILE]
#
# FILE is scenarios/fattree-on-loop.yaml if none is given. Nodes are containers if Docker is
# there, else, or with --namespaces, namespaces. TIME, such as 50us, is what the underlay takes
# each way, besides what it takes by itself; the kernel has to have netem. Prints the verdict
# of each run. Exit status 0: all are as expected; 1: not; 2: it could not be played.
set -eu
. "$(dirname "$0")/common.sh"
file=$root/scenarios/fattree-on-loop.yaml runs=1 delay= index=10000
docker info >/dev/null 2>&1 && how=docker || how=namespaces
while [ $# -gt 0 ]; do
	case $1 in
	--namespaces | --docker) how=${1#--} ;;
	--runs) runs=${2-} && shift ;;
	--delay) delay=${2-} && shift ;;
	-*) usage ;;
	*) file=$1 ;;
	esac
	shift
done
case $runs in '' | *[!0-9]* | 0) usage ;; esac
[ "$(id -u)" = 0 ] || { echo "$0: it makes namespaces and sets clocks; run with sudo" >&2; exit 2; }
command -v unshare nsenter >/dev/null || { echo "$0: there is no unshare or nsenter (util-linux)" >&2; exit 2; }
[ -r "$file" ] || { echo "$0: cannot read $file" >&2; exit 2; }
softswitch=$(cd "$root" && pwd)/bin/softswitch
ahead=7200 # seconds
lab=two$$ dir=$(mktemp -d) pids=

# Without -e: what is not there need not be removed.
remove() {
	set +e
	for pid in $pids; do kill -9 "$pid"; done # unshare heeds nothing less
	wait
	pids=
	if [ $how = docker ]; then
		docker ps -aq --filter label=softswitch.lab=$lab | xargs -r docker rm -f
	fi
	ip netns list | awk '{print $1}' | grep "^$lab-" | xargs -rn1 ip netns del
	rm -rf "$dir/clab" "$dir/run"
	set -e
} >/dev/null 2>&1
trap 'remove; rm -rf "$dir"' EXIT
trap 'exit 2' INT TERM HUP

# parts prints the nodes, their addresses and the links of a file of containerlab, a line each.
parts() {
	awk '
	function flush() {
		if (type == "veth") print "veth", mtu, node[1], ifc[1], mac[1], node[2], ifc[2], mac[2]
		if (type == "vxlan") print "vxlan", mtu, node[1], ifc[1], mac[1], remote, vni, dst, src
		type = ""; ends = 0
	}
	$1 == "links:" { links = 1 }
	!links && /^    [^ ]*:$/ { name = $1; sub(/:$/, "", name) }
	!links && $1 == "cmd:" { print "node", name, $2 }
	!links && /^      - ip / { sub(/^ *- /, ""); print "exec", name, $0 }
	links && $1 == "-" && $2 == "type:" { flush(); type = $3 }
	links && $1 == "mtu:" { mtu = $2 }
	links && $1 == "remote:" { remote = $2 }
	links && $1 == "vni:" { vni = $2 }
	links && $1 == "dst-port:" { dst = $2 }
	links && $1 == "src-port:" { src = $2 }
	links && ($1 == "node:" || $2 == "node:") { node[++ends] = $NF }
	links && $1 == "interface:" { ifc[ends] = $2 }
	links && $1 == "mac:" { mac[ends] = $2 }
	END { flush() }' "$1"
}

# in_node NODE COMMAND...: a command in a node's network.
in_node() {
	name=$1
	shift
	ip netns exec $lab-$name "$@"
}

# begin MACHINE NODE KIND: its process, with the clock of the machine.
begin() {
	clock= inside=
	[ "$1" = a ] || clock="nsenter --target $clock_of_b --time"
	if [ $how = docker ]; then
		inside="nsenter --target $(docker inspect -f '{{.State.Pid}}' clab-$lab-$2) --mount --pid --net"
		program=/bin/softswitch config=/etc/softswitch.yaml
	else
		inside="ip netns exec $lab-$2"
		program=$softswitch config=$dir/run/$2/config.yaml
	fi
	GOMAXPROCS=1 chrt --rr 1 $clock $inside "$program" "$3" -c "$config" </dev/null >"$dir/run/$2/log" 2>&1 &
	pids="$pids $!"
}

# build makes the machines, the nodes and the links, and starts the nodes.
build() {
	"$softswitch" lab export "$file" --name $lab --containerlab "$dir/clab" --machines a=10.99.0.1,b=10.99.0.2 --underlay-mtu 1600
	for m in a b; do ip netns add $lab-.$m; done
	ip -n $lab-.a link add underlay index 10000 mtu 1600 type veth peer name underlay mtu 1600 netns $lab-.b
	ip -n $lab-.a addr add 10.99.0.1/24 dev underlay
	ip -n $lab-.b addr add 10.99.0.2/24 dev underlay
	for m in a b; do
		ip -n $lab-.$m link set underlay up
		if [ -n "$delay" ]; then
			ip netns exec $lab-.$m tc qdisc add dev underlay root netem delay "$delay" || return
		fi
		parts "$dir/clab/$m/$lab.clab.yml" >"$dir/parts.$m"
	done
	for m in a b; do
		while read -r what node kind; do
			[ "$what" = node ] || continue
			mkdir -p "$dir/run/$node"
			if [ $how = docker ]; then
				docker run --detach --name clab-$lab-$node --label softswitch.lab=$lab --network none --pull never --cap-add NET_ADMIN \
					--volume "$dir/clab/$m/nodes/$node.yaml:/etc/softswitch.yaml:ro" --entrypoint /bin/sleep softswitch:latest 1d >/dev/null
				ip netns attach $lab-$node "$(docker inspect -f '{{.State.Pid}}' clab-$lab-$node)"
			else
				ip netns add $lab-$node
				sed "s|/run/|$dir/run/$node/|" "$dir/clab/$m/nodes/$node.yaml" >"$dir/run/$node/config.yaml"
			fi
			in_node "$node" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
			ip -n $lab-$node link set lo up
		done <"$dir/parts.$m"
	done
	for m in a b; do
		while read -r what mtu node1 if1 mac1 rest; do
			case $what in
			veth)
				set -- $rest
				index=$((index + 1)) # another than the far end gets, so that the kernel tells of a carrier at once
				ip -n $lab-$node1 link add "$if1" index $index mtu "$mtu" address "$mac1" type veth peer name "$2" netns $lab-$1 mtu "$mtu" address "$3"
				in_node "$1" ethtool -K "$2" gro off gso off tso off tx off >/dev/null
				ip -n $lab-$1 link set "$2" up
				;;
			vxlan) # made where the underlay is, then moved
				set -- $rest
				ip -n $lab-.$m link add vx$2 mtu "$mtu" address "$mac1" type vxlan id "$2" remote "$1" dev underlay dstport "$3" srcport "$4" $(($4 + 1))
				ip -n $lab-.$m link set vx$2 netns $lab-$node1
				ip -n $lab-$node1 link set vx$2 name "$if1"
				;;
			*) continue ;;
			esac
			in_node "$node1" ethtool -K "$if1" gro off gso off tso off tx off >/dev/null
			ip -n $lab-$node1 link set "$if1" up
		done <"$dir/parts.$m"
	done
	# A process that has the clock of the second machine, for the others to enter.
	unshare --time --monotonic $ahead --fork --kill-child sleep 1d &
	pids="$pids $!"
	clock_of_b=
	until [ -n "$clock_of_b" ]; do
		kill -0 $! || { echo "$0: the kernel has no time namespaces" >&2; return 1; }
		read -r clock_of_b </proc/$!/task/$!/children || :
	done
	for m in a b; do
		while read -r what node rest; do
			case $what in
			exec) in_node "$node" $rest ;;
			esac
		done <"$dir/parts.$m"
		while read -r what node rest; do
			case $what in
			node) begin $m "$node" "$rest" ;;
			esac
		done <"$dir/parts.$m"
	done
	if [ $how = docker ]; then
		sed 's/ssh [^ ]* //' "$dir/clab/nodes.yaml" >"$dir/nodes.yaml"
	else
		sed "s/: .*docker exec -i clab-$lab-/: ip netns exec $lab-/; s|^dir:.*|dir: $dir/run/{node}|; s|^scenario: |program: $softswitch\nscenario: clab/|" \
			"$dir/clab/nodes.yaml" >"$dir/nodes.yaml"
	fi
	[ $how = namespaces ] || sed -i 's|^scenario: |scenario: clab/|' "$dir/nodes.yaml"
}

met=0
for run in $(seq "$runs"); do
	[ "$runs" = 1 ] || echo "run $run of $runs" >&2
	build >&2 || exit 2
	rc=0
	"$softswitch" lab run --attach "$dir/nodes.yaml" || rc=$?
	case $rc in
	0) met=$((met + 1)) ;;
	1) ;;
	*) exit 2 ;;
	esac
	remove
done
[ "$runs" = 1 ] || echo "$met of $runs runs are as expected"
[ $met = "$runs" ]
