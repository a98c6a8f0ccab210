//go:build !js

// The tests that are for the browser, run in Chromium.

package browser_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

// TestInChromium builds the tests of this package for the browser and runs them
// there: the contracts of file systems and of stores, and what only the
// browser's files have.
func TestInChromium(t *testing.T) {
	// What names and contents a layout takes does not depend on where its files
	// are, and many changes of a tree take long: each reads again what was
	// written within the last seconds.
	const skip = "TestStores/(crabtalk|entryfiles)/(Names|Contents|Parallel)"
	const least = 72 // tests that must have passed
	browser := chromiumtest.Start(t, chromiumtest.Profile(t))
	b := built{t.TempDir()}
	b.run(t, "test", "-c", "-o", filepath.Join(b.dir, "browser.test.wasm"), ".")
	page := chromiumtest.Tab(t, browser)
	query := url.Values{"wasm": {"browser.test.wasm"}, "arg": {"-test.v", "-test.skip=" + skip}}
	chromiumtest.Do(t, page, "opening the page", chromedp.Navigate(serve(t, b).URL+"/run?"+query.Encode()))
	t.Cleanup(func() { // what it said, also when it never ends
		if t.Failed() {
			t.Log(chromiumtest.Eval[string](t, page, "out"))
		}
	})
	end := chromiumtest.Eval[struct {
		Code int
		Out  string
	}](t, page, "ended")
	if n := strings.Count(end.Out, "--- PASS: "); end.Code != 0 || n < least || strings.Contains(end.Out, "--- SKIP") {
		t.Errorf("exit status %d with %d tests passed, want 0 and at least %d, none skipped", end.Code, n, least)
	}
}
