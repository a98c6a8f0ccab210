// This file finds in a text what its labels may be read from: the names of
// projects and tags, and files.

package label

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/analysis"
)

// sign is a value that a text points to.
type sign struct {
	value  string
	worth  float64 // how often such a sign is right
	reason string
}

// signs are the marks in a text that tell a value of one key, and what they were
// worth among the labelled entries.
type signs struct {
	key string

	names map[string][]string       // first word of a value, folded: the values
	words map[string]string         // value: its words, folded, with one space around each
	named map[string][2]int         // value: labelled entries that name it, and of those the ones that carry it
	files map[string]map[string]int // file or directory: labelled entries that name it, by value; "" counts all
}

// The worth of a sign that was never seen is that of a few that went this way.
const (
	signWeight = 2
	nameBelief = 0.75
	fileBelief = 0.6
)

// maxSigns is the most labelled entries that signs are read from; of more, every
// second, third and so on is read.
const maxSigns = 5000

// newSigns reads the signs of the labelled entries.
func newSigns(key string, have []*oxbow.Entry) *signs {
	s := &signs{key: key, names: map[string][]string{}, words: map[string]string{}, named: map[string][2]int{}, files: map[string]map[string]int{}}
	for _, e := range have {
		for _, v := range e.Values(key) {
			if _, ok := s.words[v]; ok {
				continue
			}
			ws := words(v)
			if len(ws) == 1 && (len(ws[0]) < 3 || analysis.IsStopWord(ws[0])) {
				ws = nil // says nothing where it stands in a text
			}
			s.words[v] = " " + strings.Join(ws, " ") + " "
			if len(ws) > 0 {
				s.names[ws[0]] = append(s.names[ws[0]], v)
			}
		}
	}
	step := max(1, (len(have)+maxSigns-1)/maxSigns)
	for i := 0; i < len(have); i += step {
		e := have[i]
		vs := e.Values(key)
		for _, v := range s.namedIn(e) {
			n := s.named[v]
			n[0]++
			if slices.Contains(vs, v) {
				n[1]++
			}
			s.named[v] = n
		}
		for _, f := range filesOf(e) {
			if s.files[f] == nil {
				s.files[f] = map[string]int{}
			}
			s.files[f][""]++
			for _, v := range vs {
				s.files[f][v]++
			}
		}
	}
	return s
}

// read returns the signs that an entry bears: the values that it names, and for
// each value that its files speak for, the file that does so best.
func (s *signs) read(e *oxbow.Entry) []sign {
	var found []sign
	for _, v := range s.namedIn(e) {
		n := s.named[v]
		worth := (float64(n[1]) + signWeight*nameBelief) / float64(n[0]+signWeight)
		reason := fmt.Sprintf("it names %s, as no labelled entry does", v)
		if n[0] > 0 {
			reason = fmt.Sprintf("it names %s; of %d labelled entries that do, %d carry it", v, n[0], n[1])
		}
		found = append(found, sign{v, worth, reason})
	}
	best := map[string]sign{}
	for _, f := range filesOf(e) {
		all := s.files[f][""]
		for v, n := range s.files[f] {
			if v == "" {
				continue
			}
			g := sign{v, (float64(n) + signWeight*fileBelief*float64(n)/float64(all)) / float64(all+signWeight),
				fmt.Sprintf("it names %s; of %d labelled entries that do, %d carry %s", f, all, n, oxbow.Label{Key: s.key, Value: v})}
			// Of a file and its directory that are worth the same, the file,
			// whose name is longer, says more.
			if old, ok := best[v]; !ok || cmp.Or(cmp.Compare(g.worth, old.worth),
				cmp.Compare(len(g.reason), len(old.reason)), strings.Compare(old.reason, g.reason)) > 0 {
				best[v] = g
			}
		}
	}
	for _, g := range best {
		found = append(found, g)
	}
	slices.SortFunc(found, func(a, b sign) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), strings.Compare(a.value, b.value), strings.Compare(a.reason, b.reason))
	})
	return found
}

// namedIn returns the values that stand in an entry's name or text as words, in
// the order of the text.
func (s *signs) namedIn(e *oxbow.Entry) []string {
	ws := words(e.Name + "\n" + e.Content)
	text := " " + strings.Join(ws, " ") + " "
	var found []string
	seen := map[string]bool{}
	for _, w := range ws {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, v := range s.names[w] {
			if strings.Contains(text, s.words[v]) && !slices.Contains(found, v) {
				found = append(found, v)
			}
		}
	}
	return found
}

// words returns the words of s, folded: letters and digits.
func words(s string) []string {
	return strings.FieldsFunc(analysis.Fold(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '+' && r != '#'
	})
}

// filesOf returns the files that an entry is labelled with or names in its text,
// and their directories of two levels or more, each once.
func filesOf(e *oxbow.Entry) []string {
	var fs []string
	add := func(f string) {
		if f != "" && f != "." && !slices.Contains(fs, f) {
			fs = append(fs, f)
		}
	}
	for _, f := range e.Values(oxbow.LabelFile) {
		add(cleanFile(f))
	}
	for w := range strings.FieldsSeq(e.Name + "\n" + e.Content) {
		w = strings.Trim(w, "`'\"()[]{}<>,;:!?*.")
		if i := strings.LastIndexByte(w, ':'); i > 0 && strings.Trim(w[i+1:], "0123456789") == "" {
			w = w[:i] // the line behind a file
		}
		if isFile(w) {
			add(cleanFile(w))
		}
		if len(fs) >= maxFiles {
			break
		}
	}
	for _, f := range fs[:len(fs):len(fs)] {
		if d := path.Dir(f); strings.Contains(d, "/") {
			add(d + "/")
		}
	}
	return fs
}

// maxFiles is the most files that are read from one entry.
const maxFiles = 64

func cleanFile(f string) string { return path.Clean(strings.ReplaceAll(f, `\`, "/")) }

// isFile reports whether a word of a text looks like the name of a file: letters
// on both sides of a last dot, the ending short, and no mark of a URL or of an
// address before it.
func isFile(w string) bool {
	if len(w) < 4 || len(w) > 200 || strings.ContainsAny(w, "@=?&|") || strings.Contains(w, "://") {
		return false
	}
	dot := strings.LastIndexByte(w, '.')
	if dot < 1 || len(w)-dot > 6 || len(w)-dot < 2 {
		return false
	}
	for _, r := range w[dot+1:] {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return false
		}
	}
	if strings.ContainsAny(w, `/\`) {
		return true
	}
	// A bare word with a dot is as often a method or a missing space: only the
	// endings of source and text files count.
	return slices.Contains(fileEndings, strings.ToLower(w[dot+1:]))
}

var fileEndings = strings.Fields("go py js ts tsx jsx rs c h cc cpp hpp java kt rb php cs swift sh md txt yaml yml json toml html css sql proto mod sum lua ex exs zig")
