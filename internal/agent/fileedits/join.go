// This file converts edits to annotation records. It finds the edited files in the tree. If the transcript does not
// contain the line numbers of an edit, it searches the file for the lines.

package fileedits

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// Options configure [MakeRecords]. A nil Options and zero fields mean the defaults.
type Options struct {
	// OldTreePath is the absolute path that the tree had when the transcript was written. The default is the tree's
	// present path.
	OldTreePath string
}

// RecordsResult is the result of [MakeRecords].
type RecordsResult struct {
	Records []annotate.Record // records for [annotate.Store.Add], in the order of the edits

	FilesOutsideTree     []string // edited files outside of the tree, as the transcript names them, each once
	EditCountOutsideTree int      // number of edits in files that are outside of the annotated directory tree
	UnlocatedEditCount   int      // number of edits whose lines are neither in the transcript nor in the present file
}

// MakeRecords makes a record for each edit of a file in the store's tree. A record's ID is derived from the ID of the
// tool call. Therefore, reading the transcript again, or its continuation in another file, results in the same records.
// If an edit's text is known but its position is not, the record lacks a Span.
//
// If the agent renamed the file after the edit, the record contains the file's newest name, because git may not know
// the names that the file had between two commits. There are two exceptions: the record contains the name at the time
// of the edit if a file with this name still exists, or if no file with the newest name exists.
func MakeRecords(b *annotate.Store, t *Transcript, o *Options) (*RecordsResult, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	j := &RecordsResult{}
	outside := map[string]bool{}
	now := map[string][]string{} // current lines of each file in the working tree that was read, by file name
	names := findRenames(b, t, opts.OldTreePath)
	for i := range t.Edits {
		e := &t.Edits[i]
		file, ok := findPathInTree(b, e, opts.OldTreePath)
		if !ok {
			j.EditCountOutsideTree++
			if !outside[e.Path] {
				outside[e.Path] = true
				j.FilesOutsideTree = append(j.FilesOutsideTree, e.Path)
			}
			continue
		}
		then := file
		file = names.currentName(b, file, i)
		if e.mayHaveSpacesForTabs || e.Span.Len() == 0 {
			if _, ok := now[file]; !ok {
				lines, err := b.FileLines(file)
				hasNoLines := errors.Is(err, fs.ErrNotExist) || errors.Is(err, oxbow.ErrInvalid)
				if err != nil && !hasNoLines {
					return nil, fmt.Errorf("joining a transcript: %w", err)
				}
				now[file] = lines
			}
		}
		at := *e
		if at.mayHaveSpacesForTabs {
			at.NewLines = restoreLeadingTabsFrom(at.NewLines, now[file])
			at.LinesBefore = restoreLeadingTabsFrom(at.LinesBefore, now[file])
			at.LinesAfter = restoreLeadingTabsFrom(at.LinesAfter, now[file])
		}
		if at.Span.Len() == 0 {
			at.locateBlock(now[file])
		}
		if len(at.NewLines) == 0 {
			j.UnlocatedEditCount++
			continue
		}
		j.Records = append(j.Records, at.annotationRecord(b, t.Client, file, then))
	}
	return j, nil
}

// findPathInTree returns the edited file's path, relative to the root of the store's tree. If oldTreePath is not "", it
// is the absolute path that the tree had when the edit was made. An absolute path in e must then be below oldTreePath.
// findPathInTree returns false if the file is outside of the tree.
func findPathInTree(b *annotate.Store, e *Edit, oldTreePath string) (string, bool) {
	name := e.Path
	if name == "" {
		return "", false
	}
	if !isAbsolutePath(name) && e.Dir != "" {
		name = path.Join(filepath.ToSlash(e.Dir), filepath.ToSlash(name))
	}
	if oldTreePath != "" && isAbsolutePath(name) {
		rel, ok := strings.CutPrefix(
			path.Clean(filepath.ToSlash(name)),
			strings.TrimSuffix(path.Clean(filepath.ToSlash(oldTreePath)), "/")+"/",
		)
		return rel, ok && annotate.CheckFile(rel) == nil
	}
	file, err := b.ToTreePath(b.Root(), filepath.FromSlash(name))
	return file, err == nil
}

// renamesByFile contains the renames of each file by the file's old name, in the order in which they happened.
type renamesByFile map[string][]renamedFileName

type renamedFileName struct {
	newName   string
	editCount int // number of edits in the transcript before the file was renamed
}

// findRenames returns the renames in the transcript, with names relative to the root of the store's tree. Renames to or
// from a name outside of the tree are left out.
func findRenames(b *annotate.Store, t *Transcript, oldTreePath string) renamesByFile {
	m := renamesByFile{}
	for _, v := range t.Renames {
		was, ok := findPathInTree(b, &Edit{Path: v.OldName, Dir: v.WorkingDir}, oldTreePath)
		to, ok2 := findPathInTree(b, &Edit{Path: v.NewName, Dir: v.WorkingDir}, oldTreePath)
		areInTree := ok && ok2
		if areInTree && was != to {
			m[was] = append(m[was], renamedFileName{to, v.EditCount})
		}
	}
	return m
}

// currentName returns the present name of a file. The parameter file is the name that the file had when edit number
// editIndex was made. currentName follows the later renames to the file's last name. It returns the old name if the
// file was not renamed later. It also returns the old name if a file with the old name still exists, or if no file with
// the last name exists.
func (m renamesByFile) currentName(b *annotate.Store, file string, editIndex int) string {
	now := file
	for hops := 0; hops < maxRenames; hops++ {
		next, ok := slices.BinarySearchFunc(
			m[now],
			editIndex,
			func(v renamedFileName, i int) int { return v.editCount - i - 1 },
		)
		if !ok && next == len(m[now]) {
			break
		}
		now, editIndex = m[now][next].newName, m[now][next].editCount-1
	}
	if now == file || b.HasFile(file) {
		return file
	}
	if !b.HasFile(now) {
		return file
	}
	return now
}

// maxRenames limits how many renames of a file are followed, so that circular renames end.
const maxRenames = 100

// isAbsolutePath reports whether a path is absolute on any operating system. The transcript may come from another
// system.
func isAbsolutePath(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, "/") ||
		(len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/'))
}

// restoreLeadingTabsFrom returns the lines with their leading tabs restored, as [restoreLeadingTabs] does. The tabs are
// taken from the same lines in a file. The parameter fileLines contains all lines of the file.
func restoreLeadingTabsFrom(lines, fileLines []string) []string {
	return restoreLeadingTabs(lines, []string{strings.Join(fileLines, "\n")})
}

// locateBlock searches the argument lines, which are the lines of the present file, for the edit's lines. If it finds
// them, it sets the edit's position.
//
// If the edit's lines occur at several positions, locateBlock compares the lines before and after each position with
// e.LinesBefore and e.LinesAfter. It chooses the position with the most equal lines. If two positions have equally
// many, locateBlock does not set the position. If it sets no position and e.mayBeReformatted is true, it sets
// e.NewLines to nil.
//
// If e.partialLineText is not empty, locateBlock only searches for this text.
func (e *Edit) locateBlock(lines []string) {
	if e.partialLineText != "" {
		all := make([]numberedLine, len(lines))
		for i, l := range lines {
			all[i] = numberedLine{i + 1, l}
		}
		if s, ok := findTextLines(all, e.partialLineText); ok {
			if n := s.lineCount - e.unchangedEdgeLineCounts[0] - e.unchangedEdgeLineCounts[1]; n > 0 {
				s.firstLine, s.lineCount = s.firstLine+e.unchangedEdgeLineCounts[0], n
			}
			e.setBlockLines(lines, s.firstLine, s.lineCount)
		}
		return
	}
	same := func(a, b string) bool { return a == b }
	if e.mayBeReformatted {
		same = func(a, b string) bool { return trimSpaceAndComma(a) == trimSpaceAndComma(b) }
	}
	at, n := -1, len(e.NewLines)
	better := -1
	twice := false
	for i := 0; i+n <= len(lines); i++ {
		fit := true
		for k := 0; k < n && fit; k++ {
			fit = same(lines[i+k], e.NewLines[k])
		}
		if !fit {
			continue
		}
		score := 0
		for k := range e.LinesBefore {
			if p := i - len(e.LinesBefore) + k; p >= 0 && same(lines[p], e.LinesBefore[k]) {
				score++
			}
		}
		for k := range e.LinesAfter {
			if p := i + n + k; p < len(lines) && same(lines[p], e.LinesAfter[k]) {
				score++
			}
		}
		switch {
		case score > better:
			at = i
			better = score
			twice = false
		case score == better:
			twice = true
		}
	}
	// If the edit's lines match two places in the file equally well, the edit's position stays unknown.
	if at >= 0 && !twice {
		e.setBlockLines(lines, at, n)
	} else if e.mayBeReformatted {
		// A formatter may have changed the lines in the file, so the lines from the transcript would mislead.
		e.NewLines = nil
	}
}

func trimSpaceAndComma(l string) string { return strings.TrimSuffix(strings.TrimSpace(l), ",") }

// setBlockLines records that the edit inserted n lines of the file, beginning at index first. It also records the
// lines directly before and after them.
func (e *Edit) setBlockLines(lines []string, first, n int) {
	e.Span = annotate.LineSpan{First: first + 1, Last: first + n}
	e.NewLines = lines[first : first+n]
	e.LinesBefore = lines[max(0, first-annotate.ContextLines):first]
	e.LinesAfter = lines[first+n : min(len(lines), first+n+annotate.ContextLines)]
	e.enclosingLines = annotate.FindEnclosingLines(lines, first)
}

// annotationRecord returns the annotation record for the edit. nameAtEdit is the file's name when the edit was made.
func (e *Edit) annotationRecord(b *annotate.Store, client, file, nameAtEdit string) annotate.Record {
	r := annotate.Record{
		File: file, Span: e.Span, Why: e.Why, Author: oxbow.Agent, Agent: client, Model: truncateRecordField(e.Model),
		Session: truncateRecordField(e.Session),
		SourceRef: truncateRecordField(
			client + " " + e.CallID,
		), Time: e.Time, LinesBefore: e.LinesBefore, LinesAfter: e.LinesAfter,
	}
	if e.SubAgent != "" {
		r.Agent = truncateRecordField(client + "/" + e.SubAgent)
	}
	switch {
	case e.Span.Len() == 0:
	case e.Content != nil:
		r.FileBlobName = b.BlobName(e.Content)
		r.EnclosingLines = annotate.FindEnclosingLines(annotate.SplitLines(e.Content), e.Span.First-1)
	default:
		r.EnclosingLines = e.enclosingLines
	}
	block := annotate.SplitLines([]byte(strings.Join(e.NewLines, "\n") + "\n"))
	r.SetBlock(block)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", client, e.CallID, nameAtEdit, e.NumberInCall))
	r.ID = "t" + hex.EncodeToString(sum[:8])
	return r
}

// truncateRecordField shortens a value to at most maxFieldBytes bytes.
func truncateRecordField(s string) string {
	return text.TruncateBytes(strings.ToValidUTF8(s, "\ufffd"), maxFieldBytes)
}

const maxFieldBytes = 256 // maximum size of a short field in a record, in bytes
