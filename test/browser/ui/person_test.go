//go:build !js

// This file uses the mouse and the keyboard like a person.

package ui_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

// person uses the pages in a tab. Its methods fail the test t if the page does not have the expected state.
type person struct {
	*visit
	t *testing.T
}

// point is a position in the window, in CSS pixels.
type point struct{ X, Y float64 }

// eval evaluates a JavaScript expression whose value is a bool.
func (p *person) eval(expression string) bool {
	p.t.Helper()
	return chromiumtest.EvalJavaScript[bool](p.t, p.tab, expression)
}

// until waits until a JavaScript expression is true.
func (p *person) until(expression string) {
	p.t.Helper()
	p.waitUntil(p.t, expression)
}

// middleOf scrolls an element into the window and returns its middle.
func (p *person) middleOf(selector string) point {
	p.t.Helper()
	middle := p.waitForMiddle(selector, "true")
	if middle == nil {
		p.t.Fatalf("the page has no %s", selector)
	}
	return *middle
}

// waitForMiddle scrolls the first element that matches selector into the window. It waits until the JavaScript
// expression condition is true, and returns the middle of the element in the window. The expression may use the
// variable e (the element) and the variable middle (its middle). waitForMiddle returns nil if no element matches, or if
// the element disappears while it waits.
func (p *person) waitForMiddle(selector, condition string) *point {
	p.t.Helper()
	return chromiumtest.EvalJavaScript[*point](p.t, p.tab, fmt.Sprintf(`new Promise(done => { const look = () => {
		const e = document.querySelector(%q);
		if (!e) return done(null);
		e.scrollIntoView({block: "nearest", behavior: "instant"});
		const box = e.getClientRects()[0];
		const middle = {X: box.x + box.width / 2, Y: box.y + box.height / 2};
		if (%s) done(middle); else setTimeout(look, 10) }; look() })`, selector, condition))
}

// sendMouse sends an event of the mouse. Presses and releases are those of the left button.
func (p *person) sendMouse(event input.DispatchMouseEventType, at point) {
	p.t.Helper()
	chromiumtest.RunActions(p.t, p.tab, "using the mouse", chromedp.MouseEvent(event, at.X, at.Y,
		func(params *input.DispatchMouseEventParams) {
			if event != chromedp.MouseMoved {
				params.Button, params.ClickCount = input.MouseButtonLeft, 1
			}
		}))
}

// sendKey sends the events of a key that have one of the types.
func (p *person) sendKey(key rune, types ...input.DispatchKeyEventType) {
	p.t.Helper()
	for _, event := range kb.Encode(key) {
		if !slices.Contains(types, event.Type) {
			continue
		}
		if _, err := chromedp.Call(p.tab, input.DispatchKeyEvent, *event); err != nil {
			p.t.Fatal(err)
		}
	}
}

// focus moves the focus to an element.
func (p *person) focus(selector string) {
	p.t.Helper()
	p.eval(fmt.Sprintf("(() => { document.querySelector(%q).focus(); return true })()", selector))
}

// expectEvent makes the page record whether the next events of a type arrive as expected. The JavaScript expression
// isExpected decides that for the variable event.
func (p *person) expectEvent(eventType, isExpected string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`(() => {
		const root = document.documentElement;
		root.dataset.before = "";
		delete root.dataset.received;
		window.stopRecording?.();
		const record = event => {
			const hit = event.target.closest("a, button, summary, input, select, textarea, label");
			if (%s) root.dataset.received = "expected";
			else if (hit && root.dataset.received !== "expected") root.dataset.received = hit.outerHTML.slice(0, 200);
		};
		addEventListener(%[2]q, record, true);
		window.stopRecording = () => removeEventListener(%[2]q, record, true);
		return true })()`, isExpected, eventType))
}

// receivedEvent reports where the event of a click or key arrived. It returns "expected" if the event arrived at the
// expected element, or if another page is loaded. It returns the HTML of the element if the event arrived at another
// link, button or form element. It returns "" if the event arrived at none of these.
func (p *person) receivedEvent() string {
	p.t.Helper()
	const received = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
		const root = document.documentElement.dataset;
		done("before" in root ? root.received ?? "" : "expected") })))` // input arrives before the next frame
	var err error
	for range 3 { // the evaluation fails if another page is loaded meanwhile
		var value string
		ctx, cancel := context.WithTimeout(p.tab, chromiumtest.MaxWait)
		value, err = chromedp.Run(ctx, chromedp.Evaluate[string](received, chromedp.EvalAwaitPromise))
		cancel()
		if err == nil {
			return value
		}
	}
	p.t.Fatalf("after an event: %v", err)
	return ""
}

// aimAt moves the mouse to an element, waits until no other element covers its middle, and returns the middle. It
// returns nil if the element is replaced before that.
func (p *person) aimAt(selector string) *point {
	p.t.Helper()
	middle := p.waitForMiddle(selector, "true")
	if middle == nil {
		return nil
	}
	p.sendMouse(chromedp.MouseMoved, *middle) // the page postpones updates while the mouse moves
	return p.waitForMiddle(selector, "e.contains(document.elementFromPoint(middle.X, middle.Y))")
}

// TestClick tests that the method click of worker causes exactly one click event. An element may move away between the
// press and the release of the mouse button, so that the browser sends no click event. In this case, the method must
// still cause exactly one click event.
func TestClick(t *testing.T) {
	w := &worker{person: person{visit: serve(t).enter(t), t: t}}
	w.look(t, 1280, "light", true)
	for name, onPress := range map[string]string{
		"an element that stays":      "",
		"an element that moves once": "this.style.marginTop = '300px'",
	} {
		w.from("")
		w.eval(fmt.Sprintf(`(() => { const button = document.createElement("button");
			button.id = "button"; button.textContent = "Count"; window.received = 0;
			button.addEventListener("pointerdown", function() { %s }, {once: true});
			button.addEventListener("click", () => window.received++);
			document.querySelector("main").prepend(button); return true })()`, onPress))
		w.click("#button", "Count")
		if got := chromiumtest.EvalJavaScript[int](t, w.tab, "window.received"); got != 1 {
			t.Errorf("%s received %d clicks, want 1", name, got)
		}
	}
	w.clean(t, "clicking")
}
