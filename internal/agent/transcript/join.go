// Making annotations of edits: the files of the tree that they are about, and the
// lines where the transcript does not say them.

package transcript

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

// Options change how edits are joined with a tree. Nil and zero fields mean the
// default.
type Options struct {
	// From is where the tree was when the transcript was written, as an
	// absolute path; by default, where it is now.
	From string
}

// Joined is what came of the edits of a transcript.
type Joined struct {
	Records []annotate.Record // for [annotate.Store.Add], in the order of the edits

	Outside   []string // files outside of the tree, each once, as the transcript names them
	OutsideN  int      // edits of these
	Unlocated int      // edits of which neither transcript nor file tells the lines
}

// Join makes a record of each edit of a file of the book's tree. Its ID is made
// of the name of the tool call, so that a transcript that is read again, or was
// gone on with in another file, gives the same records. Records of which the
// lines are not known, but the text is, have no Span. A file that the agent
// renamed later is called as it was named last, if that is there and the file is
// not: git need not know of a name in between.
func Join(b *annotate.Store, t *Transcript, o *Options) (*Joined, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	j := &Joined{}
	outside := map[string]bool{}
	now := map[string][]string{} // files as they are
	names := movesOf(b, t, opts.From)
	for i := range t.Edits {
		e := &t.Edits[i]
		file, ok := fileOf(b, e, opts.From)
		if !ok {
			j.OutsideN++
			if !outside[e.Path] {
				outside[e.Path] = true
				j.Outside = append(j.Outside, e.Path)
			}
			continue
		}
		then := file
		file = names.last(b, file, i)
		if e.tabs || e.Span.Len() == 0 {
			if _, ok := now[file]; !ok {
				lines, err := b.Text(file)
				if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, oxbow.ErrInvalid) {
					return nil, fmt.Errorf("joining a transcript: %w", err)
				}
				now[file] = lines
			}
		}
		at := *e
		if at.tabs {
			at.Block = withTabsOf(at.Block, now[file])
			at.Before = withTabsOf(at.Before, now[file])
			at.After = withTabsOf(at.After, now[file])
		}
		if at.Span.Len() == 0 {
			at.find(now[file])
		}
		if len(at.Block) == 0 {
			j.Unlocated++
			continue
		}
		j.Records = append(j.Records, at.record(b, t.Client, file, then))
	}
	return j, nil
}

// fileOf returns the file of the tree that an edit is about.
func fileOf(b *annotate.Store, e *Edit, from string) (string, bool) {
	name := e.Path
	if name == "" {
		return "", false
	}
	if !isAbs(name) && e.Dir != "" {
		name = path.Join(filepath.ToSlash(e.Dir), filepath.ToSlash(name))
	}
	if from != "" && isAbs(name) {
		rel, ok := strings.CutPrefix(path.Clean(filepath.ToSlash(name)), strings.TrimSuffix(path.Clean(filepath.ToSlash(from)), "/")+"/")
		return rel, ok && annotate.CheckFile(rel) == nil
	}
	file, err := b.File(b.Root(), filepath.FromSlash(name))
	return file, err == nil
}

// moves is what became of the names of files, by name, in the order of edits.
type moves map[string][]moved

type moved struct {
	to string
	at int // edits before
}

func movesOf(b *annotate.Store, t *Transcript, from string) moves {
	m := moves{}
	for _, v := range t.Moves {
		was, ok := fileOf(b, &Edit{Path: v.From, Dir: v.Dir}, from)
		to, ok2 := fileOf(b, &Edit{Path: v.To, Dir: v.Dir}, from)
		if ok && ok2 && was != to {
			m[was] = append(m[was], moved{to, v.At})
		}
	}
	return m
}

// last returns what a file is called now that had that name at edit number i.
func (m moves) last(b *annotate.Store, file string, i int) string {
	now := file
	for hops := 0; hops < maxMoves; hops++ {
		next, ok := slices.BinarySearchFunc(m[now], i, func(v moved, i int) int { return v.at - i - 1 })
		if !ok && next == len(m[now]) {
			break
		}
		now, i = m[now][next].to, m[now][next].at-1
	}
	if now == file || b.HasFile(file) || !b.HasFile(now) {
		return file
	}
	return now
}

// maxMoves bounds how often one file is followed.
const maxMoves = 100

// isAbs reports whether a path is absolute on any system: transcripts travel.
func isAbs(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, "/") || (len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/'))
}

// withTabsOf is [withTabs] with the lines of a file.
func withTabsOf(lines, file []string) []string {
	return withTabs(lines, []string{strings.Join(file, "\n")})
}

// find looks for the lines of an edit in the file as it is.
func (e *Edit) find(lines []string) {
	if e.part != "" {
		all := make([]numbered, len(lines))
		for i, l := range lines {
			all[i] = numbered{i + 1, l}
		}
		if s, ok := locate(all, e.part); ok {
			if n := s.n - e.same[0] - e.same[1]; n > 0 {
				s.first, s.n = s.first+e.same[0], n
			}
			e.set(lines, s.first, s.n)
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
	// Two places that are as good are none.
	if at >= 0 && !twice {
		e.set(lines, at, n)
	} else if e.loose {
		e.Block = nil // it is not known how the file writes it
	}
}

func bare(l string) string { return strings.TrimSuffix(strings.TrimSpace(l), ",") }

// set takes n lines from the one at index first as the block.
func (e *Edit) set(lines []string, first, n int) {
	e.Span = annotate.Span{First: first + 1, Last: first + n}
	e.Block = lines[first : first+n]
	e.Before = lines[max(0, first-annotate.Context):first]
	e.After = lines[first+n : min(len(lines), first+n+annotate.Context)]
	e.scope = annotate.Scope(lines, first)
}

// record makes the record of an edit of the file, which was called then.
func (e *Edit) record(b *annotate.Store, client, file, then string) annotate.Record {
	r := annotate.Record{
		File: file, Span: e.Span, Why: e.Why, By: oxbow.Agent, Agent: client, Model: word(e.Model), Session: word(e.Session),
		Ref: word(client + " " + e.Call), Time: e.Time, Before: e.Before, After: e.After,
	}
	if e.Sub != "" {
		r.Agent = word(client + "/" + e.Sub)
	}
	switch {
	case e.Span.Len() == 0:
	case e.Content != nil:
		r.Blob = b.BlobName(e.Content)
		r.Scope = annotate.Scope(annotate.Lines(e.Content), e.Span.First-1)
	default:
		r.Scope = e.scope
	}
	block := annotate.Lines([]byte(strings.Join(e.Block, "\n") + "\n"))
	r.SetBlock(block)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", client, e.Call, then, e.N))
	r.ID = "t" + hex.EncodeToString(sum[:8])
	return r
}

// word cuts what a record holds in short.
func word(s string) string { return text.Cut(strings.ToValidUTF8(s, "\ufffd"), maxWord) }

const maxWord = 256 // bytes
