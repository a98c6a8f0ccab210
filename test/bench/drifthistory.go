// This file selects lines and blocks of a repository's files at one commit, to which annotations could belong, and
// computes their true positions at a later commit.
//
// The true positions are computed in small steps, along the first parents of the commits. For each commit after the
// first up to the later commit, git diff with rename detection compares the commit's parent with the commit. A line
// that the diff does not touch has moved with its file. A line that the diff deletes is gone, with three exceptions.
// First, a commit may move a block of lines within a file. Such a block has two or more consecutive lines with at least
// 40 letters and digits. It occurs exactly once in the deleted and once in the added lines. Second, a line that git
// diff --ignore-all-space does not touch was reworded. Third, a deleted line was reworded if a similar line was added
// in its place.
//
// Reworded lines are followed further and counted separately. Similar lines have at least 60 % of their adjacent letter
// pairs in common. If a hunk allows several assignments of deleted to added lines, the assignment with the highest
// total similarity that keeps the order is chosen. The similarity does not use words, because oxbow itself uses words.
// An error of git diff in one step is an error in the true positions.

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

// runGit runs git in a directory and returns its output. The user chose the repository, but
// its configuration must nevertheless not run any programs.
func runGit(ctx context.Context, dir string, args ...string) ([]byte, error) {
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
		"-c", "core.attributesFile=" + os.DevNull, "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false",
		"-c", "protocol.ext.allow=never"}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+
		os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return cmd
}

// fileDelta is the change that one commit made to one file.
type fileDelta struct {
	from, to string // paths before and after the commit; from is "" for a new file, and to is "" for a deleted file
	hunks    []diffHunk
}

// diffHunk is a range of deleted lines and the line range that replaced it. Indexes start at 0.
type diffHunk struct {
	oldStart, newStart int
	deleted, added     []string
}

// commitHistory contains the commits along first parents, oldest first.
type commitHistory struct {
	dir                 string
	commits             []string               // IDs of the commits, oldest first
	deltas              []map[string]fileDelta // changes of each commit, by the path before the commit
	deltasIgnoringSpace []map[string]fileDelta // the same as deltas, but computed by git diff --ignore-all-space
}

// readHistory returns the history of HEAD in the repository dir, with the changes of each commit.
func readHistory(ctx context.Context, dir string) (*commitHistory, error) {
	h, err := readCommitHistory(ctx, dir)
	if err != nil {
		return nil, err
	}
	bare, err := readCommitHistory(ctx, dir, "--ignore-all-space")
	if err != nil {
		return nil, err
	}
	h.deltasIgnoringSpace = bare.deltas
	return h, nil
}

// readCommitHistory reads the output of git log -p with the given options.
func readCommitHistory(ctx context.Context, dir string, options ...string) (*commitHistory, error) {
	args := append(
		[]string{"log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--format=%x00%H", "-p", "-U0",
			"-M",
			"--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--src-prefix=a/",
			"--dst-prefix=b/"}, options...,
	)
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
	h := &commitHistory{dir: dir}
	err = h.parseLog(out)
	if err != nil {
		// Read the rest of the output, so that git can end. The error is already known.
		_, _ = io.Copy(io.Discard, out)
	}
	if werr := cmd.Wait(); werr != nil {
		err = errors.Join(err, fmt.Errorf("git log: %w: %.300s", werr, stderr.Bytes()))
	}
	if err != nil {
		return nil, fmt.Errorf("reading a history: %w", err)
	}
	return h, nil
}

// parseLog parses the output of git log -p -U0 with the format NUL and commit ID.
func (h *commitHistory) parseLog(r io.Reader) error {
	br := bufio.NewReaderSize(r, 1<<20)
	var d *fileDelta
	var at *diffHunk
	outs, puts := 0, 0 // how many deleted and added lines of the current hunk were not read yet
	flush := func() {
		if d == nil {
			return
		}
		key := d.from
		if key == "" {
			key = "\x00" + d.to // A new file has no path before the commit, so use a key that cannot be a path.
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
			at.deleted = append(at.deleted, l[1:])
			outs--
			d.hunks[len(d.hunks)-1] = *at
		case puts > 0 && strings.HasPrefix(l, "+"):
			at.added = append(at.added, l[1:])
			puts--
			d.hunks[len(d.hunks)-1] = *at
		case strings.HasPrefix(l, "\x00"):
			flush()
			h.commits = append(h.commits, l[1:])
			h.deltas = append(h.deltas, map[string]fileDelta{})
		case strings.HasPrefix(l, "diff --git "):
			flush()
			if len(h.deltas) == 0 {
				return errors.New("a diff without a commit")
			}
			d = &fileDelta{}
			// The line has the form "a/X b/X" unless the file was renamed. The new and old names are
			// then in later lines.
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
			c, n, m, err := parseHunk(l)
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

// parseHunk parses the first line of a hunk in git's diff, such as "@@ -3,2 +3 @@". It sets the starts of c, and
// returns the numbers of deleted and added lines that follow.
func parseHunk(l string) (c diffHunk, oldLineCount, newLineCount int, err error) {
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
			// If a hunk only adds or only deletes lines, one of its two ranges is empty. For an empty range, git
			// reports the number of the line before the range. Indexes here start at 0, so this number is already the
			// index of the range. For a range with lines, subtract 1 from the number of its first line.
			i--
		}
		return i, k
	}
	c.oldStart, oldLineCount = read(f[1])
	c.newStart, newLineCount = read(f[2])
	return c, oldLineCount, newLineCount, err
}

// laterLinePosition is a line's position in a later commit. lineIndex is -1 if the line is gone. isTextReworded is set
// if the line's text has changed.
type laterLinePosition struct {
	lineIndex      int
	isTextReworded bool
}

// followFileLines follows the first lineCount lines that a file has at commit i, up to commit j. It returns the fate of
// each line, and the file's name at commit j. The name is "" if the file was deleted.
func (h *commitHistory) followFileLines(
	file string,
	lineCount, i, j int,
) (laterPositions []laterLinePosition, name string) {
	laterPositions = make([]laterLinePosition, lineCount)
	for k := range laterPositions {
		laterPositions[k].lineIndex = k
	}
	for c := i + 1; c <= j; c++ {
		d, ok := h.deltas[c][file]
		if !ok {
			continue
		}
		bare := h.deltasIgnoringSpace[c][file].hunks
		file = d.to
		if file == "" {
			for k := range laterPositions {
				laterPositions[k].lineIndex = -1
			}
			return laterPositions, ""
		}
		moved := findMovedLines(d.hunks)
		again := findRewordedLines(d.hunks, moved, findSpacingChangedLines(d.hunks, bare, moved))
		for k, f := range laterPositions {
			if f.lineIndex < 0 {
				continue
			}
			laterPositions[k].lineIndex = lineAfterHunks(d.hunks, moved, f.lineIndex)
			if at, ok := again[f.lineIndex]; ok && laterPositions[k].lineIndex < 0 {
				laterPositions[k] = laterLinePosition{at, true}
			}
		}
	}
	return laterPositions, file
}

// trackedBlock is a line or a block of lines in a file at an earlier commit, called A. It also contains where the lines
// truly are at a later commit, called B.
type trackedBlock struct {
	firstLine, lineCount int                 // index of the first line in the file at commit A, and number of lines
	laterPositions       []laterLinePosition // for each line, its position in the file at commit B, or that it is gone
}

// fileAtTwoCommits is a file at an earlier commit A and at a later commit B, with the lines and blocks that are to be
// found again at B.
type fileAtTwoCommits struct {
	earlierCommit, laterCommit string // IDs of the two commits
	earlierPath, laterPath     string // path of the file at commit A and at commit B
	trackedBlocks              []trackedBlock
}

// sampleSizes specifies how many commits, files and lines of a repository are selected for the measurement.
type sampleSizes struct {
	// how many commits apart the two commits of a pair are; values that exceed the history's length are skipped
	commitGaps                  []int
	commitPairsPerGap           int  // how many pairs of commits are selected for each value in commitGaps
	filesPerCommitPair          int  // how many files are selected for each pair of commits
	linesPerFile, blocksPerFile int  // how many lines and how many blocks are selected in each file
	countsRewordedAsGone        bool // If the text of a line was changed, the line counts as deleted.
	// The history is first rewritten so that it consists of merge commits (see createMergeHistory).
	hasMerges bool
}

// sampleFilePairs selects pairs of commits at random. For each pair, it selects files that were changed between the two
// commits and still exist at the later commit. In each of these files, it selects single lines and blocks of lines,
// which a test then searches for in the later commit. A single line must have at least 4 bytes, not counting space at
// its ends. Binary files are skipped, and so are files with fewer than 10 or more than 20,000 lines.
//
// The key of the result is the distance of the two commits in h.commits, which is 1 if the later commit follows
// directly on the earlier commit.
func (h *commitHistory) sampleFilePairs(
	ctx context.Context,
	p sampleSizes,
	rnd *rand.Rand,
) (map[int][]fileAtTwoCommits, error) {
	out := map[int][]fileAtTwoCommits{}
	for _, gap := range p.commitGaps {
		if gap >= len(h.commits) {
			continue
		}
		starts := rnd.Perm(len(h.commits) - gap)
		for _, i := range starts[:min(len(starts), p.commitPairsPerGap)] {
			j := i + gap
			files, err := h.changedFiles(ctx, i, j)
			if err != nil {
				return nil, err
			}
			rnd.Shuffle(len(files), func(x, y int) { files[x], files[y] = files[y], files[x] })
			taken := 0
			for _, f := range files {
				if taken == p.filesPerCommitPair {
					break
				}
				text, err := runGit(ctx, h.dir, "cat-file", "blob", h.commits[i]+":"+f)
				if err != nil {
					return nil, err
				}
				lines := splitLines(text)
				isBinary := bytes.IndexByte(text, 0) >= 0
				isSuited := len(lines) >= 10 && len(lines) <= 20000
				if isBinary || !isSuited {
					continue
				}
				to, name := h.followFileLines(f, len(lines), i, j)
				if name == "" {
					continue
				}
				if err := h.markDissimilarLinesGone(ctx, lines, to, h.commits[j], name); err != nil {
					return nil, err
				}
				for k := range to {
					if p.countsRewordedAsGone && to[k].isTextReworded {
						to[k] = laterLinePosition{-1, false}
					}
				}
				q := fileAtTwoCommits{
					earlierCommit: h.commits[i],
					laterCommit:   h.commits[j],
					earlierPath:   f,
					laterPath:     name,
				}
				q.trackedBlocks = sampleTrackedBlocks(lines, to, p, rnd)
				if len(q.trackedBlocks) > 0 {
					out[gap] = append(out[gap], q)
					taken++
				}
			}
		}
	}
	return out, nil
}

// markDissimilarLinesGone corrects laterPositions, which contains the position of each element of lines in the later
// version of the file. The later version is the file at the given commit.
//   - If the text of the file is equal to lines, each line gets the position that it has in lines.
//   - If a line has its original text, its isTextReworded is set to false. Earlier commits may have changed the line
//     and then restored the text.
//   - If a line was reworded so much that less than half of its text is similar to the original line, its position is
//     set to -1. The rewording may be the sum of several commits.
//
// markDissimilarLinesGone returns an error if a position is not plausible or if git fails.
func (h *commitHistory) markDissimilarLinesGone(
	ctx context.Context,
	lines []string,
	laterPositions []laterLinePosition,
	commit, file string,
) error {
	text, err := runGit(ctx, h.dir, "cat-file", "blob", commit+":"+file)
	if err != nil {
		return err
	}
	now := splitLines(text)
	same := slices.Equal(lines, now) // The file has the same text at both commits, so each line is where it was.
	for k, f := range laterPositions {
		switch {
		case same:
			laterPositions[k] = laterLinePosition{lineIndex: k}
		case f.lineIndex >= len(now):
			return fmt.Errorf("%s at %s: line %d is followed to %d of %d", file, commit, k, f.lineIndex, len(now))
		case f.lineIndex < 0:
		case lines[k] == now[f.lineIndex]:
			laterPositions[k].isTextReworded = false // The line was changed and later got its first text again.
		case !f.isTextReworded:
			return fmt.Errorf("%s at %s: line %d is followed to another text", file, commit, k)
		case lineSimilarity(lines[k], now[f.lineIndex]) < .5:
			laterPositions[k] = laterLinePosition{-1, false}
		}
	}
	return nil
}

func sampleTrackedBlocks(
	lines []string,
	laterPositions []laterLinePosition,
	p sampleSizes,
	rnd *rand.Rand,
) []trackedBlock {
	var out []trackedBlock
	seen := map[int]bool{}
	for range 20 * p.linesPerFile {
		if len(out) == p.linesPerFile {
			break
		}
		i := rnd.IntN(len(lines))
		if len(strings.TrimSpace(lines[i])) >= 4 && !seen[i] {
			seen[i] = true
			out = append(out, trackedBlock{i, 1, laterPositions[i : i+1]})
		}
	}
	for range p.blocksPerFile {
		n := 3 + rnd.IntN(18)
		if n >= len(lines) {
			continue
		}
		i := rnd.IntN(len(lines) - n)
		out = append(out, trackedBlock{i, n, laterPositions[i : i+n]})
	}
	return out
}

// changedFiles returns the sorted paths of the regular files that exist at the commit h.commits[i] and were changed by
// one of the commits from h.commits[i+1] to h.commits[j].
func (h *commitHistory) changedFiles(ctx context.Context, i, j int) ([]string, error) {
	out, err := runGit(ctx, h.dir, "ls-tree", "-r", "-z", "--full-tree", h.commits[i])
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

// splitLines splits a text into lines, and counts the lines as git does: a line end at the end of the text does not
// begin another line.
func splitLines(text []byte) []string {
	s := strings.TrimSuffix(string(text), "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
