// Changes by an agent's tools: what others wrote since the session saw it stays.

package layout

import (
	"context"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// Seen returns what the session of the context was shown of the home. Calls
// outside of any session are one.
func (b *Base) Seen(ctx context.Context) *verb.Seen { return verb.SeenFrom(ctx, b.own) }

// Put adds an entry, or updates the one of its name. What others changed since the
// session saw the entry is merged, or the error matches [oxbow.ErrConflict] and
// shows it; see [verb.Seen]. Check, when it is not nil, refuses to update an entry.
func (b *Base) Put(ctx context.Context, m *oxbow.Memory, e oxbow.Entry, check func(old oxbow.Entry) error) error {
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
		now, err := b.Seen(ctx).Merge(old, e)
		is.Content, is.Aliases = now.Content, now.Aliases
		return oxbow.Update{Name: e.Name, Content: now.Content, Aliases: now.Aliases, Labels: now.Labels, If: old.Version}, err
	}
	return b.Seen(ctx).Write(func() (oxbow.Entry, error) {
		err := m.Edit(ctx, e.Name, edit)
		if err == nil {
			b.Seen(ctx).RecordWrite(was, is)
		}
		return e, err
	})
}

// Delete removes the entry of that name, unless others changed it since the session
// saw it. Check is that of [Base.Put]; errors match [oxbow.ErrNotFound], too.
func (b *Base) Delete(ctx context.Context, m *oxbow.Memory, name string, check func(old oxbow.Entry) error) error {
	return m.Edit(ctx, name, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		if !found {
			return nil, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
		}
		if check != nil {
			if err := check(old); err != nil {
				return nil, err
			}
		}
		return oxbow.Remove{Name: name, If: old.Version}, b.Seen(ctx).Gone(old)
	})
}

// Documents implements [Home].
func (b *Base) Documents() []string { return b.Docs }

// Document implements [Home]. The session was shown the document then.
func (b *Base) Document(ctx context.Context, path string) (string, bool, error) {
	text, ok, err := b.Tree.Document(ctx, path)
	if err == nil && ok {
		b.Seen(ctx).Show(verb.Document(path, text))
	}
	return text, ok, err
}

// DocumentOptions say how [Base.SetDocument] writes. Nil functions are not called.
type DocumentOptions struct {
	// Hide returns the part of the text that the caller may see, and the rest, which is
	// kept from the caller and stays at the head.
	Hide func(text string) (shown, rest string)
	// Keep returns what is changed in the same step.
	Keep func(was, is string, now time.Time) ([]mdtree.Edit, error)
	// End returns the text with the end that the layout wants.
	End func(text string) string
}

// SetDocument replaces a document as [Base.Put] does an entry.
func (b *Base) SetDocument(ctx context.Context, path, text string, o DocumentOptions) error {
	if o.Hide == nil {
		o.Hide = func(text string) (shown, rest string) { return text, "" }
	}
	if o.End == nil {
		o.End = func(text string) string { return text }
	}
	var before, after oxbow.Entry
	hasRest := false
	edit := func(v mdtree.View, now time.Time) ([]mdtree.Edit, error) {
		was, _ := v.File(path)
		shown, rest := o.Hide(was)
		before, hasRest = verb.Document(path, shown), rest != ""
		want := verb.Document(path, text)
		if shown == o.End(shown) {
			want.Content = o.End(text) // another end is no difference to merge
		}
		e, err := b.Seen(ctx).Merge(before, want)
		if err != nil {
			return nil, err
		}
		after = verb.Document(path, o.End(e.Content))
		is := rest + after.Content
		edits := []mdtree.Edit{{Path: path, Text: is}}
		if o.Keep == nil {
			return edits, nil
		}
		more, err := o.Keep(was, is, now)
		return append(edits, more...), err
	}
	return b.Seen(ctx).Write(func() (oxbow.Entry, error) {
		err := b.Tree.Edit(ctx, edit)
		if err == nil && !hasRest {
			b.Seen(ctx).RecordWrite(before, after)
		}
		return verb.Document(path, o.End(text)), err
	})
}
