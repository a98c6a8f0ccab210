//go:build !js

// This file measures how fast the pages of a large memory are displayed.

package ui_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

var paint = flag.Int("paint", 0, "measure the pages of a memory with so many entries more, such as 100000")

// TestPaint logs the time to the first contentful paint of several pages. The time is the median of nine visits. There
// is no limit for the time, because it depends on the machine.
func TestPaint(t *testing.T) {
	if *paint == 0 {
		t.Skip("measures only: go test ./ui -run TestPaint -paint 100000 -v")
	}
	s := serve(t)
	var b strings.Builder
	for i := range *paint {
		fmt.Fprintf(
			&b,
			`{"name":"ship %d","content":"The ship %d of quay %d carries %d boxes of salt to the harbor of %d.","labels":[{"key":"project","value":"p%d"},{"key":"tag","value":"t%d"}]}`+"\n",
			i,
			i,
			i%977,
			i%31,
			i%4999,
			i%40,
			i%300,
		)
	}
	file := filepath.Join(t.TempDir(), "ships.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cli("--home", s.home, "import", file)
	v := s.enter(t)
	v.look(t, 1280, "light", true)
	for _, path := range []string{"", "find", "find?q=salt+quay+77", "log", "entries/ship%2077", "map", "settings"} {
		var times []float64
		for range 9 {
			v.open(t, path)
			times = append(
				times,
				chromiumtest.EvalJavaScript[float64](t, v.tab, `new Promise(done => { const look = () => {
				const p = performance.getEntriesByName('first-contentful-paint')[0]; p ? done(p.startTime) : setTimeout(look, 2) }; look() })`),
			)
		}
		slices.Sort(times)
		t.Logf("%-22q painted after %3.0f ms, at most %.0f", path, times[4], times[8])
	}
}
