// Verbs that change one entry: remember, forget, restore.

package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/lineage"
)

// Remember keeps an entry, or updates the one of that name.
func Remember(ctx context.Context, w *Workspace, in RememberIn) (RememberOut, error) {
	if err := in.check(); err != nil {
		return RememberOut{}, err
	}
	ctx = withOrigins(w.Stamped(ctx), in.From)
	secrets := w.Secrets.remember(ctx, &in)
	call := in
	call.IfVersion = nil // a repeat may give the version that the first has made
	ctx, err := withOpID(ctx, in.OpID, "remember", call)
	if err != nil {
		return RememberOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Create)
	if err != nil {
		return RememberOut{}, err
	}
	e := &edit{in: in, name: in.Name, seen: guard(ctx, m), blobs: func(ls []oxbow.Label) []oxbow.Label { return w.stampHashes(ctx, ls) }}
	if e.name == "" {
		e.base = text.NameOf(in.Content)
		e.name = e.base
	}
	var now oxbow.Entry
	if err := e.seen.Write(func() (oxbow.Entry, error) {
		if err := e.keep(ctx, m); err != nil {
			return oxbow.Entry{}, err
		}
		now, err = m.Store().Get(ctx, e.name)
		return e.seen.wrote(now, in.Content), nil
	}); err != nil {
		return RememberOut{}, err
	}
	if errors.Is(err, oxbow.ErrNotFound) && in.OpID != "" {
		return RememberOut{}, w.Missing(ctx, m, e.name, fmt.Errorf("op_id %q was used before, and what it remembered was forgotten since: %w", in.OpID, err))
	}
	if err != nil {
		return RememberOut{}, err
	}
	out := RememberOut{Outcome: "added", Entry: outline(ctx, now)}
	switch {
	case e.found && now.Version == e.old.Version:
		out.Outcome = "unchanged"
		out.Notes = append(out.Notes, Plain("the memory says this already: nothing was changed"))
	case e.found:
		out.Outcome = "updated"
	}
	out.Notes = append(append(out.Notes, e.nameNotes()...), secrets...)
	if !e.found {
		notes, err := aliasNotes(ctx, m, now)
		if err != nil {
			return RememberOut{}, err
		}
		out.Notes = append(out.Notes, notes...)
	}
	return out, nil
}

// withOpID returns the stamped context of a call that carries the id, if there is one. Each
// token has ids of its own. Of a call of another verb, or that takes something else, the
// change is [oxbow.ErrOpIDUsed].
func withOpID(ctx context.Context, id, verb string, in any) (context.Context, error) {
	if id == "" {
		return ctx, nil
	}
	if len(id) > 64 {
		return ctx, InvalidValue("op_id", id, fmt.Sprintf("has %d bytes; the most is 64", len(id)))
	}
	src, _ := oxbow.SourceFrom(ctx)
	print, err := json.Marshal([]any{verb, in})
	return oxbow.WithOpID(ctx, oxbow.CallOpID(sourceOf(src).Token()+":"+id, string(print))), err
}

// RememberNew keeps a new entry. A name in use is an error that matches [oxbow.ErrExists].
func RememberNew(ctx context.Context, w *Workspace, in RememberIn) (RememberOut, error) {
	in.New = true
	return Remember(ctx, w, in)
}

// check refuses arguments that contradict each other, before anything is opened
// or read from the content, such as a name.
func (in RememberIn) check() error {
	if in.Content == "" && in.Name == "" || strings.TrimSpace(in.Content) == "" && !in.keepsContent() {
		return InvalidValue("content", "", "is empty; say what to remember")
	}
	if err := checkIfVersion(in.IfVersion); err != nil {
		return err
	}
	if in.IfVersion != nil && in.Name == "" {
		return InvalidValue("if_version", strconv.FormatUint(*in.IfVersion, 10), "needs the name of the entry that is at this version")
	}
	given := map[string]bool{"project": in.Project != "", "tags": in.Tags != nil, "related_files": in.RelatedFiles != nil,
		"confidence": in.Confidence != nil, "aliases": in.Aliases != nil}
	for _, c := range in.Clear {
		if given[c] {
			return InvalidValue("clear", c, "is given too; either set it or clear it")
		}
	}
	if in.keepsContent() {
		return nil
	}
	return oxbow.CheckContent(in.Content)
}

// keepsContent reports whether labels and aliases of an entry change alone.
func (in RememberIn) keepsContent() bool {
	return in.Content == "" && (in.Project != "" || in.Tags != nil || in.RelatedFiles != nil || in.Confidence != nil || in.Aliases != nil || len(in.Clear) > 0)
}

// edit is one call of remember: what it changes, and what it found.
type edit struct {
	in         RememberIn
	kind       oxbow.Kind
	name, base string // base is the name made from the content, "" where one was given
	tries      int    // names made from base that belong to other entries

	old   oxbow.Entry
	found bool

	seen  *Seen                             // what the session knows, nil where nothing can be lost
	blobs func([]oxbow.Label) []oxbow.Label // notes what cited files are like
	noted bool                              // it did
}

// errTaken ends the try of a name that belongs to another entry.
var errTaken = errors.New("the name is taken")

// keep is apply for a call that may be a repeat of one that made the entry, as the store
// says then.
func (e *edit) keep(ctx context.Context, m *oxbow.Memory) error {
	err := e.apply(ctx, m)
	if errors.Is(err, oxbow.ErrExists) && e.in.OpID != "" {
		switch again := m.Apply(ctx, e.add(nil)); {
		case again == nil:
			e.found = false
			return nil
		case errors.Is(again, oxbow.ErrOpIDUsed):
			return again
		}
	}
	return err
}

// apply adds or updates the entry, under the first of the names made from the
// content that is free or says the same.
func (e *edit) apply(ctx context.Context, m *oxbow.Memory) error {
	for {
		err := m.Edit(ctx, e.name, e.op)
		switch {
		case err == errTaken:
			e.tries++
			e.name = e.base + " (" + strconv.Itoa(e.tries+1) + ")"
		case e.noted && (errors.Is(err, oxbow.ErrUnsupported) || errors.Is(err, oxbow.ErrInvalid)):
			// Perhaps a layout that holds some labels only: once more without.
			e.blobs, e.noted = withoutHashes, false
		default:
			return err
		}
	}
}

// op returns the change of the entry as it is, or nil when there is nothing to
// change.
func (e *edit) op(old oxbow.Entry, found bool) (oxbow.Op, error) {
	e.old, e.found = old, found
	if found && e.base != "" && old.Content != e.in.Content {
		return nil, errTaken // the caller did not ask for that entry: leave it alone
	}
	ls, err := e.in.labels(old.Labels)
	if err != nil {
		return nil, err
	}
	if found && e.in.New && e.base == "" {
		return nil, &oxbow.NameError{Name: e.name, Err: oxbow.ErrExists}
	}
	if found {
		return e.update(ls)
	}
	if e.in.keepsContent() {
		return nil, Advise(fmt.Errorf("changing labels of %q: %w", e.name, oxbow.ErrNotFound), "there is no entry of that name: give its content, or another name")
	}
	if e.in.IfVersion != nil {
		return nil, &oxbow.ConflictError{Name: e.name, Want: *e.in.IfVersion}
	}
	if e.kind = oxbow.Note; e.in.Kind != "" {
		if e.kind, err = oxbow.ParseKind(e.in.Kind); err != nil {
			return nil, err
		}
	}
	return e.add(ls), nil
}

// add returns the change that makes the entry.
func (e *edit) add(ls []oxbow.Label) oxbow.Op {
	return oxbow.Add{Name: e.name, Kind: e.kind, Content: e.in.Content, Aliases: e.in.Aliases, Labels: e.withBlobs(ls), UniqueAliases: true}
}

// update returns the change of the old entry, or nil. It holds for the version
// that was looked at, so that what another writer adds meanwhile is not lost.
func (e *edit) update(ls []oxbow.Label) (oxbow.Op, error) {
	in, old := e.in, e.old
	if in.Content == "" {
		in.Content = old.Content
	}
	if in.Kind != "" && in.Kind != old.Kind.String() {
		return nil, InvalidValue("kind", in.Kind, fmt.Sprintf("cannot be given to the entry %q, which is of kind %s; leave kind out, choose another name, or forget it first", old.Name, old.Kind))
	}
	u := oxbow.Update{Name: old.Name, Content: in.Content, Aliases: old.Aliases, If: old.Version, UniqueAliases: true}
	if in.IfVersion != nil {
		u.If = *in.IfVersion
	}
	if in.Aliases != nil || slices.Contains(in.Clear, "aliases") {
		u.Aliases = in.Aliases
	}
	u.Labels = e.withBlobs(ls)
	if e.seen != nil && in.IfVersion == nil {
		want, err := e.seen.Merge(old, oxbow.Entry{Content: u.Content, Aliases: append([]string{}, u.Aliases...), Labels: append([]oxbow.Label{}, u.Labels...)})
		if err != nil {
			return nil, err
		}
		u.Content, u.Aliases, u.Labels = want.Content, want.Aliases, want.Labels
	}
	if u.If == old.Version && u.Content == old.Content && slices.Equal(u.Aliases, old.Aliases) && slices.Equal(u.Labels, old.Labels) {
		return nil, nil
	}
	return u, nil
}

func (e *edit) withBlobs(ls []oxbow.Label) []oxbow.Label {
	out := e.blobs(ls)
	e.noted = len(out) != len(withoutHashes(out))
	return out
}

// nameNotes says how the name was made, where none was given.
func (e *edit) nameNotes() []Note {
	switch {
	case e.base == "":
		return nil
	case e.tries > 0:
		return []Note{Notef("the name was made from the first line; as %q is another entry, this one is %q; to replace that one, give its name", e.base, e.name)}
	}
	return []Note{Notef("the name %q was made from the first line of the content", e.name)}
}

// aliasNotes says which other entries have the new entry's name as an alias.
func aliasNotes(ctx context.Context, m *oxbow.Memory, e oxbow.Entry) ([]Note, error) {
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

// labels returns old with the keys replaced that are given or cleared.
func (in RememberIn) labels(old []oxbow.Label) ([]oxbow.Label, error) {
	added := labelsOf(in.Project, in.Tags, in.RelatedFiles)
	for _, turn := range in.From {
		added = append(added, oxbow.Label{Key: lineage.Label, Value: turn})
	}
	if in.Confidence != nil {
		if c := *in.Confidence; !(c >= 0 && c <= 1) {
			return nil, InvalidValue("confidence", strconv.FormatFloat(c, 'g', -1, 64), "is not a number from 0 to 1")
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
func Forget(ctx context.Context, w *Workspace, in ForgetIn) (ForgetOut, error) {
	if err := checkIfVersion(in.IfVersion); err != nil {
		return ForgetOut{}, err
	}
	ctx, err := withOpID(w.Stamped(ctx), in.OpID, "forget", in.Name)
	if err != nil {
		return ForgetOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return ForgetOut{}, err
	}
	e, err := m.Get(ctx, in.Name)
	err = noSuchName(in.Name, err)
	if errors.Is(err, oxbow.ErrNotFound) && in.OpID != "" && !in.DryRun {
		// A repeat of a call that was carried out finds nothing, and is right.
		// Whether it is one, only the store can say: one that is busy has said
		// nothing.
		switch again := m.Apply(ctx, oxbow.Remove{Name: in.Name}); {
		case again == nil:
			return ForgetOut{Forgotten: true, Entry: Entry{Name: in.Name, Aliases: []string{}, Labels: map[string][]string{}},
				Notes: []Note{Notef("%s %q was used before: the entry was forgotten then", ParamRef("op_id"), in.OpID)}}, nil
		case !errors.Is(again, oxbow.ErrNotFound):
			return ForgetOut{}, again
		}
	}
	if err != nil {
		return ForgetOut{}, w.Missing(ctx, m, in.Name, err)
	}
	out := ForgetOut{Entry: outline(ctx, e)}
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
	if seen := guard(ctx, m); seen != nil && op.If == 0 {
		if err := seen.Gone(e); err != nil {
			return ForgetOut{}, err
		}
		op.If = e.Version
	}
	if err := m.Apply(ctx, op); err != nil {
		return ForgetOut{}, w.Missing(ctx, m, e.Name, err)
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
func Restore(ctx context.Context, w *Workspace, in RestoreIn) (RestoreOut, error) {
	if err := oxbow.CheckName(in.Name); err != nil {
		return RestoreOut{}, err
	}
	if in.Seq == 0 {
		return RestoreOut{}, InvalidValue("seq", "0", "is no change; history with this name lists them")
	}
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return RestoreOut{}, err
	}
	seq, err := m.Restore(ctx, in.Name, in.Seq)
	if err != nil {
		if errors.Is(err, oxbow.ErrNotFound) {
			err = fmt.Errorf("restoring %q as of change %d: %w", in.Name, in.Seq, err)
			if _, gerr := m.Get(ctx, in.Name); gerr != nil {
				err = w.Missing(ctx, m, in.Name, err)
			}
		}
		return RestoreOut{}, err
	}
	e, err := m.Get(ctx, in.Name)
	if err != nil {
		return RestoreOut{}, err
	}
	out := RestoreOut{Seq: seq, From: in.Seq, Entry: outline(ctx, e)}
	out.Notes = []Note{Notef("%s", undoHint(seq, "takes this back", "take this back"))}
	return out, nil
}
