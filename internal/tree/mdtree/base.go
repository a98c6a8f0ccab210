// The base of a load: what the last dump wrote. A file and the store are both
// compared with it, which says who changed what since.

package mdtree

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
)

// Origin distinguishes a store from others in a manifest.
type Origin struct {
	Name string                // of this store as it is now; "" where it has none
	Same func(was string) bool // reports whether a name is one that this store has or had
}

// knows reports whether the manifest of that origin is one of this store.
func (o Origin) knows(was string) bool { return was != "" && o.Same != nil && o.Same(was) }

// denies reports whether the manifest is one of another store. One of an unknown
// origin is not.
func (o Origin) denies(was string) bool { return was != "" && o.Same != nil && !o.Same(was) }

// byName returns the items of a manifest, which may be nil, that have a name of
// their own.
func (m *manifest) byName() map[string]manifestItem {
	items := make(map[string]manifestItem)
	if m == nil {
		return items
	}
	for _, f := range m.Files {
		if _, twice := items[f.Name]; twice {
			f = manifestItem{Name: f.Name}
		}
		items[f.Name] = f
	}
	return items
}

// is reports whether a dump of the entry would write the file of the item.
func (f manifestItem) is(e *oxbow.Entry) bool {
	return f.Sum != "" && path.Dir(f.Path) == dirOf(e.Kind) && (f.wrote(e, false) || f.wrote(e, true))
}

func (f manifestItem) wrote(e *oxbow.Entry, showName bool) bool {
	return journal.Sum(appendEntry(nil, e, showName)) == f.Sum
}

// isText reports whether a file of that directory has the text of the item, but
// for its line ends and what a reader drops around the content.
func (f manifestItem) isText(dir, text string, e *oxbow.Entry, showName bool) bool {
	return f.Sum != "" && path.Dir(f.Path) == dir && (journal.Sum([]byte(text)) == f.Sum || f.wrote(e, showName))
}

// dirOf returns the directory of a kind, "" where a tree has none.
func dirOf(k oxbow.Kind) string {
	i := slices.IndexFunc(kindDirs[:], func(s kindDir) bool { return s.kind == k && !s.topic })
	if i < 0 {
		return ""
	}
	return kindDirs[i].dir
}

// unixLines returns a file of the text with LF for CRLF when all its lines end
// so: a dump ends the lines of its block with LF, so a program converted all.
func unixLines(text string) string {
	if !strings.HasPrefix(strings.TrimPrefix(text, bom), metaOpen+"\r\n") {
		return text
	}
	if lf := strings.ReplaceAll(text, "\r\n", "\n"); len(text)-len(lf) == strings.Count(lf, "\n") {
		return lf
	}
	return text
}

// past finds what a store held before. Without a history it finds nothing.
type past struct {
	ctx     context.Context
	history oxbow.Historian // nil: none
	undos   map[uint64]bool // changes that undid others
	read    uint64          // all changes from this one on are in undos
}

func newPast(ctx context.Context, s oxbow.Store) *past {
	h, _ := oxbow.HistoryOf(s)
	return &past{ctx: ctx, history: h, undos: map[uint64]bool{}, read: ^uint64(0)}
}

// held reports whether the store held the entry after it was at the base, and
// moved on from it otherwise than by an undo.
func (p *past) held(want *oxbow.Entry, base manifestItem) (bool, error) {
	if p.history == nil {
		return false, nil
	}
	for v, err := range p.history.Versions(p.ctx, want.Name) {
		v.Entry.Labels = withoutLocal(v.Entry.Labels)
		switch {
		case errors.Is(err, oxbow.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case v.Verb != oxbow.VerbRemove && sameEntry(want, &v.Entry):
			return true, nil
		case v.Verb == oxbow.VerbRestore || (v.Verb != oxbow.VerbRemove && base.is(&v.Entry)):
			return false, nil
		}
		if v.Verb != oxbow.VerbRemove {
			continue
		}
		if undo, err := p.isUndo(v.Seq); err != nil || undo {
			return false, err
		}
	}
	return false, nil
}

// isUndo reports whether the change of that number undid others.
func (p *past) isUndo(seq uint64) (bool, error) {
	if seq >= p.read {
		return p.undos[seq], nil
	}
	for c, err := range p.history.Log(p.ctx) {
		if err != nil {
			return false, err
		}
		p.undos[c.Seq] = len(c.Reverts) > 0
		p.read = c.Seq
		if c.Seq <= seq {
			break
		}
	}
	return p.undos[seq], nil
}
