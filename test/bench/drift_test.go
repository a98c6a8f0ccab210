// This file tests how the benchmark finds the position of lines in later versions of a file. The tests use git
// histories whose correct positions are known. The file also tests how the benchmark counts its scores.

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// historyOf creates a repository with one commit for each state of its files. A file that is missing in
// a state is deleted.
func historyOf(t *testing.T, states ...map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there; apt install git")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		if _, err := runGit(
			t.Context(),
			dir,
			append(
				[]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"},
				args...,
			)...,
		); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	for i, s := range states {
		old, err := filepath.Glob(filepath.Join(dir, "[a-z]*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range old {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range s {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "--allow-empty", "-m", fmt.Sprint("state ", i))
	}
	return dir
}

func numberedLines(n int) []string {
	var ls []string
	for i := range n {
		ls = append(ls, fmt.Sprintf("line %d of the file, with words enough to tell it apart", i))
	}
	return ls
}

func TestFollow(t *testing.T) {
	a := numberedLines(30)
	text := func(ls ...[]string) string {
		var all []string
		for _, l := range ls {
			all = append(all, l...)
		}
		return strings.Join(all, "\n") + "\n"
	}
	reworded := "line 3 of the file, with words good enough to tell it apart"
	// Two lines are inserted at the beginning; then lines 10 and 11 are deleted and line 3 is reworded;
	// then the file is renamed and lines 20 to 24 move to its end.
	b := text([]string{"new", "newer"}, a)
	c := text([]string{"new", "newer"}, a[:3], []string{reworded}, a[4:10], a[12:])
	d := text(
		[]string{"new", "newer"},
		a[:3],
		[]string{reworded},
		a[4:10],
		a[12:20],
		a[25:],
		[]string{"", "new end"},
		a[20:25],
	)
	dir := historyOf(
		t,
		map[string]string{"f": text(a)},
		map[string]string{"f": b},
		map[string]string{"f": c},
		map[string]string{"f": c, "other": "x\n"},
		map[string]string{"g": d},
	)
	h, err := readHistory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.commits) != 5 {
		t.Fatalf("there are %d commits", len(h.commits))
	}
	got, name := h.followFileLines("f", 30, 0, 4)
	var want []laterLinePosition
	for i := range 30 {
		switch {
		case i == 3:
			want = append(want, laterLinePosition{5, true})
		case i < 10:
			want = append(want, laterLinePosition{i + 2, false})
		case i < 12:
			want = append(want, laterLinePosition{-1, false})
		case i < 20:
			want = append(want, laterLinePosition{i, false})
		case i < 25:
			want = append(want, laterLinePosition{i + 7, false})
		default:
			want = append(want, laterLinePosition{i - 5, false})
		}
	}
	if name != "g" || !reflect.DeepEqual(got, want) {
		t.Errorf("follow = %v, %q, want %v, g", got, name, want)
	}
	if got, name := h.followFileLines("f", 30, 0, 2); name != "f" || got[29].lineIndex != 29 ||
		got[11].lineIndex != -1 {
		t.Errorf("follow to the third = %v, %q", got, name)
	}
	if err := h.markDissimilarLinesGone(t.Context(), a, want, h.commits[4], "g"); err != nil {
		t.Errorf("the truth does not hold: %v", err)
	}
	if err := h.markDissimilarLinesGone(t.Context(), a, []laterLinePosition{{lineIndex: 1}}, h.commits[4], "g"); err == nil {
		t.Error("a truth that is wrong passes")
	}

	put := make([]laterLinePosition, 30)
	for k := range put {
		put[k].lineIndex = -1
	}
	if err := h.markDissimilarLinesGone(t.Context(), a, put, h.commits[0], "f"); err != nil ||
		put[29] != (laterLinePosition{lineIndex: 29}) {
		t.Errorf("a file that was put back: %v, %v", put, err)
	}

	var out bytes.Buffer
	args := []string{"drift", "--repo", "tiny=" +
		dir, "--gaps", "1,4", "--pairs", "2", "--files", "1", "--dir", t.TempDir()}
	if err := runCommand(t.Context(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| tiny | 5 | 4 | ", "tiny, lines: ", "tiny, blocks: ",
		"tiny, blocks of renamed files: ", "| oxbow, with git | 1.0000 | 0.0000 | 0.0000 |"} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " ")+" ", want) {
			t.Errorf("the report has no %q:\n%s", want, &out)
		}
	}

	// With --strict, reworded lines are counted as gone, so no line is counted as changed.
	out.Reset()
	if err := runCommand(t.Context(), append(args, "--strict", "--gaps", "4", "--lines", "30"), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "tiny, lines: 27 stand, 0 changed, 3 gone") {
		t.Errorf("--strict does not count the reworded line as gone:\n%s", &out)
	}

	// Compare the same lines with published data, which consist of JSON rows.
	data := t.TempDir()
	var rows bytes.Buffer
	z := gzip.NewWriter(&rows)
	for i, f := range want {
		truth := "null"
		if f.lineIndex >= 0 && !f.isTextReworded {
			truth = fmt.Sprint(f.lineIndex + 1)
		}
		fmt.Fprintf(z, `{"repo":"tiny","A":%q,"B":%q,"fa":"f","fb":"g","line":%d,"text":%q,"truth":%s}`+
			"\n", h.commits[0], h.commits[4], i+1, a[i], truth)
	}
	fmt.Fprintf(z, `{"A":"%040d","B":%q,"fa":"f","fb":"g","line":1,"text":"x","truth":null}`+"\n", 1, h.commits[4])
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "tiny.jsonl.gz"), rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := runCommand(t.Context(), []string{"drift", "--data", data, "--repo", "tiny=" +
		dir, "--dir", t.TempDir()}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tiny: 1 lines are left out", "tiny, lines: 27 stand, 0 changed, 3 gone"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, &out)
		}
	}
}

func TestReworded(t *testing.T) {
	for _, c := range []struct {
		name     string
		out, put []string
		moved    map[int]int
		want     map[int]int
	}{
		{"indents only", []string{"if ready {", "}", "return ready, nil"},
			[]string{"\tif ready {", "\t}", "\treturn ready, nil"}, nil, map[int]int{10: 20, 12: 22}},
		{"of two that are the same, the first and the second", []string{"call(one)", "call(one)"},
			[]string{"call(one, x)", "call(one, x)"}, nil, map[int]int{10: 20, 11: 21}},
		{"each is its own", []string{"cap: int(n.vsize)", "len: int(n.vsize)"}, []string{"len: int(n.vsize())"}, nil,
			map[int]int{11: 20}},
		{"not across another", []string{"alpha beta gamma", "delta epsilon zeta"},
			[]string{"delta epsilon zeta!", "alpha beta gamma!"}, nil, map[int]int{11: 20}},
		{"one that was moved is not", []string{"alpha beta gamma"}, []string{"alpha beta gamma!"},
			map[int]int{10: 90}, map[int]int{}},
		{"nor what came from elsewhere", []string{"alpha beta gamma"}, []string{"alpha beta gamma!"},
			map[int]int{50: 20}, map[int]int{}},
		{"another line", []string{"alpha beta gamma"}, []string{"nothing of the kind"}, nil, map[int]int{}},
	} {
		if got := findRewordedLines(
			[]diffHunk{{oldStart: 10, newStart: 20, deleted: c.out, added: c.put}},
			c.moved,
			nil,
		); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRespaced tests that followFileLines finds the new positions of lines that a commit has indented. It must find
// them even if git's diff matches the blank line after them in the old file with the blank line before them in the new
// file.
func TestRespaced(t *testing.T) {
	dir := historyOf(t, map[string]string{"f": "head\nfirst of the lines\nsecond of the lines\n\nend\n"},
		map[string]string{"f": "head\nfunc of(new any) {\n\n\tfirst of the lines\n\tsecond of the lines\nend\n"})
	h, err := readHistory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := h.followFileLines("f", 5, 0, 1)
	if want := []laterLinePosition{{lineIndex: 0}, {3, true}, {4, true}, {lineIndex: 2}, {lineIndex: 5}}; !reflect.DeepEqual(
		got,
		want,
	) {
		t.Errorf("follow = %v, want %v", got, want)
	}
}

func TestTally(t *testing.T) {
	at := func(to ...int) trackedBlock {
		x := trackedBlock{lineCount: len(to)}
		for _, i := range to {
			x.laterPositions = append(x.laterPositions, laterLinePosition{lineIndex: i})
		}
		return x
	}
	var got placementTally
	for _, c := range []struct {
		x trackedBlock
		s linePlacement
	}{
		{at(5), linePlacement{firstLine: 5, lineCount: 1}}, // right
		{at(5), linePlacement{firstLine: 6, lineCount: 1}}, // wrong
		{at(5), linePlacement{}},                           // missed
		{at(-1), linePlacement{}},                          // lost
		// Edited.
		{at(-1), linePlacement{firstLine: 1, lineCount: 1, isReportedEdited: true, confidence: minPlacementConfidence}},
		// The block is gone, and it was placed with low confidence. It counts as reported lost.
		{at(-1), linePlacement{firstLine: 1, lineCount: 1, isReportedEdited: true, confidence: .4}},
		// The block is gone, but it was reported as found without an edit.
		{at(-1), linePlacement{firstLine: 1, lineCount: 1}},
		// Right.
		{at(5, 6, 7), linePlacement{firstLine: 5, lineCount: 3}},
		// Changed, right.
		{at(5, -1, 7), linePlacement{firstLine: 5, lineCount: 3, isReportedEdited: true}},
		// Changed, wrong.
		{at(5, 9, 7), linePlacement{firstLine: 20, lineCount: 3}},
		// Changed, missed.
		{at(5, -1, 7), linePlacement{}},
		// Not counted.
		{at(5, -1, -1), linePlacement{}},
		// Reworded, right.
		{trackedBlock{lineCount: 1, laterPositions: []laterLinePosition{{7, true}}}, linePlacement{firstLine: 7, lineCount: 1, isReportedEdited: true}},
	} {
		got.addResult(c.x, c.s)
	}
	want := placementTally{
		unchangedTotal:        4,
		unchangedAtRightLine:  2,
		unchangedAtWrongLine:  1,
		unchangedNotFound:     1,
		changedTotal:          4,
		changedAtRightLine:    2,
		changedAtWrongLine:    1,
		changedNotFound:       1,
		deletedTotal:          4,
		deletedReportedLost:   2,
		deletedReportedEdited: 1,
		deletedReportedFound:  1,
		mostlyDeletedBlocks:   1,
	}
	if got != want {
		t.Errorf("tally = %+v, want %+v", got, want)
	}
}

// TestMergedHistory tests createMergeHistory, which rewrites a history with merge commits. The new history must contain
// merges, and its last commit must contain the same number of lines as before.
func TestMergedHistory(t *testing.T) {
	a := strings.Join(numberedLines(30), "\n") + "\n"
	dir := historyOf(
		t,
		map[string]string{"f": a},
		map[string]string{"f": "new\n" + a},
		map[string]string{"g": "new\n" +
			a},
		map[string]string{"g": "newer\nnew\n" + a},
	)
	c, err := newClone(t.Context(), dir, filepath.Join(t.TempDir(), "clone"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.createMergeHistory(t.Context()); err != nil {
		t.Fatal(err)
	}
	merges, err := runGit(t.Context(), c.dir, "rev-list", "--count", "--merges", "HEAD")
	if err != nil || strings.TrimSpace(string(merges)) == "0" {
		t.Errorf("the history has %s merges, %v", merges, err)
	}
	if text, err := c.fileLines(t.Context(), "HEAD", "g"); err != nil || len(text) != 32 {
		t.Errorf("HEAD has g with %d lines, %v, want 32", len(text), err)
	}
}
