// The verb lineage: what an entry was made from, and what was made from it.

package verb

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/care/lineage"
)

// LineageIn is what lineage takes.
type LineageIn struct {
	Name string `json:"name" flag:"-" usage:"name of the entry, forgotten ones too, or of a turn"`
}

// LineageOut is what lineage gives.
type LineageOut struct {
	Name    string         `json:"name"`
	Sources []lineage.Edge `json:"sources"` // those of the entry first, then theirs
	Made    []lineage.Edge `json:"made"`    // what was made from it, then from that
	Why     []Note         `json:"why,omitempty"`
}

// Lineage gives what an entry was made from, and what was made from it, as far as the
// history says.
func Lineage(ctx context.Context, w *Workspace, in LineageIn) (LineageOut, error) {
	out := LineageOut{Name: in.Name, Sources: []lineage.Edge{}, Made: []lineage.Edge{}}
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return out, err
	}
	h, err := m.History()
	if err != nil {
		return out, err
	}
	if e, err := m.Get(ctx, in.Name); err == nil {
		out.Name = e.Name
	} else if !errors.Is(err, oxbow.ErrNotFound) {
		return out, err
	}
	g, err := lineage.Read(ctx, h)
	if err != nil {
		return out, err
	}
	out.Sources = append(out.Sources, g.Walk(out.Name, false)...)
	out.Made = append(out.Made, g.Walk(out.Name, true)...)
	if len(out.Sources)+len(out.Made) > 0 {
		return out, nil
	}
	for _, err := range h.Versions(ctx, out.Name) {
		if err != nil {
			return out, w.Missing(ctx, m, in.Name, err)
		}
		break
	}
	out.Why = []Note{Plain("nothing in the history says what it was made from, or that anything was made from it")}
	return out, nil
}
