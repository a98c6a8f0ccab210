// This file converts between oxbow's entries and the records in a crabtalk memory file (format CRMEM).

package crmem

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// lastSecondShownAsDate is the last second that all user interfaces can show as a date.
const lastSecondShownAsDate = 253402300799 // 9999-12-31T23:59:59Z in seconds since 1970

// toEntry returns the record as an entry. If the date is after the year 9999, the entry has the last second of that
// year. The file is not changed.
func (r *record) toEntry() oxbow.Entry {
	created := time.Unix(int64(min(r.CreatedUnixSeconds, lastSecondShownAsDate)), 0).UTC()
	e := oxbow.Entry{ID: r.ID, Name: r.Name, Content: r.Content, Aliases: r.Aliases,
		Created: created, Updated: created, Version: r.computedVersion}
	if r.Kind == kindNumberArchive {
		e.Kind = oxbow.Archive
	}
	return e
}

func unsupportedError(format string, args ...any) error {
	return fmt.Errorf("%w: CRMEM v1 %s", oxbow.ErrUnsupported, fmt.Sprintf(format, args...))
}

// kindNumber returns the number by which the format stores a kind.
func kindNumber(k oxbow.Kind) (uint32, error) {
	switch k {
	case oxbow.Note:
		return kindNumberNote, nil
	case oxbow.Archive:
		return kindNumberArchive, nil
	}
	return 0, unsupportedError("keeps notes and archives, and no entry of kind %s", k)
}

// unixSeconds returns the number by which the format stores a date. Fractions of a second are lost.
func unixSeconds(t time.Time) (uint64, error) {
	if s := t.Unix(); s >= 0 {
		return uint64(s), nil
	}
	return 0, unsupportedError("keeps no date before 1970, such as %s", t.UTC().Format(time.DateOnly))
}

func checkLabels(ls []oxbow.Label) error {
	if len(ls) == 0 {
		return nil
	}
	return unsupportedError("keeps no labels, such as %s", ls[0])
}

// unwrittenRecordChanges contains changes of a store's records that are not written yet.
type unwrittenRecordChanges struct {
	base              *state
	nextID            uint64
	commitUnixSeconds uint64

	// records of the memory file that were changed but not yet written, by name (nil for a removed record)
	stagedRecords map[string]*record
	undoFuncs     []func() // functions that undo the staged changes of the present request
}

func newUnwrittenRecordChanges(st *state, now time.Time) *unwrittenRecordChanges {
	return &unwrittenRecordChanges{base: st, nextID: st.nextID, commitUnixSeconds: uint64(max(now.Unix(), 0)),
		stagedRecords: map[string]*record{}}
}

// findRecord returns the entry with this name after the staged changes, or nil if no entry has the name.
func (g *unwrittenRecordChanges) findRecord(name string) *record {
	if r, ok := g.stagedRecords[name]; ok {
		return r
	}
	return g.base.byName[name]
}

// nameOwner returns the name of the entry to which the argument nameOrAlias refers. This is the entry whose name equals
// nameOrAlias. If no entry has this name, it is the oldest entry that has nameOrAlias as an alias. The entry with the
// name exceptName is ignored. If no entry is found, ok is false.
func (g *unwrittenRecordChanges) nameOwner(nameOrAlias, exceptName string) (name string, ok bool) {
	if nameOrAlias != exceptName && g.findRecord(nameOrAlias) != nil {
		return nameOrAlias, true
	}
	for _, r := range g.orderedRecords() {
		if r.Name != exceptName && slices.Contains(r.Aliases, nameOrAlias) {
			return r.Name, true
		}
	}
	return "", false
}

func (g *unwrittenRecordChanges) stageRecord(name string, r *record) {
	old, had := g.stagedRecords[name]
	g.undoFuncs = append(g.undoFuncs, func() {
		if had {
			g.stagedRecords[name] = old
		} else {
			delete(g.stagedRecords, name)
		}
	})
	g.stagedRecords[name] = r
}

// stageOps applies all ops to the unwritten records, and returns one version for each op. The version contains the
// entry after the op. If the op removed the entry, the version contains the entry before the op. If an op fails,
// stageOps undoes the ops before it and returns an error.
func (g *unwrittenRecordChanges) stageOps(ops []oxbow.Op) (stagedVersions []oxbow.Version, err error) {
	g.undoFuncs = g.undoFuncs[:0]
	id := g.nextID
	for _, op := range ops {
		old := g.findRecord(op.Target())
		if err := g.stageOp(op); err != nil {
			for _, fn := range slices.Backward(g.undoFuncs) {
				fn()
			}
			g.nextID = id
			return nil, err
		}
		now := g.findRecord(op.Target())
		if now == nil {
			now = old // The op removed the entry, so return the entry's last version before the removal.
		}
		stagedVersions = append(stagedVersions, oxbow.WrittenBy(op, now.toEntry()))
	}
	return stagedVersions, nil
}

// stageOp stages a single op. The caller must have checked the op (see checkOp).
func (g *unwrittenRecordChanges) stageOp(op oxbow.Op) error {
	name := op.Target()
	old := g.findRecord(name)
	if add, ok := op.(oxbow.Add); ok {
		return g.stageAdd(add, old)
	}
	if old == nil {
		return &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	r := *old
	switch op := op.(type) {
	case oxbow.Update:
		if err := checkLabels(op.Labels); err != nil {
			return err
		}
		r.Content, r.Aliases = op.Content, slices.Clone(op.Aliases)
	case oxbow.Alias:
		r.Aliases = slices.Clone(op.Aliases)
	case oxbow.Relabel:
		if err := checkLabels(op.Labels); err != nil {
			return err
		}
	case oxbow.Remove:
	default:
		panic(fmt.Sprintf("crmem: op %T outside the sealed set", op))
	}
	if want := op.IfVersion(); want != 0 && want != old.computedVersion {
		return &oxbow.ConflictError{Name: name, Want: want, Have: old.computedVersion}
	}
	if err := oxbow.CheckAliases(op, old.Aliases, g.nameOwner); err != nil {
		return err
	}
	if _, remove := op.(oxbow.Remove); remove {
		g.stageRecord(name, nil)
		return nil
	}
	r.computedVersion = entryVersion(r.appendEncoded(nil))
	g.stageRecord(name, &r)
	return nil
}

func (g *unwrittenRecordChanges) stageAdd(op oxbow.Add, old *record) error {
	if old != nil {
		return &oxbow.NameError{Name: op.Name, Err: oxbow.ErrExists}
	}
	kind, err := kindNumber(op.Kind)
	if err != nil {
		return err
	}
	if err := checkLabels(op.Labels); err != nil {
		return err
	}
	if err := oxbow.CheckAliases(op, nil, g.nameOwner); err != nil {
		return err
	}
	created := g.commitUnixSeconds
	if !op.Created.IsZero() {
		created, err = unixSeconds(op.Created)
		if err != nil {
			return err
		}
	}
	// The next ID must be larger than the last ID, and must fit into its field in the file.
	last := len(g.base.sortedRecords) - 1
	isAfterLast := last < 0 || g.nextID > g.base.sortedRecords[last].ID
	if g.nextID == math.MaxUint64 || !isAfterLast {
		return unsupportedError("counts ids up to %d, and the store has reached it", uint64(math.MaxUint64))
	}
	r := &record{ID: g.nextID, CreatedUnixSeconds: created, Kind: kind, Name: op.Name, Content: op.Content,
		Aliases: slices.Clone(op.Aliases)}
	r.computedVersion = entryVersion(r.appendEncoded(nil))
	g.nextID++
	g.stageRecord(op.Name, r)
	return nil
}

// checkOp returns an error if the op is invalid. Crabtalk writes entries that other stores do not accept. These must
// remain editable. Therefore checkOp, unlike the method Check of the op, accepts an invalid name, alias or content
// that the entry already has.
func (g *unwrittenRecordChanges) checkOp(op oxbow.Op) error {
	if _, add := op.(oxbow.Add); add {
		return op.Check()
	}
	old := g.findRecord(op.Target())
	if old == nil {
		return op.Check()
	}
	const stand = "name" // valid name that is checked instead of the entry's own name, which may be invalid
	switch op := op.(type) {
	case oxbow.Update:
		op.Name = stand
		if slices.Equal(op.Aliases, old.Aliases) {
			op.Aliases = nil
		}
		if op.Content == old.Content {
			op.Content = ""
		}
		return op.Check()
	case oxbow.Alias:
		op.Name = stand
		if slices.Equal(op.Aliases, old.Aliases) {
			op.Aliases = nil
		}
		return op.Check()
	case oxbow.Relabel:
		op.Name = stand
		return op.Check()
	}
	return nil
}

// orderedRecords returns the records of the memory file, sorted by ID, with the changes that are not yet written.
func (g *unwrittenRecordChanges) orderedRecords() []*record {
	// for each changed ID, the new record (nil if the entry was removed)
	replaced := make(map[uint64]*record, len(g.stagedRecords))
	for name, r := range g.stagedRecords {
		if old := g.base.byName[name]; old != nil {
			replaced[old.ID] = nil
		}
		if r != nil {
			replaced[r.ID] = r
		}
	}
	order := make([]*record, 0, len(g.base.sortedRecords)+len(replaced))
	for _, r := range g.base.sortedRecords {
		if now, ok := replaced[r.ID]; ok {
			delete(replaced, r.ID)
			r = now
			if r == nil {
				continue
			}
		}
		order = append(order, r)
	}
	first := len(order)
	for _, r := range replaced {
		if r != nil {
			order = append(order, r)
		}
	}
	slices.SortFunc(order[first:], compareByID)
	return order
}
