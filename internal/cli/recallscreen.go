// This file implements "oxbow recall -i": the verbs that the screen calls, and the lines that are
// printed to a pipe.

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

// screenLimit is the maximum number of hits on a scrolling screen.
const screenLimit = 50

// showLines prints the hits for programs, one on each line: its name, its score, the time at which
// it was created, and its first line. A report has no tabs.
func (env *environment) showLines(out verb.RecallOut) {
	if len(out.Hits) == 0 {
		env.showNothing(out.Why, out.Near)
	}
	for _, h := range out.Hits {
		first, _, _ := strings.Cut(strings.TrimSpace(h.Text), "\n")
		env.printf("%s\t%.3f\t%s\t%s\n", nameText(h.Name), h.Score, h.Created, oneLine(first))
	}
	env.showNotes(slices.DeleteFunc(out.Notes, func(n verb.Note) bool { return n.About("max_tokens") }))
}

// recallOnScreen shows a screen that answers queries while they are typed, beginning with the
// query in in.
func (mem *openMemory) recallOnScreen(ctx context.Context, in verb.RecallIn) error {
	switch {
	case !mem.env.StdinTerm || mem.env.Screen == nil:
		return misusef("leave -i out", "-i reads keys from a terminal, and standard input is none")
	case mem.env.Getenv("TERM") == "dumb":
		return misusef("leave -i out", "-i draws a screen, and the terminal cannot: TERM=dumb")
	case mem.env.Getenv("NO_COLOR") != "":
		return misusef("leave -i out, or unset NO_COLOR for it", "-i draws a screen in colours, and NO_COLOR is set")
	}
	if in.Limit == nil {
		in.Limit = new(screenLimit)
	}
	s := &recallScreen{app: mem, in: in}
	errs, shown := mem.env.Stderr, mem.env.progress
	s.errs = errs
	mem.env.Stderr = &s.said
	mem.env.progress = nil
	// Run a query first, because typing cannot fix wrong flags or a memory that cannot be opened.
	_, err := s.answer(ctx, "")
	err = badArgument(err)
	if err == nil {
		err = tui.Show(
			ctx,
			mem.env.Screen(),
			in.Query,
			mem.env.Now,
			tui.Verbs{Recall: s.recall, Get: s.get, Choose: s.choose, Edit: s.edit, Forget: s.forget, Undo: s.undo},
		)
	}
	err = errors.Join(err, s.release())
	mem.env.Stderr, mem.env.progress = errs, shown
	for _, line := range append(s.parting, s.said.newLines()...) {
		mem.env.warn("%s", line)
	}
	if err != nil || s.chosen == "" {
		return err
	}
	return perform(ctx, mem, verb.Get, verb.GetIn{Name: s.chosen}, mem.env.showEntry)
}

// recallScreen connects the screen to the verbs. The memory stays open for queries. Before each
// change, the memory is closed, and the change opens it again as a command would.
type recallScreen struct {
	app     *openMemory
	in      verb.RecallIn
	said    notebook // output of verbs on standard error
	errs    io.Writer
	parting []string // messages to print after the screen has closed
	chosen  string   // name of the entry to print after it, or ""

	open  *verb.Workspace // nil until it is needed
	close func() error
	final bool // the memory has no history
}

// notebook collects the output on standard error while the screen is shown.
type notebook struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (n *notebook) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(b)
}

// newLines returns the lines that were written since the last call.
func (n *notebook) newLines() (lines []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(n.b.String()) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "oxbow: "))
	}
	n.b.Reset()
	return slices.Compact(lines)
}

// workspace returns the workspace for queries.
func (s *recallScreen) workspace(ctx context.Context) (*verb.Workspace, error) {
	if s.open != nil {
		return s.open, nil
	}
	w, done, err := s.app.workspace(ctx)
	if err != nil {
		return nil, err
	}
	s.open, s.close = w, done
	one := 1
	_, err = verb.History(ctx, w, verb.HistoryIn{Limit: &one})
	s.final = errors.Is(err, oxbow.ErrUnsupported)
	return w, nil
}

// release closes the workspace for queries, if it is open.
func (s *recallScreen) release() error {
	if s.open == nil {
		return nil
	}
	done := s.close
	s.open, s.close = nil, nil
	return done()
}

// problem formats an error for the rows below the screen.
func problem(err error) string {
	message, next := wording(err)
	return strings.TrimSpace(message + "\n" + next)
}

// answer answers a query. An empty query without filters finds all entries.
func (s *recallScreen) answer(ctx context.Context, query string) (out verb.RecallOut, err error) {
	in := s.in
	in.Query = query
	if strings.TrimSpace(query+in.Filter+in.Project+in.Kind+in.After+in.Before+strings.Join(in.Tags, "")) == "" {
		in.Query = "before:9999"
	}
	if err := checkTexts(verb.StructParams[verb.RecallIn](), &in); err != nil {
		return out, err
	}
	w, err := s.workspace(ctx)
	if err == nil {
		out, err = verb.Recall(ctx, w, in)
	}
	if path, perr := s.app.finder.storePath(); perr == nil && !fileExists(path) {
		err = errors.Join(err, s.release()) // so that a memory created later is found
	}
	return out, err
}

func (s *recallScreen) recall(ctx context.Context, query string) (f tui.QueryResult) {
	out, err := s.answer(ctx, query)
	switch {
	case errors.Is(err, oxbow.ErrInvalid):
		f.Unfinished, _ = wording(err)
		return f
	case err != nil:
		f.Failed = problem(err)
		return f
	}
	for _, h := range out.Hits {
		f.Hits = append(f.Hits, s.hit(h))
	}
	for _, n := range out.Why {
		f.Why = append(f.Why, sentence(n))
	}
	if len(out.Near) > 0 {
		f.Why = append(f.Why, "near to it: "+strings.Join(out.Near, ", "))
	}
	for _, n := range out.Notes {
		if !n.About("limit") && !n.About("max_tokens") {
			f.Notes = append(f.Notes, sentence(n))
		}
	}
	f.More, f.Notes = out.More, append(f.Notes, s.said.newLines()...)
	return f
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (s *recallScreen) hit(h verb.Entry) tui.Hit {
	slices.Sort(h.Words)
	t := tui.Hit{
		Name:    h.Name,
		Version: h.Version,
		Meta:    s.app.env.summary(h),
		Text:    h.Text,
		Words:   h.Words,
		Final:   s.final,
	}
	if h.Trust != "" {
		t.Warning = strings.TrimSpace(s.app.env.warning(oxbow.Trust(h.Trust)))
	}
	add := func(name string, values ...string) {
		for _, v := range values {
			t.Facts = append(t.Facts, tui.Fact{Name: name, Value: v})
		}
	}
	for _, turn := range h.Before {
		add("before", turn.Content)
	}
	for _, turn := range h.After {
		add("after", turn.Content)
	}
	add("alike", h.Alike...)
	if h.Explanation != nil {
		t.Facts = append(t.Facts, scoreFacts(h)...)
	}
	switch {
	case s.in.AsOf != "":
		t.Fixed = "this is the past, which stays as it was; leave --as-of out"
	case len(h.Labels["turn"]) > 0 && s.in.In != "":
		t.Fixed = "what was said in a session stays as it was said"
	}
	return t
}

// choose implements the key Enter: the entry is printed after the screen has closed.
func (s *recallScreen) choose(h tui.Hit) { s.chosen = s.hitName(h) }

// hitName returns the name for verb.Get, with the version if the screen shows the past.
func (s *recallScreen) hitName(h tui.Hit) string {
	if s.in.AsOf != "" {
		return fmt.Sprintf("%s@%d", h.Name, h.Version)
	}
	return h.Name
}

func (s *recallScreen) get(ctx context.Context, h tui.Hit) tui.EntryDetails {
	w, err := s.workspace(ctx)
	if err != nil {
		return tui.EntryDetails{Failed: problem(err)}
	}
	out, err := verb.Get(ctx, w, verb.GetIn{Name: s.hitName(h)})
	if err != nil {
		return tui.EntryDetails{Failed: problem(err)}
	}
	facts := append(s.app.env.entryFacts(out.Entry), h.Facts...)
	for _, n := range out.Notes {
		facts = append(facts, tui.Fact{Name: "note", Value: sentence(n)})
	}
	return tui.EntryDetails{Version: out.Version, Facts: facts, Text: *out.Content}
}

// changeResult returns the result of a change: the text did, or the error.
func (s *recallScreen) changeResult(did string, change uint64, err error) tui.ChangeResult {
	if err != nil {
		return tui.ChangeResult{Text: problem(err), Failed: true}
	}
	if s.app.env.foreign {
		change = 0 // versions are not change numbers
	}
	return tui.ChangeResult{Text: strings.Join(append([]string{did}, s.said.newLines()...), "\n"), Change: change}
}

// edit implements the key e, like oxbow edit. An error that says where the text was saved is
// repeated after the screen has closed.
func (s *recallScreen) edit(ctx context.Context, h tui.Hit) tui.ChangeResult {
	mem := s.app
	errs, allow := mem.env.Stderr, mem.allowSecret
	mem.env.Stderr = s.errs // the person may be asked a question
	out, err := editOut{}, s.release()
	if err == nil {
		out, err = mem.editEntry(ctx, h.Name)
	}
	mem.env.Stderr, mem.allowSecret = errs, allow
	var own *hintedError
	if errors.As(err, &own) {
		s.parting = append(s.parting, strings.ReplaceAll(problem(err), "\n", ": "))
	}
	name := nameText(cmp.Or(out.Name, h.Name))
	if err == nil && out.Outcome == unchanged {
		return s.changeResult(name+" is unchanged", 0, nil)
	}
	did := "updated " + name
	for _, n := range out.Notes {
		did += "\n" + sentence(n)
	}
	return s.changeResult(did+undoKey(out.Version), out.Version, err)
}

// undoKey returns the text that tells how to undo a change on the screen.
func undoKey(change uint64) string {
	if change == 0 {
		return ""
	}
	return " · u takes it back"
}

func (s *recallScreen) forget(ctx context.Context, h tui.Hit) tui.ChangeResult {
	out, err := verb.ForgetOut{}, s.release()
	if err == nil {
		out, err = run(ctx, s.app, verb.Forget, verb.ForgetIn{Name: h.Name, IfVersion: &h.Version})
	}
	return s.changeResult("forgot "+nameText(h.Name)+undoKey(out.Seq), out.Seq, err)
}

func (s *recallScreen) undo(ctx context.Context, change uint64) tui.ChangeResult {
	out, err := verb.UndoOut{}, s.release()
	if err == nil {
		out, err = run(ctx, s.app, verb.Undo, verb.UndoIn{Seq: []uint64{change}})
	}
	did, name := "undone", ""
	for _, c := range out.Undone {
		for _, t := range c.Entries {
			did, name = fmt.Sprintf("undone: %s %s (change %d)", t.Verb, nameText(t.Name), c.Seq), t.Name
		}
	}
	d := s.changeResult(did, 0, err)
	d.Name = name
	return d
}
