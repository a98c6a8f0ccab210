// Servers that answer what no server does: the home stays as it was.

package reconcile

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/remote"
	"github.com/oxbow-memory/oxbow/storetest"
	"github.com/oxbow-memory/oxbow/vfs"

	"github.com/oxbow-memory/oxbow"
)

func TestHostile(t *testing.T) {
	entry := func(id int, name, more string) string {
		return fmt.Sprintf(`{"entry":{"id":%d,"name":%q,"kind":"note","content":"x","created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z","version":1%s}}`, id, name, more)
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
