// This file lets three clones edit the same entries at random, and lets real git merge the clones in every order. No
// entry and no line may be lost, the trees must be equal, and conflicts may occur only if two clones changed the same
// lines.

package team

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// TestMain runs the tests. If git calls the test program as its merge driver, TestMain merges files instead.
func TestMain(m *testing.M) {
	if len(os.Args) > 4 && os.Args[1] == "merge-entry" {
		if _, err := MergeFiles(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// line is a line in the content of an entry. The field number is the index of the line in the base, which is the state
// from which all clones begin. A new line has the number -1.
type line struct {
	number int
	text   string
}

// version is the state of one entry in one clone of the git repository.
type version struct {
	name            string
	lines           []line
	labels, aliases map[string]bool
	status          string
	deleted         bool
}

func (v *version) clone() *version {
	c := *v
	c.lines = slices.Clone(v.lines)
	c.labels = maps.Clone(v.labels)
	c.aliases = maps.Clone(v.aliases)
	return &c
}

func (v *version) file() string {
	e := oxbow.Entry{Name: v.name, Created: time.Unix(1767225600, 0), Aliases: slices.Sorted(maps.Keys(v.aliases))}
	var texts []string
	for _, l := range v.lines {
		texts = append(texts, l.text)
	}
	e.Content = strings.Join(texts, "\n")
	for l := range v.labels {
		e.Labels = append(e.Labels, oxbow.Label{Key: "tag", Value: l})
	}
	e.Labels = oxbow.SortLabels(append(e.Labels, oxbow.Label{Key: "status", Value: v.status}))
	return FormatEntry(e)
}

// stretches returns the changes of a version against the base, which has n lines.
func (v *version) stretches(n int) (out []diff.LineChange) {
	at := 0
	var text []string
	add := func(to int) {
		if at < to || len(text) > 0 {
			out = append(out, diff.LineChange{From: at, To: to, Lines: text})
		}
		text = nil
	}
	for _, l := range v.lines {
		if l.number < 0 {
			text = append(text, l.text)
			continue
		}
		add(l.number)
		at = l.number + 1
	}
	add(n)
	return out
}

// writer makes random texts and edits.
type writer struct {
	*rand.Rand
	n int
}

func (w *writer) text() string {
	w.n++
	return fmt.Sprintf("line %d %x%x%x", w.n, w.Uint64(), w.Uint64(), w.Uint64())
}

func (w *writer) entry(base bool) *version {
	v := &version{
		name:    "entry " + w.text()[5:20],
		labels:  map[string]bool{"a": true, "b": true},
		aliases: map[string]bool{},
		status:  "open",
	}
	for i := range 8 + w.IntN(8) {
		if !base {
			i = -1
		}
		v.lines = append(v.lines, line{i, w.text()})
	}
	return v
}

// edit makes a random change to an entry.
func (w *writer) edit(v *version) {
	at := w.IntN(len(v.lines) + 1)
	switch w.IntN(12) {
	case 0:
		v.name = "renamed " + w.text()[5:20]
	case 1:
		v.labels[string(rune('a'+w.IntN(6)))] = true
	case 2:
		delete(v.labels, string(rune('a'+w.IntN(6))))
	case 3:
		v.aliases[fmt.Sprint("alias ", w.IntN(9))] = true
	case 4:
		v.status = []string{"open", "done", "moot"}[w.IntN(3)]
	case 5, 6:
		v.lines = slices.Insert(v.lines, at, line{-1, w.text()})
	case 7:
		if len(v.lines) > 3 && at < len(v.lines) {
			v.lines = slices.Delete(v.lines, at, at+1)
		}
	default:
		if at < len(v.lines) {
			v.lines[at] = line{-1, w.text()}
		}
	}
}

// history contains a base and the versions that three clones made of it, by file.
type history struct {
	base   map[string]*version
	clones [3]map[string]*version
}

func (w *writer) history(entries, edits int) *history {
	h := &history{base: map[string]*version{}}
	for i := range entries {
		h.base[nth(i)] = w.entry(true)
	}
	for c := range h.clones {
		h.clones[c] = map[string]*version{}
		for f, v := range h.base {
			h.clones[c][f] = v.clone()
		}
		for n := range edits {
			files := slices.Sorted(maps.Keys(h.clones[c]))
			v := h.clones[c][files[w.IntN(len(files))]]
			switch {
			case w.IntN(12) == 0:
				h.clones[c][nth(1000*(c+1)+n)] = w.entry(false)
			case w.IntN(25) == 0:
				v.deleted = true
			case !v.deleted:
				w.edit(v)
			}
		}
	}
	return h
}

// write writes the files of the versions to the directory Dir within dir. It removes the files of deleted versions.
func write(t *testing.T, dir string, vs map[string]*version) {
	t.Helper()
	for f, v := range vs {
		if v.deleted {
			if err := os.Remove(filepath.Join(dir, Dir, f)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			continue
		}
		put(t, dir, map[string]string{Dir + "/" + f: v.file()})
	}
}

// build creates the repository, with a branch for each clone.
func (h *history) build(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	runGit(t, filepath.Dir(dir), "init", "-q", "-b", "base", dir)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := FindOrNewTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Init(t.Context(), "'"+filepath.ToSlash(program)+"'", false); err != nil {
		t.Fatal(err)
	}
	write(t, dir, h.base)
	commit := func(branch string) {
		runGit(t, dir, "add", "-A")
		runGit(t, dir, "commit", "-qm", branch, "--allow-empty")
	}
	commit("base")
	for c, vs := range h.clones {
		branch := fmt.Sprint("c", c)
		runGit(t, dir, "checkout", "-qb", branch, "base")
		write(t, dir, vs)
		commit(branch)
	}
	return dir
}

// merge merges a branch into the branch that is checked out. If one side deleted a file and the other edited it, git
// leaves the decision to a person, and merge keeps the file.
func merge(t *testing.T, dir, branch string) {
	t.Helper()
	out, err := tryGit(t, dir, "merge", "-q", "--no-edit", "-m", "merge", branch)
	if err == nil {
		return
	}
	stages := map[string]string{}
	for l := range strings.Lines(runGit(t, dir, "ls-files", "-u")) {
		head, file, _ := strings.Cut(strings.TrimSpace(l), "\t")
		stages[file] += strings.Fields(head)[2]
	}
	for file, at := range stages {
		switch at {
		case "12":
			runGit(t, dir, "checkout", "--ours", "--", file)
		case "13":
			runGit(t, dir, "checkout", "--theirs", "--", file)
		default:
			t.Fatalf("git left a conflict in %s (stages %s):\n%s", file, at, out)
		}
		runGit(t, dir, "add", "--", file)
	}
	if len(stages) == 0 {
		t.Fatalf("git merge %s: %v\n%s", branch, err, out)
	}
	runGit(t, dir, "commit", "-qm", "merge")
}

// The list orders contains the orders in which the branches of the clones c0, c1 and c2 are merged. An element such as
// "c1+c2" is a branch into which c1 and c2 were merged first.
var orders = [][]string{
	{"c0", "c1", "c2"},
	{"c0", "c2", "c1"},
	{"c1", "c0", "c2"},
	{"c1", "c2", "c0"},
	{"c2", "c0", "c1"},
	{"c2", "c1", "c0"},
	{"c0", "c1+c2"}, {"c1", "c0+c2"}, {"c2", "c0+c1"},
}

func TestClonesInAnyOrder(t *testing.T) {
	testenv.SkipInShortMode(t)
	for seed := range uint64(testenv.RepeatCount(1, 12)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := &writer{Rand: rand.New(rand.NewPCG(seed, 20))}
			h := w.history(12, testenv.RepeatCount(60, 200))
			dir := h.build(t)
			var first string
			for _, order := range orders {
				at := "m" + strings.Join(order, "-")
				runGit(t, dir, "checkout", "-qb", at, order[0])
				for _, b := range order[1:] {
					if x, y, both := strings.Cut(b, "+"); both {
						runGit(t, dir, "checkout", "-qb", at+"x", x)
						merge(t, dir, y)
						runGit(t, dir, "checkout", "-q", at)
						b = at + "x"
					}
					merge(t, dir, b)
				}
				tree := strings.TrimSpace(runGit(t, dir, "rev-parse", "HEAD^{tree}"))
				if first == "" {
					first = tree
					h.compare(t, dir)
				} else if tree != first {
					t.Errorf("the order %v gives another tree:\n%s", order, runGit(t, dir, "diff", first, tree))
				}
			}
		})
	}
}

// compare checks that the tree contains what the clones wrote, and that conflicts occur only where they changed the
// same lines.
func (h *history) compare(t *testing.T, dir string) {
	t.Helper()
	files, _, err := LintFiles(filepath.Join(dir, Dir))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]oxbow.Entry{}
	for _, f := range files {
		got[f.Name] = f.Entry
	}
	all := map[string][]*version{}
	for _, vs := range h.clones {
		for f, v := range vs {
			all[f] = append(all[f], v)
		}
	}
	edited, conflicts := 0, 0
	for f, vs := range all {
		base := h.base[f]
		gone := base != nil && slices.ContainsFunc(vs, func(v *version) bool { return v.deleted })
		vs = slices.DeleteFunc(vs, func(v *version) bool { return v.deleted || (gone && v.file() == base.file()) })
		e, there := got[f]
		if there != (len(vs) > 0) {
			t.Errorf("%s is there: %t, though %d clones have it", f, there, len(vs))
		}
		if there {
			edited++
			conflicts += compareEntry(t, f, base, vs, e)
		}
	}
	t.Logf("%d entries, %d with a conflict", edited, conflicts)
}

func compareEntry(t *testing.T, file string, base *version, vs []*version, e oxbow.Entry) (conflicts int) {
	t.Helper()
	want := map[string]bool{}
	names := map[string]bool{}
	statuses := map[string]bool{}
	labels := map[string]bool{}
	var changes [][]diff.LineChange
	for _, v := range vs {
		if base == nil || v.name != base.name {
			names[v.name] = true
		}
		if base == nil || v.status != base.status {
			statuses[v.status] = true
		}
		for _, l := range v.lines {
			if l.number < 0 && !strings.Contains("\n"+e.Content+"\n", "\n"+l.text+"\n") {
				t.Errorf("%s: the line %q is lost", file, l.text)
			}
		}
		for l := range v.labels {
			labels[l] = labels[l] || base == nil || !base.labels[l]
		}
		if base != nil {
			changes = append(changes, v.stretches(len(base.lines)))
		}
	}
	for n := range names {
		if e.Name != n && !slices.Contains(e.Aliases, n) {
			t.Errorf("%s: the name %q is lost", file, n)
		}
	}
	for l, added := range labels {
		all := !slices.ContainsFunc(vs, func(v *version) bool { return !v.labels[l] })
		if has := slices.Contains(e.Values("tag"), l); has != (added || all) {
			t.Errorf("%s: the label %s is there: %t, want %t", file, l, has, added || all)
		}
	}
	want["name"] = len(names) > 1
	want["status"] = len(statuses) > 1
	want["content"] = touch(changes)
	for part, w := range want {
		if has := slices.Contains(e.Values("conflict"), part); has != w {
			t.Errorf("%s: a conflict of its %s: %t, want %t\n%s", file, part, has, w, e.Content)
		}
		if w {
			conflicts = 1
		}
	}
	return conflicts
}

// touch reports whether two sides have different changes without an unchanged line between them.
func touch(sides [][]diff.LineChange) bool {
	for i, a := range sides {
		for _, b := range sides[i+1:] {
			for _, x := range a {
				for _, y := range b {
					if x.From <= y.To && y.From <= x.To && x.Compare(y) != 0 {
						return true
					}
				}
			}
		}
	}
	return false
}

// TestWithoutOxbow checks that git merges line by line if the merge driver's program is missing.
func TestWithoutOxbow(t *testing.T) {
	for _, c := range []struct {
		ours, theirs string
		want         string // what the linter must report about the merged file
	}{
		{"one, changed\ntwo\nthree\nfour\nfive", "one\ntwo\nthree\nfour\nfive, changed", ""},
		{"one\ntwo, so\nthree\nfour\nfive", "one\ntwo, or so\nthree\nfour\nfive", "conflict markers"},
	} {
		dir := t.TempDir()
		runGit(t, dir, "init", "-q", "-b", "ours")
		tree, err := FindOrNewTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Init(t.Context(), "no-such-program", false); err != nil {
			t.Fatal(err)
		}
		commit := func(content string) {
			put(t, dir, map[string]string{inDir(1): noteFile("a", content)})
			runGit(t, dir, "add", "-A")
			runGit(t, dir, "commit", "-qm", content)
		}
		commit("one\ntwo\nthree\nfour\nfive")
		runGit(t, dir, "checkout", "-qb", "theirs")
		commit(c.theirs)
		runGit(t, dir, "checkout", "-q", "ours")
		commit(c.ours)
		out, err := tryGit(t, dir, "merge", "-q", "--no-edit", "theirs")
		files, wrong, lerr := LintFiles(filepath.Join(dir, filepath.FromSlash(Dir)))
		if lerr != nil || (err != nil) != (c.want != "") || !strings.Contains(fmt.Sprint(wrong), c.want) ||
			(c.want == "" && len(files) != 1) {
			t.Errorf("git merge: %v %s; wrong are %v, %v, want %q", err, out, wrong, lerr, c.want)
		}
	}
}
