// This file measures how long it takes to determine the origins of texts when entries are written and recalled.

package provenance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// BenchmarkStamp adds labels to an agent's note of 360 bytes, in a session that was shown nothing and in a session
// that was shown 50 entries of 1 kB. For comparison, it also writes the note to the disk.
func BenchmarkStamp(b *testing.B) {
	m, err := oxbow.Open(b.TempDir()+"/memory.oxbow", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	text := benchText
	seen := new(verb.SeenEntries)
	ctx := oxbow.WithSource(b.Context(), oxbow.Source{Actor: oxbow.Agent})
	shown := verb.WithShownTexts(ctx, seen)
	for i := range 50 {
		e := oxbow.Entry{Name: fmt.Sprint("e", i), Version: 1, Content: text(i, 1000)}
		if err := m.Apply(ctx, oxbow.Add{Name: e.Name, Content: e.Content}); err != nil {
			b.Fatal(err)
		}
		verb.RecordShownEntries(shown, e)
	}
	ops := []oxbow.Op{oxbow.Add{Name: "note", Content: text(1234, 360)}}
	for _, c := range []struct {
		name string
		ctx  func() error
	}{
		{"nothing shown", func() error {
			_, err := (&Screener{ProvenanceData: verb.ProvenanceData{Memory: m}}).ScreenOps(ctx, m.Store(), ops)
			return err
		}},
		{"50 shown", func() error {
			_, err := (&Screener{ProvenanceData: verb.ProvenanceData{Memory: m}}).ScreenOps(shown, m.Store(), ops)
			return err
		}},
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

// benchText returns a text of at least size bytes. Different values of n give different texts.
func benchText(n, size int) string {
	words := strings.Fields(
		"harbor crane gate quay tide signal keeper mirror lantern barge pilot rope anchor chart depth buoy",
	)
	var s strings.Builder
	for i := n; s.Len() < size; i = i*7 + 3 {
		fmt.Fprintf(&s, "%s%d and the ", words[uint(i)%16], uint(i)%97)
	}
	return s.String()
}

// BenchmarkRecallShown searches 10,000 entries of 1 kB, in a session that records the shown entries and in a session
// that does not.
func BenchmarkRecallShown(b *testing.B) {
	m, err := oxbow.Open(b.TempDir()+"/memory.oxbow", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	var ops []oxbow.Op
	for i := range 10_000 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("e", i), Content: benchText(i, 1000)})
	}
	if err := m.Apply(b.Context(), ops...); err != nil {
		b.Fatal(err)
	}
	w := &verb.Workspace{
		Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Now:  time.Now,
	}
	ctx := oxbow.WithSource(b.Context(), oxbow.Source{Actor: oxbow.Agent})
	for _, c := range []struct {
		name string
		ctx  context.Context
	}{{"not recorded", ctx}, {"recorded", verb.WithShownTexts(ctx, new(verb.SeenEntries))}} {
		b.Run(c.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := verb.Recall(
					c.ctx,
					w,
					verb.RecallIn{Query: fmt.Sprintf("harbor%d crane%d", i%97, i*7%97)},
				); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
