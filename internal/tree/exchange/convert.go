// This file converts a memory to another layout: it copies all entries into another store.

package exchange

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// ConvertOptions are the options of [Convert].
type ConvertOptions struct {
	// If MayAdaptEntries is set and the new store refuses an entry, parts of the entry are removed in steps until the
	// store accepts it. First the labels are removed, unless the entry could then be shown to a model that must not
	// see it (see [oxbow.WithoutLabels]). Then the aliases are removed. Then the entry becomes a note. The report
	// lists the lost parts. If MayAdaptEntries is not set, such an entry is only reported as refused.
	MayAdaptEntries bool
	// Progress, if not nil, is called after each batch with the number of entries that were written
	// or refused so far.
	Progress func(done int)
}

// ConvertReport is the result of [Convert].
type ConvertReport struct {
	EntryCount int // number of entries written to the new store, including entries from which some parts were removed
	// entries that were written to the new store without some parts, such as labels, which this store cannot contain
	AdaptedEntries []AdaptedEntry
	RefusedEntries []RejectedEntry // entries that are missing in the new store, because it did not accept them
}

// AdaptedEntry is an entry that was changed so that the new store accepts it.
type AdaptedEntry struct {
	Name string `json:"name"`
	// parts of the entry that the new store does not contain, such as "labels" or "kind journal"
	LostParts []string `json:"lost"`
}

// RejectedEntry is an entry that the new store did not accept.
type RejectedEntry struct {
	Name   string `json:"name"`
	Err    error  `json:"-"`
	Reason string `json:"why"`
}

// convertBatchSize is the maximum number of entries that one change writes.
const convertBatchSize = 256

// Convert copies all entries of a store to another store, ordered by ID. It copies names, kinds, contents, aliases,
// labels and creation times, but not the history. The entries get new IDs. Afterwards Convert reads the new store and
// reports the entries and parts that the store accepted but did not keep. An entry that the new store refuses is
// listed in the report. Convert fails if reading or writing fails. The entries that were written before then remain in
// the new store.
func Convert(ctx context.Context, from, to oxbow.Store, o *ConvertOptions) (ConvertReport, error) {
	if o == nil {
		o = new(ConvertOptions)
	}
	c := &converter{target: to, opts: *o}
	var batch []oxbow.Op
	flush := func() error {
		if err := c.writeBatch(ctx, batch); err != nil {
			return err
		}
		batch = batch[:0]
		if o.Progress != nil {
			o.Progress(c.report.EntryCount + len(c.report.RefusedEntries))
		}
		return nil
	}
	for e, err := range from.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return c.report, fmt.Errorf("reading the old store: %w", err)
		}
		e = e.Clone()
		batch = append(batch, threeway.NewAddOp(&e))
		if len(batch) == convertBatchSize {
			if err := flush(); err != nil {
				return c.report, err
			}
		}
	}
	err := flush()
	if err == nil {
		err = c.compareWrittenEntries(ctx)
	}
	return c.report, err
}

type converter struct {
	target         oxbow.Store
	opts           ConvertOptions
	report         ConvertReport
	writtenEntries map[string]writtenEntry // the entries that were written, by name
}

// writtenEntry describes an entry as it was passed to the new store, for a comparison with the entry that the store
// has kept.
type writtenEntry struct {
	kind          oxbow.Kind
	created       time.Time
	aliases       []string
	labels        []oxbow.Label
	contentDigest digest // digest of the content
}

// recordWrittenEntry records an entry that the conversion has written to the new store.
func (c *converter) recordWrittenEntry(add oxbow.Add) {
	if c.writtenEntries == nil {
		c.writtenEntries = map[string]writtenEntry{}
	}
	c.writtenEntries[add.Name] = writtenEntry{add.Kind, add.Created, add.Aliases, add.Labels, digestParts(add.Content)}
	c.report.EntryCount++
}

// compareWrittenEntries reads the new store, and adds to the report the entries and the parts of entries that it has
// not kept. A store may accept an entry although it cannot store all the entry's parts. For example, a file without
// front matter cannot contain a date.
func (c *converter) compareWrittenEntries(ctx context.Context) error {
	rows := map[string]int{} // index of an entry in c.report.AdaptedEntries, by the entry's name
	for i, a := range c.report.AdaptedEntries {
		rows[a.Name] = i
	}
	for e, err := range c.target.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return fmt.Errorf("reading the new store: %w", err)
		}
		w, ok := c.writtenEntries[e.Name]
		if !ok {
			continue
		}
		delete(c.writtenEntries, e.Name)
		lost := w.missingParts(&e)
		if len(lost) == 0 {
			continue
		}
		if i, ok := rows[e.Name]; ok {
			c.report.AdaptedEntries[i].LostParts = append(c.report.AdaptedEntries[i].LostParts, lost...)
		} else {
			c.report.AdaptedEntries = append(c.report.AdaptedEntries, AdaptedEntry{strings.Clone(e.Name), lost})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.writtenEntries)) {
		c.report.EntryCount--
		c.report.RefusedEntries = append(
			c.report.RefusedEntries,
			RejectedEntry{name, errNotStored, errNotStored.Error()},
		)
	}
	return nil
}

// errNotStored says that a store has accepted an entry but does not contain it.
var errNotStored = errors.New("the layout took it and has no entry with this name")

// missingParts compares the stored entry e with the entry that was written. It returns a name for each part of the
// written entry that was not stored unchanged, for example "labels".
func (w *writtenEntry) missingParts(e *oxbow.Entry) (lost []string) {
	if e.Kind != w.kind {
		lost = append(lost, "kind "+w.kind.String())
	}
	if !slices.Equal(e.Aliases, w.aliases) {
		lost = append(lost, "aliases")
	}
	if !slices.Equal(oxbow.SortLabels(e.Labels), oxbow.SortLabels(w.labels)) {
		lost = append(lost, "labels")
	}
	if digestParts(e.Content) != w.contentDigest {
		lost = append(lost, "characters of the text")
	}
	if !w.created.IsZero() && e.Created.Sub(w.created).Abs() >= time.Second {
		lost = append(lost, "date "+w.created.Format(time.DateOnly))
	}
	return lost
}

// isRefusedByStore reports whether err says that the store does not accept the entry. Other errors mean that
// writing failed.
func isRefusedByStore(err error) bool {
	return errors.Is(err, oxbow.ErrUnsupported) || errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrExists)
}

// writeBatch writes the entries of the list batch in a single change. If an entry has an alias that belongs to another
// entry, writeBatch first removes the alias from the entry, and adds it to the report. If the store refuses the change,
// writeBatch calls writeEntry for each entry, which writes the entry in a separate change. Any other error is returned.
func (c *converter) writeBatch(ctx context.Context, batch []oxbow.Op) error {
	if len(batch) == 0 {
		return nil
	}
	batch, taken, err := oxbow.WithoutTakenAliases(ctx, c.target, batch)
	if err != nil {
		return fmt.Errorf("reading the new store: %w", err)
	}
	for _, t := range taken {
		lost := fmt.Sprintf("alias %q, which means %q", t.Alias, t.Owner)
		c.report.AdaptedEntries = append(c.report.AdaptedEntries, AdaptedEntry{t.Name, []string{lost}})
	}
	err = c.target.Apply(ctx, batch...)
	if err == nil {
		for _, op := range batch {
			c.recordWrittenEntry(op.(oxbow.Add))
		}
		return nil
	}
	if !isRefusedByStore(err) {
		return fmt.Errorf("writing the new store: %w", err)
	}
	for _, op := range batch {
		if err := c.writeEntry(ctx, op.(oxbow.Add)); err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) writeEntry(ctx context.Context, add oxbow.Add) error {
	var lost []string
	for {
		err := c.target.Apply(ctx, add)
		if err == nil {
			c.recordWrittenEntry(add)
			if len(lost) > 0 {
				c.report.AdaptedEntries = append(c.report.AdaptedEntries, AdaptedEntry{add.Name, lost})
			}
			return nil
		}
		if !isRefusedByStore(err) {
			return fmt.Errorf("writing entry %q: %w", add.Name, err)
		}
		switch {
		case !c.opts.MayAdaptEntries || errors.Is(err, oxbow.ErrExists):
		case len(add.Labels) > 0:
			if e := (oxbow.Entry{Labels: add.Labels}); !e.MayShow(oxbow.WithoutLabels) {
				err = fmt.Errorf("%w: it is held back, which the layout has no place for", err)
				break
			}
			add.Labels, lost = nil, append(lost, "labels")
			continue
		case len(add.Aliases) > 0:
			add.Aliases, lost = nil, append(lost, "aliases")
			continue
		case add.Kind != oxbow.Note:
			lost = append(lost, "kind "+add.Kind.String())
			add.Kind = oxbow.Note
			continue
		}
		c.report.RefusedEntries = append(c.report.RefusedEntries, RejectedEntry{add.Name, err, refusalReason(err)})
		return nil
	}
}

// refusalReason returns err's message without the text of [oxbow.ErrUnsupported].
func refusalReason(err error) string {
	words := oxbow.ErrUnsupported.Error()
	return strings.TrimSuffix(strings.ReplaceAll(err.Error(), words+": ", ""), ": "+words)
}
