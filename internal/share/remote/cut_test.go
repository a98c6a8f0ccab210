// This file tests answers that are cut off: streams of entries, streams of events, and documents.

package remote

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// clipped is a response writer that passes on only the first bytes of a body. The field left is the number of bytes
// that it may still pass on.
type clipped struct {
	http.ResponseWriter
	left int
	cut  bool // also interrupt the connection; otherwise the answer ends as if it were complete
}

func (c *clipped) Write(b []byte) (int, error) {
	n := min(c.left, len(b))
	c.left -= n
	if _, err := c.ResponseWriter.Write(b[:n]); err != nil {
		return 0, err
	}
	if n < len(b) && c.cut {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return len(b), nil
}

// TestCutStreams cuts each stream at many offsets. The call must return an error, and never a shorter list without an
// error.
func TestCutStreams(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	for i := range 3 {
		if err := m.Apply(
			t.Context(),
			oxbow.Add{Name: fmt.Sprint("e", i), Content: "x"},
			oxbow.Add{Name: fmt.Sprint("f", i), Content: "y"},
			oxbow.Update{Name: "e0", Content: "z"},
		); err != nil {
			t.Fatal(err)
		}
	}
	left, cut := 0, false
	s := serve(t, m, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&clipped{w, left, cut}, r) })
	})
	c := dial(t, s)
	for name, read := range map[string]func() string{
		"entries":  func() string { return all(t, c.Entries(t.Context(), oxbow.Filter{})) },
		"log":      func() string { return all(t, c.Log(t.Context())) },
		"versions": func() string { return all(t, c.Versions(t.Context(), "e0")) },
		"since":    func() string { return all(t, c.Since(t.Context(), "")) },
	} {
		left, cut = 1<<20, false
		whole := read()
		if strings.HasPrefix(whole, "error") || strings.Count(whole, "\n") < 3 {
			t.Fatalf("%s: %s", name, whole)
		}
		for _, cut = range []bool{false, true} {
			step := 1
			if cut || name != "entries" {
				step = 13
			}
			for left = 0; ; left += step {
				got := read()
				if got == whole {
					break
				}
				if !strings.HasPrefix(got, "error") {
					t.Fatalf("%s: after %d bytes, the list is %s", name, left, got)
				}
			}
			if left < 300 {
				t.Errorf("%s: %d bytes are a whole answer", name, left)
			}
		}
	}
}

// TestCutEvents cuts the answer to a change in the middle of its events. The change must be made, and the watcher must
// be told about it before the call returns.
func TestCutEvents(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	left, asked := 1<<20, 0
	s := serve(t, m, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if strings.HasSuffix(r.URL.Path, "/apply") {
				w = &clipped{w, left, left%2 == 0}
			}
			h.ServeHTTP(w, r)
		})
	})
	c := dial(t, s)
	var got []string
	c.Watch(func(e oxbow.Event) {
		for _, d := range e.Changes {
			got = append(got, d.Entry.Name)
		}
	})
	if err := c.Apply(t.Context(), oxbow.Add{Name: "whole"}); err != nil || len(got) != 1 || asked != 2 {
		t.Errorf("Apply() = %v after %d requests, with the place before; the watcher heard of %q", err, asked, got)
	}
	got = nil
	for left = range 60 {
		name := fmt.Sprint("e", left)
		if err := c.Apply(t.Context(), oxbow.Add{Name: name}); err != nil || len(got) != left+1 || got[left] != name {
			t.Fatalf("cut after %d bytes, Apply() = %v, and the watcher heard of %q", left, err, got)
		}
	}
	if n := changes(t, m); n != 61 {
		t.Errorf("there are %d changes, want 61", n)
	}
}

// TestCutDocument checks that an incomplete document is an error.
func TestCutDocument(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err := m.Apply(t.Context(), oxbow.Add{Name: "a", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	for left := range 40 {
		c := dial(t, serve(t, m, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(&clipped{w, left, left%2 == 0}, r)
			})
		}))
		if e, err := c.Get(t.Context(), "a"); err == nil {
			t.Errorf("%d bytes are the entry %+v", left, e)
		}
	}
}
