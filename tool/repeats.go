// This file finds what a change repeats of others: of what the sessions of the home have
// read, and of entries of the memory that nobody vouches for.

package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/fingerprint"
)

// unvouchedNoHooks is the value of the label unvouched on what an agent wrote of which no
// hook reports what it has read.
const unvouchedNoHooks = "no-hooks"

// repeats is what a change repeats in the same words.
type repeats struct {
	foreign   []string // calls that returned text by others, or the taints of an entry
	unvouched []string
	imported  bool // an imported entry
}

func (r *repeats) any() bool { return len(r.foreign)+len(r.unvouched) > 0 || r.imported }

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

// keepPrints keeps prints of changes that repeat others or were written by nobody who is
// known, so that what repeats these is found, too.
func keepPrints(ops []oxbow.Op, k Knowledge) error {
	for _, op := range ops {
		e := afterOp(op, oxbow.Entry{})
		if e.Content == "" || k.Prints == nil {
			continue
		}
		if err := keepPrintsOf(*k.Prints, &e); err != nil {
			return fmt.Errorf("noting a text that nobody vouches for: %w", err)
		}
	}
	return nil
}

// keepPrintsOf keeps prints of an entry if nobody vouches for it.
func keepPrintsOf(p fingerprint.File, e *oxbow.Entry) (err error) {
	text := strings.Join(append([]string{e.Content, e.Name}, e.Aliases...), "\n")
	if taints := e.Values(oxbow.LabelTaint); len(taints) > 0 {
		_, err = p.Add(fingerprint.Foreign, text, taints...)
	} else if unvouched := e.Values(oxbow.LabelUnvouched); len(unvouched) > 0 {
		_, err = p.Add(fingerprint.Unvouched, text, unvouched...)
	}
	return err
}

// textOf returns the texts of a change: what it writes, and what the entry had before.
func textOf(op oxbow.Op, old oxbow.Entry) (written, before string) {
	join := func(name, content string, aliases []string, labels []oxbow.Label) string {
		lines := append([]string{content, name}, aliases...)
		for _, l := range labels {
			if !slices.Contains(stampKeys, l.Key) {
				lines = append(lines, l.Value)
			}
		}
		return strings.Join(lines, "\n")
	}
	if !isHeld(&old) { // what a tainted entry has is no excuse
		before = join(old.Name, old.Content, old.Aliases, old.Labels)
	}
	switch o := op.(type) {
	case oxbow.Add:
		written = join(o.Name, o.Content, o.Aliases, o.Labels)
	case oxbow.Update:
		written = join("", o.Content, o.Aliases, o.Labels)
	case oxbow.Relabel:
		written = join("", "", nil, o.Labels)
	case oxbow.Alias:
		written = join("", "", o.Aliases, nil)
	}
	return written, before
}

// stampKeys are the keys of labels that programs write of where a text came from. Their
// values are no text of the change.
var stampKeys = []string{oxbow.LabelTaint, oxbow.LabelSuspect, oxbow.LabelQuarantine, oxbow.LabelOrigin, oxbow.LabelVerified, oxbow.LabelUnvouched, "from", "import", "import-sum"}

func isHeld(e *oxbow.Entry) bool {
	return slices.ContainsFunc(e.Labels, func(l oxbow.Label) bool { return l.Key == oxbow.LabelTaint || l.Key == oxbow.LabelUnvouched })
}

// repeatsOf returns what each change repeats of others.
func (s *stamper) repeatsOf(ctx context.Context, store oxbow.Store, ops []oxbow.Op, k Knowledge) ([]repeats, error) {
	found := make([]repeats, len(ops))
	texts, before := make([]string, len(ops)), make([]string, len(ops))
	staged := map[string]oxbow.Entry{}
	for i, op := range ops {
		name := op.Target()
		old, ok := staged[name]
		if _, adds := op.(oxbow.Add); !ok && !adds {
			old, _ = store.Get(ctx, name) // the store says why it cannot
		}
		texts[i], before[i] = textOf(op, old)
		staged[name] = afterOp(op, old)
	}
	if k.Prints != nil {
		matches, err := k.Prints.Find(texts, before)
		if err != nil {
			return nil, fmt.Errorf("comparing with what was read: %w", err)
		}
		for i, m := range matches {
			found[i].add(m.Foreign, m.Unvouched)
		}
	}
	return found, s.repeatsOfEntries(ctx, store, ops, texts, before, found)
}

// heldBytes bounds the texts of entries with which a change is compared.
const heldBytes = 8 << 20

// repeatsOfEntries adds what changes repeat of entries that are tainted, unvouched or
// imported.
func (s *stamper) repeatsOfEntries(ctx context.Context, store oxbow.Store, ops []oxbow.Op, texts, before []string, found []repeats) error {
	has := func(key string) oxbow.Filter {
		return oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{key}}}}
	}
	filters := []oxbow.Filter{has(oxbow.LabelTaint)}
	if !s.noHooks { // else the change is unvouched whatever it repeats
		filters = append(filters, has(oxbow.LabelUnvouched), has(oxbow.LabelOrigin),
			oxbow.Filter{Terms: []oxbow.Term{{Key: "by", Values: []string{string(oxbow.Imported), string(oxbow.Foreign)}}}})
	}
	var all *fingerprint.Comparison // made when there is something to compare with
	bytes := 0
	for _, f := range filters {
		for e, err := range store.Entries(ctx, f) {
			if errors.Is(err, oxbow.ErrUnsupported) || errors.Is(err, oxbow.ErrInvalid) {
				break // a layout without labels holds none
			}
			if errors.Is(err, oxbow.ErrCorrupt) {
				s.addUnreadable(found)
				return nil // damage stops no write
			}
			if err != nil {
				return fmt.Errorf("comparing with entries that nobody vouches for: %w", err)
			}
			if bytes += len(e.Content); bytes > heldBytes {
				break
			}
			if all == nil {
				all = fingerprint.Compare(texts, before)
			}
			for _, i := range all.With(strings.Join(append([]string{e.Content, e.Name}, e.Aliases...), "\n")) {
				if ops[i].Target() == e.Name {
					continue
				}
				found[i].add(e.Values(oxbow.LabelTaint), e.Values(oxbow.LabelUnvouched))
				found[i].imported = found[i].imported || e.Trust() == oxbow.TrustImported
			}
		}
	}
	return nil
}

// unvouchedUnreadable is the value of the label unvouched on what an agent wrote while
// entries could not be read, so that it is not known whether the text repeats one.
const unvouchedUnreadable = "unreadable-entries"

// addUnreadable marks the changes of an agent as unvouched, because the memory is damaged.
func (s *stamper) addUnreadable(found []repeats) {
	if !s.origins.agent {
		return
	}
	for i := range found {
		found[i].add(nil, []string{unvouchedUnreadable})
	}
}

// RefuseRepeats returns an error matching [oxbow.ErrInvalid] if texts repeat what was read
// of others, or if it is not known what the turn of the caller has read. It is for what is
// written into files, which have no labels. A person at a terminal or a page may write
// what they like. What names the thing that is written.
func (w *Workspace) RefuseRepeats(ctx context.Context, what string, texts ...string) error {
	if w.Knowledge == nil {
		return nil
	}
	k := w.Knowledge()
	src, _ := oxbow.SourceFrom(ctx)
	text := strings.Join(texts, "\n")
	if k.vouches(src) || strings.TrimSpace(text) == "" {
		return nil
	}
	var s stamper
	if src.Actor != oxbow.Person {
		s.origins.agent = src.Actor == oxbow.Agent
		s.expose(ctx, k)
	}
	found := repeats{foreign: s.taints}
	if k.Prints != nil {
		matches, err := k.Prints.Find([]string{text}, nil)
		if err != nil {
			return fmt.Errorf("comparing with what was read: %w", err)
		}
		found.add(matches[0].Foreign, matches[0].Unvouched)
	}
	if w.Open != nil && !found.any() {
		if ctx, m, err := w.Memory(ctx, Own); err == nil { // without a memory there are no entries
			of := []repeats{found}
			if err := s.repeatsOfEntries(ctx, m.Store(), []oxbow.Op{oxbow.Add{}}, []string{text}, []string{""}, of); err != nil {
				return err
			}
			found = of[0]
		}
	}
	if !found.any() {
		return nil
	}
	read := append(slices.Concat(found.foreign, found.unvouched), "an imported entry")[0]
	return Advise(InvalidValue(what, text, "repeats what others wrote, or comes after it: "+read),
		"say it in your own words, or ask the person, who can write it at a terminal")
}

// vouchFor makes what a person writes count as the person's own, also if it repeats what
// was read of others.
func vouchFor(ctx context.Context, store oxbow.Store, ops []oxbow.Op, k Knowledge) error {
	if k.Prints == nil {
		return nil
	}
	var texts []string
	for _, op := range ops {
		s, _ := textOf(op, oxbow.Entry{})
		if o, ok := op.(oxbow.Relabel); ok && !isHeld(&oxbow.Entry{Labels: o.Labels}) {
			if old, err := store.Get(ctx, o.Name); err == nil && isHeld(&old) { // it is approved
				s += "\n" + old.Content
			}
		}
		if strings.TrimSpace(s) != "" {
			texts = append(texts, s)
		}
	}
	matches, err := k.Prints.Find(texts, nil)
	if err == nil {
		err = k.Prints.Vouch(matches...)
	}
	if err != nil {
		return fmt.Errorf("noting what a person vouches for: %w", err)
	}
	return nil
}
