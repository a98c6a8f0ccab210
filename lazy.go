// This file holds a store that was opened without reading its log: the index
// file says where each entry stands in it, so only what was written since is
// read, and of the rest the entries that somebody asks for.

package oxbow

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// lazy is what a store knows whose log was not read up to the change that the
// index file covers. db.logmu guards it.
type lazy struct {
	file vfs.File // the index file
	head indexHead
	rows indexRows // nil until somebody asked

	nextID uint64
	tail   []int64         // offsets of the changes read since
	deltas []Delta         // what they did
	living map[uint64]bool // whether the entries that they touched are there
}

// errWhole says that the log must be read from its start.
var errWhole = errors.New("the log must be read from its start")

// openLazy goes behind what the index file covers. What keeps it from that is
// no error: then the log is read.
func (d *db) openLazy() bool {
	if !d.opts.Lazy || !d.log.Exists() {
		return false
	}
	f, err := d.fs.OpenFile(d.indexName(), os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	z := &lazy{file: f, living: map[uint64]bool{}}
	if z.head, err = readIndexHead(f); err == nil && z.head.store == d.log.Header().ID {
		if d.log.Jump(z.head.at, z.head.seq, z.head.chain) == nil {
			z.nextID = z.head.nextID
			d.lazy.Store(z)
			return true
		}
	}
	_ = f.Close() // it was only read
	return false
}

// take implements taker.
func (z *lazy) take(r *wal.Record, v *body) ([]Delta, error) {
	if r.Type != typeChange {
		return nil, errWhole
	}
	at := time.Unix(0, r.Time).UTC()
	v.source.Time = at
	var deltas []Delta
	for i := range v.ops {
		p := &v.ops[i]
		switch {
		case p.erased:
			return nil, errWhole // it is another file than the one that was indexed
		case p.verb == VerbRemove:
			z.living[p.entry.ID] = false
			deltas = append(deltas, Delta{ID: p.entry.ID})
		default:
			// An entry that comes back may take the place of another of its
			// name, which only who knows the names can tell.
			there, err := z.has(p.entry.ID)
			if err != nil || !there && p.entry.ID < z.nextID {
				return nil, errWhole
			}
			e := p.entry
			e.Version, e.Updated, e.Source = r.Seq, at, v.source
			z.living[e.ID] = true
			deltas = append(deltas, Delta{ID: e.ID, Entry: e})
		}
		z.nextID = max(z.nextID, p.entry.ID+1)
	}
	z.tail = append(z.tail, r.Offset)
	z.deltas = append(z.deltas, deltas...)
	return deltas, nil
}

// has reports whether there is an entry of that ID.
func (z *lazy) has(id uint64) (bool, error) {
	if there, touched := z.living[id]; touched {
		return there, nil
	}
	if id >= z.head.nextID {
		return false, nil
	}
	if z.rows == nil {
		rows, err := z.head.readRows(z.file)
		if err != nil {
			return false, err
		}
		z.rows = rows
	}
	_, there := z.rows.find(id)
	return there, nil
}

// whole reads the log from its start, if that was not done.
func (d *db) whole() error {
	if d.lazy.Load() == nil {
		return nil
	}
	d.logmu.Lock()
	defer d.logmu.Unlock()
	return d.wholeLocked()
}

// wholeLocked is whole for who holds logmu exclusively.
func (d *db) wholeLocked() error {
	switch {
	case d.lazy.Load() == nil:
		return nil
	case d.broken != nil:
		return d.broken
	}
	return d.reload()
}

// sinceIndex returns what the changes did that the index file does not cover, of
// a store whose log was not read.
func (d *db) sinceIndex() []Delta {
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	if z := d.lazy.Load(); z != nil {
		return slices.Clone(z.deltas)
	}
	return nil
}

// awake lets go of the index file: the log was read.
func (d *db) awake() {
	if z := d.lazy.Swap(nil); z != nil {
		_ = z.file.Close() // it was only read
	}
}

// errRow says that an entry could not be read.
var errRow = errors.New("the entry is not where the index file says")

// read calls fn with the entry of a row or, when its record was read before, with
// all entries that the rows have in it: then it is likely that all are wanted.
func (s *savedIndex) read(i int, fn func(*Entry)) error {
	off := s.rows.offset(i)
	r, err := s.log.At(off)
	if err != nil {
		return err
	}
	ours := func(op string) bool { return isOf(op, s.rows.id(i)) }
	if again := s.seen[off]; again {
		ours = nil
	}
	s.seen[off] = true
	es, err := entriesOf(&r, ours)
	if err != nil {
		return err
	}
	found := false
	for _, e := range es {
		j, there := s.rows.find(e.ID)
		if there && s.rows.offset(j) == off && s.rows.version(j) == e.Version {
			fn(e)
			found = found || i == j
		}
	}
	if !found {
		return fmt.Errorf("%w: entry %d at byte %d", errRow, s.rows.id(i), off)
	}
	return nil
}

// entriesOf returns the entries of a record as it leaves them, those of the ops
// that are wanted, nil for all.
func entriesOf(r *wal.Record, want func(op string) bool) ([]*Entry, error) {
	var es []*Entry
	places := map[uint64]int{} // in es, by ID
	var source Source
	at := time.Unix(0, r.Time).UTC()
	err := eachField(string(r.Body), func(f field) error {
		switch f.num {
		case fieldSource:
			s, err := decodeSource(f)
			source = s
			return err
		case fieldOp:
			if want != nil && !want(f.str) {
				return nil
			}
			p, err := decodePut(f)
			i, again := places[p.entry.ID]
			if !again {
				i = len(es)
				places[p.entry.ID], es = i, append(es, nil)
			}
			if es[i] = p.entry; p.verb == VerbRemove {
				es[i] = nil
			}
			return err
		}
		return nil
	})
	es = slices.DeleteFunc(es, func(e *Entry) bool { return e == nil })
	source.Time = at
	for _, e := range es {
		if e.Version == 0 { // else it is of a base, and says so itself
			e.Version, e.Updated, e.Source = r.Seq, at, source
		}
	}
	return es, err
}

// isOf reports whether an op is on the entry of that ID.
func isOf(op string, id uint64) bool {
	is := false
	_ = eachField(op, func(f field) error {
		if f.num == 2 {
			is = f.val == id
			return errStop
		}
		return nil
	})
	return is
}
