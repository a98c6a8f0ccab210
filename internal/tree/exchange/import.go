// Import: items are added to a store, in batches.

package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"golang.org/x/sync/semaphore"
)

// Bounds of one batch: what one Apply makes durable at once, or not at all.
const (
	batchItems = 500
	batchBytes = 4 << 20
)

// maxTries is how often a batch is planned because another writer changed one of
// its entries in between.
const maxTries = 4

// maxMessages bounds the problems and notes that a report holds.
const maxMessages = 1000

// ImportOptions say how to import; nil means the defaults.
type ImportOptions struct {
	// Overwrite lets an item replace an entry that it otherwise would not: one of the same
	// name that was written or edited here, or is newer than the export, or of another kind
	// (which gives the entry a new ID). An item with an origin replaces only entries of its
	// origin.
	Overwrite bool

	// NoOrigin leaves off the labels that say where an entry came from, as is
	// done, and noted, for a store that keeps no labels. Without marks, a
	// changed file does not find its entries again, and is added next to them.
	NoOrigin bool

	// Author is who wrote the items; empty means [oxbow.Imported]. It is set only by a caller
	// that knows the author, such as a mirror of a client's own memory.
	Author oxbow.Actor

	// DryRun reports what would be done, and does nothing.
	DryRun bool

	// NoChanges leaves Report.Changes empty, which takes much memory in a long import.
	NoChanges bool

	// Ref is what the source of the changes names as their origin; empty means
	// the file that a batch is from, or the directory of its files.
	Ref string

	// Progress is called after each batch with the number of items that are
	// done, bad ones among them.
	Progress func(done int)

	// Interrupt, if not nil, is called when the import ends before the items do:
	// it waits for the sequence to end, which may be waiting for input.
	Interrupt func()
}

// Report says what an import did. Added + Updated + Same + Skipped is the
// number of items, bad ones among them.
type Report struct {
	Added   int
	Updated int
	Same    int // the store holds them already
	Skipped int // not taken; Problems say why, and Notes of files with nothing to take

	// Problems say what was not taken and where it stands; Notes say what was taken otherwise
	// than it was written. Each holds the first 1000; More counts the rest of both.
	Problems []string
	Notes    []string
	More     int

	// Changes are the entries added and updated, in order, unless the options have NoChanges.
	Changes []Change

	// Stale are entries that an earlier import made from one of the files that were read, and
	// that the file does not hold any more. They are left as they are.
	Stale []string
	stood map[digest]byte // that of names
}

// Changed reports whether the entry of that name was added or updated.
func (r *Report) Changed(name string) bool { return r.stood[hash(name)] == 2 }

// Change is one entry that an import changed.
type Change struct {
	Name string     `json:"name"`
	Verb oxbow.Verb `json:"verb"` // add or update
	Ref  string     `json:"ref"`  // where the item stands, file:line
}

func (r *Report) message(list *[]string, format string, args ...any) {
	if len(*list) == maxMessages {
		r.More++
		return
	}
	*list = append(*list, fmt.Sprintf(format, args...))
}

// Import adds the items to the store, in batches of at most 500 entries or
// 4 MiB, each in one Apply, with a source whose actor is import. It returns an
// error when reading or the store fails; what the report says was done then is
// done, and importing again goes on from there.
//
// An item whose name is free is added. Where the name is taken:
//
//   - An entry with the same content, aliases and labels is the same: nothing
//     changes.
//   - An item without an origin (from an export) is the same entry if both were created
//     at the same time, or if an import of its file wrote the entry. It replaces that
//     entry if it was updated later and the entry was not edited since its import, else
//     it is skipped and reported. An item that does not say when it was created is
//     skipped, too, because nothing shows that it is another entry.
//   - An item with an origin replaces an entry that was imported from that
//     origin and not edited since. If the entry was edited but the file has not
//     changed, nothing changes; if both have, the item is skipped.
//   - Any other entry stays as it is: the item gets a number, "NAME (2)".
//
// The same holds within one import: of two items of one name that differ, the
// second gets a number. An alias that leads to another entry, or is the name of
// one, is left off, and noted. Items are known to be of an origin by two labels:
// import:ORIGIN, and import-sum, a digest of content, aliases and labels as
// they were imported, by which edits on either side are known.
func Import(ctx context.Context, s oxbow.Store, items iter.Seq2[Item, error], o *ImportOptions) (Report, error) {
	if o == nil {
		o = &ImportOptions{}
	}
	im := importer{ctx: ctx, s: s, exact: s, o: o, rep: Report{Changes: []Change{}}, done: newNames(), origins: make(map[string]bool), fileNames: make(map[string]bool)}
	// A memory looks a free name up among all aliases; its store does not.
	if m, ok := s.(interface{ Store() oxbow.Store }); ok {
		im.exact = m.Store()
	}
	if c, ok := im.exact.(oxbow.Counter); ok {
		stats, err := c.Stats(ctx)
		im.empty = err == nil && stats.Entries == 0
	}
	im.rep.stood = im.done.stood
	err := im.run(readAhead(items, o.Interrupt))
	if err == nil {
		err = im.findStale()
	}
	return im.rep, err
}

type importer struct {
	ctx       context.Context
	s         oxbow.Store
	exact     oxbow.Store // s, or what it is over: finds names only
	o         *ImportOptions
	rep       Report
	done      *names
	origins   map[string]bool   // labels of the origins of the items seen
	fileNames map[string]bool   // that are aliases of items seen
	aliases   map[digest]string // of the store as the first item with a new one met it, and their entries; nil before
	count     int               // items done
	empty     bool              // the store held nothing before
	bare      bool              // the store keeps no labels: items are not marked
}

func (im *importer) run(items iter.Seq2[Item, error]) error {
	var batch []Item
	size := 0
	flush := func() error {
		if len(batch) > 0 {
			if err := im.flush(batch, false); err != nil {
				return err
			}
			im.count += len(batch)
			batch, size = batch[:0], 0
		}
		if im.o.Progress != nil {
			im.o.Progress(im.count)
		}
		return nil
	}
	for it, err := range items {
		if cerr := im.ctx.Err(); cerr != nil {
			return fmt.Errorf("importing: %w", cerr)
		}
		switch {
		case errors.Is(err, errEmpty), errors.Is(err, errOther), errors.Is(err, errHidden):
			im.rep.message(&im.rep.Notes, "%v", err)
			im.rep.Skipped++
			im.count++
			continue
		case err != nil && isItemError(err):
			im.skip(1, "%v", err)
			im.count++
			continue
		case err != nil:
			// What was read before is good, and worth keeping.
			return errors.Join(err, flush())
		}
		it, ok := im.prepare(it)
		if !ok {
			continue
		}
		n := len(it.Entry.Content)
		if len(batch) == batchItems || size+n > batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size = append(batch, it), size+n
	}
	return flush()
}

// readAhead reads the items in another goroutine, at most a batch ahead of what is
// yielded. It has ended when the sequence has, which is interrupted when no more is wanted.
func readAhead(items iter.Seq2[Item, error], interrupt func()) iter.Seq2[Item, error] {
	type read struct {
		item Item
		size int64 // of its content, at most a batch's
		err  error
	}
	return func(yield func(Item, error) bool) {
		ahead, room := make(chan read, batchItems), semaphore.NewWeighted(batchBytes)
		wanted, stop := context.WithCancel(context.Background())
		go func() {
			defer close(ahead)
			for it, err := range items {
				size := min(int64(len(it.Entry.Content)), batchBytes)
				if room.Acquire(wanted, size) != nil {
					return
				}
				select {
				case ahead <- read{it, size, err}:
				case <-wanted.Done():
					return
				}
			}
		}()
		defer func() {
			stop()
			for range ahead {
			}
		}()
		for r := range ahead {
			room.Release(r.size)
			if !yield(r.item, r.err) {
				if interrupt != nil {
					interrupt()
				}
				return
			}
		}
	}
}

// prepare marks an item with its origin, and reports whether a store could hold it.
func (im *importer) prepare(it Item) (Item, bool) {
	for _, w := range it.Warnings {
		im.rep.message(&im.rep.Notes, "%s", w)
	}
	if n := it.FileName; im.fileNames[n] {
		it.FileName = ""
	} else if n != "" {
		im.fileNames[n] = true
		it.Entry.Aliases = tidyAliases(it.Entry.Name, append(it.Entry.Aliases, n))
	}
	if it.Origin != "" {
		im.origins[originLabel(it.Origin)] = true
		if !im.o.NoOrigin && !im.bare {
			it = marked(it)
		}
	}
	if err := it.check(); err != nil {
		im.skip(1, "%s: %v", it.Ref, err)
		im.count++
		return it, false
	}
	return it, true
}

// skip reports why items are not taken.
func (im *importer) skip(n int, format string, args ...any) {
	im.rep.message(&im.rep.Problems, format, args...)
	im.rep.Skipped += n
}

// flush plans a batch and applies it. With bare, the marks that the items had
// were taken off already.
func (im *importer) flush(items []Item, bare bool) error {
	if im.bare {
		items = unmarked(items)
	}
	p, err := im.apply(items)
	refused := errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported)
	switch {
	case p == nil:
		return fmt.Errorf("importing %s: %w", items[0].Ref, err)
	case err == nil:
		if bare && !im.bare && len(p.ops) > 0 {
			im.bare = true
			im.rep.message(&im.rep.Notes, "the store keeps no labels: it does not know where the entries came from, and a file that is changed later will be added next to them; further keys of front matter are left out")
		}
		im.commit(p)
		return nil
	case errors.Is(err, oxbow.ErrUnsupported) && !bare && slices.ContainsFunc(items, isMarked):
		// The store may have no place for the marks.
		return im.flush(unmarked(items), true)
	case refused && len(items) > 1:
		// The store takes less than the common limits: find the item that it
		// does not take, and keep the others.
		half := len(items) / 2
		if err := im.flush(items[:half], bare); err != nil {
			return err
		}
		return im.flush(items[half:], bare)
	case refused:
		advice := ""
		if errors.Is(err, oxbow.ErrUnsupported) {
			advice = "; oxbow convert moves the memory into a store that can"
		}
		im.skip(1, "%s: %v%s", items[0].Ref, err, advice)
		return nil
	}
	return fmt.Errorf("importing %s to %s: %w", items[0].Ref, items[len(items)-1].Ref, err)
}

// apply plans a batch and applies it, again when another writer changed one of
// its entries in between. The plan is nil when it could not be made.
func (im *importer) apply(items []Item) (*plan, error) {
	for try := 1; ; try++ {
		p, err := im.plan(items, im.empty && try == 1)
		if p == nil || len(p.ops) == 0 {
			return p, err
		}
		if im.o.DryRun {
			if d, ok := im.exact.(oxbow.DryRunner); ok {
				err = d.DryRun(im.ctx, p.ops...)
			}
			return p, err
		}
		err = im.s.Apply(im.source(items), p.ops...)
		changed := errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound) || errors.Is(err, oxbow.ErrConflict)
		if !changed || try == maxTries {
			return p, err
		}
	}
}

// commit takes what a plan has done into the report.
func (im *importer) commit(p *plan) {
	im.done.merge(p.names)
	im.rep.Added += p.rep.Added
	im.rep.Updated += p.rep.Updated
	im.rep.Same += p.rep.Same
	im.rep.Skipped += p.rep.Skipped
	if !im.o.NoChanges {
		im.rep.Changes = append(im.rep.Changes, p.rep.Changes...)
	}
	for _, m := range p.rep.Problems {
		im.rep.message(&im.rep.Problems, "%s", m)
	}
	for _, m := range p.rep.Notes {
		im.rep.message(&im.rep.Notes, "%s", m)
	}
}

// source returns the context that stamps a batch.
func (im *importer) source(items []Item) context.Context {
	src, _ := oxbow.SourceFrom(im.ctx)
	src.Actor = cmp.Or(im.o.Author, oxbow.Imported)
	origin := im.o.Ref
	if origin == "" {
		origin = originOf(items)
	}
	return oxbow.WithSource(im.ctx, src.WithOrigin(origin))
}

// originOf returns the file or the directory that holds all the items; "" for none.
func originOf(items []Item) string {
	origin := refFile(items[0].Ref)
	for _, it := range items[1:] {
		for origin != refFile(it.Ref) && !strings.HasPrefix(it.Ref, origin+"/") {
			up := path.Dir(origin)
			if up == origin || up == "." {
				return ""
			}
			origin = up
		}
	}
	return origin
}

// refFile cuts the line off file:line.
func refFile(ref string) string {
	if i := strings.LastIndexByte(ref, ':'); i > 0 && strings.Trim(ref[i+1:], "0123456789") == "" {
		return ref[:i]
	}
	return ref
}

// findStale names the entries of the origins seen that no item stood for.
func (im *importer) findStale() error {
	if len(im.origins) == 0 || im.o.NoOrigin || im.bare {
		return nil
	}
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{markOrigin}}}}
	for e, err := range im.s.Entries(im.ctx, f) {
		if err != nil {
			return fmt.Errorf("looking for stale entries: %w", err)
		}
		if origin, _ := e.Label(markOrigin); im.origins[origin] && im.done.stood[hash(e.Name)] == 0 {
			im.rep.Stale = append(im.rep.Stale, e.Name)
		}
	}
	return nil
}
