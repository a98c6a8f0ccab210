//go:build !js

// Package ui_test opens every page of oxbow ui in Chromium, in both colour schemes, in three widths, with and
// without scripts, and checks for problems that a person would notice.
package ui_test

import (
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

// site is a process of "oxbow demo --ui".
type site struct {
	t    *testing.T
	root string // URL of the root of all pages, such as http://127.0.0.1:1234/ui/
	home string
	link string // URL that signs in one browser
	cli  func(args ...string) string
}

// serve builds oxbow and serves the pages of the demo until the test ends.
func serve(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	program, env := oxbowIn(t, dir)
	s := &site{t: t}
	s.cli = func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Env, cmd.Dir = env, dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("oxbow %q: %v", args, err)
		}
		return string(out)
	}
	s.start(t, program, env, dir, "demo", "--ui")
	t.Cleanup(func() { s.cli("--home", s.home, "check") }) // Check the home before it is removed.
	homes, err := filepath.Glob(filepath.Join(dir, "oxbow-demo-*", "harbor", ".oxbow"))
	if err != nil || len(homes) != 1 {
		t.Fatalf("the demo's homes are %q, %v", homes, err)
	}
	s.home = homes[0]
	return s
}

// visit is a tab of a browser that is signed in, with the problems that occurred in the tab.
type visit struct {
	*site
	tab    context.Context
	script bool // scripts run in the tab

	mu sync.Mutex // guards the following fields
	// problems: requests to other sites, violations of the content security policy, errors of scripts
	wrong  []string
	weight map[string]float64 // for each URL, the number of bytes of its largest response
}

// enter starts a browser and signs it in.
func (s *site) enter(t *testing.T) *visit {
	t.Helper()
	v := &visit{
		site:   s,
		tab:    chromiumtest.StartBrowser(t, chromiumtest.NewProfileDir(t)),
		weight: map[string]float64{},
	}
	v.listen(t)
	chromiumtest.RunActions(t, v.tab, "signing in", chromedp.Navigate(s.link), chromedp.WaitReady("header.top"))
	return v
}

// listen records in v.wrong what a page must not do: requests to other servers, and errors in the console and in
// scripts. It records in v.weight the size of each response in bytes.
func (v *visit) listen(t *testing.T) {
	t.Helper()
	requested := map[network.RequestID]string{}
	err := chromedp.Listen(v.tab, func(ev any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			requested[ev.RequestID] = ev.Request.URL
			if !strings.HasPrefix(ev.Request.URL, v.root) && !strings.HasSuffix(ev.Request.URL, "/favicon.ico") &&
				!strings.HasPrefix(ev.Request.URL, "data:") {
				v.wrong = append(v.wrong, "a request to "+ev.Request.URL)
			}
		case *network.EventLoadingFinished:
			u := requested[ev.RequestID]
			v.weight[u] = max(v.weight[u], ev.EncodedDataLength)
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.EntryLevelError &&
				!strings.Contains(ev.Entry.Text, "the server responded with a status of") {
				v.wrong = append(v.wrong, string(ev.Entry.Source)+": "+ev.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			v.wrong = append(v.wrong, fmt.Sprintf("a script failed: %s: %s", ev.ExceptionDetails.Text, ev.ExceptionDetails.Exception.Description))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(v.tab, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(v.tab, log.Enable, struct{}{}); err != nil {
		t.Fatal(err)
	}
}

// clean fails the test for each problem that was found in the tab since the last call, and then forgets these problems.
// The parameter where is the beginning of the error message.
func (v *visit) clean(t *testing.T, where string) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.wrong {
		t.Errorf("%s: %s", where, w)
	}
	v.wrong = nil
}

// look sets the width and the color scheme, and specifies whether scripts run.
func (v *visit) look(t *testing.T, width int64, scheme string, script bool) {
	t.Helper()
	v.colours(t, scheme)
	_, err := chromedp.Call(
		v.tab,
		emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !script},
	)
	if err != nil {
		t.Fatal(err)
	}
	v.script = script
	chromiumtest.RunActions(t, v.tab, "setting the width", chromedp.EmulateViewport(width, 900))
}

// open opens a page and waits until the script of the page has run. Otherwise, the next keys of the test could be lost
// on a slow machine.
func (v *visit) open(t *testing.T, path string) {
	t.Helper()
	chromiumtest.RunActions(t, v.tab, "opening "+path, chromedp.Navigate(v.root+path), chromedp.WaitReady("body"))
	v.loaded(t)
}

// loaded waits until the page's script has run and the page is painted, because Chromium can drop input before that. If
// v.script is false, loaded does not wait.
func (v *visit) loaded(t *testing.T) {
	t.Helper()
	if v.script {
		v.waitUntil(t, `document.readyState === "complete" && performance.getEntriesByType("paint").length > 0`)
	}
}

// waitUntil waits until a JavaScript expression is true on this page.
func (v *visit) waitUntil(t *testing.T, expression string) {
	t.Helper()
	chromiumtest.EvalJavaScript[bool](t, v.tab, fmt.Sprintf(
		"new Promise(done => { const look = () => { if (%s) done(true); else setTimeout(look, 10) }; look() })",
		expression,
	))
}

// links returns the paths of the pages to which the current page links, without fragments. The paths are relative to
// v.root. Links to other sites, downloads, assets, raw texts, exports, and pages whose path begins with "enter" are
// left out.
func (v *visit) links(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, href := range chromiumtest.EvalJavaScript[[]string](
		t,
		v.tab,
		`[...document.querySelectorAll('a[href]')].filter(a => !a.hasAttribute('download')).map(a => new URL(a.getAttribute('href'), location).href)`,
	) {
		if path, ok := strings.CutPrefix(href, v.root); ok && !strings.HasPrefix(path, "asset/") &&
			!strings.HasPrefix(path, "enter") && !strings.HasSuffix(path, "/raw") &&
			!strings.Contains(path, "/export") {
			path, _, _ = strings.Cut(path, "#")
			paths = append(paths, path)
		}
	}
	return paths
}

// kindOf returns the kind of a page. Pages of the same kind differ only in their data. Therefore only some pages of
// each kind are tested.
func kindOf(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	parts := strings.Split(u.EscapedPath(), "/")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "*"
	}
	var keys []string
	for k := range u.Query() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return strings.Join(parts, "/") + "?" + strings.Join(keys, "&")
}

// pages follows the links of the site and opens one or two pages of each kind. It calls inspect for each of these
// pages, and returns their paths.
func (v *visit) pages(t *testing.T, inspect func(path string)) []string {
	t.Helper()
	seen := map[string]bool{"": true}
	kinds := map[string]int{}
	todo := []string{""}
	var found []string
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		kinds[kindOf(path)]++
		if kinds[kindOf(path)] > 2 {
			continue
		}
		v.open(t, path)
		found = append(found, path)
		for _, next := range v.links(t) {
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
		inspect(path)
	}
	return found
}

// axe is axe-core 4.14.1 (https://github.com/dequelabs/axe-core, MPL-2.0) in the form that its authors published, but
// compressed.
//
//go:embed testdata/axe.min.js.gz
var axe string

func axeSource(t *testing.T) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(axe))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// barrier is a JavaScript expression for the problems that axe-core rates as serious or critical.
const barrier = `violations.filter(v => ['serious', 'critical'].includes(v.impact)).flatMap(v => v.nodes.map(n => v.id + ': ' + n.html + ' ' + n.failureSummary))`

// loadAxe loads axe-core into the page.
func (v *visit) loadAxe(t *testing.T, source string) {
	t.Helper()
	chromiumtest.EvalJavaScript[bool](t, v.tab, "(() => {"+source+"; window.axe = axe ?? window.axe; return true })()")
}

// barriers returns the problems on the page that axe-core rates as serious or critical.
func (v *visit) barriers(t *testing.T) []string {
	t.Helper()
	return chromiumtest.EvalJavaScript[[]string](
		t,
		v.tab,
		`axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa',
		'wcag22aa', 'best-practice'], resultTypes: ['violations']}).then(r => r.`+barrier+`)`,
	)
}

// faint returns the texts on the page whose contrast is too low. In the dark color scheme, no other check is needed,
// because the schemes differ only in their colors.
func (v *visit) faint(t *testing.T) []string {
	t.Helper()
	return chromiumtest.EvalJavaScript[[]string](
		t,
		v.tab,
		`axe.run(document, {runOnly: {type: 'rule', values: ['color-contrast']},
		resultTypes: ['violations']}).then(r => r.`+barrier+`)`,
	)
}

// colours sets the preferred color scheme of the browser to the argument scheme, and switches animations off.
func (v *visit) colours(t *testing.T, scheme string) {
	t.Helper()
	_, err := chromedp.Call(
		v.tab,
		emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}},
	)
	if err != nil {
		t.Fatal(err)
	}
}

// inspect checks the page that is open. The page must fit into the window at each width. At the first two widths,
// axe-core must find no serious problem. In the dark scheme, no text may have too little contrast. The dark scheme is
// checked only at the middle width, but at each width if pictures are written. The page is not loaded again, because
// only its styles depend on the width and the scheme. If the parameter shots is not empty, inspect writes pictures to
// files whose names begin with the value of shots.
func (v *visit) inspect(t *testing.T, page, source, shots string, widths [3]int64) {
	t.Helper()
	v.loadAxe(t, source)
	for i, width := range widths {
		chromiumtest.RunActions(t, v.tab, "setting the width", chromedp.EmulateViewport(width, 900))
		where := fmt.Sprintf("%q at %d", page, width)
		over := chromiumtest.EvalJavaScript[int](t, v.tab, "document.documentElement.scrollWidth - innerWidth")
		if over > 0 {
			t.Errorf("%s: %d pixels wider than the window", where, over)
		}
		if i < 2 {
			for _, b := range v.barriers(t) {
				t.Errorf("%s: %s", where, b)
			}
		}
		if shots != "" {
			shoot(t, v, fmt.Sprintf("%s-%d-light.png", shots, width), width)
		}
		if i == 1 || shots != "" {
			v.colours(t, "dark")
			for _, b := range v.faint(t) {
				t.Errorf("%s, dark: %s", where, b)
			}
			if shots != "" {
				shoot(t, v, fmt.Sprintf("%s-%d-dark.png", shots, width), width)
			}
			v.colours(t, "light")
		}
	}
	v.clean(t, page)
}

// maxWeight is the maximum size in bytes of a page together with everything that the page loads.
const maxWeight = 60_000

// TestEveryPage opens pages of each kind once, and checks them in three widths and both color schemes.
func TestEveryPage(t *testing.T) {
	v := serve(t).enter(t)
	v.look(t, 1280, "light", true)
	source := axeSource(t)
	n := 0
	pages := v.pages(t, func(path string) {
		shots := os.Getenv("OXBOW_SHOTS") // directory for screenshots
		if shots != "" {
			n++
			shots = filepath.Join(
				shots,
				fmt.Sprintf("%02d-%s", n, regexp.MustCompile(`[^a-z]+`).ReplaceAllString(path, "-")),
			)
		}
		v.inspect(t, path, source, shots, [3]int64{320, 1280, 2560})
	})
	t.Logf("%d pages: %q", len(pages), pages)
	if len(pages) < 20 {
		t.Errorf("only %d pages are found: %q", len(pages), pages)
	}
	v.mu.Lock()
	assets := 0.0
	heaviest := 0.0
	which := ""
	for u, n := range v.weight {
		switch {
		case strings.Contains(u, "/asset/"):
			assets += n
		case n > heaviest:
			heaviest, which = n, u
		}
	}
	v.mu.Unlock()
	if assets+heaviest > maxWeight {
		t.Errorf("%s with all assets has %.1f kB, want %d", which, (assets+heaviest)/1000, maxWeight/1000)
	}
	t.Logf("assets %.1f kB, the heaviest page %.1f kB", assets/1000, heaviest/1000)
}

// TestCorrect tests that a person can correct a wrong memory from the page Today with three clicks, and that one more
// click undoes the correction. It tests this with and without scripts.
func TestCorrect(t *testing.T) {
	s := serve(t)
	v := s.enter(t)
	for i, script := range []bool{true, false} {
		name := fmt.Sprintf("quay crane %d", i)
		s.cli("--home", s.home, "remember", name, "--content", "The quay crane lifts 80 t.")
		v.look(t, 1280, "light", script)
		v.open(t, "")
		clicks := 0
		click := func(sel, then string) {
			t.Helper()
			clicks++
			chromiumtest.RunActions(t, v.tab, "clicking "+sel, chromedp.Click(sel), chromedp.WaitReady(then))
		}
		at := "entries/" + url.PathEscape(name)
		click(`main a[href$="`+at+`"]`, `main a[href$="`+at+`/edit"]`)
		click(`main a[href$="`+at+`/edit"]`, `textarea[name=content]`)
		chromiumtest.RunActions(
			t,
			v.tab,
			"typing",
			chromedp.SetValue("textarea[name=content]", "The quay crane lifts 60 t."),
		)
		click(`form.edit button.main`, `form.done button`)
		if got := s.cli("--home", s.home, "get", name, "--json"); !strings.Contains(got, "60 t") || clicks > 4 {
			t.Errorf("with script %v, after %d clicks the entry is %s", script, clicks, got)
		}
		click(`form.done button`, `form.done`)
		got := ""
		for range 100 { // The page before the click has the same form, so the test tries again.
			got = s.cli("--home", s.home, "get", name, "--json")
			if strings.Contains(got, "80 t") {
				break
			}
		}
		if !strings.Contains(got, "80 t") {
			t.Errorf("with script %v, after undo the entry is %s", script, got)
		}
		v.clean(t, "correcting")
	}
}

// TestKeys edits an entry with only the keyboard: Tab moves the focus to an element, and Enter activates it. It also
// tests the keys of the inbox.
func TestKeys(t *testing.T) {
	s := serve(t)
	s.cli("--home", s.home, "remember", "quay light", "--content", "The quay light is red.")
	v := s.enter(t)
	v.look(t, 1280, "light", true)
	v.open(t, "")
	press := func(keys string) {
		t.Helper()
		chromiumtest.RunActions(t, v.tab, fmt.Sprintf("pressing %q", keys), chromedp.KeyEvent(keys))
	}
	// reach presses Tab until the element that matches sel has the focus. The outline of the focus must be visible.
	reach := func(sel string) {
		t.Helper()
		for range 150 {
			press(kb.Tab)
			if chromiumtest.EvalJavaScript[bool](t, v.tab, fmt.Sprintf("document.activeElement.matches(%q)", sel)) {
				if width := chromiumtest.EvalJavaScript[string](
					t,
					v.tab,
					"getComputedStyle(document.activeElement).outlineWidth",
				); width == "0px" {
					t.Errorf("the focus on %s is not seen", sel)
				}
				return
			}
		}
		t.Fatalf("Tab does not reach %s", sel)
	}
	reach(`main a[href$="entries/quay%20light"]`)
	press(kb.Enter)
	chromiumtest.RunActions(t, v.tab, "waiting", chromedp.WaitReady(`main a[href$="quay%20light/edit"]`))
	reach(`main a[href$="quay%20light/edit"]`)
	press(kb.Enter)
	chromiumtest.RunActions(t, v.tab, "waiting", chromedp.WaitReady("textarea[name=content]"))
	reach("textarea[name=content]")
	press(kb.End)
	press(" Not in fog.")
	reach("form.edit button.main")
	press(kb.Enter)
	chromiumtest.RunActions(t, v.tab, "waiting", chromedp.WaitReady("form.done button"))
	if got := s.cli("--home", s.home, "get", "quay light", "--raw"); !strings.Contains(got, "Not in fog.") {
		t.Errorf("after typing the entry is %q", got)
	}
	// The inbox has its own keys for the next row and for rejecting.
	v.open(t, "inbox")
	press("j")
	press("j")
	press("k")
	press("r")
	chromiumtest.RunActions(t, v.tab, "waiting", chromedp.WaitReady(".done"))
	v.clean(t, "by keys")
}

// liveWithin is the maximum time until an open page shows what another process has written.
const liveWithin = 300 * time.Millisecond

// TestLive tests that an open page shows by itself what another process has written.
func TestLive(t *testing.T) {
	s := serve(t)
	v := s.enter(t)
	v.look(t, 1280, "light", true)
	v.open(t, "")
	best := time.Hour
	for i := range 5 { // The shortest of several times is used, because the machine may be busy.
		name := fmt.Sprintf("new buoy %d", i)
		// The page records the time. The end of the command is the latest possible time of the write.
		chromiumtest.EvalJavaScript[bool](
			t,
			v.tab,
			fmt.Sprintf(`(() => { window.seen = new Promise(done => { const look = () => {
			if (document.body.textContent.includes(%q)) done(Date.now()); else setTimeout(look, 5) }; look() }); return true })()`, name),
		)
		s.cli("--home", s.home, "remember", name, "--content", "It is red.")
		written := time.Now()
		seen := time.UnixMilli(chromiumtest.EvalJavaScript[int64](t, v.tab, "window.seen"))
		best = min(best, seen.Sub(written))
	}
	t.Logf("shown %v after the command's end", best)
	if best > liveWithin {
		t.Errorf("a write was shown %v after it, want %v", best, liveWithin)
	}
	v.clean(t, "waiting")
}
