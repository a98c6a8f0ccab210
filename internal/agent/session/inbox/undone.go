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

// mark is a label for a turn and a file.
type mark struct {
	turn int // index of the turn
	file string
}

// editingTurns contains, by file, the indexes of the turns that changed it.
type editingTurns map[string][]int

// tree is the state of a working tree while commands are read.
type tree struct {
	changed   editingTurns // changed since the last commit
	committed editingTurns // changed by the last commit
	stashed   editingTurns
	edits     []replacement
	found     []mark
}

// replacement is an edit of a file, whose old and new texts are identified by hashes.
type replacement struct {
	turn              int // index of the turn
	file, was, became string
	before, after     string // hashes of the whole file ("" if not known)
}

// revertedFiles returns the files of turns whose edits were reverted, either by a later git command
// or by a later turn's edit that restored the replaced text. For git, only edits in the working
// tree count. git restore does not revert committed edits, and git stash pop restores stashed
// edits.
func revertedFiles(turns []session.Turn) []mark {
	t := tree{changed: editingTurns{}, committed: editingTurns{}, stashed: editingTurns{}}
	for i := range turns {
		for _, e := range turns[i].CallEvents() {
			for _, f := range wroteBy(e.Call, turns[i].Dir()) {
				if !slices.Contains(t.changed[f], i) {
					t.changed[f] = append(t.changed[f], i)
				}
				t.edit(replacement{i, f, e.Call.Was, e.Call.Became, e.Call.Before, e.Call.After})
			}
			if hasPassed(e.Call) && len(e.Call.Command) < session.MaxCommand { // otherwise it was cut
				for _, args := range gitCommands(e.Call.Command) {
					t.run(args)
				}
			}
		}
	}
	slices.SortFunc(t.found, func(a, b mark) int { return cmp.Or(a.turn-b.turn, strings.Compare(a.file, b.file)) })
	return slices.Compact(t.found)
}

// edit marks the edits that this edit reverts. These are earlier turns' edits since the whole file
// last had its present content, or otherwise the last edit that is the opposite of this edit.
func (t *tree) edit(r replacement) {
	if t.restoreFile(r) {
		return
	}
	if r.was != r.became { // the texts are known
		for i, e := range slices.Backward(t.edits) {
			isReverse := e.was == r.became && e.became == r.was
			if isReverse && e.file == r.file {
				t.edits = slices.Delete(t.edits, i, i+1)
				if e.turn != r.turn {
					t.found = append(t.found, mark{e.turn, e.file})
				}
				return
			}
		}
	}
	t.edits = append(t.edits, r)
}

// restoreFile reports whether an edit restores an earlier content of the whole file. It forgets the
// edits since then, and marks those by earlier turns. An edit without effect reverts nothing.
func (t *tree) restoreFile(r replacement) bool {
	if r.after == "" || r.before == r.after {
		return false
	}
	first := -1 // index of the first edit that is reverted
	for i, e := range slices.Backward(t.edits) {
		if e.file != r.file {
			continue
		}
		if e.after == r.after {
			break
		}
		before := e.before
		if before == "" {
			before = t.fileBefore(i)
		}
		if before == r.after {
			first = i
			break
		}
	}
	if first < 0 {
		return false
	}
	var rest []replacement
	for i, e := range t.edits {
		if i < first || e.file != r.file {
			rest = append(rest, e)
		} else if e.turn != r.turn {
			t.found = append(t.found, mark{e.turn, e.file})
		}
	}
	t.edits = rest
	return true
}

// fileBefore returns the hash of the whole file after its previous edit, or "" if unknown.
func (t *tree) fileBefore(edit int) string {
	for _, e := range slices.Backward(t.edits[:edit]) {
		if e.file == t.edits[edit].file {
			return e.after
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

// run applies a git command to the tree.
func (t *tree) run(args []string) {
	rest := args[1:]
	has := func(word string) bool { return slices.Contains(rest, word) }
	switch args[0] {
	case "commit":
		t.committed, t.changed = t.changed, editingTurns{}
	case "restore", "checkout":
		if !has("--staged") && !has("-b") {
			t.restore(rest)
		}
	case "reset":
		if !has("--hard") {
			return
		}
		t.take(t.changed)
		t.changed = editingTurns{}
		isBeforeHead := has("HEAD~1") || has("HEAD^") || has("HEAD~")
		if isBeforeHead {
			t.take(t.committed)
			t.committed = editingTurns{}
		}
	case "revert":
		if has("HEAD") {
			t.take(t.committed)
			t.committed = editingTurns{}
		}
	case "stash":
		t.stash(rest)
	}
}

// restore reverts the uncommitted changes of files named by the arguments.
func (t *tree) restore(args []string) {
	some := editingTurns{}
	for f, turns := range t.changed {
		if slices.ContainsFunc(args, func(a string) bool {
			return a == "." || a == ":/" || isPath(strings.Trim(a, `"'`), f)
		}) {
			some[f] = turns
		}
	}
	t.take(some)
	for f := range some {
		delete(t.changed, f)
	}
}

// isPath reports whether an argument names a file or a directory that contains it, relative to
// the project's root or to a directory in the project.
func isPath(arg, file string) bool {
	arg = path.Clean(arg)
	return arg == file || strings.HasSuffix(file, "/"+arg) || strings.HasPrefix(file, arg+"/") ||
		strings.HasSuffix(arg, "/"+file)
}

func (t *tree) stash(args []string) {
	switch what := append(args, "push")[0]; {
	case what == "pop" || what == "apply":
		for f, turns := range t.stashed {
			t.changed[f] = append(t.changed[f], turns...)
		}
		t.stashed = editingTurns{}
	case what == "drop" || what == "clear":
		t.take(t.stashed)
		t.stashed = editingTurns{}
	case what == "push" || what == "save" || strings.HasPrefix(what, "-"):
		t.stashed, t.changed = t.changed, editingTurns{}
	}
}

// take marks the changes as reverted.
func (t *tree) take(changes editingTurns) {
	for f, turns := range changes {
		for _, i := range turns {
			t.found = append(t.found, mark{i, f})
		}
	}
}

// correctedTurns returns the turns with a prompt that refuses the previous turn's work and names a file that it
// changed. It is unknown whether the edit was taken back.
func correctedTurns(turns []session.Turn) (found []mark) {
	for i := range turns {
		if i == 0 || extract.FindCorrection(turns[i].Prompt()) == "" {
			continue
		}
		for _, f := range changedFiles(&turns[i-1]) {
			if namesFile(turns[i].Prompt(), f) {
				found = append(found, mark{i, f})
			}
		}
	}
	return found
}

// namesFile reports whether a text contains the name or a path of a file as a word.
func namesFile(text, file string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	})
	return slices.ContainsFunc(words, func(w string) bool {
		w = strings.TrimRight(w, "./-")
		return w == path.Base(file) || (w != "" && isPath(w, file) && strings.Contains(w, "."))
	})
}
