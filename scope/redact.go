// This file hides personal data in the texts that a scope shows. The store keeps the data.

package scope

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/personal"
)

// Kinds returns the kinds of personal data that a scope can redact.
func Kinds() (ks []string) {
	for _, k := range personal.AllKinds() {
		ks = append(ks, string(k))
	}
	return ks
}

// kindsToRedact returns the kinds in s.Redact, with the type that package personal uses.
func (s *Scope) kindsToRedact() (ks []personal.Kind) {
	for _, k := range s.Redact {
		ks = append(ks, personal.Kind(k))
	}
	return ks
}

// Text returns the text with a mark, such as [mail], in place of each hidden value.
func (s *Scope) Text(text string) string { return personal.Redact(text, s.kindsToRedact()) }

// Shown returns the entry as the scope shows it, with personal data hidden. It shares unchanged data with e.
func (s *Scope) Shown(e oxbow.Entry) oxbow.Entry {
	if len(s.Redact) == 0 {
		return e
	}
	e.Name, e.Content = s.Text(e.Name), s.Text(e.Content)
	e.Aliases = slices.Clone(e.Aliases)
	for i := range e.Aliases {
		e.Aliases[i] = s.Text(e.Aliases[i])
	}
	e.Labels = slices.Clone(e.Labels)
	for i := range e.Labels {
		e.Labels[i].Value = s.Text(e.Labels[i].Value)
	}
	return e
}

// redactVersion returns a version with the personal data in its texts hidden.
func (s *Scope) redactVersion(w oxbow.Version) oxbow.Version {
	w.Entry, w.Note = s.Shown(w.Entry), s.Text(w.Note)
	return w
}

// hasRedactionMark reports whether the text contains a mark for a kind of data that the scope hides.
func (s *Scope) hasRedactionMark(text string) bool {
	return slices.ContainsFunc(
		s.kindsToRedact(),
		func(k personal.Kind) bool { return strings.Contains(text, k.ReplacementText()) },
	)
}

// restoreAliases returns the aliases of an entry with their personal data, which the scope hides. The list newAliases
// contains the new aliases, in which a mark such as [mail] may replace the personal data. The parameter old is the
// entry before the change. If a new alias contains a mark, restoreAliases replaces it by the alias of the old entry
// that the scope shows as the same text. If there is no such alias, or if the new alias lacks a mark, the new alias
// stays as it is.
func (s *Scope) restoreAliases(newAliases []string, old *oxbow.Entry) []string {
	restored := slices.Clone(newAliases)
	for i, alias := range newAliases {
		if !s.hasRedactionMark(alias) {
			continue
		}
		for _, original := range old.Aliases {
			// Several aliases of the old entry may be shown as the same text, such as [mail]. Use each alias only once.
			isUsed := slices.Contains(restored, original)
			if s.Text(original) == alias && !isUsed {
				restored[i] = original
				break
			}
		}
	}
	return restored
}

// restoreLabels returns the labels in the list newLabels with their hidden personal data restored. If a label's value
// contains a mark such as [mail] in place of the data, the label is replaced by the old entry's label that the scope
// shows as the same text. A label that does not match any label of the entry old stays unchanged.
func (s *Scope) restoreLabels(newLabels []oxbow.Label, old *oxbow.Entry) []oxbow.Label {
	restored := slices.Clone(newLabels)
	for i, label := range newLabels {
		if !s.hasRedactionMark(label.Value) {
			continue
		}
		for _, original := range old.Labels {
			// Several labels of the old entry may be shown as the same text, such as [mail]. Use each label only once.
			isUsed := slices.Contains(restored, original)
			redacted := oxbow.Label{Key: original.Key, Value: s.Text(original.Value)}
			if redacted == label && !isUsed {
				restored[i] = original
				break
			}
		}
	}
	return restored
}

// restoreContent puts hidden personal data back into an edited text. A reader saw the content oldContent with a mark in
// place of each personal value. For example, the mark [mail] replaced a mail address. The argument text is the content
// after the reader has edited it, and it may contain such marks.
//
// If a line in the argument text equals a line that the reader saw, restoreContent uses the line of oldContent with the
// personal value. In all other lines, it must find out which value a mark means. It considers the values of the mark's
// kind in the remaining lines of oldContent, which are the lines that are not in the result yet. If there is exactly
// one such value, restoreContent replaces the mark by this value. Otherwise it returns an error, so that no data is
// lost or misplaced.
func (s *Scope) restoreContent(text, oldContent string) (string, error) {
	shown := s.Text(oldContent)
	if shown == oldContent || !s.hasRedactionMark(text) {
		return text, nil
	}
	if text == shown {
		return oldContent, nil
	}
	// Each key is a line as the reader saw it, with marks such as [mail]. The value contains the lines of oldContent
	// that look like this.
	lines := map[string][]string{}
	for line := range strings.Lines(oldContent) {
		line = strings.TrimRight(line, "\r\n")
		lines[s.Text(line)] = append(lines[s.Text(line)], line)
	}
	out := strings.SplitAfter(text, "\n")
	var edited []int
	for i, line := range out {
		bare := strings.TrimRight(line, "\r\n")
		switch were := lines[bare]; {
		case !s.hasRedactionMark(line):
		case len(were) > 0:
			out[i], lines[bare] = were[0]+line[len(bare):], were[1:]
		default:
			edited = append(edited, i)
		}
	}
	values := s.findPersonalValues(lines)
	for _, i := range edited {
		for _, k := range s.kindsToRedact() {
			if !strings.Contains(out[i], k.ReplacementText()) {
				continue
			}
			if len(values[k]) != 1 {
				return "", invalidError("content", k.ReplacementText(), "stands for data that "+s.displayTitle()+
					" does not show, and it is not clear for which; leave the lines with marks as they were shown, "+
					"or write a new entry")
			}
			out[i] = strings.ReplaceAll(out[i], k.ReplacementText(), values[k][0])
		}
	}
	return strings.Join(out, ""), nil
}

// findPersonalValues returns the personal data in the lines, such as mail addresses, by kind and without repetitions. A
// scope hides personal data by replacing it with a text such as [mail]. A line may already contain such a text,
// although the scope did not replace anything. Then this text also counts as personal data of its kind, so that it can
// be restored like all other values.
func (s *Scope) findPersonalValues(linesByShownText map[string][]string) map[personal.Kind][]string {
	values := map[personal.Kind][]string{}
	add := func(k personal.Kind, v string) {
		if !slices.Contains(values[k], v) {
			values[k] = append(values[k], v)
		}
	}
	for _, were := range linesByShownText {
		for _, line := range were {
			for _, f := range personal.FindPersonalData(line) {
				add(f.Kind, line[f.StartOffset:f.EndOffset])
			}
			for _, k := range s.kindsToRedact() {
				if strings.Contains(line, k.ReplacementText()) {
					add(k, k.ReplacementText())
				}
			}
		}
	}
	return values
}
