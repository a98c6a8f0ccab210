// Verbs that change one entry: remember, forget, restore.

package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// Remember keeps an entry, or updates the one of that name.
func Remember(ctx context.Context, d *Workspace, in RememberIn) (RememberOut, error) {
	if strings.TrimSpace(in.Content) == "" {
		return RememberOut{}, bad("content", "", "is empty; say what to remember")
	}
	if err := checkIfVersion(in.IfVersion); err != nil {
		return RememberOut{}, err
	}
	if in.IfVersion != nil && in.Name == "" {
		return RememberOut{}, bad("if_version", strconv.FormatUint(*in.IfVersion, 10), "needs the name of the entry that is at this version")
	}
	if err := in.checkClear(); err != nil {
		return RememberOut{}, err
	}
	// Before anything is read from it, such as a name.
	if err := oxbow.CheckContent(in.Content); err != nil {
		return RememberOut{}, err
	}
	ctx, err := withOpID(ctx, in.OpID)
	if err != nil {
		return RememberOut{}, err
	}
	ctx, m, err := d.Memory(ctx, Create)
	if err != nil {
		return RememberOut{}, err
	}

	name, derived := in.Name, in.Name == ""
	if derived {
		name = oxbow.DeriveName(in.Content)
	}
	base, n := name, 1
	noted := false // what cited files are like is among the labels
	blobs := func(labels []oxbow.Label) []oxbow.Label {
		out := d.stampHashes(ctx, labels)
		noted = len(out) != len(withoutHashes(out))
		return out
	}
	for {
		if err := ctx.Err(); err != nil {
			return RememberOut{}, err
		}
		old, err := m.Store().Get(ctx, name)
		found := err == nil
		if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
			return RememberOut{}, err
		}
		if found && derived && old.Content != in.Content {
			// The caller did not ask for that entry: leave it alone.
			n++
			name = base + " (" + strconv.Itoa(n) + ")"
			continue
		}
		var op oxbow.Op
		if found {
			op, err = in.update(old, blobs)
		} else {
			op, err = in.add(name, blobs)
		}
		if err != nil {
			return RememberOut{}, err
		}
		if op != nil {
			err = m.Apply(ctx, op)
			if noted && (errors.Is(err, oxbow.ErrUnsupported) || errors.Is(err, oxbow.ErrInvalid)) {
				// Perhaps a layout that holds some labels only: once more without.
				blobs, noted = withoutHashes, false
				continue
			}
			raced := errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrNotFound)
			if raced && in.IfVersion == nil {
				continue // another writer was first: look again
			}
			if err != nil {
				return RememberOut{}, err
			}
		}
		now, err := m.Store().Get(ctx, name)
		if errors.Is(err, oxbow.ErrNotFound) && in.OpID != "" {
			return RememberOut{}, missing(ctx, m, name, fmt.Errorf("op_id %q was used before, and what it remembered was forgotten since: %w", in.OpID, err))
		}
		if err != nil {
			return RememberOut{}, err
		}
		out := RememberOut{Outcome: "added", Entry: entryOf(now)}
		out.Snippet = snippet(now.Content, nil, snippetWidth)
		switch {
		case found && now.Version == old.Version:
			out.Outcome = "unchanged"
			out.Notes = append(out.Notes, Plain("the memory says this already: nothing was changed"))
		case found:
			out.Outcome = "updated"
		}
		switch {
		case derived && n > 1:
			out.Notes = append(out.Notes, Notef("the name was made from the first line; as %q is another entry, this one is %q; to replace that one, give its name", base, name))
		case derived:
			out.Notes = append(out.Notes, Notef("the name %q was made from the first line of the content", name))
		}
		if !found {
			notes, err := twins(ctx, m, now)
			if err != nil {
				return RememberOut{}, err
			}
			out.Notes = append(out.Notes, notes...)
		}
		return out, nil
	}
}

// twins says which other entries have the new entry's name as an alias.
func twins(ctx context.Context, m *oxbow.Memory, e oxbow.Entry) ([]Note, error) {
	var notes []Note
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: []string{e.Name}}}}
	for o, err := range m.Entries(ctx, f) {
		if err != nil {
			return nil, err
		}
		if o.ID != e.ID {
			notes = append(notes, Notef("%q is an alias of the entry %q too; from now on it means the new entry", e.Name, o.Name))
		}
	}
	return notes, nil
}

// checkClear refuses what would be given and cleared at once.
func (in RememberIn) checkClear() error {
	given := map[string]bool{"project": in.Project != "", "tags": in.Tags != nil, "related_files": in.RelatedFiles != nil,
		"confidence": in.Confidence != nil, "aliases": in.Aliases != nil}
	for _, c := range in.Clear {
		if given[c] {
			return bad("clear", c, "is given too; either set it or clear it")
		}
	}
	return nil
}

func (in RememberIn) add(name string, blobs func([]oxbow.Label) []oxbow.Label) (oxbow.Op, error) {
	if in.IfVersion != nil {
		return nil, &oxbow.ConflictError{Name: name, Want: *in.IfVersion}
	}
	kind := oxbow.Note
	if in.Kind != "" {
		k, err := oxbow.ParseKind(in.Kind)
		if err != nil {
			return nil, err
		}
		kind = k
	}
	labels, err := in.labels(nil)
	if err != nil {
		return nil, err
	}
	return oxbow.Add{Name: name, Kind: kind, Content: in.Content, Aliases: in.Aliases, Labels: blobs(labels)}, nil
}

// update returns the change of an entry, or nil when there is nothing to
// change. The change holds for the version that was looked at, so that what
// another writer adds meanwhile is not lost.
func (in RememberIn) update(old oxbow.Entry, blobs func([]oxbow.Label) []oxbow.Label) (oxbow.Op, error) {
	if in.Kind != "" && in.Kind != old.Kind.String() {
		return nil, bad("kind", in.Kind, fmt.Sprintf("cannot be given to the entry %q, which is of kind %s; leave kind out, choose another name, or forget it first", old.Name, old.Kind))
	}
	u := oxbow.Update{Name: old.Name, Content: in.Content, Aliases: old.Aliases, If: old.Version}
	if in.IfVersion != nil {
		u.If = *in.IfVersion
	}
	if in.Aliases != nil || slices.Contains(in.Clear, "aliases") {
		u.Aliases = in.Aliases
	}
	var err error
	if u.Labels, err = in.labels(old.Labels); err != nil {
		return nil, err
	}
	u.Labels = blobs(u.Labels)
	if u.If == old.Version && u.Content == old.Content && slices.Equal(u.Aliases, old.Aliases) && slices.Equal(u.Labels, old.Labels) {
		return nil, nil
	}
	return u, nil
}

// labels returns old with the keys replaced that are given or cleared.
func (in RememberIn) labels(old []oxbow.Label) ([]oxbow.Label, error) {
	added := labelsOf(in.Project, in.Tags, in.RelatedFiles)
	if in.Confidence != nil {
		if c := *in.Confidence; !(c >= 0 && c <= 1) {
			return nil, bad("confidence", strconv.FormatFloat(c, 'g', -1, 64), "is not a number from 0 to 1")
		}
		added = append(added, oxbow.Confidence(*in.Confidence))
	}
	gone := map[string]bool{}
	for _, l := range added {
		gone[l.Key] = true
	}
	for _, c := range in.Clear {
		gone[map[string]string{"project": oxbow.LabelProject, "tags": oxbow.LabelTag,
			"related_files": oxbow.LabelFile, "confidence": oxbow.LabelConfidence}[c]] = true
	}
	for _, l := range old {
		if !gone[l.Key] {
			added = append(added, l)
		}
	}
	return oxbow.SortLabels(added), nil
}

// Forget removes an entry.
func Forget(ctx context.Context, d *Workspace, in ForgetIn) (ForgetOut, error) {
	if err := oxbow.CheckName(in.Name); err != nil {
		return ForgetOut{}, err
	}
	if err := checkIfVersion(in.IfVersion); err != nil {
		return ForgetOut{}, err
	}
	ctx, err := withOpID(ctx, in.OpID)
	if err != nil {
		return ForgetOut{}, err
	}
	ctx, m, err := d.Memory(ctx, Write)
	if err != nil {
		return ForgetOut{}, err
	}
	e, err := m.Get(ctx, in.Name)
	if errors.Is(err, oxbow.ErrNotFound) && in.OpID != "" && !in.DryRun {
		// A repeat of a call that was carried out finds nothing, and is right.
		// Whether it is one, only the store can say: one that is busy has said
		// nothing.
		switch again := m.Apply(ctx, oxbow.Remove{Name: in.Name}); {
		case again == nil:
			return ForgetOut{Forgotten: true, Entry: Entry{Name: in.Name, Labels: map[string][]string{}},
				Notes: []Note{Notef("%s %q was used before: the entry was forgotten then", ParamRef("op_id"), in.OpID)}}, nil
		case !errors.Is(again, oxbow.ErrNotFound):
			return ForgetOut{}, again
		}
	}
	if err != nil {
		return ForgetOut{}, missing(ctx, m, in.Name, err)
	}
	out := ForgetOut{Entry: entryOf(e)}
	out.Entry.Snippet = snippet(e.Content, nil, snippetWidth)
	if e.Name != in.Name {
		out.Notes = append(out.Notes, Notef("%q is an alias of %q", in.Name, e.Name))
	}
	op := oxbow.Remove{Name: e.Name}
	if in.IfVersion != nil {
		op.If = *in.IfVersion
	}
	if in.DryRun {
		if op.If != 0 && op.If != e.Version {
			return ForgetOut{}, &oxbow.ConflictError{Name: e.Name, Want: op.If, Have: e.Version}
		}
		out.Notes = append(out.Notes, Notef("dry run: nothing was forgotten; call again without %s to forget it", ParamRef("dry_run")))
		return out, nil
	}
	if err := m.Apply(ctx, op); err != nil {
		return ForgetOut{}, missing(ctx, m, e.Name, err)
	}
	out.Forgotten = true
	for v, err := range m.Versions(ctx, e.Name) {
		if errors.Is(err, oxbow.ErrUnsupported) {
			out.Notes = append(out.Notes, Plain("this store keeps no history: the entry cannot be brought back"))
		}
		if err == nil && v.Verb == oxbow.VerbRemove {
			out.Seq = v.Seq
			out.Notes = append(out.Notes, Notef("%s", undoHint(v.Seq, "brings it back", "bring it back")))
		}
		break
	}
	return out, nil
}

// Restore brings a version of an entry back.
func Restore(ctx context.Context, d *Workspace, in RestoreIn) (RestoreOut, error) {
	if err := oxbow.CheckName(in.Name); err != nil {
		return RestoreOut{}, err
	}
	if in.Seq == 0 {
		return RestoreOut{}, bad("seq", "0", "is no change; history with this name lists them")
	}
	ctx, m, err := d.Memory(ctx, Write)
	if err != nil {
		return RestoreOut{}, err
	}
	seq, err := m.Restore(ctx, in.Name, in.Seq)
	if err != nil {
		if errors.Is(err, oxbow.ErrNotFound) {
			return RestoreOut{}, missing(ctx, m, in.Name, fmt.Errorf("restoring %q as of change %d: %w", in.Name, in.Seq, err))
		}
		return RestoreOut{}, err
	}
	e, err := m.Get(ctx, in.Name)
	if err != nil {
		return RestoreOut{}, err
	}
	out := RestoreOut{Seq: seq, From: in.Seq, Entry: entryOf(e)}
	out.Entry.Snippet = snippet(e.Content, nil, snippetWidth)
	out.Notes = []Note{Notef("%s", undoHint(seq, "takes this back", "take this back"))}
	return out, nil
}
