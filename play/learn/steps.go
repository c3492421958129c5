package learn

import (
	"slices"
	"strings"

	"softswitch/oracle/verdict"
	"softswitch/unit"
)

// Question is one with choices, of which one is right.
type Question struct {
	Ask     string
	Choices []string
	// Right is the index of the right choice, by what was played; other is the second play of the step.
	Right func(r, other *Run) int
	Why   string
}

// Step is a part of the course.
type Step struct {
	Title   string
	Minutes int
	Text    string // what is to be known before
	Drawing string
	Play    Play
	Predict Question
	// Other is played for Check, if that has another file, response or flow.
	Other Play
	Check Question
	After string
}

// is is the index of yes if a fact holds, else of no.
func is(fact bool, yes, no int) int {
	if fact {
		return yes
	}
	return no
}

// received is how many bits per second flow 0 got.
func (r *Run) received() int64 { return r.Flows[0].Throughput }

// Steps is the course.
func Steps() []Step {
	return []Step{
		{
			Title: "One pause", Minutes: 4,
			Text: `Ethernet drops what finds no room. Storage and RDMA bear no loss, so Priority-based Flow Control (PFC)
stops the sender instead: a device whose buffer for a neighbour fills beyond a threshold, XOFF, sends that
neighbour a pause frame for one priority; below a second one, XON, a resume.

h1 sends 50 Mbit/s to h2. From 20 ms on, h2 accepts 20 Mbit/s, for 400 ms.`,
			Drawing: `
  h1 ---- s1 ---- h2
     100     100 Mbit/s          frames -->      <-- pauses`,
			Play: Play{File: "pause.yaml"},
			Predict: Question{
				Ask:     "30 Mbit/s more come than h2 accepts. What becomes of them?",
				Choices: []string{"s1 drops them", "s1 keeps them, and then stops h1", "h2 drops them"},
				Right:   func(r, _ *Run) int { return is(r.LosslessLost == 0 && slices.Contains(r.Paused, "s1"), 1, 0) },
				Why:     "Not a frame was lost: h2 paused s1, s1's buffer filled, and s1 paused h1. The rate is the mean of 20 Mbit/s while h2 is slow and 50 before and after.",
			},
			Check: Question{
				Ask:     "Whose pause does h1 obey?",
				Choices: []string{"that of h2, to which it sends", "that of s1, its neighbour"},
				Right:   func(r, _ *Run) int { return is(slices.Equal(r.Paused, []string{"h2", "s1"}), 1, 0) },
				Why:     "A pause goes one hop. h2 stops s1, and s1, when its own buffer is full, stops h1.",
			},
			After: "So h1 waits for h2 and hears of s1 alone: no pause says why it was sent.",
		},
		{
			Title: "Pauses travel", Minutes: 4,
			Text:    "The same with two switches. The buffer of s2 fills first.",
			Drawing: "\n  h1 ---- s1 ---- s2 ---- h2       frames -->      <-- pauses",
			Play:    Play{File: "travel.yaml"},
			Predict: Question{
				Ask:     "In which order do they begin to pause?",
				Choices: []string{"s1, s2, h2: as the frames go", "h2, s2, s1: against the frames", "all at once"},
				Right:   func(r, _ *Run) int { return is(slices.Equal(r.Paused, []string{"h2", "s2", "s1"}), 1, 0) },
				Why:     "Pauses travel upstream, against the frames, a hop at a time: each when its own buffer is full. The frames that are on the wire when a pause is sent are not lost either: above XOFF each buffer keeps room for them, its headroom.",
			},
			Other: Play{File: "victim.yaml"},
			Check: Question{
				Ask:     "h3, at s1, sends 50 Mbit/s to h4, at s2, which is not slow. What does h4 get?",
				Choices: []string{"50 Mbit/s: the link from s1 to s2 carries both flows", "less, about as little as h2"},
				Right:   func(_, other *Run) int { return is(other.Flows[1].Throughput < 40e6, 1, 0) },
				Why:     "s2 pauses s1, and that stops all of priority 3 on their link, not h1's flow: s1 has to pause h3 too. Such a flow is called a victim.",
			},
			After: `A pause stops a priority of a link, not a flow. The buffer that counts is called a *priority group*: what came
in by one port in one priority and is still in the switch. XOFF, XON and headroom are its marks.`,
		},
		{
			Title: "Without PFC", Minutes: 3,
			Text: `The same frames in priority 0, which has no PFC. The link to h2 is slow now, for a receiver that cannot
pause cannot be slow.`,
			Drawing: "\n  h1 ---- s1 ---- s2 ---- h2\n     100     100      20 Mbit/s",
			Play:    Play{File: "lossy.yaml"},
			Predict: Question{
				Ask:     "What becomes of the frames that find no room?",
				Choices: []string{"they are lost, and h1 goes on at 50 Mbit/s", "h1 is stopped all the same", "s2 keeps them for later"},
				Right:   func(r, _ *Run) int { return is(r.Flows[0].Lost > 0 && len(r.Paused) == 0, 0, 1) },
				Why:     "Nobody pauses, and s2 drops what finds no room.",
			},
			Other: Play{File: "travel.yaml"},
			Check: Question{
				Ask:     "Did h2 get more with PFC, in step 2?",
				Choices: []string{"much more", "about as much"},
				Right:   func(r, other *Run) int { return is(other.received() > 2*r.received(), 0, 1) },
				Why:     "A bottleneck is one either way. PFC saves frames, not capacity: what it costs is that others wait.",
			},
			After: "So far a pause always ended, for somebody in front was free to move. That is not so in a circle.",
		},
		{
			Title: "A ring", Minutes: 6,
			Text: `Four switches in a ring, a host at each. Each host sends to the one half-way round, all clockwise, as fast as
it can. Two flows share each link of the ring.`,
			Drawing: `
     h1 -- s1 ---> s2 -- h2
            ^       |              A: h1 to h3 by s1, s2, s3
            |       v              B: h2 to h4 by s2, s3, s4
     h4 -- s4 <--- s3 -- h3        C: h3 to h1, D: h4 to h2`,
			Play: Play{File: "ring.yaml"},
			Predict: Question{
				Ask:     "What arrives at each host, of 100 Mbit/s, in the second that is played?",
				Choices: []string{"50 Mbit/s: two flows share a link", "25 Mbit/s: four flows share the ring", "next to nothing"},
				Right:   func(r, _ *Run) int { return is(r.Deadlock && r.received() < 5e6, 2, 0) },
				Why:     "Four buffers fill, four pauses go round, and each switch waits for the next: a PFC deadlock. It began 14 ms after the first frame, and nothing in it will ever move again. The 82 frames of each flow that are under way stand in these buffers. (`s1--s2` is what waits at s1 for s2.)",
			},
			Other: Play{File: "ring.yaml", Without: "D"},
			Check: Question{
				Ask:     "D does not send. Does the ring lock?",
				Choices: []string{"yes, the ring is still there", "no"},
				Right:   func(_, other *Run) int { return is(other.Deadlock, 0, 1) },
				Why:     "It takes a cycle of buffers that can wait for one another, and enough traffic in every part of it. Two links of the ring carry one flow alone now, are not overloaded, and let the rest move.",
			},
			After: "Such a cycle is in the routes before a frame is sent: `softswitch check` looks for them.",
		},
		{
			Title: "Who notices?", Minutes: 5,
			Text: `No switch sees the ring: each knows that its neighbour has paused it, as on any busy day. ITSY, a
detector that is a part of the switches, puts a small label into every pause. A switch that is paused, and pauses
others for it, passes the label on with its own pauses. So labels travel upstream, as the pauses do.`,
			Drawing: `
     s1 ---> s2        label of s4: s4 pauses s3 with it,
      ^       |        s3 pauses s2 with it, s2 s1, s1 s4:
      |       v        it is home
     s4 <--- s3`,
			Play: Play{File: "ring.yaml", Detector: "itsy"},
			Predict: Question{
				Ask:     "How long after the ring has closed does a switch say so?",
				Choices: []string{"less than a millisecond", "some 200 ms, after a timeout", "never: that takes a controller that sees all"},
				Right: func(r, _ *Run) int {
					found := len(r.Detections) > 0 && r.FalsePositives == 0 && r.FalseNegatives == 0
					return is(found && r.Detections[0].Latency < unit.Millisecond, 0, 2)
				},
				Why: "One lap of the label. A watchdog waits for 200 ms or more instead, and cannot tell a deadlock from a slow host.",
			},
			Check: Question{
				Ask:     "Which switch says so?",
				Choices: []string{"the one that the label comes home to", "the one with the fullest buffer", "all four"},
				Right:   func(r, _ *Run) int { return is(onLoop(r.Verdict), 0, 2) },
				Why:     "Its own label, in a pause from the neighbour that it waits for: that is a proof that the wait comes round to itself.",
			},
			After: "Whether that was true is said by an oracle that sees every switch: *true*, and how long after the ring closed.",
		},
		{
			Title: "The cure", Minutes: 8,
			Text: `A deadlock can be broken by dropping what makes one priority group of the ring resume. But the routes and the
traffic that closed it are still there. The response ` + "`cure`" + ` drops, lends the loop some buffer, and lets the switch
drop frames on the declared way through it for a while, before the ring can close again.

Its actions, as they are printed: restrict (a queue of the loop sends the frames of the loop alone) and free (that is
over), drop, lend (buffer, to a priority group), lossy-turn (what comes in by this port and leaves by that one may be
dropped).`,
			Drawing: `
     s1 ---> s2
      ^       |
      |       v
     s4 <-x- s3        a few frames leave, and the ring moves`,
			Play: Play{File: "ring.yaml", Detector: "itsy", Response: "cure"},
			Predict: Question{
				Ask:     "How many frames have to be dropped to set the ring free?",
				Choices: []string{"all that wait in it, some 300", "a handful", "none"},
				Right:   func(r, _ *Run) int { return is(r.Recovered && r.ResponseDropped > 0 && r.ResponseDropped < 20, 1, 0) },
				Why:     "One priority group at XON is enough: its upstream moves, then the next, and so on round. A frame has 1000 bytes: what was dropped is what the flows lost.",
			},
			Other: Play{File: "ring.yaml", Detector: "itsy", Response: "drop"},
			Check: Question{
				Ask:     "The response `drop` drops such a handful, and does nothing else. What happens then?",
				Choices: []string{"the ring stays open", "it closes again, many times a second"},
				Right:   func(_, other *Run) int { return is(other.Recurrences > 10, 1, 0) },
				Why:     "What closed it goes on. That is why a detector also names where the pauses began, the *initial trigger*, and why a cure does more than break.",
			},
			After: "You have seen a deadlock form, be proven and be cured. Next: docs/tutorial.md, which does it on a lab.",
		},
	}
}

// onLoop reports whether one switch has declared the deadlock, and is on the loop.
func onLoop(v *verdict.Verdict) bool {
	return len(v.Detections) == 1 && slices.ContainsFunc(v.Detections[0].Loop, func(link string) bool {
		return strings.HasPrefix(link, v.Detections[0].Switch+"--")
	})
}
