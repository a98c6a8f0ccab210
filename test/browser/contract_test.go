//go:build !js

// This file runs the browser's tests in Chromium.

package browser_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

// TestInChromium builds the tests of this package for the browser and runs them there: the contracts of
// file systems and stores, and the tests of the browser's files.
func TestInChromium(t *testing.T) {
	// The names and contents that a layout accepts do not depend on the file system. Many changes of a
	// tree take long, because each change reads the files again that were written within the last
	// seconds.
	const skip = "TestStores/(crabtalk|entryfiles)/(Names|Contents|Parallel)"
	const least = 72 // minimum number of passed tests
	browser := chromiumtest.Start(t, chromiumtest.Profile(t))
	b := built{t.TempDir()}
	b.run(t, "test", "-c", "-o", filepath.Join(b.dir, "browser.test.wasm"), ".")
	page := chromiumtest.Tab(t, browser)
	query := url.Values{"wasm": {"browser.test.wasm"}, "arg": {"-test.v", "-test.skip=" + skip}}
	chromiumtest.Do(t, page, "opening the page", chromedp.Navigate(serve(t, b).URL+"/run?"+query.Encode()))
	t.Cleanup(func() { // output of the tests, even if they do not end
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
