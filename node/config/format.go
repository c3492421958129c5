package config

import (
	"reflect"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/schema"
)

// SwitchFormat describes the files of switches.
func SwitchFormat() schema.Format {
	return schema.Format{
		Title:       "softswitch switch",
		Description: "The configuration of one switch, for softswitch run -c.",
		Root:        reflect.TypeFor[Switch](),
		Rules: map[reflect.Type]schema.Rules{
			reflect.TypeFor[Limit](): {OneOf: [][]string{{"priority"}, {"flow"}}},
		},
		Choices: map[string][]string{"detector": catalog.Names(), "response": respond.Names()},
	}
}

// HostFormat describes the files of hosts.
func HostFormat() schema.Format {
	return schema.Format{
		Title:       "softswitch host",
		Description: "The configuration of one end host, for softswitch run -c.",
		Root:        reflect.TypeFor[Host](),
	}
}
