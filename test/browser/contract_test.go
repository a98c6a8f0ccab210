//go:build !js

// This file runs the tests for browsers in Chromium.

package browser_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

// TestInChromium builds the tests of this package for the browser and runs them in Chromium: the tests of all file
// systems and stores, and the tests that only the browser's files have.
func TestInChromium(t *testing.T) {
	// These tests are skipped. Names and Contents test what a layout accepts, which does not depend on the file
	// system. Parallel takes too long: each change reads all files again that were written in the last seconds.
	const skip = "TestStores/(crabtalk|entryfiles)/(Names|Contents|Parallel)"
	const least = 72 // minimum number of tests that must pass
	browser := chromiumtest.StartBrowser(t, chromiumtest.NewProfileDir(t))
	b := built{t.TempDir()}
	b.run(t, "test", "-c", "-o", filepath.Join(b.dir, "browser.test.wasm"), ".")
	page := chromiumtest.OpenTab(t, browser)
	query := url.Values{"wasm": {"browser.test.wasm"}, "arg": {"-test.v", "-test.skip=" + skip}}
	chromiumtest.RunActions(t, page, "opening the page", chromedp.Navigate(serve(t, b).URL+"/run?"+query.Encode()))
	t.Cleanup(func() { // This prints the output of the tests even if they do not end in time.
		if t.Failed() {
			t.Log(chromiumtest.EvalJavaScript[string](t, page, "out"))
		}
	})
	end := chromiumtest.EvalJavaScript[struct {
		Code int
		Out  string
	}](t, page, "ended")
	if n := strings.Count(end.Out, "--- PASS: "); end.Code != 0 || n < least || strings.Contains(end.Out, "--- SKIP") {
		t.Errorf("exit status %d with %d tests passed, want 0 and at least %d, none skipped", end.Code, n, least)
	}
}
