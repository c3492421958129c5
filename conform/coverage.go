package conform

import (
	"slices"
	"strings"
	"unicode"
)

// Foreign is a test of others, and what stands for it here.
type Foreign struct {
	// Source is whose it is, as Case.Theirs names it; Test is its name there.
	Source, Test string
	// About says what it tests, where its name does not.
	About string
	// Not is why no case stands for it, "" if one does.
	Not string
}

// Sources of tests, as Case.Theirs names them, in the order of the table; several tests of one stand behind
// it, with commas between.
const (
	ofLossless = "SONiC lossless plan"
	ofLossy    = "SONiC lossy plan"
	ofSnappi   = "snappi"
	ofPfcwd    = "pfcwd"
	ofQosSAI   = "test_qos_sai"
	ofQosProbe = "test_qos_probe"
	ofQos      = "sonic-mgmt qos"
	ofRoce     = "RoCEv2"
	ofMgmt     = "sonic-mgmt"
	ofRfc8239  = "RFC 8239"
	ofBmwg     = "draft-calabria-bmwg-ai-fabric-training-bench"
)

// titles of sources, for a table.
var sourceTitles = map[string]string{
	ofLossless: "SONiC: plan for lossless priorities (sonic-mgmt pull 25476)",
	ofLossy:    "SONiC: plan for lossy priorities (sonic-mgmt pulls 25475, 26268)",
	ofSnappi:   "sonic-mgmt: tests/snappi_tests",
	ofPfcwd:    "sonic-mgmt: tests/pfcwd",
	ofQosSAI:   "sonic-mgmt: tests/qos/test_qos_sai.py",
	ofQosProbe: "sonic-mgmt: tests/qos/test_qos_probe.py",
	ofQos:      "sonic-mgmt: tests/qos, others",
	ofRoce:     "sonic-mgmt: plans for RoCEv2 (pulls 23240, 25347, 27040, 27207)",
	ofMgmt:     "SONiC: pulls and issues",
	ofRfc8239:  "RFC 8239, benchmarks of data center switches",
	ofBmwg:     "BMWG: draft-calabria-bmwg-ai-fabric-training-bench, of 15 May 2026",
}

// Reasons why nothing stands for a test.
const (
	noChange = "none: the tester does not change a DUT's configuration"
	noReboot = "none: the tester does not reboot a DUT"
	needsCLI = "none: watermarks need the DUT's command line"
)

// foreignTests are the tests of others, by source.
var foreignTests = []Foreign{
	{ofLossless, "L01", "a paused priority stands still, others go on", ""},
	{ofLossless, "L02", "several priorities in a frame", ""},
	{ofLossless, "L03", "quanta 0 resumes", ""},
	{ofLossless, "L04", "how long a pause lasts", ""},
	{ofLossless, "L05", "several ports at once", ""},
	{ofLossless, "L06", "frames of 64, 512, 1518, 9216 bytes", ""},
	{ofLossless, "L07", "lengths mixed", ""},
	{ofLossless, "L08", "XOFF and headroom", ""},
	{ofLossless, "L09", "marks come before pauses", ""},
	{ofLossless, "L10", "deadlock", ""},
	{ofLossless, "L11", "a link flaps", ""},
	{ofLossless, "L12", "storms below the watchdog's time", ""},
	{ofLossless, "L13", "the watchdog", ""},
	{ofLossless, "L14", "several ASICs", "R01 and N01, with ports of two ASICs in the profile"},
	{ofLossless, "L15", "counters", ""},

	{ofLossy, "malformed", "", ""},
	{ofLossy, "802.3x ignored", "", ""},
	{ofLossy, "lossy congestion sends none", "", ""},
	{ofLossy, "earlier text", "a storm beside lossy priorities; head-of-line latency", ""},

	{ofSnappi, "pause_lossless", "", ""},
	{ofSnappi, "pause_lossy", "", ""},
	{ofSnappi, "unset_bit_enable_vector", "", ""},
	{ofSnappi, "zero_mac", "", ""},
	{ofSnappi, "valid_pfc_frame", "", ""},
	{ofSnappi, "valid_src_mac", "", ""},
	{ofSnappi, "global_pause", "", ""},
	{ofSnappi, "test_malformed_pfc_frame_handling", "", ""},
	{ofSnappi, "test_global_pause_dut_ignore", "", ""},
	{ofSnappi, "pause_response", "headroom", ""},
	{ofSnappi, "response_time", "", ""},
	{ofSnappi, "m2o_oversubscribe_lossless", "", ""},
	{ofSnappi, "m2o_oversubscribe_lossy", "", ""},
	{ofSnappi, "m2o_oversubscribe_lossless_lossy", "", ""},
	{ofSnappi, "m2o_fluctuating", "", ""},
	{ofSnappi, "external_pause_storms", "", ""},
	{ofSnappi, "throttling_pause_storms", "", ""},
	{ofSnappi, "port_congestion", "", ""},
	{ofSnappi, "mixed_speed", "", ""},
	{ofSnappi, "no_congestion_throughput", "", ""},
	{ofSnappi, "tx_drop_counter", "", ""},
	{ofSnappi, "pfcwd_basic", "", ""},
	{ofSnappi, "pfcwd_burst_storm", "", ""},
	{ofSnappi, "pfcwd_a2a", "", ""},
	{ofSnappi, "pfcwd_m2o", "", ""},
	{ofSnappi, "runtime_traffic", "", ""},
	{ofSnappi, "pfcwd actions", "", ""},
	{ofSnappi, "ecn marking", "", ""},
	{ofSnappi, "dequeue", "marks on leaving, not on coming", ""},
	{ofSnappi, "red_accuracy", "", ""},
	{ofSnappi, "dualtor", "a deadlock of two top-of-rack switches", ""},
	{ofSnappi, "warm_reboot", "and other reboots", noReboot},

	{ofPfcwd, "timer_accuracy", "", ""},
	{ofPfcwd, "function", "its actions", ""},
	{ofPfcwd, "all_port_storm", "", ""},
	{ofPfcwd, "multi_port", "", ""},
	{ofPfcwd, "port_toggle", "", ""},
	{ofPfcwd, "storm_during_traffic", "", ""},
	{ofPfcwd, "no_traffic", "", ""},
	{ofPfcwd, "xon_not_counted", "", ""},
	{ofPfcwd, "mmu_change", "", noChange},
	{ofPfcwd, "warm_reboot", "", noReboot},

	{ofQosSAI, "PfcXoffLimit", "", ""},
	{ofQosSAI, "PfcXonLimit", "", ""},
	{ofQosSAI, "XonHysteresis", "", ""},
	{ofQosSAI, "HeadroomPoolSize", "", ""},
	{ofQosSAI, "SharedReservationSize", "", ""},
	{ofQosSAI, "PGDrop", "", ""},
	{ofQosSAI, "LossyQueue", "", ""},
	{ofQosSAI, "LosslessVoq", "", ""},
	{ofQosSAI, "Dwrr", "", ""},
	{ofQosSAI, "DwrrWeightChange", "", noChange},
	{ofQosSAI, "DscpToPg", "", ""},
	{ofQosSAI, "Dot1pToPg", "", ""},
	{ofQosSAI, "DscpEcn", "", ""},
	{ofQosSAI, "PfcStormWithSharedHeadroom", "", ""},
	{ofQosSAI, "cell sizes", "", ""},
	{ofQosSAI, "watermarks", "", needsCLI},

	{ofQosProbe, "Xoff", "", ""},
	{ofQosProbe, "IngressDrop", "", ""},
	{ofQosProbe, "Xon", "", ""},
	{ofQosProbe, "EgressDrop", "", ""},
	{ofQosProbe, "HeadroomPool", "", ""},

	{ofQos, "test_pfc_pause", "", ""},
	{ofQos, "test_pfc_counters", "", ""},
	{ofQos, "sched_strict_priority", "", ""},
	{ofQos, "test_pfc_asym", "PFC on for receiving alone", "none: a profile names lossless priorities for both ways"},

	{ofRoce, "TC1", "no congestion", ""},
	{ofRoce, "TC2", "n to 1", ""},
	{ofRoce, "TC3", "DCQCN", ""},
	{ofRoce, "TC4", "storage", ""},

	{ofMgmt, "pull 7420", "frames that are too short", ""},
	{ofMgmt, "pull 25590", "a resume is a valid frame", ""},
	{ofMgmt, "pull 25668", "rates and quanta", ""},
	{ofMgmt, "pull 27718", "an ingress that stalls", ""},
	{ofMgmt, "issue 25668", "rates and quanta", ""},
	{ofMgmt, "issue 20075", "two lossless priorities", ""},
	{ofMgmt, "issue 23441", "of sonic-buildimage: a chip that reacts to pauses of lossy priorities", ""},
	{ofMgmt, "issue 418", "of SONiC: a source address of zero", ""},

	{ofRfc8239, "line rate", "", ""},
	{ofRfc8239, "buffering", "", ""},
	{ofRfc8239, "microburst", "", ""},
	{ofRfc8239, "head of line", "", ""},
	{ofRfc8239, "incast", "", ""},

	{ofBmwg, "5.3", "bursts", ""},
	{ofBmwg, "7.1", "ECN", ""},
	{ofBmwg, "7.2", "PFC under incast", ""},
	{ofBmwg, "7.3", "DCQCN", "none: streams of the tester have no congestion control"},
	{ofBmwg, "7.4", "storm and deadlock", ""},
	{ofBmwg, "12.1", "soak", ""},
}

// prefixes are what else items of Case.Theirs begin with, and the source that they mean.
var prefixes = []struct{ begins, source string }{
	{"snappi ecn ", ofSnappi},
	{"draft-calabria-bmwg ", ofBmwg},
	{"draft-calabria ", ofBmwg},
	{"sonic-buildimage ", ofMgmt},
	{"SONiC issue", ofMgmt},
	{"pull ", ofMgmt},
	{"issue ", ofMgmt},
	{"test_pfc", ofQos},
	{"sched_strict", ofQos},
	{"the cell sizes of test_qos_sai", ofQosSAI},
}

// items are the parts of Theirs, each with its source; "" if that is none of the list.
func items(theirs string) (all [][2]string) {
	for item := range strings.SplitSeq(theirs, ";") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		source := ""
		for _, f := range foreignTests {
			if strings.HasPrefix(item, f.Source) && len(f.Source) > len(source) {
				source = f.Source
			}
		}
		for _, p := range prefixes {
			if strings.HasPrefix(item, p.begins) && source == "" {
				source = p.source
			}
		}
		all = append(all, [2]string{source, item})
	}
	return all
}

// names reports whether an item names a test: as a word of its own.
func (f *Foreign) names(item [2]string) bool {
	if item[0] != f.Source {
		return false
	}
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	for rest := item[1]; ; {
		i := strings.Index(rest, f.Test)
		if i < 0 {
			return false
		}
		end := i + len(f.Test)
		before, after := rest[:i], rest[end:]
		if (before == "" || !inWord(rune(before[len(before)-1]))) && (after == "" || !inWord(rune(after[0]))) {
			return true
		}
		rest = rest[end:]
	}
}

// Cases are those that stand for the test.
func (f *Foreign) Cases() (ids []string) {
	for _, c := range Cases() {
		if slices.ContainsFunc(items(c.Theirs), f.names) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Strays are items of Theirs that name no test of the list, each with its case.
func Strays() (all []string) {
	for _, c := range Cases() {
		for _, item := range items(c.Theirs) {
			if !slices.ContainsFunc(foreignTests, func(f Foreign) bool { return f.names(item) }) {
				all = append(all, c.ID+": "+item[1])
			}
		}
	}
	return all
}

// ForeignTests are the tests of others that are known here.
func ForeignTests() []Foreign { return foreignTests }
