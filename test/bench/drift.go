// This file implements the command drift. The command measures how often annotations stay with their lines.

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// driftCommand measures how annotations are placed in the histories of repositories, and in published data
// about lines with known positions.
func driftCommand(b *bench, fs *flag.FlagSet) func(ctx context.Context) error {
	var repos []string
	fs.Func("repo", "a git repository, as `[NAME=]DIR`; may be repeated", func(s string) error {
		repos = append(repos, s)
		return nil
	})
	data := fs.String(
		"data",
		"",
		"a `DIR` of NAME.jsonl.gz: lines at commit A and where they stand at B, of the repositories of those names",
	)
	gaps := fs.String("gaps", "5,20,100,400,1500", "commits between A and B, a list of `N`")
	pairs := fs.Int("pairs", 30, "pairs of commits of each gap and repository, `N`")
	files := fs.Int("files", 4, "files of each pair, `N`")
	lines := fs.Int("lines", 5, "lines of each file, `N`")
	blocks := fs.Int("blocks", 4, "blocks of 3 to 20 lines of each file, `N`")
	seed := fs.Uint64("seed", 1, "of the draw, `N`")
	strict := fs.Bool("strict", false, "count lines that were reworded as gone, as the data of others does")
	merges := fs.Bool("merges", false, "bring the commits of each repository by merge commits, as pull requests do")
	show := fs.Int("show", 0, "print the first `N` anchors that oxbow placed wrong, with the texts")
	b.addDirFlag(fs)
	return func(ctx context.Context) error {
		p := sampleSizes{
			commitPairsPerGap:    *pairs,
			filesPerCommitPair:   *files,
			linesPerFile:         *lines,
			blocksPerFile:        *blocks,
			countsRewordedAsGone: *strict,
			hasMerges:            *merges,
		}
		for g := range strings.SplitSeq(*gaps, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(g))
			if err != nil || n < 1 {
				return fmt.Errorf("reading --gaps: %q is no number of commits", g)
			}
			p.commitGaps = append(p.commitGaps, n)
		}
		if len(repos) == 0 {
			return errors.New("name at least one repository with --repo [NAME=]DIR")
		}
		tmp, remove, err := b.tempDir()
		if err != nil {
			return err
		}
		defer remove()
		b.printTitle("Annotations over histories", tmp)
		r := &placementRun{bench: b, samplePlan: p, seed: *seed, maxShownMisplacements: *show, tempDir: tmp}
		if *data != "" {
			return r.measurePublishedPlacement(ctx, *data, repos)
		}
		return r.measurePlacementInHistories(ctx, repos)
	}
}

// placementRun is one run of the command "drift", which measures how well annotated lines are found again after later
// commits.
type placementRun struct {
	bench                 *bench
	samplePlan            sampleSizes
	seed                  uint64
	maxShownMisplacements int
	tempDir               string
}

// trackedBlockKinds contains the kinds of trackedBlock, which is a line or a block of lines that is searched in a later
// commit. In a renamed file, such a line or block belongs to two kinds.
var trackedBlockKinds = []string{"lines", "blocks", "lines of renamed files", "blocks of renamed files"}

// placementTallies counts how often lines or blocks were found again after a file changed. The counts are separate for
// each kind in trackedBlockKinds and for each method that finds them.
type placementTallies map[string]map[string]*placementTally

func (t placementTallies) resultTally(kind, methodName string) *placementTally {
	if t[kind] == nil {
		t[kind] = map[string]*placementTally{}
	}
	if t[kind][methodName] == nil {
		t[kind][methodName] = &placementTally{}
	}
	return t[kind][methodName]
}

var placementMethodNames = []string{
	"oxbow, with git",
	"oxbow, without git",
	baselineMethods[0].methodName,
	baselineMethods[1].methodName,
	baselineMethods[2].methodName,
}

func splitRepoName(repo string) (name, dir string) {
	if n, d, ok := strings.Cut(repo, "="); ok && !strings.ContainsAny(n, `/\`) {
		return n, d
	}
	return filepath.Base(filepath.Clean(repo)), repo
}

// measurePlacementInHistories measures how well annotations of lines and blocks are found again in later commits of the
// repositories. It selects lines and blocks in old commits, and searches for them in later commits. The plan's
// commitGaps say how many commits lie between the two. The results are printed for each repository, and in total if
// there are several.
func (r *placementRun) measurePlacementInHistories(ctx context.Context, repos []string) error {
	total := placementTallies{}
	sizes := newTable("repository", "commits", "gap", "files", "lines", "blocks")
	var after []func()
	for _, repo := range repos {
		name, dir := splitRepoName(repo)
		full, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		c, err := newClone(ctx, full, filepath.Join(r.tempDir, "clone-"+strconv.Itoa(len(after))+"-"+name))
		if err != nil {
			return err
		}
		if r.samplePlan.hasMerges {
			if err := c.createMergeHistory(ctx); err != nil {
				return err
			}
		}
		h, err := readHistory(ctx, c.dir)
		if err != nil {
			return err
		}
		own := placementTallies{}
		sets, err := h.sampleFilePairs(ctx, r.samplePlan, rand.New(rand.NewPCG(r.seed, uint64(len(h.commits)))))
		if err != nil {
			return err
		}
		for _, gap := range r.samplePlan.commitGaps {
			ps := sets[gap]
			if len(ps) == 0 {
				continue
			}
			r.bench.logf("%s: gap %d, %d files", name, gap, len(ps))
			kinds := map[string]int{}
			for _, p := range ps {
				for _, x := range p.trackedBlocks {
					kinds[trackedBlockKind(x)]++
				}
			}
			sizes.addRow(
				name,
				formatCount(len(h.commits)),
				formatCount(gap),
				formatCount(len(ps)),
				formatCount(kinds["lines"]),
				formatCount(kinds["blocks"]),
			)
			if err := r.tallyPlacements(ctx, c, ps, own, total); err != nil {
				return err
			}
		}
		after = append(after, func() { r.printTables(name, own) })
	}
	sizes.print(r.bench.out)
	for _, f := range after {
		f()
	}
	if len(after) > 1 {
		r.printTables("all", total)
	}
	return nil
}

func trackedBlockKind(x trackedBlock) string {
	if x.lineCount == 1 {
		return trackedBlockKinds[0]
	}
	return trackedBlockKinds[1]
}

// tallyPlacements searches for the lines and blocks of each element of ps in the file at the later commit, with each
// method. It counts how many of them each method found at the true position, and adds the counts to all tallies in
// into.
func (r *placementRun) tallyPlacements(
	ctx context.Context,
	c *repoClone,
	ps []fileAtTwoCommits,
	into ...placementTallies,
) error {
	for len(ps) > 0 {
		n := 1
		for n < len(ps) && ps[n].earlierCommit == ps[0].earlierCommit && ps[n].laterCommit == ps[0].laterCommit {
			n++
		}
		same := ps[:n]
		ps = ps[n:]
		with, without, err := c.placeAnnotations(ctx, same)
		if err != nil {
			return err
		}
		for i, p := range same {
			a, err := c.fileLines(ctx, p.earlierCommit, p.earlierPath)
			if err != nil {
				return err
			}
			b, err := c.fileLines(ctx, p.laterCommit, p.laterPath)
			if err != nil {
				return err
			}
			for k, x := range p.trackedBlocks {
				kinds := []string{trackedBlockKind(x)}
				if p.earlierPath != p.laterPath {
					kinds = append(kinds, trackedBlockKind(x)+" of renamed files")
				}
				for _, w := range baselineMethods {
					s := w.placeBlock(a, b, x)
					for _, kind := range kinds {
						for _, t := range into {
							t.resultTally(kind, w.methodName).addResult(x, s)
						}
					}
				}
				for _, kind := range kinds {
					for _, t := range into {
						t.resultTally(kind, placementMethodNames[0]).addResult(x, with[i][k])
						t.resultTally(kind, placementMethodNames[1]).addResult(x, without[i][k])
					}
				}
				r.logWrongPlacement(p, x, a, b, with[i][k], "with git")
				r.logWrongPlacement(p, x, a, b, without[i][k], "without git")
			}
		}
	}
	return nil
}

// logWrongPlacement prints a line or block that a method found at a wrong position, or did not find although it exists.
func (r *placementRun) logWrongPlacement(
	p fileAtTwoCommits,
	x trackedBlock,
	earlierLines, laterLines []string,
	s linePlacement,
	gitMode string,
) {
	var t placementTally
	t.addResult(x, s)
	if r.maxShownMisplacements == 0 ||
		t.unchangedAtWrongLine+t.unchangedNotFound+t.deletedReportedFound+t.deletedReportedEdited+t.changedAtWrongLine+t.changedNotFound == 0 {
		return
	}
	r.maxShownMisplacements--
	what := "wrong"
	switch {
	case t.unchangedNotFound > 0 || t.changedNotFound > 0:
		what = "missed"
	case t.deletedReportedEdited > 0:
		what = "edited though gone"
	case t.deletedReportedFound > 0:
		what = "found though gone"
	}
	r.bench.logf(
		"\n%s, %s: %s..%s %s -> %s, lines %d-%d, truth %v, said %d+%d edited %v %.2f %s",
		what,
		gitMode,
		p.earlierCommit[:8],
		p.laterCommit[:8],
		p.earlierPath,
		p.laterPath,
		x.firstLine,
		x.firstLine+x.lineCount-1,
		x.laterPositions,
		s.firstLine,
		s.lineCount,
		s.isReportedEdited,
		s.confidence,
		s.placementRule,
	)
	for i := max(0, x.firstLine-3); i < min(len(earlierLines), x.firstLine+x.lineCount+3); i++ {
		r.bench.logf("  A %4d %s", i, earlierLines[i])
	}
	if s.lineCount > 0 {
		for i := max(0, s.firstLine-3); i < min(len(laterLines), s.firstLine+s.lineCount+3); i++ {
			r.bench.logf("  S %4d %s", i, laterLines[i])
		}
	}
	if at := x.laterPositions[0].lineIndex; at >= 0 {
		for i := max(0, at-3); i < min(len(laterLines), at+x.lineCount+3); i++ {
			r.bench.logf("  T %4d %s", i, laterLines[i])
		}
	}
}

func (r *placementRun) printTables(name string, t placementTallies) {
	share := func(n, of int) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.4f", float64(n)/float64(of))
	}
	for _, kind := range trackedBlockKinds {
		first := t[kind][placementMethodNames[0]]
		if first == nil {
			continue
		}
		tab := newTable(
			fmt.Sprintf(
				"%s, %s: %d stand, %d changed, %d gone",
				name,
				kind,
				first.unchangedTotal,
				first.changedTotal,
				first.deletedTotal,
			),
			"stand: right",
			"wrong",
			"missed",
			"changed: right",
			"wrong",
			"missed",
			"gone: lost",
			"edited",
			"found",
		)
		for _, w := range placementMethodNames {
			x := t.resultTally(kind, w)
			tab.addRow(
				w,
				share(
					x.unchangedAtRightLine,
					x.unchangedTotal,
				),
				share(x.unchangedAtWrongLine, x.unchangedTotal),
				share(x.unchangedNotFound, x.unchangedTotal),
				share(x.changedAtRightLine, x.changedTotal),
				share(x.changedAtWrongLine, x.changedTotal),
				share(x.changedNotFound, x.changedTotal),
				share(x.deletedReportedLost, x.deletedTotal),
				share(x.deletedReportedEdited, x.deletedTotal),
				share(x.deletedReportedFound, x.deletedTotal),
			)
		}
		r.bench.emitTable(tab)
	}
}

// publishedLine is a row of published data: a line at commit A, and its number at commit B. Numbers begin at 1. The
// number is null if the line is gone.
type publishedLine struct {
	Repo          string `json:"repo"`
	EarlierCommit string `json:"A"`
	LaterCommit   string `json:"B"`
	EarlierPath   string `json:"fa"`
	LaterPath     string `json:"fb"`
	EarlierLine   int    `json:"line"`
	LineText      string `json:"text"`
	LaterLine     *int   `json:"truth"`
}

// measurePublishedPlacement measures how well annotated lines are found again after a change. For each repository in
// repos, it reads lines from the file dir/NAME.jsonl.gz, in which NAME is the repository's name. The file names the
// commits of the lines. If the repository does not contain these commits, measurePublishedPlacement leaves out the
// lines and prints their number.
func (r *placementRun) measurePublishedPlacement(ctx context.Context, dir string, repos []string) error {
	total := placementTallies{}
	for _, repo := range repos {
		name, at := splitRepoName(repo)
		pairs, err := readPublishedFilePairs(filepath.Join(dir, name+".jsonl.gz"))
		if err != nil {
			return err
		}
		full, err := filepath.Abs(at)
		if err != nil {
			return err
		}
		c, err := newClone(ctx, full, filepath.Join(r.tempDir, "clone-"+name))
		if err != nil {
			return err
		}
		own := placementTallies{}
		missing := 0
		var have []fileAtTwoCommits
		for _, p := range pairs {
			a, errA := c.fileLines(ctx, p.earlierCommit, p.earlierPath)
			b, errB := c.fileLines(ctx, p.laterCommit, p.laterPath)
			if errA != nil || errB != nil {
				missing += len(p.trackedBlocks)
				continue
			}
			for i, x := range p.trackedBlocks {
				isKept := x.laterPositions[0].lineIndex >= 0
				isInB := !isKept || isSameLine(b, x.laterPositions[0].lineIndex, p.lineTexts[i])
				if !isInB || !isSameLine(a, x.firstLine, p.lineTexts[i]) {
					return fmt.Errorf(
						"%s: %s at %s does not hold the line that the data says",
						name,
						p.earlierPath,
						p.earlierCommit,
					)
				}
			}
			have = append(have, p.fileAtTwoCommits)
		}
		r.bench.logf("%s: %d files, %d lines whose commits are not there", name, len(have), missing)
		if missing > 0 {
			r.bench.printf("%s: %d lines are left out, their commits are not in the repository\n\n", name, missing)
		}
		if err := r.tallyPlacements(ctx, c, have, own, total); err != nil {
			return err
		}
		r.printTables(name, own)
	}
	if len(repos) > 1 {
		r.printTables("all", total)
	}
	return nil
}

// publishedFilePair is a file at two commits, as read from a data file. lineTexts contains the texts of its annotated
// lines. With these texts, the contents of the repository's files are checked.
type publishedFilePair struct {
	fileAtTwoCommits
	lineTexts []string
}

func readPublishedFilePairs(path string) ([]publishedFilePair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	var out []publishedFilePair
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var row publishedLine
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("reading lines: %w", err)
		}
		i := slices.IndexFunc(out, func(p publishedFilePair) bool {
			return p.earlierCommit == row.EarlierCommit && p.laterCommit == row.LaterCommit &&
				p.earlierPath == row.EarlierPath &&
				p.laterPath == row.LaterPath
		})
		if i < 0 {
			i = len(out)
			out = append(
				out,
				publishedFilePair{
					fileAtTwoCommits: fileAtTwoCommits{
						earlierCommit: row.EarlierCommit,
						laterCommit:   row.LaterCommit,
						earlierPath:   row.EarlierPath,
						laterPath:     row.LaterPath,
					},
				},
			)
		}
		x := trackedBlock{
			firstLine:      row.EarlierLine - 1,
			lineCount:      1,
			laterPositions: []laterLinePosition{{lineIndex: -1}},
		}
		if row.LaterLine != nil {
			x.laterPositions[0].lineIndex = *row.LaterLine - 1
		}
		out[i].trackedBlocks = append(out[i].trackedBlocks, x)
		out[i].lineTexts = append(out[i].lineTexts, row.LineText)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	return out, nil
}
