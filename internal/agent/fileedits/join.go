// This file converts edits to annotations. It finds the edited files in the tree. If the transcript
// does not contain the numbers of the edited lines, it also finds the lines.

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

// Options configure [Join]. Nil and zero fields mean the default.
type Options struct {
	// From is the absolute path of the tree when the transcript was written. The default is the
	// present path.
	From string
}

// JoinResult is the result of [Join].
type JoinResult struct {
	Records []annotate.Record // records for [annotate.Store.Add], in the order of the edits

	Outside   []string // files outside of the tree, without repetitions, as named in the transcript
	OutsideN  int      // number of edits in these files
	Unlocated int      // number of edits with lines that are neither in the transcript nor in the file
}

// Join makes a record for each edit of a file in the store's tree. The record's ID is derived from
// the name of the tool call, so that reading a transcript again, or its continuation in a different
// file, results in the same records. If an edit's text is known but its line numbers are not, the
// record has no Span. If the agent renamed the file later, the record has the last name, because
// git may not know the names in between. This requires that a file with the last name exists and no
// file has the old name.
func Join(b *annotate.Store, t *Transcript, o *Options) (*JoinResult, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	j := &JoinResult{}
	outside := map[string]bool{}
	now := map[string][]string{} // present lines of files
	names := movesByFile(b, t, opts.From)
	for i := range t.Edits {
		e := &t.Edits[i]
		file, ok := treeFile(b, e, opts.From)
		if !ok {
			j.OutsideN++
			if !outside[e.Path] {
				outside[e.Path] = true
				j.Outside = append(j.Outside, e.Path)
			}
			continue
		}
		then := file
		file = names.lastName(b, file, i)
		if e.tabs || e.Span.Len() == 0 {
			if _, ok := now[file]; !ok {
				lines, err := b.Text(file)
				hasNoLines := errors.Is(err, fs.ErrNotExist) || errors.Is(err, oxbow.ErrInvalid)
				if err != nil && !hasNoLines {
					return nil, fmt.Errorf("joining a transcript: %w", err)
				}
				now[file] = lines
			}
		}
		at := *e
		if at.tabs {
			at.Block = withTabsFrom(at.Block, now[file])
			at.Before = withTabsFrom(at.Before, now[file])
			at.After = withTabsFrom(at.After, now[file])
		}
		if at.Span.Len() == 0 {
			at.findLines(now[file])
		}
		if len(at.Block) == 0 {
			j.Unlocated++
			continue
		}
		j.Records = append(j.Records, at.record(b, t.Client, file, then))
	}
	return j, nil
}

// treeFile returns the tree's file that an edit changed.
func treeFile(b *annotate.Store, e *Edit, from string) (string, bool) {
	name := e.Path
	if name == "" {
		return "", false
	}
	if !isAbs(name) && e.Dir != "" {
		name = path.Join(filepath.ToSlash(e.Dir), filepath.ToSlash(name))
	}
	if from != "" && isAbs(name) {
		rel, ok := strings.CutPrefix(
			path.Clean(filepath.ToSlash(name)),
			strings.TrimSuffix(path.Clean(filepath.ToSlash(from)), "/")+"/",
		)
		return rel, ok && annotate.CheckFile(rel) == nil
	}
	file, err := b.File(b.Root(), filepath.FromSlash(name))
	return file, err == nil
}

// moves lists the renames of each file, by its old name, in edit order.
type moves map[string][]fileMove

type fileMove struct {
	to string
	at int // number of edits before the rename
}

func movesByFile(b *annotate.Store, t *Transcript, from string) moves {
	m := moves{}
	for _, v := range t.Moves {
		was, ok := treeFile(b, &Edit{Path: v.From, Dir: v.Dir}, from)
		to, ok2 := treeFile(b, &Edit{Path: v.To, Dir: v.Dir}, from)
		areInTree := ok && ok2
		if areInTree && was != to {
			m[was] = append(m[was], fileMove{to, v.At})
		}
	}
	return m
}

// lastName returns the present name of a file that had the name file at edit number i.
func (m moves) lastName(b *annotate.Store, file string, i int) string {
	now := file
	for hops := 0; hops < maxMoves; hops++ {
		next, ok := slices.BinarySearchFunc(m[now], i, func(v fileMove, i int) int { return v.at - i - 1 })
		if !ok && next == len(m[now]) {
			break
		}
		now, i = m[now][next].to, m[now][next].at-1
	}
	if now == file || b.HasFile(file) {
		return file
	}
	if !b.HasFile(now) {
		return file
	}
	return now
}

// maxMoves is the maximum number of a file's renames that are followed.
const maxMoves = 100

// isAbs reports whether the path is absolute on any operating system, because a transcript may come
// from another system.
func isAbs(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, "/") ||
		(len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/'))
}

// withTabsFrom is like [withTabs], with the lines of a file.
func withTabsFrom(lines, file []string) []string {
	return withTabs(lines, []string{strings.Join(file, "\n")})
}

// findLines searches the present file for the lines of an edit.
func (e *Edit) findLines(lines []string) {
	if e.part != "" {
		all := make([]numberedLine, len(lines))
		for i, l := range lines {
			all[i] = numberedLine{i + 1, l}
		}
		if s, ok := locateText(all, e.part); ok {
			if n := s.n - e.same[0] - e.same[1]; n > 0 {
				s.first, s.n = s.first+e.same[0], n
			}
			e.setBlock(lines, s.first, s.n)
		}
		return
	}
	same := func(a, b string) bool { return a == b }
	if e.loose {
		same = func(a, b string) bool { return bare(a) == bare(b) }
	}
	at, n := -1, len(e.Block)
	better := -1
	twice := false
	for i := 0; i+n <= len(lines); i++ {
		fit := true
		for k := 0; k < n && fit; k++ {
			fit = same(lines[i+k], e.Block[k])
		}
		if !fit {
			continue
		}
		score := 0
		for k := range e.Before {
			if p := i - len(e.Before) + k; p >= 0 && same(lines[p], e.Before[k]) {
				score++
			}
		}
		for k := range e.After {
			if p := i + n + k; p < len(lines) && same(lines[p], e.After[k]) {
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
	// If two positions match equally well, neither is used.
	if at >= 0 && !twice {
		e.setBlock(lines, at, n)
	} else if e.loose {
		e.Block = nil // the spelling in the file is not known
	}
}

func bare(l string) string { return strings.TrimSuffix(strings.TrimSpace(l), ",") }

// setBlock sets the block to n lines that start at index first.
func (e *Edit) setBlock(lines []string, first, n int) {
	e.Span = annotate.Span{First: first + 1, Last: first + n}
	e.Block = lines[first : first+n]
	e.Before = lines[max(0, first-annotate.Context):first]
	e.After = lines[first+n : min(len(lines), first+n+annotate.Context)]
	e.scope = annotate.Scope(lines, first)
}

// record returns the record for an edit. nameThen is the file's name at the time of the edit.
func (e *Edit) record(b *annotate.Store, client, file, nameThen string) annotate.Record {
	r := annotate.Record{
		File: file, Span: e.Span, Why: e.Why, By: oxbow.Agent, Agent: client, Model: word(e.Model),
		Session: word(e.Session),
		Ref:     word(client + " " + e.Call), Time: e.Time, Before: e.Before, After: e.After,
	}
	if e.Sub != "" {
		r.Agent = word(client + "/" + e.Sub)
	}
	switch {
	case e.Span.Len() == 0:
	case e.Content != nil:
		r.Blob = b.BlobName(e.Content)
		r.Scope = annotate.Scope(annotate.SplitLines(e.Content), e.Span.First-1)
	default:
		r.Scope = e.scope
	}
	block := annotate.SplitLines([]byte(strings.Join(e.Block, "\n") + "\n"))
	r.SetBlock(block)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", client, e.Call, nameThen, e.N))
	r.ID = "t" + hex.EncodeToString(sum[:8])
	return r
}

// word shortens a value to the maximum length of a record's short field.
func word(s string) string { return text.CutPrefix(strings.ToValidUTF8(s, "\ufffd"), maxWord) }

const maxWord = 256 // bytes
