// Proposals, fixes and commands as entries of the archive.
//
// A proposal is an entry proposal/ID: its content is the sentence, a label from
// names each turn in which it was said, and the label proposal its state. A fix is
// an entry fix/ID. The commands of a project are an entry runs/ID. The entry
// cursor/inbox says which sessions were looked at.

package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// The states of a proposal.
const (
	Open     = "open"
	Accepted = "accepted"
	Dropped  = "dropped"

	// Undone is accepted, and an undo has taken the note away: it waits again. The
	// archive has it as accepted.
	Undone = "undone"
)

// labelFrom is the key of the labels that name the turns of something.
const labelFrom = "from"

const (
	labelState = "proposal"
	labelNote  = "note" // the name of the entry that was made of it
	labelWhy   = "why"
	cursorName = "cursor/inbox"

	maxFrom  = 16  // turns that a proposal names
	maxFiles = 8   // files of a lesson
	maxRuns  = 300 // commands of a project that are counted
	minRuns  = 3   // sessions in which a command that is how it is run has passed
)

// Label returns the labels of a turn that are made of what it says and of what it
// read of others: concluded, and taint. It is for [session.Archive].
func Label(t *session.Turn) []oxbow.Label {
	var ls []oxbow.Label
	if len(extract.Concluded(t.Said())) > 0 {
		ls = append(ls, oxbow.Label{Key: "concluded", Value: "yes"})
	}
	for _, v := range t.Taints() {
		ls = append(ls, oxbow.Label{Key: oxbow.LabelTaint, Value: v})
	}
	for _, v := range t.Unvouched() {
		ls = append(ls, oxbow.Label{Key: oxbow.LabelUnvouched, Value: v})
	}
	return ls
}

// Update looks at the sessions of the archive that have changed since it last did,
// and returns how many. What it finds again changes nothing.
func Update(ctx context.Context, a *session.Archive) (int, error) {
	var at struct {
		Version uint64 `json:"version"`
	}
	if e, err := a.Memory.Store().Get(ctx, cursorName); err == nil {
		if err := json.Unmarshal([]byte(e.Content), &at); err != nil {
			return 0, fmt.Errorf("reading %s: %w", cursorName, err)
		}
	} else if !errors.Is(err, oxbow.ErrNotFound) {
		return 0, err
	}
	type head struct {
		version uint64
		session.Summary
	}
	var heads []head
	for e, err := range a.Memory.Entries(ctx, session.SessionFilter) {
		if err != nil {
			return 0, err
		}
		var s session.Summary
		if e.Version > at.Version && json.Unmarshal([]byte(e.Content), &s) == nil {
			heads = append(heads, head{e.Version, s})
		}
	}
	// By version, so that the cursor can follow.
	slices.SortFunc(heads, func(a, b head) int { return cmp.Compare(a.version, b.version) })
	for i, h := range heads {
		if err := Learn(
			ctx,
			a,
			session.Touched{Client: h.Client, Session: h.Session, Project: h.Project, From: 1},
		); err != nil {
			return i, err
		}
		if i%20 == 19 || i == len(heads)-1 {
			b, _ := json.Marshal(map[string]uint64{"version": h.version}) // a number
			if err := upsert(
				ctx,
				a.Memory,
				oxbow.Entry{
					Name:    cursorName,
					Content: string(b),
					Labels:  []oxbow.Label{{Key: "cursor", Value: "inbox"}},
				},
			); err != nil {
				return i, err
			}
		}
	}
	return len(heads), nil
}

// upsert makes the entry what it is given as. The same again changes nothing.
func upsert(ctx context.Context, m *oxbow.Memory, e oxbow.Entry) error {
	return m.Edit(ctx, e.Name, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		labels := oxbow.SortLabels(e.Labels)
		switch {
		case !found:
			return oxbow.Add{Name: e.Name, Kind: oxbow.History, Content: e.Content, Labels: labels,
				Created: e.Created}, nil
		case old.Content == e.Content && slices.Equal(old.Labels, labels):
			return nil, nil
		}
		return oxbow.Update{Name: e.Name, Content: e.Content, Labels: labels, If: old.Version}, nil
	})
}

// reach is how many turns before the new ones are read again.
const reach = 30

// Learn keeps what the new turns of a session teach, with those shortly before.
func Learn(ctx context.Context, a *session.Archive, t session.Touched) error {
	turns, err := a.TurnsFrom(ctx, t.Client, t.Session, max(1, t.From-reach))
	if err != nil || len(turns) == 0 {
		return err
	}
	fresh := max(0, slices.IndexFunc(turns, func(u session.Turn) bool { return u.N >= t.From }))
	for _, p := range proposalsOf(turns[max(0, fresh-1):]) {
		if err := propose(ctx, a.Memory, &p, t.Project); err != nil {
			return err
		}
	}
	for _, f := range fixesOf(turns) {
		if f.Turn.N < t.From {
			continue
		}
		if err := keepFix(ctx, a.Memory, &f, t.Project); err != nil {
			return err
		}
	}
	if err := markTurns(ctx, a.Memory, turns, LabelReverted, revertedOf(turns)); err != nil {
		return err
	}
	if err := markTurns(ctx, a.Memory, turns, LabelCorrected, correctedOf(turns)); err != nil {
		return err
	}
	return count(ctx, a.Memory, turns[fresh:], t.Project)
}

func keepFix(ctx context.Context, m *oxbow.Memory, f *fix, project string) error {
	labels := labelsOf("error", f.Signature, "cmd", f.Command, oxbow.LabelProject, project, labelFrom, f.Turn.Name())
	for _, file := range f.Edits {
		labels = append(labels, labelsOf(oxbow.LabelFile, file)...)
	}
	if r := f.Repeats; r != nil {
		for _, call := range r.Foreign {
			labels = append(labels, labelsOf(oxbow.LabelTaint, call)...)
		}
		for _, call := range r.Unvouched {
			labels = append(labels, labelsOf(oxbow.LabelUnvouched, call)...)
		}
	}
	return upsert(ctx, m, oxbow.Entry{Name: "fix/" +
		f.ID(), Content: f.Text(), Labels: append(labels, labelsOf("fix", "yes")...), Created: f.Turn.Start})
}

// markTurns labels the turns of marks with the files.
func markTurns(ctx context.Context, m *oxbow.Memory, turns []session.Turn, key string, marks []mark) error {
	for _, mark := range marks {
		err := m.Edit(ctx, turns[mark.turn].Name(), func(old oxbow.Entry, found bool) (oxbow.Op, error) {
			l := labelsOf(key, mark.file)
			if !found || len(l) == 0 || slices.Contains(old.Labels, l[0]) {
				return nil, nil
			}
			return oxbow.Update{Name: old.Name, Content: old.Content, Aliases: old.Aliases,
				Labels: oxbow.SortLabels(append(slices.Clone(old.Labels), l...)), If: old.Version}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// labelsOf returns labels of keys and values, without those that none can have.
func labelsOf(pairs ...string) (ls []oxbow.Label) {
	for i := 0; i < len(pairs); i += 2 {
		l := oxbow.Label{
			Key:   pairs[i],
			Value: strings.TrimSpace(text.Cut(strings.Join(strings.Fields(pairs[i+1]), " "), oxbow.MaxName)),
		}
		if l.Check() == nil {
			ls = append(ls, l)
		}
	}
	return ls
}

// propose keeps a proposal. One that was said before gets another turn, whatever
// its state.
func propose(ctx context.Context, m *oxbow.Memory, p *proposal, project string) error {
	return m.Edit(ctx, "proposal/"+p.ID(), func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		from := oxbow.Label{Key: labelFrom, Value: p.Turn.Name()}
		if found {
			if froms := old.Values(labelFrom); slices.Contains(froms, from.Value) || len(froms) >= maxFrom {
				return nil, nil
			}
			return oxbow.Update{
				Name:    old.Name,
				Content: old.Content,
				Labels:  oxbow.SortLabels(append(slices.Clone(old.Labels), from)),
				If:      old.Version,
			}, nil
		}
		labels := append(
			labelsOf(labelState, Open, labelWhy, p.Why, oxbow.LabelProject, project, "client", p.Turn.Client),
			from,
		)
		for _, f := range p.Files[:min(len(p.Files), maxFiles)] {
			labels = append(labels, labelsOf(oxbow.LabelFile, f)...)
		}
		return oxbow.Add{Name: "proposal/" +
			p.ID(), Kind: oxbow.History, Content: p.Sentence, Labels: oxbow.SortLabels(labels),
			Created: p.Turn.Start}, nil
	})
}

// Item is a proposal as the archive has it.
type Item struct {
	ID       string    `json:"id"`
	State    string    `json:"state"`
	Why      string    `json:"why"`
	Sentence string    `json:"sentence"`
	Project  string    `json:"project,omitempty"`
	Files    []string  `json:"files,omitempty"`
	From     []string  `json:"from"`           // turns
	Said     time.Time `json:"said"`           // first
	Note     string    `json:"note,omitempty"` // name of the entry that was made of it
}

// AsNote returns the text of the entry that accepting makes, unless a person writes another.
func (it *Item) AsNote() string {
	if it.Why == Asked {
		return extract.Note(it.Sentence)
	}
	return it.Sentence
}

// Sessions returns in how many sessions the sentence was said.
func (it *Item) Sessions() int {
	seen := map[string]bool{}
	for _, f := range it.From {
		seen[f[:max(strings.LastIndexByte(f, '/'), 0)]] = true
	}
	return len(seen)
}

func itemOf(e oxbow.Entry) Item {
	it := Item{ID: strings.TrimPrefix(e.Name, "proposal/"), Sentence: e.Content, Files: e.Values(oxbow.LabelFile),
		From: e.Values(labelFrom), Said: e.Created}
	it.State, _ = e.Label(labelState)
	it.Why, _ = e.Label(labelWhy)
	it.Note, _ = e.Label(labelNote)
	it.Project, _ = e.Label(oxbow.LabelProject)
	return it
}

// List returns the proposals of a state, of all for "", the last said first.
func List(ctx context.Context, m *oxbow.Memory, state, project string) ([]Item, error) {
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{labelState}}}}
	if state != "" {
		f.Terms = []oxbow.Term{{Key: labelState, Values: []string{state}}}
	}
	if project != "" {
		f.Terms = append(f.Terms, oxbow.Term{Key: oxbow.LabelProject, Values: []string{project}})
	}
	items := []Item{}
	for e, err := range m.Entries(ctx, f) {
		if err != nil {
			return nil, err
		}
		items = append(items, itemOf(e))
	}
	slices.SortFunc(items, func(a, b Item) int { return cmp.Or(b.Said.Compare(a.Said), cmp.Compare(a.ID, b.ID)) })
	return items, nil
}

// Waiting returns how many proposals are open; of very many, [oxbow.MaxLimit].
func Waiting(ctx context.Context, m *oxbow.Memory) (int, error) {
	hits, err := m.Recall(
		ctx,
		oxbow.Query{
			Limit:  oxbow.MaxLimit,
			Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: labelState, Values: []string{Open}}}},
		},
	)
	return len(hits), err
}

// Get returns the proposal whose ID is id or begins with it. The error of none, or
// of several, matches [oxbow.ErrNotFound].
func Get(ctx context.Context, m *oxbow.Memory, id string) (Item, error) {
	all, err := List(ctx, m, "", "")
	if err != nil {
		return Item{}, err
	}
	fit := slices.DeleteFunc(all, func(it Item) bool { return id == "" || !strings.HasPrefix(it.ID, id) })
	if len(fit) != 1 {
		return Item{}, fmt.Errorf("%d proposals have an id that begins with %q: %w", len(fit), id, oxbow.ErrNotFound)
	}
	return fit[0], nil
}

// Set gives a proposal a state, and the name of the entry that was made of it; "" for
// none.
func Set(ctx context.Context, m *oxbow.Memory, id, state, note string) error {
	return m.Edit(ctx, "proposal/"+id, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		if !found {
			return nil, nil
		}
		labels := slices.DeleteFunc(slices.Clone(old.Labels), func(l oxbow.Label) bool {
			return l.Key == labelState || l.Key == labelNote
		})
		labels = oxbow.SortLabels(append(labels, labelsOf(labelState, state, labelNote, note)...))
		if slices.Equal(labels, old.Labels) {
			return nil, nil
		}
		return oxbow.Update{Name: old.Name, Content: old.Content, Labels: labels, If: old.Version}, nil
	})
}

// run is a command and the sessions in which it passed, of which minRuns are kept.
type run struct {
	Command  string    `json:"command"`
	Sessions []string  `json:"sessions"`
	Last     time.Time `json:"last"`
}

// passedIn returns the commands that passed in a session, and when they last did.
// What only looks is left out, and what was cut.
func passedIn(turns []session.Turn) map[string]time.Time {
	passed := map[string]time.Time{}
	for i := range turns {
		for _, e := range turns[i].Calls() {
			line := strings.Join(strings.Fields(e.Call.Command), " ")
			if line == "" || failed(e.Call) || e.Call.Exit == nil || len(line) >= session.MaxCommand ||
				extract.Looks(line) {
				continue
			}
			line = extract.Bare(line, strings.TrimSuffix(turns[i].Dir(), "/"))
			if e.Time.After(passed[line]) {
				passed[line] = e.Time.UTC()
			}
		}
	}
	return passed
}

// count counts the commands that passed in a session for its project.
func count(ctx context.Context, m *oxbow.Memory, turns []session.Turn, project string) error {
	passed := passedIn(turns)
	if project == "" || len(passed) == 0 {
		return nil
	}
	id := digest(turns[0].Client, turns[0].Session)
	name := "runs/" + digest(project)
	return m.Edit(ctx, name, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		runs, err := runsOf(old)
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(counted(runs, passed, id))
		if err != nil || (found && string(b) == old.Content) {
			return nil, err
		}
		if found {
			return oxbow.Update{Name: name, Content: string(b), Labels: old.Labels, If: old.Version}, nil
		}
		return oxbow.Add{
			Name:    name,
			Kind:    oxbow.History,
			Content: string(b),
			Labels:  oxbow.SortLabels(labelsOf("runs", "yes", oxbow.LabelProject, project)),
		}, nil
	})
}

// counted returns the commands with those that passed in a session, those of most
// sessions first.
func counted(runs []run, passed map[string]time.Time, id string) []run {
	for _, line := range slices.Sorted(maps.Keys(passed)) {
		i := slices.IndexFunc(runs, func(r run) bool { return r.Command == line })
		if i < 0 {
			i = len(runs)
			runs = append(runs, run{Command: line})
		}
		r := &runs[i]
		if !slices.Contains(r.Sessions, id) && len(r.Sessions) < minRuns {
			r.Sessions = append(r.Sessions, id)
		}
		if passed[line].After(r.Last) {
			r.Last = passed[line]
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int {
		return cmp.Or(
			cmp.Compare(len(b.Sessions), len(a.Sessions)),
			b.Last.Compare(a.Last),
			strings.Compare(a.Command, b.Command),
		)
	})
	return runs[:min(len(runs), maxRuns)]
}

func runsOf(e oxbow.Entry) (runs []run, err error) {
	if e.Content != "" {
		err = json.Unmarshal([]byte(e.Content), &runs)
	}
	if err != nil {
		err = fmt.Errorf("reading %s: %w", e.Name, err)
	}
	return runs, err
}

// Runs returns the commands that passed in three sessions of a project and more,
// the last run first.
func Runs(ctx context.Context, m *oxbow.Memory, project string) ([]string, error) {
	e, err := m.Store().Get(ctx, "runs/"+digest(project))
	if errors.Is(err, oxbow.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	runs, err := runsOf(e)
	slices.SortStableFunc(runs, func(a, b run) int { return b.Last.Compare(a.Last) })
	var commands []string
	for _, r := range runs {
		if len(r.Sessions) >= minRuns {
			commands = append(commands, r.Command)
		}
	}
	return commands, err
}
