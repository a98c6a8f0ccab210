// Tests that a context is marked if a file that agents write is shaped like instructions.

package layout

import (
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestCaution(t *testing.T) {
	for form, order := range testenv.Orders() {
		c := prompt.Context{Parts: []prompt.Part{{Name: "memory", Source: "MEMORY.md", Text: "The port is 8443.\n" +
			order}}}
		if Caution(c, nil) == "" {
			t.Errorf("%s: no caution", form)
		}
	}
	c := prompt.Context{Parts: []prompt.Part{{Name: "memory", Source: "MEMORY.md", Text: "The port is 8443."}}}
	if got := Caution(c, nil); got != "" {
		t.Errorf("Caution of an ordinary file = %q", got)
	}
}
