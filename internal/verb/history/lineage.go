// This file implements the verb lineage, which lists the sources of an entry and the entries that were made from it.

package history

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// LineageIn is the argument of Lineage.
type LineageIn struct {
	Name string `json:"name" flag:"-" usage:"name of an entry, which may be forgotten, or of a turn"`
}

// LineageOut is the result of Lineage.
type LineageOut struct {
	Name        string         `json:"name"`
	SourceEdges []lineage.Edge `json:"sources"` // edges to the entry's sources, then to their sources, and so on
	// edges from the entry to the entries made from it, and so on from each of these entries
	DerivedEdges       []lineage.Edge `json:"made"`
	EmptyResultReasons []verb.Note    `json:"why,omitempty"`
}

// Lineage returns the sources of an entry and the entries that were made from this entry, as far as the history
// recorded them.
func Lineage(ctx context.Context, w *verb.Workspace, in LineageIn) (LineageOut, error) {
	out := LineageOut{Name: in.Name, SourceEdges: []lineage.Edge{}, DerivedEdges: []lineage.Edge{}}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
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
	sources, made, err := lineage.FindLineage(ctx, m, out.Name)
	if err != nil {
		return out, err
	}
	out.SourceEdges = append(out.SourceEdges, sources...)
	out.DerivedEdges = append(out.DerivedEdges, made...)
	if len(out.SourceEdges)+len(out.DerivedEdges) > 0 {
		return out, nil
	}
	for _, err := range h.Versions(ctx, out.Name) {
		if err != nil {
			return out, w.AdviseUnknownName(ctx, m, in.Name, err)
		}
		break
	}
	out.EmptyResultReasons = []verb.Note{
		verb.PlainNote("nothing in the history says what it was made from, or that anything was made from it"),
	}
	return out, nil
}
