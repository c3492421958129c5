// Package netnslab turns a description of a network into network namespaces, veth links
// and processes, and removes exactly those again.
//
//	Lab ──Plan──▶ []Step ──String──▶ the same work as ip, sysctl, ethtool lines
//	                 │
//	                 └────Up───▶ namespaces, links, processes
//	                      │           ▲
//	                      ▼           │ Fail Heal Exec Stop Continue Kill Inspect
//	                  state.json ─────┘
//	                      │
//	                      └──Down──▶ nothing is left
//
// # Read in this order
//
//   - lab.go: what a lab is made of, and what is rejected
//   - plan.go: the steps, in order, and how each prints
//   - up.go, steps_linux.go: carrying out the steps; rollback
//   - state.go: the record on disk, the lock
//   - down.go, lost.go: removal, by the record and without it
//   - namespace_linux.go, process_linux.go, backlog.go: the three kinds of thing
//     that can outlive the program, each with its proof of ownership
//   - control_linux.go, program_linux.go, inspect_linux.go, list.go: a lab that runs, all labs
//   - doctor_linux.go, softnet.go, lateness_linux.go: what the machine lacks, frames it lost,
//     and how late its processes are
//
// # Invariants
//
//   - Plan-is-execution: Up carries out the steps that Plan returns and does nothing
//     else to the machine, except to make [NamespaceDir] as `ip netns add` does.
//   - Intent-first: what identifies a thing is on disk before the thing exists.
//     A namespace's inode and cookie are recorded while it still has no name and
//     would vanish with the program; the token that every process carries in its
//     environment is recorded before the first process. So a kill -9 at any
//     instant loses nothing.
//   - Own-only: a namespace is removed only if name, inode and cookie are the
//     recorded ones, a process is signalled only if it carries the lab's token and is of
//     this user, and a recorded one if it has the recorded start time too; a sysctl is put
//     back only if it still has the value that was set here. A record of an earlier boot
//     removes files only. When the record is lost, a namespace is ours if the alias of its
//     lo names the lab's directory, a process if it was started there with a lab's token.
//   - Nobody-else's: a run directory in which another user can change something is not
//     used, a record that he can have written is not believed, and what one says of places
//     outside of its lab is refused, by every command and before anything is done. The
//     lock is a file that nobody else can open.
//   - Home-or-die: a thread that cannot return from a namespace ends with its goroutine
//     and never runs other code.
//
// # What it does not do
//
// It does not know what a switch is: it starts the given command in the given
// directory. It does not choose addresses or routes. It emulates no rate, delay or
// loss: a veth has none, and the processes do that. It does not restart a process that
// died.
package netnslab
