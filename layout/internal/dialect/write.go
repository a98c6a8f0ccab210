// This file changes entries and documents for an agent's tools without losing the changes that
// others made since the session read them.

package dialect

import (
	"context"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// SeenEntries returns the record of the texts that ctx's session has seen in the home. All calls outside of sessions
// share one record.
func (b *HomeBase) SeenEntries(ctx context.Context) *verb.SeenEntries {
	return verb.ContextSeenEntries(ctx, b.entriesSeenOutsideSessions)
}

// PutEntry adds the entry e, or updates the entry with the same name. If others have changed that entry since the
// session read it, their changes are merged with e. If merging is impossible, the error matches [oxbow.ErrConflict] and
// contains the present entry, so that the agent can read it (see [verb.SeenEntries]).
//
// The function check is called with the old entry before an update. If check returns an error, the entry is not
// updated. check may be nil.
func (b *HomeBase) PutEntry(
	ctx context.Context,
	m *oxbow.Memory,
	e oxbow.Entry,
	check func(old oxbow.Entry) error,
) error {
	var was, is oxbow.Entry
	edit := func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		was, is = old, e
		if !found {
			was = oxbow.Entry{}
			return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}, nil
		}
		if check != nil {
			if err := check(old); err != nil {
				return nil, err
			}
		}
		now, err := b.SeenEntries(ctx).MergeUnseenChanges(old, e)
		is.Content, is.Aliases = now.Content, now.Aliases
		return oxbow.Update{Name: e.Name, Content: now.Content, Aliases: now.Aliases, Labels: now.Labels,
			If: old.Version}, err
	}
	return b.SeenEntries(ctx).RunWrite(func() (oxbow.Entry, error) {
		err := m.Edit(ctx, e.Name, edit)
		if err == nil {
			b.SeenEntries(ctx).RecordWrite(was, is)
		}
		return e, err
	})
}

// DeleteEntry removes the entry with this name from the memory m. It returns an error if somebody else has changed the
// entry since ctx's session read it. If the entry does not exist, the error matches [oxbow.ErrNotFound].
//
// The function check is called with the entry before the removal. If check returns an error, DeleteEntry returns this
// error, and the entry is not removed. check may be nil.
func (b *HomeBase) DeleteEntry(
	ctx context.Context,
	m *oxbow.Memory,
	name string,
	check func(old oxbow.Entry) error,
) error {
	return m.Edit(ctx, name, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		if !found {
			return nil, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
		}
		if check != nil {
			if err := check(old); err != nil {
				return nil, err
			}
		}
		return oxbow.Remove{Name: name, If: old.Version}, b.SeenEntries(ctx).CheckRemoval(old)
	})
}

// Documents implements [layout.Home].
func (b *HomeBase) Documents() []string { return b.DocumentPaths }

// Document implements [layout.Home]. It records that the session has read the document.
func (b *HomeBase) Document(ctx context.Context, path string) (string, bool, error) {
	text, ok, err := b.Tree.Document(ctx, path)
	if err == nil && ok {
		b.SeenEntries(ctx).RecordShownEntries(verb.DocumentEntry(path, text))
	}
	return text, ok, err
}

// DocumentOptions configure [HomeBase.SetDocument], which replaces the text of a file that contains no entries. All
// functions are optional.
type DocumentOptions struct {
	// SplitHiddenText splits the text of the document into a part that the caller may read and a rest that the caller
	// may not read. SetDocument keeps the rest: it puts the rest before the new text.
	SplitHiddenText func(text string) (shown, rest string)
	// CompanionEdits returns edits of other files that must be changed together with the document, for example a
	// backup. Its first parameter is the document's whole text before the change, and its second parameter is the
	// whole text after the change.
	CompanionEdits func(was, is string, now time.Time) ([]mdtree.Edit, error)
	// AddEnding returns the document's text with the ending that the layout requires, such as a final line break.
	AddEnding func(text string) string
}

// SetDocument replaces the text of a document. Like [HomeBase.PutEntry], it merges changes that others made in the
// meantime, and fails if merging is impossible.
func (b *HomeBase) SetDocument(ctx context.Context, path, text string, o DocumentOptions) error {
	if o.SplitHiddenText == nil {
		o.SplitHiddenText = func(text string) (shown, rest string) { return text, "" }
	}
	if o.AddEnding == nil {
		o.AddEnding = func(text string) string { return text }
	}
	var before, after oxbow.Entry
	hasRest := false
	edit := func(v mdtree.TreeView, now time.Time) ([]mdtree.Edit, error) {
		was, _ := v.FileText(path)
		shown, rest := o.SplitHiddenText(was)
		before, hasRest = verb.DocumentEntry(path, shown), rest != ""
		want := verb.DocumentEntry(path, text)
		if shown == o.AddEnding(shown) {
			want.Content = o.AddEnding(
				text,
				// If the old text has the ending, add the ending to the new text. Otherwise merging would treat the
				// missing ending as a change.
			)
		}
		e, err := b.SeenEntries(ctx).MergeUnseenChanges(before, want)
		if err != nil {
			return nil, err
		}
		after = verb.DocumentEntry(path, o.AddEnding(e.Content))
		is := rest + after.Content
		edits := []mdtree.Edit{{Path: path, Text: is}}
		if o.CompanionEdits == nil {
			return edits, nil
		}
		more, err := o.CompanionEdits(was, is, now)
		return append(edits, more...), err
	}
	return b.SeenEntries(ctx).RunWrite(func() (oxbow.Entry, error) {
		err := b.Tree.Edit(ctx, edit)
		if err == nil && !hasRest {
			b.SeenEntries(ctx).RecordWrite(before, after)
		}
		return verb.DocumentEntry(path, o.AddEnding(text)), err
	})
}
