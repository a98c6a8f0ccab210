// Plan, apply and remove: what changes in a client's files, and the records by
// which it is taken back.

// Package setup makes agents' clients use oxbow: it edits their configuration
// files so that the edits can be taken back to the byte. It owns what it writes,
// and nothing else there.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// Change is what becomes of one file.
type Change struct {
	Path   string
	Before []byte // nil where there is no file
	After  []byte // nil where there will be none

	real   string // the path without links
	base   []byte // without oxbow; nil where there was no file
	off    bool   // switched the client's own memory off
	remove bool
	mode   fs.FileMode
	w      World

	choices *choices
}

// Same reports whether nothing changes.
func (c *Change) Same() bool {
	return (c.Before == nil) == (c.After == nil) && bytes.Equal(c.Before, c.After)
}

// Notes are what a person should know or do.
func (c *Client) Notes(w World, o Options) []string {
	if c.notes == nil {
		return nil
	}
	return c.notes(w, o)
}

// errScope says that a client has no files of a project.
var errScope = errors.New("it has no file of a project for servers")

// Plan returns what setting a client up changes, or with remove what taking oxbow
// out of it does. It writes nothing.
func (c *Client) Plan(w World, o Options, remove bool) ([]*Change, error) {
	files := c.files(w, o)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", c.Title, errScope)
	}
	var all []*Change
	for _, f := range files {
		ch, err := f.plan(w, o, remove)
		if err != nil {
			return nil, err
		}
		all = append(all, ch)
	}
	if c.Name == "codex" {
		return all, trustHooks(w, o, all)
	}
	return all, nil
}

// plan returns what becomes of the file.
func (f *file) plan(w World, o Options, remove bool) (*Change, error) {
	real, err := follow(f.path)
	if err != nil {
		return nil, err
	}
	c := &Change{Path: f.path, real: real, remove: remove, mode: 0o600, w: w, off: o.Off, choices: choicesOf(o)}
	if o.Project {
		c.mode = 0o644
	}
	if fi, err := os.Stat(real); err == nil {
		c.mode = fi.Mode().Perm()
	}
	c.Before, err = readFile(real)
	if err != nil {
		return nil, err
	}
	r, err := w.record(real)
	if err != nil {
		return nil, err
	}
	c.base, err = f.without(c.Before, r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	c.After = c.base
	if !remove {
		c.off = c.off || (r != nil && r.Off)
		c.After, err = f.edit(c.Before, c.base, true, o.Off)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	if c.Before == nil && len(c.After) == 0 {
		c.After = nil
	}
	if c.Before == nil || c.Same() {
		return c, nil
	}
	return c, writable(real)
}

// writable returns an error for a file that its owner made read-only, which a
// rename would replace all the same.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// without returns the file as it is without oxbow; nil for none.
func (f *file) without(text []byte, r *record) ([]byte, error) {
	switch {
	case text == nil:
		return nil, nil
	case r != nil && r.Sum == sum(text):
		return r.original()
	case f.own:
		if r != nil || bytes.Contains(text, []byte("oxbow")) {
			return nil, nil
		}
		return text, nil
	}
	var base []byte
	existed := true
	if r != nil {
		var err error
		base, err = r.original()
		if err != nil {
			return nil, err
		}
		existed = base != nil
	}
	out, err := f.edit(text, base, false, r != nil && r.Off)
	if err == nil && !existed && isEmpty(out) {
		return nil, nil
	}
	return out, err
}

// isEmpty reports whether a configuration says nothing.
func isEmpty(text []byte) bool {
	_, text = splitBOM(text)
	packed := string(bytes.Join(bytes.Fields(text), nil))
	return packed == "" || packed == "{}"
}

// edit puts what is oxbow's into a text, or takes it out; with memory also what
// switches the client's own memory off.
func (f *file) edit(text, base []byte, put, memory bool) ([]byte, error) {
	if f.own {
		if f.whole == "" {
			return nil, nil
		}
		return []byte(f.whole), nil
	}
	bom, text := splitBOM(text)
	_, base = splitBOM(base)
	if f.toml != nil {
		t, err := parseTOML(text)
		if err != nil {
			return nil, err
		}
		was, err := parseTOML(base)
		if err == nil {
			err = f.toml(t, was, put)
		}
		return joinBOM(bom, t.text), err
	}
	d, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	was, err := parseJSON(base)
	if err != nil {
		return nil, err
	}
	for _, i := range f.off {
		if err := i.take(d, was); err != nil {
			return nil, err
		}
	}
	items := f.items
	if memory && f.memory != nil {
		items = append(items, *f.memory)
	}
	for _, i := range items {
		act := i.put
		if !put {
			act = i.take
		}
		if err := act(d, was); err != nil {
			return nil, err
		}
	}
	return joinBOM(bom, d.bytes()), nil
}

// errChanged says that a client wrote the file meanwhile.
var errChanged = errors.New("it was changed meanwhile")

// Apply writes the file, and what takes it back.
func (c *Change) Apply() error {
	sweep(c.real)
	if c.Same() {
		if c.remove {
			return c.w.forget(c.real)
		}
		return c.w.keepChoices(c.real, c.choices)
	}
	if !c.remove {
		if err := c.w.keep(c.real, c.After, c.base, c.off, c.choices); err != nil {
			return err
		}
	}
	sure := func() error {
		now, err := readFile(c.real)
		if err == nil && ((now == nil) != (c.Before == nil) || !bytes.Equal(now, c.Before)) {
			err = errChanged
		}
		return err
	}
	var err error
	if c.After == nil {
		err = sure()
		if err == nil {
			err = os.Remove(c.real)
		}
	} else {
		err = replaceFile(c.real, c.After, c.mode, sure)
	}
	if err == nil && c.remove {
		err = c.w.forget(c.real)
	}
	return err
}

// Changed reports whether a change was not written since the file is not what was
// planned for: plan again.
func Changed(err error) bool { return errors.Is(err, errChanged) }

// HasNoProject reports whether a client was not set up because it has no files of a project.
func HasNoProject(err error) bool { return errors.Is(err, errScope) }

// Paths returns the files of a client, without links.
func (c *Client) Paths(w World, o Options) (all []string) {
	for _, f := range c.files(w, o) {
		if real, err := follow(f.path); err == nil {
			all = append(all, real)
		}
	}
	return all
}

// Recorded reports whether setup changed files of a client that it has not taken
// back.
func (c *Client) Recorded(w World, o Options) bool {
	return slices.ContainsFunc(c.files(w, o), func(f file) bool {
		real, err := follow(f.path)
		r, rerr := w.record(real)
		return err == nil && (r != nil || rerr != nil)
	})
}

// trustHooks edits the trust entries in Codex' configuration, the second of the
// changes, for the hooks of the first: those of hooks that are gone or changed are
// taken out, and with o.Trust those that are there are put in.
func trustHooks(w World, o Options, all []*Change) error {
	hooks, config := all[0], all[1]
	_, text := splitBOM(config.After)
	if config.After == nil && !o.Trust {
		return nil
	}
	t, err := parseTOML(text)
	if err != nil {
		return err
	}
	now := trusts(hooks.real, hooks.After)
	for key, hash := range trusts(hooks.real, hooks.Before) {
		if now[key] != hash && t.at("hooks", "state", key) != nil {
			if err := t.remove("hooks", "state", key); err != nil {
				return err
			}
		}
	}
	if o.Trust && !config.remove {
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if err := t.set(fields{{"trusted_hash", now[key]}}, "hooks", "state", key); err != nil {
				return err
			}
		}
	}
	if bom, _ := splitBOM(config.After); config.After != nil || len(t.text) > 0 {
		config.After = joinBOM(bom, t.text)
	}
	return nil
}
