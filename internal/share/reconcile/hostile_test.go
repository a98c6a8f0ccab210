// This file tests answers that no correct server sends. They must not change the home.

package reconcile

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"

	"github.com/oxbow-memory/oxbow"
)

func TestHostile(t *testing.T) {
	entry := func(id int, name, more string) string {
		return fmt.Sprintf(
			`{"entry":{"id":%d,"name":%q,"kind":"note","content":"x","created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z","version":1%s}}`,
			id,
			name,
			more,
		)
	}
	end := func(n int) string { return fmt.Sprintf(`{"end":{"count":%d}}`, n) }
	for what, lines := range map[string][]string{
		"two of one id":     {entry(1, "a", ""), entry(1, "b", ""), end(2)},
		"two of one name":   {entry(1, "a", ""), entry(2, "a", ""), end(2)},
		"control bytes":     {entry(1, "a\u001b[2J", ""), end(1)},
		"a long name":       {entry(1, strings.Repeat("n", 300), ""), end(1)},
		"a wrong label":     {entry(1, "a", `,"labels":[{"key":"A B","value":"x"}]`), end(1)},
		"many aliases":      {entry(1, "a", `,"aliases":["`+strings.Repeat(`x","`, 70)+`y"]`), end(1)},
		"no end":            {entry(1, "a", "")},
		"a wrong count":     {entry(1, "a", ""), end(7)},
		"no JSON":           {"<html>welcome</html>"},
		"an endless line":   {`{"entry":{"id":1,"name":"` + strings.Repeat("x", 1<<20)},
		"an unknown kind":   {strings.Replace(entry(1, "a", ""), "note", "spell", 1), end(1)},
		"a text with a NUL": {strings.Replace(entry(1, "a", ""), `"x"`, `"x\u0000"`, 1), end(1)},
	} {
		t.Run(what, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/entries") {
					w.Header().Set("Content-Type", "application/x-ndjson")
					fmt.Fprintln(w, strings.Join(lines, "\n"))
					return
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintln(w, `{"position":"AAAA"}`)
			}))
			defer srv.Close()
			c, err := remote.Open(srv.URL, "token", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
			if err := m.Apply(t.Context(), note("mine", "1")); err != nil {
				t.Fatal(err)
			}
			for _, fn := range []func() (Report, error){
				func() (Report, error) { return Pull(t.Context(), m, c, &State{}, nil) },
				func() (Report, error) { return Push(t.Context(), m, c, &State{}, nil) },
			} {
				if rep, err := fn(); err == nil || len(rep.Changes) > 0 {
					t.Errorf("it did %s, %v, want an error", names(rep), err)
				}
			}
			if got := fmt.Sprint(shown(t, m)); got != "map[mine:note|1|[]|[]]" {
				t.Errorf("the home is %s", got)
			}
		})
	}
}

// TestHostileChanges tests Pull and Push with a server that sends false lists of changes to a home (a user's memory)
// that was synchronized with it before. Both functions must return an error, even if the list is endless. They must
// change neither the memory nor the file "state", which stores what was synchronized.
func TestHostileChanges(t *testing.T) {
	entry := func(id int, name string) string {
		return fmt.Sprintf(
			`"entry":{"id":%d,"name":%q,"kind":"note","content":"x","created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z","version":99}`,
			id,
			name,
		)
	}
	delta := func(id int, more string) string { return fmt.Sprintf(`{"delta":{"id":%d%s}}`, id, more) + "\n" }
	const end = `{"end":{"count":%d}}` + "\n"
	for what, tc := range map[string]struct {
		position string
		since    func(line int) string
	}{
		"endless removals": {`"AAAA"`, func(i int) string { return delta(i+1000, "") }},
		"endless new ones": {`"AAAA"`, func(i int) string {
			return delta(i+1000, ","+entry(i+1000, fmt.Sprint("n", i)))
		}},
		"another's number": {`"AAAA"`, func(i int) string {
			return []string{delta(1, ","+entry(2, "a")), fmt.Sprintf(end, 1), ""}[i]
		}},
		"two of one name": {`"AAAA"`, func(i int) string {
			return []string{delta(1, ","+entry(1, "a")), delta(2, ","+entry(2, "a")), fmt.Sprintf(end, 2), ""}[i]
		}},
		"control bytes": {`"AAAA"`, func(i int) string {
			return []string{delta(1, ","+entry(1, "a\x1b[2J")), fmt.Sprintf(end, 1), ""}[i]
		}},
		"no end":          {`"AAAA"`, func(i int) string { return []string{delta(1, ","+entry(1, "a")), ""}[i] }},
		"a huge position": {`"` + strings.Repeat("AAAA", 4<<10) + `"`, func(int) string { return fmt.Sprintf(end, 0) }},
		"a page":          {`"AAAA"`, func(i int) string { return []string{"<html>\n", ""}[i] }},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			h := w.home("h")
			h.o.maxEntries = 1000
			h.apply(note("a", "1"), note("b", "2"))
			h.push()
			h.pull()
			want := fmt.Sprint(shown(t, h))
			state, err := vfs.ReadFile(h.files, "state", -1)
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/position"):
					rw.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(rw, `{"position":%s}`, tc.position)
				case strings.HasSuffix(r.URL.Path, "/since"):
					rw.Header().Set("Content-Type", "application/x-ndjson")
					out := bufio.NewWriter(rw)
					for i := 0; ; i++ {
						l := tc.since(i)
						if _, err := out.WriteString(l); err != nil || l == "" || strings.Contains(l, `"end"`) {
							break
						}
					}
					_ = out.Flush()
				default:
					t.Errorf("it was asked for %s", r.URL)
				}
			}))
			defer srv.Close()
			honest := w.url
			w.url = srv.URL
			for _, fn := range []run{Pull, Push} {
				if rep, err := h.run(fn, false); err == nil || len(rep.Changes) > 0 {
					t.Errorf("it did %s, %v, want an error", names(rep), err)
				}
			}
			if got := fmt.Sprint(shown(t, h)); got != want {
				t.Errorf("the home is %s", got)
			}
			if now, err := vfs.ReadFile(h.files, "state", -1); err != nil || !bytes.Equal(now, state) {
				t.Errorf("the state is another: %s, %v", now, err)
			}
			w.url = honest
			if got := names(h.pull()) + names(h.push()); got != "" {
				t.Errorf("with the honest server it did %s", got)
			}
		})
	}
}

// TestOddTimes tests entries that were created in unusual years, such as 1 or 9999. The first pull must copy these
// entries. Later pushes and pulls must not report them as changed.
func TestOddTimes(t *testing.T) {
	w := newWorld(t)
	h := w.home("h")
	for i, year := range []int{1, 1600, 1969, 2300, 9999} {
		a := note(fmt.Sprint("n", i), "x")
		a.Created = time.Date(year, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
		if err := w.server.Apply(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if rep := h.pull(); len(rep.Changes) != 5 {
		t.Errorf("the pull did %s", names(rep))
	}
	for range 2 {
		if got := names(h.push()) + names(h.pull()); got != "" {
			t.Errorf("after it, it did %s", got)
		}
	}
	same(t, "at the end", w.server, h)
}
