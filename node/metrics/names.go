package metrics

import "github.com/prometheus/client_golang/prometheus"

// metric is a metric's description and type.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	name string
}

// all is the metrics in the order of their definition.
var all []*metric

func define(kind prometheus.ValueType, name, help string, labels ...string) *metric {
	m := &metric{desc: prometheus.NewDesc(name, help, labels, nil), kind: kind, name: name}
	all = append(all, m)
	return m
}

func counter(name, help string, labels ...string) *metric {
	return define(prometheus.CounterValue, name, help, labels...)
}

func gauge(name, help string, labels ...string) *metric {
	return define(prometheus.GaugeValue, name, help, labels...)
}

// Of every node.
var (
	up           = gauge("softswitch_up", "1 if the node answered, 0 if it did not.", "node", "kind")
	eventsLost   = counter("softswitch_events_lost_total", "Events that the log was too slow for.", "node")
	lateness     = gauge("softswitch_lateness_seconds", "By how much the node missed a deadline, or how long a frame waited to be read, at worst: how long it was starved of a processor.", "node")
	goroutines   = gauge("softswitch_goroutines", "Goroutines of the node's process, which may run other nodes too.", "node")
	heapBytes    = gauge("softswitch_heap_bytes", "Bytes of the heap of the node's process that were in use after its last garbage collection.", "node")
	ringDrops    = counter("softswitch_link_dropped_packets_total", "Frames that the kernel dropped because the node was too slow to read them.", "node", "port")
	offloaded    = counter("softswitch_link_offloaded_packets_total", "Frames that came with work left to a NIC, a checksum or to be cut, which the node did.", "node", "port")
	truncated    = counter("softswitch_link_truncated_packets_total", "Frames that came and were lost because they were longer than the node takes.", "node", "port")
	linkBusy     = counter("softswitch_link_busy_total", "Times that the kernel refused to send.", "node", "port")
	linkLost     = counter("softswitch_link_lost_packets_total", "Frames that were on their way out when the link was down or gone, or that it refused.", "node", "port")
	linkReopened = counter("softswitch_link_reopened_total", "Times that a link was reopened because it could not be read.", "node", "port")
	pausesInVain = counter("softswitch_pauses_in_vain_total", "Pauses, first or repeated, after which the far end went on sending in the priority.", "switch", "port", "priority")
	unheeded     = counter("softswitch_unheeded_packets_total", "Frames that came while their priority was paused, later than the far end may be that obeys.", "switch", "port", "priority")
	unheededLost = counter("softswitch_unheeded_lost_packets_total", "Frames of softswitch_unheeded_packets_total that were lost because the headroom was full.", "switch", "port", "priority")
	pfcFrames    = counter("softswitch_pfc_frames_total", "PFC frames that named the priority; kind is pause, resume or refresh (sent only: a pause repeated).", "switch", "port", "priority", "direction", "kind")
	pauseFrames  = counter("softswitch_pause_8023_frames_total", "802.3x PAUSE frames that came in and were honoured; what ignores them drops them, for the reason pause_8023.", "switch", "port")
	hostPause    = counter("softswitch_host_pause_8023_frames_total", "802.3x PAUSE frames that came to a host's NIC, honoured or not.", "host")
	hostPFC      = counter("softswitch_host_pfc_frames_total", "PFC frames of a host's NIC.", "host", "priority", "direction", "kind")
	hostSent     = counter("softswitch_host_sent_packets_total", "Frames that a flow sent.", "host", "flow")
	hostReceived = counter("softswitch_host_received_packets_total", "Frames that arrived of a flow, which is named by its number.", "host", "flow")
	hostBytes    = counter("softswitch_host_received_bytes_total", "Bytes that arrived of a flow.", "host", "flow")
	hostLoss     = counter("softswitch_host_loss_packets_total", "Frames that hosts missed: where is fabric (a flow's sequence numbers that did not arrive) or host (the receive buffer was full).", "host", "where")
)

// Of every host with reliable connections: of all its connections together.
var (
	hostMessages  = counter("softswitch_host_messages_total", "Messages that were acknowledged as a whole.", "host")
	hostTime      = counter("softswitch_host_message_seconds_total", "Completion times of these messages, added up: from when the first packet left to the acknowledgement of the last.", "host")
	hostAgain     = counter("softswitch_host_retransmitted_packets_total", "Packets that the host sent again.", "host")
	hostNaks      = counter("softswitch_host_naks_total", "Negative acknowledgements that made the host send again.", "host")
	hostTimeouts  = counter("softswitch_host_timeouts_total", "Times that the host sent again because no acknowledgement came.", "host")
	hostCNPs      = counter("softswitch_host_cnp_packets_total", "Congestion notification packets; direction is rx (to the host's senders) or tx (for packets that came marked).", "host", "direction")
	hostMarked    = counter("softswitch_host_ecn_marked_packets_total", "Packets that came with Congestion Experienced.", "host")
	hostBadPacket = counter("softswitch_host_bad_packets_total", "Frames to port 4791 that no connection takes; reason is malformed, icrc or unknown_qp.", "host", "reason")
)

// Of every switch and its ports. Frames are counted without FCS.
var (
	portUp        = gauge("softswitch_port_up", "1 if the port's link is up.", "switch", "port")
	packets       = counter("softswitch_packets_total", "Data frames.", "switch", "port", "priority", "direction")
	bytes         = counter("softswitch_bytes_total", "Bytes of data frames.", "switch", "port", "priority", "direction")
	marked        = counter("softswitch_ecn_marked_packets_total", "Data frames that the switch marked with Congestion Experienced as they left.", "switch", "port", "priority")
	pauseSeconds  = counter("softswitch_pfc_pause_seconds_total", "How long the egress queue was paused, the present pause included.", "switch", "port", "priority")
	pauses        = counter("softswitch_pfc_pauses_total", "Times that the egress queue came to be paused.", "switch", "port", "priority")
	queuePaused   = gauge("softswitch_queue_paused", "1 if the egress queue is paused.", "switch", "port", "priority")
	queueBytes    = gauge("softswitch_queue_bytes", "Bytes that wait in the egress queue.", "switch", "port", "priority")
	queueStarved  = gauge("softswitch_queue_starved_seconds", "The longest time for which the egress queue had frames, was not paused, and did not send because others did.", "switch", "port", "priority")
	queueMark     = gauge("softswitch_queue_watermark_bytes", "The most that waited in the egress queue since its watermark was cleared.", "switch", "port", "priority")
	groupXOFF     = gauge("softswitch_priority_group_xoff", "1 if the ingress priority group is XOFF: it pauses its upstream.", "switch", "port", "priority")
	groupBytes    = gauge("softswitch_priority_group_bytes", "Bytes charged to the ingress priority group; area is shared (its reserved minimum included) or headroom.", "switch", "port", "priority", "area")
	groupMark     = gauge("softswitch_priority_group_watermark_bytes", "The most that was charged since the watermark was cleared; area is all or headroom.", "switch", "port", "priority", "area")
	shared        = gauge("softswitch_shared_buffer_bytes", "Bytes of the shared pool in use.", "switch")
	headroomPool  = gauge("softswitch_headroom_pool_bytes", "Bytes of the shared headroom pool in use; 0 if each priority group has headroom of its own.", "switch")
	dropped       = counter("softswitch_dropped_packets_total", "Frames that came in by the port and were dropped, by reason.", "switch", "port", "reason")
	odd           = counter("softswitch_odd_packets_total", "Frames that went on although something was odd about them, by reason.", "switch", "port", "reason")
	lossless      = counter("softswitch_lossless_lost_packets_total", "Well-formed frames of a lossless priority that were lost, those dropped to break a deadlock not among them.", "switch")
	messages      = counter("softswitch_detector_messages_total", "One-hop messages of the detector and the response.", "switch", "port", "direction")
	detectorBytes = gauge("softswitch_detector_state_bytes", "The detector's own state; detector is its name.", "switch", "detector")
	info          = gauge("softswitch_switch_info", "1; the labels say what the switch is.", "switch", "version", "detector", "response")
	deadlocked    = gauge("softswitch_queue_deadlocked", "1 while a deadlock lasts that the detector declared at the egress queue.", "switch", "port", "priority")
	detections    = counter("softswitch_deadlocks_declared_total", "Deadlocks that the detector declared.", "switch")
	detection     = define(prometheus.UntypedValue, "softswitch_deadlock_declaration_seconds", "From a priority group's XOFF to the declaration of the deadlock that it is in.", "switch")
	actions       = counter("softswitch_actions_total", "Actions taken against deadlocks and storms.", "switch", "action")
	refusals      = counter("softswitch_refusals_total", "Actions that were wanted and not taken, by reason.", "switch", "reason")
	linkDowns     = counter("softswitch_link_downs_total", "Times that a link went down.", "switch", "port")
	reroutes      = counter("softswitch_reroutes_total", "Route groups that fell back on their backup ports.", "switch")
	storms        = counter("softswitch_pfcwd_storms_total", "Storms of the PFC watchdog; state is detected or restored.", "switch", "port", "priority", "state")
	stormed       = gauge("softswitch_pfcwd_stormed", "1 while a storm lasts at the queue.", "switch", "port", "priority")
)
