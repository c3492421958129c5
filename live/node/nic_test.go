package node

import (
	"testing"
)

func TestSocketLosses(t *testing.T) {
	if _, err := socketLosses(); err != nil {
		t.Error(err)
	}
}
