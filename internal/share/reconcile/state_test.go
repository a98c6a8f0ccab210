// This file tests that the state of a synchronization is read as it was written, and that a state file whose end is
// missing is not used.

package reconcile

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestState(t *testing.T) {
	w := newWorld(t)
	a := w.home("a")
	a.apply(note("tea", "a very long secret"), note("cups", "blue"))
	a.push()
	st, err := ReadState(a.files, "state")
	if err != nil || len(st.records) != 2 {
		t.Fatalf("ReadState() = %+v, %v, want two records", st, err)
	}
	b, err := vfs.ReadFile(a.files, "state", -1)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("secret")) || bytes.Contains(b, []byte("blue")) {
		t.Errorf("it has contents: %s", b)
	}
	st.URL = "https://memory.example.org"
	name := StateFile("m.oxbow", st.URL)
	if err := st.Write(a.files, name); err != nil {
		t.Fatal(err)
	}
	known, err := ReadStates(a.files, "m.oxbow")
	if err != nil || len(known) != 1 || !reflect.DeepEqual(known[0], st) {
		t.Errorf("Known() = %+v, %v, want %+v", known, err, st)
	}
	b, err = vfs.ReadFile(a.files, name, -1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		torn, err := parseState(b[:i])
		if err != nil || len(torn.records) > 0 || len(torn.salt) > 0 {
			t.Fatalf("of %d of %d bytes it is %+v, %v, want no records", i, len(b), torn, err)
		}
	}
	later := strings.Replace(string(b), `"oxbow_remote":1`, `"oxbow_remote":2`, 1)
	if _, err := parseState([]byte(later)); !errors.Is(err, oxbow.ErrVersion) {
		t.Errorf("of a later version: %v, want ErrVersion", err)
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(
		`{"oxbow_remote":1,"url":"https://a","salt":"AA==","sum":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}` +
			"\n",
	))
	f.Fuzz(func(t *testing.T, b []byte) {
		st, err := parseState(b)
		if err != nil {
			return
		}
		fs := vfs.NewMem()
		if err := st.Write(fs, "s"); err != nil {
			t.Fatal(err)
		}
		again, err := ReadState(fs, "s")
		if err != nil || again.URL != st.URL || len(again.records) != len(st.records) {
			t.Errorf("%+v is read as %+v, %v", st, again, err)
		}
	})
}
