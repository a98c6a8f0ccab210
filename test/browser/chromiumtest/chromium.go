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

// Patience is the maximum duration of every wait, about ten times the longest wait on a quiet machine.
const Patience = 3 * time.Minute

// Profile returns a directory for a browser's data. The test does not fail if processes of a killed
// browser still write to the directory.
func Profile(t *testing.T) string {
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

// Kill kills a browser, like kill -9, and waits until it has ended.
func Kill(t *testing.T, browser context.Context) {
	t.Helper()
	gone := chromedp.FromContext(browser).Browser.LostConnection
	if err := chromedp.FromContext(browser).Browser.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-time.After(Patience):
		t.Fatal("the browser does not die")
	}
}

// Start starts a browser that stores the browser's data in the directory profile, and returns the first tab. The
// browser ends with the test.
func Start(t *testing.T, profile string) context.Context {
	t.Helper()
	path := testenv.Program(t, "chromium", "apt install chromium")
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile),
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", true)) // containers do not allow the sandbox
	ctx, cancel := context.WithTimeout(context.Background(), 2*Patience)
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

// Tab opens another tab of the same browser.
func Tab(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	ctx, quit := chromedp.NewContext(browser)
	t.Cleanup(quit)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	return ctx
}

// Do runs actions in a tab. If an action fails or takes too long, Do fails the test.
func Do(t *testing.T, tab context.Context, what string, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Eval evaluates a JavaScript expression and returns its value as a T. If the value is a promise, Eval
// waits for it.
func Eval[T any](t *testing.T, tab context.Context, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}
