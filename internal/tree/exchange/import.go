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

// These are the limits of a batch. One Apply writes a whole batch or nothing. Larger batches would be faster, but a
// person who stops an import has to wait until a batch is written.
const (
	maxBatchItems = 500
	maxBatchBytes = 4 << 20
)

// maxBatchAttempts is the maximum number of attempts to write a batch, if other writers change its entries in the
// meantime.
const maxBatchAttempts = 4

// maxReportMessages is the maximum number of messages in each of the two lists of a report, Problems and Notes.
const maxReportMessages = 1000

// ImportOptions configure [Import]. Nil means the defaults.
type ImportOptions struct {
	// Overwrite lets an imported item replace an entry with the same name even if the entry was written or edited in
	// this store, is newer than the imported file, or has another kind. Without Overwrite, such an entry is kept. (A
	// replaced entry with another kind gets a new ID.) An item with an origin replaces only an entry with the same
	// origin.
	Overwrite bool

	// NoOriginLabels omits the labels that name the origin of an entry. A later import then cannot match a changed
	// file with the entries of the file, and adds its items as new entries. If the store cannot store labels, they are
	// always omitted, and the report has a note.
	NoOriginLabels bool

	// Author is the author of the items ("" means [oxbow.Imported]). Set it only if the author is known, for example
	// for a mirror of a client's own memory.
	Author oxbow.Actor

	// If ImportsOverEdits is set, Import also imports a changed file whose entry was edited in the store. The entry
	// gets the text of the file, and the labels are merged. The edited text from the store is kept as an additional
	// entry, so that nothing is lost.
	ImportsOverEdits bool

	// IsOriginMissing reports whether the file from which an entry was imported has been deleted or renamed. It must
	// return true only for a file in a directory that this import reads again. It may be nil. See
	// [NewMissingFileCheck].
	IsOriginMissing func(origin string) bool

	// If DryRun is set, Import reports the changes but does not make them.
	DryRun bool

	// If NoChangeList is set, Report.Changes stays empty, which saves memory in a long import.
	NoChangeList bool

	// ChangeOrigin is recorded as the origin of each change that the import makes in the store. If it is "", the import
	// records the file of the imported items, or the directory that contains all their files.
	ChangeOrigin string

	// Progress is called after each batch with the number of items that were processed, including invalid items.
	Progress func(done int)

	// Interrupt is called if Import stops before the sequence of items has ended. It must make the sequence end,
	// because Import waits for the end, and the sequence may be waiting for input. It may be nil.
	Interrupt func()
}

// Report is the result of an import. AddedCount, UpdatedCount, UnchangedCount and SkippedCount add up to the number of
// all items, including invalid items.
type Report struct {
	AddedCount     int
	UpdatedCount   int
	UnchangedCount int // items that the store already contains
	SkippedCount   int // items that were not imported; Problems and Notes contain the reasons

	// Problems lists the items that were not imported, with file and line. Notes lists items that were imported with
	// changes, and files without items. Each list has at most maxReportMessages messages. OmittedMessageCount is the
	// number of omitted messages.
	Problems            []string
	Notes               []string
	OmittedMessageCount int

	// Changes lists the added and updated entries in order. It is empty if NoChangeList is set.
	Changes []Change

	// FirstChangedEntries contains the names of at most maxFirstChangedEntries added or updated entries, the first in
	// the import.
	FirstChangedEntries []string

	// EntriesMissingFromFile lists the entries that an earlier import made from a file and that the file no longer
	// contains. Import does not change them.
	EntriesMissingFromFile []string

	// EntriesOfMissingFiles lists the entries whose file was deleted or renamed since the import, with the file.
	// Import does not change them.
	EntriesOfMissingFiles []string
	// For each entry that an imported item belongs to, by a digest of the entry's name: 2 if the import changed the
	// entry, 1 otherwise.
	importStateByEntry map[digest]byte
}

// maxFirstChangedEntries is the maximum number of names in Report.FirstChangedEntries.
const maxFirstChangedEntries = 3

// IsEntryChanged reports whether the import has added or updated the entry with this name.
func (r *Report) IsEntryChanged(name string) bool {
	return r.importStateByEntry[digestParts(name)] == 2
}

// Change says how an import changed an entry.
type Change struct {
	Name         string     `json:"name"`
	Verb         oxbow.Verb `json:"verb"` // "add" or "update"
	ItemPosition string     `json:"ref"`  // place of the item, as file:line
}

func (r *Report) addMessage(list *[]string, format string, args ...any) {
	if len(*list) == maxReportMessages {
		r.OmittedMessageCount++
		return
	}
	*list = append(*list, fmt.Sprintf(format, args...))
}

// Import adds the items to the store in batches of at most 500 entries or 4 MiB. Each batch is written with one call of
// Apply. The actor of each batch's source is [oxbow.Imported] or o.Author. If reading or writing fails, Import returns
// an error and a report of the batches that were written. To continue, call Import again.
//
// If no entry has the name of an item, the item is added. Otherwise Import compares the item with the entry of this
// name:
//
//   - If the content, aliases and labels are equal, the entry stays as it is.
//   - An item without an origin comes from an export. The item is a version of the entry if both have the same creation
//     time, or if an import of the same file wrote the entry. In this case, the item replaces the entry if the item was
//     updated later and the entry was not edited in the store. Otherwise the item is skipped and reported. An item
//     without a creation time is also skipped if nothing shows whether it is a version of the entry.
//   - An item with an origin replaces an entry that was imported from the same origin and was not edited since. If the
//     entry was edited and the file is unchanged, the entry stays as it is. If both have changed, the item is skipped,
//     unless o.ImportsOverEdits is set.
//   - In all other cases, the entry stays as it is, and the item gets a name with a number: "NAME (2)".
//
// The option o.Overwrite makes more items replace entries. The same rules apply within an import: if two different
// items have the same name, the second item gets a number. If an item's alias is already the name or an alias of
// another entry, the alias is omitted, and the report contains a note.
//
// Labels identify the origin of an entry: import:ORIGIN, import-id:ID for the record of a program, and import-sum with
// a digest of the imported content, aliases and labels. The digest shows whether the entry or the file was edited since
// the import.
func Import(ctx context.Context, s oxbow.Store, items iter.Seq2[Item, error], o *ImportOptions) (Report, error) {
	if o == nil {
		o = &ImportOptions{}
	}
	im := importer{
		ctx:                 ctx,
		store:               s,
		storeWithExactNames: s,
		opts:                o,
		report:              Report{Changes: []Change{}},
		usedNames:           newUsedNames(),
		originLabelValues:   make(map[string]bool),
		fileNames:           make(map[string]bool),
	}
	// Use the store of the memory, because a Memory would search all aliases for a name that does not exist, which is
	// slow.
	if m, ok := s.(interface{ Store() oxbow.Store }); ok {
		im.storeWithExactNames = m.Store()
	}
	if c := oxbow.CapabilitiesOf(im.storeWithExactNames).Counter; c != nil {
		stats, err := c.Stats(ctx)
		im.wasStoreEmpty = err == nil && stats.Entries == 0
	}
	im.report.importStateByEntry = im.usedNames.importStateByEntry
	err := im.importItems(readAhead(items, o.Interrupt))
	if err == nil {
		err = im.findStaleEntries()
	}
	return im.report, err
}

type importer struct {
	ctx   context.Context
	store oxbow.Store
	// Store in which an entry can be found by its exact name. It is the store of the import, or, if that store is a
	// Memory, the store in the Memory. A Memory would search all aliases for a name that does not exist.
	storeWithExactNames oxbow.Store
	opts                *ImportOptions
	report              Report
	usedNames           *usedNames      // names and digests of the items in all batches that were already written
	originLabelValues   map[string]bool // values of the origin label, for all items that were imported so far
	// names of Markdown files that an entry already has as an alias, so that no other entry gets the same alias
	fileNames map[string]bool
	// For the digest of each alias in the store, the name of the entry with this alias. The map is nil before it is
	// needed.
	entryNameByAlias map[digest]string
	// Names of the entries that earlier imports made from other programs' records. The key is a digest of the program's
	// name and the record's ID. The map is nil before it is needed.
	entryNameByRecord map[digest]string
	itemCount         int  // number of imported items that were written or refused so far
	wasStoreEmpty     bool // The store was empty when the import began.
	noLabelSupport    bool // The store lacks support for labels, so imported items do not get labels for their origin.
}

func (im *importer) importItems(items iter.Seq2[Item, error]) error {
	var batch []Item
	size := 0
	flush := func() error {
		if len(batch) > 0 {
			if err := im.writeBatch(importBatch{items: batch}); err != nil {
				return err
			}
			im.itemCount += len(batch)
			batch, size = batch[:0], 0
		}
		if im.opts.Progress != nil {
			im.opts.Progress(im.itemCount)
		}
		return nil
	}
	for it, err := range items {
		if cerr := im.ctx.Err(); cerr != nil {
			return fmt.Errorf("importing: %w", cerr)
		}
		switch {
		case errors.Is(err, errFileWithoutText), errors.Is(err, errOtherExtension), errors.Is(err, errHidden),
			errors.Is(err, errDeleted), isSkippedError(err):
			im.report.addMessage(&im.report.Notes, "%v", err)
			im.report.SkippedCount++
			im.itemCount++
			continue
		case err != nil && isItemError(err):
			im.reportSkippedItems(1, "%v", err)
			im.itemCount++
			continue
		case err != nil:
			// Write the items that were read before the error.
			return errors.Join(err, flush())
		}
		it, ok := im.addLabelsAndCheckItem(it)
		if !ok {
			continue
		}
		n := len(it.Entry.Content)
		if len(batch) == maxBatchItems || size+n > maxBatchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size = append(batch, it), size+n
	}
	return flush()
}

// readAhead returns a sequence with the same items. A goroutine reads the items in advance. It is at most maxBatchItems
// items and about maxBatchBytes bytes ahead of the caller. If the caller stops early, readAhead calls the function
// interrupt (unless nil) and waits until the goroutine has ended.
func readAhead(items iter.Seq2[Item, error], interrupt func()) iter.Seq2[Item, error] {
	type read struct {
		item Item
		size int64 // size of the item's content in bytes. A larger size than maxBatchBytes counts as maxBatchBytes.
		err  error
	}
	return func(yield func(Item, error) bool) {
		ahead, room := make(chan read, maxBatchItems), semaphore.NewWeighted(maxBatchBytes)
		wanted, stop := context.WithCancel(context.Background())
		go func() {
			defer close(ahead)
			for it, err := range items {
				size := min(int64(len(it.Entry.Content)), maxBatchBytes)
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

// addLabelsAndCheckItem prepares an item for the import, and returns the prepared item. It adds the item's warnings to
// the import's report. The item gets its file name as an alias, unless an earlier item had the same file name. If the
// item has an origin, it also gets import labels, unless the options or the store do not allow import labels. If the
// item is not valid, addLabelsAndCheckItem adds the reason to the report and returns false.
func (im *importer) addLabelsAndCheckItem(it Item) (Item, bool) {
	for _, s := range it.LossMessages {
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
		// An export of another program may contain only a part of the program's records. Therefore a record that is
		// missing in the file must not count as deleted. For this reason, the origin is recorded only for an item
		// without a record ID.
		if it.ID == "" {
			im.originLabelValues[originLabel(it.Origin)] = true
		}
		if !im.opts.NoOriginLabels && !im.noLabelSupport {
			it = withImportLabels(it)
		}
	}
	if err := it.checkValid(); err != nil {
		im.reportSkippedItems(1, "%s: %v", it.Position, err)
		im.itemCount++
		return it, false
	}
	return it, true
}

// reportSkippedItems adds to the report why skippedCount items were not imported.
func (im *importer) reportSkippedItems(skippedCount int, format string, args ...any) {
	im.report.addMessage(&im.report.Problems, format, args...)
	im.report.SkippedCount += skippedCount
}

// importBatch contains the imported items that are written to the store in one change.
type importBatch struct {
	items             []Item
	hasNoImportLabels bool // No item has the labels by which a later import could identify its entry.
}

// writeBatch writes a batch in one change. If the store cannot store import marks, writeBatch leaves them out. If the
// store refuses the batch, writeBatch halves the batch until the refused item is alone, and reports this item as
// skipped.
func (im *importer) writeBatch(batch importBatch) error {
	items := batch.items
	if im.noLabelSupport {
		items = withoutImportMetadata(items)
	}
	p, err := im.applyBatch(items)
	refused := errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported)
	switch {
	case p == nil:
		return fmt.Errorf("importing %s: %w", items[0].Position, err)
	case err == nil:
		isFirstUnmarked := batch.hasNoImportLabels && !im.noLabelSupport
		if isFirstUnmarked && len(p.changeOps) > 0 {
			im.noLabelSupport = true
			im.report.addMessage(
				&im.report.Notes,
				"the store keeps no labels: it does not know where the entries came from, and a file that is changed "+
					"later will be added next to them; further keys of front matter are left out",
			)
		}
		im.addPlanToReport(p)
		return nil
	case errors.Is(err, oxbow.ErrUnsupported) && !batch.hasNoImportLabels && slices.ContainsFunc(items,
		hasImportMetadata):
		// The store may be unable to store import marks, so try without them.
		return im.writeBatch(importBatch{items: withoutImportMetadata(items), hasNoImportLabels: true})
	case refused && len(items) > 1:
		// The store refuses an item, for example because its limits are narrower than usual. Halve the batch to find
		// this item, and write all other items.
		half := len(items) / 2
		if err := im.writeBatch(importBatch{items[:half], batch.hasNoImportLabels}); err != nil {
			return err
		}
		return im.writeBatch(importBatch{items[half:], batch.hasNoImportLabels})
	case refused:
		advice := ""
		if errors.Is(err, oxbow.ErrUnsupported) {
			advice = "; oxbow convert DIR copies the memory into a store that can"
		}
		im.reportSkippedItems(1, "%s: %v%s", items[0].Position, err, advice)
		return nil
	}
	return fmt.Errorf("importing %s to %s: %w", items[0].Position, items[len(items)-1].Position, err)
}

// applyBatch plans the change for a batch of items and applies the change to the store. If another writer has changed
// an entry of the plan in the meantime, applyBatch plans again, in up to maxBatchAttempts attempts. If im.opts.DryRun
// is set, it only checks whether the store would accept the change. If planning fails, the returned plan is nil.
func (im *importer) applyBatch(items []Item) (*batchPlan, error) {
	for try := 1; ; try++ {
		p, err := im.planBatchChange(items, im.wasStoreEmpty && try == 1)
		if p == nil || len(p.changeOps) == 0 {
			return p, err
		}
		if im.opts.DryRun {
			if d := oxbow.CapabilitiesOf(im.storeWithExactNames).DryRunner; d != nil {
				err = d.DryRun(im.ctx, p.changeOps...)
			}
			return p, err
		}
		err = im.store.Apply(im.contextWithSource(items), p.changeOps...)
		changed := errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound) ||
			errors.Is(err, oxbow.ErrConflict)
		if !changed || try == maxBatchAttempts {
			return p, err
		}
	}
}

// addPlanToReport adds the results of a plan to the report.
func (im *importer) addPlanToReport(p *batchPlan) {
	im.usedNames.addNamesFrom(p.namesUsedInBatch)
	im.report.AddedCount += p.report.AddedCount
	im.report.UpdatedCount += p.report.UpdatedCount
	im.report.UnchangedCount += p.report.UnchangedCount
	im.report.SkippedCount += p.report.SkippedCount
	if !im.opts.NoChangeList {
		im.report.Changes = append(im.report.Changes, p.report.Changes...)
	}
	for _, c := range p.report.Changes[:min(len(p.report.Changes),
		maxFirstChangedEntries-len(im.report.FirstChangedEntries))] {
		im.report.FirstChangedEntries = append(im.report.FirstChangedEntries, c.Name)
	}
	for _, m := range p.report.Problems {
		im.report.addMessage(&im.report.Problems, "%s", m)
	}
	for _, m := range p.report.Notes {
		im.report.addMessage(&im.report.Notes, "%s", m)
	}
}

// contextWithSource returns a context for the changes that import the items of one batch. The store records the source
// in this context for each change. The source's actor is im.opts.Author, or oxbow.Imported if no author is set. The
// source's origin is im.opts.ChangeOrigin. If im.opts.ChangeOrigin is empty, the origin is the file or directory from
// which all items come.
func (im *importer) contextWithSource(items []Item) context.Context {
	src, _ := oxbow.SourceFrom(im.ctx)
	src.Actor = cmp.Or(im.opts.Author, oxbow.Imported)
	origin := im.opts.ChangeOrigin
	if origin == "" {
		origin = commonFileOrDirectory(items)
	}
	return oxbow.WithSource(im.ctx, src.WithOrigin(origin))
}

// commonFileOrDirectory returns the file or the directory from which all items come, or "" if they do not have a common
// directory.
func commonFileOrDirectory(items []Item) string {
	origin := fileOfRef(items[0].Position)
	for _, it := range items[1:] {
		for origin != fileOfRef(it.Position) && !strings.HasPrefix(it.Position, origin+"/") {
			up := path.Dir(origin)
			if up == origin || up == "." {
				return ""
			}
			origin = up
		}
	}
	return origin
}

// fileOfRef returns the file in a reference file:line.
func fileOfRef(ref string) string {
	if i := strings.LastIndexByte(ref, ':'); i > 0 && strings.Trim(ref[i+1:], "0123456789") == "" {
		return ref[:i]
	}
	return ref
}

// findStaleEntries finds entries that were imported earlier and whose origin no longer exists. It adds their names to
// two lists in the report. EntriesMissingFromFile contains an entry if this import has read the entry's file, but the
// file does not contain the entry now. EntriesOfMissingFiles contains an entry if the entry's file does not exist,
// followed by the origin in parentheses.
func (im *importer) findStaleEntries() error {
	if im.opts.NoOriginLabels || im.noLabelSupport {
		return nil
	}
	if len(im.originLabelValues) == 0 && im.opts.IsOriginMissing == nil {
		return nil
	}
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{originLabelKey}}}}
	for e, err := range im.store.Entries(im.ctx, f) {
		if err != nil {
			return fmt.Errorf("looking for stale entries: %w", err)
		}
		origin, _ := e.Label(originLabelKey)
		switch {
		case im.isMissingFromItsFile(&e, origin):
			im.report.EntriesMissingFromFile = append(im.report.EntriesMissingFromFile, e.Name)
		case im.opts.IsOriginMissing != nil && im.usedNames.importStateByEntry[digestParts(e.Name)] == 0 &&
			im.opts.IsOriginMissing(origin):
			im.report.EntriesOfMissingFiles = append(
				im.report.EntriesOfMissingFiles,
				fmt.Sprintf("%s (%s)", e.Name, origin),
			)
		}
	}
	return nil
}

// isMissingFromItsFile reports whether an entry was imported from a file that this import has read, and the file does
// not contain the entry's item any more.
func (im *importer) isMissingFromItsFile(e *oxbow.Entry, origin string) bool {
	return im.originLabelValues[origin] && im.usedNames.importStateByEntry[digestParts(e.Name)] == 0
}
