// This file runs tests of the main module inside Chromium.

package browsertest

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestContract runs, in the browser, the contracts of file systems and of stores
// on the browser's own files.
func TestContract(t *testing.T) {
	browser := chromium(t, profile(t))
	b := built{t.TempDir()}
	for _, tc := range []struct {
		dir, run, skip string
		least          int // tests that must have passed
	}{
		{"vfs", "TestContract/Browser", "", 17},
		// What names and contents a layout takes has nothing to do with where
		// its files are, and many changes of a tree take long: each reads
		// again what was written within the last seconds.
		{"vfs/browser", ".", "TestStores/(crabtalk|entryfiles)/(Names|Contents|Parallel)", 55},
	} {
		t.Run(tc.dir, func(t *testing.T) {
			name := strings.ReplaceAll(tc.dir, "/", "-") + ".test.wasm"
			b.run(t, tc.dir, "test", "-c", "-o", filepath.Join(b.dir, name), ".")
			page := tab(t, browser)
			query := url.Values{"wasm": {name}, "arg": {"-test.v", "-test.run=" + tc.run, "-test.skip=" + tc.skip}}
			do(t, page, "opening the page", chromedp.Navigate(serve(t, b).URL+"/run?"+query.Encode()))
			t.Cleanup(func() { // what it said, also when it never ends
				if t.Failed() {
					t.Log(eval[string](t, page, "out"))
				}
			})
			end := eval[struct {
				Code int
				Out  string
			}](t, page, "ended")
			if n := strings.Count(end.Out, "--- PASS: "); end.Code != 0 || n < tc.least || strings.Contains(end.Out, "--- SKIP") {
				t.Errorf("exit status %d with %d tests passed, want 0 and at least %d, none skipped", end.Code, n, tc.least)
			}
		})
	}
}
