// This file tests stores that wrap another store. No optional interface of the wrapped store may bypass the wrapper.

package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// A Wrapper describes a store that wraps another store, for [RunWrapper].
type Wrapper struct {
	// Ops are applied to a store, each in a separate change, before Wrap wraps this store. At least one entry must be
	// visible through the wrapper.
	Ops []oxbow.Op

	// Secret is a word that is in the name and the texts of each entry that the wrapper must hide, and in no other
	// entry. It may be empty.
	Secret string

	// Check returns an error if the tested store, which wraps another store and hides some entries, must not show the
	// entry e. It may be nil.
	Check func(e oxbow.Entry) error

	// Wrap returns a wrapper of base. The test closes the wrapper, which may close base.
	Wrap func(t *testing.T, base oxbow.Store) oxbow.Store
}

// RunWrapper tests a wrapper, a store that shows only some entries of another store. Each optional interface of the
// wrapper must show the same entries as a list, and no others. The function open must return an empty store with all
// optional interfaces. RunWrapper runs the tests with this store, with a variant whose heads (short descriptions of
// entries) lack contents, and with a variant that has no optional interfaces.
func RunWrapper(t *testing.T, open func(t *testing.T) oxbow.Store, w Wrapper) {
	for _, tc := range []struct {
		name string
		// returns the store with only this test case's optional interfaces
		hide func(oxbow.Store) oxbow.Store
	}{
		{"all optional interfaces", func(s oxbow.Store) oxbow.Store { return s }},
		{"heads without contents", func(s oxbow.Store) oxbow.Store { return storeWithoutHeadContents{s} }},
		{"no optional interface", func(s oxbow.Store) oxbow.Store { return storeWithoutCapabilities{s} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			full := open(t)
			if missing := missingFields(oxbow.CapabilitiesOf(full)); len(missing) > 0 {
				t.Fatalf("the store of this test lacks %s", missing)
			}
			for _, op := range w.Ops {
				ctx := t.Context()
				if w.Secret != "" && strings.Contains(fmt.Sprint(op), w.Secret) {
					ctx = oxbow.WithNote(ctx, "about "+w.Secret)
				}
				if err := full.Apply(ctx, op); err != nil {
					t.Fatal(err)
				}
			}
			base := tc.hide(full)
			s := w.Wrap(t, base)
			_, readsAll := base.(storeWithoutHeadContents)
			wt := &wrapperTest{
				t:                t,
				wrapper:          w,
				fullStore:        full,
				wrapperStore:     s,
				capabilities:     oxbow.CapabilitiesOf(s),
				readsUnlistedIDs: readsAll,
			}
			wt.checkOfferedCapabilities(oxbow.CapabilitiesOf(base))
			wt.readVisibleEntries()
			wt.checkReads()
			wt.checkHistory()
			wt.checkRedactorHidesSecret()
			wt.checkEvents()
			wt.checkWrites()
			checkStore(t, full)
			if err := s.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
			if err := full.Close(); err != nil && !errors.Is(err, oxbow.ErrClosed) {
				t.Errorf("Close() of the wrapped store = %v", err)
			}
		})
	}
}

// storeWithoutCapabilities is a store without optional interfaces.
type storeWithoutCapabilities struct{ oxbow.Store }

// storeWithoutHeadContents is a store with all optional interfaces. Its ViewHeads returns entries without their
// contents, so that a wrapper must read the contents separately.
type storeWithoutHeadContents struct{ oxbow.Store }

// Capabilities returns the optional interfaces that the store supports, for [oxbow.CapabilitiesOf].
func (s storeWithoutHeadContents) Capabilities() oxbow.Capabilities {
	c := oxbow.CapabilitiesOf(s.Store)
	c.HeadViewer = s
	return c
}

// ViewHeads implements [oxbow.HeadViewer]. Each head, which is a short description of an entry, has all the entry's
// labels and no name.
func (s storeWithoutHeadContents) ViewHeads(
	ctx context.Context,
	_, _ []string,
	fn func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error,
) (bool, error) {
	var entries []*oxbow.Entry
	for e, err := range s.Store.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return false, err
		}
		entries = append(entries, &e)
	}
	all := func(yield func(oxbow.Head, error) bool) {
		for _, e := range entries {
			head := &oxbow.Entry{ID: e.ID, Version: e.Version, Kind: e.Kind, Labels: e.Labels, Created: e.Created,
				Updated: e.Updated}
			if !yield(oxbow.Head{Entry: head, Size: len(e.Content)}, nil) {
				return
			}
		}
	}
	return true, fn(all, func(ids []uint64) (found []*oxbow.Entry, err error) {
		for _, e := range entries {
			if slices.Contains(ids, e.ID) {
				found = append(found, e)
			}
		}
		return found, nil
	})
}

// missingFields returns the names of the optional interfaces that c does not contain.
func missingFields(c oxbow.Capabilities) (names []string) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if v.Field(i).IsNil() {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	return names
}

type wrapperTest struct {
	t                      *testing.T
	wrapper                Wrapper
	fullStore              oxbow.Store // the store below the tested wrapper, with all its optional interfaces
	wrapperStore           oxbow.Store // the tested wrapper around fullStore
	capabilities           oxbow.Capabilities
	entriesListedByWrapper []oxbow.Entry // entries that the tested wrapper lists
	names                  []string      // names of all entries that the wrapped store has ever had

	// In ViewHeads of the store below the wrapper, the function read returns an entry for any ID, even if the head was
	// not listed.
	readsUnlistedIDs bool
}

// checkHasNoSecret fails the test if the text of value contains wt.wrapper.Secret. It also fails the test if value is
// an entry that wt.wrapper.Check does not allow. The argument location says in the message where the value was found.
func (wt *wrapperTest) checkHasNoSecret(location string, value any) {
	wt.t.Helper()
	text := fmt.Sprintf("%+v", value)
	if wt.wrapper.Secret != "" && strings.Contains(text, wt.wrapper.Secret) {
		wt.t.Errorf("%s shows what must be hidden: %.300s", location, text)
	}
	if e, ok := value.(oxbow.Entry); ok && wt.wrapper.Check != nil {
		if err := wt.wrapper.Check(e); err != nil {
			wt.t.Errorf("%s shows entry %q: %v", location, e.Name, err)
		}
	}
}

// checkOfferedCapabilities checks which optional interfaces the wrapper offers in wt.capabilities. The argument base
// contains the optional interfaces of the wrapped store. The test fails in two cases:
//   - The wrapper offers an interface in the list needsBase, but base does not contain this interface.
//   - The wrapper has the methods of an interface but does not offer the interface, for example because the wrapper's
//     type embeds a store. This is not checked if the wrapper is a Memory, or if base lacks any interface.
func (wt *wrapperTest) checkOfferedCapabilities(base oxbow.Capabilities) {
	wt.t.Helper()
	notOffered, below := missingFields(wt.capabilities), missingFields(base)
	needsBase := []string{"Historian", "Sequencer", "Committer", "Checker", "Compactor", "Redactor", "Counter"}
	for _, name := range needsBase {
		if !slices.Contains(notOffered, name) && slices.Contains(below, name) {
			wt.t.Errorf("the wrapper offers a %s over a store that is none", name)
		}
	}
	if _, isMemory := wt.wrapperStore.(*oxbow.Memory); isMemory || len(below) > 0 {
		// Such a wrapper may have the methods of an interface that the wrapper does not offer. The methods then return
		// an error.
		return
	}
	c := reflect.TypeFor[oxbow.Capabilities]()
	for i := range c.NumField() {
		f := c.Field(i)
		if reflect.TypeOf(wt.wrapperStore).Implements(f.Type) && slices.Contains(notOffered, f.Name) {
			wt.t.Errorf("the wrapper has the methods of %s and does not offer it", f.Name)
		}
	}
}

// readVisibleEntries lists the entries that the tested wrapper shows, and stores them in wt.entriesListedByWrapper. It
// fails the test if Get returns an entry that is not in the list, if a filter returns other entries than the list, or
// if a result contains a secret. It also adds the names of all entries in the log of the full store to wt.names.
func (wt *wrapperTest) readVisibleEntries() {
	t := wt.t
	wt.entriesListedByWrapper = listEntries(t, wt.wrapperStore, oxbow.Filter{})
	for _, e := range wt.entriesListedByWrapper {
		wt.checkHasNoSecret("Entries", e)
	}
	if len(wt.entriesListedByWrapper) == 0 {
		t.Fatal("the wrapper shows no entry, so nothing is compared")
	}
	for c, err := range asHistorian(t, wt.fullStore).Log(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.Versions {
			if !slices.Contains(wt.names, v.Entry.Name) {
				wt.names = append(wt.names, v.Entry.Name)
			}
		}
	}
	for _, name := range wt.names {
		e, err := wt.wrapperStore.Get(t.Context(), name)
		isShown := slices.ContainsFunc(wt.entriesListedByWrapper, func(o oxbow.Entry) bool { return o.ID == e.ID })
		if err == nil && !isShown {
			t.Errorf("Get(%q) returns entry %d, which Entries does not list", name, e.ID)
		}
		wt.checkHasNoSecret("Get", e)
	}
	for _, all := range listEntries(t, wt.fullStore, oxbow.Filter{}) {
		for _, l := range all.Labels {
			f := oxbow.Filter{Terms: []oxbow.Term{{Key: l.Key, Values: []string{l.Value}}}}
			var want []string
			for i := range wt.entriesListedByWrapper {
				if f.Match(&wt.entriesListedByWrapper[i]) {
					want = append(want, wt.entriesListedByWrapper[i].Name)
				}
			}
			if got := entryNames(listEntries(t, wt.wrapperStore, f)); !slices.Equal(got, want) {
				t.Errorf("Entries(%s) = %q, want %q", f, got, want)
			}
		}
	}
}

// checkReads tests the methods of the wrapper that return heads, pages and counts. It compares their results with the
// entries that the wrapper's Entries method listed. If the wrapper has a method Check, checkReads also tests that Check
// returns no error, and that its report contains no secret.
func (wt *wrapperTest) checkReads() {
	t, ctx := wt.t, wt.t.Context()
	wt.checkEntryHeads()
	wt.checkEntryPages()
	if c := wt.capabilities.Counter; c != nil {
		if s, err := c.Stats(ctx); err != nil || s.Entries != len(wt.entriesListedByWrapper) {
			t.Errorf("Stats = %+v, %v, want %d entries", s, err, len(wt.entriesListedByWrapper))
		}
	}
	if c := wt.capabilities.Checker; c != nil {
		r, err := c.Check(ctx)
		if err != nil {
			t.Errorf("Check = %v", err)
		}
		wt.checkHasNoSecret("Check", r)
	}
}

// checkEntryHeads lists the heads of all entries through the wrapper. A head is an entry without its content. If
// readsUnlistedIDs is set, checkEntryHeads also reads the entries with all IDs of the wrapped store, and reports an
// error if the wrapper returns a hidden entry.
func (wt *wrapperTest) checkEntryHeads() {
	if wt.capabilities.HeadViewer == nil {
		return
	}
	var ids []uint64
	view := func(all iter.Seq2[oxbow.Head, error], read func([]uint64) ([]*oxbow.Entry, error)) error {
		for h, err := range all {
			if err != nil {
				return err
			}
			ids = append(ids, h.Entry.ID)
			wt.checkHasNoSecret("ViewHeads", *h.Entry)
		}
		if !wt.readsUnlistedIDs {
			return nil
		}
		es, err := read(entryIDs(listEntries(wt.t, wt.fullStore, oxbow.Filter{})))
		for _, e := range es {
			if e != nil {
				wt.checkHasNoSecret("the entries of heads", *e)
			}
		}
		return err
	}
	ok, err := wt.capabilities.HeadViewer.ViewHeads(wt.t.Context(), []string{oxbow.LabelProject}, nil, view)
	if !ok {
		return // The wrapper cannot provide heads for this store, so nothing can be compared.
	}
	if want := entryIDs(wt.entriesListedByWrapper); err != nil || !slices.Equal(ids, want) {
		wt.t.Errorf("ViewHeads lists %d, %v, want %d", ids, err, want)
	}
}

// checkEntryPages reads the newest entries through the tested store, one entry on each page.
func (wt *wrapperTest) checkEntryPages() {
	if wt.capabilities.Pager == nil {
		return
	}
	want := slices.Clone(wt.entriesListedByWrapper)
	slices.SortFunc(want, func(a, b oxbow.Entry) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	for offset := range len(want) {
		page, total, err := wt.capabilities.Pager.Newest(wt.t.Context(), oxbow.Filter{}, offset, 1)
		if err != nil || total != len(want) {
			wt.t.Errorf("page %d of Newest = %+v of %d, %v, want %d entries", offset, page, total, err, len(want))
		}
		if len(page) != 1 || page[0].ID != want[offset].ID {
			wt.t.Errorf("page %d of Newest = %+v, want %q", offset, page, want[offset].Name)
		}
	}
}

func entryIDs(es []oxbow.Entry) (ids []uint64) {
	for _, e := range es {
		ids = append(ids, e.ID)
	}
	return ids
}

func asHistorian(t *testing.T, s oxbow.Store) oxbow.Historian {
	t.Helper()
	h, err := oxbow.HistoryOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// checkHistory reads the whole history through the tested store, which hides some entries. It tries to undo and to
// restore every hidden change.
func (wt *wrapperTest) checkHistory() {
	t, ctx, h := wt.t, wt.t.Context(), wt.capabilities.Historian
	if h == nil {
		return
	}
	seen := map[uint64]bool{}
	var log []oxbow.Change
	for c, err := range h.Log(ctx) {
		if err != nil {
			t.Fatalf("Log = %v", err)
		}
		seen[c.Seq] = true
		log = append(log, c)
		wt.checkHasNoSecret("Log", c)
	}
	wt.checkPartialLogReads(h, log)
	for _, name := range wt.names {
		for v, err := range h.Versions(ctx, name) {
			if err == nil {
				wt.checkHasNoSecret("Versions", v)
			}
		}
	}
	for c, err := range asHistorian(t, wt.fullStore).Log(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		wt.checkPastStateHidesSecret(h, c.Seq)
		if !seen[c.Seq] {
			wt.checkHiddenChangeRejected(h, c.Seq)
		}
	}
}

// checkPartialLogReads reads parts of the history, and compares them with the whole log.
func (wt *wrapperTest) checkPartialLogReads(h oxbow.Historian, log []oxbow.Change) {
	t, ctx := wt.t, wt.t.Context()
	for seq := range log[0].Seq + 2 {
		var want []oxbow.Change // changes with the number seq or a smaller number
		for _, c := range log {
			if c.Seq <= seq {
				want = append(want, c)
			}
		}
		for skip := range len(want) + 2 {
			got, err := collectItems(oxbow.LogFrom(ctx, h, seq, skip))
			if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want[min(skip, len(want)):]) {
				t.Errorf("LogFrom(%d, %d) = %+v, %v; want %+v", seq, skip, got, err, want[min(skip, len(want)):])
			}
		}
		got, err := oxbow.ReadChanges(ctx, h, []uint64{seq, 1, seq})
		numbers := []uint64{}
		for _, c := range log {
			if c.Seq == seq || c.Seq == 1 {
				numbers = append(numbers, c.Seq)
			}
		}
		isRight := slices.EqualFunc(got, numbers, func(c oxbow.Change, n uint64) bool { return c.Seq == n })
		if err != nil || !isRight {
			t.Errorf("ReadChanges(1, %d) = %+v, %v; want the numbers %d", seq, got, err, numbers)
		}
	}
}

// collectItems returns the items of a sequence up to an error, and the error.
func collectItems[T any](all iter.Seq2[T, error]) (items []T, err error) {
	for it, err := range all {
		if err != nil {
			return items, err
		}
		items = append(items, it)
	}
	return items, nil
}

// checkPastStateHidesSecret tests that the wrapper also hides secrets in the state that the store had after change seq.
func (wt *wrapperTest) checkPastStateHidesSecret(h oxbow.Historian, seq uint64) {
	t, ctx := wt.t, wt.t.Context()
	then, err := h.AsOf(ctx, seq)
	if err != nil {
		t.Fatalf("AsOf(%d) = %v", seq, err)
	}
	for _, e := range listEntries(t, then, oxbow.Filter{}) {
		wt.checkHasNoSecret("AsOf", e)
	}
	for _, name := range wt.names {
		e, _ := then.Get(ctx, name)
		wt.checkHasNoSecret("Get of AsOf", e)
	}
	c := oxbow.CapabilitiesOf(then)
	switch {
	case c.HeadViewer != nil, c.Pager != nil, c.Sequencer != nil:
		t.Errorf("the state after change %d offers interfaces that this test does not read", seq)
	}
	if err := then.Close(); err != nil {
		t.Error(err)
	}
}

// checkHiddenChangeRejected tests a change that the wrapper hides. The change seq must not be undone. Hidden entries
// must not be restored from this change.
func (wt *wrapperTest) checkHiddenChangeRejected(h oxbow.Historian, seq uint64) {
	if n, err := h.Revert(wt.t.Context(), seq); err == nil {
		wt.t.Errorf("Revert of change %d, which the log hides, made change %d", seq, n)
	}
	for _, name := range wt.names {
		if !wt.isEntryHidden(name) {
			continue
		}
		if n, err := h.Restore(wt.t.Context(), name, seq); err == nil {
			wt.t.Errorf("Restore of %q, which is hidden, made change %d", name, n)
		}
	}
}

// isEntryHidden reports whether the entry with this name must be hidden.
func (wt *wrapperTest) isEntryHidden(name string) bool {
	return wt.wrapper.Secret != "" && strings.Contains(name, wt.wrapper.Secret)
}

// checkRedactorHidesSecret checks that the caller of a Redactor learns nothing about hidden entries. Redact must return
// ErrNotFound for each entry that the wrapper hides. RedactVersions must not pass a version with the secret to the
// function of its caller. Both calls are dry runs, so nothing is erased.
func (wt *wrapperTest) checkRedactorHidesSecret() {
	r := wt.capabilities.Redactor
	if r == nil {
		return
	}
	_, err := r.RedactVersions(wt.t.Context(), func(e oxbow.Entry, _ bool) bool {
		wt.checkHasNoSecret("RedactVersions", e)
		return false
	}, dryRun)
	if err != nil {
		wt.t.Errorf("RedactVersions = %v", err)
	}
	for _, name := range wt.names {
		if !wt.isEntryHidden(name) {
			continue
		}
		if _, err := r.Redact(wt.t.Context(), name, dryRun); !errors.Is(err, oxbow.ErrNotFound) {
			wt.t.Errorf("Redact(%q) = %v, want ErrNotFound, because the entry is hidden", name, err)
		}
	}
}

const dryRun = true

// checkDelta fails the test if a change shows an entry that must be hidden, or text that must be hidden. The argument
// location describes the place for messages.
func (wt *wrapperTest) checkDelta(location string, d oxbow.Delta) {
	if d.Entry != nil {
		wt.checkHasNoSecret(location, *d.Entry)
	}
}

// checkEvents changes all entries of the wrapped store and checks which events the wrapper sends.
func (wt *wrapperTest) checkEvents() {
	t, ctx := wt.t, wt.t.Context()
	changes := wt.changesFromNow()
	changed := map[uint64]bool{}
	isReset := false
	if w := wt.capabilities.Watcher; w != nil {
		defer w.Watch(func(e oxbow.Event) {
			isReset = isReset || e.Reset
			for _, d := range e.Changes {
				changed[d.ID] = true
				wt.checkDelta("Watch", d)
			}
		})()
	}
	for _, e := range listEntries(t, wt.fullStore, oxbow.Filter{}) {
		op := oxbow.Update{Name: e.Name, Content: e.Content + " again", Labels: e.Labels, Aliases: e.Aliases}
		applyOps(t, wt.fullStore, op)
	}
	if w := wt.capabilities.Watcher; w != nil {
		if err := w.Refresh(ctx); err != nil {
			t.Errorf("Refresh = %v", err)
		}
		for _, e := range wt.entriesListedByWrapper {
			if !isReset && !changed[e.ID] {
				t.Errorf("Watch does not report a change of %q", e.Name)
			}
		}
	}
	for d, err := range changes {
		wt.checkDelta("Since", d)
		if err != nil {
			t.Fatalf("Since = %v", err)
		}
	}
	for _, e := range listEntries(t, wt.wrapperStore, oxbow.Filter{}) {
		if !strings.HasSuffix(e.Content, " again") {
			t.Errorf("the wrapper shows %q as it was before a change", e.Name)
		}
	}
}

// changesFromNow returns the changes that are made from now on. They are read during the iteration. If the wrapper is
// not a Sequencer, the sequence is empty.
func (wt *wrapperTest) changesFromNow() iter.Seq2[oxbow.Delta, error] {
	if wt.capabilities.Sequencer == nil {
		return func(func(oxbow.Delta, error) bool) {}
	}
	now, err := wt.capabilities.Sequencer.Position(wt.t.Context())
	if err != nil {
		wt.t.Fatal(err)
	}
	return wt.capabilities.Sequencer.Since(wt.t.Context(), now)
}

// checkWrite tries to change an entry of the wrapped store through the wrapper.
func (wt *wrapperTest) checkWrite(e oxbow.Entry) {
	t, ctx := wt.t, wt.t.Context()
	op := oxbow.Update{Name: e.Name, Content: "written through the wrapper", Labels: e.Labels}
	var dry error
	if d := wt.capabilities.DryRunner; d != nil {
		dry = d.DryRun(ctx, op)
	}
	made, err := oxbow.Commit(ctx, wt.wrapperStore, op)
	wt.checkHasNoSecret("Commit", made)
	now := getEntry(t, wt.fullStore, e.Name)
	wasRefused := err != nil
	switch {
	case wt.isEntryHidden(e.Name) && (!wasRefused || now.Version != e.Version):
		t.Errorf("%q, which is hidden, was changed through the wrapper: %v", e.Name, err)
	case wt.capabilities.DryRunner != nil && (dry != nil) != wasRefused:
		t.Errorf("DryRun of a change of %q = %v, but the change = %v", e.Name, dry, err)
	case wasRefused:
	case wt.capabilities.Committer != nil && len(made.Versions) != 1:
		t.Errorf("Commit of a change of %q = %+v, want its version", e.Name, made)
	case now.Content != op.Content:
		t.Errorf("a change of %q was acknowledged and not stored", e.Name)
	}
}

// checkWrites calls checkWrite for each entry, which tries to change the entry through the wrapper. Then it makes a dry
// run of a compaction, which must succeed if the wrapper offers compaction.
func (wt *wrapperTest) checkWrites() {
	t, ctx := wt.t, wt.t.Context()
	for _, e := range listEntries(t, wt.fullStore, oxbow.Filter{}) {
		wt.checkWrite(e)
	}
	if c := wt.capabilities.Compactor; c != nil {
		if _, err := c.Compact(context.WithoutCancel(ctx), time.Unix(0, 0), dryRun); err != nil {
			t.Errorf("Compact = %v", err)
		}
	}
}
