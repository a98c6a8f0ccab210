//go:build !js

// This file tests that an update of an open page loses nothing that a person is doing on the page.

package ui_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

// watcher is a person who does something on a page while another process changes the memory.
type watcher struct{ person }

// newWatcher serves a memory whose pages are higher than the window, and opens a browser.
func newWatcher(t *testing.T) *watcher {
	s := serve(t)
	for i := range 30 {
		s.cli("--home", s.home, "remember", fmt.Sprintf("pier %d", i), "--content",
			fmt.Sprintf("Pier %d has a crane.\n\n```\nberth %d\n```\n", i, i))
	}
	w := &watcher{person{visit: s.enter(t), t: t}}
	w.look(t, 1280, "light", true)
	return w
}

// openPage opens a page. It stores the text of the last document that the page parses in window.read. It also sets the
// attribute data-before of the page, so that a test detects when another page is loaded.
func (w *watcher) openPage(path string) {
	w.t.Helper()
	w.open(w.t, path)
	w.eval(`(() => { window.read = ""; const parse = DOMParser.prototype.parseFromString;
		DOMParser.prototype.parseFromString = function(text, type) { window.read = String(text); return parse.call(this, text, type) };
		document.documentElement.dataset.before = ""; return true })()`)
}

// remember writes an entry in another process, and waits until the page has read a document that contains the last
// word of the text. The page has then replaced its live parts, unless it postpones that.
func (w *watcher) remember(name, text string) {
	w.t.Helper()
	w.cli("--home", w.home, "remember", name, "--content", text)
	w.until(fmt.Sprintf("window.read.includes(%q)", lastWord(text)))
	w.eval("new Promise(done => setTimeout(() => done(true), 0))")
}

func lastWord(text string) string {
	words := strings.Fields(text)
	return words[len(words)-1]
}

// waitForUpdate waits until the page shows a text.
func (w *watcher) waitForUpdate(text string) {
	w.t.Helper()
	w.until(fmt.Sprintf("document.body.textContent.includes(%q)", text))
}

// arrive waits until another page is loaded, whose address has to end with suffix.
func (w *watcher) arrive(suffix string) {
	w.t.Helper()
	chromiumtest.RunActions(w.t, w.tab, "waiting for "+suffix, chromedp.WaitReady("html:not([data-before]) footer"))
	if got := chromiumtest.EvalJavaScript[string](w.t, w.tab, "location.pathname"); !strings.HasSuffix(got, suffix) {
		w.t.Errorf("the browser went to %s, want %s", got, suffix)
	}
}

const (
	todayLink   = `#live a[href$="entries/pier%2029"]` // a link in the live part of Today
	entryButton = `#entry form[action$="/pin"] button` // a button in the live part of an entry's page
	// the summary element of a details element in the live navigation
	moreSummary = `#places summary`
	// a details element without an id, which the server sends closed
	scoreDetail = `#results li:has([href*="pier%2020"]) details`
)

// TestLiveKeepsPresses tests that a press counts if the memory changes before the release, with the mouse and with
// the keyboard.
func TestLiveKeepsPresses(t *testing.T) {
	w := newWatcher(t)
	press := func(selector string) { w.sendMouse(chromedp.MousePressed, w.middleOf(selector)) }
	release := func(selector string) { w.sendMouse(chromedp.MouseReleased, w.middleOf(selector)) }
	for _, test := range []struct {
		name, page, selector, arrive string // the person presses the element of the selector, and arrives at a page
		down, up                     func(selector string)
	}{
		{"mouse on a link", "", todayLink, "entries/pier%2029", press, release},
		{"mouse on a button", "entries/pier%2020", entryButton, "entries/pier%2020", press, release},
		{"space on a button", "entries/pier%2020", entryButton, "entries/pier%2020",
			func(selector string) { w.focus(selector); w.sendKey(' ', kb.KeyDown, kb.KeyChar) },
			func(string) { w.sendKey(' ', kb.KeyUp) }},
		{"enter on a button", "entries/pier%2020", entryButton, "entries/pier%2020",
			func(selector string) { w.focus(selector); w.sendKey('\r', kb.KeyDown) },
			func(string) { w.sendKey('\r', kb.KeyChar, kb.KeyUp) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.t = t
			w.openPage(test.page)
			test.down(test.selector)
			w.remember("pier 20", "Changed for "+strings.ReplaceAll(test.name, " ", "-"))
			test.up(test.selector)
			w.arrive(test.arrive)
			w.clean(t, test.name)
		})
	}
	if got := w.cli("--home", w.home, "get", "pier 20", "--json"); !strings.Contains(got, "pinned") {
		t.Errorf("after three presses of Pin and Unpin, the entry is %s", got)
	}
}

// TestLiveShowsChangesAfterwards tests that a page postpones an update while the person presses, drags or selects
// something. When the person has finished, the page must show the change.
func TestLiveShowsChangesAfterwards(t *testing.T) {
	w := newWatcher(t)
	away := point{X: 5, Y: 5}
	script := func(code string) func() {
		return func() { w.eval("(() => { " + code + "; return true })()") }
	}
	const link = "document.querySelector('" + todayLink + "')"
	for _, test := range []struct {
		name       string
		begin, end func()
	}{
		{"press without a click",
			func() { w.sendMouse(chromedp.MousePressed, w.middleOf(todayLink)) },
			func() { w.sendMouse(chromedp.MouseReleased, away) }},
		{"drag", script(link + ".dispatchEvent(new DragEvent('dragstart', {bubbles: true}))"),
			script(link + ".dispatchEvent(new DragEvent('dragend', {bubbles: true}))")},
		{"selected text", script("getSelection().selectAllChildren(" + link + ")"),
			script("getSelection().removeAllRanges()")},
		{"pressed key", func() { w.focus(todayLink); w.sendKey(' ', kb.KeyDown) },
			func() { w.sendKey(' ', kb.KeyUp) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.t = t
			w.openPage("")
			text := "Written-during-" + strings.ReplaceAll(test.name, " ", "-")
			test.begin()
			w.remember("pier 20", text)
			if w.eval(fmt.Sprintf("document.querySelector('#live').textContent.includes(%q)", text)) {
				t.Error("the page is updated too early")
			}
			test.end()
			w.waitForUpdate(text)
			w.clean(t, test.name)
		})
	}
}

// TestLiveKeepsTheView tests what must stay the same for the user when a page is updated while it is open, for example
// the focus and the scroll position.
func TestLiveKeepsTheView(t *testing.T) {
	w := newWatcher(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *watcher)
	}{
		{"focus", testFocus},
		{"current row", testCurrentRow},
		{"details", testOpenDetails},
		{"place in the window", testPlaceInWindow},
		{"element under the pointer", testElementUnderPointer},
		{"code", testCopyButton},
		{"unchanged part", testUnchangedPart},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.t = t
			test.run(t, w)
			w.clean(t, test.name)
		})
	}
}

// testFocus tests that an update keeps the focus on its element, which has no id.
func testFocus(t *testing.T, w *watcher) {
	w.openPage("")
	w.focus(todayLink)
	w.remember("focus light", "The focus light is at pier focuslight.")
	w.waitForUpdate("focuslight")
	if !w.eval("document.activeElement.matches('" + todayLink + "')") {
		t.Error("the focus is lost")
	}
}

// testCurrentRow tests that an update keeps the row that keys apply to.
func testCurrentRow(t *testing.T, w *watcher) {
	w.openPage("")
	chromiumtest.RunActions(t, w.tab, "pressing j", chromedp.KeyEvent("jjj"))
	current := "document.querySelector('.current a').textContent"
	before := chromiumtest.EvalJavaScript[string](t, w.tab, current)
	w.remember("row light", "The row light is at pier rowlight.")
	w.waitForUpdate("rowlight")
	if got := chromiumtest.EvalJavaScript[string](t, w.tab, current); got != before {
		t.Errorf("the current row is %q, want %q", got, before)
	}
}

// testOpenDetails opens two HTML details elements, one with an ID and one without. After the page updates, both must
// still be open, and no other details element may be open in the results.
func testOpenDetails(t *testing.T, w *watcher) {
	w.openPage("find?q=pier+crane&explain=1")
	w.eval(
		"(() => { document.querySelector('" + moreSummary + "').click(); document.querySelector('" + scoreDetail +
			"').open = true; return true })()",
	)
	w.remember("pier 31", "A pier with a crane craneless")
	w.waitForUpdate("craneless")
	if !w.eval("document.querySelector('" + scoreDetail + "').open && document.querySelector('#more').open") {
		t.Error("details are closed")
	}
	if n := chromiumtest.EvalJavaScript[int](t, w.tab, "document.querySelectorAll('#results details[open]').length"); n != 1 {
		t.Errorf("%d details are open, want 1", n)
	}
}

// testPlaceInWindow tests that what a person reads does not move, although a row is inserted above.
func testPlaceInWindow(t *testing.T, w *watcher) {
	w.openPage("")
	w.eval("(() => { scrollTo(0, 400); return true })()")
	top := "[...document.querySelectorAll('#live li a')].find(a => a.href.endsWith('pier%2029')).getBoundingClientRect().top"
	before := chromiumtest.EvalJavaScript[float64](t, w.tab, top)
	w.remember("place light", "The place light is at pier placelight.")
	w.waitForUpdate("placelight")
	w.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
	if got := chromiumtest.EvalJavaScript[float64](t, w.tab, top); math.Abs(got-before) > 1 {
		t.Errorf("a link moved from %v to %v", before, got)
	}
}

// testElementUnderPointer tests that a click after an update hits the element at which the pointer rested before.
func testElementUnderPointer(t *testing.T, w *watcher) {
	w.openPage("")
	at := w.middleOf(todayLink)
	w.sendMouse(chromedp.MouseMoved, at)
	w.remember("pointer light", "The pointer light is at pier pointerlight.")
	w.waitForUpdate("pointerlight")
	w.sendMouse(chromedp.MousePressed, at)
	w.sendMouse(chromedp.MouseReleased, at)
	w.arrive("entries/pier%2029")
}

// testCopyButton tests that code in an updated text can be copied.
func testCopyButton(t *testing.T, w *watcher) {
	w.openPage("entries/pier%203")
	w.remember("pier 3", "```\nberth\n```\n\nthirty")
	w.waitForUpdate("thirty")
	if !w.eval("!!document.querySelector('#entry .code .copy')") {
		t.Error("the button that copies code is missing")
	}
}

// testUnchangedPart tests that the page does not replace a part of itself if another entry is added and the part has
// not changed. Elements that the page's own script added to the part do not count as a change.
func testUnchangedPart(t *testing.T, w *watcher) {
	w.openPage("entries/pier%205")
	w.eval("(() => { window.part = document.querySelector('#entry'); return true })()")
	w.cli("--home", w.home, "remember", "other light", "--content", "It is new.")
	w.until("window.read !== ''")
	w.eval("new Promise(done => setTimeout(() => done(true), 0))")
	if !w.eval("window.part === document.querySelector('#entry')") {
		t.Error("a part that did not change was replaced")
	}
}

// TestLiveKeepsInput tests that an update of a page keeps the text of a field that does not have the focus any more. An
// update of the log page must also keep a row that a person has opened, even if the server has not yet sent the row's
// change.
func TestLiveKeepsInput(t *testing.T) {
	w := newWatcher(t)
	w.openPage("find?q=pier")
	w.eval("(() => { document.querySelector('#results #label').value = 'tag:quay'; return true })()")
	w.remember("pier 40", "Pier fortynew")
	if got := chromiumtest.EvalJavaScript[string](t, w.tab, "document.querySelector('#results #label').value"); got != "tag:quay" {
		t.Errorf("the field contains %q", got)
	}
	// The change of a log row is shown although the log is updated before it arrives.
	w.openPage("log")
	w.eval(`(() => { const send = window.fetch; window.fetch = (url, ...more) => /log\/\d+$/.test(url)
		? new Promise(done => { window.answer = () => done(send(url, ...more)) }) : send(url, ...more);
		document.querySelectorAll("#changes a[data-inline]")[3].click(); return true })()`)
	w.remember("pier 41", "Pier fortyonenew")
	w.eval("(() => { window.answer(); return true })()")
	w.until("document.querySelector('#changes .inline')")
	w.clean(t, "typing")
}
