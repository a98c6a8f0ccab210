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
		p := selectionPlan{
			pairs:          *pairs,
			files:          *files,
			lines:          *lines,
			blocks:         *blocks,
			rewordedIsGone: *strict,
			hasMerges:      *merges,
		}
		for g := range strings.SplitSeq(*gaps, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(g))
			if err != nil || n < 1 {
				return fmt.Errorf("reading --gaps: %q is no number of commits", g)
			}
			p.gaps = append(p.gaps, n)
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
		r := &driftRun{bench: b, plan: p, seed: *seed, misplacementsToShow: *show, tempDir: tmp}
		if *data != "" {
			return r.scoreData(ctx, *data, repos)
		}
		return r.placeHistories(ctx, repos)
	}
}

// driftRun is one run of the command.
type driftRun struct {
	bench               *bench
	plan                selectionPlan
	seed                uint64
	misplacementsToShow int
	tempDir             string
}

// driftKinds are the kinds of anchors. An anchor in a renamed file belongs to two kinds.
var driftKinds = []string{"lines", "blocks", "lines of renamed files", "blocks of renamed files"}

// driftTable counts how often lines or blocks were found again after a file changed. The counts are separate for each
// kind in driftKinds and for each method that finds them.
type driftTable map[string]map[string]*placementTally

func (t driftTable) tallyFor(kind, way string) *placementTally {
	if t[kind] == nil {
		t[kind] = map[string]*placementTally{}
	}
	if t[kind][way] == nil {
		t[kind][way] = &placementTally{}
	}
	return t[kind][way]
}

var placementWays = []string{"oxbow, with git", "oxbow, without git", baselineWays[0].name, baselineWays[1].name,
	baselineWays[2].name}

func splitRepoName(repo string) (name, dir string) {
	if n, d, ok := strings.Cut(repo, "="); ok && !strings.ContainsAny(n, `/\`) {
		return n, d
	}
	return filepath.Base(filepath.Clean(repo)), repo
}

// placeHistories selects annotated lines and blocks (anchors) in old commits of each repository. It then measures how
// well the annotations are found again in later commits.
func (r *driftRun) placeHistories(ctx context.Context, repos []string) error {
	total := driftTable{}
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
		if r.plan.hasMerges {
			if err := c.createMergeHistory(ctx); err != nil {
				return err
			}
		}
		h, err := readHistory(ctx, c.dir)
		if err != nil {
			return err
		}
		own := driftTable{}
		sets, err := h.drawPairs(ctx, r.plan, rand.New(rand.NewPCG(r.seed, uint64(len(h.commits)))))
		if err != nil {
			return err
		}
		for _, gap := range r.plan.gaps {
			ps := sets[gap]
			if len(ps) == 0 {
				continue
			}
			r.bench.logf("%s: gap %d, %d files", name, gap, len(ps))
			kinds := map[string]int{}
			for _, p := range ps {
				for _, x := range p.anchors {
					kinds[anchorKind(x)]++
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
			if err := r.scorePairs(ctx, c, ps, own, total); err != nil {
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

func anchorKind(x anchor) string {
	if x.lineCount == 1 {
		return driftKinds[0]
	}
	return driftKinds[1]
}

// scorePairs searches for the lines and blocks of commit A in the file at commit B, with each method, and counts in
// the tables how many were found at the true position.
func (r *driftRun) scorePairs(ctx context.Context, c *repoClone, ps []commitPair, into ...driftTable) error {
	for len(ps) > 0 {
		n := 1
		for n < len(ps) && ps[n].commitA == ps[0].commitA && ps[n].commitB == ps[0].commitB {
			n++
		}
		same := ps[:n]
		ps = ps[n:]
		with, without, err := c.resolveAnchors(ctx, same)
		if err != nil {
			return err
		}
		for i, p := range same {
			a, err := c.fileLines(ctx, p.commitA, p.fileA)
			if err != nil {
				return err
			}
			b, err := c.fileLines(ctx, p.commitB, p.fileB)
			if err != nil {
				return err
			}
			for k, x := range p.anchors {
				kinds := []string{anchorKind(x)}
				if p.fileA != p.fileB {
					kinds = append(kinds, anchorKind(x)+" of renamed files")
				}
				for _, w := range baselineWays {
					s := w.placeAnchor(a, b, x)
					for _, kind := range kinds {
						for _, t := range into {
							t.tallyFor(kind, w.name).addResult(x, s)
						}
					}
				}
				for _, kind := range kinds {
					for _, t := range into {
						t.tallyFor(kind, placementWays[0]).addResult(x, with[i][k])
						t.tallyFor(kind, placementWays[1]).addResult(x, without[i][k])
					}
				}
				r.logMisplacement(p, x, a, b, with[i][k], "with git")
				r.logMisplacement(p, x, a, b, without[i][k], "without git")
			}
		}
	}
	return nil
}

// logMisplacement prints a line or block that a method found at a wrong position, or did not find although it exists.
func (r *driftRun) logMisplacement(p commitPair, x anchor, a, b []string, s placement, how string) {
	var t placementTally
	t.addResult(x, s)
	if r.misplacementsToShow == 0 ||
		t.unchangedWrong+t.unchangedMissed+t.goneFound+t.goneEdited+t.changedWrong+t.changedMissed == 0 {
		return
	}
	r.misplacementsToShow--
	what := "wrong"
	switch {
	case t.unchangedMissed > 0 || t.changedMissed > 0:
		what = "missed"
	case t.goneEdited > 0:
		what = "edited though gone"
	case t.goneFound > 0:
		what = "found though gone"
	}
	r.bench.logf(
		"\n%s, %s: %s..%s %s -> %s, lines %d-%d, truth %v, said %d+%d edited %v %.2f %s",
		what,
		how,
		p.commitA[:8],
		p.commitB[:8],
		p.fileA,
		p.fileB,
		x.firstLine,
		x.firstLine+x.lineCount-1,
		x.fates,
		s.firstLine,
		s.lineCount,
		s.isEdited,
		s.confidence,
		s.method,
	)
	for i := max(0, x.firstLine-3); i < min(len(a), x.firstLine+x.lineCount+3); i++ {
		r.bench.logf("  A %4d %s", i, a[i])
	}
	if s.lineCount > 0 {
		for i := max(0, s.firstLine-3); i < min(len(b), s.firstLine+s.lineCount+3); i++ {
			r.bench.logf("  S %4d %s", i, b[i])
		}
	}
	if at := x.fates[0].index; at >= 0 {
		for i := max(0, at-3); i < min(len(b), at+x.lineCount+3); i++ {
			r.bench.logf("  T %4d %s", i, b[i])
		}
	}
}

func (r *driftRun) printTables(name string, t driftTable) {
	share := func(n, of int) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.4f", float64(n)/float64(of))
	}
	for _, kind := range driftKinds {
		first := t[kind][placementWays[0]]
		if first == nil {
			continue
		}
		tab := newTable(
			fmt.Sprintf(
				"%s, %s: %d stand, %d changed, %d gone",
				name,
				kind,
				first.unchanged,
				first.changed,
				first.goneTotal,
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
		for _, w := range placementWays {
			x := t.tallyFor(kind, w)
			tab.addRow(
				w,
				share(
					x.unchangedRight,
					x.unchanged,
				),
				share(x.unchangedWrong, x.unchanged),
				share(x.unchangedMissed, x.unchanged),
				share(x.changedRight, x.changed),
				share(x.changedWrong, x.changed),
				share(x.changedMissed, x.changed),
				share(x.goneLost, x.goneTotal),
				share(x.goneEdited, x.goneTotal),
				share(x.goneFound, x.goneTotal),
			)
		}
		r.bench.emitTable(tab)
	}
}

// driftRow is a row of published data: a line at commit A, and its number at commit B. Numbers begin at 1. The number
// is null if the line is gone.
type driftRow struct {
	Repo    string `json:"repo"`
	CommitA string `json:"A"`
	CommitB string `json:"B"`
	FileA   string `json:"fa"`
	FileB   string `json:"fb"`
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Truth   *int   `json:"truth"`
}

// scoreData measures how well annotated lines are found again, with lines from the file DIR/NAME.jsonl.gz for each
// repository in repos. NAME is the repository's name. The repository must contain the commits that the file names.
func (r *driftRun) scoreData(ctx context.Context, dir string, repos []string) error {
	total := driftTable{}
	for _, repo := range repos {
		name, at := splitRepoName(repo)
		pairs, err := readDrift(filepath.Join(dir, name+".jsonl.gz"))
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
		own := driftTable{}
		missing := 0
		var have []commitPair
		for _, p := range pairs {
			a, errA := c.fileLines(ctx, p.commitA, p.fileA)
			b, errB := c.fileLines(ctx, p.commitB, p.fileB)
			if errA != nil || errB != nil {
				missing += len(p.anchors)
				continue
			}
			for i, x := range p.anchors {
				isKept := x.fates[0].index >= 0
				isInB := !isKept || isSameLine(b, x.fates[0].index, p.texts[i])
				if !isInB || !isSameLine(a, x.firstLine, p.texts[i]) {
					return fmt.Errorf(
						"%s: %s at %s does not hold the line that the data says",
						name,
						p.fileA,
						p.commitA,
					)
				}
			}
			have = append(have, p.commitPair)
		}
		r.bench.logf("%s: %d files, %d lines whose commits are not there", name, len(have), missing)
		if missing > 0 {
			r.bench.printf("%s: %d lines are left out, their commits are not in the repository\n\n", name, missing)
		}
		if err := r.scorePairs(ctx, c, have, own, total); err != nil {
			return err
		}
		r.printTables(name, own)
	}
	if len(repos) > 1 {
		r.printTables("all", total)
	}
	return nil
}

// driftPair is a file at two commits, as read from a data file. texts contains the texts of its annotated lines, by
// which the repository's contents are checked.
type driftPair struct {
	commitPair
	texts []string
}

func readDrift(path string) ([]driftPair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	var out []driftPair
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var row driftRow
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("reading lines: %w", err)
		}
		i := slices.IndexFunc(out, func(p driftPair) bool {
			return p.commitA == row.CommitA && p.commitB == row.CommitB && p.fileA == row.FileA && p.fileB == row.FileB
		})
		if i < 0 {
			i = len(out)
			out = append(
				out,
				driftPair{
					commitPair: commitPair{
						commitA: row.CommitA,
						commitB: row.CommitB,
						fileA:   row.FileA,
						fileB:   row.FileB,
					},
				},
			)
		}
		x := anchor{firstLine: row.Line - 1, lineCount: 1, fates: []lineFate{{index: -1}}}
		if row.Truth != nil {
			x.fates[0].index = *row.Truth - 1
		}
		out[i].anchors = append(out[i].anchors, x)
		out[i].texts = append(out[i].texts, row.Text)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	return out, nil
}
