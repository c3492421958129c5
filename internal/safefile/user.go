package safefile

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// believed are the users and groups that are believed.
type believed struct {
	users, groups []uint32
	// outside is the user that the kernel shows for all those that a user namespace has no
	// number for; -1 outside of user namespaces.
	outside int64
}

// us is computed once: a process of this program does not change its user.
var us = sync.OnceValue(func() believed {
	b := believed{
		users:   []uint32{0, uint32(os.Geteuid())},
		groups:  []uint32{0, uint32(os.Getegid())},
		outside: outsideUser(),
	}
	if os.Geteuid() == 0 { // sudo(8) sets them; who may sudo this program can do what root can
		b.users = append(b.users, fromEnvironment("SUDO_UID")...)
		b.groups = append(b.groups, fromEnvironment("SUDO_GID")...)
	}
	return b
})

func fromEnvironment(name string) []uint32 {
	id, err := strconv.ParseUint(os.Getenv(name), 10, 32)
	if err != nil {
		return nil
	}
	return []uint32{uint32(id)}
}

// outsideUser is believed.outside. A process that is in no user namespace of its own has a
// number for every user (user_namespaces(7)).
func outsideUser() int64 {
	const all = "0 0 4294967295"
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || strings.Join(strings.Fields(string(users)), " ") == all {
		return -1
	}
	const usual = 65534
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return usual
	}
	id, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return usual
	}
	return id
}

// Believed reports whether the user is root, that of this process, or the one who called sudo.
func Believed(user uint32) bool { return slices.Contains(us().users, user) }

// owns reports whether st belongs to somebody who is believed, in a folder.
func (b believed) owns(st, folder *unix.Stat_t) bool {
	return slices.Contains(b.users, st.Uid) || int64(st.Uid) == b.outside && !b.shared(folder)
}

// strange reports whether a folder belongs to a stranger.
func (b believed) strange(folder *unix.Stat_t) bool {
	return !slices.Contains(b.users, folder.Uid) && int64(folder.Uid) != b.outside
}

// shared reports whether a stranger can write in the folder.
func (b believed) shared(folder *unix.Stat_t) bool {
	return b.strange(folder) || folder.Mode&unix.S_IWOTH != 0 ||
		folder.Mode&unix.S_IWGRP != 0 && !slices.Contains(b.groups, folder.Gid)
}
