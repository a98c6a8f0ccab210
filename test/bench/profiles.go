// This file implements the command profiles. For a store that several people share, it measures how much text
// that the model gets is about other subjects, and how much needed text is included.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
	"github.com/oxbow-memory/oxbow/vfs"
)

// mixedMemory is a memory of several projects, with questions about each.
type mixedMemory struct {
	entries  []mixedEntry
	asks     []ask
	projects []string
	budgets  []int // tokens
}

type mixedEntry struct {
	project       string
	quality.Entry // its ID is unique within the project
}

// ask is a question about one project, with the IDs of the entries that answer it.
type ask struct {
	project, text string
	right         map[string]bool
}

var mixedSets = []struct {
	name, what string
	read       func(data fs.FS) (mixedMemory, error)
}{
	{"LoCoMo sessions", "5 pairs of people, one entry a session", func(d fs.FS) (mixedMemory, error) {
		return mixTalks(d, false)
	}},
	{
		"LoCoMo turns",
		"5 pairs of people, one entry a turn",
		func(d fs.FS) (mixedMemory, error) { return mixTalks(d, true) },
	},
	{"LongMemEval", "the histories of 50 people, one entry a session", mixHistories},
}

// ways contains the compared settings: whether the project's profile selects the entries, and whether
// the question is passed as the message.
var ways = []struct {
	name             string
	profile, message bool
}{
	{"default", false, false},
	{"profile", true, false},
	{"default, with the question", false, true},
	{"profile, with the question", true, true},
}

func profilesCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	data := fl.String("data", "", "`DIR` that holds locomo-dev and longmemeval-dev")
	most := fl.Int("questions", 150, "ask at most `N` questions of a set, spread over all of them")
	only := fl.String("set", "", "only the `SET` whose name begins so")
	return func(ctx context.Context) error {
		if *data == "" {
			return errors.New("measuring profiles: say where the sets are with --data DIR")
		}
		b.title("profiles", os.TempDir())
		b.printf(
			"Protocol: all projects of a set in one memory, each entry labelled with its project and written at its " +
				"date. For each question, what would stand before the model within the budget is made: by default of " +
				"all the memory, or by a profile of one line, the project of the question; without the question (the " +
				"newest first), or with it as the message. No documents.\n\n",
		)
		t := newTable(
			"set",
			"budget",
			"injection",
			"entries in",
			"foreign tokens",
			"foreign entries",
			"right ones in",
			"any right one in",
		)
		for _, s := range mixedSets {
			if !strings.HasPrefix(s.name, *only) {
				continue
			}
			x, err := s.read(os.DirFS(*data))
			if err != nil {
				return fmt.Errorf("reading %s: %w", s.name, err)
			}
			x.asks = spread(x.asks, *most)
			name := fmt.Sprintf("%s (%d entries, %d questions)", s.name, len(x.entries), len(x.asks))
			if err := x.measure(ctx, func(budget int, way string, j injectionSum) {
				t.row(append([]string{name, count(budget), way}, j.cells()...)...)
				b.logf("profiles: %s, %d tokens, %s: %v", s.name, budget, way, j.cells())
			}); err != nil {
				return fmt.Errorf("measuring %s: %w", s.name, err)
			}
		}
		b.emit(t)
		b.printf(
			"Foreign is the mean share, over the questions, of another project in the tokens or the entries that are " +
				"in. Right ones in is the mean share of the entries that answer a question that are in whole; any " +
				"right one in is the share of the questions with at least one.\n",
		)
		return nil
	}
}

// injectionSum sums up the selections for several questions.
type injectionSum struct {
	n                             int // questions
	in                            int // entries
	foreignTokens, foreignEntries float64
	rightShare, anyRight          float64
}

func (j *injectionSum) cells() []string {
	n := float64(max(j.n, 1))
	return []string{fmt.Sprintf("%.1f", float64(j.in)/n), fmt.Sprintf("%.3f", j.foreignTokens/n),
		fmt.Sprintf("%.3f", j.foreignEntries/n),
		fmt.Sprintf("%.3f", j.rightShare/n), fmt.Sprintf("%.3f", j.anyRight/n)}
}

// judge adds the selection for the question a.
func (j *injectionSum) judge(x *mixedMemory, sel *profile.Selection, a ask, byName map[string]int) {
	shortened := map[string]bool{}
	for _, c := range sel.Context.Cut {
		shortened[c.Source] = true
	}
	var tokens, foreign, entries, strangers, right int
	for _, p := range sel.Context.Parts {
		if p.Name != profile.PartEntry {
			continue
		}
		e := x.entries[byName[p.Source]]
		entries++
		tokens += p.Tokens
		switch {
		case e.project != a.project:
			strangers++
			foreign += p.Tokens
		case a.right[e.ID] && !shortened[p.Source]:
			right++
		}
	}
	j.n++
	j.in += entries
	if entries > 0 {
		j.foreignTokens += float64(foreign) / float64(tokens)
		j.foreignEntries += float64(strangers) / float64(entries)
	}
	j.rightShare += float64(right) / float64(len(a.right))
	if right > 0 {
		j.anyRight++
	}
}

// measure calls done with the result of each setting for each budget.
func (x *mixedMemory) measure(ctx context.Context, done func(budget int, way string, j injectionSum)) (err error) {
	m, byName, err := x.remember(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	set, err := x.makeProfiles()
	if err != nil {
		return err
	}
	for _, budget := range x.budgets {
		for _, w := range ways {
			j, err := x.inject(ctx, m, byName, set, budget, w.profile, w.message)
			if err != nil {
				return err
			}
			done(budget, w.name, j)
		}
	}
	return nil
}

// inject makes the selection for each question and returns the sums.
func (x *mixedMemory) inject(
	ctx context.Context,
	m *oxbow.Memory,
	byName map[string]int,
	set *profile.Set,
	budget int,
	bound, message bool,
) (j injectionSum, err error) {
	same := map[string]*profile.Selection{} // by project, for selections without a message
	for _, a := range x.asks {
		if err := ctx.Err(); err != nil {
			return j, err
		}
		sel := same[a.project]
		if sel == nil {
			r := profile.Everything()
			if bound {
				r, err = set.Resolve(a.project)
				if err != nil {
					return j, err
				}
			}
			req := profile.Request{Budget: budget}
			if message {
				req.Query = a.text
			}
			s, err := set.Select(ctx, m, &r, req)
			if err != nil {
				return j, err
			}
			sel = &s
			if !message {
				same[a.project] = sel
			}
		}
		j.judge(x, sel, a, byName)
	}
	return j, nil
}

// remember returns a memory with the entries, written in the order of their dates, and the index of
// each entry by name.
func (x *mixedMemory) remember(ctx context.Context) (*oxbow.Memory, map[string]int, error) {
	var now time.Time
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }})
	if err != nil {
		return nil, nil, err
	}
	byName := map[string]int{}
	for i, e := range x.entries {
		now = e.Date
		byName[e.Name] = i
		if err := m.Apply(ctx, oxbow.Add{Name: e.Name, Kind: oxbow.Archive, Content: e.Text, Created: e.Date,
			Labels: []oxbow.Label{{Key: oxbow.LabelProject, Value: e.project}}}); err != nil {
			return nil, nil, errors.Join(err, m.Close())
		}
	}
	return m, byName, nil
}

// makeProfiles returns a set with a profile for each project.
func (x *mixedMemory) makeProfiles() (*profile.Set, error) {
	fsys := vfs.NewMem()
	if err := fsys.MkdirAll("profiles", 0o700); err != nil {
		return nil, err
	}
	for _, p := range x.projects {
		if err := vfs.WriteFile(fsys, "profiles/"+p+
			".yaml", []byte("include:\n  projects: ["+p+"]\n"), 0o600); err != nil {
			return nil, err
		}
	}
	return &profile.Set{Places: []profile.Place{{FS: fsys, Dirs: profile.HomeDirs}}}, nil
}

// add adds the entries of one project.
func (x *mixedMemory) add(project string, es []quality.Entry) {
	x.projects = append(x.projects, project)
	for _, e := range es {
		x.entries = append(x.entries, mixedEntry{project, e})
	}
}

// finish sorts the entries by date and renames them, so that the names reveal nothing about the
// entries' projects.
func (x *mixedMemory) finish() {
	slices.SortStableFunc(x.entries, func(a, b mixedEntry) int { return a.Date.Compare(b.Date) })
	for i := range x.entries {
		x.entries[i].Name = fmt.Sprintf("e%05d", i+1)
	}
}

// mixTalks reads LoCoMo. Each conversation is a project.
func mixTalks(data fs.FS, turns bool) (mixedMemory, error) {
	x := mixedMemory{budgets: []int{2000, 8000}}
	src, err := quality.FindOne(data, ".", "locomo")
	if err != nil {
		return x, err
	}
	for talk, err := range src.Talks() {
		if err != nil {
			return x, err
		}
		project := fmt.Sprintf("talk-%d", len(x.projects)+1)
		if turns {
			x.add(project, talk.Turns)
		} else {
			x.add(project, talk.Sessions)
		}
		for _, q := range talk.Asks {
			right := q.Sessions
			if turns {
				right = q.Turns
			}
			x.asks = append(x.asks, ask{project, q.Text, right})
		}
	}
	x.finish()
	return x, nil
}

// mixHistories reads LongMemEval. Each question is asked by a different person, and the person's
// project is the haystack of the question.
func mixHistories(data fs.FS) (mixedMemory, error) {
	x := mixedMemory{budgets: []int{8000, 30000}}
	src, err := quality.FindOne(data, ".", "longmemeval")
	if err != nil {
		return x, err
	}
	n := 0
	for q, err := range src.Questions() {
		if err != nil {
			return x, err
		}
		n++
		if strings.HasSuffix(q.ID, "_abs") {
			continue // no entry answers the question
		}
		project := fmt.Sprintf("person-%d", n)
		x.add(project, q.Entries())
		x.asks = append(x.asks, ask{project, q.Text, q.Right()})
	}
	x.finish()
	return x, nil
}
