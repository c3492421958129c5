package nicdemo

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// iperf is iperf3's report on its datagrams.
type iperf struct {
	Sent int64 `json:"sent"`
	Lost int64 `json:"lost"` // as far as the receiver knows
	// Rate is the received bit rate.
	Rate float64 `json:"received_bps"`
}

// pingCount is ping's summary.
type pingCount struct {
	Sent, Received int
	Average        string // of the round trips, in ms
}

func parseIperf(text []byte) (i iperf, err error) {
	var report struct {
		End struct {
			Sent struct {
				Packets int64 `json:"packets"`
			} `json:"sum_sent"`
			Received struct {
				Lost int64   `json:"lost_packets"`
				Rate float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return i, fmt.Errorf("iperf3: its report: %w", err)
	}
	e := report.End
	return iperf{Sent: e.Sent.Packets, Lost: e.Received.Lost, Rate: e.Received.Rate}, nil
}

// parsePing parses the summary of ping -q.
func parsePing(text string) (p pingCount, err error) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "packets transmitted") {
			_, err = fmt.Sscanf(line, "%d packets transmitted, %d received", &p.Sent, &p.Received)
		}
		if _, times, ok := strings.Cut(line, "min/avg/max/mdev = "); ok {
			_, rest, _ := strings.Cut(times, "/")
			p.Average, _, _ = strings.Cut(rest, "/")
		}
	}
	if err == nil && p.Sent == 0 {
		err = fmt.Errorf("ping: it sums up nothing: %q", text)
	}
	return p, err
}

// drainPatience is how long frames in transit may take after the programs have ended:
// all buffers together hold less than a second's worth.
const drainPatience = 5 * time.Second
