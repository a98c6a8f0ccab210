// This file finds foreign text that a change repeats. Foreign text is text that the home's sessions
// have read, and text in entries that nobody vouches for.

package provenance

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/foreign"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// repeats lists the foreign texts that a change repeats word for word.
type repeats struct {
	foreign    []string // calls that returned text by others, or taints of an entry
	unvouched  []string
	isImported bool // the change repeats an imported entry
}

func (r *repeats) any() bool { return len(r.foreign)+len(r.unvouched) > 0 || r.isImported }

func (r *repeats) add(foreign, unvouched []string) {
	r.foreign, r.unvouched = appendNew(r.foreign, foreign), appendNew(r.unvouched, unvouched)
}

func appendNew(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// sentenceKeys returns the key of a label if it has several words, because such a key may be a sentence.
func sentenceKeys(l oxbow.Label) []string {
	if strings.ContainsAny(l.Key, "-_") && !slices.Contains(stampKeys, l.Key) {
		return []string{l.Key}
	}
	return nil
}

// writtenText returns the text that a change writes, and the text that the entry had before.
func writtenText(op oxbow.Op, old oxbow.Entry) (written, before string) {
	join := func(name, content string, aliases []string, labels []oxbow.Label) string {
		lines := append([]string{content, name}, aliases...)
		for _, l := range labels {
			if !slices.Contains(stampKeys, l.Key) {
				lines = append(lines, l.Value)
				lines = append(lines, sentenceKeys(l)...)
			}
		}
		return strings.Join(lines, "\n")
	}
	if !isHeld(&old) { // text of an entry that is held back counts as foreign, even if it was there before
		before = join(old.Name, old.Content, old.Aliases, old.Labels)
	}
	switch o := op.(type) {
	case oxbow.Add:
		written = join(o.Name, o.Content, o.Aliases, o.Labels)
	case oxbow.Update:
		written = join("", o.Content, o.Aliases, o.Labels)
	case oxbow.Relabel: // compare only new labels, otherwise an approval would repeat the approved entry's labels
		added := slices.DeleteFunc(slices.Clone(o.Labels), func(l oxbow.Label) bool {
			return slices.Contains(old.Labels, l)
		})
		written = join("", "", nil, added)
	case oxbow.Alias:
		written = join("", "", o.Aliases, nil)
	}
	return written, before
}

// stampKeys are the keys of labels with which programs record a text's origin. The values of such
// labels do not count as text that a change writes.
var stampKeys = []string{oxbow.LabelTaint, oxbow.LabelSuspect, oxbow.LabelQuarantine, oxbow.LabelOrigin,
	oxbow.LabelVerified, oxbow.LabelUnvouched, "from", "import", "import-id", "import-sum"}

func isHeld(e *oxbow.Entry) bool {
	return slices.ContainsFunc(e.Labels, func(l oxbow.Label) bool {
		return l.Key == oxbow.LabelTaint || l.Key == oxbow.LabelUnvouched
	})
}

// findRepeats returns the foreign texts that each change repeats. It compares with the texts that
// sessions have read, and with entries that nobody vouches for. If isUnvouched is set, the changes
// are unvouched whatever they repeat.
func findRepeats(ctx context.Context, store oxbow.Store, ops []oxbow.Op, k verb.Knowledge, isUnvouched bool) []repeats {
	c := comparer{
		names:  make([]string, len(ops)),
		texts:  make([]string, len(ops)),
		before: make([]string, len(ops)),
		found:  make([]repeats, len(ops)),
	}
	staged := map[string]oxbow.Entry{}
	for i, op := range ops {
		name := op.Target()
		old, ok := staged[name]
		if _, adds := op.(oxbow.Add); !ok && !adds {
			old, _ = store.Get(ctx, name) // the store reports the error
		}
		c.names[i] = name
		c.texts[i], c.before[i] = writtenText(op, old)
		staged[name] = op.ApplyTo(old)
	}
	c.addSessionTexts(k)
	c.isUnvouched = isUnvouched
	c.addEntries(ctx, store, k)
	return c.found
}

// comparer compares texts that are being written.
type comparer struct {
	names         []string // names of the entries with the texts, or ""
	texts, before []string
	found         []repeats
	isUnvouched   bool // the change is unvouched in any case
}

// addSessionTexts adds the texts that sessions have read.
func (c *comparer) addSessionTexts(k verb.Knowledge) {
	if k.Prints == nil {
		return
	}
	for i, m := range k.Prints.Find(c.texts, c.before) {
		c.found[i].add(m.Foreign, m.Unvouched)
	}
}

// notCompared is the value of the label unvouched if not all unvouched entries could be compared
// with the text, because the memory is damaged, or because a memory that is not a log has too many
// such entries.
const notCompared = "not-compared"

// addEntries adds the entries that are tainted, unvouched or imported and that the texts repeat. If
// some of these entries cannot be compared, the texts become unvouched. The write does not fail,
// because damage must not prevent writing.
func (c *comparer) addEntries(ctx context.Context, store oxbow.Store, k verb.Knowledge) {
	texts := foreign.Texts{Names: c.names, Texts: c.texts, Ignored: c.before, OnlyTainted: c.isUnvouched}
	add := func(e *oxbow.Entry, i int) {
		c.found[i].add(e.Values(oxbow.LabelTaint), e.Values(oxbow.LabelUnvouched))
		c.found[i].isImported = c.found[i].isImported || e.Trust() == oxbow.TrustImported
	}
	err := foreign.ErrTooMany
	if tainted := verb.TaintedFrom(ctx); tainted != nil && c.isUnvouched {
		err = addTainted(ctx, store, k.Second, tainted, &texts, add)
	}
	if errors.Is(err, foreign.ErrTooMany) {
		err = k.Second.Read(store, func(store oxbow.Store, index *foreign.Index) error {
			return index.EachRepeat(ctx, store, k.Memory, &texts, add)
		})
	}
	if err == nil {
		return
	}
	for i, text := range c.texts {
		if strings.TrimSpace(text) != "" {
			c.found[i].add(nil, []string{notCompared})
		}
	}
}

// addTainted calls add with the tainted entries that the texts repeat, in a run that keeps its tainted entries. Only
// the first change of the run reads the memory. The error matches foreign.ErrTooMany if the memory has so many tainted
// entries that the index is faster.
func addTainted(
	ctx context.Context,
	store oxbow.Store,
	second *verb.SecondReader,
	tainted *verb.TaintedEntries,
	texts *foreign.Texts,
	add func(e *oxbow.Entry, i int),
) error {
	read := func(keep func(*oxbow.Entry) error) error {
		defer second.Close() // the reader keeps all heads of the memory, and is seldom used again in this run
		return second.Read(store, func(store oxbow.Store, _ *foreign.Index) error {
			return foreign.EachTainted(ctx, store, keep)
		})
	}
	return texts.EachRepeatIn(func(compare func(*oxbow.Entry) error) error { return tainted.Each(read, compare) }, add)
}

// vouchFor records that the text of a person counts as the person's own, even if it repeats foreign
// text. If this cannot be recorded, the text is still written, and it counts as a repetition for 14
// days.
func vouchFor(ctx context.Context, store oxbow.Store, ops []oxbow.Op, k verb.Knowledge) {
	if k.Prints == nil {
		return
	}
	var texts []string
	for _, op := range ops {
		s, _ := writtenText(op, oxbow.Entry{})
		if o, ok := op.(oxbow.Relabel); ok && !isHeld(&oxbow.Entry{Labels: o.Labels}) {
			if old, err := store.Get(ctx, o.Name); err == nil && isHeld(&old) { // a person approves the entry
				s += "\n" + old.Content
			}
		}
		if strings.TrimSpace(s) != "" {
			texts = append(texts, s)
		}
	}
	_ = k.Prints.Vouch(k.Prints.Find(texts, nil)...)
}
