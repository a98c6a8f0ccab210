// This file finds labels that probably are misspellings of each other.

package label

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// SimilarLabels is a group of labels that probably mean the same, the most frequent first.
type SimilarLabels struct {
	Labels []Count
	Why    string
	// MergeTarget is the label that should replace all other labels in Labels. It is zero if the labels should not be
	// merged.
	MergeTarget oxbow.Label
}

// FindSimilarLabels finds labels that probably mean the same, and words that are used both as a tag and as a project.
// Labels are compared with other labels of the same key. Their values differ only in one of these ways:
//
//   - capitals, accents or the punctuation between words
//   - a plural ending
//   - for projects, the owner before the name, as in owner/name
//   - one typing error in a value of at least five letters
//
// Values that differ in digits, such as v1 and v2, are not reported. Labels with the key oxbow.LabelConfidence are
// ignored. The result is sorted by key and by the value to keep. Words that are both a tag and a project come last.
func FindSimilarLabels(counts []Count) []SimilarLabels {
	byKey := map[string][]Count{}
	var keys []string
	for _, c := range counts {
		if byKey[c.Label.Key] == nil {
			keys = append(keys, c.Label.Key)
		}
		byKey[c.Label.Key] = append(byKey[c.Label.Key], c)
	}
	slices.Sort(keys)
	var ds []SimilarLabels
	for _, key := range keys {
		if key == oxbow.LabelConfidence {
			continue
		}
		ds = append(ds, lintKey(key, byKey[key])...)
	}
	projects := map[string]Count{}
	for _, c := range byKey[oxbow.LabelProject] {
		projects[foldSpelling(c.Label.Value)] = c
	}
	for _, c := range byKey[oxbow.LabelTag] {
		if p, ok := projects[foldSpelling(c.Label.Value)]; ok {
			ds = append(
				ds,
				SimilarLabels{Labels: []Count{p, c}, Why: "one word is a project and a tag", MergeTarget: p.Label},
			)
		}
	}
	return ds
}

// lintKey returns the problems among the label values with one key. Each element of the result is a group of values
// that probably mean the same. The values of a group differ in spelling, in a plural ending, by one typing error or,
// for paths and projects, in the form in which they are written. Each value is in at most one group.
func lintKey(key string, cs []Count) []SimilarLabels {
	used := map[string]bool{} // label values that were already reported as misspellings of each other
	var ds []SimilarLabels
	group := func(why string, same func(Count) string) {
		groups := map[string][]Count{}
		var order []string
		for _, c := range cs {
			k := same(c)
			if k == "" || used[c.Label.Value] {
				continue
			}
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], c)
		}
		for _, k := range order {
			if len(groups[k]) > 1 {
				ds = append(ds, newSimilarLabels(groups[k], why))
				for _, c := range groups[k] {
					used[c.Label.Value] = true
				}
			}
		}
	}
	if key == oxbow.LabelFile {
		group("one path written in two ways", func(c Count) string {
			return path.Clean(strings.ReplaceAll(c.Label.Value, `\`, "/"))
		})
		return ds
	}
	group("they differ in capitals, accents or the marks between words only", func(c Count) string {
		return foldSpelling(c.Label.Value)
	})
	if key == oxbow.LabelProject {
		group("the owner stands before the name in some only", func(c Count) string {
			return foldSpelling(path.Base(c.Label.Value))
		})
	}
	group("one is the plural of the other", func(c Count) string { return singularForm(c.Label.Value) })
	ds = append(ds, findTypingErrors(cs, used)...)
	slices.SortStableFunc(
		ds,
		func(a, b SimilarLabels) int { return strings.Compare(a.MergeTarget.Value, b.MergeTarget.Value) },
	)
	return ds
}

// newSimilarLabels returns a finding about labels with the same key, which suggests to keep the most frequent label.
func newSimilarLabels(cs []Count, reason string) SimilarLabels {
	cs = slices.Clone(cs)
	slices.SortStableFunc(cs, func(a, b Count) int {
		// If labels are equally frequent, prefer the label with fewer capitals, because oxbow writes project names
		// without capitals.
		return cmp.Or(
			cmp.Compare(b.Entries, a.Entries),
			cmp.Compare(countCapitals(a), countCapitals(b)),
			strings.Compare(a.Label.Value, b.Label.Value),
		)
	})
	return SimilarLabels{Labels: cs, Why: reason, MergeTarget: cs[0].Label}
}

// countCapitals returns the number of capital letters in a label.
func countCapitals(labelCount Count) int {
	n := 0
	for _, r := range labelCount.Label.Value {
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n
}

// findTypingErrors returns the pairs of values in cs that differ by one typing error. It does not compare all pairs.
// Instead, it indexes each value under all strings that result from deleting one letter. Two values that differ by one
// typing error have at least one of these strings in common. Values in usedValues are skipped, because they already
// belong to another finding. A pair that is found is added to usedValues. Values with less than 5 letters are skipped.
func findTypingErrors(cs []Count, usedValues map[string]bool) []SimilarLabels {
	near := map[string][]int{}
	for i, c := range cs {
		for _, v := range deletionVariants(foldSpelling(c.Label.Value)) {
			near[v] = append(near[v], i)
		}
	}
	var ds []SimilarLabels
	for i, c := range cs {
		value := c.Label.Value
		folded := foldSpelling(value)
		if usedValues[value] || utf8.RuneCountInString(folded) < 5 {
			continue
		}
		for _, v := range deletionVariants(folded) {
			for _, j := range near[v] {
				other := cs[j].Label.Value
				isInFinding := usedValues[other] || usedValues[value]
				if j <= i || isInFinding {
					continue
				}
				if isOneEditApart([]rune(folded), []rune(foldSpelling(other))) {
					ds = append(ds, newSimilarLabels([]Count{c, cs[j]}, "they are one typing error apart"))
					usedValues[other], usedValues[value] = true, true
				}
			}
		}
	}
	return ds
}

// maxTypoCheckLetters is the maximum length, in letters, of a value that is checked for typing errors.
const maxTypoCheckLetters = 64

// deletionVariants returns s, and each string that results from deleting one letter of s. It returns nil if s is very
// short or very long.
func deletionVariants(s string) []string {
	rs := []rune(s)
	if len(rs) < 4 || len(rs) > maxTypoCheckLetters {
		return nil
	}
	vs := []string{s}
	for i := range rs {
		v := string(rs[:i]) + string(rs[i+1:])
		if vs[len(vs)-1] != v {
			vs = append(vs, v)
		}
	}
	return vs
}

// isOneEditApart reports whether a and b differ by one missing, additional or wrong letter, or by two swapped letters.
// It returns false if a and b differ in a digit.
func isOneEditApart(a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if slices.ContainsFunc(a, unicode.IsDigit) || slices.ContainsFunc(b, unicode.IsDigit) {
		return false
	}
	switch {
	case len(a)+len(b) == 0:
		return false
	case len(a) <= 1 && len(b) <= 1:
		return true
	}
	return len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// foldSpelling returns s in lower case, without accents and punctuation. It keeps + and #, which distinguish c++ from
// c#.
func foldSpelling(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '+', r == '#':
			return r
		}
		return -1
	}, analysis.FoldText(analysis.FoldText(s)))
}

// singularForm returns the value in folded case, without a plural ending. It returns "" if the folded value has fewer
// than four bytes.
func singularForm(s string) string {
	f := foldSpelling(s)
	if len(f) < 4 {
		return ""
	}
	if t, ok := strings.CutSuffix(f, "ies"); ok && len(t) > 2 {
		return t + "y"
	}
	for _, ending := range []string{"sses", "shes", "ches", "xes"} {
		if strings.HasSuffix(f, ending) {
			return strings.TrimSuffix(f, "es")
		}
	}
	for _, ending := range []string{"ss", "us", "is"} {
		if strings.HasSuffix(f, ending) {
			return f
		}
	}
	return strings.TrimSuffix(f, "s")
}
