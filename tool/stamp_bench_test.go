// What trust costs a write.

package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// BenchmarkStamp stamps a note of 360 bytes by an agent: of a session that was shown
// nothing, and of one that was shown 50 entries of 1 kB; and it writes the note to the
// disk, for comparison.
func BenchmarkStamp(b *testing.B) {
	m, err := oxbow.Open(b.TempDir()+"/memory.oxbow", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	words := strings.Fields("harbor crane gate quay tide signal keeper mirror lantern barge pilot rope anchor chart depth buoy")
	text := func(n, size int) string {
		var s strings.Builder
		for i := n; s.Len() < size; i = i*7 + 3 {
			fmt.Fprintf(&s, "%s%d and the ", words[uint(i)%16], uint(i)%97)
		}
		return s.String()
	}
	seen := new(Seen)
	ctx := oxbow.WithSource(b.Context(), oxbow.Source{Actor: oxbow.Agent})
	shown := WithLedger(ctx, seen)
	for i := range 50 {
		e := oxbow.Entry{Name: fmt.Sprint("e", i), Version: 1, Content: text(i, 1000)}
		if err := m.Apply(ctx, oxbow.Add{Name: e.Name, Content: e.Content}); err != nil {
			b.Fatal(err)
		}
		ShowTo(shown, e)
	}
	ops := []oxbow.Op{oxbow.Add{Name: "note", Content: text(1234, 360)}}
	for _, c := range []struct {
		name string
		ctx  func() error
	}{
		{"nothing shown", func() error { _, err := Stamp(ctx, m.Store(), ops, Knowledge{Memory: m}); return err }},
		{"50 shown", func() error { _, err := Stamp(shown, m.Store(), ops, Knowledge{Memory: m}); return err }},
		{"written", func() error { return m.Apply(ctx, oxbow.Update{Name: "e1", Content: text(1234, 360)}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.ctx(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
