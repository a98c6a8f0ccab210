// This file reads the rules of Cursor: files .cursor/rules/NAME.mdc, which are Markdown with the keys
// description, globs and alwaysApply, and the older file .cursorrules.

package exchange

import (
	"bufio"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// globsFrontKey is the front matter key with which a rule lists the file patterns to which it applies.
const globsFrontKey = "globs"

// readCursorRules reads a file with a rule of the editor Cursor. It calls [ReadMarkdown], which puts the description
// above the text. The entry gets the label "tag" with the value "rule". It also gets a label with the key globsFrontKey
// for each file pattern to which the rule applies.
func readCursorRules(r *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for it, err := range ReadMarkdown(r, inputName, o) {
			if err == nil {
				labels := []oxbow.Label{{Key: oxbow.LabelTag, Value: "rule"}}
				for _, l := range it.Entry.Labels {
					if l.Key != globsFrontKey {
						labels = append(labels, l)
						continue
					}
					for _, glob := range splitGlobs(l.Value) {
						labels = append(labels, oxbow.Label{Key: globsFrontKey, Value: glob})
					}
				}
				it.Entry.Labels = oxbow.SortLabels(labels)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// splitGlobs splits file patterns at commas. A comma in braces is part of a pattern.
func splitGlobs(s string) (globs []string) {
	depth, from := 0, 0
	add := func(to int) {
		if glob := strings.TrimSpace(s[from:to]); glob != "" {
			globs = append(globs, glob)
		}
		from = to + 1
	}
	for i, r := range s {
		switch {
		case r == '{':
			depth++
		case r == '}':
			depth--
		case r == ',' && depth <= 0:
			add(i)
		}
	}
	add(len(s))
	return globs
}

// cursorRuleRoots returns the paths with rules in a project, such as .cursor/rules and .cursorrules. Without such
// paths, it returns the directory itself.
func cursorRuleRoots(fsys vfs.FS, dir string) []string {
	var roots []string
	for _, below := range []string{".cursor/rules", "rules", ".cursorrules"} {
		name := path.Join(dir, below)
		info, err := fsys.Stat(name)
		isCursors := below != "rules" || path.Base(dir) == ".cursor"
		if err == nil && isCursors {
			if info.IsDir() || info.Mode().IsRegular() {
				roots = append(roots, name)
			}
		}
	}
	if roots == nil {
		roots = []string{dir}
	}
	return roots
}

// hasCursorRuleFile reports whether a directory that contains these files is a directory with rules of the editor
// Cursor.
func hasCursorRuleFile(files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool { return path.Ext(name) == ".mdc" })
}

// checkCursorRuleFile returns nil if a file in a directory with Cursor's rules contains a rule, according to the
// extension of its name.
func checkCursorRuleFile(file string) error {
	if slices.Contains([]string{".mdc", ".md"}, strings.ToLower(path.Ext(file))) {
		return nil
	}
	return &skippedError{"was passed over: its name ends in none of .mdc and .md"}
}
