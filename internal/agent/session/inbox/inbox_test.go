// This file tests which proposals and fixes are found in sessions, and that each is stored once.

package inbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

var start = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// events changes the passed events so that they belong to the session id, and returns them. Each event is one second
// later than the event before.
func events(id string, all ...session.Event) []session.Event {
	for i := range all {
		all[i].Client = "claude"
		all[i].Session = id
		all[i].Dir = "/src/shop"
		all[i].ID = fmt.Sprint("e", i)
		all[i].Time = start.Add(time.Duration(i) * time.Second)
	}
	return all
}

func says(s string) session.Event  { return session.Event{Kind: session.KindPrompt, Text: s} }
func agent(s string) session.Event { return session.Event{Kind: session.KindText, Text: s} }

func edits(files ...string) session.Event {
	return session.Event{Kind: session.KindToolCall, Call: &session.ToolCall{Tool: "Edit", WrittenFiles: files}}
}

func runs(command string, exit int, output string) session.Event {
	return session.Event{
		Kind: session.KindToolCall,
		Call: &session.ToolCall{Tool: "Bash", Command: command, ExitStatus: &exit, Failed: exit != 0, Output: output},
	}
}

func TestProposals(t *testing.T) {
	turns := session.BuildTurns(events("s",
		says("Fix the tax. Remember that prices are in cents."),
		edits("/src/shop/tax.go", "/src/shop/tax_test.go"),
		says("No, use integer division. From now on use table tests."),
		agent("Done."),
		edits("/src/shop/tax.go"),
		says("No, not that."),
	))
	var got []string
	for _, p := range findProposals(turns) {
		got = append(got, fmt.Sprint(p.Reason, p.Turn.Number, " ", p.Sentence, p.Files))
	}
	want := []string{
		"asked1 Remember that prices are in cents.[]",
		"asked2 From now on use table tests.[]",
		"lesson2 No, use integer division.[tax.go tax_test.go]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("proposalsOf() = %q, want %q", got, want)
	}
}

func TestFixes(t *testing.T) {
	turns := session.BuildTurns(events("s",
		says("x"),
		runs("go test ./...", 1, "tax.go:12: undefined: Rate"),
		runs("go test ./...", 1, "tax.go:14: undefined: Rate"),
		edits("/src/shop/tax.go"),
		runs("go generate", 0, ""),
		says("go on"),
		runs("go test ./...", 0, ""),
		runs("make", 2, "make: fail"),
		runs("make", 0, ""),
	))
	fixes := findFixes(turns)
	if len(fixes) != 1 {
		t.Fatalf("findFixes() = %+v", fixes)
	}
	want := "`go test ./...` failed: tax.go:12: undefined: Rate\n\nIt passed after changes of tax.go.\n\nRun " +
		"between:\n- go generate\n"
	if got := fixes[0].Text(); got != want {
		t.Errorf("Text() = %q, want %q", got, want)
	}
}

// TestFixSaid tests that a fix contains the agent's sentence about the cause, and no announcement.
func TestFixSaid(t *testing.T) {
	vet := "# shop\n# [shop]\nvet: ./tax.go:3:8: \"fmt\" imported and not used"
	for _, c := range []struct{ before, after, want string }{
		{
			"The root cause is that fmt stayed imported. I remove it.",
			"Done.",
			"The root cause is that fmt stayed imported.",
		},
		{"fmt is imported and no longer needed. Let me fix that now:", "", "fmt is imported and no longer needed."},
		{"Let me look at the file.", "All is well now, and it was easy to do.", ""},
	} {
		fixes := findFixes(session.BuildTurns(events(
			"s",
			says("x"),
			runs("go vet ./...", 1, vet),
			agent(c.before),
			edits("/src/shop/tax.go"),
			agent(c.after),
			runs("go vet ./...", 0, ""),
		)))
		if len(fixes) != 1 || fixes[0].Explanation != c.want ||
			fixes[0].ErrorLine != `vet: ./tax.go:3:8: "fmt" imported and not used` {
			t.Errorf("after %q: findFixes() = %+v", c.before, fixes)
		}
	}
}

// TestRevertedByAFile tests that findRevertedFiles returns the edits of a file that a later turn undid. A later turn
// undoes an edit if it writes the content that the file had before the edit. Then all edits of the file from that edit
// until the later turn are reverted.
func TestRevertedByAFile(t *testing.T) {
	write := func(file, before, after string) session.Event {
		e := edits(file)
		e.Call.FileHashBefore, e.Call.FileHashAfter = before, after
		return e
	}
	const tax = "/src/shop/tax.go"
	for _, c := range []struct {
		name string
		all  []session.Event
		want []turnFileLabel
	}{
		{
			"the client tells the file before",
			[]session.Event{says("x"), write(tax, "aa", "bb"), says("y"), write(tax, "bb", "aa")},
			[]turnFileLabel{{0, "tax.go"}},
		},
		{
			"an edit before told the file",
			[]session.Event{says("x"), write(tax, "", "aa"), says("y"), edits(tax), says("z"), write(tax, "", "aa")},
			[]turnFileLabel{{1, "tax.go"}},
		},
		{
			"after two edits",
			[]session.Event{says("x"), write(tax, "aa", "bb"), says("y"), write(tax, "bb", "cc"), says("z"),
				write(tax, "cc", "aa")},
			[]turnFileLabel{{0, "tax.go"}, {1, "tax.go"}},
		},
		{
			"half way back",
			[]session.Event{says("x"), write(tax, "aa", "bb"), says("y"), write(tax, "bb", "cc"), says("z"),
				write(tax, "cc", "bb")},
			[]turnFileLabel{{1, "tax.go"}},
		},
		{
			"another file",
			[]session.Event{says("x"), write(tax, "aa", "bb"), says("y"), write("/src/shop/vat.go", "bb", "aa")},
			nil,
		},
		{"the same text again", []session.Event{says("x"), write(tax, "", "aa"), says("y"), write(tax, "", "aa")}, nil},
		{"another text", []session.Event{says("x"), write(tax, "aa", "bb"), says("y"), write(tax, "bb", "cc")}, nil},
		{"in one turn", []session.Event{says("x"), write(tax, "aa", "bb"), write(tax, "bb", "aa")}, nil},
		{"nothing is known", []session.Event{says("x"), edits(tax), says("y"), edits(tax)}, nil},
	} {
		turns := session.BuildTurns(events("s", c.all...))
		if got := findRevertedFiles(turns); !slices.Equal(got, c.want) {
			t.Errorf("%s: revertedFiles() = %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRevertedByAnEdit tests that an edit is reverted only by an edit of a later turn that restores the replaced text.
func TestRevertedByAnEdit(t *testing.T) {
	edit := func(file, was, became string) session.Event {
		e := edits(file)
		e.Call.OldTextHash, e.Call.NewTextHash = was, became
		return e
	}
	first := []session.Event{says("x"), edit("/src/shop/tax.go", "aa", "bb"), says("z")}
	for _, c := range []struct {
		name string
		last []session.Event
		want []turnFileLabel
	}{
		{"the opposite", []session.Event{edit("/src/shop/tax.go", "bb", "aa")}, []turnFileLabel{{0, "tax.go"}}},
		{"the opposite in another file", []session.Event{edit("/src/shop/vat.go", "bb", "aa")}, nil},
		{"another text", []session.Event{edit("/src/shop/tax.go", "bb", "cc")}, nil},
		{"texts that are not known", []session.Event{edits("/src/shop/tax.go")}, nil},
		{
			"there and back in one turn",
			[]session.Event{edit("/src/shop/tax.go", "cc", "dd"), edit("/src/shop/tax.go", "dd", "cc")},
			nil,
		},
		{
			"twice there, once back",
			[]session.Event{edit("/src/shop/tax.go", "aa", "bb"), edit("/src/shop/tax.go", "bb", "aa")},
			nil,
		},
	} {
		turns := session.BuildTurns(events("s", append(slices.Clone(first), c.last...)...))
		if got := findRevertedFiles(turns); !slices.Equal(got, c.want) {
			t.Errorf("%s: revertedFiles() = %v, want %v", c.name, got, c.want)
		}
	}
}

// TestUnknownStatus tests that a command does not count as passed if the client does not report its exit status.
func TestUnknownStatus(t *testing.T) {
	unknown := session.Event{Kind: session.KindToolCall, Call: &session.ToolCall{Tool: "Bash", Command: "go vet"}}
	turns := session.BuildTurns(events(
		"s",
		says("x"),
		runs("go vet", 1, "undefined: Rate"),
		edits("/src/shop/tax.go"),
		unknown,
	))
	if fixes := findFixes(turns); len(fixes) > 0 {
		t.Errorf("findFixes() = %+v", fixes)
	}
}

func TestReverted(t *testing.T) {
	tax, rate := turnFileLabel{0, "tax.go"}, turnFileLabel{1, "rate.go"}
	for _, c := range []struct {
		name string
		last []session.Event
		want []turnFileLabel
	}{
		{"a file is restored", []session.Event{says("y"), runs("git restore tax.go", 0, "")}, []turnFileLabel{tax}},
		{"another file is restored", []session.Event{says("y"), runs("git restore vat.go", 0, "")}, nil},
		{"a file of a like name is restored", []session.Event{says("y"), runs("git restore syntax.go", 0, "")}, nil},
		{"all is restored", []session.Event{says("y"), runs("git checkout .", 0, "")}, []turnFileLabel{tax, rate}},
		{"another branch is checked out", []session.Event{says("y"), runs("git checkout main", 0, "")}, nil},
		{"it failed", []session.Event{says("y"), runs("git restore tax.go", 1, "no")}, nil},
		{"unstaged alone", []session.Event{says("y"), runs("git restore --staged tax.go", 0, "")}, nil},
		{
			"what was committed stays",
			[]session.Event{says("y"), runs("git commit -am x && git checkout .", 0, "")},
			nil,
		},
		{
			"the commit is reverted",
			[]session.Event{says("y"), runs("git commit -am x && git revert --no-edit HEAD", 0, "")},
			[]turnFileLabel{tax, rate},
		},
		{"stashed and back", []session.Event{says("y"), runs("git stash", 0, ""), runs("git stash pop", 0, "")}, nil},
		{
			"stashed and dropped",
			[]session.Event{says("y"), runs("git stash && git pull && git stash drop", 0, "")},
			[]turnFileLabel{tax, rate},
		},
		// It is not known whether the edits were undone.
		{"the person refuses", []session.Event{says("No, undo that.")}, nil},
	} {
		turns := session.BuildTurns(events(
			"s",
			append(
				[]session.Event{says("x"), edits("/src/shop/tax.go"), says("z"), edits("/src/shop/rate.go")},
				c.last...,
			)...,
		))
		if got := findRevertedFiles(turns); !slices.Equal(got, c.want) {
			t.Errorf("%s: revertedFiles() = %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCorrected tests that a correction is recorded only for a file that the person names in the prompt and that the
// previous turn has edited. A prompt that corrects nothing, or that names no edited file, records nothing.
func TestCorrected(t *testing.T) {
	for prompt, want := range map[string][]turnFileLabel{
		"No, do not call the test TestX, instead name it TestY.": nil,
		"Instead of the README, write the changelog first.":      nil,
		"No, tax.go must keep its rates.":                        {{1, "tax.go"}},
		"No, not in lib/vat.go.":                                 {{1, "lib/vat.go"}},
		"No, put it into vat.go!":                                {{1, "lib/vat.go"}},
		"No, syntax.go is the one.":                              nil,
		"tax.go is fine.":                                        nil,
	} {
		turns := session.BuildTurns(
			events("s", says("x"), edits("/src/shop/tax.go", "/src/shop/lib/vat.go"), says(prompt)),
		)
		if got := findCorrectedTurns(turns); !slices.Equal(got, want) {
			t.Errorf("correctedTurns(%q) = %v, want %v", prompt, got, want)
		}
	}
}

func open(t *testing.T) *session.Archive {
	t.Helper()
	m := storetest.Open(t, filepath.Join(t.TempDir(), session.StoreFile), nil)
	return &session.Archive{Memory: m, MakeLabels: TurnLabels, FindProject: func(dir string) (string, string) {
		return filepath.Base(dir), dir
	}}
}

// contents returns the names, labels and contents of all entries in an archive, except the cursor.
func contents(t *testing.T, a *session.Archive) string {
	t.Helper()
	var all []string
	for e, err := range a.Memory.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Name != inboxCursorEntryName {
			all = append(all, fmt.Sprintf("%s %v\n%s\n", e.Name, e.Labels, e.Content))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func update(t *testing.T, a *session.Archive, want int) {
	t.Helper()
	if n, err := UpdateProposals(t.Context(), a); err != nil || n != want {
		t.Fatalf("Update() = %d, %v; want %d", n, err, want)
	}
}

func TestUpdate(t *testing.T) {
	a := open(t)
	talk := []session.Event{
		says("Remember that prices are in cents."), agent("The root cause was the rounding."),
		runs("go test ./...", 1, "undefined: Rate"), edits("/src/shop/tax.go"),
		runs("cd /src/shop && go test ./... 2>&1 | tail -5", 0, ""), runs("go test ./...", 0, ""),
		says("No, undo that and keep the floats."), runs("ls", 0, ""),
	}
	for _, id := range []string{"a", "b", "c"} {
		if _, err := a.AddEvents(t.Context(), events(id, slices.Clone(talk)...)); err != nil {
			t.Fatal(err)
		}
	}
	update(t, a, 3)
	before, err := a.Memory.Store().Get(t.Context(), inboxCursorEntryName)
	if err != nil {
		t.Fatal(err)
	}
	update(t, a, 0)
	if after, err := a.Memory.Store().Get(t.Context(), inboxCursorEntryName); err != nil ||
		after.Version != before.Version {
		t.Errorf("a second update writes: %v", err)
	}
	items, err := ListProposals(t.Context(), a.Memory, ProposalStateOpen, "shop")
	if err != nil || len(items) != 2 {
		t.Fatalf("List() = %+v, %v", items, err)
	}
	i := slices.IndexFunc(items, func(it StoredProposal) bool { return it.Reason == ReasonRememberRequest })
	asked, lesson := items[i], items[1-i]
	if asked.Sentence != "Remember that prices are in cents." || asked.SessionCount() != 3 ||
		lesson.Sentence != "No, undo that and keep the floats." || !slices.Equal(lesson.Files, []string{"tax.go"}) {
		t.Errorf("List() = %+v", items)
	}
	turn, err := a.Memory.Get(t.Context(), "claude/a/0001")
	if err != nil || !slices.Equal(turn.Values("concluded"), []string{"yes"}) || turn.Values(LabelReverted) != nil {
		t.Errorf("the first turn has %v, %v", turn.Labels, err)
	}
	if got, err := FindRepeatedCommands(t.Context(), a.Memory, "shop"); err != nil ||
		!slices.Equal(got, []string{"go test ./..."}) {
		t.Errorf("Runs() = %q, %v", got, err)
	}
	hits, err := a.Memory.Recall(
		t.Context(),
		oxbow.Query{
			Text:   "undefined Rate",
			Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{"fix"}}}},
		},
	)
	if err != nil || len(hits) != 3 {
		t.Errorf("%d fixes, %v", len(hits), err)
	}

	// The result is the same if the lessons are stored after each turn.
	some := open(t)
	for i := range events("a", slices.Clone(talk)...) {
		for _, id := range []string{"a", "b", "c"} {
			r, err := some.AddEvents(t.Context(), events(id, slices.Clone(talk)...)[i:i+1])
			for _, touched := range r.ChangedSessions {
				err = errors.Join(err, StoreLessons(t.Context(), some, touched))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := contents(t, some), contents(t, a); got != want {
		t.Errorf("turn by turn:\n%s\nwant\n%s", got, want)
	}
	if n, err := CountOpenProposals(t.Context(), a.Memory); n != 2 || err != nil {
		t.Errorf("Waiting() = %d, %v", n, err)
	}

	// A dropped proposal stays dropped if the person says the sentence again.
	if err := SetProposalState(t.Context(), a.Memory, asked.ID, ProposalStateDropped, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := a.AddEvents(t.Context(), events("d", slices.Clone(talk)...)); err != nil {
		t.Fatal(err)
	}
	update(t, a, 1)
	if it, err := FindProposal(t.Context(), a.Memory, asked.ID[:4]); err != nil || it.State != ProposalStateDropped ||
		it.SessionCount() != 4 {
		t.Errorf("Get() = %+v, %v", it, err)
	}
	if items, err := ListProposals(t.Context(), a.Memory, ProposalStateOpen, ""); err != nil || len(items) != 1 {
		t.Errorf("List() = %+v, %v", items, err)
	}
	if _, err := FindProposal(t.Context(), a.Memory, "zz"); err == nil {
		t.Error("Get() finds what is not there")
	}
}

// TestCountsAreWrittenInParts tests the counts of the commands that passed in a project. The counts must be the same as
// if each session wrote all counts of its project again. But each session must write only a few counts, so that the
// store needs at most a third of the bytes.
func TestCountsAreWrittenInParts(t *testing.T) {
	a := open(t)
	const sessions, perSession = 400, 8
	var want []successfulProjectCommand
	whole := 0 // number of bytes that would be written if each session wrote all counts
	for i := range sessions {
		id := fmt.Sprint("session ", i)
		all := []session.Event{says("Run the tests.")}
		for j := range perSession {
			command := fmt.Sprintf("go test -count=1 ./services/number%d/with/a/long/path", (i*7+j*j*31)%280)
			all = append(all, runs(command, 0, ""))
		}
		turns := session.BuildTurns(events(id, all...))
		if err := storeSuccessfulCommands(t.Context(), a.Memory, turns, "shop"); err != nil {
			t.Fatal(err)
		}
		want = addSessionCommands(want, listSuccessfulCommands(turns), makeShortDigest("claude", id))
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		whole += len(b)
	}
	var commands []string
	slices.SortStableFunc(
		want,
		func(a, b successfulProjectCommand) int { return b.LastSuccessTime.Compare(a.LastSuccessTime) },
	)
	for _, r := range want {
		if len(r.Sessions) >= minSessionsWithSuccess {
			commands = append(commands, r.Command)
		}
	}
	got, err := FindRepeatedCommands(t.Context(), a.Memory, "shop")
	slices.Sort(got)
	slices.Sort(commands)
	if err != nil || len(got) < 100 || !slices.Equal(got, commands) {
		t.Errorf("Runs() has %d commands, %v, want %d", len(got), err, len(commands))
	}
	stats, err := a.Memory.Stats(t.Context())
	if err != nil || stats.Used > int64(whole/3) {
		t.Errorf("%d bytes were written, want at most a third of %d, %v", stats.Used, whole, err)
	}
}
