// This file adds items to a store, in batches.

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

// Limits for a batch. A batch is written with a single Apply, so it is written completely or
// not at all. A larger batch would be faster, but a person who stops an import waits until the batch is written.
const (
	batchItems = 500
	batchBytes = 4 << 20
)

// maxAttempts is the number of attempts to write a batch if another writer changes its entries in the
// meantime.
const maxAttempts = 4

// maxMessages is the maximum number of problems, and also the maximum number of notes, in a
// report.
const maxMessages = 1000

// ImportOptions configure [Import]. Nil means the defaults.
type ImportOptions struct {
	// Overwrite allows an item to replace an entry with the same name that was written or edited in
	// this store, is newer than the export, or has a different kind (which gives the entry a new
	// ID). An item with an origin replaces only entries with the same origin.
	Overwrite bool

	// NoOrigin omits the labels that name the origin of an entry. For a store without labels, this
	// happens in any case, and the report has a note about it. Without these labels, a later import
	// cannot match a changed file with the file's entries, and adds the file's items as new
	// entries.
	NoOrigin bool

	// Author is the author of the items. Empty means [oxbow.Imported]. Set it only if you know the
	// author, for example for a mirror of a client's own memory.
	Author oxbow.Actor

	// If Follow is set, Import also imports the change of a file whose entry was edited in the store. The entry gets
	// the text of the file. The text from the store is kept in a new entry, and labels of both are merged.
	Follow bool

	// IsGone reports whether the file that is the origin of an entry no longer exists. It returns true only for files
	// that were imported from a directory that this import reads again. IsGone may be nil. See [GoneFiles].
	IsGone func(origin string) bool

	// DryRun reports the changes, but does not make them.
	DryRun bool

	// NoChanges leaves Report.Changes empty, which saves memory in a long import.
	NoChanges bool

	// Ref is the origin in the source of the changes. If Ref is empty, the origin is the file of
	// the batch, or the directory of the batch's files.
	Ref string

	// Progress is called after each batch with the number of items processed so far, including
	// invalid items.
	Progress func(done int)

	// Interrupt, if not nil, is called if the import ends before the sequence of items. Interrupt
	// should make the sequence end, because the sequence may be waiting for input, and Import waits
	// until the sequence has ended.
	Interrupt func()
}

// Report describes the result of an import. Added, Updated, Same and Skipped together count all
// items, including invalid items.
type Report struct {
	Added   int
	Updated int
	Same    int // items that the store already contains
	Skipped int // items that were not imported, for reasons listed in Problems and Notes

	// Problems lists items that were not imported, with file and line. Notes lists items that
	// were imported with changes, and files without items. Each list contains at most 1000
	// messages. More is the number of further messages.
	Problems []string
	Notes    []string
	More     int

	// Changes lists the added and updated entries, in order. It is empty if NoChanges is set.
	Changes []Change

	// First contains the names of the first added or updated entries, at most maxFirstNames.
	First []string

	// Stale lists entries that an earlier import made from a file and that the file no longer
	// contains. They are not changed.
	Stale []string

	// Gone lists entries whose file was deleted or renamed since the import, with the file. They are not changed.
	Gone        []string
	matchStates map[digest]byte // the importer's usedNames.matchStates
}

// maxFirstNames is the maximum number of names in Report.First.
const maxFirstNames = 3

// Changed reports whether the import added or updated the named entry.
func (r *Report) Changed(name string) bool { return r.matchStates[hashParts(name)] == 2 }

// Change is an import's change of an entry.
type Change struct {
	Name string     `json:"name"`
	Verb oxbow.Verb `json:"verb"` // add or update
	Ref  string     `json:"ref"`  // position of the item: file:line
}

func (r *Report) addMessage(list *[]string, format string, args ...any) {
	if len(*list) == maxMessages {
		r.More++
		return
	}
	*list = append(*list, fmt.Sprintf(format, args...))
}

// Import adds the items to the store, in batches of at most 500 entries or 4 MiB. Each batch is a
// single Apply with a source whose actor is import. If reading or the store fails, Import returns
// an error and a report of the batches that were written. Call Import again to continue.
//
// An item whose name is not in use is added. If the name is in use:
//
//   - An entry with the same content, aliases and labels is not changed.
//   - An item without an origin (from an export) belongs to the entry if both were created at the
//     same time, or if an import of the same file wrote the entry. The item replaces the entry if
//     the item was updated later and the entry was not edited since its import. Otherwise it is
//     skipped and reported. An item without a creation time is also skipped, because nothing shows
//     that it is a different entry.
//   - An item with an origin replaces an entry that was imported from the same origin and was not
//     edited since. If the entry was edited but the file has not changed, neither is changed. If
//     both have changed, the item is skipped.
//   - In all other cases, the entry is not changed, and the item gets a number: "NAME (2)".
//
// The same rules apply within an import: of two different items with the same name, the second gets
// a number. An alias that is an alias or the name of a different entry is left out, with a note.
// Labels identify an entry's origin: import:ORIGIN, import-id:ID for a record of a program, and
// import-sum, a digest of the imported
// content, aliases and labels. The digest shows whether the entry or the file was edited since.
func Import(ctx context.Context, s oxbow.Store, items iter.Seq2[Item, error], o *ImportOptions) (Report, error) {
	if o == nil {
		o = &ImportOptions{}
	}
	im := importer{
		ctx:        ctx,
		store:      s,
		exactStore: s,
		opts:       o,
		report:     Report{Changes: []Change{}},
		usedNames:  newUsedNames(),
		origins:    make(map[string]bool),
		fileNames:  make(map[string]bool),
	}
	// Use the memory's store, because a Memory searches all aliases for an unused name, which is
	// slow.
	if m, ok := s.(interface{ Store() oxbow.Store }); ok {
		im.exactStore = m.Store()
	}
	if c := oxbow.CapabilitiesOf(im.exactStore).Counter; c != nil {
		stats, err := c.Stats(ctx)
		im.wasEmpty = err == nil && stats.Entries == 0
	}
	im.report.matchStates = im.usedNames.matchStates
	err := im.importItems(readAhead(items, o.Interrupt))
	if err == nil {
		err = im.findStale()
	}
	return im.report, err
}

type importer struct {
	ctx   context.Context
	store oxbow.Store
	// the store for look-ups by exact name: s, or the store below s if only that store supports
	// such look-ups
	exactStore oxbow.Store
	opts       *ImportOptions
	report     Report
	usedNames  *usedNames      // names and items of all batches so far
	origins    map[string]bool // label values for the origins of all items so far
	fileNames  map[string]bool // file names that became aliases
	// Aliases in the store with their entries' names. The map is nil until it is first needed.
	aliases map[digest]string
	// Names of entries that earlier imports made from records, by a digest of program and ID. The
	// map is nil until it is first needed.
	recordNames    map[digest]string
	count          int  // number of items processed
	wasEmpty       bool // the store was empty before the import
	storesNoLabels bool // the store does not store labels, so items are not marked
}

func (im *importer) importItems(items iter.Seq2[Item, error]) error {
	var batch []Item
	size := 0
	flush := func() error {
		if len(batch) > 0 {
			if err := im.writeBatch(importBatch{items: batch}); err != nil {
				return err
			}
			im.count += len(batch)
			batch, size = batch[:0], 0
		}
		if im.opts.Progress != nil {
			im.opts.Progress(im.count)
		}
		return nil
	}
	for it, err := range items {
		if cerr := im.ctx.Err(); cerr != nil {
			return fmt.Errorf("importing: %w", cerr)
		}
		switch {
		case errors.Is(err, errEmptyFile), errors.Is(err, errOtherExtension), errors.Is(err, errHidden),
			errors.Is(err, errDeleted), isSkipped(err):
			im.report.addMessage(&im.report.Notes, "%v", err)
			im.report.Skipped++
			im.count++
			continue
		case err != nil && isItemError(err):
			im.reportSkipped(1, "%v", err)
			im.count++
			continue
		case err != nil:
			// Also write the items that were read before the error.
			return errors.Join(err, flush())
		}
		it, ok := im.markAndCheck(it)
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

// readAhead reads the items in a separate goroutine, which is at most one batch ahead of the
// caller. If the caller stops early, it calls interrupt and waits until the sequence has ended.
func readAhead(items iter.Seq2[Item, error], interrupt func()) iter.Seq2[Item, error] {
	type read struct {
		item Item
		size int64 // size of the content, at most the limit for a batch
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

// markAndCheck marks an item with its origin. It returns false if no store could hold the item.
func (im *importer) markAndCheck(it Item) (Item, bool) {
	for _, s := range it.Losses {
		im.report.addMessage(&im.report.Problems, "%s", s)
	}
	for _, w := range it.Warnings {
		im.report.addMessage(&im.report.Notes, "%s", w)
	}
	if n := it.FileName; im.fileNames[n] {
		it.FileName = ""
	} else if n != "" {
		im.fileNames[n] = true
		it.Entry.Aliases = tidyAliases(it.Entry.Name, append(it.Entry.Aliases, n))
	}
	if it.Origin != "" {
		// do not report the entries of a program as stale, because its export may contain only some
		// of its records
		if it.ID == "" {
			im.origins[originLabel(it.Origin)] = true
		}
		if !im.opts.NoOrigin && !im.storesNoLabels {
			it = markedItem(it)
		}
	}
	if err := it.checkValid(); err != nil {
		im.reportSkipped(1, "%s: %v", it.Ref, err)
		im.count++
		return it, false
	}
	return it, true
}

// reportSkipped reports why n items were not imported.
func (im *importer) reportSkipped(n int, format string, args ...any) {
	im.report.addMessage(&im.report.Problems, format, args...)
	im.report.Skipped += n
}

// importBatch is a part of the imported items that is written in a single
// change.
type importBatch struct {
	items      []Item
	isUnmarked bool // the items' marks have been removed
}

// writeBatch writes the items of a batch in a single change. If the store cannot store the labels that mark imported
// entries, it tries again without them. If the store refuses the batch, writeBatch divides the batch until the refused
// item is alone, skips this item and reports it.
func (im *importer) writeBatch(batch importBatch) error {
	items := batch.items
	if im.storesNoLabels {
		items = unmarkedItems(items)
	}
	p, err := im.applyBatch(items)
	refused := errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported)
	switch {
	case p == nil:
		return fmt.Errorf("importing %s: %w", items[0].Ref, err)
	case err == nil:
		isFirstUnmarked := batch.isUnmarked && !im.storesNoLabels
		if isFirstUnmarked && len(p.ops) > 0 {
			im.storesNoLabels = true
			im.report.addMessage(
				&im.report.Notes,
				"the store keeps no labels: it does not know where the entries came from, and a file that is changed "+
					"later will be added next to them; further keys of front matter are left out",
			)
		}
		im.addToReport(p)
		return nil
	case errors.Is(err, oxbow.ErrUnsupported) && !batch.isUnmarked && slices.ContainsFunc(items, isMarked):
		// The store may be unable to store the marks, so try again without them.
		return im.writeBatch(importBatch{items: unmarkedItems(items), isUnmarked: true})
	case refused && len(items) > 1:
		// The store has narrower limits than usual. Split the batch to find the item that it
		// refuses, and write the remaining items.
		half := len(items) / 2
		if err := im.writeBatch(importBatch{items[:half], batch.isUnmarked}); err != nil {
			return err
		}
		return im.writeBatch(importBatch{items[half:], batch.isUnmarked})
	case refused:
		advice := ""
		if errors.Is(err, oxbow.ErrUnsupported) {
			advice = "; oxbow convert DIR copies the memory into a store that can"
		}
		im.reportSkipped(1, "%s: %v%s", items[0].Ref, err, advice)
		return nil
	}
	return fmt.Errorf("importing %s to %s: %w", items[0].Ref, items[len(items)-1].Ref, err)
}

// applyBatch plans a batch and writes it. If another writer changes an affected entry in the meantime,
// it plans again. The plan is nil if planning failed.
func (im *importer) applyBatch(items []Item) (*batchPlan, error) {
	for try := 1; ; try++ {
		p, err := im.planBatch(items, im.wasEmpty && try == 1)
		if p == nil || len(p.ops) == 0 {
			return p, err
		}
		if im.opts.DryRun {
			if d := oxbow.CapabilitiesOf(im.exactStore).DryRunner; d != nil {
				err = d.DryRun(im.ctx, p.ops...)
			}
			return p, err
		}
		err = im.store.Apply(im.sourceContext(items), p.ops...)
		changed := errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound) ||
			errors.Is(err, oxbow.ErrConflict)
		if !changed || try == maxAttempts {
			return p, err
		}
	}
}

// addToReport adds the results of a plan to the report.
func (im *importer) addToReport(p *batchPlan) {
	im.usedNames.addAll(p.names)
	im.report.Added += p.report.Added
	im.report.Updated += p.report.Updated
	im.report.Same += p.report.Same
	im.report.Skipped += p.report.Skipped
	if !im.opts.NoChanges {
		im.report.Changes = append(im.report.Changes, p.report.Changes...)
	}
	for _, c := range p.report.Changes[:min(len(p.report.Changes), maxFirstNames-len(im.report.First))] {
		im.report.First = append(im.report.First, c.Name)
	}
	for _, m := range p.report.Problems {
		im.report.addMessage(&im.report.Problems, "%s", m)
	}
	for _, m := range p.report.Notes {
		im.report.addMessage(&im.report.Notes, "%s", m)
	}
}

// sourceContext returns a context with the source for a batch.
func (im *importer) sourceContext(items []Item) context.Context {
	src, _ := oxbow.SourceFrom(im.ctx)
	src.Actor = cmp.Or(im.opts.Author, oxbow.Imported)
	origin := im.opts.Ref
	if origin == "" {
		origin = commonOrigin(items)
	}
	return oxbow.WithSource(im.ctx, src.WithOrigin(origin))
}

// commonOrigin returns the file or the directory that contains all items, or "".
func commonOrigin(items []Item) string {
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

// refFile returns the file in file:line.
func refFile(ref string) string {
	if i := strings.LastIndexByte(ref, ':'); i > 0 && strings.Trim(ref[i+1:], "0123456789") == "" {
		return ref[:i]
	}
	return ref
}

// findStale adds two lists to the report. Stale gets the entries that come from the files that were read, but match no
// item. Gone gets the entries whose file does not exist any more.
func (im *importer) findStale() error {
	if im.opts.NoOrigin || im.storesNoLabels {
		return nil
	}
	if len(im.origins) == 0 && im.opts.IsGone == nil {
		return nil
	}
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{markOrigin}}}}
	for e, err := range im.store.Entries(im.ctx, f) {
		if err != nil {
			return fmt.Errorf("looking for stale entries: %w", err)
		}
		origin, _ := e.Label(markOrigin)
		switch {
		case im.isStaleEntry(&e, origin):
			im.report.Stale = append(im.report.Stale, e.Name)
		case im.opts.IsGone != nil && im.usedNames.matchStates[hashParts(e.Name)] == 0 && im.opts.IsGone(origin):
			im.report.Gone = append(im.report.Gone, fmt.Sprintf("%s (%s)", e.Name, origin))
		}
	}
	return nil
}

// isStaleEntry reports whether an entry came from a file that was read now, and was not in this file.
func (im *importer) isStaleEntry(e *oxbow.Entry, origin string) bool {
	return im.origins[origin] && im.usedNames.matchStates[hashParts(e.Name)] == 0
}
