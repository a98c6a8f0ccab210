// This file encodes an entry as a file with front matter:
//
//	---
//	name: Entry Name
//	description: Short searchable description
//	oxbow-labels: project:vtt tag:"two words"
//	---
//
//	Long-form content here.
//
// The file is parsed as crabtalk parses it. White space before the opening marker is skipped. The
// front matter ends at the first line that begins with ---. Its lines are trimmed. If a key occurs
// twice, the last line counts. Lines without a known key are ignored. Values are written without
// quotes and cannot contain line ends.
//
// Data that crabtalk does not store is written under keys that crabtalk ignores: oxbow-kind,
// oxbow-aliases, oxbow-labels and oxbow-created. A key is only written if it is needed.
//
// Crabtalk trims the content. oxbow does not trim the content: an empty line before the content and
// the line end after the content belong to the file, and all other bytes belong to the content.
// Therefore any content can be stored unchanged.

package entryfiles

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/oxbow-memory/oxbow"
)

// These are the keys of the front matter in an entry's file.
const (
	frontMatterKeyName        = "name"
	frontMatterKeyDescription = "description"
	frontMatterKeyKind        = "oxbow-kind"
	frontMatterKeyAliases     = "oxbow-aliases"
	frontMatterKeyLabels      = "oxbow-labels"
	frontMatterKeyCreated     = "oxbow-created"
)

// frontMatterMarker is the line before and after the front matter.
const frontMatterMarker = "---"

// entryDocument is a file's text, with the offsets of its parts.
type entryDocument struct {
	text             string
	lineEnding       string // line end of the first line, "\n" or "\r\n"
	frontMatterStart int    // offset of the front matter, after the opening marker
	// offset of the line break before the marker line that ends the front matter
	frontMatterEnd                       int
	contentStartOffset, contentEndOffset int // byte range of the content
}

// parseDocument returns the text with the offsets of its front matter and its content. It returns an error if the text
// does not begin with front matter.
func parseDocument(text string) (*entryDocument, error) {
	d := &entryDocument{text: text, lineEnding: "\n"}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		d.lineEnding = "\r\n"
	}
	rest := strings.TrimPrefix(text, "\ufeff")
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	if !strings.HasPrefix(rest, frontMatterMarker) {
		return nil, errors.New("it does not begin with " + frontMatterMarker)
	}
	d.frontMatterStart = len(text) - len(rest) + len(frontMatterMarker)
	i := strings.Index(text[d.frontMatterStart:], "\n"+frontMatterMarker)
	if i < 0 {
		return nil, errors.New("the front matter is not closed by " + frontMatterMarker)
	}
	d.frontMatterEnd = d.frontMatterStart + i
	d.contentStartOffset, d.contentEndOffset = d.frontMatterEnd+len("\n"+frontMatterMarker), len(text)
	// Skip the rest of the line that ends the front matter if it is blank. Then skip one empty line.
	if line, _, ok := strings.Cut(text[d.contentStartOffset:], "\n"); ok && strings.TrimSpace(line) == "" {
		d.contentStartOffset += len(line) + 1
		if strings.HasPrefix(text[d.contentStartOffset:], d.lineEnding) {
			d.contentStartOffset += len(d.lineEnding)
		}
	}
	if strings.HasSuffix(text[d.contentStartOffset:], d.lineEnding) {
		d.contentEndOffset -= len(d.lineEnding)
	}
	return d, nil
}

// content returns the content of the file with "\n" as line end.
func (d *entryDocument) content() string {
	s := d.text[d.contentStartOffset:d.contentEndOffset]
	if d.lineEnding != "\n" {
		s = strings.ReplaceAll(s, d.lineEnding, "\n")
	}
	return s
}

// withContent returns the text of the file with another content. Only the content changes, if the result can be read
// back so. Otherwise the empty lines around the content change, too.
func (d *entryDocument) withContent(content string) string {
	if content == d.content() {
		return d.text
	}
	if d.lineEnding != "\n" {
		content = strings.ReplaceAll(content, "\n", d.lineEnding)
	}
	text := d.text[:d.contentStartOffset] + content + d.text[d.contentEndOffset:]
	if now, err := parseDocument(text); err == nil &&
		now.text[now.contentStartOffset:now.contentEndOffset] == content {
		return text
	}
	// Empty lines around the content are ambiguous, because they may belong to the content or to the file. Write the
	// file again with the usual empty lines.
	return d.text[:d.frontMatterEnd+len("\n"+frontMatterMarker)] + d.lineEnding + d.lineEnding + content + d.lineEnding
}

// keyValue returns the value of a key. ok is false if the file does not have the key.
func (d *entryDocument) keyValue(key string) (value string, ok bool) {
	for line := range strings.SplitSeq(d.text[d.frontMatterStart:d.frontMatterEnd], "\n") {
		if v, found := strings.CutPrefix(strings.TrimSpace(line), key+":"); found {
			value, ok = strings.TrimSpace(v), true
		}
	}
	return value, ok
}

// setKey returns the document with a new value for a key. If several lines contain the key, setKey changes the last of
// these lines, because a reader uses the last value. If the key is missing, setKey inserts a line below the key that
// the argument precedingKey names. If that key is also missing, the line becomes the last line of the front matter. An
// empty value removes all lines of the key.
func (d *entryDocument) setKey(key, value, precedingKey string) (*entryDocument, error) {
	now, there := d.keyValue(key)
	if now == value && there == (value != "") {
		return d, nil
	}
	lines := strings.Split(d.text[d.frontMatterStart:d.frontMatterEnd], "\n")
	is := func(line, key string) bool { return strings.HasPrefix(strings.TrimSpace(line), key+":") }
	last := -1
	for i, line := range lines {
		if is(line, key) {
			last = i
		}
	}
	switch {
	case last >= 0 && value != "":
		line := lines[last]
		at := strings.Index(line, key+":") + len(key) + 1
		space, tail := " ", line[len(strings.TrimRightFunc(line, unicode.IsSpace)):]
		if now != "" {
			space = line[at : at+strings.Index(line[at:], now)]
		} else if strings.HasSuffix(line, "\r") {
			tail = "\r"
		} else {
			tail = ""
		}
		lines[last] = line[:at] + space + value + tail
	case last >= 0:
		kept := lines[:0]
		for _, line := range lines {
			if !is(line, key) {
				kept = append(kept, line)
			}
		}
		lines = kept
	default:
		at := len(lines)
		for i, line := range lines {
			if precedingKey != "" && is(line, precedingKey) {
				at = i + 1
			}
		}
		line := key + ": " + value + strings.TrimSuffix(d.lineEnding, "\n")
		lines = append(lines[:at], append([]string{line}, lines[at:]...)...)
	}
	return parseDocument(d.text[:d.frontMatterStart] + strings.Join(lines, "\n") + d.text[d.frontMatterEnd:])
}

// joinDescription returns an entry's content: the file's description, an empty line, and the file's content. An empty
// description is left out together with the empty line.
func joinDescription(description, content string) string {
	if description == "" {
		return content
	}
	return description + "\n\n" + content
}

// splitDescription splits the text s, which joinDescription made, at the first empty line into the description and the
// content. If s has no empty line, or if the text before it is not a single clean line, the description is "" and the
// content is s.
func splitDescription(s string) (description, content string) {
	d, c, ok := strings.Cut(s, "\n\n")
	isDescription := d != "" && toSingleLine(d) == d
	if !ok || !isDescription {
		return "", s
	}
	return d, c
}

// toSingleLine returns the text s as a single line, so that the text can be the value of a key. It replaces line breaks
// and other control characters by spaces, and removes white space at both ends.
func toSingleLine(s string) string {
	s = strings.Map(func(r rune) rune {
		isLineBreak := r == '\u2028' || r == '\u2029'
		if isLineBreak || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// entry returns the entry that the file contains. It returns an error if the file lacks a name or has an invalid value.
func (d *entryDocument) entry() (oxbow.Entry, error) {
	var e oxbow.Entry
	e.Name, _ = d.keyValue(frontMatterKeyName)
	if e.Name == "" {
		return e, errors.New("the front matter has no name")
	}
	description, _ := d.keyValue(frontMatterKeyDescription)
	e.Content = joinDescription(description, d.content())
	var err error
	if v, ok := d.keyValue(frontMatterKeyKind); ok {
		e.Kind, err = oxbow.ParseKind(v)
		if err != nil {
			return e, fmt.Errorf("%s: %w", frontMatterKeyKind, err)
		}
	}
	if v, ok := d.keyValue(frontMatterKeyAliases); ok {
		e.Aliases, err = parseQuotedWords(v)
		if err != nil {
			return e, fmt.Errorf("%s: %w", frontMatterKeyAliases, err)
		}
	}
	if v, ok := d.keyValue(frontMatterKeyLabels); ok {
		words, err := splitLabelLine(v)
		if err != nil {
			return e, fmt.Errorf("%s: %w", frontMatterKeyLabels, err)
		}
		for _, w := range words {
			l, err := oxbow.ParseLabel(w)
			if err != nil {
				return e, fmt.Errorf("%s: %w", frontMatterKeyLabels, err)
			}
			e.Labels = append(e.Labels, l)
		}
	}
	if v, ok := d.keyValue(frontMatterKeyCreated); ok {
		e.Created, err = time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return e, fmt.Errorf("%s: %q is not a time such as 2026-04-18T10:00:00Z", frontMatterKeyCreated, v)
		}
		e.Created = e.Created.UTC()
	}
	return e, nil
}

// parseQuotedWords returns the words in a text such as `"red" "dark blue"`, without the quotes. The words are quoted
// like Go strings. If the text has another form, it returns an error.
func parseQuotedWords(s string) ([]string, error) {
	var words []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeft(s, " \t") {
		q, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%q does not begin with a word in quotes", s)
		}
		w, err := strconv.Unquote(q)
		if err != nil {
			return nil, err
		}
		words, s = append(words, w), s[len(q):]
	}
	return words, nil
}

func formatQuotedWords(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Quote(w))
	}
	return b.String()
}

// splitLabelLine splits a line of labels at the spaces that are not in quotes.
func splitLabelLine(s string) ([]string, error) {
	var words []string
	start := -1
	for i := 0; i < len(s); {
		switch {
		case s[i] == ' ' || s[i] == '\t':
			if start >= 0 {
				words, start = append(words, s[start:i]), -1
			}
			i++
		case s[i] == '"':
			q, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return nil, fmt.Errorf("%q has an unclosed or badly escaped quote", s[i:])
			}
			if start < 0 {
				start = i
			}
			i += len(q)
		default:
			if start < 0 {
				start = i
			}
			i++
		}
	}
	if start >= 0 {
		words = append(words, s[start:])
	}
	return words, nil
}

func formatLabels(ls []oxbow.Label) string {
	words := make([]string, 0, len(ls))
	for _, l := range oxbow.SortLabels(ls) {
		words = append(words, l.String())
	}
	return strings.Join(words, " ")
}

// formatEntryFile returns the text of the file for a new entry. For a note without labels, aliases and a creation time,
// the file has the same bytes as if crabtalk had written it.
func formatEntryFile(e oxbow.Entry) string {
	description, content := splitDescription(e.Content)
	var b strings.Builder
	b.WriteString(
		frontMatterMarker + "\n" + frontMatterKeyName + ": " + e.Name + "\n" + frontMatterKeyDescription + ": " +
			description +
			"\n",
	)
	for _, p := range oxbowKeyValues(e) {
		if p[1] != "" {
			b.WriteString(p[0] + ": " + p[1] + "\n")
		}
	}
	b.WriteString(frontMatterMarker + "\n\n" + content + "\n")
	return b.String()
}

// oxbowKeyValues returns the front matter keys that crabtalk does not use, with the entry's values.
func oxbowKeyValues(e oxbow.Entry) [][2]string {
	kind, created := "", ""
	if e.Kind != oxbow.Note {
		kind = e.Kind.String()
	}
	if !e.Created.IsZero() {
		created = e.Created.UTC().Format(time.RFC3339Nano)
	}
	return [][2]string{
		{frontMatterKeyKind, kind},
		{frontMatterKeyAliases, formatQuotedWords(e.Aliases)},
		{frontMatterKeyLabels, formatLabels(e.Labels)},
		{frontMatterKeyCreated, created},
	}
}

// rewriteFile returns the text of a file after its entry has changed from oldEntry to newEntry. Lines that need not
// change stay as they are.
func rewriteFile(text string, oldEntry, newEntry oxbow.Entry) (string, error) {
	d, err := parseDocument(text)
	if err != nil {
		return "", err
	}
	if newEntry.Content != oldEntry.Content {
		had, there := d.keyValue(frontMatterKeyDescription)
		description, content := splitDescription(newEntry.Content)
		before, _ := splitDescription(oldEntry.Content)
		switch {
		case had != "" && strings.HasPrefix(newEntry.Content, had+"\n\n"):
			description, content = had, newEntry.Content[len(had)+2:]
		case had == "" && description == before:
			// Leave the description empty, because a person wrote the file without one.
			description, content = "", newEntry.Content
		}
		if description == "" && there {
			d, err = d.clearKeyValue(frontMatterKeyDescription)
		} else {
			d, err = d.setKey(frontMatterKeyDescription, description, frontMatterKeyName)
		}
		if err != nil {
			return "", err
		}
		d, err = parseDocument(d.withContent(content))
		if err != nil {
			return "", err
		}
	}
	for _, p := range oxbowKeyValues(newEntry) {
		d, err = d.setKey(p[0], p[1], "")
		if err != nil {
			return "", err
		}
	}
	return d.text, nil
}

// clearKeyValue returns the document with an empty value for the key. The line of the key stays.
func (d *entryDocument) clearKeyValue(key string) (*entryDocument, error) {
	now, _ := d.keyValue(key)
	if now == "" {
		return d, nil
	}
	lines := strings.Split(d.text[d.frontMatterStart:d.frontMatterEnd], "\n")
	for i, line := range lines {
		if at := strings.Index(line, key+":"); at >= 0 && strings.HasPrefix(strings.TrimSpace(line), key+":") {
			tail := ""
			if strings.HasSuffix(line, "\r") {
				tail = "\r"
			}
			lines[i] = line[:at+len(key)+1] + " " + tail
		}
	}
	return parseDocument(d.text[:d.frontMatterStart] + strings.Join(lines, "\n") + d.text[d.frontMatterEnd:])
}
