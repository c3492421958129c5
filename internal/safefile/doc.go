// Package safefile opens and makes what a path names, as package os does, unless another user
// of the machine could decide what that is.
//
//	path --walk--> one folder after the other, each by a descriptor; links are read here, not by the kernel
//	                 |
//	                 |-- a link that somebody else made, a file that somebody else laid there: refused
//	                 '-- what the path leads to, open
//
// Believed are root, the user of this process, and the one who called sudo. All others are
// strangers. Within a user namespace the kernel shows every user outside as one; what that one
// has is believed, root's being among it, unless others can write in the folder that it is in.
//
// Read in this order: user.go (who is believed), walk.go (where a path leads), file.go (Create,
// OpenFile, MkdirAll, Remove), private.go (CheckDir, Read).
//
// Invariants:
//   - no-stranger's-link: no link that a stranger made is followed, wherever it is in a path;
//   - no-stranger's-file: what is there already is opened if only those who are believed can
//     write in its folder, or it belongs to one of them or to the owner of the folder;
//   - no-second-name: where strangers can write, a file that has another name (a hard link) is
//     not opened;
//   - checked-is-opened: what was looked at is what is opened, whatever is renamed meanwhile.
//
// What it does not do: it does not keep a stranger from reading what is written into his folder,
// or from taking it away there. It knows no access control lists, whose mask the mode shows.
package safefile
