// This file measures pages of a large memory.

package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// large returns a server with 100,000 entries in a file, which were written before the server opened
// the file, and the session of a person.
func large(b *testing.B) (*Server, *browserVisitor) {
	path := filepath.Join(b.TempDir(), "memory.oxbow")
	m, err := oxbow.Open(path, &oxbow.Options{KeepIndex: true})
	if err != nil {
		b.Fatal(err)
	}
	ctx := oxbow.WithSource(b.Context(), oxbow.Source{Actor: oxbow.Person})
	for i := 0; i < 100_000; i += 100 {
		var ops []oxbow.Op
		for j := i; j < i+100; j++ {
			ops = append(
				ops,
				oxbow.Add{
					Name: fmt.Sprint("entry ", j),
					Content: fmt.Sprintf(
						"The gate of berth %d closes at %d, and harbour master %d is told of it.",
						j%997,
						j%24,
						j%31,
					),
					Labels: []oxbow.Label{
						{Key: "project", Value: fmt.Sprint("p", j%40)},
						{Key: "tag", Value: fmt.Sprint("t", j%200)},
					},
				},
			)
		}
		if err := m.Apply(ctx, ops...); err != nil {
			b.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
	m, err = oxbow.Open(path, &oxbow.Options{KeepIndex: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.Close() })
	work := &verb.Workspace{
		Open:   func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Now:    time.Now,
		Place:  func() (verb.Place, error) { return verb.Place{Home: filepath.Dir(path), StorePath: path}, nil },
		Source: oxbow.Source{Actor: oxbow.Person},
	}
	v := &rights.Options{Workspace: work}
	return New(v, nil), &browserVisitor{actor: oxbow.Person}
}

// BenchmarkPages requests pages of a memory of 100,000 entries. It reports the 95th percentile of the
// handler's time in milliseconds, and the size of the page in kB.
func BenchmarkPages(b *testing.B) {
	s, v := large(b)
	for _, p := range []struct {
		path   string
		handle pageHandler
	}{
		{"", todayPage},
		{"find", findPage},
		{"find?offset=5000", findPage},
		{"find?q=project:p7", findPage},
		{"find?q=gate+berth+77", findPage},
		{"log", changesPage},
		{"entries/entry 77", entryPage},
		{"entries/entry 77/edit", editPage},
		{"entries/entry 77/versions", versionListPage},
	} {
		b.Run(p.path, func(b *testing.B) {
			var took []time.Duration
			size := 0
			for first := true; b.Loop(); first = false { // the first request loads the index
				r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://127.0.0.1:1"+page.RootPath+
					strings.ReplaceAll(p.path, " ", "%20"), nil)
				if err != nil {
					b.Fatal(err)
				}
				r.SetPathValue("name", "entry 77")
				w := httptest.NewRecorder()
				start := time.Now()
				s.serveSignedInBrowser(w, r, v, p.handle)
				size = w.Body.Len()
				if !first {
					took = append(took, time.Since(start))
				}
				if w.Code != http.StatusOK {
					b.Fatal(w.Body.String())
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(size)/1000, "kB")
		})
	}
}
