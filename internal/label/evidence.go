// This file finds evidence for labels in an entry's text: names of projects, tags and files.

package label

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// labelEvidence is a part of a text that suggests a label value.
type labelEvidence struct {
	labelValue string
	// estimated probability that this kind of evidence, such as a mention of the value, names the right label value
	precision  float64
	reasonText string
}

// labelEvidenceModel finds evidence for the values of one label key. It learns from the labelled entries how often each
// kind of evidence is right.
type labelEvidenceModel struct {
	labelKey string

	valuesByFirstWord map[string][]string // known values of the label key, by their first word in lower case
	// for each label value: its words in lower case, with a space before, between and after the words
	lowerCaseWordsByValue map[string]string
	// For each label value: how many labelled entries mention the value in their text, and how many of these entries
	// have the value as a label.
	mentionCountsByValue map[string][2]int
	// For each file or directory: the number of labelled entries that mention it, by value. The value "" counts all
	// these entries.
	valueCountsByFile map[string]map[string]int
}

// Evidence for a label is, for example, a name or a file in the text of an entry. These constants are used before
// enough labelled entries have shown how often a kind of evidence is right. assumedNameMatchPrecision and
// assumedFileMatchPrecision are the assumed probabilities that the evidence is right. The assumption has the same
// weight as assumptionEntryWeight labelled entries.
const (
	assumptionEntryWeight     = 2
	assumedNameMatchPrecision = 0.75
	assumedFileMatchPrecision = 0.6
)

// maxTrainingEntries is the maximum number of labelled entries from which a model learns. If there are more, the model
// uses only every nth entry, where n is the smallest number that keeps this limit.
const maxTrainingEntries = 5000

// newLabelEvidenceModel returns a model that has learned from the labelled entries.
func newLabelEvidenceModel(key string, entries []*oxbow.Entry) *labelEvidenceModel {
	m := &labelEvidenceModel{
		labelKey:              key,
		valuesByFirstWord:     map[string][]string{},
		lowerCaseWordsByValue: map[string]string{},
		mentionCountsByValue:  map[string][2]int{},
		valueCountsByFile:     map[string]map[string]int{},
	}
	for _, e := range entries {
		for _, v := range e.Values(key) {
			m.addLabelValue(v)
		}
	}
	step := max(1, (len(entries)+maxTrainingEntries-1)/maxTrainingEntries)
	for i := 0; i < len(entries); i += step {
		m.learnEntry(entries[i])
	}
	return m
}

// addLabelValue adds a label value, so that its mentions in texts are found. It does nothing if the value is known
// already. A value that is a single common word is recorded, but its mentions are not searched for.
func (m *labelEvidenceModel) addLabelValue(value string) {
	if _, ok := m.lowerCaseWordsByValue[value]; ok {
		return
	}
	ws := foldWords(value)
	if len(ws) == 1 && isTooCommonWord(ws[0]) {
		ws = nil // The value is a common word that may occur in any text, so a mention does not suggest the label.
	}
	m.lowerCaseWordsByValue[value] = " " + strings.Join(ws, " ") + " "
	if len(ws) > 0 {
		m.valuesByFirstWord[ws[0]] = append(m.valuesByFirstWord[ws[0]], value)
	}
}

// isTooCommonWord reports whether a word is too short or too frequent to show that two texts are about the same
// subject. The word must be in the form in which the index stores words, for example in lower case.
func isTooCommonWord(word string) bool {
	return len(word) < 3 || analysis.IsStopWord(word)
}

// learnEntry learns from the labelled entry e, whose values of the label m.labelKey are known.
//
// For each label value that the text of e mentions, learnEntry increments the number of mentions of the value. If e has
// this value as a label, it also increments the number of mentions in entries with the label.
//
// For each file that the text mentions, learnEntry increments the number of mentions of the file. For each label value
// of e, it also increments the number of entries with this value that mention the file.
func (m *labelEvidenceModel) learnEntry(e *oxbow.Entry) {
	vs := e.Values(m.labelKey)
	for _, v := range m.mentionedLabelValues(e) {
		n := m.mentionCountsByValue[v]
		n[0]++
		if slices.Contains(vs, v) {
			n[1]++
		}
		m.mentionCountsByValue[v] = n
	}
	for _, f := range mentionedFiles(e) {
		if m.valueCountsByFile[f] == nil {
			m.valueCountsByFile[f] = map[string]int{}
		}
		m.valueCountsByFile[f][""]++
		for _, v := range vs {
			m.valueCountsByFile[f][v]++
		}
	}
}

// findLabelEvidence returns the label values that the text of the entry e suggests, the most probable first. There are
// two reasons for suggesting a value:
//   - The text mentions the value.
//   - The text mentions a file, and other entries that mention the same file have the value.
//
// A value for which both reasons apply is returned twice, once for each reason.
func (m *labelEvidenceModel) findLabelEvidence(e *oxbow.Entry) []labelEvidence {
	var found []labelEvidence
	for _, v := range m.mentionedLabelValues(e) {
		n := m.mentionCountsByValue[v]
		precision := (float64(n[1]) + assumptionEntryWeight*assumedNameMatchPrecision) / float64(
			n[0]+assumptionEntryWeight,
		)
		reason := fmt.Sprintf("it names %s, as no labelled entry does", v)
		if n[0] > 0 {
			reason = fmt.Sprintf("it names %s; of %d labelled entries that do, %d carry it", v, n[0], n[1])
		}
		found = append(found, labelEvidence{v, precision, reason})
	}
	for _, f := range m.findFileEvidence(e) {
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b labelEvidence) int {
		return cmp.Or(
			cmp.Compare(b.precision, a.precision),
			strings.Compare(a.labelValue, b.labelValue),
			strings.Compare(a.reasonText, b.reasonText),
		)
	})
	return found
}

// findFileEvidence finds label values that the files mentioned in the entry suggest. For example, other entries that
// mention the same file may have the label value. The result contains, for each suggested value, the evidence of the
// file that suggests the value with the highest probability.
func (m *labelEvidenceModel) findFileEvidence(e *oxbow.Entry) map[string]labelEvidence {
	best := map[string]labelEvidence{}
	for _, f := range mentionedFiles(e) {
		all := m.valueCountsByFile[f][""]
		for v, n := range m.valueCountsByFile[f] {
			if v == "" {
				continue
			}
			g := labelEvidence{
				v,
				(float64(n) + assumptionEntryWeight*assumedFileMatchPrecision*float64(n)/float64(all)) / float64(
					all+assumptionEntryWeight,
				),
				fmt.Sprintf(
					"it names %s; of %d labelled entries that do, %d carry %s",
					f,
					all,
					n,
					oxbow.Label{Key: m.labelKey, Value: v},
				),
			}
			// If a file and its directory suggest a value with the same probability, prefer the file, which has the
			// longer name and is more specific.
			if old, ok := best[v]; !ok || cmp.Or(
				cmp.Compare(g.precision, old.precision),
				cmp.Compare(
					len(g.reasonText),
					len(old.reasonText),
				),
				strings.Compare(old.reasonText, g.reasonText),
			) > 0 {
				best[v] = g
			}
		}
	}
	return best
}

// mentionedLabelValues returns the values that an entry's name or text contains as words, in the order of the text.
func (m *labelEvidenceModel) mentionedLabelValues(e *oxbow.Entry) []string {
	ws := foldWords(e.Name + "\n" + e.Content)
	text := " " + strings.Join(ws, " ") + " "
	var found []string
	seen := map[string]bool{}
	for _, w := range ws {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, v := range m.valuesByFirstWord[w] {
			if strings.Contains(text, m.lowerCaseWordsByValue[v]) && !slices.Contains(found, v) {
				found = append(found, v)
			}
		}
	}
	return found
}

// foldWords returns the words of s in folded case. A word consists of letters, marks, digits, + and #.
func foldWords(s string) []string {
	return strings.FieldsFunc(analysis.FoldText(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '+' && r != '#'
	})
}

// mentionedFiles returns the files in the labels and the text of an entry. For a file in a directory with at least two
// levels, such as internal/label, it also returns the directory, with a slash at the end. The result does not repeat a
// file.
func mentionedFiles(e *oxbow.Entry) []string {
	var fs []string
	add := func(f string) {
		if f == "" || f == "." {
			return
		}
		if !slices.Contains(fs, f) {
			fs = append(fs, f)
		}
	}
	for _, f := range e.Values(oxbow.LabelFile) {
		add(cleanFilePath(f))
	}
	for w := range strings.FieldsSeq(e.Name + "\n" + e.Content) {
		w = strings.Trim(w, "`'\"()[]{}<>,;:!?*.")
		if i := strings.LastIndexByte(w, ':'); i > 0 && strings.Trim(w[i+1:], "0123456789") == "" {
			w = w[:i] // Remove a line number from the end of a possible file name, as in main.go:12.
		}
		if looksLikeFileName(w) {
			add(cleanFilePath(w))
		}
		if len(fs) >= maxMentionedFiles {
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

// maxMentionedFiles is the maximum number of files whose mention in an entry is used as evidence for the entry's
// labels. Further files that the entry mentions are ignored.
const maxMentionedFiles = 64

func cleanFilePath(f string) string { return path.Clean(strings.ReplaceAll(f, `\`, "/")) }

// looksLikeFileName reports whether a word looks like a file name: it contains a dot followed by a short ending, and
// no character that indicates a URL or an email address.
func looksLikeFileName(w string) bool {
	if len(w) < 4 || len(w) > 200 {
		return false
	}
	if strings.ContainsAny(w, "@=?&|") || strings.Contains(w, "://") {
		return false // The word is not a file name but an address, or an option or expression of a command.
	}
	dot := strings.LastIndexByte(w, '.')
	if dot < 1 {
		return false
	}
	ending := strings.ToLower(w[dot+1:])
	if ending == "" || len(ending) > 5 {
		return false
	}
	if strings.Trim(ending, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return false
	}
	if strings.ContainsAny(w, `/\`) {
		return true
	}
	// Without a directory, a word with a dot is often a method call, or lacks a space after a sentence. Therefore
	// accept only endings of source and text files.
	return slices.Contains(fileEndings, ending)
}

var fileEndings = strings.Fields(
	"go py js ts tsx jsx rs c h cc cpp hpp java kt rb php cs swift sh md txt yaml yml json toml html css sql proto " +
		"mod sum lua ex exs zig",
)
