package config

import (
	"reflect"

	"softswitch/internal/schema"
)

// SwitchFormat describes the files of switches, for known detectors and responses,
// "none" among them.
func SwitchFormat(detectors, responses []string) schema.Format {
	return schema.Format{
		Title:       "softswitch switch",
		Description: "The configuration of one switch, for softswitch run -c.",
		Root:        reflect.TypeFor[Switch](),
		Rules: map[reflect.Type]schema.Rules{
			reflect.TypeFor[Limit](): {OneOf: [][]string{{"class"}, {"flow"}}},
		},
		Choices: map[string][]string{"detector": detectors, "response": responses},
	}
}

// HostFormat describes the files of hosts.
func HostFormat() schema.Format {
	return schema.Format{
		Title:       "softswitch host",
		Description: "The configuration of one end host, for softswitch host -c.",
		Root:        reflect.TypeFor[Host](),
	}
}
