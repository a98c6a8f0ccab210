// This file searches for the lines and blocks of an earlier commit in the files at a later commit. It uses oxbow's
// annotations, as a user would, and three simple methods for comparison.

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

// linePlacement is where a method found a line or block at the later commit: lineCount lines from the index firstLine
// on. If lineCount is 0, the method reported the lines as lost.
type linePlacement struct {
	firstLine, lineCount int
	isReportedEdited     bool // The method reported that the text of the lines was changed.

	confidence    float64 // how sure oxbow is of this position, from 0 to 1 (0 for other methods)
	placementRule string  // name of the rule by which oxbow found the lines ("" for other methods)
}

// placementMethod is a method that finds the lines and blocks of an earlier commit in a file at a later commit.
type placementMethod struct {
	methodName string
	// placeBlock searches in the text b for the lines of x. The lines of x come from the text a of the same file.
	// placeBlock is nil for oxbow, which finds all lines of a file at once.
	placeBlock func(a, b []string, x trackedBlock) linePlacement
}

// contextLineCount is the number of lines before a block, and after it, that the method placeByContextLines compares.
const contextLineCount = 3

var baselineMethods = []placementMethod{
	{"line number", placeByLineNumber},
	{"nearest equal text", placeByNearestEqualText},
	{"text with 3 + 3 lines of context", placeByContextLines},
}

func placeByLineNumber(_, laterLines []string, block trackedBlock) linePlacement {
	if block.firstLine+block.lineCount > len(laterLines) {
		return linePlacement{}
	}
	return linePlacement{firstLine: block.firstLine, lineCount: block.lineCount}
}

// findBlockText searches laterLines for the text of a block, which is a range of lines in earlierLines. It returns the
// index in laterLines of the first line of each occurrence.
func findBlockText(earlierLines, laterLines []string, block trackedBlock) []int {
	var at []int
	for i := 0; i+block.lineCount <= len(laterLines); i++ {
		if slices.Equal(
			earlierLines[block.firstLine:block.firstLine+block.lineCount],
			laterLines[i:i+block.lineCount],
		) {
			at = append(at, i)
		}
	}
	return at
}

func placeByNearestEqualText(earlierLines, laterLines []string, block trackedBlock) linePlacement {
	best := linePlacement{}
	for _, i := range findBlockText(earlierLines, laterLines, block) {
		if best.lineCount == 0 || abs(i-block.firstLine) < abs(best.firstLine-block.firstLine) {
			best = linePlacement{firstLine: i, lineCount: block.lineCount}
		}
	}
	return best
}

func placeByContextLines(earlierLines, laterLines []string, block trackedBlock) linePlacement {
	best, most := linePlacement{}, -1
	for _, i := range findBlockText(earlierLines, laterLines, block) {
		same := 0
		for k := 1; k <= contextLineCount; k++ {
			for _, s := range [][2]int{{block.firstLine - k, i - k}, {block.firstLine + block.lineCount - 1 + k, i + block.lineCount - 1 + k}} {
				isInA := s[0] >= 0 && s[0] < len(earlierLines)
				isInB := s[1] >= 0 && s[1] < len(laterLines)
				if !isInA || !isInB {
					continue
				}
				if earlierLines[s[0]] == laterLines[s[1]] {
					same++
				}
			}
		}
		isNearer := same == most && abs(i-block.firstLine) < abs(best.firstLine-block.firstLine)
		if isNearer || same > most {
			best, most = linePlacement{firstLine: i, lineCount: block.lineCount}, same
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// repoClone is a copy of a repository in which the runner checks out commits.
type repoClone struct{ dir string }

// newClone clones a repository and shares its objects.
func newClone(ctx context.Context, repo, dir string) (*repoClone, error) {
	if _, err := runGit(ctx, filepath.Dir(dir), "clone", "-q", "--shared", "--no-checkout", repo, dir); err != nil {
		return nil, err
	}
	return &repoClone{dir}, nil
}

func (c *repoClone) checkout(ctx context.Context, commit string) error {
	_, err := runGit(ctx, c.dir, "checkout", "-q", "-f", "--detach", commit)
	return err
}

// annotationDir is the directory for the annotations. No repository contains a directory with this name.
const annotationDir = ".drift/annotations"

// placeAnnotations annotates the anchors (lines or blocks) of all pairs at the earlier commit and checks out the later
// commit. There it determines twice where oxbow finds the annotated lines: first with git's history, and then without
// it. Before the search without git's history, it moves the sidecar files (files with annotations) of renamed files.
// All pairs must have the same two commits. withGit and withoutGit contain the found positions by pair and anchor.
func (c *repoClone) placeAnnotations(
	ctx context.Context,
	pairs []fileAtTwoCommits,
) (withGit, withoutGit [][]linePlacement, err error) {
	if err := c.checkout(ctx, pairs[0].earlierCommit); err != nil {
		return nil, nil, err
	}
	if err := os.RemoveAll(filepath.Join(c.dir, ".drift")); err != nil {
		return nil, nil, err
	}
	ids := map[string][2]int{} // for the ID of each annotation, the index in pairs and the index in the pair's anchors
	err = c.withAnnotations(ctx, true, func(b *annotate.Store) error {
		for i, p := range pairs {
			for k, x := range p.trackedBlocks {
				got, err := b.Add(
					ctx,
					annotate.Record{
						File: p.earlierPath,
						Span: annotate.LineSpan{First: x.firstLine + 1, Last: x.firstLine + x.lineCount},
						Why:  "anchor",
						ID:   fmt.Sprintf("p%da%d", i, k),
					},
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
	if err := c.checkout(ctx, pairs[0].laterCommit); err != nil {
		return nil, nil, err
	}
	for _, git := range []bool{true, false} {
		if !git {
			if err := c.renameAnnotationFiles(pairs); err != nil {
				return nil, nil, err
			}
		}
		spots := make([][]linePlacement, len(pairs))
		for i, p := range pairs {
			spots[i] = make([]linePlacement, len(p.trackedBlocks))
		}
		err := c.withAnnotations(ctx, git, func(b *annotate.Store) error {
			for i, p := range pairs {
				found, err := b.Lookup(ctx, p.laterPath, annotate.LineSpan{})
				if err != nil {
					return err
				}
				for _, f := range found {
					at, ok := ids[f.ID]
					isOfPair := ok && at[0] == i
					isInFile := f.Placement != annotate.NotPlaced && f.CurrentFile == p.laterPath
					if !isOfPair || !isInFile {
						continue
					}
					spots[i][at[1]] = linePlacement{firstLine: f.CurrentSpan.First - 1, lineCount: f.CurrentSpan.Len(),
						isReportedEdited: f.Placement == annotate.PlacedAfterEdit, confidence: f.Confidence, placementRule: f.Explanation}
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if git {
			withGit = spots
		} else {
			withoutGit = spots
		}
	}
	return withGit, withoutGit, nil
}

// renameAnnotationFiles renames annotation files, as a person does who renames a source file. If a source file has
// another path in the later commit (laterPath) than in the earlier commit (earlierPath), its annotation file gets the
// name for laterPath.
func (c *repoClone) renameAnnotationFiles(pairs []fileAtTwoCommits) error {
	sidecar := func(file string) string {
		return filepath.Join(c.dir, filepath.FromSlash(annotationDir+"/"+file+".why"))
	}
	// contents of the removed annotation files, by the laterPath of their source files
	kept := map[string][]byte{}
	for _, p := range pairs {
		if p.earlierPath == p.laterPath {
			continue
		}
		text, err := os.ReadFile(sidecar(p.earlierPath))
		if errors.Is(err, fs.ErrNotExist) {
			// No annotation file has this name. For example, the name was shortened because the path is too long.
			// Leave such a file where it is.
			continue
		}
		if err != nil {
			return err
		}
		kept[p.laterPath] = text
		if err := os.Remove(sidecar(p.earlierPath)); err != nil {
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

// withAnnotations opens the annotations of the clone and calls the function fn with them. If the argument usesGit is
// false, the annotations are opened as if the directory did not contain a git repository.
func (c *repoClone) withAnnotations(ctx context.Context, usesGit bool, fn func(*annotate.Store) error) (err error) {
	o := &annotate.Options{Dir: annotationDir}
	if usesGit {
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

// fileLines returns the lines that a file in the clone has at a commit.
func (c *repoClone) fileLines(ctx context.Context, commit, file string) ([]string, error) {
	t, err := runGit(ctx, c.dir, "cat-file", "blob", commit+":"+file)
	if err != nil {
		return nil, err
	}
	return splitLines(t), nil
}

// minPlacementConfidence is the confidence below which edited lines do not count as found.
const minPlacementConfidence = .5

// placementTally counts the results of one method to find annotated lines again. It counts either single lines or
// blocks.
type placementTally struct {
	// Numbers of lines and blocks whose text did not change and, for blocks, whose lines are still adjacent. The first
	// field is the total. The remaining fields are the numbers that were found at the right position, at a wrong
	// position, and not at all.
	unchangedTotal, unchangedAtRightLine, unchangedAtWrongLine, unchangedNotFound int

	// Numbers of lines that were reworded, and of blocks in which a line was reworded or at least half of the lines
	// remain. The first field is the total. The remaining fields are the numbers that were found at the right position,
	// at a wrong position, and not at all.
	changedTotal, changedAtRightLine, changedAtWrongLine, changedNotFound int

	// Numbers of lines and blocks of which no line remains. The first field is the total. The others are the numbers
	// that the method reported as lost, as changed, and as found.
	deletedTotal, deletedReportedLost, deletedReportedEdited, deletedReportedFound int

	mostlyDeletedBlocks int // number of blocks in which fewer than half of the lines remain
}

// addResult adds the result of one search for an annotated line or block to the counts in t. The argument x contains
// the true later positions of the lines. The argument s is the position that the tested method found. addResult
// compares both positions, and increments the counts for blocks that are unchanged, changed, deleted or mostly deleted.
func (t *placementTally) addResult(x trackedBlock, s linePlacement) {
	kept := 0
	first := -1
	last := -1
	whole := true
	for i, f := range x.laterPositions {
		if f.lineIndex < 0 {
			whole = false
			continue
		}
		kept++
		if first < 0 {
			first = f.lineIndex
		}
		isApart := i > 0 && x.laterPositions[i-1].lineIndex != f.lineIndex-1
		if f.isTextReworded || isApart {
			whole = false
		}
		last = max(last, f.lineIndex)
		first = min(first, f.lineIndex)
	}
	switch {
	case whole:
		t.unchangedTotal++
		switch {
		case s.lineCount == 0:
			t.unchangedNotFound++
		case s.firstLine == first && s.lineCount == x.lineCount:
			t.unchangedAtRightLine++
		default:
			t.unchangedAtWrongLine++
		}
	case kept == 0:
		t.deletedTotal++
		switch {
		case s.lineCount == 0, s.isReportedEdited && s.confidence < minPlacementConfidence:
			t.deletedReportedLost++
		case s.isReportedEdited:
			t.deletedReportedEdited++
		default:
			t.deletedReportedFound++
		}
	case 2*kept >= x.lineCount:
		t.changedTotal++
		// Compare the found range of lines with the true range. The found range is right if the lines that both ranges
		// contain are at least half of all lines from the first line of either range to the last line of either range.
		lo, hi := max(first, s.firstLine), min(last, s.firstLine+s.lineCount-1)
		all := max(last, s.firstLine+s.lineCount-1) - min(first, s.firstLine) + 1
		switch {
		case s.lineCount == 0:
			t.changedNotFound++
		case hi >= lo && 2*(hi-lo+1) >= all:
			t.changedAtRightLine++
		default:
			t.changedAtWrongLine++
		}
	default:
		t.mostlyDeletedBlocks++
	}
}

// isSameLine reports whether lines[i] equals text, apart from a carriage return at the end. It returns false if i is
// not the index of a line. text comes from a data file about a repository. If it differs from the line, the data file
// does not fit this repository.
func isSameLine(lines []string, i int, text string) bool {
	return i >= 0 && i < len(lines) && strings.TrimSuffix(lines[i], "\r") == strings.TrimSuffix(text, "\r")
}
