// This file finds edits that git or a later edit took back, and edits that the person corrected.

package inbox

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
)

// Keys of turns' labels. The values are files, as changedFiles names them.
const (
	LabelReverted  = "reverted"  // git or an edit of a later turn took the turn's edits back
	LabelCorrected = "corrected" // the prompt names the file and refuses the previous turn's work
)

// fileMark is a label for a turn and a file.
type fileMark struct {
	turnIndex int // index of the turn
	file      string
}

// editingTurns contains, by file, the indexes of the turns that changed it.
type editingTurns map[string][]int

// workingTree is the state of a working tree while commands are read.
type workingTree struct {
	uncommitted editingTurns // changed since the last commit
	committed   editingTurns // changed by the last commit
	stashed     editingTurns
	edits       []fileReplacement
	revertMarks []fileMark
}

// fileReplacement is an edit of a file, whose old and new texts are identified by hashes.
type fileReplacement struct {
	turnIndex                      int // index of the turn
	file, oldTextHash, newTextHash string
	fileHashBefore, fileHashAfter  string // hashes of the whole file ("" if not known)
}

// revertedFiles returns the files of turns whose edits were reverted, either by a later git command
// or by a later turn's edit that restored the replaced text. For git, only edits in the working
// tree count. git restore does not revert committed edits, and git stash pop restores stashed
// edits.
func revertedFiles(turns []session.Turn) []fileMark {
	t := workingTree{uncommitted: editingTurns{}, committed: editingTurns{}, stashed: editingTurns{}}
	for i := range turns {
		for _, e := range turns[i].CallEvents() {
			for _, f := range writtenFiles(e.Call, turns[i].Dir()) {
				if !slices.Contains(t.uncommitted[f], i) {
					t.uncommitted[f] = append(t.uncommitted[f], i)
				}
				t.applyEdit(
					fileReplacement{
						i,
						f,
						e.Call.OldTextHash,
						e.Call.NewTextHash,
						e.Call.FileHashBefore,
						e.Call.FileHashAfter,
					},
				)
			}
			if hasPassed(e.Call) && len(e.Call.Command) < session.MaxCommandBytes { // otherwise it was cut
				for _, args := range gitCommands(e.Call.Command) {
					t.applyGitCommand(args)
				}
			}
		}
	}
	slices.SortFunc(
		t.revertMarks,
		func(a, b fileMark) int { return cmp.Or(a.turnIndex-b.turnIndex, strings.Compare(a.file, b.file)) },
	)
	return slices.Compact(t.revertMarks)
}

// applyEdit marks the edits that this edit reverts. These are earlier turns' edits since the whole file
// last had its present content, or otherwise the last edit that is the opposite of this edit.
func (t *workingTree) applyEdit(r fileReplacement) {
	if t.markWholeFileRevert(r) {
		return
	}
	if r.oldTextHash != r.newTextHash { // the texts are known
		for i, e := range slices.Backward(t.edits) {
			isReverse := e.oldTextHash == r.newTextHash && e.newTextHash == r.oldTextHash
			if isReverse && e.file == r.file {
				t.edits = slices.Delete(t.edits, i, i+1)
				if e.turnIndex != r.turnIndex {
					t.revertMarks = append(t.revertMarks, fileMark{e.turnIndex, e.file})
				}
				return
			}
		}
	}
	t.edits = append(t.edits, r)
}

// markWholeFileRevert reports whether an edit restores an earlier content of the whole file. It forgets the
// edits since then, and marks those by earlier turns. An edit without effect reverts nothing.
func (t *workingTree) markWholeFileRevert(r fileReplacement) bool {
	if r.fileHashAfter == "" || r.fileHashBefore == r.fileHashAfter {
		return false
	}
	first := -1 // index of the first edit that is reverted
	for i, e := range slices.Backward(t.edits) {
		if e.file != r.file {
			continue
		}
		if e.fileHashAfter == r.fileHashAfter {
			break
		}
		before := e.fileHashBefore
		if before == "" {
			before = t.hashBefore(i)
		}
		if before == r.fileHashAfter {
			first = i
			break
		}
	}
	if first < 0 {
		return false
	}
	var rest []fileReplacement
	for i, e := range t.edits {
		if i < first || e.file != r.file {
			rest = append(rest, e)
		} else if e.turnIndex != r.turnIndex {
			t.revertMarks = append(t.revertMarks, fileMark{e.turnIndex, e.file})
		}
	}
	t.edits = rest
	return true
}

// hashBefore returns the hash of the whole file after its previous edit, or "" if unknown.
func (t *workingTree) hashBefore(edit int) string {
	for _, e := range slices.Backward(t.edits[:edit]) {
		if e.file == t.edits[edit].file {
			return e.fileHashAfter
		}
	}
	return ""
}

// gitCommands returns the arguments of each git command in a command line.
func gitCommands(line string) (all [][]string) {
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(";&|\n()", r) }) {
		words := strings.Fields(part)
		if len(words) < 2 || words[0] != "git" {
			continue
		}
		words = words[1:]
		for len(words) > 2 && words[0] == "-C" {
			words = words[2:]
		}
		all = append(all, words)
	}
	return all
}

// applyGitCommand applies a git command to the tree.
func (t *workingTree) applyGitCommand(args []string) {
	rest := args[1:]
	has := func(word string) bool { return slices.Contains(rest, word) }
	switch args[0] {
	case "commit":
		t.committed, t.uncommitted = t.uncommitted, editingTurns{}
	case "restore", "checkout":
		if !has("--staged") && !has("-b") {
			t.applyRestore(rest)
		}
	case "reset":
		if !has("--hard") {
			return
		}
		t.markReverted(t.uncommitted)
		t.uncommitted = editingTurns{}
		isBeforeHead := has("HEAD~1") || has("HEAD^") || has("HEAD~")
		if isBeforeHead {
			t.markReverted(t.committed)
			t.committed = editingTurns{}
		}
	case "revert":
		if has("HEAD") {
			t.markReverted(t.committed)
			t.committed = editingTurns{}
		}
	case "stash":
		t.applyStash(rest)
	}
}

// applyRestore reverts the uncommitted changes of files named by the arguments.
func (t *workingTree) applyRestore(args []string) {
	some := editingTurns{}
	for f, turns := range t.uncommitted {
		if slices.ContainsFunc(args, func(a string) bool {
			return a == "." || a == ":/" || matchesPath(strings.Trim(a, `"'`), f)
		}) {
			some[f] = turns
		}
	}
	t.markReverted(some)
	for f := range some {
		delete(t.uncommitted, f)
	}
}

// matchesPath reports whether an argument names a file or a directory that contains it, relative to
// the project's root or to a directory in the project.
func matchesPath(arg, file string) bool {
	arg = path.Clean(arg)
	return arg == file || strings.HasSuffix(file, "/"+arg) || strings.HasPrefix(file, arg+"/") ||
		strings.HasSuffix(arg, "/"+file)
}

func (t *workingTree) applyStash(args []string) {
	switch what := append(args, "push")[0]; {
	case what == "pop" || what == "apply":
		for f, turns := range t.stashed {
			t.uncommitted[f] = append(t.uncommitted[f], turns...)
		}
		t.stashed = editingTurns{}
	case what == "drop" || what == "clear":
		t.markReverted(t.stashed)
		t.stashed = editingTurns{}
	case what == "push" || what == "save" || strings.HasPrefix(what, "-"):
		t.stashed, t.uncommitted = t.uncommitted, editingTurns{}
	}
}

// markReverted marks the changes as reverted.
func (t *workingTree) markReverted(changes editingTurns) {
	for f, turns := range changes {
		for _, i := range turns {
			t.revertMarks = append(t.revertMarks, fileMark{i, f})
		}
	}
}

// correctedTurns returns the turns with a prompt that refuses the previous turn's work and names a file that it
// changed. It is unknown whether the edit was taken back.
func correctedTurns(turns []session.Turn) (found []fileMark) {
	for i := range turns {
		if i == 0 || extract.FindCorrection(turns[i].Prompt()) == "" {
			continue
		}
		for _, f := range changedFiles(&turns[i-1]) {
			if mentionsFile(turns[i].Prompt(), f) {
				found = append(found, fileMark{i, f})
			}
		}
	}
	return found
}

// mentionsFile reports whether a text contains the name or a path of a file as a word.
func mentionsFile(text, file string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	})
	return slices.ContainsFunc(words, func(w string) bool {
		w = strings.TrimRight(w, "./-")
		return w == path.Base(file) || (w != "" && matchesPath(w, file) && strings.Contains(w, "."))
	})
}
