// This file implements the command named "profiles". It measures the text that a model gets from a memory that several
// projects share. One result is how much of this text is about other projects than the question's project. The second
// result is how much of the needed text is included.

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

// multiProjectMemory is a memory of several projects, with questions about each.
type multiProjectMemory struct {
	entries      []projectEntry
	questions    []projectQuestion
	projects     []string
	tokenBudgets []int // maximum sizes of a selection, in tokens; the selection is measured with each size
}

type projectEntry struct {
	project             string
	quality.MemoryEntry // an entry whose ID is unique within its project
}

// projectQuestion is a question about one project, with the IDs of the entries that answer it.
type projectQuestion struct {
	project, text  string
	answerEntryIDs map[string]bool
}

var multiProjectDataSets = []struct {
	name, what string
	read       func(data fs.FS) (multiProjectMemory, error)
}{
	{"LoCoMo sessions", "5 pairs of people, one entry a session", func(d fs.FS) (multiProjectMemory, error) {
		return mixLoCoMoConversations(d, false)
	}},
	{
		"LoCoMo turns",
		"5 pairs of people, one entry a turn",
		func(d fs.FS) (multiProjectMemory, error) { return mixLoCoMoConversations(d, true) },
	},
	{"LongMemEval", "the histories of 50 people, one entry a session", mixLongMemEvalHistories},
}

// injectionSettings contains the settings whose results are compared. If the field profile is set, the profile of the
// question's project selects the entries. If the field message is set, the entries are also ranked by the question.
var injectionSettings = []struct {
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
		b.printTitle("profiles", os.TempDir())
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
		for _, s := range multiProjectDataSets {
			if !strings.HasPrefix(s.name, *only) {
				continue
			}
			x, err := s.read(os.DirFS(*data))
			if err != nil {
				return fmt.Errorf("reading %s: %w", s.name, err)
			}
			x.questions = sampleEvenly(x.questions, *most)
			name := fmt.Sprintf("%s (%d entries, %d questions)", s.name, len(x.entries), len(x.questions))
			if err := x.measureSelections(ctx, func(budget int, way string, j selectionSum) {
				t.addRow(append([]string{name, formatCount(budget), way}, j.tableCells()...)...)
				b.logf("profiles: %s, %d tokens, %s: %v", s.name, budget, way, j.tableCells())
			}); err != nil {
				return fmt.Errorf("measuring %s: %w", s.name, err)
			}
		}
		b.emitTable(t)
		b.printf(
			"Foreign is the mean share, over the questions, of another project in the tokens or the entries that are " +
				"in. Right ones in is the mean share of the entries that answer a question that are in whole; any " +
				"right one in is the share of the questions with at least one.\n",
		)
		return nil
	}
}

// selectionSum adds up the results of selecting entries for several questions.
type selectionSum struct {
	questionCount                                  int
	entryCount                                     int // number of entries in all selections
	otherProjectTokenShare, otherProjectEntryShare float64
	shownAnswerShare, answeredQuestionCount        float64
}

func (j *selectionSum) tableCells() []string {
	n := float64(max(j.questionCount, 1))
	return []string{fmt.Sprintf("%.1f", float64(j.entryCount)/n), fmt.Sprintf("%.3f", j.otherProjectTokenShare/n),
		fmt.Sprintf("%.3f", j.otherProjectEntryShare/n),
		fmt.Sprintf("%.3f", j.shownAnswerShare/n), fmt.Sprintf("%.3f", j.answeredQuestionCount/n)}
}

// addSelection adds the result for one question to the sum j. a is the question, and sel contains the entries that were
// selected for it. entryIndexByName maps the names of entries to their indexes in x.entries.
func (j *selectionSum) addSelection(
	x *multiProjectMemory,
	sel *profile.Selection,
	a projectQuestion,
	entryIndexByName map[string]int,
) {
	shortened := map[string]bool{}
	for _, c := range sel.Context.OmittedTexts {
		shortened[c.Source] = true
	}
	var tokens, foreign, entries, strangers, right int
	for _, p := range sel.Context.Parts {
		if p.Name != profile.PartEntry {
			continue
		}
		e := x.entries[entryIndexByName[p.Source]]
		entries++
		tokens += p.Tokens
		switch {
		case e.project != a.project:
			strangers++
			foreign += p.Tokens
		case a.answerEntryIDs[e.ID] && !shortened[p.Source]:
			right++
		}
	}
	j.questionCount++
	j.entryCount += entries
	if entries > 0 {
		j.otherProjectTokenShare += float64(foreign) / float64(tokens)
		j.otherProjectEntryShare += float64(strangers) / float64(entries)
	}
	j.shownAnswerShare += float64(right) / float64(len(a.answerEntryIDs))
	if right > 0 {
		j.answeredQuestionCount++
	}
}

// measureSelections selects entries for all questions, once for each combination of a token budget and an injection
// setting. After each combination, it calls reportResult with the budget, the name of the setting, and the results. The
// budget is the maximum size of a selection in tokens.
func (x *multiProjectMemory) measureSelections(
	ctx context.Context,
	reportResult func(budget int, way string, j selectionSum),
) (err error) {
	m, byName, err := x.createMemory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	set, err := x.makeProfiles()
	if err != nil {
		return err
	}
	for _, budget := range x.tokenBudgets {
		for _, w := range injectionSettings {
			j, err := x.sumSelections(ctx, m, byName, set, budget, w.profile, w.message)
			if err != nil {
				return err
			}
			reportResult(budget, w.name, j)
		}
	}
	return nil
}

// sumSelections selects entries for each question and returns the sum of the results. The argument tokenBudget is the
// maximum size of a selection in tokens. If usesProfile is set, the entries are selected by the profile of the
// question's project. If ranksByQuestion is set, the question influences the order of the entries.
func (x *multiProjectMemory) sumSelections(
	ctx context.Context,
	m *oxbow.Memory,
	entryIndexByName map[string]int,
	set *profile.Set,
	tokenBudget int,
	usesProfile, ranksByQuestion bool,
) (sum selectionSum, err error) {
	// selections by project, used if ranksByQuestion is false, so that each selection is made only once
	same := map[string]*profile.Selection{}
	for _, a := range x.questions {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		sel := same[a.project]
		if sel == nil {
			r := profile.Everything()
			if usesProfile {
				r, err = set.Resolve(a.project)
				if err != nil {
					return sum, err
				}
			}
			req := profile.Request{Budget: tokenBudget}
			if ranksByQuestion {
				req.Query = a.text
			}
			s, err := set.Select(ctx, m, &r, req)
			if err != nil {
				return sum, err
			}
			sel = &s
			if !ranksByQuestion {
				same[a.project] = sel
			}
		}
		sum.addSelection(x, sel, a, entryIndexByName)
	}
	return sum, nil
}

// createMemory returns a memory with the entries in x.entries, and the index of each entry by name. The entries are
// written in their order, and each entry is written at the time of its date.
func (x *multiProjectMemory) createMemory(ctx context.Context) (*oxbow.Memory, map[string]int, error) {
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
func (x *multiProjectMemory) makeProfiles() (*profile.Set, error) {
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

// addProject adds a project and its entries to the memory x.
func (x *multiProjectMemory) addProject(project string, es []quality.MemoryEntry) {
	x.projects = append(x.projects, project)
	for _, e := range es {
		x.entries = append(x.entries, projectEntry{project, e})
	}
}

// sortAndRenameEntries sorts the entries by date and renames them, so that the names reveal nothing about the
// entries' projects.
func (x *multiProjectMemory) sortAndRenameEntries() {
	slices.SortStableFunc(x.entries, func(a, b projectEntry) int { return a.Date.Compare(b.Date) })
	for i := range x.entries {
		x.entries[i].Name = fmt.Sprintf("e%05d", i+1)
	}
}

// mixLoCoMoConversations makes one memory of all conversations in the data set LoCoMo. Each conversation is a project.
// If the argument splitsSessions is true, each entry is a turn of a conversation. Otherwise each entry is a session,
// which consists of several turns.
func mixLoCoMoConversations(data fs.FS, splitsSessions bool) (multiProjectMemory, error) {
	x := multiProjectMemory{tokenBudgets: []int{2000, 8000}}
	src, err := quality.FindSource(data, ".", "locomo")
	if err != nil {
		return x, err
	}
	for talk, err := range src.Conversations() {
		if err != nil {
			return x, err
		}
		project := fmt.Sprintf("talk-%d", len(x.projects)+1)
		if splitsSessions {
			x.addProject(project, talk.Turns)
		} else {
			x.addProject(project, talk.Sessions)
		}
		for _, q := range talk.Questions {
			right := q.AnswerSessionIDs
			if splitsSessions {
				right = q.AnswerTurnIDs
			}
			x.questions = append(x.questions, projectQuestion{project, q.Text, right})
		}
	}
	x.sortAndRenameEntries()
	return x, nil
}

// mixLongMemEvalHistories makes one memory of the histories in the data set LongMemEval. Each question has its own
// history, which contains all sessions of the person who asks. Each history is a project.
func mixLongMemEvalHistories(data fs.FS) (multiProjectMemory, error) {
	x := multiProjectMemory{tokenBudgets: []int{8000, 30000}}
	src, err := quality.FindSource(data, ".", "longmemeval")
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
		x.addProject(project, q.SessionEntries())
		x.questions = append(x.questions, projectQuestion{project, q.Text, q.AnswerSessionIDs()})
	}
	x.sortAndRenameEntries()
	return x, nil
}
