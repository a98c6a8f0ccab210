// This file composes the text of a digest if the caller does not provide the text. A digest is an entry that replaces
// older logs. For each day, the text contains the beginnings of all sections. Its size is an eighth of the entries'
// size. If digests are compressed again, each day in them is a section, and all texts are cut to an eighth again.

package coderhapsody

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

const (
	// a digest text is this many times shorter than the entries that it summarizes, as in CodeRhapsody
	digestShrinkFactor = 8
	minSectionBytes    = 60 // minimum number of bytes for a section of an entry in a digest
)

// composedDigestOpening is the beginning of each text that composeDigestText composes.
const composedDigestOpening = "The beginnings of "

// entrySection is a section of an entry in a digest.
type entrySection struct {
	markdownSection
	// heading in the digest under which the section appears: the day of the entry, or the name of an older digest
	groupHeading string
	entryName    string // name of the entry, or "" if groupHeading already contains the name

	isFirstOfEntry bool // the section is the first section of an entry
}

// composeDigestText returns a text that summarizes a group's entries by the beginnings of their sections. The text is
// at most an eighth as long as the entries, unless there is not enough space for even one section. If there is not
// enough space for all sections, chooseDigestSections selects some of them.
func composeDigestText(name string, g *digestEntryGroup, zone *time.Location) string {
	all, size := g.sectionsOfEntries(zone)
	budget := size / digestShrinkFactor
	for n := len(all); ; n -= max(1, n/20) {
		if text := writeDigest(name, g, chooseDigestSections(all, n), budget); len(text) <= budget || n <= 1 {
			return text
		}
	}
}

// sectionsOfEntries returns the sections of all entries in the group, and the entries' total size in bytes.
func (g *digestEntryGroup) sectionsOfEntries(zone *time.Location) (all []entrySection, entryBytes int) {
	for i := range g.entries {
		e := &g.entries[i]
		entryBytes += len(e.Content)
		under, label := e.Created.In(zone).Format("2006-01-02"), ""
		switch {
		case e.Kind == oxbow.Archive: // the entry is a digest, which summarizes several days
			under, _, _ = strings.Cut(e.Name, " ")
		// show the entry's name, unless it begins with the day, which is already the heading
		case !strings.HasPrefix(e.Name, under):
			label = strings.Join(strings.Fields(e.Name), " ")
		}
		isFirst := true
		for _, s := range splitSections(e.Content) {
			s.text = strings.TrimSpace(s.text)
			isOpening := e.Kind == oxbow.Archive && strings.HasPrefix(s.text, composedDigestOpening)
			isEmpty := s.heading == "" && s.text == "" && label == ""
			if isEmpty || isOpening {
				continue
			}
			all = append(all, entrySection{s, under, label, isFirst})
			label, isFirst = "", false
		}
	}
	return all, entryBytes
}

// chooseDigestSections returns at most sectionCount sections of the list all, in their original order. It prefers the
// first section of each entry. Among these, it prefers short sections, because they need little space. If there are too
// few first sections, it adds the longest of the other sections.
func chooseDigestSections(all []entrySection, sectionCount int) []entrySection {
	if sectionCount >= len(all) {
		return all
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := all[a], all[b]; {
		case x.isFirstOfEntry && y.isFirstOfEntry:
			return len(x.text) - len(y.text)
		case x.isFirstOfEntry != y.isFirstOfEntry:
			return map[bool]int{true: -1, false: 1}[x.isFirstOfEntry]
		default:
			return len(y.text) - len(x.text)
		}
	})
	order = order[:sectionCount]
	slices.Sort(order)
	var kept []entrySection
	for _, i := range order {
		kept = append(kept, all[i])
	}
	return kept
}

// writeDigest returns the text of a digest, which is a log that summarizes older logs. name is the name of the digest.
// keptSections are the sections to show. A section of at most minSectionBytes is shown completely. Longer sections
// share the rest of maxBytes in proportion to their lengths, and each gets at least minSectionBytes.
func writeDigest(name string, g *digestEntryGroup, keptSections []entrySection, maxBytes int) string {
	title := name
	if g.labelListTitle != "" {
		title += ": " + g.labelListTitle
	}
	head := fmt.Sprintf(
		"# %s\n\n%s%s; recall finds them whole.\n",
		title,
		composedDigestOpening,
		text.FormatCount(len(g.entries), "entry", "entries"),
	)
	if len(head) > maxBytes/4 {
		head = "" // omit the digest's heading, which is also the name of the entry
	}
	left := maxBytes - len(head)
	size := 0
	last := ""
	for _, s := range keptSections {
		left -= len("- : \n") + len(s.entryName) + len(s.heading)
		if s.groupHeading != last {
			left -= len("\n## \n\n") + len(s.groupHeading)
			last = s.groupHeading
		}
		if len(s.text) <= minSectionBytes {
			// a short section is included completely, and the longer sections share the rest of the space
			left -= len(s.text)
		} else {
			size += len(s.text)
		}
	}
	var b strings.Builder
	b.WriteString(head)
	last = ""
	for _, s := range keptSections {
		share := minSectionBytes
		if size > 0 {
			share = max(share, int(int64(left)*int64(len(s.text))/int64(size)))
		}
		var words []string
		for _, w := range []string{s.entryName, s.heading, firstParagraph(s.text, share)} {
			if w != "" {
				words = append(words, w)
			}
		}
		if len(words) == 0 {
			continue
		}
		if s.groupHeading != last {
			b.WriteString("\n## " + s.groupHeading + "\n\n")
			last = s.groupHeading
		}
		b.WriteString("- " + strings.Join(words, ": ") + "\n")
	}
	return strings.Trim(b.String(), "\n")
}

// chooseDigestText returns a text for the digest of a group. This is the result of composeDigestText, or the entries'
// unchanged texts if these are shorter. If the group contains a digest (an entry of the kind archive), it is always the
// result of composeDigestText.
func chooseDigestText(name string, g *digestEntryGroup, zone *time.Location) string {
	digest := composeDigestText(name, g, zone)
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

// markdownSection is a heading and the text below it. For text before the first heading, heading is empty.
type markdownSection struct{ heading, text string }

// splitSections splits a Markdown text at its headings outside of fenced code blocks.
func splitSections(s string) []markdownSection {
	all := []markdownSection{{}}
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
			all = append(all, markdownSection{heading: strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "#"))})
			continue
		}
		last.text += line
	}
	return all
}

// isHeading reports whether the line begins with up to six # and a space.
func isHeading(line string) bool {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	return n >= 1 && n <= 6 && n < len(line) && line[n] == ' '
}

// firstParagraph returns the first paragraph of s as a single line. List items are separated by semicolons. A line with
// more than maxBytes bytes is cut. There are three ways to cut the line:
//   - If a sentence ends in the second half of the allowed length, the line is cut after this sentence, without an
//     ellipsis.
//   - Otherwise, if a word ends in the second half, the line is cut after this word, and an ellipsis is added.
//   - Otherwise, the line is cut after maxBytes bytes or a few bytes earlier, and an ellipsis is added.
//
// The ellipsis does not count towards maxBytes.
func firstParagraph(s string, maxBytes int) string {
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
	if len(s) <= maxBytes {
		return s
	}
	s = text.TruncateBytes(s, maxBytes)
	for i := len(s) - 1; i > maxBytes/2; i-- {
		isWordEnd := i+1 == len(s) || s[i+1] == ' '
		if isWordEnd && strings.IndexByte(".!?", s[i]) >= 0 {
			return s[:i+1]
		}
	}
	if i := strings.LastIndexByte(s, ' '); i > maxBytes/2 {
		s = s[:i]
	}
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// digestEntryGroup contains the entries that a digest combines into a single entry.
type digestEntryGroup struct {
	labelListTitle string        // list of the labels in commonLabels, as text
	commonLabels   []oxbow.Label // labels that all entries of the group have
	entries        []oxbow.Entry
}
