// This file tests that secrets in imported items are replaced.

package transfer

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func TestItemsWithSecrets(t *testing.T) {
	const key = "ghp_" + "a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"
	item := exchange.Item{
		Entry: oxbow.Entry{Name: "deployed with " + key, Content: "the key is " + key},
	}
	n := 0
	for it, err := range screenedItems(
		t.Context(), &verb.Secrets{}, &screen.Frames{},
		func(yield func(exchange.Item, error) bool) { yield(item, nil) },
	) {
		n++
		if err != nil || strings.Contains(it.Entry.Content+it.Entry.Name, key) || len(it.Warnings) != 1 {
			t.Errorf("an item that is read is %+v, %v", it, err)
		}
	}
	if n != 1 {
		t.Errorf("%d items were read, want 1", n)
	}
}
