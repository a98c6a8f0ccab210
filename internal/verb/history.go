// Verbs about the past: history, undo.

package verb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// History gives the changes to the memory, or to one entry.
func History(ctx context.Context, w *Workspace, in HistoryIn) (HistoryOut, error) {
	if in.Name != "" {
		if err := oxbow.CheckName(in.Name); err != nil {
			return HistoryOut{}, err
		}
	}
	limit, notes, err := limitOf(in.Limit, defaultListLimit)
	if err != nil {
		return HistoryOut{}, err
	}
	offset, most, err := w.page(in.Offset, in.MaxTokens)
	if err != nil {
		return HistoryOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Own)
	if err != nil {
		return HistoryOut{}, err
	}
	out := HistoryOut{Name: in.Name, Changes: []Change{}, Notes: notes}
	past := pastOf(m)
	changeOf := func(c oxbow.Change) Change { return past.changeOf(ctx, c) }
	changeOfOne := func(v oxbow.Version) Change { return past.changeOfOne(ctx, v) }
	if in.Name == "" {
		err = takePage(&out, only(m.Log(ctx), func(c oxbow.Change) bool {
			return in.wants(c.Source)
		}), offset, limit, changeOf)
	} else {
		err = takePage(&out, m.Versions(ctx, out.Name), offset, limit, changeOfOne)
		if errors.Is(err, oxbow.ErrNotFound) {
			if e, gerr := m.Get(ctx, in.Name); gerr == nil && !oxbow.SameName(e.Name, in.Name) {
				out.Notes = append(out.Notes, Notef("%q is an alias of %q", in.Name, e.Name))
				out.Name = e.Name
				err = takePage(&out, m.Versions(ctx, out.Name), offset, limit, changeOfOne)
			}
		}
	}
	switch {
	case err != nil && in.Name != "":
		return HistoryOut{}, w.Missing(ctx, m, in.Name, err)
	case err != nil:
		return HistoryOut{}, err
	}
	out.fit(offset, most)
	return out, nil
}

// wants reports whether changes of a source are asked for.
func (in HistoryIn) wants(s oxbow.Source) bool {
	return (in.By == "" || in.By == string(s.Actor)) &&
		(in.Session == "" || in.Session == s.Session || in.Session == session.SessionOf(s))
}

// only yields what keep accepts.
func only[T any](items iter.Seq2[T, error], keep func(T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for it, err := range items {
			if (err != nil || keep(it)) && !yield(it, err) {
				return
			}
		}
	}
}

// takePage adds one page of changes, each made of one item by asChange.
func takePage[T any](out *HistoryOut, items iter.Seq2[T, error], offset, limit int, asChange func(T) Change) error {
	for it, err := range items {
		if err != nil {
			return err
		}
		if offset > 0 {
			offset--
			continue
		}
		out.More = len(out.Changes) == limit
		if out.More {
			break
		}
		out.Changes = append(out.Changes, asChange(it))
	}
	return nil
}

// changeOfOne returns the change that made a version.
func (p pastTexts) changeOfOne(ctx context.Context, v oxbow.Version) Change {
	return Change{Seq: v.Seq, Time: Timestamp(v.Source.Time), Source: sourceOf(v.Source), Note: v.Note,
		Entries: []Touched{p.touchedOf(ctx, v)}}
}

// Undo takes changes back.
func Undo(ctx context.Context, w *Workspace, in UndoIn) (UndoOut, error) {
	count := 1
	if in.Count != nil {
		count = *in.Count
		switch {
		case in.Seq != nil:
			return UndoOut{}, InvalidValue("count", strconv.Itoa(count), "is given beside seq; give one of them")
		case count < 1:
			return UndoOut{}, InvalidValue("count", strconv.Itoa(count), "would undo nothing; give 1 or more")
		case count > oxbow.MaxLimit:
			return UndoOut{}, InvalidValue(
				"count",
				strconv.Itoa(count),
				fmt.Sprintf("is more than the %d changes that one call may undo", oxbow.MaxLimit),
			)
		}
	}
	if len(in.Seq) > oxbow.MaxLimit {
		return UndoOut{}, InvalidValue(
			"seq",
			strconv.Itoa(len(in.Seq)),
			fmt.Sprintf("are more than the %d changes that one call may undo", oxbow.MaxLimit),
		)
	}
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return UndoOut{}, err
	}
	out := UndoOut{DryRun: in.DryRun, Undone: []Change{}}
	var cs []oxbow.Change
	seqs := slices.Compact(slices.Sorted(slices.Values(in.Seq)))
	if in.Seq != nil {
		cs, err = changes(ctx, m, seqs)
	} else {
		cs, err = out.last(ctx, m, count)
		if err == nil && len(cs) == 0 {
			out.Notes = append(out.Notes, Plain("there is nothing to undo"))
			return out, nil
		}
	}
	for _, c := range cs {
		seqs = append(seqs, c.Seq)
	}
	if err == nil && !in.DryRun {
		out.Seq, err = m.Revert(ctx, slices.Compact(slices.Sorted(slices.Values(seqs)))...)
	}
	if err == nil && out.Seq != 0 && oxbow.OpIDFrom(ctx) != "" {
		cs, err = undoneBy(ctx, m, out.Seq) // it may be a repeat, which has undone what it did then
	}
	var later *oxbow.ConflictError
	if errors.As(err, &later) {
		err = &laterChangeError{later}
	}
	if err != nil {
		return UndoOut{}, err
	}
	past := pastOf(m)
	for _, c := range cs {
		out.Undone = append(out.Undone, past.changeOf(ctx, c))
	}
	parts := 0 // of imports, after the first
	for i := 1; i < len(cs); i++ {
		if cs[i-1].OneImport(cs[i]) {
			parts++
		}
	}
	if n := len(cs) - parts; in.Seq == nil && n < count {
		out.Notes = append(
			out.Notes,
			Notef("only %s could be undone, not %d", text.Count(n, "change", "changes"), count),
		)
	}
	if in.DryRun {
		out.Notes = append(
			out.Notes,
			Notef("dry run: nothing was undone; call again without %s to undo it", ParamRef("dry_run")),
		)
	} else {
		out.Notes = append(out.Notes, Notef("to redo: %s", undoHint(out.Seq, "", "")))
		out.noteAliases(ctx, m, cs)
	}
	return out, nil
}

// noteAliases says which aliases an undo could not bring back, and which it took from entries
// that it did not undo: a name that came back is found before an alias.
func (out *UndoOut) noteAliases(ctx context.Context, m *oxbow.Memory, undone []oxbow.Change) {
	undo, err := changes(ctx, m, []uint64{out.Seq})
	if err != nil {
		return // the undo itself is done
	}
	var before map[string]oxbow.Entry
	if len(undone) == 1 {
		before = entriesBefore(ctx, m, undone[0])
	}
	touched := map[string]bool{}
	for _, c := range undone {
		for _, v := range c.Versions {
			touched[v.Entry.Name] = true
		}
	}
	for _, v := range undo[0].Versions {
		switch {
		case v.Verb == oxbow.VerbAlias && !touched[v.Entry.Name]:
			out.Notes = append(out.Notes, Notef("%q lost an alias: it is the name of an entry again", v.Entry.Name))
		case v.Verb == oxbow.VerbRestore:
			if was, ok := before[v.Entry.Name]; ok {
				out.Notes = append(out.Notes, takenAliases(v.Entry.Name, was.Aliases, v.Entry.Aliases)...)
			}
		}
	}
}

// entriesBefore returns the entries that a change touched, by name, as they were before it. It
// leaves out what the log no longer has. Each earlier change is read once, however many of the
// entries it touched.
func entriesBefore(ctx context.Context, m *oxbow.Memory, c oxbow.Change) map[string]oxbow.Entry {
	var seqs []uint64
	for _, v := range c.Versions {
		if v.Prev != 0 {
			seqs = append(seqs, v.Prev)
		}
	}
	slices.Sort(seqs)
	earlier, err := changes(ctx, m, slices.Compact(seqs))
	if err != nil {
		return nil
	}
	before := map[string]oxbow.Entry{}
	for _, c := range slices.Backward(earlier) { // the oldest first
		for _, v := range c.Versions {
			before[v.Entry.Name] = v.Entry
		}
	}
	return before
}

// undoneBy returns the changes that an undo took back.
func undoneBy(ctx context.Context, m *oxbow.Memory, seq uint64) ([]oxbow.Change, error) {
	undo, err := changes(ctx, m, []uint64{seq})
	if err != nil {
		return nil, err
	}
	return changes(ctx, m, slices.Sorted(slices.Values(undo[0].Reverts)))
}

// last returns the last changes that can be undone, none only for a dry run. For
// an agent they end before the first that a person made: that is undone by its
// number only, so that no count reaches what the agent has not looked at.
func (out *UndoOut) last(ctx context.Context, m *oxbow.Memory, count int) ([]oxbow.Change, error) {
	cs, err := m.Undoable(ctx, count)
	if err == nil && len(cs) == 0 && !out.DryRun {
		_, _, err = m.Undo(ctx, count) // says that there is none
	}
	i := slices.IndexFunc(cs, func(c oxbow.Change) bool {
		return c.Source.Actor == oxbow.Person || c.Source.Actor == oxbow.Imported
	})
	if s, _ := oxbow.SourceFrom(ctx); s.Actor != oxbow.Agent || i < 0 || err != nil {
		return cs, err
	}
	seq := cs[i].Seq
	if i == 0 {
		return nil, Advise(
			Invalidf(
				"the last change, %d (%s %q), was made by a person; nothing was undone",
				seq,
				cs[i].Versions[0].Verb,
				cs[i].Versions[0].Entry.Name,
			),
			fmt.Sprintf("if that person wants it undone, call again with seq %d", seq),
		)
	}
	out.Notes = append(
		out.Notes,
		Notef(
			"change %d was made by a person and stays; if that person wants it undone: %s",
			seq,
			undoHint(seq, "", ""),
		),
	)
	return cs[:i], nil
}

// changes returns the changes of those numbers, newest first. seqs is sorted
// and holds no repeats.
func changes(ctx context.Context, m *oxbow.Memory, seqs []uint64) ([]oxbow.Change, error) {
	left := slices.Clone(seqs)
	var cs []oxbow.Change
	for c, err := range m.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if len(left) == 0 || c.Seq < left[0] {
			break
		}
		if i, ok := slices.BinarySearch(left, c.Seq); ok {
			left = slices.Delete(left, i, i+1)
			cs = append(cs, c)
		}
	}
	if len(left) > 0 {
		return nil, noChangeError(left[0])
	}
	return cs, nil
}

// laterChangeError is a change that cannot be undone alone: a later one has
// changed the same entry.
type laterChangeError struct{ at *oxbow.ConflictError }

func (e *laterChangeError) Error() string {
	if e.at.Have == 0 {
		return fmt.Sprintf("undoing: entry %q was forgotten since", e.at.Name)
	}
	return fmt.Sprintf("undoing: entry %q changed since: it is at version %d, not %d", e.at.Name, e.at.Have, e.at.Want)
}

func (*laterChangeError) Is(target error) bool { return target == oxbow.ErrConflict }

// noChangeError is a change that there is not. Callers branch on it as on a name.
type noChangeError uint64

func (e noChangeError) Error() string {
	return fmt.Sprintf("change %d: no such change in the log", uint64(e))
}
func (noChangeError) Is(err error) bool { return err == oxbow.ErrNotFound }
