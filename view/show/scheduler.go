package show

import (
	"strconv"

	"softswitch/internal/control"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// Schedulers are how the queues of each port share it.
type Schedulers struct {
	Ports []portScheduler `json:"ports"`
}

type portScheduler struct {
	Port   string       `json:"port"`
	Queues []queueSched `json:"queues"`
}

type queueSched struct {
	Queue   int       `json:"queue"`
	Type    string    `json:"type"` // "STRICT" or "DWRR"
	Weight  int       `json:"weight,omitempty"`
	Starved unit.Time `json:"starved_ns"`
	Waiting unit.Time `json:"waiting_ns"`
}

// QueueSchedulers shows type and weight by port and queue, in the words of SONiC's table SCHEDULER, and
// for how long others keep a queue from sending, and did at most.
func QueueSchedulers() View[Schedulers] {
	return View[Schedulers]{
		Fetch: func(e control.Endpoint) (out Schedulers, err error) {
			setup, err := client.Setup(e)
			if err != nil {
				return out, err
			}
			now, err := client.Stats[observe.Switch](e)
			if err != nil {
				return out, err
			}
			for i, p := range setup.Ports {
				port := portScheduler{Port: p.Name}
				for c, weight := range p.Weights {
					q := queueSched{Queue: c, Type: "DWRR", Weight: weight, Starved: now.Ports[i].Starved[c], Waiting: now.Ports[i].Waiting[c]}
					if weight == 0 {
						q.Type = "STRICT"
					}
					port.Queues = append(port.Queues, q)
				}
				out.Ports = append(out.Ports, port)
			}
			return out, nil
		},
		Tables: one(table{header: []string{"Port", "TxQ", "Type", "Weight", "Waiting MS", "Longest wait MS"}, left: 3}, func(t *table, s Schedulers) {
			for _, p := range s.Ports {
				for _, q := range p.Queues {
					weight := "N/A"
					if q.Weight > 0 {
						weight = strconv.Itoa(q.Weight)
					}
					t.add(p.Port, "UC"+strconv.Itoa(q.Queue), q.Type, weight, Milliseconds(q.Waiting), Milliseconds(q.Starved))
				}
			}
		}),
	}
}
