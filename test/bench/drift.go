// This file implements the command drift: whether annotations stay with their lines.

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
	b.dirFlag(fs)
	return func(ctx context.Context) error {
		p := plan{pairs: *pairs, files: *files, lines: *lines, blocks: *blocks, strict: *strict, merges: *merges}
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
		tmp, remove, err := b.temp()
		if err != nil {
			return err
		}
		defer remove()
		b.title("Annotations over histories", tmp)
		r := &driftRun{b: b, plan: p, seed: *seed, show: *show, tmp: tmp}
		if *data != "" {
			return r.data(ctx, *data, repos)
		}
		return r.placeHistories(ctx, repos)
	}
}

// driftRun is one run of the command.
type driftRun struct {
	b    *bench
	plan plan
	seed uint64
	show int
	tmp  string
}

// driftKinds are the kinds of anchors. Anchors in renamed files are counted in two kinds.
var driftKinds = []string{"lines", "blocks", "lines of renamed files", "blocks of renamed files"}

// driftTable contains the counts by kind of anchor and way of placing.
type driftTable map[string]map[string]*tally

func (t driftTable) at(kind, way string) *tally {
	if t[kind] == nil {
		t[kind] = map[string]*tally{}
	}
	if t[kind][way] == nil {
		t[kind][way] = &tally{}
	}
	return t[kind][way]
}

var driftWays = []string{"oxbow, with git", "oxbow, without git", baselines[0].name, baselines[1].name,
	baselines[2].name}

func splitName(repo string) (name, dir string) {
	if n, d, ok := strings.Cut(repo, "="); ok && !strings.ContainsAny(n, `/\`) {
		return n, d
	}
	return filepath.Base(filepath.Clean(repo)), repo
}

// placeHistories selects anchors from each repository and places them.
func (r *driftRun) placeHistories(ctx context.Context, repos []string) error {
	total := driftTable{}
	sizes := newTable("repository", "commits", "gap", "files", "lines", "blocks")
	var after []func()
	for _, repo := range repos {
		name, dir := splitName(repo)
		full, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		c, err := newClone(ctx, full, filepath.Join(r.tmp, "clone-"+strconv.Itoa(len(after))+"-"+name))
		if err != nil {
			return err
		}
		if r.plan.merges {
			if err := c.merge(ctx); err != nil {
				return err
			}
		}
		h, err := readHistory(ctx, c.dir)
		if err != nil {
			return err
		}
		own := driftTable{}
		sets, err := h.draw(ctx, r.plan, rand.New(rand.NewPCG(r.seed, uint64(len(h.commits)))))
		if err != nil {
			return err
		}
		for _, gap := range r.plan.gaps {
			ps := sets[gap]
			if len(ps) == 0 {
				continue
			}
			r.b.logf("%s: gap %d, %d files", name, gap, len(ps))
			kinds := map[string]int{}
			for _, p := range ps {
				for _, x := range p.anchors {
					kinds[anchorKind(x)]++
				}
			}
			sizes.row(
				name,
				count(len(h.commits)),
				count(gap),
				count(len(ps)),
				count(kinds["lines"]),
				count(kinds["blocks"]),
			)
			if err := r.score(ctx, c, ps, own, total); err != nil {
				return err
			}
		}
		after = append(after, func() { r.print(name, own) })
	}
	sizes.print(r.b.out)
	for _, f := range after {
		f()
	}
	if len(after) > 1 {
		r.print("all", total)
	}
	return nil
}

func anchorKind(x anchor) string {
	if x.n == 1 {
		return driftKinds[0]
	}
	return driftKinds[1]
}

// score places the anchors of pairs in every way and counts the results in the tables.
func (r *driftRun) score(ctx context.Context, c *clone, ps []pair, into ...driftTable) error {
	for len(ps) > 0 {
		n := 1
		for n < len(ps) && ps[n].a == ps[0].a && ps[n].b == ps[0].b {
			n++
		}
		same := ps[:n]
		ps = ps[n:]
		with, without, err := c.placeAll(ctx, same)
		if err != nil {
			return err
		}
		for i, p := range same {
			a, err := c.text(ctx, p.a, p.fa)
			if err != nil {
				return err
			}
			b, err := c.text(ctx, p.b, p.fb)
			if err != nil {
				return err
			}
			for k, x := range p.anchors {
				kinds := []string{anchorKind(x)}
				if p.fa != p.fb {
					kinds = append(kinds, anchorKind(x)+" of renamed files")
				}
				for _, w := range baselines {
					s := w.place(a, b, x)
					for _, kind := range kinds {
						for _, t := range into {
							t.at(kind, w.name).add(x, s)
						}
					}
				}
				for _, kind := range kinds {
					for _, t := range into {
						t.at(kind, driftWays[0]).add(x, with[i][k])
						t.at(kind, driftWays[1]).add(x, without[i][k])
					}
				}
				r.explain(p, x, a, b, with[i][k], "with git")
				r.explain(p, x, a, b, without[i][k], "without git")
			}
		}
	}
	return nil
}

// explain prints an anchor that was placed incorrectly.
func (r *driftRun) explain(p pair, x anchor, a, b []string, s spot, how string) {
	var t tally
	t.add(x, s)
	if r.show == 0 || t.wrong+t.missed+t.found+t.edited+t.partWrong+t.partMissed == 0 {
		return
	}
	r.show--
	what := "wrong"
	switch {
	case t.missed > 0 || t.partMissed > 0:
		what = "missed"
	case t.edited > 0:
		what = "edited though gone"
	case t.found > 0:
		what = "found though gone"
	}
	r.b.logf(
		"\n%s, %s: %s..%s %s -> %s, lines %d-%d, truth %v, said %d+%d edited %v %.2f %s",
		what,
		how,
		p.a[:8],
		p.b[:8],
		p.fa,
		p.fb,
		x.first,
		x.first+x.n-1,
		x.to,
		s.first,
		s.n,
		s.edited,
		s.confidence,
		s.how,
	)
	for i := max(0, x.first-3); i < min(len(a), x.first+x.n+3); i++ {
		r.b.logf("  A %4d %s", i, a[i])
	}
	if s.n > 0 {
		for i := max(0, s.first-3); i < min(len(b), s.first+s.n+3); i++ {
			r.b.logf("  S %4d %s", i, b[i])
		}
	}
	if at := x.to[0].to; at >= 0 {
		for i := max(0, at-3); i < min(len(b), at+x.n+3); i++ {
			r.b.logf("  T %4d %s", i, b[i])
		}
	}
}

func (r *driftRun) print(name string, t driftTable) {
	share := func(n, of int) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.4f", float64(n)/float64(of))
	}
	for _, kind := range driftKinds {
		first := t[kind][driftWays[0]]
		if first == nil {
			continue
		}
		tab := newTable(
			fmt.Sprintf("%s, %s: %d stand, %d changed, %d gone", name, kind, first.stand, first.part, first.gone),
			"stand: right", "wrong", "missed", "changed: right", "wrong", "missed", "gone: lost", "edited", "found",
		)
		for _, w := range driftWays {
			x := t.at(kind, w)
			tab.row(w,
				share(x.right, x.stand), share(x.wrong, x.stand), share(x.missed, x.stand),
				share(x.partRight, x.part), share(x.partWrong, x.part), share(x.partMissed, x.part),
				share(x.lost, x.gone), share(x.edited, x.gone), share(x.found, x.gone))
		}
		r.b.emit(tab)
	}
}

// driftRow is one row of published data: a line at commit A, and its number at commit B,
// which is null if the line is gone. Numbers start at 1.
type driftRow struct {
	Repo  string `json:"repo"`
	A     string `json:"A"`
	B     string `json:"B"`
	FA    string `json:"fa"`
	FB    string `json:"fb"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
	Truth *int   `json:"truth"`
}

// data finds the positions of the lines in DIR/NAME.jsonl.gz. For each repository in repos, NAME is
// the repository's name, and the repository must contain the commits that the file mentions.
func (r *driftRun) data(ctx context.Context, dir string, repos []string) error {
	total := driftTable{}
	for _, repo := range repos {
		name, at := splitName(repo)
		pairs, err := readDrift(filepath.Join(dir, name+".jsonl.gz"))
		if err != nil {
			return err
		}
		full, err := filepath.Abs(at)
		if err != nil {
			return err
		}
		c, err := newClone(ctx, full, filepath.Join(r.tmp, "clone-"+name))
		if err != nil {
			return err
		}
		own := driftTable{}
		missing := 0
		var have []pair
		for _, p := range pairs {
			a, errA := c.text(ctx, p.a, p.fa)
			b, errB := c.text(ctx, p.b, p.fb)
			if errA != nil || errB != nil {
				missing += len(p.anchors)
				continue
			}
			for i, x := range p.anchors {
				isKept := x.to[0].to >= 0
				isInB := !isKept || sameLine(b, x.to[0].to, p.texts[i])
				if !isInB || !sameLine(a, x.first, p.texts[i]) {
					return fmt.Errorf("%s: %s at %s does not hold the line that the data says", name, p.fa, p.a)
				}
			}
			have = append(have, p.pair)
		}
		r.b.logf("%s: %d files, %d lines whose commits are not there", name, len(have), missing)
		if missing > 0 {
			r.b.printf("%s: %d lines are left out, their commits are not in the repository\n\n", name, missing)
		}
		if err := r.score(ctx, c, have, own, total); err != nil {
			return err
		}
		r.print(name, own)
	}
	if len(repos) > 1 {
		r.print("all", total)
	}
	return nil
}

// driftPair is a pair with the texts of its lines from the data.
type driftPair struct {
	pair
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
			return p.a == row.A && p.b == row.B && p.fa == row.FA && p.fb == row.FB
		})
		if i < 0 {
			i = len(out)
			out = append(out, driftPair{pair: pair{a: row.A, b: row.B, fa: row.FA, fb: row.FB}})
		}
		x := anchor{first: row.Line - 1, n: 1, to: []fate{{to: -1}}}
		if row.Truth != nil {
			x.to[0].to = *row.Truth - 1
		}
		out[i].anchors = append(out[i].anchors, x)
		out[i].texts = append(out[i].texts, row.Text)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	return out, nil
}
