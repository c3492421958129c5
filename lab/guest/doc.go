// Package guest runs virtual machines as hosts of a lab: a kernel of their own, with RDMA (Soft-RoCE, the
// module rdma_rxe), whose programs send through the switches.
//
//	Build --> vmlinux, initramfs (of Debian's packages, kept in Dir)
//	               |
//	Start --> QEMU in the host's namespace, a process of the lab
//	               |
//	   Exec, Console <--virtio ports, serial line--> serve, run-line; a shell
//
//	guest's eth0 -- vm0 (TAP) -- br0 (bridge) -- nic0 (TAP) -- softswitch nic -- eth0 -- switch
//
// Read in this order: packages.go, image.go, libraries.go, cpio.go (what a guest boots from); start.go,
// wire.go (its place in a lab); exec.go, console.go (talking to it); root/init, root/serve, root/run-line (what it runs).
//
// Invariants:
//   - the lab's end is the guest's: QEMU carries the lab's token, its files are in the host's run
//     directory, its interfaces in the host's namespace;
//   - a guest is ready when it answers: nothing waits for a time to pass.
//
// What it does not do: it heeds no pauses, which the host's NIC does for the guest; it keeps nothing of a
// guest that has ended.
package guest
