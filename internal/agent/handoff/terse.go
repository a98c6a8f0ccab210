// This file shortens the paths and commands in a session's record, so that a record with a limited size contains more
// paths and commands.

package handoff

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// formatFileLines returns the lines for the changed files in two forms. In the first form, each file has a line. In
// the second form, each line lists the files of a directory, and short names replace frequent words.
func formatFileLines(
	r *sessionRecord,
	changesByFile map[string]lineChanges,
	shortenedNames []shortenedName,
) [][]string {
	withStat := func(file, name string) string {
		if s, ok := changesByFile[file]; ok {
			return fmt.Sprintf("%s +%d-%d", name, s.Added, s.Deleted)
		}
		return name
	}
	var whole []string
	byDir := map[string][]string{}
	var dirs []string
	for _, f := range r.changedFiles {
		whole = append(whole, withStat(f, f))
		d, name := path.Split(f)
		if byDir[d] == nil {
			dirs = append(dirs, d)
		}
		byDir[d] = append(byDir[d], withStat(f, replaceLongWords(name, shortenedNames)))
	}
	var grouped []string
	for _, d := range dirs {
		grouped = append(grouped, replaceLongWords(d, shortenedNames)+" "+strings.Join(byDir[d], " "))
		if d == "" {
			grouped[len(grouped)-1] = strings.Join(byDir[d], " ")
		}
	}
	return [][]string{whole, grouped}
}

// mergedCommandLine is a line in a handoff that represents one shell command or several similar shell commands of the
// session.
type mergedCommandLine struct {
	words               []string
	commandCount        int  // number of commands in this line
	changesOrTestsFiles bool // At least one of the line's commands changed or tested something.
}

func (m *mergedCommandLine) formatLine() string { return strings.Join(m.words, " ") }

// commandsPerToken returns how many commands the line stands for, divided by the line's size in tokens. The result is
// twice as large for a line with a command that changed or tested something.
func (m *mergedCommandLine) commandsPerToken() float64 {
	n := float64(m.commandCount)
	if m.changesOrTestsFiles {
		n *= 2
	}
	return n / float64(2+text.EstimateTokens(m.formatLine()))
}

// formatCommandLines returns the commands in r.passedCommands, which are the commands of the session that did not fail.
// unmergedLines contains the commands as they were typed. mergedLines contains the commands in a short form. In this
// form, each long word in shortenedNames is replaced by its short name, such as $A, and similar commands are merged.
func formatCommandLines(
	r *sessionRecord,
	shortenedNames []shortenedName,
) (unmergedLines []string, mergedLines []mergedCommandLine) {
	for _, c := range r.passedCommands {
		unmergedLines = append(unmergedLines, c.line)
		words := strings.Split(replaceLongWords(shortenCommand(c.line, r.sessionDir), shortenedNames), " ")
		mergedLines = append(mergedLines, mergedCommandLine{words, 1, !c.isPrintOnly})
	}
	return unmergedLines, mergeSimilarCommands(mergedLines)
}

// shortenCommand shortens a command line. It removes parts that do not change the command's effect, and the line
// numbers in commands that print a part of a file.
func shortenCommand(line, dir string) string {
	return printLinesCommandPattern().ReplaceAllString(removeQuotes(extract.NormalizeCommand(line, dir)), "$1$3 $2$4")
}

// printLinesCommandPattern matches a command, such as sed -n or head, that prints some lines of a file. shortenCommand
// uses it to remove the line numbers.
var printLinesCommandPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\b(sed -n) ["']?[0-9]+(?:,[0-9$]+)?p["']? ([^ ])|\b(head|tail) (?:-n ?)?-?[0-9]+ ([^ |])`,
	)
})

// maxShortenedWords is the maximum number of long words for which a record uses a short name, such as $A.
const maxShortenedWords = 26

// chooseWordsToShorten chooses directories and other words that are replaced by short names, because they occur so
// often in files and commands that this saves space. The longest words come first.
func chooseWordsToShorten(r *sessionRecord) (shortenedNames []shortenedName) {
	count := map[string]int{}
	for _, f := range r.changedFiles {
		// Count a directory only once, because the list of files names each directory only once.
		count[path.Dir(f)] = 1
	}
	for _, f := range r.changedFiles {
		word, _, _ := strings.Cut(path.Base(f), ".")
		count[word]++
	}
	seen := map[string]bool{}
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, c := range r.passedCommands {
		letters = strings.Map(func(l rune) rune {
			if strings.Contains(c.line, "$"+string(l)) { // Do not use a letter that is a shell variable in a command.
				return -1
			}
			return l
		}, letters)
		short := shortenCommand(c.line, r.sessionDir)
		words := strings.FieldsFunc(short, func(r rune) bool { return !strings.ContainsRune(pathChars, r) })
		words = append(words, strings.FieldsFunc(short, func(r rune) bool {
			return !strings.ContainsRune(wordChars, r)
		})...)
		for _, w := range words {
			w = strings.TrimSuffix(strings.TrimPrefix(w, "./"), "/...")
			if path.Ext(w) != "" {
				w = path.Dir(w)
			}
			w = strings.Trim(w, "/")
			if w == "" || w[0] == '-' {
				continue
			}
			if key := c.line + "\x00" + w; !seen[key] {
				seen[key] = true
				count[w]++
			}
		}
	}
	gain := func(d string) int { return (text.EstimateTokens(d)-2)*(3*count[d]/4) - text.EstimateTokens(d) - 3 }
	for _, d := range slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(gain(b), gain(a)), strings.Compare(a, b))
	}) {
		if gain(d) <= 0 || len(shortenedNames) == min(maxShortenedWords, len(letters)) {
			break
		}
		// Skip this word, because a reader could not tell where it ends in a list such as $A=word $B=word.
		if strings.ContainsAny(d, " =$") {
			continue
		}
		shortenedNames = append(
			shortenedNames,
			shortenedName{d, "$" + letters[len(shortenedNames):len(shortenedNames)+1]},
		)
	}
	slices.SortStableFunc(
		shortenedNames,
		func(a, b shortenedName) int { return cmp.Compare(len(b.longWord), len(a.longWord)) },
	)
	return shortenedNames
}

// wordChars are the characters of a word. pathChars are the characters of a path. A long word or path in a line is
// replaced by a short name, such as $A, only if it is not a part of a longer word or path. Therefore the character
// before it and the character after it must not be in wordChars (for a word) or pathChars (for a text with a slash).
const (
	wordChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	pathChars = wordChars + "-./@+"
)

// replaceLongWords replaces each longWord in a line by its shortName, such as $A. Each element of shortenedWords
// contains such a pair. A long word is replaced only if it is a whole word or path in the line, or the beginning of a
// path.
func replaceLongWords(line string, shortenedWords []shortenedName) string {
	for _, n := range shortenedWords {
		signs := wordChars
		if strings.Contains(n.longWord, "/") {
			signs = pathChars
		}
		isPath := func(s string, i int) bool { return i >= 0 && i < len(s) && strings.IndexByte(signs, s[i]) >= 0 }
		for at := 0; ; {
			i := strings.Index(line[at:], n.longWord)
			if i < 0 {
				break
			}
			i += at
			end := i + len(n.longWord)
			begins := !isPath(line, i-1) || (strings.HasSuffix(line[:i], "./") && !isPath(line, i-3))
			ends := !isPath(line, end) || line[end] == '/'
			at = end
			if begins && ends {
				line = line[:i] + n.shortName + line[end:]
				at = i + len(n.shortName)
			}
		}
	}
	return line
}

// shortNameDefinitions returns a line that explains the short names to the reader, such as "$A=internal/cli
// $B=session".
func shortNameDefinitions(names []shortenedName) string {
	var all []string
	for _, n := range names {
		all = append(all, n.shortName+"="+n.longWord)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

var (
	quotedPattern   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"?|'[^']*'?`) })
	plainArgPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^["'][\w./:^$@%+=-]+["']$`) })
)

// maxQuotedArgBytes is the maximum length, in bytes, of a quoted argument that is kept whole. Longer arguments,
// which are mostly messages or scripts, are cut.
const maxQuotedArgBytes = 28

// removeQuotes removes unnecessary quotes from a command line, and shortens long quoted arguments and here documents.
func removeQuotes(line string) string {
	line = quotedPattern().ReplaceAllStringFunc(line, func(q string) string {
		switch {
		case plainArgPattern().MatchString(q):
			return q[1 : len(q)-1]
		case len(q) > maxQuotedArgBytes:
			return q[:1] + strings.TrimSpace(text.TruncateBytes(q[1:], 12)) + ".." + q[:1]
		}
		return q
	})
	if i := strings.Index(line, "<<"); i > 0 {
		line = line[:i] + "<<.."
	}
	return line
}

// mergeSimilarCommands merges lines with similar commands, in three steps:
//
//   - Equal commands become one line at the place of the first.
//   - Commands that differ in a single word become one line with the words in braces, as a shell would expand them. For
//     example, "go test ./a" and "go test ./b" become "go test ./{a,b}".
//   - Lines that then differ only in numbers become one line, which tells how many lines it replaces.
func mergeSimilarCommands(lines []mergedCommandLine) []mergedCommandLine {
	all := mergeCommandsByKey(lines, (*mergedCommandLine).formatLine)
	for {
		same := findLargestSimilarCommandSet(all)
		if same == nil {
			break
		}
		all = mergeSimilarCommandSet(all, same)
	}
	numbered := mergeCommandsByKey(
		all,
		func(m *mergedCommandLine) string { return digitsPattern().ReplaceAllString(m.formatLine(), "0") },
	)
	for i := range numbered {
		m := &numbered[i]
		j := slices.IndexFunc(all, func(o mergedCommandLine) bool { return slices.Equal(o.words, m.words) })
		if more := m.commandCount - all[j].commandCount; more > 0 {
			m.words = append(slices.Clip(m.words), fmt.Sprintf("(and %d with other numbers)", more))
		}
	}
	return numbered
}

var digitsPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// mergeCommandsByKey merges the lines with the same key into the first such line, and adds up their counts.
func mergeCommandsByKey(lines []mergedCommandLine, key func(*mergedCommandLine) string) (all []mergedCommandLine) {
	at := map[string]int{}
	for _, m := range lines {
		k := key(&m)
		if i, ok := at[k]; ok {
			all[i].commandCount += m.commandCount
			all[i].changesOrTestsFiles = all[i].changesOrTestsFiles || m.changesOrTestsFiles
			continue
		}
		at[k] = len(all)
		all = append(all, m)
	}
	return all
}

// similarCommandSet is a set of commands that differ only in the word at differingWordIndex. commandIndexes contains
// the commands' indexes.
type similarCommandSet struct {
	differingWordIndex int
	commandIndexes     []int
}

// findLargestSimilarCommandSet returns the largest set of commands that are equal except for one word at the same
// position. It returns nil if no two commands are so similar.
func findLargestSimilarCommandSet(all []mergedCommandLine) *similarCommandSet {
	sets := map[string]*similarCommandSet{}
	var best *similarCommandSet
	for i := range all {
		words := all[i].words
		for w := 1; w < len(words); w++ { // Start at word 1: commands with different programs are not merged.
			if strings.ContainsAny(words[w], "{},|&;<>\"'`") {
				continue
			}
			key := fmt.Sprint(w, " ", strings.Join(words[:w], " "), "\x00", strings.Join(words[w+1:], " "))
			s := sets[key]
			if s == nil {
				s = &similarCommandSet{differingWordIndex: w}
				sets[key] = s
			}
			s.commandIndexes = append(s.commandIndexes, i)
			if len(s.commandIndexes) < 2 {
				continue
			}
			if best == nil || len(s.commandIndexes) > len(best.commandIndexes) {
				best = s
			}
		}
	}
	return best
}

// mergeSimilarCommandSet returns the list all with one merged line in place of the commands in the set s. These
// commands differ only in the word with the index s.differingWordIndex. The merged line lists the different words in
// braces. It replaces the first command of the set. The other commands of the set are removed.
func mergeSimilarCommandSet(all []mergedCommandLine, s *similarCommandSet) (out []mergedCommandLine) {
	var values []string
	first := all[s.commandIndexes[0]]
	first.words, first.commandCount = slices.Clone(first.words), 0
	for _, i := range s.commandIndexes {
		values = append(values, all[i].words[s.differingWordIndex])
		first.commandCount += all[i].commandCount
		first.changesOrTestsFiles = first.changesOrTestsFiles || all[i].changesOrTestsFiles
	}
	first.words[s.differingWordIndex] = joinInBraces(values)
	for i, m := range all {
		switch {
		case i == s.commandIndexes[0]:
			out = append(out, first)
		case !slices.Contains(s.commandIndexes, i):
			out = append(out, m)
		}
	}
	return out
}

// joinInBraces joins words that begin and end alike to one word. For example, it joins a/b.go and a/c.go to a/{b,c}.go.
// The parts before and after the braces are the same in all words. The part before the braces ends with a separator,
// and the part after them begins with a separator. The separators are the characters / = - : and the dot. Either part
// may be empty.
func joinInBraces(words []string) string {
	begin, end := words[0], words[0]
	for _, w := range words {
		for !strings.HasPrefix(w, begin) {
			begin = begin[:len(begin)-1]
		}
	}
	begin = begin[:strings.LastIndexAny(begin, "/=-:.")+1]
	for _, w := range words {
		for !strings.HasSuffix(w[len(begin):], end) {
			end = end[1:]
		}
	}
	if i := strings.IndexAny(end, "/=-:."); i >= 0 {
		end = end[i:]
	} else {
		end = ""
	}
	var inner []string
	for _, w := range words {
		inner = append(inner, w[len(begin):len(w)-len(end)])
	}
	return begin + "{" + strings.Join(inner, ",") + "}" + end
}
