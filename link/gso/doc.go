// Package gso cuts what the kernel's stack leaves to a network device into the frames of a
// wire, and joins frames of a wire to what the kernel takes at once: segmentation and
// checksums on the way out, receive coalescing on the way in, as a NIC's hardware does
// them.
//
//	stack ──▶ [header | TCP or UDP, up to 64 KiB] ──▶ Cutter ──▶ frame, frame, frame ──▶ wire
//	stack ◀── [header | TCP, up to 64 KiB] ◀── Joiner ◀── frame, frame, frame ◀── wire
//
// The header is struct virtio_net_hdr of linux/virtio_net.h, 10 bytes: what is left to do.
// TCP and the datagrams of one UDP flow are cut, and TCP is joined; of any other frame at most
// the checksum is left to do.
//
// Read in this order: header.go (the header, and where a frame's headers are), cut.go,
// join.go.
//
// Invariants:
//   - same bytes: the frames of a segment carry its bytes in order, and so does what is
//     joined; a receiver of the one reads what a receiver of the other does.
//   - right sums: every frame that is cut has right checksums. Frames are joined only if
//     theirs are right, so that nothing that was damaged on the way passes for whole.
//   - order: only frames that follow one another are joined; none overtakes another.
//   - no allocation.
//
// It makes no system call, keeps no frame for later and knows no connection.
package gso
