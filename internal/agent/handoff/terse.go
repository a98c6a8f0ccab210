// This file writes many paths and commands in little room.

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

// fileLinesByForm returns the files in two forms. In the first, each file has its own line. In the
// second, files are grouped by directory and names replace words.
func fileLinesByForm(r *record, stats map[string]lineChanges, names []replacedWord) [][]string {
	withStat := func(file, name string) string {
		if s, ok := stats[file]; ok {
			return fmt.Sprintf("%s +%d-%d", name, s.Added, s.Deleted)
		}
		return name
	}
	var whole []string
	byDir := map[string][]string{}
	var dirs []string
	for _, f := range r.files {
		whole = append(whole, withStat(f, f))
		d, name := path.Split(f)
		if byDir[d] == nil {
			dirs = append(dirs, d)
		}
		byDir[d] = append(byDir[d], withStat(f, replaceWords(name, names)))
	}
	var grouped []string
	for _, d := range dirs {
		grouped = append(grouped, replaceWords(d, names)+" "+strings.Join(byDir[d], " "))
		if d == "" {
			grouped[len(grouped)-1] = strings.Join(byDir[d], " ")
		}
	}
	return [][]string{whole, grouped}
}

// mergedLine is a line for a command or for several similar commands.
type mergedLine struct {
	words    []string
	count    int  // number of commands
	doesWork bool // at least one command does more than printing
}

func (m *mergedLine) text() string { return strings.Join(m.words, " ") }

// valuePerToken returns how much a line tells for its length.
func (m *mergedLine) valuePerToken() float64 {
	n := float64(m.count)
	if m.doesWork {
		n *= 2
	}
	return n / float64(2+text.EstimateTokens(m.text()))
}

// commandLinesByForm returns the commands as typed, and in a short form with similar commands
// merged and names in place of words.
func commandLinesByForm(r *record, names []replacedWord) (typed []string, short []mergedLine) {
	for _, c := range r.passedCommands {
		typed = append(typed, c.line)
		words := strings.Split(replaceWords(normalizeCommand(c.line, r.dir), names), " ")
		short = append(short, mergedLine{words, 1, !c.onlyPrints})
	}
	return typed, mergeSimilar(short)
}

// normalizeCommand returns a command line in a short form for comparisons. It removes the parts that do not
// change the command's effect, and the numbers of the lines that the command prints.
func normalizeCommand(line, dir string) string {
	return printedLinesPattern().ReplaceAllString(removeQuotes(extract.NormalizeCommand(line, dir)), "$1$3 $2$4")
}

// printedLinesPattern matches the line numbers in commands that print a part of a file.
var printedLinesPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\b(sed -n) ["']?[0-9]+(?:,[0-9$]+)?p["']? ([^ ])|\b(head|tail) (?:-n ?)?-?[0-9]+ ([^ |])`,
	)
})

// maxNames is the maximum number of words that get a name.
const maxNames = 26

// nameWords returns names for the directories and other words that occur so often in files and
// commands that names save room. The longest words come first.
func nameWords(r *record) (names []replacedWord) {
	count := map[string]int{}
	for _, f := range r.files {
		count[path.Dir(f)] = 1 // it is written once, whatever the number of files
	}
	for _, f := range r.files {
		word, _, _ := strings.Cut(path.Base(f), ".")
		count[word]++
	}
	seen := map[string]bool{}
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, c := range r.passedCommands {
		letters = strings.Map(func(l rune) rune {
			if strings.Contains(c.line, "$"+string(l)) { // a variable of the shell
				return -1
			}
			return l
		}, letters)
		short := normalizeCommand(c.line, r.dir)
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
		if gain(d) <= 0 || len(names) == min(maxNames, len(letters)) {
			break
		}
		if strings.ContainsAny(d, " =$") { // the end of the word would be unclear
			continue
		}
		names = append(names, replacedWord{d, "$" + letters[len(names):len(names)+1]})
	}
	slices.SortStableFunc(names, func(a, b replacedWord) int { return cmp.Compare(len(b.word), len(a.word)) })
	return names
}

// wordChars are the characters in named words, and pathChars those in named paths.
const (
	wordChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	pathChars = wordChars + "-./@+"
)

// replaceWords replaces words of a line by their names.
func replaceWords(line string, names []replacedWord) string {
	for _, n := range names {
		signs := wordChars
		if strings.Contains(n.word, "/") {
			signs = pathChars
		}
		isPath := func(s string, i int) bool { return i >= 0 && i < len(s) && strings.IndexByte(signs, s[i]) >= 0 }
		for at := 0; ; {
			i := strings.Index(line[at:], n.word)
			if i < 0 {
				break
			}
			i += at
			end := i + len(n.word)
			begins := !isPath(line, i-1) || (strings.HasSuffix(line[:i], "./") && !isPath(line, i-3))
			ends := !isPath(line, end) || line[end] == '/'
			at = end
			if begins && ends {
				line = line[:i] + n.name + line[end:]
				at = i + len(n.name)
			}
		}
	}
	return line
}

// nameDefinitions returns the line that defines the names.
func nameDefinitions(names []replacedWord) string {
	var all []string
	for _, n := range names {
		all = append(all, n.name+"="+n.word)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

var (
	quotedPattern   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"?|'[^']*'?`) })
	plainArgPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^["'][\w./:^$@%+=-]+["']$`) })
)

// maxQuotedArg is the maximum length, in bytes, of a quoted argument that is not cut. Longer arguments
// are mostly messages or scripts.
const maxQuotedArg = 28

// removeQuotes removes unnecessary quotes from a command line, and cuts long quoted arguments and
// here documents.
func removeQuotes(line string) string {
	line = quotedPattern().ReplaceAllStringFunc(line, func(q string) string {
		switch {
		case plainArgPattern().MatchString(q):
			return q[1 : len(q)-1]
		case len(q) > maxQuotedArg:
			return q[:1] + strings.TrimSpace(text.TruncateBytes(q[1:], 12)) + ".." + q[:1]
		}
		return q
	})
	if i := strings.Index(line, "<<"); i > 0 {
		line = line[:i] + "<<.."
	}
	return line
}

// mergeSimilar returns each command once, at its first occurrence. Commands that differ in a single word
// are merged into a line with the words in braces, as a shell would expand them. If lines then
// differ only in numbers, mergeSimilar returns the first line with the number of similar lines.
func mergeSimilar(lines []mergedLine) []mergedLine {
	all := mergeByKey(lines, (*mergedLine).text)
	for {
		same := largestSimilarSet(all)
		if same == nil {
			break
		}
		all = mergeSet(all, same)
	}
	numbered := mergeByKey(all, func(m *mergedLine) string { return digitsPattern().ReplaceAllString(m.text(), "0") })
	for i := range numbered {
		m := &numbered[i]
		j := slices.IndexFunc(all, func(o mergedLine) bool { return slices.Equal(o.words, m.words) })
		if more := m.count - all[j].count; more > 0 {
			m.words = append(slices.Clip(m.words), fmt.Sprintf("(and %d with other numbers)", more))
		}
	}
	return numbered
}

var digitsPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// mergeByKey returns the first line for each key, with the counts of all lines with this key.
func mergeByKey(lines []mergedLine, key func(*mergedLine) string) (all []mergedLine) {
	at := map[string]int{}
	for _, m := range lines {
		k := key(&m)
		if i, ok := at[k]; ok {
			all[i].count, all[i].doesWork = all[i].count+m.count, all[i].doesWork || m.doesWork
			continue
		}
		at[k] = len(all)
		all = append(all, m)
	}
	return all
}

// similarCommands contains the indexes of commands that differ in a single word.
type similarCommands struct {
	wordIndex int
	members   []int
}

// largestSimilarSet returns the largest set of commands that differ in the same word only, or nil if no two commands
// do.
func largestSimilarSet(all []mergedLine) *similarCommands {
	sets := map[string]*similarCommands{}
	var best *similarCommands
	for i := range all {
		words := all[i].words
		for w := 1; w < len(words); w++ { // programs are not merged
			if strings.ContainsAny(words[w], "{},|&;<>\"'`") {
				continue
			}
			key := fmt.Sprint(w, " ", strings.Join(words[:w], " "), "\x00", strings.Join(words[w+1:], " "))
			s := sets[key]
			if s == nil {
				s = &similarCommands{wordIndex: w}
				sets[key] = s
			}
			s.members = append(s.members, i)
			if len(s.members) < 2 {
				continue
			}
			if best == nil || len(s.members) > len(best.members) {
				best = s
			}
		}
	}
	return best
}

// mergeSet replaces the set's commands by a merged line in the place of the first command.
func mergeSet(all []mergedLine, s *similarCommands) (out []mergedLine) {
	var values []string
	first := all[s.members[0]]
	first.words, first.count = slices.Clone(first.words), 0
	for _, i := range s.members {
		values = append(values, all[i].words[s.wordIndex])
		first.count, first.doesWork = first.count+all[i].count, first.doesWork || all[i].doesWork
	}
	first.words[s.wordIndex] = joinInBraces(values)
	for i, m := range all {
		switch {
		case i == s.members[0]:
			out = append(out, first)
		case !slices.Contains(s.members, i):
			out = append(out, m)
		}
	}
	return out
}

// joinInBraces joins words to a single word, such as a{b,c}d: their common beginning, the different
// parts in braces, and their common end.
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
