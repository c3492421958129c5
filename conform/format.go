package conform

import (
	"reflect"

	"softswitch/internal/schema"
)

// Format describes profiles.
func Format() schema.Format {
	return schema.Format{
		Title:       "softswitch conform profile",
		Description: "What a switch promises, and through which interfaces it is tested, for softswitch conform run.",
		Root:        reflect.TypeFor[Profile](),
	}
}
