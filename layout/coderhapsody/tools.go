// This file defines the tools of the layout that are not verbs.

package coderhapsody

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

//go:embed tool_save_memory.md
var saveMemoryDescription string

// Tools implements [layout.Home]. It adds two tools. save_memory writes to today's log. recall_memory returns the logs
// of a range of days, without digests, which are entries of the kind archive.
func (h *home) Tools() []verb.Tool {
	save := verb.DefineTool(
		verb.Tool{
			Verb:        verb.Verb{Name: "save_memory", Title: "Save a memory", Idempotent: true},
			Description: saveMemoryDescription,
		},
		h.saveMemory,
	)
	return []verb.Tool{
		save,
		verb.NewRecallMemoryTool(oxbow.Term{Key: "kind", Values: []string{oxbow.Archive.String()}, Not: true}),
	}
}

// maxNameAttempts is the maximum number of names that are tried to find an unused one.
const maxNameAttempts = 10_000

func (h *home) saveMemory(ctx context.Context, d *verb.Workspace, in verb.SaveMemoryIn) (verb.SaveMemoryOut, error) {
	ctx, m, err := d.OpenMemory(ctx, verb.Create)
	if err != nil {
		return verb.SaveMemoryOut{}, err
	}
	var labels []oxbow.Label
	put := func(key string, values ...string) {
		for _, v := range values {
			labels = append(labels, oxbow.Label{Key: key, Value: v})
		}
	}
	if in.Project != "" {
		put(oxbow.LabelProject, in.Project)
	}
	put(oxbow.LabelTag, oxbow.SplitTags(in.Tags...)...)
	put(oxbow.LabelFile, in.RelatedFiles...)
	if c := in.Confidence; c != nil {
		if !(*c >= 0 && *c <= 1) {
			return verb.SaveMemoryOut{}, &oxbow.InvalidError{
				Field:  "confidence",
				Value:  strconv.FormatFloat(*c, 'g', -1, 64),
				Reason: "is not a number from 0 to 1",
			}
		}
		labels = append(labels, oxbow.Confidence(*c))
	}
	e, known, err := h.addEntryToLog(ctx, m, oxbow.Journal, in.Content, oxbow.SortLabels(labels))
	if err != nil {
		return verb.SaveMemoryOut{}, err
	}
	out := verb.SaveMemoryOut{Name: e.Name, Version: e.Version}
	if known {
		out.Notes = append(out.Notes, verb.PlainNote("the log of today says this already: nothing was changed"))
	}
	return out, nil
}

// addEntryToLog adds an entry to today's log. The entry's name consists of the date and the first line of the content.
// If another entry has this name, a number is appended to the name. If an entry with one of these names has the same
// content, kind and labels, addEntryToLog returns that entry and true, and adds nothing. It returns an error if the
// content is empty or invalid, or if maxNameAttempts names are taken.
func (h *home) addEntryToLog(
	ctx context.Context,
	m *oxbow.Memory,
	kind oxbow.Kind,
	content string,
	labels []oxbow.Label,
) (e oxbow.Entry, alreadyExists bool, err error) {
	if strings.TrimSpace(content) == "" {
		return e, false, &oxbow.InvalidError{Field: "content", Reason: "is empty; say what to remember"}
	}
	if err := oxbow.CheckContent(content); err != nil {
		return e, false, err
	}
	base := h.Now().Format("2006-01-02") + " " + text.DeriveName(content)
	for n := 1; n <= maxNameAttempts; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		made, err := m.Commit(ctx, oxbow.Add{Name: name, Kind: kind, Content: content, Labels: labels})
		if err == nil {
			written, ok := made.Entry()
			if !ok { // the store is not a Committer, so Commit returns an empty change
				written = oxbow.Entry{Name: name}
			}
			return written, false, nil
		}
		if !errors.Is(err, oxbow.ErrExists) {
			return e, false, err
		}
		old, gerr := m.GetNamed(ctx, name)
		isSame := old.Content == content && old.Kind == kind && slices.Equal(old.Labels, labels)
		if gerr == nil && isSame {
			return old, true, nil
		}
	}
	return e, false, &oxbow.InvalidError{
		Field:  "content",
		Reason: fmt.Sprintf("begins as %d entries of today do; give it another first line", maxNameAttempts),
	}
}
