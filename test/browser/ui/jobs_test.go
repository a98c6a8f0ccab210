//go:build !js

// This file does the jobs of a person with the memory of package trial, and counts the clicks.

package ui_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
	"github.com/oxbow-memory/oxbow/test/browser/trial"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// worker is a person who works in a tab. The clicks of the person are counted.
type worker struct {
	person
	clicks int
}

// from opens a page and sets the number of clicks to 0.
func (w *worker) from(path string) {
	w.t.Helper()
	w.open(w.t, path)
	w.clicks = 0
}

// click clicks on the first visible element that the selector matches and whose text contains text. If the page did not
// receive the click, because the layout changed before it, click tries again. It never clicks again after a click that
// arrived, because that would send a form twice.
func (w *worker) click(selector, text string) {
	w.t.Helper()
	w.clicks++
	for range 3 {
		if !w.mark(selector, text) {
			w.t.Fatalf(
				"%s has no %s with the text %q",
				chromiumtest.EvalJavaScript[string](w.t, w.tab, "location.href"),
				selector,
				text,
			)
		}
		middle := w.aimAt(fmt.Sprintf("[data-click='%d']", w.clicks))
		if middle == nil { // an update replaced the element
			continue
		}
		w.expectEvent("click", fmt.Sprintf("event.target.closest(%q)?.textContent.includes(%q)", selector, text))
		w.sendMouse(chromedp.MousePressed, *middle)
		w.sendMouse(chromedp.MouseReleased, *middle)
		switch received := w.receivedEvent(); received {
		case "expected":
			return
		case "":
			w.t.Logf("the click on %q did not arrive", text)
		default:
			w.t.Fatalf("the click on %q arrived at %s", text, received)
		}
	}
	w.t.Fatalf("three clicks on %q did not arrive", text)
}

// mark finds the first visible element that the method click would click. It stores the number of the click in the
// element's attribute data-click. It returns false if the page has no such element.
func (w *worker) mark(selector, text string) bool {
	w.t.Helper()
	return w.eval(fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll(%q)].find(e => e.textContent.includes(%q) && e.checkVisibility());
		if (e) e.dataset.click = %d;
		return !!e })()`, selector, text, w.clicks))
}

// arrive waits until the page that follows the last click has been loaded. The page of the click has the attribute
// data-before, which the new page lacks.
func (w *worker) arrive() {
	w.t.Helper()
	chromiumtest.RunActions(
		w.t,
		w.tab,
		"waiting for the next page",
		chromedp.WaitReady("html:not([data-before]) footer"),
	)
	w.loaded(w.t)
}

// most fails the test if the job needed more clicks than limit.
func (w *worker) most(job string, limit int) {
	w.t.Helper()
	w.t.Logf("%s: %d clicks", job, w.clicks)
	if w.clicks > limit {
		w.t.Errorf("%s took %d clicks, want at most %d", job, w.clicks, limit)
	}
	w.clean(w.t, job)
}

// shows reports whether the visible text of the page contains the given text.
func (w *worker) shows(text string) bool {
	w.t.Helper()
	return chromiumtest.EvalJavaScript[bool](w.t, w.tab, fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// TestJobs does each job of a person once, in a browser that runs the page's scripts.
func TestJobs(t *testing.T) {
	s := serveTrial(t)
	w := &worker{person: person{visit: s.enter(t), t: t}}
	w.look(t, 1280, "light", true)
	for _, job := range []struct {
		name string
		play func(*testing.T, *worker)
	}{
		{"why was the agent told this", jobWhyTold},
		{"a wrong memory", jobWrongMemory},
		{"results of a query", jobResults},
		{"why is an entry missing", jobExplain},
		{"compare versions", jobVersions},
		{"take a session back", jobSessionBack},
		{"the inbox by keys", jobInboxByKeys},
		{"the inbox by groups", jobInboxByGroups},
		{"find and label in bulk", jobLabelInBulk},
		{"export what was found", jobExport},
		{"import a file", jobImport},
		{"approve a part of an import", jobApprovePart},
		{"a file that is too large", jobTooLarge},
		{"copy code", jobCopy},
		{"print an entry", jobPrint},
		{"share with the team", jobShare},
	} {
		t.Run(job.name, func(t *testing.T) {
			w.t = t
			job.play(t, w)
		})
	}
}

// jobWhyTold starts at an entry and finds the prompt with which a model was shown the entry.
func jobWhyTold(t *testing.T, w *worker) {
	w.from("entries/" + url.PathEscape(trial.ShownNoteName))
	if !w.shows("How long is the card network timeout") {
		t.Error("the entry does not show the prompt with which it was shown")
	}
	w.click("#shown a", "With a prompt")
	w.arrive()
	if !w.shows("How long is the card network timeout") {
		t.Error("the page does not show the prompt")
	}
	w.most("why was the agent told this", 1)
}

// jobWrongMemory finds a note that an agent overwrote, and restores the text that the person wrote.
func jobWrongMemory(t *testing.T, w *worker) {
	w.from("")
	for _, line := range strings.Split("Agents changed 1 note\nWe ship on Fridays at noon.\nWe ship on Mondays at noon.", "\n") {
		if !w.shows(line) {
			t.Errorf("Today does not show %q", line)
		}
	}
	w.click("#changed button", "Bring back")
	w.arrive()
	if got := w.cli("get", trial.OverwrittenNoteName, "--raw"); !strings.Contains(got, "Fridays") {
		t.Errorf("the note is %q", got)
	}
	w.most("a wrong memory", 2)
	w.click("form.done button", "Undo")
	w.arrive()
	w.from("entries/" + trial.OverwrittenNoteName)
	if !w.shows("An agent changed what you wrote") {
		t.Error("the entry does not say that an agent changed it")
	}
}

// waiting returns the number of rows in the inbox that can be approved.
func (w *worker) waiting() int {
	w.t.Helper()
	return chromiumtest.EvalJavaScript[int](w.t, w.tab, `document.querySelectorAll(".card [data-key=a]").length`)
}

// press presses a key and waits for the next page. It presses again if the page did not receive the key.
func (w *worker) press(key string) {
	w.t.Helper()
	for range 3 {
		w.expectEvent("keydown", fmt.Sprintf("event.key === %q", key))
		chromiumtest.RunActions(w.t, w.tab, "pressing "+key, chromedp.KeyEvent(key))
		if w.receivedEvent() == "expected" {
			w.arrive()
			return
		}
		w.t.Logf("the key %q did not arrive", key)
	}
	w.t.Fatalf("the key %q did not arrive three times", key)
}

// jobInboxByKeys decides about rows with one key for each row, and undoes a rejection.
func jobInboxByKeys(t *testing.T, w *worker) {
	w.from("inbox")
	all := w.waiting()
	if got := chromiumtest.EvalJavaScript[string](t, w.tab, `document.querySelector("#places .count").textContent`); got != fmt.Sprint(
		all,
	) {
		t.Errorf("the navigation says that %s things wait, want %d", got, all)
	}
	if all < trial.RememberRequestCount+len(trial.AgentNoteNames)+trial.InstructionLikeEntryCount {
		t.Errorf("%d rows wait", all)
	}
	current := `document.querySelector(".current").id`
	for i, key := range []string{"a", "r", "a", "r"} {
		w.press(key)
		if got := w.waiting(); got != all-i-1 {
			t.Fatalf("after %d keys %d of %d rows wait", i+1, got, all)
		}
		if got := chromiumtest.EvalJavaScript[string](t, w.tab, current); got != "row-0" {
			t.Errorf("after %d keys the current row is %s", i+1, got)
		}
	}
	w.click(".done button", "Undo")
	w.arrive()
	if got := w.waiting(); got != all-3 {
		t.Errorf("after undoing a rejection %d of %d rows wait", got, all)
	}
	height := chromiumtest.EvalJavaScript[int](t, w.tab, "document.documentElement.scrollHeight")
	t.Logf("the inbox is %d pixels high", height)
	if height > 12_000 {
		t.Errorf("the inbox is %d pixels high", height)
	}
	w.most("the inbox by keys", 1)
}

// jobInboxByGroups approves or rejects the rows of the inbox by groups, with one click for each group. Only the two
// imports must remain. Then it undoes the last rejection, so that the rows of this group must be in the inbox again.
func jobInboxByGroups(t *testing.T, w *worker) {
	w.from("inbox")
	for _, button := range []string{"Approve all", "Reject all 3", "Reject all"} {
		w.click(".group button", button)
		w.arrive()
	}
	if got := w.waiting(); got != 2 {
		t.Errorf("%d rows wait, want the two imports", got)
	}
	w.most("the inbox by groups", 3)
	w.click(".done button", "Undo")
	w.arrive()
	if got := w.waiting(); got != 2+trial.InstructionLikeEntryCount {
		t.Errorf("after undoing the rejection of a group %d rows wait", got)
	}
}

// jobLabelInBulk adds the label tag:queue to all entries with the tag nats.
func jobLabelInBulk(t *testing.T, w *worker) {
	w.from("find?q=tag:nats")
	w.click(".bulk .all", fmt.Sprintf("All %d entries", trial.NatsTagEntryCount))
	w.click("#label", "")
	chromiumtest.RunActions(t, w.tab, "typing", chromedp.SendKeys("#label", "tag:queue"))
	w.click(".bulk button", "Add label")
	w.arrive()
	if got := w.cli("list", "--json", "--limit", "1", "tag:queue"); !strings.Contains(got,
		fmt.Sprintf(`"total":%d`, trial.NatsTagEntryCount)) {
		t.Errorf("of %d entries, these are labelled: %.200s", trial.NatsTagEntryCount, got)
	}
	w.most("label 186 entries", 5)
}

// jobResults tests the page Find. After the person types a new query, the results of the earlier query and their ticks
// must disappear. The key "/" must move the cursor to the search field. If the server does not answer any more, the
// page must say that the server cannot be reached, and must not show old results.
func jobResults(t *testing.T, w *worker) {
	w.from("find?q=tag:nats")
	w.click(".row.choice > input", "")
	chromiumtest.RunActions(t, w.tab, "pressing /", chromedp.KeyEvent("/"))
	chromiumtest.RunActions(t, w.tab, "typing", chromedp.KeyEvent("project:harbor berth"))
	w.until(`location.search.includes("berth") && document.querySelector("#results mark")`)
	if w.shows("nats.") {
		t.Error("results of the query before are shown")
	}
	if chromiumtest.EvalJavaScript[bool](t, w.tab, `!!document.querySelector("#results :checked")`) {
		t.Error("a tick is left on results of another query")
	}
	chromiumtest.EvalJavaScript[bool](
		t,
		w.tab,
		`(() => { window.fetch = () => Promise.reject(new TypeError("gone")); return true })()`,
	)
	chromiumtest.RunActions(t, w.tab, "typing", chromedp.KeyEvent(" gate"))
	w.until(`document.querySelector("#away")`)
	if !w.shows("The server cannot be reached") || w.shows("An exclusion constraint") {
		t.Error("the page shows old results, or does not say that the server cannot be reached")
	}
	w.most("results of a query", 1)
}

// jobExplain finds out how results were ranked, and why another entry is not among the results.
func jobExplain(t *testing.T, w *worker) {
	w.from("find?q=card+network+timeout")
	if w.shows("Score ") {
		t.Error("results are explained before anybody asks")
	}
	w.click("#results a", "Explain these results")
	w.arrive()
	for _, text := range []string{"Score ", "Would oxbow show this to an agent unasked?"} {
		if !w.shows(text) {
			t.Errorf("the explanation does not show %q", text)
		}
	}
	chromiumtest.RunActions(t, w.tab, "typing", chromedp.SendKeys("input[name=why]", "gate times"))
	w.click(".explanation button", "Why not?")
	w.arrive()
	if !w.shows("It contains none of the words of the query") {
		t.Error("the page does not say why the entry is missing")
	}
	w.most("why is an entry missing", 2)
}

// jobVersions compares the versions of a note.
func jobVersions(t *testing.T, w *worker) {
	w.from("entries/" + trial.OverwrittenNoteName)
	w.click("main a", "Versions")
	w.arrive()
	if !w.shows("We ship on Fridays") {
		t.Error("the versions do not show the text before")
	}
	words := `[...document.querySelectorAll(".diff b")].slice(0, 2).map(b => b.textContent).join(" ")`
	if got := chromiumtest.EvalJavaScript[string](t, w.tab, words); got != "Fridays Mondays" {
		t.Errorf("the marked words are %q", got)
	}
	w.most("compare versions", 1)
}

// jobSessionBack reverts the changes of a session.
func jobSessionBack(t *testing.T, w *worker) {
	w.from("sessions/claude/" + trial.AgentSessionID)
	if !w.shows("It wrote 3 entries, changed 1 entry") {
		t.Error("the session does not say what it wrote")
	}
	w.click("#wrote a", "Undo")
	w.arrive()
	w.click("main button", "Undo the session")
	w.arrive()
	if got := w.cli("list", "-q", "--limit", "1000", "project:harbor"); strings.Contains(got, trial.AgentNoteNames[0]) {
		t.Errorf("after taking the session back, %q is listed", trial.AgentNoteNames[0])
	}
	if got := w.cli("get", trial.OverwrittenNoteName, "--raw"); !strings.Contains(got, "Fridays") {
		t.Errorf("the note is %q", got)
	}
	w.most("take a session back", 2)
	w.click("form.done button", "Undo")
	w.arrive()
}

// jobExport downloads all entries that have a tag.
func jobExport(t *testing.T, w *worker) {
	w.from("find?q=tag:nats")
	link := `[...document.querySelectorAll("#results a[download]")].find(a => a.textContent.startsWith("Export"))`
	w.clicks++ // The browser would save the file, so the test reads the file itself.
	lines := chromiumtest.EvalJavaScript[int](t, w.tab, fmt.Sprintf(
		"fetch(%s.href).then(r => r.text()).then(text => text.trim().split('\\n').length)", link))
	if lines != trial.NatsTagEntryCount {
		t.Errorf("the exported file has %d lines, want %d", lines, trial.NatsTagEntryCount)
	}
	w.most("export what was found", 2)
}

// jobImport imports a file after a preview, undoes the import, and then undoes the undoing.
func jobImport(t *testing.T, w *worker) {
	file := filepath.Join(t.TempDir(), "berths.jsonl")
	if err := os.WriteFile(file, []byte(`{"name":"berth 7","content":"It is for pilots."}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.from("transfer")
	chromiumtest.RunActions(t, w.tab, "choosing a file", chromedp.SetUploadFiles("#file", []string{file}))
	w.click("form button", "Preview")
	w.arrive()
	if !w.shows("The file contains 1 new entry") || !w.shows("berth 7") {
		t.Error("the preview does not show the entry")
	}
	w.click("form button", "Import 1 entry")
	w.arrive()
	if !w.shows("Imported 1 new entry") || !w.shows("1 imported note from berths.jsonl") {
		t.Error("the inbox does not show the import")
	}
	w.most("import a file", 2)
	w.click(".done a", "Undo the import")
	w.arrive()
	w.click("main button", "Undo the session")
	w.arrive()
	if got := w.cli("list", "-q", "--limit", "10"); strings.Contains(got, "berth 7") {
		t.Error("after undoing the import, its entry is listed")
	}
	w.most("import a file and undo this", 4)
	w.click("form.done button", "Undo")
	w.arrive()
}

// jobApprovePart approves the entries of an import that have a certain label.
func jobApprovePart(t *testing.T, w *worker) {
	w.from("inbox")
	w.click(".card a", "Approve a part")
	w.arrive()
	w.click("main tr:has([href*=lantern]) button", "Approve")
	w.arrive()
	w.most("approve a part of an import", 2)
	const table = `document.querySelector("main table").innerText`
	got := chromiumtest.EvalJavaScript[string](t, w.tab, table)
	if strings.Contains(got, "lantern") || !strings.Contains(got, "harbor") {
		t.Errorf("after the approval of a project, the page shows %q", got)
	}
	w.click("form.done button", "Undo")
	w.arrive()
	if got := chromiumtest.EvalJavaScript[string](t, w.tab, table); !strings.Contains(got, "lantern") {
		t.Error("after undoing the approval, the project does not wait")
	}
}

// jobTooLarge chooses a file that is too large. The page must report this before it sends the file. Without scripts,
// the server must report it.
func jobTooLarge(t *testing.T, w *worker) {
	file := filepath.Join(t.TempDir(), "large.md")
	if err := os.WriteFile(file, make([]byte, 20<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	w.from("transfer")
	chromiumtest.RunActions(t, w.tab, "choosing a file", chromedp.SetUploadFiles("#file", []string{file}))
	const remedy = "oxbow import FILE"
	said := chromiumtest.EvalJavaScript[string](t, w.tab, `document.querySelector("#file").validationMessage`)
	if !strings.Contains(said, remedy) {
		t.Errorf("about a large file, the page says %q", said)
	}
	chromiumtest.EvalJavaScript[bool](
		t,
		w.tab,
		`(() => { document.querySelector("#file").setCustomValidity(""); return true })()`,
	)
	w.click("form button", "Preview")
	w.arrive()
	if !w.shows("The file is larger than 4 MB") || !w.shows(remedy) || !w.shows("Preview") {
		t.Error("the server does not say that the file is too large, or shows no form")
	}
	w.most("a file that is too large", 1)
}

// jobCopy copies the text of a code block.
func jobCopy(t *testing.T, w *worker) {
	w.from("entries/" + url.PathEscape(trial.ShownNoteName))
	chromiumtest.EvalJavaScript[bool](
		t,
		w.tab,
		`(() => { navigator.clipboard.writeText = text => { window.copied = text;
		return Promise.resolve() }; return true })()`,
	)
	w.click(".code .copy", "Copy")
	w.until("window.copied")
	got := chromiumtest.EvalJavaScript[string](t, w.tab, "window.copied")
	if !strings.HasPrefix(got, "func Charge(ctx context.Context, c Card) error {\n\tctx, cancel") {
		t.Errorf("the copied code is %q", got)
	}
	w.until(`document.querySelector(".code .copy").textContent === "Copied"`)
	w.most("copy code", 1)
}

// jobPrint tests that a printed entry contains the text, and does not contain navigation or buttons.
func jobPrint(t *testing.T, w *worker) {
	w.from("entries/" + url.PathEscape(trial.ShownNoteName))
	media := func(name string) {
		t.Helper()
		_, err := chromedp.Call(w.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name})
		if err != nil {
			t.Fatal(err)
		}
	}
	media("print")
	defer media("")
	visible := `[...document.querySelectorAll("header.top, nav, footer, button, aside")].filter(e => e.checkVisibility()).length`
	if n := chromiumtest.EvalJavaScript[int](t, w.tab, visible); n > 0 {
		t.Errorf("%d parts of the frame are printed", n)
	}
	for _, text := range []string{trial.ShownNoteName, "The client gives up", "func Charge", "Carte Bleue"} {
		if !w.shows(text) {
			t.Errorf("%q is not printed", text)
		}
	}
	w.most("print an entry", 0)
}

// jobShare moves a note to the files of the team.
func jobShare(t *testing.T, w *worker) {
	git := exec.Command(testenv.RequireProgram(t, "git", "apt install git"), "init", "-q", filepath.Dir(w.home))
	git.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	w.cli("team", "init")
	w.from("entries/gate%20times")
	w.click("main a", "Share with the team")
	w.arrive()
	w.click("main button", "Share with the team")
	w.arrive()
	if got := w.cli("team", "status"); !strings.Contains(got, "gate times") {
		t.Errorf("the team has %s", got)
	}
	w.most("share with the team", 2)
}
