// This file implements the layouts that the tests use: a layout with one entry per file (cards), and a layout with
// many entries per file (days).

package mdtree

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// The layout of type cards stores each entry in one of two places. The entry X is stored in its own file, or, if its
// kind is journal, in the common log:
//
//	cards/<hash of the name>.md      name: X, label: k:v, … lines, an empty line, the content
//	days/log.md                      entries of kind journal, each "## NAME" and lines
type cards struct{}

func (cards) Dirs() []string { return []string{"cards", "days"} }

func (cards) Match(p string) bool { return path.Ext(p) == ".md" }

func cardPath(name string) string {
	return fmt.Sprintf("cards/%x.md", sha256.Sum256([]byte(name)))[:len("cards/")+12] + ".md"
}

func (cards) Parse(p, text string) ([]Item, error) {
	if strings.HasPrefix(p, "days/") {
		return parseDay(text), nil
	}
	body := strings.TrimPrefix(text, "\ufeff")
	eol := "\n"
	if strings.Contains(body, "\r\n") {
		eol = "\r\n"
	}
	head, content, ok := strings.Cut(body, eol+eol)
	if !ok {
		return nil, fmt.Errorf("there is no empty line")
	}
	content = strings.TrimSuffix(content, eol)
	if eol == "\r\n" {
		content = strings.ReplaceAll(content, eol, "\n")
	}
	e := oxbow.Entry{Content: content}
	for _, l := range strings.Split(head, eol) {
		key, value, _ := strings.Cut(l, ": ")
		var err error
		switch key {
		case "name":
			e.Name = value
		case "kind":
			e.Kind, err = oxbow.ParseKind(value)
		case "alias":
			e.Aliases = append(e.Aliases, value)
		case "label":
			var label oxbow.Label
			label, err = oxbow.ParseLabel(value)
			e.Labels = append(e.Labels, label)
		case "created":
			e.Created, err = time.Parse(time.RFC3339Nano, value)
		}
		if err != nil {
			return nil, err
		}
	}
	if e.Name == "" {
		return nil, fmt.Errorf("there is no name")
	}
	return []Item{{Entry: e, EndOffset: len(text)}}, nil
}

func parseDay(text string) []Item {
	var items []Item
	at := 0
	for l := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(l, "## "); ok {
			items = append(
				items,
				Item{Entry: oxbow.Entry{Name: strings.TrimSpace(name), Kind: oxbow.Journal}, StartOffset: at},
			)
		}
		at += len(l)
		if n := len(items); n > 0 {
			items[n-1].EndOffset = at
		}
	}
	for i := range items {
		_, body, _ := strings.Cut(text[items[i].StartOffset:items[i].EndOffset], "\n")
		items[i].Entry.Content = strings.TrimSuffix(body, "\n")
	}
	return items
}

func (cards) Plan(v TreeView, op oxbow.Op, now time.Time) ([]Edit, error) {
	place, _ := v.Find(op.Target())
	switch op := op.(type) {
	case oxbow.Add:
		if op.Kind == oxbow.Journal {
			text, _ := v.FileText("days/log.md")
			return []Edit{{Path: "days/log.md", Text: text + daySection(op.Name, op.Content)}}, nil
		}
		e := oxbow.Entry{Name: op.Name, Kind: op.Kind, Content: op.Content, Aliases: op.Aliases, Labels: op.Labels,
			Created: op.Created}
		p := cardPath(op.Name)
		if v.IsPathTaken(p) {
			return nil, fmt.Errorf("%s is taken", p)
		}
		return []Edit{{Path: p, Text: card(e, nil, "\n")}}, nil
	case oxbow.Remove:
		if place.Entry.Kind == oxbow.Journal {
			text, _ := v.FileText(place.Path)
			return []Edit{{Path: place.Path, Text: text[:place.StartOffset] + text[place.EndOffset:]}}, nil
		}
		return []Edit{{Path: place.Path, IsRemoval: true}}, nil
	}
	e := place.Entry.Clone()
	switch op := op.(type) {
	case oxbow.Update:
		e.Content = op.Content
		e.Aliases = op.Aliases
		e.Labels = op.Labels
	case oxbow.Alias:
		e.Aliases = op.Aliases
	case oxbow.Relabel:
		e.Labels = op.Labels
	}
	text, _ := v.FileText(place.Path)
	if e.Kind == oxbow.Journal {
		return []Edit{
			{Path: place.Path, Text: text[:place.StartOffset] + daySection(e.Name, e.Content) + text[place.EndOffset:]},
		}, nil
	}
	eol := "\n"
	if strings.Contains(text, "\r\n") {
		eol = "\r\n"
	}
	head, _, _ := strings.Cut(text, eol+eol)
	var unknown []string
	for _, l := range strings.Split(strings.TrimPrefix(head, "\ufeff"), eol) {
		key, _, _ := strings.Cut(l, ": ")
		if !strings.Contains("name kind alias label created", key) || key == "" {
			unknown = append(unknown, l)
		}
	}
	bom := text[:len(text)-len(strings.TrimPrefix(text, "\ufeff"))]
	return []Edit{{Path: place.Path, Text: bom + card(e, unknown, eol)}}, nil
}

func daySection(name, content string) string { return "## " + name + "\n" + content + "\n" }

func card(e oxbow.Entry, unknown []string, eol string) string {
	lines := append([]string{"name: " + e.Name, "kind: " + e.Kind.String()}, unknown...)
	for _, a := range e.Aliases {
		lines = append(lines, "alias: "+a)
	}
	for _, l := range oxbow.SortLabels(e.Labels) {
		lines = append(lines, "label: "+l.String())
	}
	if !e.Created.IsZero() {
		lines = append(lines, "created: "+e.Created.UTC().Format(time.RFC3339Nano))
	}
	content := e.Content
	if eol != "\n" {
		content = strings.ReplaceAll(content, "\n", eol)
	}
	return strings.Join(lines, eol) + eol + eol + content + eol
}
