// Ways to write many paths and commands in little room.

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

// fileForms returns the lines of the files: each on its own, and by directory, in
// which names stand for words.
func fileForms(r *record, stats map[string]stat, names []named) [][]string {
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

// merged is commands that are written as one line.
type merged struct {
	words []string
	n     int  // commands
	works bool // one of them did more than look
}

func (m *merged) line() string { return strings.Join(m.words, " ") }

// worth is how much a line tells for its room.
func (m *merged) worth() float64 {
	n := float64(m.n)
	if m.works {
		n *= 2
	}
	return n / float64(2+text.EstimateTokens(m.line()))
}

// commandForms returns the commands as they were typed, and what they do, those that
// differ little as one. There, names stand for words.
func commandForms(r *record, names []named) (typed []string, short []merged) {
	for _, c := range r.passed {
		typed = append(typed, c.line)
		short = append(short, merged{strings.Split(replaceWords(core(c.line, r.dir), names), " "), 1, !c.looks})
	}
	return typed, merge(short)
}

// core returns what a command line does, without how it was called, and without
// which lines of a file it printed.
func core(line, dir string) string {
	return printed().ReplaceAllString(withoutQuotes(extract.Bare(line, dir)), "$1$3 $2$4")
}

// printed finds the lines that a command prints of a file.
var printed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\b(sed -n) ["']?[0-9]+(?:,[0-9$]+)?p["']? ([^ ])|\b(head|tail) (?:-n ?)?-?[0-9]+ ([^ |])`,
	)
})

// maxNames is how many words have a name at most.
const maxNames = 26

// nameWords returns names for the directories and other words that stand in files and
// commands so often that this is shorter, the longest first.
func nameWords(r *record) (names []named) {
	count := map[string]int{}
	for _, f := range r.files {
		count[path.Dir(f)] = 1 // stands once, however many they are
	}
	for _, f := range r.files {
		word, _, _ := strings.Cut(path.Base(f), ".")
		count[word]++
	}
	seen := map[string]bool{}
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, c := range r.passed {
		letters = strings.Map(func(l rune) rune {
			if strings.Contains(c.line, "$"+string(l)) { // a variable of the shell
				return -1
			}
			return l
		}, letters)
		short := core(c.line, r.dir)
		words := strings.FieldsFunc(short, func(r rune) bool { return !strings.ContainsRune(pathSigns, r) })
		words = append(words, strings.FieldsFunc(short, func(r rune) bool {
			return !strings.ContainsRune(wordSigns, r)
		})...)
		for _, w := range words {
			w = strings.TrimSuffix(strings.TrimPrefix(w, "./"), "/...")
			if path.Ext(w) != "" {
				w = path.Dir(w)
			}
			w = strings.Trim(w, "/")
			if w != "" && w[0] != '-' && !seen[c.line+"\x00"+w] {
				seen[c.line+"\x00"+w] = true
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
		if strings.ContainsAny(d, " =$") { // it would not be clear where it ends
			continue
		}
		names = append(names, named{d, "$" + letters[len(names):len(names)+1]})
	}
	slices.SortStableFunc(names, func(a, b named) int { return cmp.Compare(len(b.word), len(a.word)) })
	return names
}

// pathSigns are the signs of words that are given names.
const (
	wordSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	pathSigns = wordSigns + "-./@+"
)

// replaceWords puts names in the place of words.
func replaceWords(line string, names []named) string {
	for _, n := range names {
		signs := wordSigns
		if strings.Contains(n.word, "/") {
			signs = pathSigns
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
			at = end
			if begins && (!isPath(line, end) || line[end] == '/') {
				line = line[:i] + n.name + line[end:]
				at = i + len(n.name)
			}
		}
	}
	return line
}

// namesLine says what the names stand for.
func namesLine(names []named) string {
	var all []string
	for _, n := range names {
		all = append(all, n.name+"="+n.word)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

var (
	quoted   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"?|'[^']*'?`) })
	plainArg = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^["'][\w./:^$@%+=-]+["']$`) })
)

// maxQuoted is the bytes of an argument in quotes, such as a message or a script,
// that is not cut.
const maxQuoted = 28

// withoutQuotes returns a command line without quotes that are not needed, in
// which long arguments in quotes are cut.
func withoutQuotes(line string) string {
	line = quoted().ReplaceAllStringFunc(line, func(q string) string {
		switch {
		case plainArg().MatchString(q):
			return q[1 : len(q)-1]
		case len(q) > maxQuoted:
			return q[:1] + strings.TrimSpace(text.Cut(q[1:], 12)) + ".." + q[:1]
		}
		return q
	})
	if i := strings.Index(line, "<<"); i > 0 {
		line = line[:i] + "<<.."
	}
	return line
}

// merge returns each command once; those that differ in one word as one with the
// words in braces, as a shell would expand them; and of those that then differ in
// numbers alone the first, with how many there are. It stands where its first command
// did.
func merge(lines []merged) []merged {
	all := firstOf(lines, (*merged).line)
	for {
		same := alike(all)
		if same == nil {
			break
		}
		all = join(all, same)
	}
	numbered := firstOf(all, func(m *merged) string { return digits().ReplaceAllString(m.line(), "0") })
	for i := range numbered {
		m := &numbered[i]
		j := slices.IndexFunc(all, func(o merged) bool { return slices.Equal(o.words, m.words) })
		if more := m.n - all[j].n; more > 0 {
			m.words = append(slices.Clip(m.words), fmt.Sprintf("(and %d with other numbers)", more))
		}
	}
	return numbered
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// firstOf returns the first of those that have a key in common.
func firstOf(lines []merged, key func(*merged) string) (all []merged) {
	at := map[string]int{}
	for _, m := range lines {
		k := key(&m)
		if i, ok := at[k]; ok {
			all[i].n, all[i].works = all[i].n+m.n, all[i].works || m.works
			continue
		}
		at[k] = len(all)
		all = append(all, m)
	}
	return all
}

// set is some commands, by number, that differ at one word alone.
type set struct {
	word    int
	members []int
}

// alike returns the largest set; nil when no two commands are alike.
func alike(all []merged) *set {
	sets := map[string]*set{}
	var best *set
	for i := range all {
		words := all[i].words
		for w := 1; w < len(words); w++ { // programs are not merged
			if strings.ContainsAny(words[w], "{},|&;<>\"'`") {
				continue
			}
			key := fmt.Sprint(w, " ", strings.Join(words[:w], " "), "\x00", strings.Join(words[w+1:], " "))
			s := sets[key]
			if s == nil {
				s = &set{word: w}
				sets[key] = s
			}
			s.members = append(s.members, i)
			if len(s.members) > 1 && (best == nil || len(s.members) > len(best.members)) {
				best = s
			}
		}
	}
	return best
}

// join puts the set's commands in the place of its first.
func join(all []merged, s *set) (out []merged) {
	var values []string
	first := all[s.members[0]]
	first.words, first.n = slices.Clone(first.words), 0
	for _, i := range s.members {
		values = append(values, all[i].words[s.word])
		first.n, first.works = first.n+all[i].n, first.works || all[i].works
	}
	first.words[s.word] = braces(values)
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

// braces returns words as one, with what they begin and end with in common before
// and after the braces.
func braces(words []string) string {
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
