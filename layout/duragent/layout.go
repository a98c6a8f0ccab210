// This file maps entries to files, and plans changes as edits of these files.

package duragent

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// treeLayout implements [mdtree.Layout] for the files of an agent and the world.
type treeLayout struct {
	worldDir  string // directory with the facts that all agents share
	memoryDir string // directory with the memory of the agent
	zone      *time.Location
}

var _ mdtree.Layout = treeLayout{}

func makeLayout(p homeDirectories, zone *time.Location) treeLayout {
	return treeLayout{worldDir: p.worldPath, memoryDir: p.agentDir("memory"), zone: zone}
}

func (l treeLayout) dailyLogDir() string { return l.memoryDir + "/daily" }

// Dirs implements [mdtree.Layout].
func (l treeLayout) Dirs() []string { return []string{l.worldDir, l.memoryDir, l.dailyLogDir()} }

// Match implements [mdtree.Layout].
func (l treeLayout) Match(file string) bool {
	stem, ok := strings.CutSuffix(path.Base(file), ".md")
	if !ok {
		return false
	}
	switch path.Dir(file) {
	case l.worldDir:
		return true
	case l.memoryDir:
		return stem == curatedNoteName
	case l.dailyLogDir():
		return isDate(stem)
	}
	return false
}

// filePath returns the path of the file in which the layout stores the entry with this name. The file need not exist.
func (l treeLayout) filePath(name string) string {
	if date, _, _, ok := parseDayEntryName(name); ok {
		return l.dailyLogDir() + "/" + date + ".md"
	}
	if name == curatedNoteName {
		return l.memoryDir + "/" + curatedNoteName + ".md"
	}
	return l.worldDir + "/" + factFileStem(name) + ".md"
}

// Parse implements [mdtree.Layout].
func (l treeLayout) Parse(file, text string) ([]mdtree.Item, error) {
	stem := strings.TrimSuffix(path.Base(file), ".md")
	e := oxbow.Entry{Name: decodeName(stem), Kind: oxbow.World, Content: strings.TrimPrefix(text, byteOrderMark)}
	switch path.Dir(file) {
	case l.dailyLogDir():
		return l.parseDay(stem, text), nil
	case l.memoryDir:
		e.Name, e.Kind = curatedNoteName, oxbow.Note
	}
	return []mdtree.Item{{Entry: e, EndOffset: len(text)}}, nil
}

func (l treeLayout) parseDay(date, text string) []mdtree.Item {
	var items []mdtree.Item
	count := map[string]int{}
	for _, p := range parseDay(date, text) {
		count[p.entryTime]++
		e := oxbow.Entry{
			Name:    dayEntryName(date, p.entryTime, count[p.entryTime]),
			Kind:    oxbow.Journal,
			Content: p.content,
		}
		e.Created = l.momentTime(date, p.entryTime)
		e.Updated = e.Created
		items = append(items, mdtree.Item{Entry: e, StartOffset: p.startOffset, EndOffset: p.endOffset})
	}
	return items
}

// momentTime returns the time for a date such as 2026-02-18 and a time of day such as 15:46. If timeOfDay is "", it
// returns the beginning of the day.
func (l treeLayout) momentTime(date, timeOfDay string) time.Time {
	if timeOfDay == "" {
		timeOfDay = "00:00"
	}
	t, err := time.ParseInLocation(dayFormat+" "+minuteFormat, date+" "+timeOfDay, l.zone)
	if err != nil {
		// Parsing cannot fail, because the callers have checked the form of date and timeOfDay.
		return time.Time{}
	}
	return t.UTC()
}

// Plan implements [mdtree.Layout]. The argument op must be a result of toStorableOps.
func (l treeLayout) Plan(v mdtree.TreeView, op oxbow.Op, _ time.Time) ([]mdtree.Edit, error) {
	switch op := op.(type) {
	case oxbow.Add:
		return l.planAdd(v, op)
	case oxbow.Update:
		p, _ := v.Find(op.Name)
		old, _ := v.FileText(p.Path)
		mark := old[:len(old)-len(strings.TrimPrefix(old, byteOrderMark))]
		return []mdtree.Edit{{Path: p.Path, Text: mark + op.Content}}, nil
	}
	p, _ := v.Find(op.Target())
	return []mdtree.Edit{{Path: p.Path, IsRemoval: true}}, nil
}

func (l treeLayout) planAdd(v mdtree.TreeView, op oxbow.Add) ([]mdtree.Edit, error) {
	file := l.filePath(op.Name)
	date, moment, n, day := parseDayEntryName(op.Name)
	if !day {
		if v.IsPathTaken(file) {
			return nil, &oxbow.InvalidError{Field: "name", Value: op.Name, Reason: "would be the file " +
				path.Base(file) + ", whose name is taken"}
		}
		return []mdtree.Edit{{Path: file, Text: op.Content}}, nil
	}
	items := v.Items(file)
	if moment == "" {
		if len(items) > 0 {
			return nil, &oxbow.InvalidError{
				Field:  "name",
				Value:  op.Name,
				Reason: "is that of the opening of a day, and the day has begun already",
			}
		}
		return []mdtree.Edit{{Path: file, Text: newDayLog(date, op.Content)}}, nil
	}
	have := 0
	for _, it := range items {
		if _, m, _, _ := parseDayEntryName(it.Entry.Name); m == moment {
			have++
		}
	}
	if n != have+1 {
		return nil, &oxbow.InvalidError{
			Field:  "name",
			Value:  op.Name,
			Reason: "is not the next of its minute, which is " + dayEntryName(date, moment, have+1),
		}
	}
	text, _ := v.FileText(file)
	return []mdtree.Edit{{Path: file, Text: appendEntryToDay(date, text, moment, op.Content)}}, nil
}

// checkChange returns an error for an op that duragent's layout cannot represent. The op must be a result of
// toStorableOps. Errors for unsupported changes match [oxbow.ErrUnsupported]. If the content is empty, the error is an
// [oxbow.InvalidError].
func checkChange(op oxbow.Op) error {
	name := op.Target()
	unsupported := func(what string) error {
		return fmt.Errorf(
			"changing %q: the layout of duragent has no place for %s: %w",
			name,
			what,
			oxbow.ErrUnsupported,
		)
	}
	var aliases []string
	var labels []oxbow.Label
	_, _, _, day := parseDayEntryName(name)
	content := "x"
	switch op := op.(type) {
	case oxbow.Add:
		if err := checkAdd(op, day); err != nil {
			return err
		}
		aliases = op.Aliases
		labels = op.Labels
		content = op.Content
	case oxbow.Update:
		aliases = op.Aliases
		labels = op.Labels
		content = op.Content
	case oxbow.Alias:
		return unsupported("aliases")
	case oxbow.Relabel:
		return unsupported("labels")
	}
	switch _, add := op.(oxbow.Add); {
	case len(aliases) > 0:
		return unsupported("aliases")
	case len(labels) > 0:
		return unsupported("labels")
	case content == "" && !day:
		return &oxbow.InvalidError{
			Field:  "content",
			Reason: "is empty; a file without a byte could not be told from a lost one",
		}
	case day && !add:
		return fmt.Errorf(
			"changing %q: the log of a day is only added to; a person may edit its file: %w",
			name,
			oxbow.ErrUnsupported,
		)
	}
	return nil
}

// checkAdd returns an error if the layout cannot store a new entry with the name and the kind in op. The argument
// isDayEntryName reports whether op.Name is a moment, such as "2026-02-18 15:46". Only an entry of kind Journal can
// have such a name. An entry of kind Note must have the name curatedNoteName. An entry of kind World can have any other
// valid name. No other kinds are allowed.
func checkAdd(op oxbow.Add, isDayEntryName bool) error {
	refuse := func(field, value, reason string) error {
		return &oxbow.InvalidError{Field: field, Value: value, Reason: reason}
	}
	switch {
	case op.Kind == oxbow.Journal && !isDayEntryName:
		return refuse(
			"name",
			op.Name,
			"is not the moment of a journal entry; give the moment as the name, such as \"2026-02-18 15:46\"",
		)
	case op.Kind == oxbow.Journal:
		return nil
	case op.Kind == oxbow.Note && op.Name == curatedNoteName:
		return nil
	case op.Kind != oxbow.World:
		return fmt.Errorf(
			"adding %q: the layout of duragent has no place for entries of kind %s: %w",
			op.Name,
			op.Kind,
			oxbow.ErrUnsupported,
		)
	case isDayEntryName:
		return refuse(
			"kind",
			op.Kind.String(),
			"cannot be that of an entry named by its moment; it is of kind journal",
		)
	case op.Name == curatedNoteName:
		return refuse("kind", op.Kind.String(), "cannot be that of MEMORY, which is the agent's own note")
	}
	return checkFactName(op.Name)
}
