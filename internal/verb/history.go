// This file implements the verbs "history" and "undo". A verb is an operation that every interface of oxbow, such as
// the command line, offers.

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

// ListHistory returns a page of the changes, newest first. If in.Name is set, these are the changes to the entry with
// this name or alias, otherwise the changes to the whole memory. The page is limited by in.Limit, in.Offset and
// in.MaxTokens.
func ListHistory(ctx context.Context, w *Workspace, in HistoryIn) (HistoryOut, error) {
	if in.Name != "" {
		if err := oxbow.CheckName(in.Name); err != nil {
			return HistoryOut{}, err
		}
	}
	limit, notes, err := ResolveLimit(in.Limit, DefaultListLimit)
	if err != nil {
		return HistoryOut{}, err
	}
	offset, most, err := w.PageBounds(in.Offset, in.MaxTokens)
	if err != nil {
		return HistoryOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, ReadWithoutTeamFiles)
	if err != nil {
		return HistoryOut{}, err
	}
	out := HistoryOut{Name: in.Name, Changes: []Change{}, Notes: notes}
	past := NewPastTextFilter(m)
	changeOf := func(c oxbow.Change) Change { return past.FilterChange(ctx, c) }
	changeOfOne := func(v oxbow.Version) Change { return past.makeChangeForVersion(ctx, v) }
	if in.Name == "" {
		err = in.collectChanges(ctx, m, &out, offset, limit, changeOf)
	} else {
		err = appendPageOfChanges(&out, m.Versions(ctx, out.Name), offset, limit, changeOfOne)
		if errors.Is(err, oxbow.ErrNotFound) {
			if e, gerr := m.Get(ctx, in.Name); gerr == nil && !oxbow.SameName(e.Name, in.Name) {
				out.Notes = append(out.Notes, Notef("%q is an alias of %q", in.Name, e.Name))
				out.Name = e.Name
				err = appendPageOfChanges(&out, m.Versions(ctx, out.Name), offset, limit, changeOfOne)
			}
		}
	}
	switch {
	case err != nil && in.Name != "":
		return HistoryOut{}, w.AdviseUnknownName(ctx, m, in.Name, err)
	case err != nil:
		return HistoryOut{}, err
	}
	out.cutToTokenBudget(offset, most)
	return out, nil
}

// collectChanges appends changes to out.Changes, newest first. It selects the changes whose source matches in.ActorKind
// and in.Session, or all changes if both fields are empty. It skips the first offset of these changes, and appends at
// most limit changes. The function convertChange converts a change for the answer.
func (in HistoryIn) collectChanges(
	ctx context.Context,
	m *oxbow.Memory,
	out *HistoryOut,
	offset, limit int,
	convertChange func(oxbow.Change) Change,
) error {
	if in.ActorKind == "" && in.Session == "" {
		return appendPageOfChanges(out, m.LogFrom(ctx, oxbow.LastChange, offset), 0, limit, convertChange)
	}
	wanted := filterItems(m.Log(ctx), func(c oxbow.Change) bool { return in.matchesSource(c.Source) })
	return appendPageOfChanges(out, wanted, offset, limit, convertChange)
}

// matchesSource reports whether a change with the source s matches the call's parameters for actor and session.
func (in HistoryIn) matchesSource(s oxbow.Source) bool {
	return (in.ActorKind == "" || in.ActorKind == string(s.Actor)) &&
		(in.Session == "" || in.Session == s.Session || in.Session == session.SessionOfSource(s))
}

// filterItems yields the items for which keep returns true. It also yields all errors.
func filterItems[T any](items iter.Seq2[T, error], keep func(T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for it, err := range items {
			mustYield := err != nil || keep(it)
			if mustYield && !yield(it, err) {
				return
			}
		}
	}
}

// appendPageOfChanges appends one page of changes to the result: it skips offset items and appends at most limit
// following items, each converted by asChange. It sets out.HasMore if there are more items.
func appendPageOfChanges[T any](
	out *HistoryOut,
	items iter.Seq2[T, error],
	offset, limit int,
	asChange func(T) Change,
) error {
	for it, err := range items {
		if err != nil {
			return err
		}
		if offset > 0 {
			offset--
			continue
		}
		out.HasMore = len(out.Changes) == limit
		if out.HasMore {
			break
		}
		out.Changes = append(out.Changes, asChange(it))
	}
	return nil
}

// makeChangeForVersion returns the change that wrote a version of an entry. Of the entries in the change, the result
// contains only this entry.
func (p PastTextFilter) makeChangeForVersion(ctx context.Context, v oxbow.Version) Change {
	return Change{Seq: v.Seq, Time: FormatTimestamp(v.Source.Time), Source: MakeSource(v.Source), Note: v.Note,
		Entries: []TouchedEntry{p.newTouchedEntry(ctx, v)}}
}

// Undo undoes the changes with the numbers in in.Seqs. If in.Seqs is nil, Undo undoes the last in.Count changes, or
// only the last change if in.Count is nil. If in.DryRun is set, Undo only checks whether the changes can be undone. An
// undo is itself a change, so it can be undone. If the home has a Tidier, which shortens the entries of the home, Undo
// undoes one change by the Tidier instead.
func Undo(ctx context.Context, w *Workspace, in UndoIn) (UndoOut, error) {
	if did, isTidier, err := revertTidying(ctx, w, in); isTidier || err != nil {
		return UndoOut{DryRun: in.DryRun, UndoneChanges: []Change{}, UndoneShortening: did}, err
	}
	count, err := in.resolveUndoCount()
	if err != nil {
		return UndoOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, Write)
	if err != nil {
		return UndoOut{}, err
	}
	out := UndoOut{DryRun: in.DryRun, UndoneChanges: []Change{}}
	var cs []oxbow.Change
	seqs := slices.Compact(slices.Sorted(slices.Values(in.Seqs)))
	if in.Seqs != nil {
		cs, err = readChanges(ctx, m, seqs)
		if err == nil {
			cs, err = addMissingCallParts(ctx, m, cs)
		}
	} else {
		cs, err = out.lastUndoableChanges(ctx, m, count)
		if err == nil && len(cs) == 0 {
			out.Notes = append(out.Notes, PlainNote("there is nothing to undo"))
			return out, nil
		}
	}
	if err == nil && in.DryRun {
		err = m.CheckRevert(ctx, cs...)
	}
	if err == nil && !in.DryRun {
		out.madeSeqs, err = revertChanges(ctx, m, cs, w.MaxChangeBytes)
		if err == nil {
			out.Seq = out.madeSeqs[len(out.madeSeqs)-1]
		}
	}
	mayBeRepeated := out.Seq != 0 && oxbow.OpIDFrom(ctx) != ""
	if err == nil && mayBeRepeated {
		// The client may have sent the same undo call twice. Then return the changes that the first call undid.
		cs, err = findUndoneChanges(ctx, m, out.madeSeqs)
	}
	var later *oxbow.ConflictError
	if errors.As(err, &later) {
		err = &undoConflictError{later}
	}
	isPartlyDone := err != nil && len(out.madeSeqs) > 0
	if isPartlyDone {
		err = Advise(err, "the newest of the changes were undone before; the same call undoes the others")
	}
	if err != nil {
		return UndoOut{}, err
	}
	past := NewPastTextFilter(m)
	for _, c := range cs {
		out.UndoneChanges = append(out.UndoneChanges, past.FilterChange(ctx, c))
	}
	parts := 0 // number of changes that belong to the same call as another undone change
	for i := 1; i < len(cs); i++ {
		if cs[i-1].Follows(cs[i]) {
			parts++
		}
	}
	if n := len(cs) - parts; in.Seqs == nil && n < count {
		out.Notes = append(
			out.Notes,
			Notef("only %s could be undone, not %d", text.FormatCount(n, "change", "changes"), count),
		)
	}
	if in.DryRun {
		out.Notes = append(
			out.Notes,
			Notef("dry run: nothing was undone; call again without %s to undo it", ParamRef("dry_run")),
		)
	} else {
		out.Notes = append(out.Notes, Notef("to redo: %s", undoHintOf(out.madeSeqs, "", "")))
		out.addAliasNotes(ctx, m, cs)
	}
	return out, nil
}

// addAliasNotes adds notes about aliases to out.Notes after an undo. The list undone contains the changes that were
// undone. There is a note for each entry that lost an alias because a restored entry has the alias as its name. If only
// one change was undone, there is also a note for each alias that a restored entry did not get back because another
// entry has it.
func (out *UndoOut) addAliasNotes(ctx context.Context, m *oxbow.Memory, undone []oxbow.Change) {
	undos, err := readChanges(ctx, m, out.madeSeqs)
	if err != nil {
		return // Return no error, because the changes were undone and only the notes about aliases are missing.
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
	var restored []oxbow.Version
	for _, c := range undos {
		restored = append(restored, c.Versions...)
	}
	for _, v := range restored {
		switch {
		case v.Verb == oxbow.VerbAlias && !touched[v.Entry.Name]:
			out.Notes = append(out.Notes, Notef("%q lost an alias: it is the name of an entry again", v.Entry.Name))
		case v.Verb == oxbow.VerbRestore:
			if was, ok := before[v.Entry.Name]; ok {
				out.Notes = append(out.Notes, lostAliasNotesAfterUndo(v.Entry.Name, was.Aliases, v.Entry.Aliases)...)
			}
		}
	}
}

// entriesBefore returns a map from names to the entries that change c changed, in the state before c. It finds the
// earlier state of an entry by its version's Prev, the number of the earlier change that wrote this state. It reads
// each earlier change only once. The result may also contain other entries that an earlier change wrote. If a change
// cannot be read, entriesBefore returns nil.
func entriesBefore(ctx context.Context, m *oxbow.Memory, c oxbow.Change) map[string]oxbow.Entry {
	var seqs []uint64
	for _, v := range c.Versions {
		if v.Prev != 0 {
			seqs = append(seqs, v.Prev)
		}
	}
	slices.Sort(seqs)
	earlier, err := readChanges(ctx, m, slices.Compact(seqs))
	if err != nil {
		return nil
	}
	before := map[string]oxbow.Entry{}
	for _, c := range slices.Backward(earlier) { // from the oldest to the newest
		for _, v := range c.Versions {
			before[v.Entry.Name] = v.Entry
		}
	}
	return before
}

// findUndoneChanges returns the changes that were undone by certain undos. undoSeqs contains the numbers of the undos.
// Each undone change is returned once.
func findUndoneChanges(ctx context.Context, m *oxbow.Memory, undoSeqs []uint64) ([]oxbow.Change, error) {
	undos, err := readChanges(ctx, m, undoSeqs)
	if err != nil {
		return nil, err
	}
	var undone []uint64
	for _, c := range undos {
		undone = append(undone, c.Reverts...)
	}
	slices.Sort(undone)
	return readChanges(ctx, m, slices.Compact(undone))
}

// addMissingCallParts completes a list of changes. A large call may have been stored as several changes, its parts. If
// the list cs contains a part of a call, the result also contains the call's remaining parts, because a person who
// undoes one part wants to undo the whole call.
func addMissingCallParts(ctx context.Context, m *oxbow.Memory, cs []oxbow.Change) ([]oxbow.Change, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	return oxbow.WithOtherParts(ctx, h, cs)
}

// revertChanges reverts the changes, which must be ordered from the newest to the oldest. It returns the numbers of the
// changes that it made (see [oxbow.RevertInParts]).
func revertChanges(ctx context.Context, m *oxbow.Memory, cs []oxbow.Change, maxBytes int) ([]uint64, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	return oxbow.RevertInParts(ctx, h, cs, maxBytes)
}

// lastUndoableChanges returns the newest changes that can be undone, at most count. If no change can be undone, it
// returns an error, or an empty list if out.DryRun is set.
//
// If the caller is an agent, the result ends before the newest change that a person or an import made, because the
// agent may be unaware of this change. A note in out.Notes then says how to undo the change by its number. If the
// newest change of all was made by a person or an import, an agent gets an error.
func (out *UndoOut) lastUndoableChanges(ctx context.Context, m *oxbow.Memory, count int) ([]oxbow.Change, error) {
	cs, err := m.Undoable(ctx, count)
	if err != nil {
		return cs, err
	}
	if len(cs) == 0 && !out.DryRun {
		_, _, err = m.Undo(ctx, count) // This call returns the error that nothing can be undone.
		return cs, err
	}
	i := slices.IndexFunc(cs, func(c oxbow.Change) bool {
		return c.Source.Actor == oxbow.Person || c.Source.Actor == oxbow.Imported
	})
	if s, _ := oxbow.SourceFrom(ctx); s.Actor != oxbow.Agent || i < 0 {
		return cs, nil
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
			NewUndoHint(seq, "", ""),
		),
	)
	return cs[:i], nil
}

// LastChangeSeq returns the number of the memory's last change. It returns 0 if the store does not number changes, or
// if the caller sees only a part of the memory.
func LastChangeSeq(ctx context.Context, w *Workspace) (uint64, error) {
	ctx, m, err := w.OpenMemory(ctx, ReadWithoutTeamFiles)
	if err != nil {
		return 0, err
	}
	s, err := m.Stats(ctx)
	if errors.Is(err, oxbow.ErrUnsupported) {
		return 0, nil
	}
	return s.Last, err
}

// ChangeAt returns the change with the number seq.
func ChangeAt(ctx context.Context, w *Workspace, seq uint64) (Change, error) {
	ctx, m, err := w.OpenMemory(ctx, ReadWithoutTeamFiles)
	if err != nil {
		return Change{}, err
	}
	cs, err := readChanges(ctx, m, []uint64{seq})
	if err != nil {
		return Change{}, err
	}
	past := NewPastTextFilter(m)
	return past.FilterChange(ctx, cs[0]), nil
}

// readChanges returns the changes with the numbers seqs, newest first. The numbers must be distinct and sorted in
// ascending order. readChanges returns an error if the history lacks a change with one of these numbers.
func readChanges(ctx context.Context, m *oxbow.Memory, seqs []uint64) ([]oxbow.Change, error) {
	cs, err := m.Changes(ctx, seqs)
	if err != nil {
		return nil, err
	}
	if len(cs) == len(seqs) {
		return cs, nil
	}
	for i, seq := range seqs {
		if i >= len(cs) || cs[len(cs)-1-i].Seq != seq {
			return nil, unknownChangeError(seq)
		}
	}
	return cs, nil
}

// resolveUndoCount checks the arguments, and returns how many changes to undo if in.Seqs is empty. The default is 1.
// Errors match [oxbow.ErrInvalid].
func (in UndoIn) resolveUndoCount() (int, error) {
	count := 1
	if in.Count != nil {
		count = *in.Count
		switch {
		case in.Seqs != nil:
			return 0, InvalidValue("count", strconv.Itoa(count), "is given beside seq; give one of them")
		case count < 1:
			return 0, InvalidValue("count", strconv.Itoa(count), "would undo nothing; give 1 or more")
		case count > oxbow.MaxLimit:
			return 0, InvalidValue(
				"count",
				strconv.Itoa(count),
				fmt.Sprintf("is more than the %d changes that one call may undo", oxbow.MaxLimit),
			)
		}
	}
	if len(in.Seqs) > oxbow.MaxLimit {
		return 0, InvalidValue(
			"seq",
			strconv.Itoa(len(in.Seqs)),
			fmt.Sprintf("are more than the %d changes that one call may undo", oxbow.MaxLimit),
		)
	}
	return count, nil
}

// undoConflictError means that a change cannot be undone because a later change has modified the same entry.
type undoConflictError struct{ versionConflict *oxbow.ConflictError }

func (e *undoConflictError) Error() string {
	if e.versionConflict.Have == 0 {
		return fmt.Sprintf("undoing: entry %q was forgotten since", e.versionConflict.Name)
	}
	return fmt.Sprintf(
		"undoing: entry %q changed since: it is at version %d, not %d",
		e.versionConflict.Name,
		e.versionConflict.Have,
		e.versionConflict.Want,
	)
}

func (*undoConflictError) Is(target error) bool { return target == oxbow.ErrConflict }

// unknownChangeError means that the change with this number does not exist. It is treated like an unknown name.
type unknownChangeError uint64

func (e unknownChangeError) Error() string {
	return fmt.Sprintf("change %d: no such change in the log", uint64(e))
}
func (unknownChangeError) Is(err error) bool { return err == oxbow.ErrNotFound }

// revertTidying undoes a change that a [Tidier] has made: the change with the number in in.Seqs, or the last change if
// in.Seqs is empty. If in.DryRun is set, it only returns what would be undone. If the home lacks a Tidier, ok is false
// and nothing is undone. Requests for several changes fail.
func revertTidying(ctx context.Context, w *Workspace, in UndoIn) (undoneTidying *Tidied, ok bool, err error) {
	t, ok, err := w.Tidier(Write.UnlessDryRun(in.DryRun))
	if err != nil || !ok {
		return nil, false, err
	}
	number := 0
	switch {
	case len(in.Seqs) > 1:
		return nil, true, newMultipleUndoError("run it again for another")
	case in.Count != nil && *in.Count != 1:
		return nil, true, newMultipleUndoError("run it again for the one before")
	case len(in.Seqs) == 1 && (in.Seqs[0] == 0 || in.Seqs[0] > maxTidierChangeNumber):
		return nil, true, &oxbow.InvalidError{
			Field:  "seq",
			Value:  strconv.FormatUint(in.Seqs[0], 10),
			Reason: "is no number of a change",
		}
	case len(in.Seqs) == 1:
		number = int(in.Seqs[0])
	}
	one, err := t.Revert(ctx, number, in.DryRun)
	if err != nil {
		return nil, true, err
	}
	one.Steps = append([]Step{}, one.Steps...)
	return &one, true, nil
}

// Some layouts shorten their own files and number these changes (see [Tidier]). maxTidierChangeNumber is the largest
// such number.
const maxTidierChangeNumber = 1<<31 - 1

// newMultipleUndoError returns the error for a call that would undo several changes although only one at a time can be
// undone.
func newMultipleUndoError(advice string) error {
	return Advise(&oxbow.InvalidError{Field: "undo", Reason: "takes back one change at a time in this layout"}, advice)
}
