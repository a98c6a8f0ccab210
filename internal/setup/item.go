// This file defines the parts that setup writes into a client's file: an entry for the
// server, hooks, and approvals.

package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// item is a part of a JSON file that belongs to oxbow. put writes the part. take removes it, and
// restores the part of base, which is the file without oxbow.
type item struct {
	put, take func(d, base *document) error
}

// serverItem returns the entry that starts the server. It keeps members that other people added,
// and arguments that name the same home.
func serverItem(own ownPrograms, path []string, want fields) item {
	path = append(slices.Clone(path), program)
	return item{
		put: func(d, _ *document) error {
			v := d.at(path...)
			if v == nil {
				return d.set(want, path...)
			}
			var is Server
			if err := json.Unmarshal(standardJSON(v), &is); err != nil || !own.startServer(is) {
				return errOther(strings.Join(path, "."))
			}
			for _, f := range mergeArgs(is, want) {
				if err := d.set(f.value, append(slices.Clone(path), f.name)...); err != nil {
					return err
				}
			}
			return nil
		},
		take: func(d, base *document) error {
			var is Server
			switch was := base.at(path...); {
			case !d.decode(&is, path...) || !own.startServer(is):
				return nil
			case was != nil:
				return d.set(standardJSON(was), path...)
			case !filepath.IsAbs(is.Argv()[0]):
				return nil // a person wrote this entry, because setup writes absolute paths
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

// mergeArgs returns the wanted fields of an entry. It keeps the arguments of an existing entry that
// serves the same home.
func mergeArgs(is Server, want fields) fields {
	var wanted Server
	if err := json.Unmarshal(encodeJSON(want), &wanted); err != nil {
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
		case f.name == "command" && len(wanted.Args) == 0: // the command contains the arguments
			want[i].value = append([]string{wanted.Argv()[0]}, is.Argv()[1:]...)
		}
	}
	return want
}

// hook is a handler that a client runs for an event.
type hook struct {
	event, matcher string
	handler        fields
}

// hooksItem returns the hooks of a client. For each event, the file has a list of groups of
// handlers, and each group has a matcher.
func hooksItem(own ownPrograms, client string, want []hook) item {
	owned := own.hookMatcher(client)
	take := func(d, base *document, keep map[string]hook) error {
		root := d.at("hooks")
		if root == nil {
			return nil
		}
		var events map[string]json.RawMessage
		if json.Unmarshal(standardJSON(root), &events) != nil {
			return errors.New("hooks is no object")
		}
		for event := range events {
			all := handlers(d, event, owned)
			if h, ok := keep[event]; ok && len(all) > 0 {
				delete(keep, event)
				if err := all[0].replace(d, h); err != nil {
					return err
				}
				all = all[1:]
			}
			for _, at := range all {
				if err := at.remove(d, base); err != nil {
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
				if err := appendTo(d, h.group(), "hooks", h.event); err != nil {
					return err
				}
			}
			return nil
		},
		take: func(d, base *document) error { return take(d, base, nil) },
	}
}

// group returns a group that contains only the handler of the hook.
func (h hook) group() fields {
	group := fields{{"hooks", []fields{h.handler}}}
	if h.matcher != "" {
		group = append(fields{{"matcher", h.matcher}}, group...)
	}
	return group
}

// handlerAt is the position of a handler: its event, the index of its group, and its index in the
// group.
type handlerAt struct {
	event    string
	group, i int
	isAlone  bool // the handler is the only one in its group
}

// handlers returns the positions of oxbow's handlers for an event. The last handler comes first, so
// that removing a handler does not change the positions of the rest.
func handlers(d *document, event string, owned func(json.RawMessage) bool) (all []handlerAt) {
	var list []json.RawMessage
	d.decode(&list, "hooks", event)
	for g := len(list) - 1; g >= 0; g-- {
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

// remove removes the handler. It also removes the handler's group and list if they become empty.
func (at handlerAt) remove(d, base *document) error {
	list, i := d.at("hooks", at.event), at.i
	hooks, _ := member(element(list, at.group), "hooks")
	if c, _ := contents(hooks); len(c.parts) == 1 {
		i = at.group
	} else {
		list = hooks
	}
	if err := d.removePart(list, i); err != nil {
		return err
	}
	return d.prune(base, "hooks", at.event)
}

// replace replaces the handler. If the handler is the only one in its group, replace replaces the
// whole group.
func (at handlerAt) replace(d *document, h hook) error {
	v := element(d.at("hooks", at.event), at.group)
	if at.isAlone {
		return d.replace(v, h.group())
	}
	hooks, _ := member(v, "hooks")
	return d.replace(element(hooks, at.i), h.handler)
}

// appendTo appends an element to the list at a path, and creates the list if necessary.
func appendTo(d *document, value any, path ...string) error {
	if v := d.at(path...); v != nil {
		return inPath(path, d.add(v, "", value))
	}
	return d.set([]any{value}, path...)
}

// stringsItem returns the words that a list must contain. All words with the prefix belong
// to oxbow.
func stringsItem(prefix string, want []string, path ...string) item {
	take := func(d, base *document, keep []string) error {
		var list, was []string
		base.decode(&was, path...)
		if !d.decode(&list, path...) {
			return nil
		}
		for i := len(list) - 1; i >= 0; i-- {
			if strings.HasPrefix(list[i], prefix) && !slices.Contains(keep, list[i]) && !slices.Contains(was, list[i]) {
				if err := d.removePart(d.at(path...), i); err != nil {
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

// valueItem returns a value that a person asked for. It is removed only if the record shows that
// setup wrote it, and if it has not changed since then.
func valueItem(value any, path ...string) *item {
	return &item{
		put: func(d, _ *document) error { return d.set(value, path...) },
		take: func(d, base *document) error {
			v := d.at(path...)
			if v == nil || !sameJSON(standardJSON(v), encodeJSON(value)) {
				return nil
			}
			if was := base.find(path...); was != nil {
				return d.set(standardJSON(was), path...)
			}
			if err := d.remove(path...); err != nil {
				return err
			}
			return d.prune(base, path[:len(path)-1]...)
		},
	}
}

// hookMatcher returns a function that reports whether a handler is oxbow's hook for a client.
func (own ownPrograms) hookMatcher(client string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var h Server
		return json.Unmarshal(raw, &h) == nil && own.runHook(h, client)
	}
}
