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
			reflect.TypeFor[fileTopology](): {OneOf: [][]string{{"fattree"}, {"ring"}, {"leafspine"}, {"rails"}, {"jellyfish"}, {"dragonfly"}, {"switches", "hosts", "links", "shared_address"}}},
			reflect.TypeFor[fileRewire]():   {OneOf: [][]string{{"remove"}, {"add"}, {"swap"}}},
			reflect.TypeFor[fileWorkload](): {OneOf: [][]string{{"sizes"}, {"size"}, {"cdf"}}, CaseOf: "pattern", Cases: patterns},
			reflect.TypeFor[fileLimit]():    {OneOf: [][]string{{"flow"}, {"priority"}}},
			reflect.TypeFor[fileEvent]():    {CaseOf: "do", Cases: eventCases},
		},
		Choices: map[string][]string{
			"detector": append([]string{"none"}, known.Detectors...),
			"response": append([]string{"none"}, known.Responses...),
			"platform": buffer.Platforms(),
			"event":    names(eventCases),
			"pattern":  names(patterns),
		},
	}
}
