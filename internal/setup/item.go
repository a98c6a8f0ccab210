// What setup owns in a client's file: an entry for the server, hooks, approvals.

package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// item is one thing in a file of JSON. put makes it so; take takes out what is
// oxbow's, and leaves or puts back what base, the file without oxbow, has there.
type item struct {
	put, take func(d, base *document) error
}

// serverItem is the entry that starts the server. Members that others added stay,
// and so do arguments that serve the same home.
func serverItem(path []string, want fields) item {
	path = append(slices.Clone(path), program)
	return item{
		put: func(d, _ *document) error {
			v := d.at(path...)
			if v == nil {
				return d.set(want, path...)
			}
			var is Server
			if err := json.Unmarshal(plain(v), &is); err != nil || !is.Oxbow() {
				return errOther(strings.Join(path, "."))
			}
			for _, f := range merged(is, want) {
				if err := d.set(f.value, append(slices.Clone(path), f.name)...); err != nil {
					return err
				}
			}
			return nil
		},
		take: func(d, base *document) error {
			var is Server
			switch was := base.at(path...); {
			case !d.decode(&is, path...) || !is.Oxbow():
				return nil
			case was != nil:
				return d.set(plain(was), path...)
			case !filepath.IsAbs(is.Argv()[0]):
				return nil // a person's: setup writes paths from the root
			}
			if err := d.remove(path...); err != nil {
				return err
			}
			return d.prune(base, path[:len(path)-1]...)
		},
	}
}

func errOther(path string) error {
	return fmt.Errorf("%s is another server: give that another name", path)
}

// merged returns the fields that an entry must have, with the arguments that it has
// when they serve the same home.
func merged(is Server, want fields) fields {
	var wanted Server
	if err := json.Unmarshal(encode(want), &wanted); err != nil {
		panic(err)
	}
	if is.Home() != wanted.Home() {
		return want
	}
	want = slices.Clone(want)
	for i, f := range want {
		switch {
		case f.name == "args":
			want[i].value = is.Args
		case f.name == "command" && len(wanted.Args) == 0: // the arguments, too
			want[i].value = append([]string{wanted.Argv()[0]}, is.Argv()[1:]...)
		}
	}
	return want
}

// hook is what a client runs on an event.
type hook struct {
	event, matcher string
	handler        fields
}

// hooksItem is the hooks of a client: lists by the name of the event. With groups
// the handlers stand in groups, each with its matcher.
func hooksItem(client string, groups bool, want []hook) item {
	owned := isHookOf(client)
	take := func(d, base *document, keep map[string]hook) error {
		root := d.at("hooks")
		if root == nil {
			return nil
		}
		var events map[string]json.RawMessage
		if json.Unmarshal(plain(root), &events) != nil {
			return errors.New("hooks is no object")
		}
		for event := range events {
			all := handlers(d, event, groups, owned)
			if h, ok := keep[event]; ok && len(all) > 0 {
				delete(keep, event)
				if err := all[0].rewrite(d, h, groups); err != nil {
					return err
				}
				all = all[1:]
			}
			for _, at := range all {
				if err := at.cut(d, base, groups); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return item{
		put: func(d, base *document) error {
			missing := map[string]hook{}
			for _, h := range want {
				missing[h.event] = h
			}
			if err := take(d, base, missing); err != nil {
				return err
			}
			for _, h := range want {
				if _, ok := missing[h.event]; !ok {
					continue
				}
				if err := appendTo(d, h.entry(groups), "hooks", h.event); err != nil {
					return err
				}
			}
			return nil
		},
		take: func(d, base *document) error { return take(d, base, nil) },
	}
}

func (h hook) entry(groups bool) fields {
	if !groups {
		return h.handler
	}
	group := fields{{"hooks", []fields{h.handler}}}
	if h.matcher != "" {
		group = append(fields{{"matcher", h.matcher}}, group...)
	}
	return group
}

// handlerAt is where a handler stands: its event, the index of its group, and its
// own in it.
type handlerAt struct {
	event    string
	group, i int
	alone    bool // in its group
}

// handlers returns where the handlers of an event stand that are owned, the last
// one first, so that taking one out leaves the places of the others.
func handlers(d *document, event string, groups bool, owned func(json.RawMessage) bool) (all []handlerAt) {
	var list []json.RawMessage
	d.decode(&list, "hooks", event)
	for g := len(list) - 1; g >= 0; g-- {
		if !groups {
			if owned(list[g]) {
				all = append(all, handlerAt{event: event, i: g})
			}
			continue
		}
		var group struct{ Hooks []json.RawMessage }
		if json.Unmarshal(list[g], &group) != nil {
			continue
		}
		for i := len(group.Hooks) - 1; i >= 0; i-- {
			if owned(group.Hooks[i]) {
				all = append(all, handlerAt{event, g, i, len(group.Hooks) == 1})
			}
		}
	}
	return all
}

// cut takes out the handler, and the group and the list that it leaves empty.
func (at handlerAt) cut(d, base *document, groups bool) error {
	list, i := d.at("hooks", at.event), at.i
	if groups {
		hooks, _ := member(element(list, at.group), "hooks")
		if c, _ := contents(hooks); len(c.parts) == 1 {
			i = at.group
		} else {
			list = hooks
		}
	}
	if err := d.cut(list, i); err != nil {
		return err
	}
	return d.prune(base, "hooks", at.event)
}

// rewrite makes the handler what is wanted, and its group, when it is alone there.
func (at handlerAt) rewrite(d *document, h hook, groups bool) error {
	v := element(d.at("hooks", at.event), cond(groups, at.group, at.i))
	switch {
	case !groups:
		return d.replace(v, h.handler)
	case at.alone:
		return d.replace(v, h.entry(true))
	}
	hooks, _ := member(v, "hooks")
	return d.replace(element(hooks, at.i), h.handler)
}

// appendTo puts an element at the end of the list of a path, and makes the list.
func appendTo(d *document, value any, path ...string) error {
	if v := d.at(path...); v != nil {
		return inPath(path, d.add(v, "", value))
	}
	return d.set([]any{value}, path...)
}

// stringsItem is words in a list, those that begin with a prefix being oxbow's.
func stringsItem(prefix string, want []string, path ...string) item {
	take := func(d, base *document, keep []string) error {
		var list, was []string
		base.decode(&was, path...)
		if !d.decode(&list, path...) {
			return nil
		}
		for i := len(list) - 1; i >= 0; i-- {
			if strings.HasPrefix(list[i], prefix) && !slices.Contains(keep, list[i]) && !slices.Contains(was, list[i]) {
				if err := d.cut(d.at(path...), i); err != nil {
					return err
				}
				if err := d.prune(base, path...); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return item{
		put: func(d, base *document) error {
			if err := take(d, base, want); err != nil {
				return err
			}
			var list []string
			d.decode(&list, path...)
			for _, w := range want {
				if slices.Contains(list, w) {
					continue
				}
				if err := appendTo(d, w, path...); err != nil {
					return err
				}
			}
			return nil
		},
		take: func(d, base *document) error { return take(d, base, nil) },
	}
}

// valueItem is a value that a person asked for. It is taken out only when it was
// put by oxbow, as its record says, and is as it was put.
func valueItem(value any, path ...string) *item {
	return &item{
		put: func(d, _ *document) error { return d.set(value, path...) },
		take: func(d, base *document) error {
			v := d.at(path...)
			if v == nil || !sameJSON(plain(v), encode(value)) {
				return nil
			}
			if was := base.find(path...); was != nil {
				return d.set(plain(was), path...)
			}
			if err := d.remove(path...); err != nil {
				return err
			}
			return d.prune(base, path[:len(path)-1]...)
		},
	}
}

// isHookOf reports of a handler whether it is oxbow's for a client.
func isHookOf(client string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var h Server
		return json.Unmarshal(raw, &h) == nil && h.hooks(client)
	}
}
