// The summary that a digest has when the caller gives no text: day by day, of each
// entry the beginnings of its sections, about an eighth of it. In a second step
// the sections are days, and each is cut to an eighth again.

package coderhapsody

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
)

const (
	ratio     = 8   // how much shorter a section becomes, as CodeRhapsody's own steps are
	leastKept = 160 // bytes of a section that are kept in any case
)

// opening is what a digest by rule begins with.
const opening = "The beginnings of "

// byRule returns the digest of a group.
func byRule(name string, g *group, zone *time.Location) string {
	var b strings.Builder
	title := name
	if g.title != "" {
		title += ": " + g.title
	}
	entries := "1 entry"
	if n := len(g.entries); n != 1 {
		entries = fmt.Sprintf("%d entries", n)
	}
	fmt.Fprintf(&b, "# %s\n\n%s%s; recall finds them whole.\n", title, opening, entries)
	last := ""
	for i := range g.entries {
		e := &g.entries[i]
		under, label := e.Created.In(zone).Format("2006-01-02"), ""
		switch {
		case e.Kind == oxbow.Archive: // of an earlier step: it tells of several days
			under, _, _ = strings.Cut(e.Name, " ")
		case !strings.HasPrefix(e.Name, under): // else the name says the day, or the beginning
			label = strings.Join(strings.Fields(e.Name), " ")
		}
		var said strings.Builder
		for _, s := range sections(e.Content) {
			kept := beginning(s.text, max(leastKept, len(s.text)/ratio))
			if e.Kind == oxbow.Archive && strings.HasPrefix(kept, opening) {
				continue
			}
			var words []string
			for _, w := range []string{label, s.head, kept} {
				if w != "" {
					words = append(words, w)
				}
			}
			if len(words) > 0 {
				said.WriteString("- " + strings.Join(words, ": ") + "\n")
				label = ""
			}
		}
		if said.Len() == 0 {
			continue
		}
		if b.Len()+said.Len() > oxbow.MaxContent/2 {
			b.WriteString("\n(and more)\n")
			break
		}
		if under != last {
			b.WriteString("\n## " + under + "\n\n")
			last = under
		}
		b.WriteString(said.String())
	}
	return strings.TrimRight(b.String(), "\n")
}

// shorter returns the digest of a group by the rule or, where it would be longer,
// the entries as they are.
func shorter(name string, g *group, zone *time.Location) string {
	digest := byRule(name, g, zone)
	var texts []string
	for _, e := range g.entries {
		if e.Kind == oxbow.Archive {
			return digest
		}
		texts = append(texts, strings.Trim(e.Content, "\n"))
	}
	if whole := strings.Join(texts, "\n\n"); len(whole) < len(digest) && strings.TrimSpace(whole) != "" {
		return whole
	}
	return digest
}

// section is a heading and what stands below it. The first may have no heading.
type section struct{ head, text string }

// sections cuts a Markdown text at its headings, but for those in fences.
func sections(s string) []section {
	all := []section{{}}
	fence := ""
	for line := range strings.Lines(s) {
		last := &all[len(all)-1]
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		case isHeading(line):
			all = append(all, section{head: strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "#"))})
			continue
		}
		last.text += line
	}
	return all
}

// isHeading reports whether a line is one to six # and a space.
func isHeading(line string) bool {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	return n >= 1 && n <= 6 && n < len(line) && line[n] == ' '
}

// beginning returns the first paragraph of a text on one line, the items of a
// list with semicolons between them, and no more than
// n bytes of it: ending with a sentence if one ends in the second half, else
// with a word and an ellipsis.
func beginning(s string, n int) string {
	s = strings.TrimSpace(s)
	if i := strings.Index(s, "\n\n"); i >= 0 {
		s = s[:i]
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case b.Len() == 0:
		case isItem:
			b.WriteString("; ")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(strings.Join(strings.Fields(item), " "))
	}
	s = b.String()
	if len(s) <= n {
		return s
	}
	s = text.Cut(s, n)
	for i := len(s) - 1; i > n/2; i-- {
		if strings.IndexByte(".!?", s[i]) >= 0 && (i+1 == len(s) || s[i+1] == ' ') {
			return s[:i+1]
		}
	}
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// group is the entries of a period that go into one entry of its digest.
type group struct {
	title   string        // the labels that keep it apart
	apart   []oxbow.Label // the same
	entries []oxbow.Entry
}
