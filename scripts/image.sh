#!/bin/sh
# Make a container image of softswitch, from nothing but this repository and a busybox.
#
# usage: scripts/image.sh [NAME]
#
# The image is called NAME:latest and NAME:VERSION (default softswitch). It needs Go, Docker
# and a statically linked busybox (Debian: busybox-static), whose path BUSYBOX may say.
set -eu
usage() {
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
case ${1-} in -*) usage ;; esac
[ $# -le 1 ] || usage
cd "$(dirname "$0")/.."
name=${1:-softswitch}
busybox=${BUSYBOX:-$(command -v busybox || :)}
command -v docker >/dev/null || { echo "image: there is no docker" >&2; exit 2; }
[ -n "$busybox" ] || { echo "image: there is no busybox; on Debian: apt install busybox-static" >&2; exit 2; }
if ldd "$busybox" >/dev/null 2>&1; then
	echo "image: $busybox is not statically linked; on Debian: apt install busybox-static" >&2
	exit 2
fi

root=build/image/root
rm -rf build/image
mkdir -p $root/bin $root/etc $root/run $root/scenarios $root/share/softswitch
mkdir -m 1777 $root/tmp
CGO_ENABLED=0 go build -ldflags '-s -w' -o $root/bin/softswitch ./cmd/softswitch
cp "$busybox" $root/bin/busybox
for applet in $($root/bin/busybox --list); do
	[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
done
cp -R scenarios/*.yaml scenarios/rdma scenarios/nic $root/scenarios
cp view/wireshark/itsy.lua $root/share/softswitch
echo 'root:x:0:0:root:/:/bin/sh' >$root/etc/passwd

version=$($root/bin/softswitch --version | sed 's/^softswitch //; s/,.*//; s/[()]//g')
tag=$(echo "$version" | tr -c 'A-Za-z0-9_.\n-' _)
cat >build/image/Dockerfile <<EOF
FROM scratch
COPY root/ /
LABEL org.opencontainers.image.title="softswitch" \\
      org.opencontainers.image.description="A userspace switch with PFC, and detectors of PFC deadlocks" \\
      org.opencontainers.image.version="$version"
ENV PATH=/bin
ENTRYPOINT ["/bin/softswitch"]
CMD ["--help"]
EOF
DOCKER_BUILDKIT=0 docker build -q --network none -t "$name:latest" -t "$name:$tag" build/image >/dev/null
echo "$name:latest and $name:$tag, $(docker image inspect -f '{{.Size}}' "$name:latest" | awk '{printf "%.0f MB", $1 / 1e6}')"
