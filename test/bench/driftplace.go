// This file places anchors at the later commit: with oxbow, as a user would, and in three
// simple ways.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/vfs"
)

// spot is a placement of an anchor: n lines starting at index first. n is 0 if the anchor is
// reported as lost.
type spot struct {
	first, n int
	edited   bool // the text is reported as changed

	confidence float64 // only for oxbow
	how        string  // only for oxbow
}

// way is a way to place anchors.
type way struct {
	name  string
	place func(a, b []string, x anchor) spot // nil for oxbow
}

// driftContext is the number of lines around an anchor that the baselines compare.
const driftContext = 3

var baselines = []way{
	{"line number", byNumber},
	{"nearest equal text", byNearest},
	{"text with 3 + 3 lines of context", byContext},
}

func byNumber(_, b []string, x anchor) spot {
	if x.first+x.n > len(b) {
		return spot{}
	}
	return spot{first: x.first, n: x.n}
}

// findText returns the indexes in b at which the text of an anchor occurs.
func findText(a, b []string, x anchor) []int {
	var at []int
	for i := 0; i+x.n <= len(b); i++ {
		if slices.Equal(a[x.first:x.first+x.n], b[i:i+x.n]) {
			at = append(at, i)
		}
	}
	return at
}

func byNearest(a, b []string, x anchor) spot {
	best := spot{}
	for _, i := range findText(a, b, x) {
		if best.n == 0 || abs(i-x.first) < abs(best.first-x.first) {
			best = spot{first: i, n: x.n}
		}
	}
	return best
}

func byContext(a, b []string, x anchor) spot {
	best, most := spot{}, -1
	for _, i := range findText(a, b, x) {
		same := 0
		for k := 1; k <= driftContext; k++ {
			for _, s := range [][2]int{{x.first - k, i - k}, {x.first + x.n - 1 + k, i + x.n - 1 + k}} {
				isInA := s[0] >= 0 && s[0] < len(a)
				isInB := s[1] >= 0 && s[1] < len(b)
				if !isInA || !isInB {
					continue
				}
				if a[s[0]] == b[s[1]] {
					same++
				}
			}
		}
		isNearer := same == most && abs(i-x.first) < abs(best.first-x.first)
		if isNearer || same > most {
			best, most = spot{first: i, n: x.n}, same
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// clone is a copy of a repository in which the runner checks out commits.
type clone struct{ dir string }

// newClone clones a repository and shares its objects.
func newClone(ctx context.Context, repo, dir string) (*clone, error) {
	if _, err := gitIn(ctx, filepath.Dir(dir), "clone", "-q", "--shared", "--no-checkout", repo, dir); err != nil {
		return nil, err
	}
	return &clone{dir}, nil
}

func (c *clone) checkout(ctx context.Context, commit string) error {
	_, err := gitIn(ctx, c.dir, "checkout", "-q", "-f", "--detach", commit)
	return err
}

// driftDir is the directory of the runner's annotations. No repository has a directory of
// that name.
const driftDir = ".drift/annotations"

// placeAll annotates the anchors at commit A, checks out commit B, and resolves the annotations there: first
// with git, then without. All pairs must have the same two commits. Before the second pass, it moves the
// sidecar files of renamed files. It returns the spots by pair and anchor.
func (c *clone) placeAll(ctx context.Context, pairs []pair) (with, without [][]spot, err error) {
	if err := c.checkout(ctx, pairs[0].a); err != nil {
		return nil, nil, err
	}
	if err := os.RemoveAll(filepath.Join(c.dir, ".drift")); err != nil {
		return nil, nil, err
	}
	ids := map[string][2]int{} // indexes of pair and anchor, by annotation ID
	err = c.book(ctx, true, func(b *annotate.Store) error {
		for i, p := range pairs {
			for k, x := range p.anchors {
				got, err := b.Add(
					ctx,
					annotate.Record{File: p.fa, Span: annotate.Span{First: x.first + 1, Last: x.first + x.n},
						Why: "anchor", ID: fmt.Sprintf("p%da%d", i, k)},
				)
				if err != nil {
					return err
				}
				ids[got[0].ID] = [2]int{i, k}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if err := c.checkout(ctx, pairs[0].b); err != nil {
		return nil, nil, err
	}
	for _, git := range []bool{true, false} {
		if !git {
			if err := c.moveAlong(pairs); err != nil {
				return nil, nil, err
			}
		}
		spots := make([][]spot, len(pairs))
		for i, p := range pairs {
			spots[i] = make([]spot, len(p.anchors))
		}
		err := c.book(ctx, git, func(b *annotate.Store) error {
			for i, p := range pairs {
				found, err := b.Lookup(ctx, p.fb, annotate.Span{})
				if err != nil {
					return err
				}
				for _, f := range found {
					at, ok := ids[f.ID]
					isOfPair := ok && at[0] == i
					isInFile := f.Placed != annotate.Lost && f.In == p.fb
					if !isOfPair || !isInFile {
						continue
					}
					spots[i][at[1]] = spot{first: f.Now.First - 1, n: f.Now.Len(),
						edited: f.Placed == annotate.Edited, confidence: f.Confidence, how: f.How}
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if git {
			with = spots
		} else {
			without = spots
		}
	}
	return with, without, nil
}

// moveAlong renames sidecar files like their files at B, as a person who renames a file
// would.
func (c *clone) moveAlong(pairs []pair) error {
	sidecar := func(file string) string { return filepath.Join(c.dir, filepath.FromSlash(driftDir+"/"+file+".why")) }
	kept := map[string][]byte{} // by the name of the file at B
	for _, p := range pairs {
		if p.fa == p.fb {
			continue
		}
		text, err := os.ReadFile(sidecar(p.fa))
		if errors.Is(err, fs.ErrNotExist) {
			continue // sidecar names encode this name; leave the file in its place
		}
		if err != nil {
			return err
		}
		kept[p.fb] = text
		if err := os.Remove(sidecar(p.fa)); err != nil {
			return err
		}
	}
	for file, text := range kept {
		if err := os.MkdirAll(filepath.Dir(sidecar(file)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(sidecar(file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// book opens the annotations of the clone and calls fn with them. If git is false, they are opened as in a directory
// without a git repository.
func (c *clone) book(ctx context.Context, git bool, fn func(*annotate.Store) error) (err error) {
	o := &annotate.Options{Dir: driftDir}
	if git {
		b, err := annotate.OpenDir(ctx, c.dir, o)
		if err != nil {
			return err
		}
		return errors.Join(fn(b), b.Close())
	}
	fsys, err := vfs.Dir(c.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	b, err := annotate.Open(fsys, o)
	if err != nil {
		return err
	}
	return fn(b)
}

// text returns the lines that a file in the clone has at a commit.
func (c *clone) text(ctx context.Context, commit, file string) ([]string, error) {
	t, err := gitIn(ctx, c.dir, "cat-file", "blob", commit+":"+file)
	if err != nil {
		return nil, err
	}
	return splitLines(t), nil
}

// doubted is the confidence below which edited lines do not count as found.
const doubted = .5

// tally counts the results that one way of placing has for one kind of anchors.
type tally struct {
	// Anchors that are unchanged and in one piece.
	stand, right, wrong, missed int

	// Anchors that were changed: a reworded line, or a block with at least half of its lines
	// left, including reworded lines.
	part, partRight, partWrong, partMissed int

	// Anchors with no lines left.
	gone, lost, edited, found int

	other int // blocks with some, but less than half, of their lines left
}

// add compares a spot with the true position and counts the result.
func (t *tally) add(x anchor, s spot) {
	kept := 0
	first := -1
	last := -1
	whole := true
	for i, f := range x.to {
		if f.to < 0 {
			whole = false
			continue
		}
		kept++
		if first < 0 {
			first = f.to
		}
		isApart := i > 0 && x.to[i-1].to != f.to-1
		if f.reworded || isApart {
			whole = false
		}
		last = max(last, f.to)
		first = min(first, f.to)
	}
	switch {
	case whole:
		t.stand++
		switch {
		case s.n == 0:
			t.missed++
		case s.first == first && s.n == x.n:
			t.right++
		default:
			t.wrong++
		}
	case kept == 0:
		t.gone++
		switch {
		case s.n == 0, s.edited && s.confidence < doubted:
			t.lost++
		case s.edited:
			t.edited++
		default:
			t.found++
		}
	case 2*kept >= x.n:
		t.part++
		// The result is right if the two ranges overlap in at least half of their union.
		lo, hi := max(first, s.first), min(last, s.first+s.n-1)
		all := max(last, s.first+s.n-1) - min(first, s.first) + 1
		switch {
		case s.n == 0:
			t.partMissed++
		case hi >= lo && 2*(hi-lo+1) >= all:
			t.partRight++
		default:
			t.partWrong++
		}
	default:
		t.other++
	}
}

// sameLine reports whether text equals line i of lines, for data that contains its own
// texts.
func sameLine(lines []string, i int, text string) bool {
	return i >= 0 && i < len(lines) && strings.TrimSuffix(lines[i], "\r") == strings.TrimSuffix(text, "\r")
}
