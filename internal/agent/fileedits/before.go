// This file finds the annotations of the lines that a tool is about to change.

package fileedits

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// AnnotationsBeforeEdit returns the annotations of the lines that an edit in the hook report r is about to change. It
// leaves out annotations with a confidence below 0.5, because their lines were not reliably found in the file. It
// returns nil if r does not announce an edit. It returns no annotations for files that are new or binary, or to which
// the edit cannot be applied. If a file cannot be read for another reason, it returns an error.
func AnnotationsBeforeEdit(ctx context.Context, b *annotate.Store, r HookInput) ([]annotate.FoundAnnotation, error) {
	l, ok := r.parseReport()
	isBefore := l.EventName == "PreToolUse" || l.EventName == "BeforeTool"
	if !ok || !isBefore {
		return nil, nil
	}
	call := parseCall(l.ToolName, l.ToolInput)
	if call == nil {
		return nil, nil
	}
	call.edit.Dir = l.WorkingDir
	var out []annotate.FoundAnnotation
	for _, c := range call.changedFiles() {
		file, ok := findPathInTree(b, &Edit{Path: c.path, Dir: l.WorkingDir}, "")
		if !ok {
			continue
		}
		found, err := b.FindTouchedAnnotations(ctx, file, c.apply)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, oxbow.ErrInvalid) {
			continue // The changed file is new or binary. Skip the file, because it has no lines with annotations.
		}
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(f annotate.FoundAnnotation) bool { return f.Confidence < .5 }), nil
}

// fileEdit describes how a call changes one file. The function apply returns the file's content after the change, or
// false if the content cannot be determined.
type fileEdit struct {
	path  string
	apply func(text string) (string, bool)
}

// changedFiles returns a fileEdit for each file that the call changes. Files that a patch adds are left out.
func (call *chatCall) changedFiles() []fileEdit {
	if call.patch == "" {
		return []fileEdit{{call.edit.Path, func(text string) (string, bool) {
			if call.newContent != nil {
				return *call.newContent, true
			}
			now, _, ok := applyReplacements(text, call.replacements)
			return now, ok
		}}}
	}
	files, err := parsePatchEnvelope(call.patch)
	if err != nil {
		return nil
	}
	var out []fileEdit
	for _, f := range files {
		if !f.isAddition {
			out = append(out, fileEdit{f.path, f.applyHunks})
		}
	}
	return out
}

// applyHunks applies a patch's hunks to a text. Each hunk is applied at the next position where its old lines occur.
// It returns false if the old lines do not occur.
func (f fileChange) applyHunks(text string) (string, bool) {
	if f.isDeletion {
		return "", true
	}
	lines := annotate.SplitLines([]byte(text))
	from := 0
	for _, h := range f.hunks {
		var old, now []string
		for _, l := range h.lines {
			switch {
			case l == "":
				old, now = append(old, ""), append(now, "")
			case l[0] == '-':
				old = append(old, l[1:])
			case l[0] == '+':
				now = append(now, l[1:])
			default:
				old, now = append(old, l[1:]), append(now, l[1:])
			}
		}
		at := from
		for at+len(old) <= len(lines) && !slices.Equal(lines[at:at+len(old)], old) {
			at++
		}
		if at+len(old) > len(lines) {
			return "", false
		}
		lines = slices.Concat(lines[:at], now, lines[at+len(old):])
		from = at + len(now)
	}
	return strings.Join(lines, "\n") + "\n", true
}
