// This file tests the model of the screen. It passes key presses and search results to the model, and checks the rows
// that the model returns.

package tui

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// player simulates the person who uses the screen model m, and carries out the effects that the model asks for. Its
// method recall finds the entries whose name or text contains the query.
type player struct {
	t       *testing.T
	m       *model
	now     time.Time
	entries []Hit
	did     []modelEffect // the effects since the last check, without searches and wake-ups
	asked   []searchEffect
	mute    bool // the player does not answer searches
}

func play(t *testing.T, width, height int, entries ...Hit) *player {
	p := &player{t: t, now: time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC), entries: entries}
	p.m = newModel("", screenSize{width, height}, typingPause)
	p.do(p.m.startFirstSearch(p.now))
	return p
}

func (p *player) recall(query string) (f QueryResult) {
	for _, h := range p.entries {
		if strings.Contains(h.Name+h.Text, query) {
			f.Hits = append(f.Hits, h)
		}
	}
	if len(f.Hits) == 0 {
		f.NoHitReasons = []string{"no entry holds " + query}
	}
	return f
}

func (p *player) do(effects []modelEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case searchEffect:
			p.asked = append(p.asked, e)
			if !p.mute {
				p.event(searchAnswer{e.searchNumber, p.recall(e.query)})
			}
		case timerEffect:
		default:
			p.did = append(p.did, e)
		}
	}
}

func (p *player) event(e any) { p.do(p.m.update(e, p.now)) }

// wait advances the clock by d, and then sends a timer event to the model.
func (p *player) wait(d time.Duration) {
	p.now = p.now.Add(d)
	p.event(timerEvent{})
}

// types presses the keys that a terminal sends as these bytes, and then pauses.
func (p *player) types(bytes string) {
	b := []byte(bytes)
	for len(b) > 0 {
		k, n := decodeKey(b, true)
		p.event(k)
		b = b[n:]
	}
	p.wait(typingPause)
}

// rows returns the rows of the screen without colours. It checks that each row fits and is safe to show.
func (p *player) rows() (rows []string) {
	p.t.Helper()
	f := p.m.render()
	if len(f.rows) != p.m.height || (f.hasCursor && (f.cursorRow >= p.m.height || f.cursorColumn >= p.m.width)) {
		p.t.Fatalf(
			"at %v: %d rows, cursor in column %d of row %d",
			p.m.screenSize,
			len(f.rows),
			f.cursorColumn,
			f.cursorRow,
		)
	}
	for _, row := range f.rows {
		for _, c := range termtext.EscapeSequences {
			row = strings.ReplaceAll(row, c, "")
		}
		if i := strings.IndexFunc(row, func(r rune) bool {
			return termtext.IsHarmful(r) || r == '\n' || r == '\t'
		}); i >= 0 {
			p.t.Fatalf("at %v: row %q holds %q", p.m.screenSize, row, row[i:])
		}
		if n := termtext.CountColumns(row); n > max(p.m.width, 4) {
			p.t.Fatalf("at %v: row %q has %d columns", p.m.screenSize, row, n)
		}
		rows = append(rows, strings.TrimRight(row, " "))
	}
	return rows
}

// gaps matches the spaces between two columns.
var gaps = regexp.MustCompile(`\b {2,}`)

// shows checks the first rows of the screen. In want, "" matches any row, and two spaces match a gap of any width.
func (p *player) shows(want ...string) {
	p.t.Helper()
	rows := p.rows()
	for i, w := range want {
		if w != "" && w != gaps.ReplaceAllString(rows[i], "  ") {
			p.t.Errorf("row %d is %q, want %q in\n%s", i, rows[i], w, strings.Join(rows, "\n"))
		}
	}
}

// foot checks the last row of the screen.
func (p *player) foot(want string) {
	p.t.Helper()
	if rows := p.rows(); rows[len(rows)-1] != want {
		p.t.Errorf("the last row is %q, want %q", rows[len(rows)-1], want)
	}
}

// hasDone checks which effects occurred since the last call of hasDone.
func (p *player) hasDone(want ...modelEffect) {
	p.t.Helper()
	if !reflect.DeepEqual(p.did, want) {
		p.t.Errorf("effects are %#v, want %#v", p.did, want)
	}
	p.did = nil
}

const (
	keyDown = "\x1b[B"
	keyUp   = "\x1b[A"
	keyEsc  = "\x1b"
)

var (
	style = Hit{Name: "style", Version: 1, MetadataText: "note · project:site", Text: "Tabs, not spaces.\nIn Go, too.",
		Words: []string{"tabs"}}
	deploy = Hit{Name: "deploy", Version: 2, MetadataText: "note", Text: "Deploy before noon."}
	drafts = Hit{Name: "draft", Version: 3, MetadataText: "note", Text: "Perhaps deploy twice."}
)

// The screen finds what is typed, and shows the chosen entry below the list.
func TestTyping(t *testing.T) {
	p := play(t, 60, 10, style, deploy, drafts)
	p.shows(">", "3 entries, newest first", "▸ style  Tabs, not spaces. In Go, too.", "  deploy  Deploy before noon.",
		"  draft  Perhaps deploy twice.", "── note · project:site ─────────────────────────────────────",
		"Tabs, not spaces.", "In Go, too.", "",
		"Tab list · Enter prints · Esc quits")
	p.types("eploy")
	p.shows("> eploy", "2 entries", "▸ deploy  Deploy before noon.", "  draft  Perhaps deploy twice.")
	p.types("\x0e") // Ctrl-N chooses the next entry while the query is being typed
	p.shows(
		"> eploy",
		"",
		"  deploy  Deploy before noon.",
		"▸ draft  Perhaps deploy twice.",
		"",
		"",
		"Perhaps deploy twice.",
	)
	p.types(" twice")
	p.shows("> eploy twice", "1 entry", "▸ draft  Perhaps deploy twice.")
	p.types("x")
	p.shows("> eploy twicex", "nothing found", "no entry holds eploy twicex", "", "")
	p.foot("Ctrl-U empties the query · Esc quits")
	p.types("\x15deed\x1b[D\x1b[D\x7fXY\x1b[3~")
	p.shows("> dXYd")
	if f := p.m.render(); !f.hasCursor || f.cursorColumn != 5 {
		t.Errorf("cursor %v in column %d, want 5", f.hasCursor, f.cursorColumn)
	}
	p.hasDone()
	p.types(keyEsc)
	p.hasDone(quitEffect{})
}

// A search starts after a pause in typing. Only the answer to the latest search is shown. An older search's answer is
// dropped, even if it arrives later.
func TestLatestSearchWins(t *testing.T) {
	p := play(t, 60, 10, style, deploy)
	p.mute, p.asked = true, nil
	for _, k := range "dep" {
		p.event(keyPress{keyText, string(k)})
		p.wait(typingPause / 2)
	}
	if len(p.asked) > 0 {
		t.Fatalf("while keys come: %v", p.asked)
	}
	p.wait(typingPause)
	p.types("l")
	if want := []searchEffect{{2, "dep"}, {3, "depl"}}; !slices.Equal(p.asked, want) {
		t.Fatalf("asked %v, want %v", p.asked, want)
	}
	p.shows("", "2 entries, newest first")
	p.wait(slowSearchDelay)
	p.shows("", "searching…", "▸ style  Tabs, not spaces. In Go, too.")
	p.event(searchAnswer{3, QueryResult{Hits: []Hit{deploy}}})
	p.event(searchAnswer{2, QueryResult{Hits: []Hit{style}}})
	p.shows("> depl", "1 entry", "▸ deploy  Deploy before noon.")

	// Each key that does not change the query repeats the search. The answer to a repeated search is dropped if a newer
	// search was started since.
	p.types(keyDown)
	p.types(keyDown)
	p.event(searchAnswer{4, QueryResult{Hits: []Hit{style, deploy}}})
	if want := []searchEffect{{4, "depl"}, {5, "depl"}}; !slices.Equal(p.asked[2:], want) {
		t.Fatalf("asked %v, want %v", p.asked[2:], want)
	}
	p.shows("", "2 entries", "  style  Tabs, not spaces. In Go, too.", "▸ deploy  Deploy before noon.")
}

// An incomplete query is not run, and the hits of the last query stay on the screen.
func TestUnfinishedQuery(t *testing.T) {
	p := play(t, 60, 10, style, deploy)
	p.types("style")
	for add, lacks := range map[string]string{" project:": "project: lacks its value",
		` "two`: "the quotation is open", " -": "a word follows -", " -tag:": "tag: lacks its value",
		` tag:"two w`: "the quotation is open", ` -"a \"`: "the quotation is open"} {
		before := len(p.asked)
		p.types(add)
		p.shows("", lacks+" · as before", "▸ style  Tabs, not spaces. In Go, too.")
		p.types(strings.Repeat("\x7f", len(add)))
		p.shows("> style", "1 entry")
		if a := p.asked[before:]; len(a) != 1 || a[0].query != "style" {
			t.Errorf("%q had %v asked", add, a)
		}
	}
	for _, q := range []string{"", "a:", "http:", `a"b`, `"two words"`, `tag:"x"`, "project: x", "-5", `"a\"b"`,
		"+must", "tag:a,b"} {
		if lacks := incompleteQueryReason(q); lacks != "" {
			t.Errorf("unfinished(%q) = %q", q, lacks)
		}
	}
	p.mute = true
	p.types(" on:2")
	p.event(searchAnswer{p.m.lastSearchNumber, QueryResult{IncompleteQueryReason: `"2" is not a date`}})
	p.shows("> style on:2", `"2" is not a date · as before`, "▸ style  Tabs, not spaces. In Go, too.")
	p.types("0")
	p.event(searchAnswer{p.m.lastSearchNumber, QueryResult{Failure: "the store is damaged\noxbow check"}})
	p.shows(
		"",
		"",
		"▸ style  Tabs, not spaces. In Go, too.",
		"",
		"",
		"",
		"",
		"",
		"the store is damaged",
		"oxbow check",
	)
}

// Enter chooses an entry and Ctrl-Y copies one, in each mode.
func TestChoosing(t *testing.T) {
	p := play(t, 80, 12, style, deploy)
	p.types("\x19")
	p.hasDone(copyTextEffect{style})
	p.foot("copied style, if the terminal allows it")
	p.types(keyDown + keyDown + "\x19\r")
	p.hasDone(copyTextEffect{deploy}, chooseEntryEffect{deploy})
	p.event(loadedEntry{deploy, EntryDetails{Version: 2, Text: "whole"}})
	p.types("\x19")
	p.types("\r")
	whole := deploy
	whole.Version = 2
	p.hasDone(copyTextEffect{whole}, chooseEntryEffect{whole})
}

// In the list, letters act on the chosen entry.
func TestListKeys(t *testing.T) {
	p := play(t, 80, 12, style, deploy)
	p.types(keyDown)
	p.foot("e edit · d forget · u undo · Enter prints it · Ctrl-O shows all · Tab · Esc")
	p.types("u")
	p.foot("nothing to undo: nothing was changed in this screen")
	p.types(keyDown + "e")
	p.hasDone(editEntryEffect{deploy})
	p.types("ed") // while a change is running, other changes are ignored
	p.hasDone()
	p.event(changeOutcome{ChangeResult{Text: "updated deploy", ChangeNumber: 7}, false})
	p.foot("updated deploy")
	p.types("d")
	p.foot("Forget deploy? y forgets it, any other key keeps it")
	p.types("n")
	p.foot("kept")
	p.types("dy")
	p.hasDone(forgetEntryEffect{deploy})
	p.entries = []Hit{style}
	p.event(changeOutcome{ChangeResult{Text: "forgot deploy", ChangeNumber: 8}, false})
	p.shows("", "1 entry, newest first", "▸ style  Tabs, not spaces. In Go, too.")
	p.types("u")
	p.hasDone(undoChangeEffect{8})
	p.entries = []Hit{style, deploy}
	p.event(changeOutcome{ChangeResult{Text: "undone", Name: "deploy"}, true})
	p.shows("", "2 entries, newest first", "  style  Tabs, not spaces. In Go, too.", "▸ deploy  Deploy before noon.")
	p.types("u")
	p.hasDone(undoChangeEffect{7})
	p.event(changeOutcome{ChangeResult{Text: "undoing: it changed since", Failed: true}, true})
	p.types("u") // the change is still on the list of changes that can be undone
	p.hasDone(undoChangeEffect{7})
	p.event(changeOutcome{ChangeResult{Text: "undone"}, true})

	p.types("x")
	p.foot("Tab goes back to the query")
	p.types(keyUp + keyUp + "x")
	p.shows("> x")
	p.types("\x7f")
	p.types("\tj/y")
	p.shows("> y")
	p.types("\t\x1b[F\x7fz")
	p.shows("> yz")
	p.types(keyEsc)
	p.hasDone(quitEffect{})
}

// The last change can be undone even if the list has become empty.
func TestUndoOfTheLastHit(t *testing.T) {
	p := play(t, 80, 12, style)
	p.types("\tdy")
	p.entries = nil
	p.event(changeOutcome{ChangeResult{Text: "forgot style", ChangeNumber: 3}, false})
	p.types("d") // there is no entry to forget
	p.shows("", "nothing found", "no entry holds")
	p.foot("u undo · Tab back to the query · Esc quits")
	p.types("\tu")
	p.shows("> u")
	p.types("\x7f\tu")
	p.hasDone(forgetEntryEffect{style}, undoChangeEffect{3})
}

// Another process adds and removes entries. The chosen index does not move, and the person is still asked about the
// same entry.
func TestLiveList(t *testing.T) {
	p := play(t, 60, 12, style, deploy)
	p.types(keyDown + keyDown)
	p.event(keyPress{keyText, "d"})
	p.entries = []Hit{drafts, style}
	p.wait(typingPause)
	p.shows("", "", "  draft  Perhaps deploy twice.", "▸ style  Tabs, not spaces. In Go, too.")
	p.foot("Forget deploy? y forgets it, any other key keeps it")
	p.types("y")
	p.hasDone(forgetEntryEffect{deploy})
}

// A whole entry can be scrolled. The key that opened it closes it again.
func TestReading(t *testing.T) {
	long := Hit{Name: "long", Version: 4, Text: "x"}
	p := play(t, 40, 10, long)
	whole := EntryDetails{
		Version:         5,
		EntryProperties: []NamedProperty{{"kind", "note"}, {"labels", "project:site tag:one tag:two tag:three"}},
		Text:            "first\n" + strings.Repeat("more\n", 20) + "last",
	}
	p.types("\x0f")
	p.hasDone(loadEntryEffect{long})
	p.event(loadedEntry{long, whole})
	p.shows(
		"long",
		"rows 1 to 7 of 26",
		"kind  note",
		"labels  project:site tag:one tag:two",
		"         tag:three",
		"",
		"first",
		"more",
		"more",
		"↑↓ · e edit · d forget · u undo · Esc",
	)
	p.types(keyDown)
	p.shows("long", "rows 2 to 8 of 26")
	p.types("\x1b[6~")
	p.shows("long", "rows 8 to 14 of 26")
	p.types("\x1b[F")
	p.shows("long", "rows 20 to 26 of 26", "more", "more", "more", "more", "more", "more", "last")
	p.event(screenSize{60, 40})
	p.shows("long", "", "kind  note", "labels  project:site tag:one tag:two tag:three")
	p.event(screenSize{40, 10})
	p.types("d")
	p.foot("Forget long? y yes, else no")
	p.types("n")
	p.shows("long")
	p.types("e")
	was := long
	long.Version = 5 // the version that the screen shows
	p.hasDone(editEntryEffect{long})
	p.event(changeOutcome{ChangeResult{Text: "updated long", ChangeNumber: 6}, false})
	p.hasDone(loadEntryEffect{long})
	p.types("\x0f")
	p.shows(">", "1 entry, newest first")
	p.event(loadedEntry{long, EntryDetails{Failure: "entry not found"}})
	p.shows(">", "1 entry, newest first")
	p.foot("entry not found")
	p.types("\x0f")
	p.event(loadedEntry{long, whole})
	p.types("dy")
	p.shows(">")
	p.hasDone(loadEntryEffect{was}, forgetEntryEffect{long})
	p.types("\x03")
	p.hasDone(quitEffect{})
}

// An entry that cannot be changed shows the reason. The question whether to forget an entry without a history says
// that the entry cannot be restored.
func TestFixedAndFinal(t *testing.T) {
	p := play(
		t,
		80,
		12,
		Hit{Name: "turn", ReadOnlyReason: "what was said stays"},
		Hit{Name: "file", IsForgetFinal: true, Warning: "not to be believed"},
	)
	p.types("\te")
	p.foot("what was said stays")
	p.types("d")
	p.foot("what was said stays")
	p.types(keyDown)
	p.shows("", "", "  turn", "▸!file")
	p.types("d")
	p.foot("Forget file for good? y forgets it, any other key keeps it")
	p.hasDone()
}

// The list scrolls so that the choice stays visible, and has keys that move by a page.
func TestLongList(t *testing.T) {
	var hits []Hit
	for i := range 20 {
		hits = append(hits, Hit{Name: fmt.Sprintf("entry %02d", i), MetadataText: "note"})
	}
	p := play(t, 40, 10, hits...)
	p.shows(
		"",
		"20 entries, newest first",
		"▸ entry 00",
		"  entry 01",
		"  entry 02",
		"── note ────────────────────────────────",
	)
	p.types("\t" + strings.Repeat(keyDown, 4))
	p.shows("", "", "  entry 02", "  entry 03", "▸ entry 04")
	p.types("\x1b[6~")
	p.shows("", "", "  entry 05", "  entry 06", "▸ entry 07")
	p.types("\x1b[5~\x1b[5~")
	p.shows("", "", "▸ entry 01", "  entry 02", "  entry 03")
	p.types("\x1b[F\x1b[B")
	p.shows("", "", "  entry 17", "  entry 18", "▸ entry 19")
	p.types("\x1b[H" + keyUp + "0")
	p.shows("> 0")
}

// The preview shows the words of the query even if they occur late in a long text.
func TestPreviewShowsWhatWasFound(t *testing.T) {
	text := strings.Repeat("Nothing here.\n", 5000) + "The needle.\n" + strings.Repeat("Nothing there.\n", 5000)
	p := play(t, 60, 12, Hit{Name: "hay", Text: text, Words: []string{"needle"}})
	if rows := p.rows(); !slices.Contains(rows, "The needle.") {
		t.Errorf("the preview is\n%s", strings.Join(rows, "\n"))
	}
	if view := strings.Join(p.m.render().rows, "\n"); !strings.Contains(
		view,
		termtext.Red+"needle"+termtext.ResetStyle,
	) {
		t.Errorf("what was found is not marked in %q", view)
	}
}

// On a wide screen the preview is to the right of the list, and the list has the full height.
func TestPreviewAtRight(t *testing.T) {
	text := strings.Repeat("Nothing here.\n", 5000) + "The needle.\n" + strings.Repeat("Nothing there.\n", 5000)
	p := play(t, 120, 12, Hit{Name: "hay", MetadataText: "note · today", Text: text, Words: []string{"needle"}}, short)
	rows := p.rows()
	if !strings.HasPrefix(rows[2], "▸ hay") || !strings.HasSuffix(rows[2], "│ note · today") {
		t.Errorf("the first row of the list is %q", rows[2])
	}
	if !strings.HasPrefix(rows[3], "  "+short.Name) || !slices.ContainsFunc(rows, func(row string) bool {
		return strings.HasSuffix(row, "│ The needle.")
	}) {
		t.Errorf("the screen is\n%s", strings.Join(rows, "\n"))
	}
}

// For any entry and any screen size, each row fits and contains nothing that controls the terminal. FuzzScreen tests
// the same with random keys.
func TestHostileEntries(t *testing.T) {
	testenv.SkipInShortMode(t)
	for width := 1; width < 160; width += 7 {
		for height := 1; height < 30; height += 3 {
			p := play(t, width, height, short, hostile)
			for _, keys := range []string{"x", "\t", "d", "n", "\r", "e", "\x1b", "\t" + keyDown, "d"} {
				p.types(keys)
				p.rows()
				p.event(
					loadedEntry{
						hostile,
						EntryDetails{EntryProperties: []NamedProperty{{"labels", hostile.Name}}, Text: hostile.Text},
					},
				)
				p.rows()
			}
		}
	}
}

var hostile = Hit{
	Name:         "ok\u202erow\u200b\x1b[31m\r\n\t\U000e0041日本語の名前👨‍👩‍👧‍👦",
	MetadataText: "note · \x9b5m",
	Warning:      "held back \x1b]0;x\a",
	Text: "x\x1b[2J" + strings.Repeat("x", 9000) + "\r\n\t" + strings.Repeat("日本", 900) + "\u2067 e\u0301" +
		strings.Repeat("\u0301", 200) + "\n\x00",
	Words: []string{"x"},
}

var short = Hit{Name: "x", MetadataText: "note", Text: "\x1b[2J\u202e\r\tx"}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("x\t\x1b[B\rj\x1bdyu\x15\"open\x1b[200~a\nb\x1b[201~"), uint8(80), uint8(24))
	f.Add([]byte("日本\x7f\x1b[D\x1b[C\x17"), uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, keys []byte, width, height uint8) {
		p := play(t, int(width)+1, int(height)+1, short, hostile, deploy)
		for i, k := range keys[:min(len(keys), 200)] {
			p.types(string(k))
			for _, e := range p.did {
				switch e := e.(type) {
				case loadEntryEffect:
					p.event(loadedEntry{e.hit, EntryDetails{Text: e.hit.Text}})
				case editEntryEffect, forgetEntryEffect:
					p.event(changeOutcome{ChangeResult{ChangeNumber: uint64(i + 1)}, false})
				case undoChangeEffect:
					p.event(changeOutcome{ChangeResult{}, true})
				}
			}
			p.did = nil
			p.rows()
		}
		p.types(string(keys[:min(len(keys), 200)]))
		p.rows()
	})
}
