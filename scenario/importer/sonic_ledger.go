package importer

// Reasons that several tables have.
const (
	management = "they manage the switch"
	addresses  = "a scenario has addresses of its own"
	subnets    = "the hosts of a switch are one subnet"
	bgpReason  = "a scenario has no routing protocol: topology.routing is what comes of it"
	noTunnels  = "a scenario has no tunnels"
	noFilters  = "a scenario has no access lists"
	noNAT      = "a scenario translates no addresses"
	noDPU      = "a scenario has no DPUs"
	noStorms   = "a scenario bounds no floods"
	meters     = "a scenario measures and limits no rate but those of links"
	wires      = "the error rate of a wire is the key loss"
	notNamed   = "no port of a link names it"
	chassis    = "a switch of a scenario is one chip"
)

// interfaceFields are the fields of tables whose keys alone are used, for their subnets.
var interfaceFields = reasons{{"vrf_name vnet_name nat_zone mpls grat_arp proxy_arp ipv6_use_link_local_only static_anycast_gateway mac_addr loopback_action scope family secondary", addresses}}

// sonicLedger is what becomes of each field of a config_db.json: the tables of the YANG models of
// sonic-net/sonic-buildimage (src/sonic-yang-models/yang-models, commit 086b03bd), and those that files
// of older releases have.
var sonicLedger = ledger{
	// The switch, its ports and links.
	"DEVICE_METADATA": {
		used: "hostname platform hwsku type bgp_asn",
		told: reasons{
			{"switch_type switch_id max_cores asic_name asic_id sub_role chassis_hostname downstream_subrole asic", chassis},
			{"default_bgp_status", "routes are there from the start"},
			{"wcmp_enabled nexthop_group", "ECMP shares evenly"},
		},
		idle: reasons{
			{"default_pfcwd_status", "PFC_WD says which ports have a watchdog"},
			{"buffer_model", "BUFFER_PG says of which ports SONiC computes the profile"},
			{"subtype storage_device resource_type cluster peer_switch cloudtype region deployment_id slice_type location_type mac", "they are names and roles, which tables for ports express"},
			{"docker_routing_config_mode frr_mgmt_framework_config synchronous_mode yang_config_validation " +
				"mgmt_type dhcp_server bgp_adv_lo_prefix_as_128 suppress-fib-pending rack_mgmt_map timezone " +
				"create_only_config_db_buffers supporting_bulk_counter_groups bgp_router_id ring_thread_enabled " +
				"t2_group_asns anchor_route_source orch_northbond_dash_zmq_enabled syslog_with_osversion " +
				"syslog_counter has_sonic_dhcpv4_relay zebra_nexthop use_template_render_for_restore " +
				"dpu_auto_recovery bmc_if_name bmc_if_addr bmc_addr bmc_net_mask nhg_fib", management},
		},
	},
	"PORT": {
		used: "admin_status alias mtu speed pfc_asym lanes",
		told: reasons{
			{"fec link_training tx_power laser_freq fast_linkup", wires},
			{"dhcp_rate_limit", meters},
			{"macsec", "a scenario encrypts no frames"},
			{"tpid", "a tag of a scenario has the TPID 8100"},
			{"core_id core_port_id num_voq asic_port_name", chassis},
		},
		idle: reasons{
			{"index subport description dom_polling mux_cable role", "they say what a port is called or for"},
			{"autoneg adv_speeds interface_type adv_interface_types", "speed is what counts"},
			{"mode", subnets},
		},
	},
	"DEVICE_NEIGHBOR": {
		used: "name port local_port type",
		idle: reasons{{"mgmt_addr hwsku lo_addr lo_addr_v6 deployment_id", "name and port say where the link leads"}},
	},
	"DEVICE_NEIGHBOR_METADATA": {
		used: "type",
		idle: reasons{{"cluster hwsku lo_addr lo_addr_v6 mgmt_addr mgmt_addr_v6 deployment_id slice_type resource_type", "type says whether it is a switch"}},
	},
	"CABLE_LENGTH": {used: "*"},
	"PORTCHANNEL": {
		used: "min_links admin_status",
		told: reasons{{"members members@ mtu", "PORTCHANNEL_MEMBER has the members, and PORT their mtu"}, {"fallback lacp_key fast_rate system_mac mode tpid", "a LAG of a scenario speaks no LACP"}},
		idle: reasons{{"description", "it is a name"}},
	},
	"PORTCHANNEL_MEMBER": {},
	"VLAN_MEMBER":        {idle: reasons{{"tagging_mode", subnets}}},
	"BREAKOUT_CFG":       {all: "PORT has what comes of a breakout"},
	"MUX_CABLE":          {lost: "a host at two switches uses both links"},

	// Priorities.
	"PORT_QOS_MAP": {
		used: "pfc_enable dscp_to_tc_map dot1p_to_tc_map tc_to_pg_map tc_to_queue_map pfc_to_queue_map pfc_to_pg_map",
		told: reasons{
			{"scheduler", meters},
			{"tc_to_dscp_map", "frames keep their DSCP"},
		},
		idle: reasons{{"pfcwd_sw_enable", "PFC_WD says which ports have a watchdog"}},
	},
	"DSCP_TO_TC_MAP":                     {used: "*", spare: notNamed},
	"DOT1P_TO_TC_MAP":                    {used: "*", spare: notNamed},
	"TC_TO_PRIORITY_GROUP_MAP":           {used: "*", spare: notNamed},
	"TC_TO_QUEUE_MAP":                    {used: "*", spare: notNamed},
	"MAP_PFC_PRIORITY_TO_QUEUE":          {used: "*", spare: notNamed},
	"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {used: "*", spare: notNamed},
	"MAP_PFC_PRIORITY_TO_PRIORITY_GROUP": {used: "*", spare: notNamed},
	"TC_TO_DSCP_MAP":                     {lost: "frames keep their DSCP"},
	"DSCP_TO_FC_MAP":                     {all: "forwarding classes choose among tunnels, which a scenario has not"},
	"EXP_TO_FC_MAP":                      {all: "a scenario has no MPLS"},
	"MPLS_TC_TO_TC_MAP":                  {all: "a scenario has no MPLS"},

	// Buffers.
	"BUFFER_POOL": {
		used:  "size xoff mode",
		told:  reasons{{"percentage", "size is what counts"}},
		idle:  reasons{{"type", "only lossless priority groups have a pool"}},
		spare: "only lossless priority groups have a pool",
	},
	"BUFFER_PROFILE": {
		used:  "pool size static_th dynamic_th xon xon_offset xoff headroom_type",
		told:  reasons{{"packet_discard_action", "a frame that is dropped is not trimmed"}, {"mode", "static_th or dynamic_th says it"}},
		spare: "only lossless priority groups have a profile",
	},
	"BUFFER_PG":                         {used: "profile", spare: "only lossless priorities of ports with a link have a priority group"},
	"BUFFER_QUEUE":                      {lost: "a lossy queue is bounded by buffer.lossy_queue, a lossless one is not"},
	"BUFFER_PORT_INGRESS_PROFILE_LIST":  {lost: "a port has no bound of its own"},
	"BUFFER_PORT_EGRESS_PROFILE_LIST":   {lost: "a port has no bound of its own"},
	"DEFAULT_LOSSLESS_BUFFER_PARAMETER": {used: "default_dynamic_th over_subscribe_ratio"},
	"LOSSLESS_TRAFFIC_PATTERN":          {used: "mtu small_packet_percentage"},
	"SWITCH_TRIMMING":                   {lost: "a frame that is dropped is not trimmed"},

	// What leaves a port, and the watchdog.
	"QUEUE": {used: "scheduler wred_profile"},
	"SCHEDULER": {
		used:  "type weight",
		told:  reasons{{"meter_type cir pir cbs pbs", meters}, {"priority", "strict priorities go 7 before 0"}},
		spare: "no QUEUE of a link's port names it",
	},
	"WRED_PROFILE": {
		used:  "ecn green_min_threshold green_max_threshold green_drop_probability wred_green_enable",
		idle:  reasons{{"yellow_min_threshold yellow_max_threshold yellow_drop_probability wred_yellow_enable red_min_threshold red_max_threshold red_drop_probability wred_red_enable", "all frames are green"}},
		spare: "no QUEUE of a lossless priority names it",
	},
	"PFC_WD": {
		used: "action detection_time restoration_time POLL_INTERVAL",
		told: reasons{{"BIG_RED_SWITCH", "it is an order to a switch that runs: softswitch pfcwd big_red_switch"}},
		idle: reasons{{"pfc_stat_history", "it is about what is shown"}},
	},
	"SWITCH_HASH": {lost: "ECMP hashes the 5-tuple"},
	"PBH_HASH":    {lost: "ECMP hashes the 5-tuple"}, "PBH_HASH_FIELD": {lost: "ECMP hashes the 5-tuple"},
	"PBH_RULE": {lost: "ECMP hashes the 5-tuple"}, "PBH_TABLE": {lost: "ECMP hashes the 5-tuple"},
	"FG_NHG": {lost: "ECMP shares evenly"}, "FG_NHG_MEMBER": {lost: "ECMP shares evenly"}, "FG_NHG_PREFIX": {lost: "ECMP shares evenly"},

	// Addresses and routes.
	"INTERFACE": {idle: interfaceFields}, "PORTCHANNEL_INTERFACE": {idle: interfaceFields}, "VLAN_INTERFACE": {idle: interfaceFields},
	"LOOPBACK_INTERFACE": {all: addresses},
	"VLAN":               {all: subnets}, "VLAN_SUB_INTERFACE": {lost: "a link has no interfaces of several VLANs"},
	"MGMT_INTERFACE": {all: management}, "MGMT_PORT": {all: management}, "MGMT_VRF_CONFIG": {all: management},
	"NEIGH": {all: addresses}, "SAG": {all: addresses}, "VOQ_INBAND_INTERFACE": {all: addresses},
	"BGP_NEIGHBOR": {idle: reasons{{"asn holdtime keepalive local_addr name nhopself rrclient admin_status peer_group_name local_asn " +
		"peer_type ebgp_multihop ebgp_multihop_ttl auth_password conn_retry min_adv_interval passive_mode " +
		"capability_ext_nexthop disable_ebgp_connected_route_check enforce_first_as solo_peer " +
		"ttl_security_hops bfd bfd_check_ctrl_plane_failure capability_dynamic dont_negotiate_capability " +
		"enforce_multihop override_capability peer_port shutdown_message strict_capability_match " +
		"local_as_no_prepend local_as_replace_as", bgpReason}}},
	"BGP_MONITORS": {all: bgpReason}, "BGP_PEER_RANGE": {all: bgpReason}, "BGP_INTERNAL_NEIGHBOR": {all: bgpReason},
	"BGP_VOQ_CHASSIS_NEIGHBOR": {all: bgpReason}, "BGP_BBR": {all: bgpReason}, "BGP_SENTINELS": {all: bgpReason},
	"BGP_GLOBALS": {lost: bgpReason}, "BGP_GLOBALS_AF": {lost: bgpReason}, "BGP_GLOBALS_AF_AGGREGATE_ADDR": {lost: bgpReason},
	"BGP_GLOBALS_AF_NETWORK": {lost: bgpReason}, "BGP_GLOBALS_LISTEN_PREFIX": {lost: bgpReason},
	"BGP_NEIGHBOR_AF": {lost: bgpReason}, "BGP_PEER_GROUP": {lost: bgpReason}, "BGP_PEER_GROUP_AF": {lost: bgpReason},
	"BGP_ALLOWED_PREFIXES": {lost: bgpReason}, "BGP_AGGREGATE_ADDRESS": {lost: bgpReason}, "BGP_DEVICE_GLOBAL": {lost: bgpReason},
	"AS_PATH_SET": {lost: bgpReason}, "COMMUNITY_SET": {lost: bgpReason}, "EXTENDED_COMMUNITY_SET": {lost: bgpReason},
	"PREFIX": {lost: bgpReason}, "PREFIX_LIST": {lost: bgpReason}, "PREFIX_SET": {lost: bgpReason},
	"ROUTE_MAP": {lost: bgpReason}, "ROUTE_MAP_SET": {lost: bgpReason}, "ROUTE_REDISTRIBUTE": {lost: bgpReason},
	"STATIC_ROUTE": {lost: "routes of a scenario are its key routes, by switch and neighbour"},
	"VRF":          {lost: "a switch has one table of routes"},
	"STP":          {lost: "hosts of a switch are bridged there alone"}, "STP_MST": {lost: "hosts of a switch are bridged there alone"},
	"STP_MST_INST": {lost: "hosts of a switch are bridged there alone"}, "STP_MST_PORT": {lost: "hosts of a switch are bridged there alone"},
	"STP_PORT": {lost: "hosts of a switch are bridged there alone"}, "STP_VLAN": {lost: "hosts of a switch are bridged there alone"},
	"STP_VLAN_PORT": {lost: "hosts of a switch are bridged there alone"},
	"MCLAG_DOMAIN":  {all: "the links of a host say at which switches it is"}, "MCLAG_UNIQUE_IP": {all: addresses},
	"MCLAG_INTERFACE": {all: "the links of a host say at which switches it is"}, "PEER_SWITCH": {all: addresses},
	"EVPN_ETHERNET_SEGMENT": {all: "the links of a host say at which switches it is"}, "EVPN_MH_GLOBAL": {lost: noTunnels},
	"MAC_MOVE_GUARD": {all: "hosts of a scenario stay where they are"},

	// Tunnels, filters and the like.
	"TUNNEL": {lost: noTunnels}, "VNET": {lost: noTunnels}, "VNET_ROUTE": {lost: noTunnels}, "VNET_ROUTE_TUNNEL": {lost: noTunnels},
	"VXLAN_TUNNEL": {lost: noTunnels}, "VXLAN_TUNNEL_MAP": {lost: noTunnels}, "VXLAN_EVPN_NVO": {lost: noTunnels},
	"NVGRE_TUNNEL": {lost: noTunnels}, "NVGRE_TUNNEL_MAP": {lost: noTunnels}, "SUBNET_DECAP": {lost: noTunnels},
	"SRV6_MY_LOCATORS": {lost: noTunnels}, "SRV6_MY_SOURCE": {lost: noTunnels}, "SRV6_MY_SIDS": {lost: noTunnels},
	"ACL_RULE": {lost: noFilters}, "ACL_TABLE": {lost: noFilters}, "ACL_TABLE_TYPE": {lost: noFilters},
	"NAT_BINDINGS": {lost: noNAT}, "NAT_GLOBAL": {lost: noNAT}, "NAT_POOL": {lost: noNAT}, "STATIC_NAPT": {lost: noNAT}, "STATIC_NAT": {lost: noNAT},
	"POLICER": {lost: meters}, "PORT_STORM_CONTROL": {lost: noStorms}, "MIRROR_SESSION": {lost: "frames are not mirrored"},
	"MACSEC_PROFILE": {lost: "a scenario encrypts no frames"},
	"COPP_GROUP":     {lost: "what a switch answers itself has bounds of its own"}, "COPP_TRAP": {lost: "what a switch answers itself has bounds of its own"},
	"DPU": {lost: noDPU}, "DPUS": {lost: noDPU}, "REMOTE_DPU": {lost: noDPU}, "VDPU": {lost: noDPU}, "MID_PLANE_BRIDGE": {lost: noDPU},
	"DASH_ACL_GROUP": {lost: noDPU}, "DASH_ACL_IN": {lost: noDPU}, "DASH_ACL_OUT": {lost: noDPU}, "DASH_ACL_RULE": {lost: noDPU},
	"DASH_APPLIANCE": {lost: noDPU}, "DASH_ENI": {lost: noDPU}, "DASH_HA_GLOBAL_CONFIG": {lost: noDPU}, "DASH_QOS": {lost: noDPU},
	"DASH_ROUTE_TABLE": {lost: noDPU}, "DASH_ROUTING_TYPE": {lost: noDPU}, "DASH_VNET": {lost: noDPU}, "DASH_VNET_MAPPING_TABLE": {lost: noDPU},
	"FABRIC_MONITOR": {lost: chassis}, "FABRIC_PORT": {lost: chassis}, "SYSTEM_PORT": {lost: chassis}, "CHASSIS_MODULE": {lost: chassis},
	"SWITCH_FAST_LINKUP": {lost: wires}, "SYSTEM_DEFAULTS": {all: "they are for templates, from which the other tables come"},
	"WARM_RESTART": {all: management}, "LLDP": {lost: "lldp of a scenario is a key of its own"}, "LLDP_PORT": {lost: "lldp of a scenario is a key of its own"},

	// Management, counters and services.
	"AAA": {all: management}, "ALARM": {all: management}, "ALARM_STATS": {all: management}, "ASIC_SENSORS": {all: management},
	"AUTO_TECHSUPPORT": {all: management}, "AUTO_TECHSUPPORT_FEATURE": {all: management}, "BANNER_MESSAGE": {all: management},
	"BMP": {all: management}, "CONSOLE_PORT": {all: management}, "CONSOLE_SWITCH": {all: management}, "CRM": {all: management},
	"DEBUG_COUNTER": {all: management}, "DEBUG_COUNTER_DROP_REASON": {all: management}, "DEBUG_DROP_MONITOR": {all: management},
	"DHCPV4_RELAY": {all: management}, "DHCP_RELAY": {all: management}, "DHCP_SERVER": {all: management}, "DHCP_SERVER_IPV4": {all: management},
	"DHCP_SERVER_IPV4_CUSTOMIZED_OPTIONS": {all: management}, "DHCP_SERVER_IPV4_PORT": {all: management}, "DHCP_SERVER_IPV4_RANGE": {all: management},
	"DNS_NAMESERVER": {all: management}, "DNS_OPTIONS": {all: management}, "FEATURE": {all: management}, "FIPS": {all: management},
	"FLEX_COUNTER_TABLE": {all: management}, "FLOW_COUNTER_ROUTE_PATTERN": {all: management}, "GNMI": {all: management},
	"GNMI_CLIENT_CERT": {all: management}, "GRPCCLIENT": {all: management}, "HEARTBEAT": {all: management},
	"HIGH_FREQUENCY_TELEMETRY_GROUP": {all: management}, "HIGH_FREQUENCY_TELEMETRY_PROFILE": {all: management}, "KDUMP": {all: management},
	"KUBERNETES_MASTER": {all: management}, "LDAP": {all: management}, "LDAP_SERVER": {all: management}, "LEAK_CONTROL_POLICY": {all: management},
	"LEAK_PROFILE": {all: management}, "LOGGER": {all: management}, "MEMORY_STATISTICS": {all: management}, "MUX_LINKMGR": {all: management},
	"NTP": {all: management}, "NTP_KEY": {all: management}, "NTP_SERVER": {all: management}, "PASSW_HARDENING": {all: management},
	"RADIUS": {all: management}, "RADIUS_SERVER": {all: management}, "RESTAPI": {all: management}, "SERIAL_CONSOLE": {all: management},
	"SFLOW": {all: management}, "SFLOW_COLLECTOR": {all: management}, "SFLOW_SESSION": {all: management}, "SNMP": {all: management},
	"SNMP_AGENT_ADDRESS_CONFIG": {all: management}, "SNMP_COMMUNITY": {all: management}, "SNMP_USER": {all: management},
	"SSH_SERVER": {all: management}, "STORMOND_CONFIG": {all: management}, "SUPPRESS_ASIC_SDK_HEALTH_EVENT": {all: management},
	"SYSLOG_CONFIG": {all: management}, "SYSLOG_CONFIG_FEATURE": {all: management}, "SYSLOG_SERVER": {all: management},
	"TACPLUS": {all: management}, "TACPLUS_SERVER": {all: management}, "TELEMETRY": {all: management}, "TELEMETRY_CLIENT": {all: management},
	"VERSIONS": {all: management}, "XCVRD_LOG": {all: management}, "ZTP": {all: management}, "bgpraw": {lost: bgpReason},
}
