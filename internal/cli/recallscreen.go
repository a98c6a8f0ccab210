// This file implements "oxbow recall -i". It contains the functions that the screen calls, and the lines that are
// printed in a pipe instead.

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/cli/tui"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// maxScreenHits is the maximum number of hits on the screen, which can be scrolled.
const maxScreenHits = 50

// printHitLines prints the hits in a form for programs, one on each line. A line contains the name, the score, the time
// of creation and the first line, separated by tabs. The usual report of the result is not printed, because a report
// cannot contain tabs.
func (env *environment) printHitLines(out verb.RecallOut) {
	if len(out.Hits) == 0 {
		env.explainEmptyResult(out.EmptyReasons, out.SimilarNames)
	}
	for _, h := range out.Hits {
		first, _, _ := strings.Cut(strings.TrimSpace(h.HitContent), "\n")
		env.printf("%s\t%.3f\t%s\t%s\n", printableName(h.Name), h.Score, h.Created, toPrintableLine(first))
	}
	env.showNotes(slices.DeleteFunc(out.Notes, func(n verb.Note) bool { return n.RefersTo("max_tokens") }))
}

// recallOnScreen shows a screen that answers queries while the person types them. The first query is in.Query.
func (mem *lazyMemory) recallOnScreen(ctx context.Context, in verb.RecallIn) error {
	switch {
	case !mem.env.IsStdinTerminal || mem.env.OpenTerminal == nil:
		return usageErrorf("leave -i out", "-i reads keys from a terminal, and standard input is none")
	case mem.env.Getenv("TERM") == "dumb":
		return usageErrorf("leave -i out", "-i draws a screen, and the terminal cannot: TERM=dumb")
	case mem.env.Getenv("NO_COLOR") != "":
		return usageErrorf(
			"leave -i out, or unset NO_COLOR for it",
			"-i draws a screen in colours, and NO_COLOR is set",
		)
	}
	if in.Limit == nil {
		in.Limit = new(maxScreenHits)
	}
	s := &recallScreen{mem: mem, recallInput: in}
	errs, shown := mem.env.Stderr, mem.env.progressLine
	s.originalStderr = errs
	mem.env.Stderr = &s.capturedStderr
	mem.env.progressLine = nil
	// Run a query first. If flags are wrong or the memory cannot be opened, the person cannot fix this by typing.
	_, err := s.runQuery(ctx, "")
	err = asUsageError(err)
	if err == nil {
		err = tui.ShowScreen(
			ctx,
			mem.env.OpenTerminal(),
			in.Query,
			mem.env.Now,
			tui.Callbacks{
				Recall:      s.recallHits,
				Get:         s.getEntry,
				ChooseEntry: s.chooseEntryToPrint,
				Edit:        s.editEntry,
				Forget:      s.forgetEntry,
				Undo:        s.undoChange,
			},
		)
	}
	err = errors.Join(err, s.closeQueryWorkspace())
	mem.env.Stderr, mem.env.progressLine = errs, shown
	for _, line := range append(s.closingMessages, s.capturedStderr.takeUnreadLines()...) {
		mem.env.printWarning("%s", line)
	}
	if err != nil || s.chosenEntryName == "" {
		return err
	}
	return callAndPrint(ctx, mem, verb.Get, verb.GetIn{Name: s.chosenEntryName}, mem.env.showEntry)
}

// recallScreen connects the screen to the verbs. The memory stays open for queries. Before a change, the memory is
// closed, and the change opens it again, as a command does.
type recallScreen struct {
	mem             *lazyMemory
	recallInput     verb.RecallIn
	capturedStderr  stderrBuffer // what verbs write to standard error while the screen is shown
	originalStderr  io.Writer
	closingMessages []string // messages that are printed after the screen has closed
	chosenEntryName string   // name of the entry to print after the screen has closed ("" for none)

	openedWorkspace *verb.Workspace // nil until it is needed
	closeWorkspace  func() error
	hasNoHistory    bool // The memory keeps no history.
}

// stderrBuffer collects the text that is written to standard error while the screen is shown.
type stderrBuffer struct {
	mu sync.Mutex // guards the buffer
	b  bytes.Buffer
}

func (n *stderrBuffer) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(b)
}

// takeUnreadLines returns the lines that were written since the last call of takeUnreadLines.
func (n *stderrBuffer) takeUnreadLines() (lines []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(n.b.String()) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "oxbow: "))
	}
	n.b.Reset()
	return slices.Compact(lines)
}

// queryWorkspace returns the workspace for queries. The first call opens it, and determines s.hasNoHistory.
func (s *recallScreen) queryWorkspace(ctx context.Context) (*verb.Workspace, error) {
	if s.openedWorkspace != nil {
		return s.openedWorkspace, nil
	}
	w, done, err := s.mem.newWorkspace(ctx)
	if err != nil {
		return nil, err
	}
	s.openedWorkspace, s.closeWorkspace = w, done
	one := 1
	_, err = verb.ListHistory(ctx, w, verb.HistoryIn{Limit: &one})
	s.hasNoHistory = errors.Is(err, oxbow.ErrUnsupported)
	return w, nil
}

// closeQueryWorkspace closes the workspace for queries, if it is open.
func (s *recallScreen) closeQueryWorkspace() error {
	if s.openedWorkspace == nil {
		return nil
	}
	done := s.closeWorkspace
	s.openedWorkspace, s.closeWorkspace = nil, nil
	return done()
}

// formatErrorLine returns an error's message. If there is advice on what to do next, the advice follows on a second
// line.
func formatErrorLine(err error) string {
	message, next := describeError(err)
	return strings.TrimSpace(message + "\n" + next)
}

// runQuery answers a query. An empty query without filters finds all entries.
func (s *recallScreen) runQuery(ctx context.Context, query string) (out verb.RecallOut, err error) {
	in := s.recallInput
	in.Query = query
	if strings.TrimSpace(
		query+in.Filter+in.Project+in.Kind+in.CreatedAfter+in.CreatedBefore+strings.Join(in.Tags, ""),
	) == "" {
		in.Query = "before:9999"
	}
	if err := checkInputTexts(verb.StructParams[verb.RecallIn](), &in); err != nil {
		return out, err
	}
	w, err := s.queryWorkspace(ctx)
	if err == nil {
		out, err = verb.Recall(ctx, w, in)
	}
	if path, perr := s.mem.finder.storePath(); perr == nil && !fileExists(path) {
		// Close the workspace, so that a memory that is created later is found.
		err = errors.Join(err, s.closeQueryWorkspace())
	}
	return out, err
}

func (s *recallScreen) recallHits(ctx context.Context, query string) (result tui.QueryResult) {
	out, err := s.runQuery(ctx, query)
	switch {
	case errors.Is(err, oxbow.ErrInvalid):
		result.IncompleteQueryReason, _ = describeError(err)
		return result
	case err != nil:
		result.Failure = formatErrorLine(err)
		return result
	}
	for _, h := range out.Hits {
		result.Hits = append(result.Hits, s.toHit(h))
	}
	for _, n := range out.EmptyReasons {
		result.NoHitReasons = append(result.NoHitReasons, formatNote(n))
	}
	if len(out.SimilarNames) > 0 {
		result.NoHitReasons = append(result.NoHitReasons, "near to it: "+strings.Join(out.SimilarNames, ", "))
	}
	for _, n := range out.Notes {
		if !n.RefersTo("limit") && !n.RefersTo("max_tokens") {
			result.Notes = append(result.Notes, formatNote(n))
		}
	}
	result.HasMore, result.Notes = out.HasMore, append(result.Notes, s.capturedStderr.takeUnreadLines()...)
	return result
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (s *recallScreen) toHit(h verb.Entry) tui.Hit {
	slices.Sort(h.MatchedWords)
	t := tui.Hit{
		Name:          h.Name,
		Version:       h.Version,
		MetadataText:  s.mem.env.entrySummary(h),
		Text:          h.HitContent,
		Words:         h.MatchedWords,
		IsForgetFinal: s.hasNoHistory,
	}
	if h.TrustLevel != "" {
		t.Warning = strings.TrimSpace(s.mem.env.trustWarning(oxbow.Trust(h.TrustLevel)))
	}
	add := func(name string, values ...string) {
		for _, v := range values {
			t.Facts = append(t.Facts, tui.NamedProperty{Name: name, Value: v})
		}
	}
	for _, turn := range h.TurnsBefore {
		add("before", turn.Content)
	}
	for _, turn := range h.TurnsAfter {
		add("after", turn.Content)
	}
	add("alike", h.SameContentNames...)
	if h.Explanation != nil {
		t.Facts = append(t.Facts, listScoreFacts(h)...)
	}
	switch {
	case s.recallInput.AsOf != "":
		t.ReadOnlyReason = "this is the past, which stays as it was; leave --as-of out"
	case len(h.Labels["turn"]) > 0 && s.recallInput.SearchScope != "":
		t.ReadOnlyReason = "what was said in a session stays as it was said"
	}
	return t
}

// chooseEntryToPrint is called for the key Enter. The entry is printed after the screen has closed.
func (s *recallScreen) chooseEntryToPrint(h tui.Hit) { s.chosenEntryName = s.hitName(h) }

// hitName returns the name with which verb.Get reads the hit. If the person searches an earlier state of the memory,
// the name includes the version.
func (s *recallScreen) hitName(h tui.Hit) string {
	if s.recallInput.AsOf != "" {
		return fmt.Sprintf("%s@%d", h.Name, h.Version)
	}
	return h.Name
}

func (s *recallScreen) getEntry(ctx context.Context, h tui.Hit) tui.EntryDetails {
	w, err := s.queryWorkspace(ctx)
	if err != nil {
		return tui.EntryDetails{Failure: formatErrorLine(err)}
	}
	out, err := verb.Get(ctx, w, verb.GetIn{Name: s.hitName(h)})
	if err != nil {
		return tui.EntryDetails{Failure: formatErrorLine(err)}
	}
	facts := append(s.mem.env.listEntryFacts(out.Entry), h.Facts...)
	for _, n := range out.Notes {
		facts = append(facts, tui.NamedProperty{Name: "note", Value: formatNote(n)})
	}
	return tui.EntryDetails{Version: out.Version, EntryProperties: facts, Text: *out.Content}
}

// changeResult returns the result that the screen shows after a change: doneText, or the error.
func (s *recallScreen) changeResult(doneText string, changeNumber uint64, err error) tui.ChangeResult {
	if err != nil {
		return tui.ChangeResult{Text: formatErrorLine(err), Failed: true}
	}
	if s.mem.env.hasNonOxbowLayout {
		changeNumber = 0 // Offer no undo, because in other layouts changeNumber is the number of a version.
	}
	return tui.ChangeResult{
		Text:         strings.Join(append([]string{doneText}, s.capturedStderr.takeUnreadLines()...), "\n"),
		ChangeNumber: changeNumber,
	}
}

// editEntry edits the entry of the hit h in an editor, as the command oxbow edit does. The recall screen calls it when
// the person presses the key e. An error with a hint may say where the edited text was saved. Such an error is printed
// again after the screen has closed.
func (s *recallScreen) editEntry(ctx context.Context, h tui.Hit) tui.ChangeResult {
	mem := s.mem
	errs, allow := mem.env.Stderr, mem.allowSecret
	// Let the command write to the terminal, because it may ask the person a question.
	mem.env.Stderr = s.originalStderr
	out, err := editOut{}, s.closeQueryWorkspace()
	if err == nil {
		out, err = mem.editEntry(ctx, h.Name)
	}
	mem.env.Stderr, mem.allowSecret = errs, allow
	var own *hintedError
	if errors.As(err, &own) {
		s.closingMessages = append(s.closingMessages, strings.ReplaceAll(formatErrorLine(err), "\n", ": "))
	}
	name := printableName(cmp.Or(out.Name, h.Name))
	if err == nil && out.EntryOutcome == editOutcomeUnchanged {
		return s.changeResult(name+" is unchanged", 0, nil)
	}
	did := "updated " + name
	for _, n := range out.Notes {
		did += "\n" + formatNote(n)
	}
	return s.changeResult(did+undoKeyHint(out.Version), out.Version, err)
}

// undoKeyHint returns the text that says which key undoes a change.
func undoKeyHint(change uint64) string {
	if change == 0 {
		return ""
	}
	return " · u takes it back"
}

func (s *recallScreen) forgetEntry(ctx context.Context, h tui.Hit) tui.ChangeResult {
	out, err := verb.ForgetOut{}, s.closeQueryWorkspace()
	if err == nil {
		out, err = callVerb(ctx, s.mem, verb.Forget, verb.ForgetIn{Name: h.Name, IfVersion: &h.Version})
	}
	return s.changeResult("forgot "+printableName(h.Name)+undoKeyHint(out.Seq), out.Seq, err)
}

func (s *recallScreen) undoChange(ctx context.Context, change uint64) tui.ChangeResult {
	out, err := verb.UndoOut{}, s.closeQueryWorkspace()
	if err == nil {
		out, err = callVerb(ctx, s.mem, verb.Undo, verb.UndoIn{Seqs: []uint64{change}})
	}
	did, name := "undone", ""
	for _, c := range out.UndoneChanges {
		for _, t := range c.Entries {
			did, name = fmt.Sprintf("undone: %s %s (change %d)", t.Verb, printableName(t.Name), c.Seq), t.Name
		}
	}
	d := s.changeResult(did, 0, err)
	d.Name = name
	return d
}
