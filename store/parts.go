// This file splits a call that changes many entries into several changes, because a store limits the size of a change.
// Undo treats these changes as one.

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

const (
	// defaultMaxChangeBytes is the maximum size, in bytes, of the entries that a call writes in a single change. A call
	// that writes more makes several changes. The log accepts 64 MiB, but a smaller change needs less memory, and a
	// person who stops a call waits only for one change.
	defaultMaxChangeBytes = 16 << 20

	// maxUndoBytes is the size in bytes up to which RevertInParts tries to undo a change. It is the size of the
	// largest change that the log accepts.
	maxUndoBytes = 64 << 20
)

// An OpGroup contains ops that must be in the same change, for example an op that removes an entry and the op that
// writes its text into another entry.
type OpGroup struct {
	Ops []Op
	// OldBytes is the total size of the entries that the ops replace or remove, as [EntryBytes] returns it. OldBytes is
	// added to the size of a change, because an undo of the change writes these entries again.
	OldBytes int
}

// PartOptions configures [CommitInParts].
type PartOptions struct {
	MaxBytes     int // maximum size of a change in bytes (0 means 16 MiB)
	EarlierParts int // number of changes that earlier attempts at the same call have made
}

// Parts describes the changes that [CommitInParts] has made.
type Parts struct {
	ChangeCount int
	// GroupCount is the number of op groups that were committed. They are the first GroupCount elements of the caller's
	// list.
	GroupCount int
	LastSeq    uint64 // number of the last change (0 if the store does not number changes)
}

// CommitInParts commits groups of ops. It makes a single change if the ops fit into it. Otherwise it makes several
// changes, and adds the part number to each change's note, as in "approve (part 2 of 8)". [Undoable] counts all parts
// of a call as one change.
//
// Each part is committed as a whole. If a part fails, the earlier parts stay, and the result describes them. To finish
// the call, plan it again, and pass the number of the earlier parts in o.EarlierParts. Only the last part has the op ID
// of the context, because a store skips a call if it already knows the op ID. Therefore a repetition of an unfinished
// call is not skipped, and makes the missing parts.
func CommitInParts(ctx context.Context, s Store, groups []OpGroup, o PartOptions) (committedParts Parts, err error) {
	parts := splitGroups(groups, cmp.Or(o.MaxBytes, defaultMaxChangeBytes))
	count := o.EarlierParts + len(parts)
	for i, part := range parts {
		partCtx := ctx
		if count > 1 {
			partCtx = WithNote(partCtx, partNote(NoteFrom(ctx), o.EarlierParts+i+1, count))
		}
		if i < len(parts)-1 {
			partCtx = WithOpID(partCtx, "")
		}
		made, err := Commit(partCtx, s, joinOps(part)...)
		if err != nil {
			return committedParts, err
		}
		committedParts.ChangeCount++
		committedParts.GroupCount += len(part)
		committedParts.LastSeq = made.Seq
	}
	return committedParts, nil
}

// DryRunInParts returns the error that [CommitInParts] would return. It checks each part separately, and changes
// nothing.
func DryRunInParts(ctx context.Context, d DryRunner, groups []OpGroup, o PartOptions) error {
	for _, part := range splitGroups(groups, cmp.Or(o.MaxBytes, defaultMaxChangeBytes)) {
		if err := d.DryRun(ctx, joinOps(part)...); err != nil {
			return err
		}
	}
	return nil
}

func joinOps(groups []OpGroup) (ops []Op) {
	for _, g := range groups {
		ops = append(ops, g.Ops...)
	}
	return ops
}

// splitGroups splits the groups into parts of at most maxBytes. A larger group is a part of its own.
func splitGroups(groups []OpGroup, maxBytes int) (parts [][]OpGroup) {
	start, size := 0, 0
	for i := range groups {
		n := groups[i].estimateChangeBytes()
		if i > start && size+n > maxBytes {
			parts = append(parts, groups[start:i])
			start, size = i, 0
		}
		size += n
	}
	if start < len(groups) {
		parts = append(parts, groups[start:])
	}
	return parts
}

// estimateChangeBytes returns the approximate size of a change with the group's ops. If an undo of this change would be
// larger, it returns the undo's size.
func (g *OpGroup) estimateChangeBytes() int {
	written, keepsText := 0, false
	for _, op := range g.Ops {
		e := op.ApplyTo(Entry{Name: op.Target()})
		written += EntryBytes(&e)
		switch op.(type) {
		case Alias, Relabel:
			keepsText = true
		}
	}
	// The ops Alias and Relabel do not change the text of an entry, but the change in the log also contains the
	// entry's text.
	if keepsText {
		written += g.OldBytes
	}
	return max(written, g.OldBytes)
}

// EntryBytes returns the approximate size in bytes that an entry has in a change.
func EntryBytes(e *Entry) int {
	n := 64 + len(e.Name) + len(e.Content)
	for _, a := range e.Aliases {
		n += len(a) + 4
	}
	for _, l := range e.Labels {
		n += len(l.Key) + len(l.Value) + 8
	}
	return n
}

// GroupOps groups ops that depend on each other. Two ops depend on each other if a name or an alias in one op equals a
// name or an alias in the other op. The groups have the order of their first ops. The function oldEntrySize must return
// the size that the entry with a name has before the ops, or 0 if the entry does not exist.
func GroupOps(ops []Op, oldEntrySize func(name string) int) []OpGroup {
	// Sort the ops into sets. An op belongs to the same set as each earlier op with the same name or alias. union
	// joins two sets.
	parent := make([]int, len(ops))
	var root func(i int) int
	root = func(i int) int {
		if parent[i] != i {
			parent[i] = root(parent[i])
		}
		return parent[i]
	}
	union := func(i, j int) {
		a, b := root(i), root(j)
		parent[max(a, b)] = min(a, b)
	}
	firstByWord := map[string]int{}
	for i, op := range ops {
		parent[i] = i
		for _, word := range append(op.ApplyTo(Entry{}).Aliases, op.Target()) {
			word = NormalName(word)
			if first, ok := firstByWord[word]; ok {
				union(first, i)
			} else {
				firstByWord[word] = i
			}
		}
	}
	var groups []OpGroup
	groupByRoot, countedNames := map[int]int{}, map[string]bool{}
	for i, op := range ops {
		at, ok := groupByRoot[root(i)]
		if !ok {
			at = len(groups)
			groupByRoot[root(i)] = at
			groups = append(groups, OpGroup{})
		}
		g := &groups[at]
		g.Ops = append(g.Ops, op)
		if name := op.Target(); !countedNames[name] {
			countedNames[name] = true
			g.OldBytes += oldEntrySize(name)
		}
	}
	return groups
}

const (
	partNoteStart  = "(part "
	partNoteMiddle = " of "
)

// partNote returns the note for one of the several changes that a call makes. note is the note of the call, part is
// the number of the change, counted from 1, and count is the number of the changes.
func partNote(note string, part, count int) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s%d%s%d)", note, partNoteStart, part, partNoteMiddle, count))
}

// SplitPartNote splits the note of a change that [CommitInParts] made. It returns the note of the call, the number of
// the part, beginning with 1, and the number of all parts. For the note of any other change, part and count are 0.
func SplitPartNote(note string) (callNote string, part, count int) {
	i := strings.LastIndex(note, partNoteStart)
	numbers, hasEnd := strings.CutSuffix(note[max(i, 0):], ")")
	if i < 0 || !hasEnd {
		return note, 0, 0
	}
	first, second, _ := strings.Cut(numbers[len(partNoteStart):], partNoteMiddle)
	part, partErr := strconv.Atoi(first)
	count, countErr := strconv.Atoi(second)
	isPart := partErr == nil && countErr == nil && part >= 1
	if !isPart {
		return note, 0, 0
	}
	return strings.TrimSpace(note[:i]), part, count
}

// Follows reports whether the change c continues the call that made the earlier change o. It returns false if the two
// changes differ in the session, the door or the actor. For two changes by the same import, it returns true without
// comparing their order. For other changes, it returns true if c is the part after the part o (see [CommitInParts]).
func (c Change) Follows(o Change) bool {
	a, b := c.Source, o.Source
	isSameCaller := a.Session == b.Session && a.Door == b.Door && a.Actor == b.Actor
	if !isSameCaller {
		return false
	}
	isImport := a.Actor == Imported && a.Session != "" && c.Note != ""
	if isImport && c.Note == o.Note {
		return true
	}
	note, part, _ := SplitPartNote(c.Note)
	previousNote, previousPart, _ := SplitPartNote(o.Note)
	return part > 1 && note == previousNote && previousPart == part-1
}

// WithOtherParts returns the changes in cs, together with all other changes of the same calls. A call that is too large
// for one change makes several changes, its parts. The result is ordered by number, newest first. If a call was
// interrupted, the parts that it did not make are missing.
func WithOtherParts(ctx context.Context, h Historian, cs []Change) ([]Change, error) {
	bySeq := map[uint64]Change{}
	for _, c := range cs {
		bySeq[c.Seq] = c
	}
	for _, c := range cs {
		if err := addEarlierPartsOfCall(ctx, h, c, bySeq); err != nil {
			return nil, err
		}
		if err := addLaterPartsOfCall(ctx, h, c, bySeq); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(bySeq), func(a, b Change) int { return cmp.Compare(b.Seq, a.Seq) }), nil
}

// addEarlierPartsOfCall adds changes to the map bySeq, by their numbers. A call may have been stored as several
// changes, its parts. addEarlierPartsOfCall adds the parts that were made before c by the same call. If c is not a
// part, or is the first part, it adds nothing.
func addEarlierPartsOfCall(ctx context.Context, h Historian, c Change, bySeq map[uint64]Change) error {
	if _, part, _ := SplitPartNote(c.Note); part <= 1 {
		return nil
	}
	for o, err := range LogFrom(ctx, h, c.Seq, 1) {
		if err != nil {
			return err
		}
		if !c.Follows(o) {
			continue // Another writer made this change at the same time.
		}
		bySeq[o.Seq] = o
		c = o
		if _, part, _ := SplitPartNote(c.Note); part == 1 {
			break
		}
	}
	return nil
}

// addLaterPartsOfCall adds changes to the map bySeq, with their numbers as keys. If a call was too large for one
// change, the store contains several changes for the call, which are called parts. addLaterPartsOfCall adds the parts
// of c's call that follow c. If c is not such a part or is the last part, it adds nothing. If a change cannot be found,
// it stops without an error.
func addLaterPartsOfCall(ctx context.Context, h Historian, c Change, bySeq map[uint64]Change) error {
	_, part, count := SplitPartNote(c.Note)
	for seq := c.Seq + 1; part < count; seq++ {
		found, err := ReadChanges(ctx, h, []uint64{seq})
		if err != nil || len(found) == 0 {
			return err
		}
		o := found[0]
		if !o.Follows(c) {
			continue
		}
		bySeq[o.Seq] = o
		c = o
		_, part, count = SplitPartNote(c.Note)
	}
	return nil
}

// RevertInParts reverts the changes cs, which must be ordered from the newest to the oldest. If possible, it makes a
// single new change, which reverts all of them. The new change must not be larger than maxBytes bytes (0 means 16 MiB).
// A later change that would undo the new change must not be larger either.
//
// If a single change would exceed this limit, RevertInParts makes several changes, and reverts the newest changes
// first. If it fails after some of these changes, the store is therefore as it was at an earlier time. Before the first
// of several changes, RevertInParts calls [CheckRevert] to check that all changes can be reverted.
//
// RevertInParts returns the numbers of the new changes, in order. The context may contain an op ID, so that a call can
// be repeated without reverting twice. If several changes are necessary and an earlier call used the same op ID,
// RevertInParts compares the first change of both calls. If they revert different changes, the calls are not the same.
// RevertInParts then makes no changes, and returns only the number of the earlier call's first change.
func RevertInParts(ctx context.Context, h Historian, cs []Change, maxBytes int) (seqs []uint64, err error) {
	parts, err := splitChangesToRevert(ctx, h, cs, cmp.Or(maxBytes, defaultMaxChangeBytes))
	if err != nil {
		return nil, err
	}
	if len(parts) > 1 {
		earlier, isRepeated, err := changeWithOpID(ctx, h)
		switch {
		case err != nil:
			return nil, err
		case isRepeated && !slices.Equal(slices.Sorted(slices.Values(earlier.Reverts)), sortedSeqs(parts[0])):
			return []uint64{earlier.Seq}, nil
		case !isRepeated:
			if err := CheckRevert(ctx, h, cs...); err != nil {
				return nil, err
			}
		}
	}
	id := OpIDFrom(ctx)
	for i, part := range parts {
		partCtx := ctx
		if i > 0 && id != "" {
			partCtx = WithOpID(ctx, CallOpID(fmt.Sprintf("%s part %d", id, i+1), fmt.Sprint(sortedSeqs(part))))
		}
		seq, err := h.Revert(partCtx, sortedSeqs(part)...)
		if err != nil {
			return seqs, err
		}
		seqs = append(seqs, seq)
	}
	return seqs, nil
}

func sortedSeqs(cs []Change) (seqs []uint64) {
	for _, c := range cs {
		seqs = append(seqs, c.Seq)
	}
	slices.Sort(seqs)
	return seqs
}

// changeWithOpID returns the change that an earlier call with the op ID of the context has made. found is false if
// there is no such change. To find the change, it commits an op that no store can apply. The store returns the earlier
// change if the op ID is known, and otherwise an error.
func changeWithOpID(ctx context.Context, h Historian) (c Change, found bool, err error) {
	if OpIDFrom(ctx) == "" {
		return Change{}, false, nil
	}
	made, err := Commit(ctx, h, Remove{Name: "none", If: LastChange})
	if err != nil {
		// Ignore the error. Usually the error means that no earlier call used this op ID. If the error has another
		// cause, the caller gets the same error when it commits its own change.
		return Change{}, false, nil
	}
	cs, err := ReadChanges(ctx, h, []uint64{made.Seq})
	if len(cs) == 0 {
		return made, true, err
	}
	return cs[0], true, err
}

// splitChangesToRevert splits the changes to revert into parts that can be reverted in one change each.
func splitChangesToRevert(ctx context.Context, h Historian, cs []Change, maxBytes int) (parts [][]Change, err error) {
	start, size := 0, 0
	largest := 0
	for i := range cs {
		n, err := estimateRevertBytes(ctx, h, &cs[i])
		if err != nil {
			return nil, err
		}
		if i > start && size+n > maxBytes {
			parts = append(parts, cs[start:i])
			start, size = i, 0
		}
		size += n
		largest = max(largest, n)
	}
	parts = append(parts, cs[start:])
	if len(parts) > 1 && largest > maxUndoBytes {
		reason := "is more than the " + text.FormatBytes(maxUndoBytes) +
			" that one undo may write; restore its entries one by one"
		return nil, &InvalidError{Field: "change", Value: text.FormatBytes(int64(largest)), Reason: reason}
	}
	return parts, nil
}

// estimateRevertBytes estimates the size, in bytes, of the change that reverts c. If a later change that undoes the
// revert would be larger, the estimate is the size of that change.
func estimateRevertBytes(ctx context.Context, h Historian, c *Change) (size int, err error) {
	old, err := replacedVersionSizes(ctx, h, c)
	if err != nil {
		return 0, err
	}
	for i := range c.Versions {
		v := &c.Versions[i]
		size += max(EntryBytes(&v.Entry), old[entryVersion{v.Entry.Name, v.Prev}])
	}
	return size, nil
}

// entryVersion identifies an entry version by the entry's name and the number of the change that wrote the version.
type entryVersion struct {
	name string
	seq  uint64
}

// maxChangesInMemory is the maximum number of changes that replacedVersionSizes has in memory.
const maxChangesInMemory = 16

// replacedVersionSizes returns the sizes of the versions that the change replaced with another text, or removed.
func replacedVersionSizes(ctx context.Context, h Historian, c *Change) (map[entryVersion]int, error) {
	sizes := map[entryVersion]int{}
	wantedSeqs := map[uint64]bool{}
	for i := range c.Versions {
		v := &c.Versions[i]
		switch v.Verb {
		case VerbUpdate, VerbRestore, VerbRemove:
			if v.Prev != 0 {
				sizes[entryVersion{v.Entry.Name, v.Prev}] = 0
				wantedSeqs[v.Prev] = true
			}
		}
	}
	for seqs := range slices.Chunk(slices.Sorted(maps.Keys(wantedSeqs)), maxChangesInMemory) {
		earlier, err := ReadChanges(ctx, h, seqs)
		if err != nil {
			return nil, err
		}
		for _, o := range earlier {
			for i := range o.Versions {
				key := entryVersion{o.Versions[i].Entry.Name, o.Seq}
				if _, wanted := sizes[key]; wanted {
					sizes[key] = EntryBytes(&o.Versions[i].Entry)
				}
			}
		}
	}
	return sizes, nil
}

// CheckRevert returns an error if a revert of these changes would be refused because a later change modified an entry.
// The error is a [ConflictError].
func CheckRevert(ctx context.Context, s Store, cs ...Change) error {
	last := map[string]*Version{}
	for i := range cs {
		for j := range cs[i].Versions {
			v := &cs[i].Versions[j]
			if was := last[v.Entry.Name]; was == nil || was.Seq <= v.Seq {
				last[v.Entry.Name] = v
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		now, err := s.Get(ctx, name)
		isGone := errors.Is(err, ErrNotFound)
		if err != nil && !isGone {
			return err
		}
		v := last[name]
		if isGone != (v.Verb == VerbRemove) {
			return &ConflictError{Name: name, Want: v.Seq, Have: now.Version}
		}
		if !isGone && !isUnchanged(&now, &v.Entry) {
			return &ConflictError{Name: name, Want: v.Seq, Have: now.Version}
		}
	}
	return nil
}

// isUnchanged reports whether two versions of an entry are equal: they have the same ID, kind, content, creation time,
// aliases and labels. Labels that the store itself adds to name the authors of the text (see [WithoutTextBy]) are not
// compared.
func isUnchanged(newEntry, oldEntry *Entry) bool {
	return newEntry.ID == oldEntry.ID && newEntry.Kind == oldEntry.Kind && newEntry.Content == oldEntry.Content &&
		newEntry.Created.Equal(oldEntry.Created) &&
		slices.Equal(newEntry.Aliases, oldEntry.Aliases) &&
		slices.Equal(WithoutTextBy(newEntry.Labels), WithoutTextBy(oldEntry.Labels))
}
