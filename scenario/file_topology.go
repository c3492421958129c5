package scenario

import (
	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/node/config"
	"softswitch/unit"
)

// fileTopology is one of the builders (fattree, ring, leafspine, rails, jellyfish, dragonfly), or
// switches with hosts and links; then what is wired otherwise, and the properties of the
// links.
type fileTopology struct {
	// FatTree is a fat-tree: switches core<i>, agg<pod>-<i> and edge<pod>-<i>, and hosts
	// h<pod>-<edge>-<i>.
	FatTree *fileFatTree `yaml:"fattree"`
	// Ring is switches s1, s2, ... in a circle, and hosts h<switch>-<i>.
	Ring *fileRing `yaml:"ring"`
	// LeafSpine is two tiers: switches spine<i> and leaf<i>, each leaf linked to each spine,
	// and hosts h<leaf>-<i>; all count from 0.
	LeafSpine *fileLeafSpine `yaml:"leafspine"`
	// Rails is a fabric of rails, as clusters of GPUs have: switches rail<i>, hosts h<j> whose NIC
	// i is at rail<i>, with an address of its own, and spine<i>, each linked to each rail; all count
	// from 0.
	Rails *fileRails `yaml:"rails"`
	// Jellyfish is a random regular graph of switches s1, s2, ... with hosts h<switch>-<i>
	// (Singla et al., NSDI 2012). It has no levels, so that
	// shortest paths can close a cycle of buffers, which `softswitch check` finds.
	Jellyfish *fileJellyfish `yaml:"jellyfish"`
	// Dragonfly is groups of switches r<group>-<i> that are all linked to one another, and
	// hosts h<group>-<router>-<i> (Kim et al., ISCA 2008). Every two groups have the same
	// number of links between them, in the consecutive arrangement: the global ports of a
	// group, router by router, lead to group 0 first, then to 1, and so on. All count from 0.
	// It has no levels either.
	Dragonfly *fileDragonfly `yaml:"dragonfly"`
	// Switches by name.
	Switches []string `yaml:"switches" schema:"name"`
	// Hosts by name; each has 1 to 16 links, to switches: its NICs 0, 1, ..., in the order of the
	// links. Each NIC has an address in the subnet of its switch.
	Hosts []string `yaml:"hosts" schema:"name"`
	// SharedAddress is hosts with one IP and one MAC address at all of their links, each to another
	// switch, as servers have that are at two ToRs: these switches own the subnet together, and what
	// cannot reach the host by one goes by another.
	SharedAddress []string `yaml:"shared_address" schema:"name"`
	// Links between two nodes. A second link between the same two is called "s1--s2#2".
	Links []string `yaml:"links" schema:"pair"`
	// Rewire is changes of the links, of a builder's or of a list, one after the other: what
	// is cabled otherwise than planned. Names of links stay until all is done. Routes are the
	// shortest paths of what comes of it, which need not go up and then down.
	Rewire []fileRewire `yaml:"rewire"`
	// LAGs are links that act as one, once all is rewired. Further links come behind all others.
	LAGs []fileLAG `yaml:"lags"`
	// Routing is what the switches know their routes from. backups: shortest paths, and at each switch other
	// ports that serve while all of these are down, whoever it is that they lead to. igp: shortest paths
	// alone. bgp: of these, the ones whose AS numbers come once (RFC 7938). The routes of igp and bgp are those of
	// all links up; `softswitch check` has those of what is left after a failure.
	Routing string `yaml:"routing" schema:"backups|igp|bgp,default=backups"`
	// SharedAS is switches with one AS number, a list for each, of routing bgp. Every other switch has a
	// number of its own. Default: the top tier shares one, and each tier of a pod below it, but the lowest
	// (RFC 7938, section 5.2).
	SharedAS [][]string `yaml:"shared_as" schema:"switch"`
	// MTU is the longest IP packet in bytes, in the whole fabric. A frame may be 14 bytes
	// longer, with an 802.1Q tag 18; a longer one is dropped.
	MTU *int `yaml:"mtu" schema:"1500..9216,default=1500"`

	fileLink `yaml:",inline"`

	// Overrides are links with properties of their own.
	Overrides []fileOverride `yaml:"overrides"`
	// Ports are ports with settings of their own: where several name a port, the last that has a key
	// counts.
	Ports []filePort `yaml:"ports"`
}

// fileLink is the properties of a link: of every one that Overrides does not name, or of one.
type fileLink struct {
	// Rate of a link, above zero. The next keys are per link too.
	Rate unit.Rate `yaml:"rate" schema:"rate,required"`
	// Delay of a link, at most 1s. A live lab keeps time to a millisecond, and plays no
	// delay or jitter below that. Of 1us±200ns each run draws one for each link, by its seed.
	Delay drawnTime `yaml:"delay" schema:"drawn time,default=0s"`
	// Cable is the length of a link in metres, instead of a delay: 5.05 ns for each.
	Cable config.Cable `yaml:"cable" schema:"length"`
	// Jitter is the largest random extra delay, evenly from 0, at most 1s; frames keep
	// their order.
	Jitter unit.Time `yaml:"jitter" schema:"time,default=0s"`
	// ControlLoss is how many of 1000 control frames (PFC, messages of detectors) are
	// lost.
	ControlLoss *int `yaml:"control_loss_per_mille" schema:"0..1000,default=0"`
	// Loss is the share of other frames that are lost.
	Loss config.Share `yaml:"loss" schema:"percent,default=0%"`
	// Duplicate is the share of frames, of any kind, that come twice.
	Duplicate config.Share `yaml:"duplicate" schema:"percent,default=0%"`
	// Reorder is the share of frames, of any kind, that take twice the delay: others
	// overtake them.
	Reorder config.Share `yaml:"reorder" schema:"percent,default=0%"`
}

// fileFatTree is a fat-tree of three tiers.
type fileFatTree struct {
	// K is the number of ports of a switch, even: k pods, 5k²/4 switches, k³/4 hosts.
	K int `yaml:"k" schema:"2..48,required"`
}

// fileRing is a ring of switches.
type fileRing struct {
	Switches int `yaml:"switches" schema:"3..1000,required"`
	Hosts    int `yaml:"hosts_per_switch" schema:"1..254,required"`
}

// fileLeafSpine is leaves and spines.
type fileLeafSpine struct {
	Leaves int `yaml:"leaves" schema:"2..256,required"`
	// Spines and Hosts together are at most 256, the ports of a leaf.
	Spines int `yaml:"spines" schema:"1..255,required"`
	Hosts  int `yaml:"hosts_per_leaf" schema:"1..255,required"`
	// DualHomed makes the leaves pairs: their number is even, and each host of a pair, h<pair>-<i>,
	// is linked to both leaves, with one address (shared_address).
	DualHomed bool `yaml:"dual_homed" schema:",default=false"`
}

// fileRails is hosts with a NIC at each rail.
type fileRails struct {
	Rails int `yaml:"rails" schema:"2..16,required"`
	// Hosts and Spines together are at most 256, the ports of a rail's switch.
	Hosts  int `yaml:"hosts" schema:"1..255,required"`
	Spines int `yaml:"spines" schema:"1..255,required"`
}

// fileJellyfish is a random regular graph.
type fileJellyfish struct {
	Switches int `yaml:"switches" schema:"3..1000,required"`
	// Degree is how many others a switch is linked to. The ports of all switches must be
	// even in number; Degree and Hosts together are at most 256.
	Degree int `yaml:"degree" schema:"2..255,required"`
	Hosts  int `yaml:"hosts_per_switch" schema:"1..254,required"`
	// Seed from which the graph is drawn: the same one draws the same graph.
	Seed uint32 `yaml:"seed" schema:"0..4294967295,default=0"`
}

// fileDragonfly is groups of routers, at most 2000 in all.
type fileDragonfly struct {
	// Groups: at most as many as a group has global links, and one more.
	Groups  int `yaml:"groups" schema:"2..2000,required"`
	Routers int `yaml:"routers_per_group" schema:"1..256,required"`
	Hosts   int `yaml:"hosts_per_router" schema:"1..255,required"`
	// GlobalLinks are those of each router to other groups. Those that do not suffice for
	// another link between every two groups are not made.
	GlobalLinks int `yaml:"global_links" schema:"1..255,required"`
}

// fileRewire is one change, one of:
type fileRewire struct {
	// Remove a link.
	Remove string `yaml:"remove" schema:"link"`
	// Add a link between two nodes.
	Add string `yaml:"add" schema:"pair"`
	// Swap two links: a--b and c--d become a--d and c--b, as by two cables mixed up.
	Swap []string `yaml:"swap" schema:"link"`
}

// fileOverride is one link. A missing key is as for the other links.
type fileOverride struct {
	Link     string `yaml:"link" schema:"link,required"`
	fileLink `yaml:",inline" schema:",optional"`

	// Auth of a link between switches; a list of two is of its ends, in the order of their
	// names in the link's own.
	Auth strictyaml.Some[auth.Mode] `yaml:"auth" schema:"off|accept|strict"`
	// Scheduler overrides that of the switches at the ports of this link, for the priorities that
	// it names; a list of two is of its ends, as in auth.
	Scheduler strictyaml.Some[config.Scheds] `yaml:"scheduler" schema:",keys=0..7"`
}
