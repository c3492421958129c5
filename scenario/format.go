package scenario

import (
	"reflect"

	"softswitch/buffer"
	"softswitch/internal/schema"
)

// Format describes scenario files, for known detectors and responses.
func Format(known Known) schema.Format {
	return schema.Format{
		Title:       "softswitch scenario",
		Description: "An experiment on a fabric: what is built, what flows, what goes wrong when, and what is expected to come of it.",
		Root:        reflect.TypeFor[file](),
		Rules: map[reflect.Type]schema.Rules{
			reflect.TypeFor[fileTopology](): {OneOf: [][]string{{"fattree"}, {"ring"}, {"leafspine"}, {"jellyfish"}, {"dragonfly"}, {"switches", "hosts", "links"}}},
			reflect.TypeFor[fileRewire]():   {OneOf: [][]string{{"remove"}, {"add"}, {"swap"}}},
			reflect.TypeFor[fileWorkload](): {OneOf: [][]string{{"sizes"}, {"size"}, {"cdf"}}, CaseOf: "pattern", Cases: patternCases()},
			reflect.TypeFor[fileLimit]():    {OneOf: [][]string{{"flow"}, {"class"}}},
			reflect.TypeFor[fileEvent]():    {CaseOf: "do", Cases: eventCases()},
		},
		Choices: map[string][]string{
			"detector": append([]string{"none"}, known.Detectors...),
			"response": append([]string{"none"}, known.Responses...),
			"platform": buffer.Platforms(),
			"event":    eventKinds(),
			"pattern":  patternNames(),
		},
	}
}

// eventTexts describes each kind of event.
var eventTexts = map[Do]string{
	Fail:     "The link goes down.",
	Heal:     "The link comes up.",
	Flap:     "The link goes down, and up again after `for`.",
	Kill:     "The switch dies and does not come back.",
	Stop:     "The switch freezes: its links stay up, and it reads and sends nothing.",
	Continue: "The switch goes on from where it stopped.",
	Storm:    "The host pauses the class without end, whatever its buffer holds.",
	Slow:     "The host's receiver drains at `rate`.",
	Normal:   "The host behaves again.",
	Lose:     "The nth control frame (PFC, a message of a detector) from then on is lost on the link.",
	Forge:    "A frame appears on the link as if that node had sent it.",
	Replay:   "A control frame that the node sent into the link before, one of the last 64, appears there again, or comes back to it.",
}

func eventKinds() (kinds []string) {
	for _, k := range eventKeys {
		kinds = append(kinds, string(k.do))
	}
	return kinds
}

func eventCases() (cases []schema.Case) {
	for _, k := range eventKeys {
		cases = append(cases, schema.Case{Is: string(k.do), Must: k.must, May: k.may, Text: eventTexts[k.do]})
	}
	return cases
}

func patternCases() (cases []schema.Case) {
	for _, k := range patterns {
		cases = append(cases, schema.Case{Is: string(k.is), Must: k.must, May: k.may, Text: k.text})
	}
	return cases
}
