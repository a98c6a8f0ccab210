// Builds anchors and truth from the history of a repository: lines
// and blocks of files at one commit, and where each stands at a later one.
//
// The truth is made of small steps. Each commit between the two, by first
// parents, is compared with the one before by git diff, renames included; a
// line that the diff leaves alone has moved with its file, one that it takes
// out is gone. Where a commit moves a block within a file (two lines or more
// in a row, 40 letters and digits or more, found once among what was taken out
// and once among what was put in), its lines have moved, too. A line that git
// diff --ignore-all-space leaves alone, and a line that is taken out while one that
// is alike is put in in its place, was reworded: it is followed on, and counted
// apart. Alike means that of the pairs of letters that
// stand side by side six of ten are in both; of a hunk those lines are taken for
// reworded that, in the same order, have most in common together. Words, which
// oxbow goes by, play no part. What git's diff gets wrong in
// one step is wrong in the truth.

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// gitIn runs git in a directory and returns what it says. The repository is one
// that the user has named; all the same nothing that it names is run.
func gitIn(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := gitCommand(ctx, dir, args...)
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %.300s", args[0], err, told.Bytes())
	}
	return out, nil
}

func gitCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	all := []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.quotePath=false",
		"-c", "core.attributesFile=" + os.DevNull, "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false", "-c", "protocol.ext.allow=never"}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return cmd
}

// delta is what one commit did to one file.
type delta struct {
	from, to string // paths; to is "" when the file is deleted, from when it is new
	hunks    []chunk
}

// chunk is a stretch of lines that was taken out and one that took its place, both
// by index from 0, and their texts.
type chunk struct {
	a, b     int
	out, put []string
}

// history is what first parents did, oldest first.
type history struct {
	dir     string
	commits []string           // ids
	deltas  []map[string]delta // of each commit, by the path before it
	bare    []map[string]delta // the same by a diff that ignores white space
}

// readHistory reads the history of HEAD.
func readHistory(ctx context.Context, dir string) (*history, error) {
	h, err := readDeltas(ctx, dir)
	if err != nil {
		return nil, err
	}
	bare, err := readDeltas(ctx, dir, "--ignore-all-space")
	if err != nil {
		return nil, err
	}
	h.bare = bare.deltas
	return h, nil
}

// readDeltas reads what git's diff, with those options, says of each commit.
func readDeltas(ctx context.Context, dir string, options ...string) (*history, error) {
	args := append([]string{"log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--format=%x00%H", "-p", "-U0", "-M",
		"--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--src-prefix=a/", "--dst-prefix=b/"}, options...)
	cmd := gitCommand(ctx, dir, append(args, "HEAD")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("reading a history: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("reading a history: %w", err)
	}
	h := &history{dir: dir}
	err = h.parse(out)
	if err != nil {
		_, _ = io.Copy(io.Discard, out) // lets git end; what is wrong is known
	}
	if werr := cmd.Wait(); werr != nil {
		err = errors.Join(err, fmt.Errorf("git log: %w: %.300s", werr, stderr.Bytes()))
	}
	if err != nil {
		return nil, fmt.Errorf("reading a history: %w", err)
	}
	return h, nil
}

// parse reads git log -p -U0 with the format NUL and id.
func (h *history) parse(r io.Reader) error {
	br := bufio.NewReaderSize(r, 1<<20)
	var d *delta
	var at *chunk
	outs, puts := 0, 0 // lines that the hunk still has
	flush := func() {
		if d == nil {
			return
		}
		key := d.from
		if key == "" {
			key = "\x00" + d.to // of no use to who follows a file
		}
		h.deltas[len(h.deltas)-1][key] = *d
		d = nil
	}
	for {
		l, err := br.ReadString('\n')
		if err == io.EOF && l == "" {
			flush()
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		l = strings.TrimSuffix(l, "\n")
		switch {
		case outs > 0 && strings.HasPrefix(l, "-"):
			at.out = append(at.out, l[1:])
			outs--
			d.hunks[len(d.hunks)-1] = *at
		case puts > 0 && strings.HasPrefix(l, "+"):
			at.put = append(at.put, l[1:])
			puts--
			d.hunks[len(d.hunks)-1] = *at
		case strings.HasPrefix(l, "\x00"):
			flush()
			h.commits = append(h.commits, l[1:])
			h.deltas = append(h.deltas, map[string]delta{})
		case strings.HasPrefix(l, "diff --git "):
			flush()
			if len(h.deltas) == 0 {
				return errors.New("a diff without a commit")
			}
			d = &delta{}
			// a/X b/X, both the same unless renamed: then other lines say so
			if p := l[len("diff --git "):]; len(p)%2 == 1 && strings.HasPrefix(p, "a/") {
				half := len(p) / 2
				if p[2:half] == p[half+3:] {
					d.from, d.to = p[2:half], p[2:half]
				}
			}
		case d == nil:
		case strings.HasPrefix(l, "rename from "):
			d.from = l[len("rename from "):]
		case strings.HasPrefix(l, "rename to "):
			d.to = l[len("rename to "):]
		case strings.HasPrefix(l, "deleted file mode"):
			d.to = ""
		case strings.HasPrefix(l, "new file mode"):
			d.from = ""
		case strings.HasPrefix(l, "@@ -"):
			c, n, m, err := parseChunk(l)
			if err != nil {
				return err
			}
			at = &c
			outs = n
			puts = m
			d.hunks = append(d.hunks, c)
		}
	}
}

// parseChunk reads "@@ -a[,n] +b[,m] @@".
func parseChunk(l string) (c chunk, n, m int, err error) {
	f := strings.Fields(l)
	if len(f) < 4 {
		return c, 0, 0, fmt.Errorf("%.60q is no hunk", l)
	}
	read := func(s string) (int, int) {
		first, count, ok := strings.Cut(s[1:], ",")
		k := 1
		i, e := strconv.Atoi(first)
		if e == nil && ok {
			k, e = strconv.Atoi(count)
		}
		err = errors.Join(err, e)
		if k > 0 {
			i-- // without lines, the number is that of the line before
		}
		return i, k
	}
	c.a, n = read(f[1])
	c.b, m = read(f[2])
	return c, n, m, err
}

// fate is what became of a line: its index, or -1, and whether it was reworded.
type fate struct {
	to       int
	reworded bool
}

// follow returns, for each of the first n lines of the file at commit number i,
// what became of it at commit number j, and the file's name then, "" when it is
// deleted.
func (h *history) follow(file string, n, i, j int) (to []fate, name string) {
	to = make([]fate, n)
	for k := range to {
		to[k].to = k
	}
	for c := i + 1; c <= j; c++ {
		d, ok := h.deltas[c][file]
		if !ok {
			continue
		}
		bare := h.bare[c][file].hunks
		file = d.to
		if file == "" {
			for k := range to {
				to[k].to = -1
			}
			return to, ""
		}
		moved := movedIn(d.hunks)
		again := rewordedIn(d.hunks, moved, respacedIn(d.hunks, bare, moved))
		for k, f := range to {
			if f.to < 0 {
				continue
			}
			to[k].to = step(d.hunks, moved, f.to)
			if at, ok := again[f.to]; ok && to[k].to < 0 {
				to[k] = fate{at, true}
			}
		}
	}
	return to, file
}

// anchor is a line or a block at one commit, and the truth.
type anchor struct {
	first, n int    // index of the first line at A
	to       []fate // of each of its lines, at B
}

// pair is one file at two commits, and its anchors.
type pair struct {
	a, b    string // commits
	fa, fb  string // the file's names
	anchors []anchor
}

// plan says what is drawn from a history.
type plan struct {
	gaps          []int // commits between A and B; those that the history is too short for are left out
	pairs         int   // of each gap
	files         int   // of each pair of commits
	lines, blocks int   // of each file
	strict        bool  // lines that were reworded are gone
	merges        bool  // commits come by merge commits
}

// draw draws pairs of commits, files that were changed between them and are
// still there, and anchors in these. Lines with fewer than 4 signs are left
// out, as are files of more than 20,000 lines.
func (h *history) draw(ctx context.Context, p plan, rnd *rand.Rand) (map[int][]pair, error) {
	out := map[int][]pair{}
	for _, gap := range p.gaps {
		if gap >= len(h.commits) {
			continue
		}
		starts := rnd.Perm(len(h.commits) - gap)
		for _, i := range starts[:min(len(starts), p.pairs)] {
			j := i + gap
			files, err := h.changed(ctx, i, j)
			if err != nil {
				return nil, err
			}
			rnd.Shuffle(len(files), func(x, y int) { files[x], files[y] = files[y], files[x] })
			taken := 0
			for _, f := range files {
				if taken == p.files {
					break
				}
				text, err := gitIn(ctx, h.dir, "cat-file", "blob", h.commits[i]+":"+f)
				if err != nil {
					return nil, err
				}
				lines := linesOf(text)
				if len(lines) < 10 || len(lines) > 20000 || bytes.IndexByte(text, 0) >= 0 {
					continue
				}
				to, name := h.follow(f, len(lines), i, j)
				if name == "" {
					continue
				}
				if err := h.forget(ctx, lines, to, h.commits[j], name); err != nil {
					return nil, err
				}
				for k := range to {
					if p.strict && to[k].reworded {
						to[k] = fate{-1, false}
					}
				}
				q := pair{a: h.commits[i], b: h.commits[j], fa: f, fb: name}
				q.anchors = drawAnchors(lines, to, p, rnd)
				if len(q.anchors) > 0 {
					out[gap] = append(out[gap], q)
					taken++
				}
			}
		}
	}
	return out, nil
}

// forget takes lines for gone that were reworded, in several steps, into
// something else: of which less than half is alike. All lines of a file that is
// as it was stand.
func (h *history) forget(ctx context.Context, lines []string, to []fate, commit, file string) error {
	text, err := gitIn(ctx, h.dir, "cat-file", "blob", commit+":"+file)
	if err != nil {
		return err
	}
	now := linesOf(text)
	same := slices.Equal(lines, now) // what was taken out in between was put back
	for k, f := range to {
		switch {
		case same:
			to[k] = fate{to: k}
		case f.to >= len(now):
			return fmt.Errorf("%s at %s: line %d is followed to %d of %d", file, commit, k, f.to, len(now))
		case f.to < 0:
		case lines[k] == now[f.to]:
			to[k].reworded = false // and back again
		case !f.reworded:
			return fmt.Errorf("%s at %s: line %d is followed to another text", file, commit, k)
		case pairsAlike(lines[k], now[f.to]) < .5:
			to[k] = fate{-1, false}
		}
	}
	return nil
}

func drawAnchors(lines []string, to []fate, p plan, rnd *rand.Rand) []anchor {
	var out []anchor
	seen := map[int]bool{}
	for range 20 * p.lines {
		if len(out) == p.lines {
			break
		}
		i := rnd.IntN(len(lines))
		if len(strings.TrimSpace(lines[i])) >= 4 && !seen[i] {
			seen[i] = true
			out = append(out, anchor{i, 1, to[i : i+1]})
		}
	}
	for range p.blocks {
		n := 3 + rnd.IntN(18)
		if n >= len(lines) {
			continue
		}
		i := rnd.IntN(len(lines) - n)
		out = append(out, anchor{i, n, to[i : i+n]})
	}
	return out
}

// changed returns the files at commit number i that were changed up to number
// j, sorted.
func (h *history) changed(ctx context.Context, i, j int) ([]string, error) {
	out, err := gitIn(ctx, h.dir, "ls-tree", "-r", "-z", "--full-tree", h.commits[i])
	if err != nil {
		return nil, err
	}
	touched := map[string]bool{}
	for c := i + 1; c <= j; c++ {
		for f := range h.deltas[c] {
			touched[f] = true
		}
	}
	var files []string
	for e := range strings.SplitSeq(string(out), "\x00") {
		head, f, _ := strings.Cut(e, "\t")
		if touched[f] && strings.HasPrefix(head, "100") {
			files = append(files, f)
		}
	}
	slices.Sort(files)
	return files, nil
}

// linesOf cuts a text as git does.
func linesOf(text []byte) []string {
	s := strings.TrimSuffix(string(text), "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
