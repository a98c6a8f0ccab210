// This file tests how the dialect of a directory is detected. A dialect is the form in which a certain program stores
// its memory.

package layout

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func fake(name string, markers int, err error) Dialect {
	return Dialect{Name: name, Detect: func(vfs.FS) (int, error) { return markers, err }}
}

func TestDetect(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		all  []Dialect
		want string
		err  error
	}{
		{"none", []Dialect{fake("a", 0, nil), fake("b", 0, nil)}, "", nil},
		{"one", []Dialect{fake("a", 0, nil), fake("b", 1, nil)}, "b", nil},
		{"the surer one", []Dialect{fake("a", 1, nil), fake("b", 3, nil), fake("c", 2, nil)}, "b", nil},
		{"not clear", []Dialect{fake("a", 2, nil), fake("b", 2, nil)}, "", oxbow.ErrInvalid},
		{"unreadable", []Dialect{fake("a", 0, broken)}, "", broken},
	} {
		d, ok, err := Detect(tt.all, vfs.NewMem())
		if d.Name != tt.want || ok != (tt.want != "") || !errors.Is(err, tt.err) {
			t.Errorf("%s: Detect() = %q, %v, %v; want %q, %v", tt.name, d.Name, ok, err, tt.want, tt.err)
		}
	}
}

func TestFind(t *testing.T) {
	all := []Dialect{fake("a", 0, nil), fake("b", 0, nil)}
	if d, err := Find(all, "b"); d.Name != "b" || err != nil {
		t.Errorf("Find(b) = %q, %v", d.Name, err)
	}
	if _, err := Find(all, "c"); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Find(c) = %v, want %v", err, oxbow.ErrInvalid)
	}
}
