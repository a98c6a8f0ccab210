// This file records the texts that a change of a whole file replaces, and reverts such a change.
//
// A record is a file undo/N.json next to the memory, with N counted from 1. It contains the change's kind and time,
// the texts of MEMORY.md before and after the change, and the text that the change appended to HISTORY.md. The record
// and the change become durable together. The last 20 records are kept.

package clawft

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/layout"
)

const (
	undoDir           = "undo"
	undoRecordVersion = 1
	maxUndoRecords    = 20
)

// undoRecord is the content of an undo record, which is a JSON file.
type undoRecord struct {
	Version   int       `json:"version"`
	What      string    `json:"what"`
	Time      time.Time `json:"time"`
	OldMemory string    `json:"memory_was"`
	NewMemory string    `json:"memory_is"`
	History   string    `json:"history,omitempty"` // text that the change appended to HISTORY.md
}

func undoFilePath(recordNumber int) string {
	return path.Join(undoDir, strconv.Itoa(recordNumber)+".json")
}

// undoRecordNumbers returns the numbers of the existing undo records in ascending order.
func (h *Home) undoRecordNumbers() ([]int, error) {
	entries, err := h.fs.ReadDir(undoDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ns []int
	for _, e := range entries {
		n, err := strconv.Atoi(strings.TrimSuffix(e.Name(), ".json"))
		isNumber := err == nil && n > 0
		if isNumber && e.Name() == path.Base(undoFilePath(n)) {
			ns = append(ns, n)
		}
	}
	slices.SortFunc(ns, cmp.Compare[int])
	return ns, nil
}

// newUndoRecordEdits returns the number for a new undo record with the content r. It also returns the edits that write
// the record and remove the oldest records, so that at most maxUndoRecords remain.
func (h *Home) newUndoRecordEdits(r undoRecord) (int, []mdtree.Edit, error) {
	ns, err := h.undoRecordNumbers()
	if err != nil {
		return 0, nil, err
	}
	r.Version = undoRecordVersion
	r.Time = r.Time.UTC().Truncate(time.Second)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return 0, nil, err
	}
	n := 1
	if len(ns) > 0 {
		n = ns[len(ns)-1] + 1
	}
	edits := []mdtree.Edit{{Path: undoFilePath(n), Text: b.String()}}
	for len(ns) >= maxUndoRecords {
		edits = append(edits, mdtree.Edit{Path: undoFilePath(ns[0]), IsRemoval: true})
		ns = ns[1:]
	}
	return n, edits, nil
}

// parseUndoRecord decodes the text of an undo record.
func parseUndoRecord(text string) (undoRecord, error) {
	var r undoRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("%w: %v", oxbow.ErrCorrupt, err)
	}
	if r.Version != undoRecordVersion {
		return r, fmt.Errorf("%w: %d", oxbow.ErrVersion, r.Version)
	}
	return r, nil
}

// Revert implements [layout.Tidier]. It undoes the change with this number, or the last change if changeNumber is 0.
// Later changes of MEMORY.md are kept, because the undo is merged with them by line.
func (h *Home) Revert(ctx context.Context, changeNumber int, dryRun bool) (layout.Tidied, error) {
	var did layout.Tidied
	plan := func(file func(string) string, _ time.Time) (edits []mdtree.Edit, err error) {
		did, edits, err = h.revertEdits(file, changeNumber)
		return edits, err
	}
	if err := h.applyEdits(ctx, dryRun, plan); err != nil {
		return layout.Tidied{}, fmt.Errorf("taking back: %w", err)
	}
	return did, nil
}

func (h *Home) revertEdits(
	read func(string) string,
	changeNumber int,
) (result layout.Tidied, _ []mdtree.Edit, _ error) {
	ns, err := h.undoRecordNumbers()
	if err != nil {
		return result, nil, err
	}
	last := changeNumber == 0
	switch {
	case len(ns) == 0:
		return result, nil, fmt.Errorf("%w: nothing was replaced in whole that could be taken back", oxbow.ErrNotFound)
	case last:
		changeNumber = ns[len(ns)-1]
	case !slices.Contains(ns, changeNumber):
		return result, nil, fmt.Errorf(
			"%w: there is no change %d to take back; the last is %d",
			oxbow.ErrNotFound,
			changeNumber,
			ns[len(ns)-1],
		)
	}
	file := undoFilePath(changeNumber)
	r, err := parseUndoRecord(read(file))
	if err != nil {
		return result, nil, fmt.Errorf("reading %s: %w", file, err)
	}
	memory, history := read(memoryFile), read(historyFile)
	at := strings.LastIndex(history, r.History)
	isUnchanged := memory == r.NewMemory && at >= 0 && at+len(r.History) == len(history)
	if last && !isUnchanged {
		return result, nil, fmt.Errorf(
			"%w: other changes were made since change %d (%s), and they would be mixed with it",
			oxbow.ErrConflict,
			changeNumber,
			r.What,
		)
	}
	was, ok := diff.MergeLines(r.NewMemory, textOrLineEnd(r.OldMemory), memory)
	if !ok {
		return result, nil, fmt.Errorf(
			"%w: MEMORY.md was changed since, where change %d (%s) had changed it; its text from before is "+
				"memory_was in %s",
			oxbow.ErrConflict, changeNumber, r.What, file,
		)
	}
	result = layout.Tidied{Number: changeNumber, What: r.What, Time: r.Time, Before: prompt.EstimateTokens(memory),
		After: prompt.EstimateTokens(was)}
	edits := []mdtree.Edit{{Path: memoryFile, Text: was}, {Path: file, IsRemoval: true}}
	switch {
	case r.History == "":
	case at < 0 || strings.Count(history, r.History) != 1:
		result.Notes = append(result.Notes, "what it had written to HISTORY.md was changed since, and stays there")
	default:
		left := history[:at] + history[at+len(r.History):]
		edits = append(edits, mdtree.Edit{Path: historyFile, Text: left, IsRemoval: isBlank(left)})
	}
	result.Steps = restoredParagraphSteps(was, memory)
	return result, edits, nil
}

// restoredParagraphSteps returns a step, for the report of an undo, for each paragraph of text that the text other
// lacks.
func restoredParagraphSteps(text, other string) []layout.Step {
	there := map[string]bool{}
	for _, p := range splitParagraphs(other) {
		there[p.text] = true
	}
	var steps []layout.Step
	for _, p := range splitParagraphs(text) {
		if !there[p.text] {
			steps = append(steps, layout.Step{Did: "put back", Text: p.text, Why: "it was there before"})
		}
	}
	return steps
}

// applyEdits calls plan and applies the edits that plan returns as one atomic change. plan gets a function that returns
// the text of a file, or "" if the file does not exist. plan may be called several times. If dryRun is true, applyEdits
// only calls plan, and needs no permission to write.
func (h *Home) applyEdits(
	ctx context.Context,
	dryRun bool,
	plan func(file func(path string) string, now time.Time) ([]mdtree.Edit, error),
) error {
	if !dryRun {
		return h.Tree.Edit(ctx, func(v mdtree.TreeView, now time.Time) ([]mdtree.Edit, error) {
			return plan(func(path string) string { text, _ := v.FileText(path); return text }, now)
		})
	}
	var failed error
	_, err := plan(func(path string) string {
		text, _, err := h.Tree.Document(ctx, path)
		failed = errors.Join(failed, err)
		return text
	}, h.Now())
	return errors.Join(failed, err)
}
