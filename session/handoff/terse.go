// Ways to write many paths and commands in little room.

package handoff

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/session/extract"
)

// fileForms returns the lines of the files: each on its own, and by directory.
func fileForms(r *record, stats map[string]Stat) [][]string {
	named := func(file, name string) string {
		if s, ok := stats[file]; ok {
			return fmt.Sprintf("%s +%d-%d", name, s.Added, s.Deleted)
		}
		return name
	}
	var whole []string
	byDir := map[string][]string{}
	var dirs []string
	for _, f := range r.files {
		whole = append(whole, named(f, f))
		d, name := path.Split(f)
		if byDir[d] == nil {
			dirs = append(dirs, d)
		}
		byDir[d] = append(byDir[d], named(f, name))
	}
	var grouped []string
	for _, d := range dirs {
		grouped = append(grouped, d+" "+strings.Join(byDir[d], " "))
		if d == "" {
			grouped[len(grouped)-1] = strings.Join(byDir[d], " ")
		}
	}
	return [][]string{whole, grouped}
}

// The forms of commands.
const (
	formTyped  = iota // as they were typed
	formMerged        // what they do; those that differ in one word as one
	formWork          // likewise, without those that only looked
	formLooks         // the others
)

// commandForms returns the lines of the commands in each form.
func commandForms(r *record) [4][]string {
	var forms [4][]string
	for _, c := range r.passed {
		short, form := core(c.line, r.dir), formWork
		if c.looks {
			form = formLooks
		}
		forms[formTyped] = append(forms[formTyped], c.line)
		forms[formMerged] = append(forms[formMerged], short)
		forms[form] = append(forms[form], short)
	}
	for _, f := range []int{formMerged, formWork, formLooks} {
		forms[f] = merge(forms[f])
	}
	return forms
}

// core returns what a command line does, without how it was called.
func core(line, dir string) string { return withoutQuotes(extract.Bare(line, dir)) }

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

// merge returns each command once, and those that differ in one word as one with
// the words in braces, as a shell would expand them. It stands where its first
// command did.
func merge(lines []string) []string {
	var all [][]string
	seen := map[string]bool{}
	for _, l := range lines {
		if !seen[l] {
			seen[l] = true
			all = append(all, strings.Split(l, " "))
		}
	}
	for {
		same := alike(all)
		if same == nil {
			break
		}
		all = join(all, same)
	}
	var out []string
	for _, words := range all {
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// set is some commands, by number, that differ at one word alone.
type set struct {
	word    int
	members []int
}

// alike returns the largest set; nil when no two commands are alike.
func alike(all [][]string) *set {
	sets := map[string]*set{}
	var best *set
	for i, words := range all {
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
			if s.members = append(s.members, i); len(s.members) > 1 && (best == nil || len(s.members) > len(best.members)) {
				best = s
			}
		}
	}
	return best
}

// join puts the set's commands in the place of its first.
func join(all [][]string, s *set) [][]string {
	var values []string
	for _, i := range s.members {
		values = append(values, all[i][s.word])
	}
	first := slices.Clone(all[s.members[0]])
	first[s.word] = braces(values)
	var out [][]string
	for i, words := range all {
		switch {
		case i == s.members[0]:
			out = append(out, first)
		case !slices.Contains(s.members, i):
			out = append(out, words)
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
