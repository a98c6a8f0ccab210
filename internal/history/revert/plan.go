// This file plans a revert, and applies the plan.

package revert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// These are the values of [RevertedEntry.EntryOutcome].
const (
	outcomeEntryRemoved = "removed" // The entry is removed, because a reverted change had created it.
	// The entry gets the state that it would have if the reverted changes had never been made.
	outcomeEntryReverted = "returned"
	outcomeRestored      = "restored" // The entry, which had been removed, is added again.
)

// RevertedEntry describes the effect of a revert on one entry.
type RevertedEntry struct {
	EntryName string `json:"name"`
	// "removed", "returned" (to the state without the reverted changes) or "restored" (the removed entry exists again)
	EntryOutcome          string   `json:"did"`
	RevertedChangeNumbers []uint64 `json:"took_back"` // numbers of the entry's reverted changes
	// earlier version of the entry with the same text (0 if no such version exists)
	MatchingVersion uint64 `json:"version,omitempty"`
}

// Conflict describes an entry that was changed by others after one of the changes that are reverted.
type Conflict struct {
	Name            string   `json:"name"`
	RevertedChanges []uint64 `json:"took_back"`
	// numbers of the changes that others made to the entry after the reverted changes
	LaterChanges []uint64 `json:"later"`
	LastActor    string   `json:"by"` // who made the last of the LaterChanges: person, agent, tool or import
	// KeptPartNames names the parts of the entry in which the revert keeps the LaterChanges: content, aliases, labels,
	// forgotten (the removal of the entry), or all. It is empty if the revert keeps no part of the LaterChanges.
	KeptPartNames []string `json:"kept"`
	// why the revert does not change the entry at all ("" if it changes the entry)
	Reason string `json:"reason,omitempty"`
}

// Plan describes the changes that a revert will make.
type Plan struct {
	ChangesToRevert []uint64 // numbers of the changes that the caller wants to revert
	Steps           []RevertedEntry
	Conflicts       []Conflict
	CopiedVersions  []CopiedVersion
	TakenAliases    []oxbow.TakenAlias // aliases that are not restored, because other entries have them now
	// For each entry, the number of its first version that is to be reverted or contains text of such a version.
	FirstVersions map[string]uint64

	history           oxbow.Historian
	ops               []oxbow.Op
	presentEntryBytes map[string]int    // for each name, the size of the present entry (see [oxbow.EntryBytes])
	lastChanges       map[string]uint64 // for each entry name, the number of the entry's last change
}

// MakePlan plans to revert the selected versions. If sel.IncludesCopiedVersions is set, MakePlan also plans to revert
// the versions that were derived from the selected versions. It changes nothing. If no version is selected, the plan
// is empty.
func MakePlan(ctx context.Context, h oxbow.Historian, sel VersionSelection) (*Plan, error) {
	p := &Plan{
		history:           h,
		FirstVersions:     map[string]uint64{},
		presentEntryBytes: map[string]int{},
		lastChanges:       map[string]uint64{},
	}
	w, err := readRevertLogWindow(ctx, h, &sel)
	if err != nil || w == nil {
		return p, err
	}
	defer w.storeBeforeFirstVersion.Close()
	if err := w.findCopiedVersions(ctx, &sel); err != nil {
		return p, err
	}
	p.ChangesToRevert = w.selectedChanges
	byName := map[string][]*loggedVersion{}
	var names []string // names of the entries that the revert may change
	for _, n := range w.versions {
		name := n.Entry.Name
		byName[name] = append(byName[name], n)
		isToRevert := n.isToRevert(&sel) && !n.isUndoRelated
		if isToRevert && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if n.derivedVersion != nil {
			n.derivedVersion.IsReverted = sel.IncludesCopiedVersions
			p.CopiedVersions = append(p.CopiedVersions, *n.derivedVersion)
		}
		if _, ok := p.FirstVersions[name]; !ok && n.isAffectedByRevert() {
			p.FirstVersions[name] = n.Seq
		}
	}
	for _, name := range names {
		if err := p.planEntrySteps(ctx, w, byName[name], &sel); err != nil {
			return p, err
		}
	}
	slices.SortFunc(p.Steps, func(a, b RevertedEntry) int {
		return cmp.Or(
			cmp.Compare(a.RevertedChangeNumbers[0], b.RevertedChangeNumbers[0]),
			strings.Compare(a.EntryName, b.EntryName),
		)
	})
	p.ops, p.TakenAliases, err = oxbow.WithoutTakenAliases(ctx, h, p.ops)
	return p, err
}

// planEntrySteps adds the changes that revert one entry to the plan. The slice versions contains all versions of the
// entry since the first change to revert, oldest first. The selection sel determines which of these versions are
// reverted. If the version before versions[0] was redacted, its text is lost. In this case, planEntrySteps adds a
// conflict and does not change the entry.
func (p *Plan) planEntrySteps(
	ctx context.Context,
	w *revertLogWindow,
	versions []*loggedVersion,
	sel *VersionSelection,
) error {
	name, last := versions[0].Entry.Name, versions[len(versions)-1]
	before := versions[0].previousEntry
	var now *oxbow.Entry
	if last.Verb != oxbow.VerbRemove {
		now = &last.Entry
	}
	r := replayUnrevertedVersions(before, versions, sel)
	lost, err := isPreviousVersionRedacted(ctx, p.history, versions[0])
	if err != nil {
		return err
	}
	if lost {
		p.Conflicts = append(
			p.Conflicts,
			Conflict{
				Name:            name,
				RevertedChanges: r.revertedVersionNumbers,
				LastActor:       string(last.Source.Actor),
				KeptPartNames:   []string{"all"},
				Reason:          "what it said before was redacted",
			},
		)
		return nil
	}
	ops := entryEditOps(now, r.entry)
	if c, ok := r.findConflict(now); ok {
		p.Conflicts = append(p.Conflicts, c)
	}
	if len(ops) == 0 {
		return nil
	}
	p.ops = append(p.ops, ops...)
	if now != nil {
		p.presentEntryBytes[name] = oxbow.EntryBytes(now)
	}
	s := RevertedEntry{
		EntryName:             name,
		RevertedChangeNumbers: r.revertedVersionNumbers,
		EntryOutcome:          outcomeEntryReverted,
	}
	switch {
	case r.entry == nil:
		s.EntryOutcome = outcomeEntryRemoved
	case now == nil:
		s.EntryOutcome = outcomeRestored
	}
	if r.entry != nil && len(r.versionsToReapply) == 0 {
		s.MatchingVersion = r.entry.Version
	}
	p.Steps, p.lastChanges[name] = append(p.Steps, s), last.Seq
	return nil
}

// findConflict describes the changes that other writers made to the entry after the first reverted change. It also
// lists the parts of these changes that are kept. Versions that only restore an earlier version are not counted. A
// removal is not counted if the entry is missing both now and after the revert. The argument presentEntry is the
// present entry, or nil if the entry does not exist. ok is false if other writers changed nothing.
func (r *entryChangeReplay) findConflict(presentEntry *oxbow.Entry) (c Conflict, ok bool) {
	c.KeptPartNames = []string{} // Use an empty list, which JSON encodes as [] and not as null.
	for _, n := range r.versionsToReapply {
		if !n.isRestore() && !(n.Verb == oxbow.VerbRemove && r.entry == nil && presentEntry == nil) {
			c.Name, c.LastActor = n.Entry.Name, string(n.Source.Actor)
			c.LaterChanges = append(c.LaterChanges, n.Seq)
			c.KeptPartNames = append(c.KeptPartNames, r.changedEntryParts(n)...)
		}
	}
	slices.Sort(c.KeptPartNames)
	c.RevertedChanges, c.KeptPartNames = r.revertedVersionNumbers, slices.Compact(c.KeptPartNames)
	return c, len(c.LaterChanges) > 0
}

// changedEntryParts returns the parts of an entry that the version n changed. The caller reports them as parts that the
// revert keeps. The possible parts are "content", "aliases" and "labels". Labels that only say who wrote a text are not
// compared.
//
// If r.entry is nil, the entry does not exist after the revert. The result is then "forgotten" if the version n removed
// the entry, and otherwise empty.
func (r *entryChangeReplay) changedEntryParts(n *loggedVersion) (parts []string) {
	if r.entry == nil {
		if n.Verb == oxbow.VerbRemove {
			parts = append(parts, "forgotten")
		}
		return parts
	}
	old := oxbow.Entry{}
	if n.previousEntry != nil {
		old = *n.previousEntry
	}
	if n.Entry.Content != old.Content {
		parts = append(parts, "content")
	}
	if !slices.Equal(n.Entry.Aliases, old.Aliases) {
		parts = append(parts, "aliases")
	}
	if !slices.Equal(oxbow.WithoutTextBy(n.Entry.Labels), oxbow.WithoutTextBy(old.Labels)) {
		parts = append(parts, "labels")
	}
	return parts
}

// maxListedChanges is the maximum number of changes that a note lists.
const maxListedChanges = 10

func joinChangeNumbers(seqs []uint64) string {
	var words []string
	for _, n := range seqs[:min(len(seqs), maxListedChanges)] {
		words = append(words, strconv.FormatUint(n, 10))
	}
	s := strings.Join(words, ", ")
	if len(seqs) > maxListedChanges {
		s += fmt.Sprintf("… (%d changes)", len(seqs))
	}
	return s
}

// IsEmpty reports whether the plan changes nothing.
func (p *Plan) IsEmpty() bool { return len(p.ops) == 0 }

// Apply executes the plan in a single change. If the plan is too large for one change, Apply makes several changes, the
// parts of [oxbow.CommitInParts]. The result contains the number of the last change and the number of parts. If an
// entry has changed since the plan was made, the error matches [oxbow.ErrConflict]. After an error, the parts that were
// made stay.
func (p *Plan) Apply(ctx context.Context, o oxbow.PartOptions) (oxbow.Parts, error) {
	if p.IsEmpty() {
		return oxbow.Parts{}, nil
	}
	groups := oxbow.GroupOps(p.ops, func(name string) int { return p.presentEntryBytes[name] })
	ctx = oxbow.WithNote(ctx, revertNotePrefix+joinChangeNumbers(p.ChangesToRevert))
	done, err := oxbow.CommitInParts(ctx, p.history, groups, o)
	if errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound) {
		err = &oxbow.ConflictError{Name: p.ops[0].Target()}
	}
	return done, err
}
