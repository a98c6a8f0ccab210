// This file defines the parts that setup writes into a client's JSON file: the server's entry, hooks, and lists of
// allowed tools.

package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// jsonPart is a part of a JSON file that belongs to oxbow. The parameter d is the file to change. The parameter base is
// the same file without oxbow's parts. The function add writes the part. The function remove removes the part, and
// restores in its place what base contains.
type jsonPart struct {
	add, remove func(d, base *jsonDocument) error
}

// serverPart returns the part of a client's JSON file that starts oxbow as an MCP server. The part is the object with
// the program's name inside the object at path.
//
// The function add adds or updates the part. It keeps fields that other people added, and it keeps command arguments
// that name the same memory directory as serverFields. It returns an error if the present object starts a program other
// than oxbow. The function remove deletes the part. If the file had an object of oxbow before setup changed the file,
// remove restores that object. It does not delete an object that a person wrote.
func serverPart(knownPrograms oxbowPrograms, path []string, serverFields fields) jsonPart {
	path = append(slices.Clone(path), programName)
	return jsonPart{
		add: func(d, _ *jsonDocument) error {
			v := d.valueAt(path...)
			if v == nil {
				return d.setValue(serverFields, path...)
			}
			var current Server
			if err := json.Unmarshal(toStandardJSON(v), &current); err != nil || !knownPrograms.isServerEntry(current) {
				return foreignServerError(strings.Join(path, "."))
			}
			for _, f := range keepCurrentServerArgs(current, serverFields) {
				if err := d.setValue(f.value, append(slices.Clone(path), f.name)...); err != nil {
					return err
				}
			}
			return nil
		},
		remove: func(d, base *jsonDocument) error {
			var current Server
			switch original := base.valueAt(path...); {
			case !d.decodeAt(&current, path...) || !knownPrograms.isServerEntry(current):
				return nil
			case original != nil:
				return d.setValue(toStandardJSON(original), path...)
			case !filepath.IsAbs(current.Argv()[0]):
				return nil // A person wrote this entry, because setup would have written an absolute path.
			}
			if err := d.removeValue(path...); err != nil {
				return err
			}
			return d.removeEmptyParents(base, path[:len(path)-1]...)
		},
	}
}

func foreignServerError(path string) error {
	return fmt.Errorf("%s is another server: give that another name", path)
}

// keepCurrentServerArgs returns the fields to write for a server. These are the fields want, which setup would write
// into a new file. However, if current, the entry in the file, serves the same memory directory, the returned fields
// have the command arguments of current, which a person may have edited. want itself is not changed.
func keepCurrentServerArgs(current Server, want fields) fields {
	var wanted Server
	if err := json.Unmarshal(encodeJSON(want), &wanted); err != nil {
		panic(err)
	}
	if current.Home() != wanted.Home() {
		return want
	}
	want = slices.Clone(want)
	for i, f := range want {
		switch {
		case f.name == "args":
			want[i].value = current.Args
		// The client stores the command and its arguments in one list, so there is no field args.
		case f.name == "command" && len(wanted.Args) == 0:
			want[i].value = append([]string{wanted.Argv()[0]}, current.Argv()[1:]...)
		}
	}
	return want
}

// hookEntry is a hook: a handler that a client runs for an event.
type hookEntry struct {
	event, matcher     string
	handler            fields
	hasNoHandlerGroups bool // in the client's file, the event has a plain list of hooks instead of groups of hooks
}

// hooksPart returns the part of a client's JSON file that consists of oxbow's hooks. The function add of the part
// writes the hooks in wantedHooks, which has at most one hook for each event. It also removes oxbow's hooks for other
// events. The function remove removes all hooks of oxbow. Hooks of other programs are kept.
//
// For each event, the file has a list of groups. A group has a matcher and a list of handlers. A hook is one handler.
func hooksPart(knownPrograms oxbowPrograms, client string, wantedHooks []hookEntry) jsonPart {
	owned := knownPrograms.hookMatcher(client)
	take := func(d, base *jsonDocument, keep map[string]hookEntry) error {
		root := d.valueAt("hooks")
		if root == nil {
			return nil
		}
		var events map[string]json.RawMessage
		if json.Unmarshal(toStandardJSON(root), &events) != nil {
			return errors.New("hooks is no object")
		}
		for event := range events {
			all := findHandlers(d, event, owned)
			if h, ok := keep[event]; ok && len(all) > 0 {
				delete(keep, event)
				if err := all[0].replaceHandler(d, h); err != nil {
					return err
				}
				all = all[1:]
			}
			for _, at := range all {
				if err := at.removeHandler(d, base); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return jsonPart{
		add: func(d, base *jsonDocument) error {
			missingHooks := map[string]hookEntry{}
			for _, h := range wantedHooks {
				missingHooks[h.event] = h
			}
			if err := take(d, base, missingHooks); err != nil {
				return err
			}
			for _, h := range wantedHooks {
				if _, ok := missingHooks[h.event]; !ok {
					continue
				}
				if err := appendToList(d, h.hookGroupFields(), "hooks", h.event); err != nil {
					return err
				}
			}
			return nil
		},
		remove: func(d, base *jsonDocument) error { return take(d, base, nil) },
	}
}

// hookGroupFields returns a group that contains the hook's handler, and the hook's matcher if it has one. If the client
// does not have groups, the result is the handler.
func (h hookEntry) hookGroupFields() fields {
	if h.hasNoHandlerGroups {
		return h.handler
	}
	group := fields{{"hooks", []fields{h.handler}}}
	if h.matcher != "" {
		group = append(fields{{"matcher", h.matcher}}, group...)
	}
	return group
}

// foundHandler is the position of a hook (a command for an event) in a client's configuration file.
type foundHandler struct {
	event                string
	groupIndex, index    int
	isOnlyHandlerInGroup bool // The handler is the only one in its group of handlers.
	// The event's list of hooks contains the handler itself, at groupIndex, instead of a handler group.
	hasNoGroup bool
}

// findHandlers returns the positions of oxbow's handlers for an event. A handler is an element of the event's list, or
// is in a group, which is an element with a list of handlers. The function isOxbowHandler reports whether a handler
// belongs to oxbow. The last handler comes first, so that removing a handler does not change the positions of the
// remaining handlers.
func findHandlers(d *jsonDocument, event string, isOxbowHandler func(json.RawMessage) bool) (all []foundHandler) {
	var list []json.RawMessage
	d.decodeAt(&list, "hooks", event)
	for g := len(list) - 1; g >= 0; g-- {
		if isOxbowHandler(list[g]) {
			all = append(all, foundHandler{event: event, groupIndex: g, isOnlyHandlerInGroup: true, hasNoGroup: true})
			continue
		}
		var group struct{ Hooks []json.RawMessage }
		if json.Unmarshal(list[g], &group) != nil {
			continue
		}
		for i := len(group.Hooks) - 1; i >= 0; i-- {
			if isOxbowHandler(group.Hooks[i]) {
				all = append(
					all,
					foundHandler{event: event, groupIndex: g, index: i, isOnlyHandlerInGroup: len(group.Hooks) == 1},
				)
			}
		}
	}
	return all
}

// removeHandler removes the handler from d, a client's settings file. If the handler is the only one in its group, it
// removes the whole group. If the event's list is then empty, it removes the list too, and afterwards the object
// "hooks" if that is empty. It keeps an empty list or object that also exists in docWithoutOxbow, the settings file as
// it would be if oxbow had never been set up.
func (at foundHandler) removeHandler(d, docWithoutOxbow *jsonDocument) error {
	list, i := d.valueAt("hooks", at.event), at.groupIndex
	if !at.hasNoGroup {
		hooks, _ := findMember(elementAt(list, at.groupIndex), "hooks")
		if c, _ := parseContents(hooks); len(c.parts) != 1 {
			list, i = hooks, at.index
		}
	}
	if err := d.removePart(list, i); err != nil {
		return err
	}
	return d.removeEmptyParents(docWithoutOxbow, "hooks", at.event)
}

// replaceHandler replaces the handler in the settings file by h. If no other handler is in the same group, the whole
// group is replaced.
func (at foundHandler) replaceHandler(d *jsonDocument, h hookEntry) error {
	v := elementAt(d.valueAt("hooks", at.event), at.groupIndex)
	if at.isOnlyHandlerInGroup {
		return d.replaceValue(v, h.hookGroupFields())
	}
	hooks, _ := findMember(v, "hooks")
	return d.replaceValue(elementAt(hooks, at.index), h.handler)
}

// appendToList appends a value to the list at a path. It creates a missing list.
func appendToList(d *jsonDocument, value any, path ...string) error {
	if v := d.valueAt(path...); v != nil {
		return addPathToError(path, d.addMember(v, "", value))
	}
	return d.setValue([]any{value}, path...)
}

// listWordsPart returns a [jsonPart], which can add oxbow's words to a list in a JSON file and remove them. The
// parameter path is the place of the list in the file. A word in the list belongs to oxbow if it begins with the
// prefix, and if the list did not contain the word before setup added oxbow to the file. The function add of the result
// adds the words in wantedWords, and removes oxbow's other words. The function remove of the result removes all of
// oxbow's words.
func listWordsPart(prefix string, wantedWords []string, path ...string) jsonPart {
	take := func(d, base *jsonDocument, keep []string) error {
		var list, original []string
		base.decodeAt(&original, path...)
		if !d.decodeAt(&list, path...) {
			return nil
		}
		for i := len(list) - 1; i >= 0; i-- {
			isKept := slices.Contains(keep, list[i]) || slices.Contains(original, list[i])
			if !strings.HasPrefix(list[i], prefix) || isKept {
				continue
			}
			if err := d.removePart(d.valueAt(path...), i); err != nil {
				return err
			}
			if err := d.removeEmptyParents(base, path...); err != nil {
				return err
			}
		}
		return nil
	}
	return jsonPart{
		add: func(d, base *jsonDocument) error {
			if err := take(d, base, wantedWords); err != nil {
				return err
			}
			var list []string
			d.decodeAt(&list, path...)
			for _, w := range wantedWords {
				if slices.Contains(list, w) {
					continue
				}
				if err := appendToList(d, w, path...); err != nil {
					return err
				}
			}
			return nil
		},
		remove: func(d, base *jsonDocument) error { return take(d, base, nil) },
	}
}

// settingValuePart returns the part of a JSON file that sets the value at a path. Removing the part restores the value
// that the file had before setup changed the file. If the file had no value at the path, the value is removed. If the
// value was changed after setup had set it, removing the part does nothing.
func settingValuePart(value any, path ...string) *jsonPart {
	return &jsonPart{
		add: func(d, _ *jsonDocument) error { return d.setValue(value, path...) },
		remove: func(d, base *jsonDocument) error {
			v := d.valueAt(path...)
			if v == nil || !sameJSON(toStandardJSON(v), encodeJSON(value)) {
				return nil
			}
			if original := base.findValue(path...); original != nil {
				return d.setValue(toStandardJSON(original), path...)
			}
			if err := d.removeValue(path...); err != nil {
				return err
			}
			return d.removeEmptyParents(base, path[:len(path)-1]...)
		},
	}
}

// hookMatcher returns a function that reports whether a handler is oxbow's hook for the client.
func (own oxbowPrograms) hookMatcher(client string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var h Server
		return json.Unmarshal(raw, &h) == nil && own.isHookEntry(h, client)
	}
}
