// This file tests edits of random JSON and TOML files.

package setup

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"
)

// FuzzJSON adds oxbow's parts to random JSON files of a client and removes them again. The result must be valid JSON. A
// file with oxbow's parts must still contain all other values unchanged, and adding the parts twice must change
// nothing. Removing the parts must restore the other values.
func FuzzJSON(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(generated(r, FindClient("claude"), FindClient("claude").configFiles(world("/"), options())[1]))
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, o := world("/"), optionsHere()
		fs := FindClient("claude").configFiles(w, o)
		one := clientFile{additions: append(fs[0].additions, fs[1].additions...)}
		foreign, err := one.editText([]byte(text), nil, configTextEdit{shouldRemoveOxbowParts: true})
		if err != nil {
			return
		}
		with, err := one.editText(foreign, foreign, configTextEdit{})
		if err != nil {
			return
		}
		if again, err := one.editText(with, foreign, configTextEdit{}); err != nil || string(again) != string(with) {
			t.Errorf("twice: %v, %q is not %q", err, again, with)
		}
		without, err := one.editText(with, foreign, configTextEdit{shouldRemoveOxbowParts: true})
		if err != nil {
			t.Fatal(err)
		}
		a, b := decoded(t, ".json", string(foreign)), decoded(t, ".json", string(without))
		if !within(a, decoded(t, ".json", string(with))) || !reflect.DeepEqual(a, b) {
			t.Errorf("%q became %q and %q", foreign, with, without)
		}
	})
}

// FuzzTOML edits random TOML files for Codex. Adding oxbow's parts twice must have the same result as adding them once.
// Removing the parts must restore all foreign values, except for an empty table mcp_servers.
func FuzzTOML(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(finish(r, generatedTOML(r)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		codex := FindClient("codex").configFiles(world("/"), optionsHere())[1]
		foreign, err := codex.editText([]byte(text), nil, configTextEdit{shouldRemoveOxbowParts: true})
		if err != nil {
			return
		}
		with, err := codex.editText(foreign, foreign, configTextEdit{})
		if err != nil {
			return
		}
		if again, err := codex.editText(with, foreign, configTextEdit{}); err != nil || string(again) != string(with) {
			t.Errorf("twice: %v, %q is not %q", err, again, with)
		}
		without, err := codex.editText(with, foreign, configTextEdit{shouldRemoveOxbowParts: true})
		if err != nil {
			t.Fatal(err)
		}
		a, b := decoded(
			t,
			".toml",
			string(foreign),
		).(map[string]any), decoded(t, ".toml", string(without)).(map[string]any)
		for _, m := range []map[string]any{a, b} {
			maps.DeleteFunc(m, func(k string, v any) bool {
				servers, ok := v.(map[string]any)
				return k == "mcp_servers" && ok && len(servers) == 0
			})
		}
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%q became %q and %q", foreign, with, without)
		}
	})
}

// optionsHere returns options with a program path that is absolute on the system that runs the test.
func optionsHere() Options {
	o := options()
	o.Executable = absolutePath(o.Executable)
	return o
}
