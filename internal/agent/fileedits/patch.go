// This file parses the two kinds of patches in transcripts: hunks in unified diffs, and apply_patch envelopes.

package fileedits

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// hunk is a part of a unified diff. Each of its lines begins with " ", "-" or "+".
type hunk struct {
	firstLine int // number of the hunk's first line in the new file, from 1 (0 if not known)
	lines     []string
}

// maxUnchangedLinesInEdit is the maximum number of unchanged lines between two changes that belong to one edit.
const maxUnchangedLinesInEdit = 3

// splitIntoEdits divides the hunk into edits. Each edit is a copy of e with the lines and the position of a part of the
// hunk. There are two kinds of edits:
//
// - An edit for each group of inserted lines that are close together. It begins and ends with an inserted line.
// - An edit for each place where lines were removed and no line was inserted close by. It has IsRemovalOnly set.
func (h hunk) splitIntoEdits(e Edit) []Edit {
	type row struct {
		text string
		put  bool
	}
	var rows []row // lines of the hunk in the new file
	var cuts []int // for each stretch of removed lines, the index in rows of the line after the stretch
	for _, l := range h.lines {
		if l == "" {
			l = " " // A diff has a space before an unchanged line. Some editors strip this space if the line is empty.
		}
		switch l[0] {
		case '+':
			rows = append(rows, row{l[1:], true})
		case '-':
			if n := len(cuts); n == 0 || cuts[n-1] != len(rows) {
				cuts = append(cuts, len(rows))
			}
		case ' ':
			rows = append(rows, row{l[1:], false})
		}
	}
	var out []Edit
	edit := func(from, to int) Edit { // edit returns a copy of e for rows[from:to], with the adjacent rows as context.
		at := e
		if h.firstLine > 0 {
			at.Span = annotate.LineSpan{First: h.firstLine + from, Last: h.firstLine + to - 1}
		}
		for i := max(0, from-annotate.ContextLines); i < min(len(rows), to+annotate.ContextLines); i++ {
			switch {
			case i < from:
				at.LinesBefore = append(at.LinesBefore, rows[i].text)
			case i < to:
				at.NewLines = append(at.NewLines, rows[i].text)
			default:
				at.LinesAfter = append(at.LinesAfter, rows[i].text)
			}
		}
		return at
	}
	// cut adds an edit with IsRemovalOnly set for each index in cuts that is less than upTo, and removes the index from
	// cuts. The edit contains the rows before and after the removed lines, because the removed lines are not in rows.
	cut := func(upTo int) {
		for len(cuts) > 0 && cuts[0] < upTo {
			if from, to := max(0, cuts[0]-1), min(len(rows), cuts[0]+1); from < to {
				removed := edit(from, to)
				removed.IsRemovalOnly = true
				out = append(out, removed)
			}
			cuts = cuts[1:]
		}
	}
	for i := 0; i < len(rows); i++ {
		if !rows[i].put {
			continue
		}
		last := i
		for j := i + 1; j < len(rows) && j <= last+maxUnchangedLinesInEdit+1; j++ {
			if rows[j].put {
				last = j
			}
		}
		cut(i - 1)
		// Lines that were removed next to or inside the inserted lines belong to the same edit, so they need no edit of
		// their own.
		for len(cuts) > 0 && cuts[0] <= last+2 {
			cuts = cuts[1:]
		}
		out = append(out, edit(i, last+1))
		i = last
	}
	cut(len(rows) + 1)
	return out
}

// parseUnifiedDiff parses the hunks in a unified diff of one file. It ignores file headers.
func parseUnifiedDiff(diff string) ([]hunk, error) {
	var out []hunk
	left := [2]int{} // number of old and new lines that the current hunk still lacks
	for l := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		if left[0] > 0 || left[1] > 0 {
			h := &out[len(out)-1]
			c := byte(' ')
			if l != "" {
				c = l[0]
			}
			switch c {
			case '+':
				left[1]--
			case '-':
				left[0]--
			case ' ':
				left[0]--
				left[1]--
			case '\\': // Such a line is not text of the file. It says that the file does not end with a newline.
				continue
			default:
				return nil, fmt.Errorf("a line of a diff begins with %q", c)
			}
			if left[0] < 0 || left[1] < 0 {
				return nil, errors.New("a hunk has more lines than it says")
			}
			h.lines = append(h.lines, strings.TrimSuffix(l, "\r"))
			continue
		}
		head, ok := strings.CutPrefix(l, "@@ -")
		if !ok {
			continue
		}
		head, _, ok = strings.Cut(head, " @@")
		olds, news, ok2 := strings.Cut(head, " +")
		_, n, err := parseHunkRange(olds)
		first, m, err2 := parseHunkRange(news)
		isHeader := ok && ok2 && err == nil && err2 == nil
		isBeforeFirstLine := first == 0 && m > 0
		if !isHeader || isBeforeFirstLine {
			return nil, fmt.Errorf("%.60q begins no hunk", l)
		}
		if m == 0 {
			first++ // For a hunk without lines in the new file, git prints the number of the line before the hunk.
		}
		out = append(out, hunk{firstLine: first})
		left = [2]int{n, m}
	}
	if left[0] > 0 || left[1] > 0 {
		return nil, errors.New("a hunk has fewer lines than it says")
	}
	return out, nil
}

// parseHunkRange parses a line range such as "12" or "12,3". Without a count, n is 1.
func parseHunkRange(s string) (first, n int, err error) {
	a, b, ok := strings.Cut(s, ",")
	n = 1
	first, err = strconv.Atoi(a)
	if err == nil && ok {
		n, err = strconv.Atoi(b)
	}
	areCounts := min(first, n) >= 0 && max(first, n) <= 1<<30
	if err == nil && !areCounts {
		err = errors.New("is no count")
	}
	return first, n, err
}

// fileChange is the change that an apply_patch call makes to one file.
type fileChange struct {
	path, newPath          string // The file's path, and its new path after a rename ("" without a rename).
	isAddition, isDeletion bool
	hunks                  []hunk
}

// parsePatchEnvelope parses the input of the tool apply_patch. The input looks like this:
//
//	*** Begin Patch
//	*** Add File: PATH         then lines that begin with +
//	*** Delete File: PATH
//	*** Update File: PATH      then, optionally, *** Move to: PATH, and chunks:
//	@@ a line above            begins a chunk; "@@" alone also begins a chunk
//	 context, -old and +new lines
//	*** End of File            the chunk ends the file
//	*** End Patch
//
// The first chunk of a file may lack the line that begins with @@. parsePatchEnvelope returns an error if the first or
// the last line is missing, or if another line that begins with *** is unknown.
func parsePatchEnvelope(text string) ([]fileChange, error) {
	_, text, ok := strings.Cut(text, "*** Begin Patch")
	if !ok {
		return nil, errors.New("the patch has no beginning")
	}
	var out []fileChange
	ended := false
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSuffix(l, "\r")
		head := strings.TrimSpace(l)
		var at *fileChange
		if len(out) > 0 {
			at = &out[len(out)-1]
		}
		path := func(mark string) bool {
			p, ok := strings.CutPrefix(head, mark)
			if ok {
				out = append(out, fileChange{path: strings.TrimSpace(p)})
				at = &out[len(out)-1]
			}
			return ok
		}
		// In an updated file's section, a line that begins with a space is text of the file, even if "*** Add File" or
		// the like follows the space.
		text := at != nil && !at.isAddition && !at.isDeletion && len(at.hunks) > 0 && strings.HasPrefix(l, " ")
		switch {
		case ended:
		case text:
			h := &at.hunks[len(at.hunks)-1]
			h.lines = append(h.lines, l)
		case head == "*** End Patch":
			ended = true
		case path("*** Add File: "):
			at.isAddition = true
			at.hunks = []hunk{{firstLine: 1}}
		case path("*** Delete File: "):
			at.isDeletion = true
		case path("*** Update File: "):
		case at == nil || head == "*** End of File":
		case strings.HasPrefix(head, "*** Move to: "):
			at.newPath = strings.TrimSpace(strings.TrimPrefix(head, "*** Move to: "))
		case strings.HasPrefix(head, "*** "):
			return nil, fmt.Errorf("%.60q begins no part of a patch", head)
		case at.isDeletion:
		case !at.isAddition && (l == "@@" || strings.HasPrefix(l, "@@ ")):
			at.hunks = append(at.hunks, hunk{})
		case at.isAddition && !strings.HasPrefix(l, "+"):
		default:
			if len(at.hunks) == 0 {
				if head == "" {
					continue
				}
				at.hunks = append(at.hunks, hunk{})
			}
			h := &at.hunks[len(at.hunks)-1]
			h.lines = append(h.lines, l)
		}
	}
	if !ended {
		return nil, errors.New("the patch has no end")
	}
	return out, nil
}
