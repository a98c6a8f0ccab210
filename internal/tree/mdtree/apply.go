// This file implements Apply. It plans each op as edits of files, and checks that the edited files contain exactly the
// entries that the ops request.

package mdtree

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// Apply implements [oxbow.Store]. Another program may have changed an entry's file after this store returned the entry
// to the caller. If an Update of such an entry has no If, Apply merges the Update with the program's change, line by
// line. If the Update and the program have changed the same lines, Apply writes the text of the Update, and preserves
// the program's text in an additional file (a conflict copy).
func (s *Store) Apply(ctx context.Context, ops ...oxbow.Op) error {
	_, err := s.Commit(ctx, ops...)
	return err
}

// Commit implements [oxbow.Committer]. The change does not have a number. It contains the written entries, that is,
// the entries after merges with changes by other programs.
func (s *Store) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	if err := s.checkReady(ctx); err != nil || len(ops) == 0 {
		return oxbow.Change{}, err
	}
	for _, op := range ops {
		if err := op.Check(); err != nil {
			return oxbow.Change{}, err
		}
	}
	own, err := s.makeChange(ctx, s.planOps(ops))
	if err != nil {
		return oxbow.Change{}, err
	}
	return oxbow.Change{Versions: own.writtenVersions}, nil
}

// planOps returns a function that plans all ops. The function adds the edits of files to v, and returns the effects of
// the ops, such as the written entries. It returns the first error of [Store.planOp].
func (s *Store) planOps(ops []oxbow.Op) func(v *treeWithPlannedEdits, now time.Time) (*opPlanEffects, error) {
	return func(v *treeWithPlannedEdits, now time.Time) (*opPlanEffects, error) {
		own := &opPlanEffects{removedNames: map[string]bool{}, conflictReasonByFile: map[string]string{}}
		for _, op := range ops {
			if err := s.planOp(v, op, now, own); err != nil {
				return nil, err
			}
		}
		return own, nil
	}
}

// DryRun implements [oxbow.DryRunner].
func (s *Store) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	if err := s.scanBeforeRead(ctx); err != nil {
		return err
	}
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	_, err := s.planOps(ops)(newTreeWithPlannedEdits(s), s.options.Clock())
	return err
}

// Edit makes changes that cannot be expressed as ops. Edit makes either all changes or none. The function plan receives
// the tree and returns the edits. If another program changes a file in the meantime, Edit calls plan again. The
// function plan must not call the store. The edits may also write files in which the layout stores no entries.
func (s *Store) Edit(ctx context.Context, plan func(v TreeView, now time.Time) ([]Edit, error)) error {
	if err := s.checkReady(ctx); err != nil {
		return err
	}
	_, err := s.makeChange(ctx, func(v *treeWithPlannedEdits, now time.Time) (*opPlanEffects, error) {
		edits, err := plan(v, now)
		if err != nil {
			return nil, err
		}
		_, _, err = v.addPlannedEdits(edits)
		return &opPlanEffects{conflictReasonByFile: map[string]string{}}, err
	})
	return err
}

// planOp plans an op, and adds the resulting edits of files to v, which contains the tree and the edits planned before.
// If another program has changed the entry's file meanwhile, planOp merges the changes. planOp adds the versions that
// the op writes and the names that it removes to effects. It returns an error if the op is not allowed, if it would
// change another entry, or if the layout cannot store the entry.
func (s *Store) planOp(v *treeWithPlannedEdits, op oxbow.Op, now time.Time, effects *opPlanEffects) error {
	name := op.Target()
	old, found := v.Find(name)
	if err := checkOpTarget(op, old, found); err != nil {
		return err
	}
	e := v.plannedFileByPath[old.Path]
	isUnedited := e == nil || !e.isChanged
	if found && isUnedited {
		op = s.mergeOtherProgramsChange(op, old, effects)
	}
	if err := oxbow.CheckAliases(op, old.Entry.Aliases, v.nameOwner); err != nil {
		return err
	}
	edits, err := s.layout.Plan(v, op, now)
	if err != nil {
		return err
	}
	had, have, err := v.addPlannedEdits(edits)
	if err != nil {
		return err
	}
	if err := checkOtherEntriesUnchanged(name, had, have); err != nil {
		return err
	}
	if _, ok := op.(oxbow.Remove); ok {
		if len(have[name]) >= len(had[name]) {
			return &oxbow.InvalidError{Field: "entry", Value: name, Reason: "cannot be removed from this layout"}
		}
		effects.removedNames[name] = true
		effects.writtenVersions = append(effects.writtenVersions, oxbow.WrittenBy(op, old.Entry))
		return nil
	}
	if len(have[name]) > max(1, len(had[name])) {
		return &oxbow.InvalidError{
			Field:  "entry",
			Value:  name,
			Reason: "cannot be held by this layout: it would be read back as several",
		}
	}
	place, ok := v.Find(name)
	if !ok {
		return &oxbow.InvalidError{
			Field:  "entry",
			Value:  name,
			Reason: "cannot be held by this layout: it could not be read back",
		}
	}
	want := op.ApplyTo(old.Entry)
	want.Labels = oxbow.SortLabels(want.Labels)
	effects.writtenVersions = append(effects.writtenVersions, oxbow.WrittenBy(op, place.Entry))
	return checkParsedEntry(want, place.Entry)
}

// checkOpTarget returns an error if the op's entry does not exist, exists already, or has a different
// version than the op requires.
func checkOpTarget(op oxbow.Op, current FileItem, found bool) error {
	name := op.Target()
	if _, add := op.(oxbow.Add); add && found {
		return &oxbow.NameError{Name: name, Err: oxbow.ErrExists}
	} else if !add && !found {
		return &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	if want := op.IfVersion(); want != 0 && want != current.Entry.Version {
		return &oxbow.ConflictError{Name: name, Want: want, Have: current.Entry.Version}
	}
	return nil
}

// checkOtherEntriesUnchanged returns an error if the edits that change the entry with this name also change a different
// entry. The maps contain the versions of the entries in the edited files, before and after the edits. The keys are the
// names of the entries.
func checkOtherEntriesUnchanged(name string, versionsBefore, versionsAfter map[string][]uint64) error {
	for _, m := range []map[string][]uint64{versionsBefore, versionsAfter} {
		for n := range m {
			if n != name && !slices.Equal(versionsBefore[n], versionsAfter[n]) {
				return &oxbow.InvalidError{Field: "entry", Value: name,
					Reason: fmt.Sprintf("cannot be held by this layout: writing it would change entry %q", n)}
			}
		}
	}
	return nil
}

// mergeOtherProgramsChange merges the op with a change that another program has made to the same entry. The caller made
// the op for the version of the entry that this store last returned. The argument current is the entry as it is in the
// file now.
//
// It returns the op unchanged in these cases, and nothing is merged:
//
//   - No other program has changed the entry.
//   - The op itself requires a version of the entry (op.IfVersion is not 0).
//   - The op is neither an update nor a removal.
//
// Otherwise, the result depends on the op:
//
//   - If the op removes the entry, it is returned unchanged.
//   - If the op is an update and the changes conflict, it is returned unchanged.
//   - If the op is an update and the changes do not conflict, it is returned with both changes. If the labels and
//     aliases then make the entry invalid, only the content is merged.
//
// In each of these cases except a full merge, mergeOtherProgramsChange adds the file to effects.conflictReasonByFile,
// so that a copy of the file is kept.
func (s *Store) mergeOtherProgramsChange(op oxbow.Op, current FileItem, effects *opPlanEffects) oxbow.Op {
	name := current.Entry.Name
	base := s.servedEntries.receivedEntryByName[name]
	isChanged := base != nil && base.Version != current.Entry.Version
	if !isChanged || op.IfVersion() != 0 {
		return op
	}
	u, ok := op.(oxbow.Update)
	if !ok {
		if _, gone := op.(oxbow.Remove); gone {
			effects.conflictReasonByFile[current.Path] = fmt.Sprintf(
				"entry %q was removed while somebody else changed it",
				name,
			)
		}
		return op
	}
	ours := oxbow.Entry{Content: u.Content, Aliases: u.Aliases, Labels: u.Labels}
	both, isClean := threeway.MergeEntry(base, &ours, &current.Entry)
	if !isClean {
		effects.conflictReasonByFile[current.Path] = fmt.Sprintf(
			"entry %q was written while somebody else changed the same lines",
			name,
		)
		return u
	}
	u.Content = both.Content
	merged := u
	merged.Aliases, merged.Labels = both.Aliases, both.Labels
	// If the merged entry is not valid, for example because it has too many labels, keep only the merged content.
	if merged.Check() != nil {
		effects.conflictReasonByFile[current.Path] = fmt.Sprintf(
			"entry %q was given labels or aliases while somebody else gave it others",
			name,
		)
		return u
	}
	return merged
}

// checkParsedEntry returns an error if parsedEntry, the entry as the edited file contains it, differs from
// requestedEntry, the entry that was to be written. Such an entry cannot be stored in this layout of files.
func checkParsedEntry(requestedEntry, parsedEntry oxbow.Entry) error {
	refuse := func(field, value string) error {
		return &oxbow.InvalidError{Field: field, Value: value,
			Reason: fmt.Sprintf(
				"cannot be held by this layout: the files would give it back as %q",
				entryFieldText(field, parsedEntry),
			)}
	}
	switch {
	case requestedEntry.Name != parsedEntry.Name:
		return refuse("name", requestedEntry.Name)
	case requestedEntry.Kind != parsedEntry.Kind:
		return refuse("kind", requestedEntry.Kind.String())
	case requestedEntry.Content != parsedEntry.Content:
		return refuse("content", shortenText(requestedEntry.Content))
	case !slices.Equal(requestedEntry.Aliases, parsedEntry.Aliases):
		return refuse("aliases", shortenText(fmt.Sprint(requestedEntry.Aliases)))
	case !slices.Equal(requestedEntry.Labels, parsedEntry.Labels):
		return refuse("labels", shortenText(fmt.Sprint(requestedEntry.Labels)))
	}
	return nil
}

func entryFieldText(field string, e oxbow.Entry) string {
	switch field {
	case "name":
		return e.Name
	case "kind":
		return e.Kind.String()
	case "content":
		return shortenText(e.Content)
	case "aliases":
		return shortenText(fmt.Sprint(e.Aliases))
	}
	return shortenText(fmt.Sprint(e.Labels))
}

// shortenText shortens a text for an error message.
func shortenText(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
