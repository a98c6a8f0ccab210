//go:build !js

// This file starts Chromium and runs actions in its tabs.

// Package chromiumtest runs tests in headless Chromium.
package chromiumtest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// MaxWait is how long a test waits at most for the browser to do something, such as to show a page. It is about ten
// times the longest wait that is needed on a machine without other work.
const MaxWait = 3 * time.Minute

// NewProfileDir returns a directory for the data of a browser. If the browser is killed, some of its processes may
// still write to the directory, which does not fail the test.
func NewProfileDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "oxbow-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("the browser's data is left: %v", err)
		}
	})
	return dir
}

// KillBrowser kills a browser, like kill -9, and waits until the browser has ended.
func KillBrowser(t *testing.T, browser context.Context) {
	t.Helper()
	gone := chromedp.FromContext(browser).Browser.LostConnection
	if err := chromedp.FromContext(browser).Browser.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-time.After(MaxWait):
		t.Fatal("the browser does not die")
	}
}

// StartBrowser starts a browser and returns its first tab. The browser stores its data in the directory profileDir, and
// ends with the test.
func StartBrowser(t *testing.T, profileDir string) context.Context {
	t.Helper()
	path := testenv.RequireProgram(t, "chromium", "apt install chromium")
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profileDir),
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", true)) // the sandbox does not work in containers
	ctx, cancel := context.WithTimeout(context.Background(), 2*MaxWait)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, flags...)
	t.Cleanup(stop)
	ctx, quit := chromedp.NewContext(ctx, chromedp.WithErrorf(t.Logf))
	t.Cleanup(quit)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	return ctx
}

// OpenTab opens another tab of the browser.
func OpenTab(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	ctx, quit := chromedp.NewContext(browser)
	t.Cleanup(quit)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	return ctx
}

// RunActions executes actions in a tab. It fails the test if an action fails or takes longer than MaxWait. actionName
// describes the actions in the message.
func RunActions(t *testing.T, tab context.Context, actionName string, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, MaxWait)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatalf("%s: %v", actionName, err)
	}
}

// EvalJavaScript evaluates a JavaScript expression and returns its value as a T. If the value is a promise,
// EvalJavaScript waits for the promise and returns its result. If the evaluation fails, the test fails.
func EvalJavaScript[T any](t *testing.T, tab context.Context, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, MaxWait)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}
