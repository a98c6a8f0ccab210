// This file encodes and decodes an entry's file. The package comment describes the format.

package mdtree

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

const (
	propertyBlockStart     = `<div id="meta">`
	propertyBlockEnd       = `</div>`
	lineEndingCommentStart = "<!-- content: "
	lineEndingCommentEnd   = " -->"
	byteOrderMark          = "\ufeff"
	lineEnds               = "\r\n"

	// maxMessageValueBytes is the maximum length, in bytes, of a value in a message.
	maxMessageValueBytes = 60
)

// entryText is an entry in the form in which it is written to its Markdown file.
type entryText struct {
	*oxbow.Entry
	includesName bool // the block with the entry's properties at the start of the file also contains the name
}

// appendFileText appends the text of the entry's file to b.
func (e entryText) appendFileText(b []byte) []byte {
	start := len(b)
	b, nameAt := e.appendTextWithoutName(b)
	if !e.includesName {
		return b
	}
	return slices.Insert(b, start+nameAt, appendName(nil, e.Name)...)
}

// appendName appends the lines with the entry's name to b. These lines belong to the block with the entry's properties,
// which is in the entry's file.
func appendName(b []byte, name string) []byte {
	return append(b, "  <dt>Name</dt>\n  <dd>"+escapeTextAndOuterSpace(name)+"</dd>\n"...)
}

// appendTextWithoutName appends the text of the entry's file to b, without the lines for the entry's name. nameOffset
// is the position in the appended text at which these lines belong.
func (e entryText) appendTextWithoutName(b []byte) (text []byte, nameOffset int) {
	start := len(b)
	b = append(b, propertyBlockStart+"\n<dl>\n"...)
	if !e.Created.IsZero() {
		t := formatTime(e.Created)
		b = append(b, "  <dt>Created</dt>\n  <dd><time datetime=\""+t+"\">"+t+"</time></dd>\n"...)
	}
	if len(e.Aliases) > 0 {
		b = appendPropertyList(b, "Aliases", len(e.Aliases), func(i int) string { return e.Aliases[i] })
	}
	if len(e.Labels) > 0 {
		b = appendPropertyList(b, "Labels", len(e.Labels), func(i int) string { return e.Labels[i].String() })
	}
	nameOffset = len(b) - start
	head, _, tail := splitOuterLineBreaks(e.Content)
	if head != "" || tail != "" {
		b = append(b, "  "+lineEndingCommentStart...)
		if head != "" {
			b = append(b, describeLineBreaks(head)+" before"...)
		}
		if head != "" && tail != "" {
			b = append(b, ", "...)
		}
		if tail != "" {
			b = append(b, describeLineBreaks(tail)+" after"...)
		}
		b = append(b, lineEndingCommentEnd+"\n"...)
	}
	b = append(b, "</dl>\n"+propertyBlockEnd+"\n\n"...)
	content := strings.TrimLeft(e.Content, "\n")
	b = append(b, content...)
	if content != "" && !strings.HasSuffix(content, "\n") {
		b = append(b, '\n')
	}
	return b, nameOffset
}

func appendPropertyList(b []byte, title string, n int, item func(int) string) []byte {
	b = append(b, "  <dt>"+title+"</dt>\n  <dd>\n    <ul>\n"...)
	for i := range n {
		b = append(b, "      <li>"+escapeText(item(i))+"</li>\n"...)
	}
	return append(b, "    </ul>\n  </dd>\n"...)
}

// parsedFile is the content of a file. Fields that the file does not specify are zero.
type parsedFile struct {
	name    string
	hasName bool // the block with the entry's properties at the start of the file contains the name
	created time.Time
	aliases []string
	labels  []oxbow.Label
	content string
	// Warnings about the block with the entry's properties. Each describes text in this block that was ignored or that
	// may have been misunderstood.
	warnings []string

	hasIgnoredText bool // the block with the entry's properties contains text that is ignored
}

// parseEntry parses an entry's file. Any text without a block of data is valid. The error lists the
// parts of a block that cannot be understood.
func parseEntry(fileText string) (parsedFile, error) {
	var p parsedFile
	fileText = strings.TrimPrefix(fileText, byteOrderMark)
	rest, ok := strings.CutPrefix(fileText, propertyBlockStart)
	if !ok {
		p.content = strings.TrimRight(fileText, lineEnds)
		return p, nil
	}
	block, body, ok := strings.Cut(rest, propertyBlockEnd)
	if !ok {
		p.content = strings.TrimRight(fileText, lineEnds)
		p.warnings = append(p.warnings, "its block of data is never closed, so all of it is read as content")
		return p, nil
	}
	p.content = strings.Trim(body, lineEnds)
	var errs []error
	if i := strings.Index(block, lineEndingCommentStart); i >= 0 {
		mark, _, _ := strings.Cut(block[i+len(lineEndingCommentStart):], lineEndingCommentEnd)
		head, tail, err := parseLineEndsComment(mark)
		if err != nil {
			errs = append(errs, err)
		}
		p.content = head + p.content + tail
	}
	if s, ok := findTime(block); ok {
		p.created, ok = parseTime(s)
		if !ok {
			p.hasIgnoredText = true
			p.warnings = append(
				p.warnings,
				fmt.Sprintf(
					"its date %q is not understood and so not read; write it like 2026-04-18T09:30:00Z",
					text.TruncateWithEllipsis(s, maxMessageValueBytes),
				),
			)
		}
	}
	p.aliases = listItems(textAfterTitle(block, "Aliases"))
	for _, s := range listItems(textAfterTitle(block, "Labels")) {
		l, err := oxbow.ParseLabel(strings.TrimSpace(s))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.labels = append(p.labels, l)
	}
	p.labels = oxbow.SortLabels(p.labels)
	if s := textAfterTitle(block, "Name"); s != "" {
		_, s, _ = strings.Cut(s, "<dd>")
		s, _, p.hasName = strings.Cut(s, "</dd>")
		p.name = unescapeBlockText(strings.TrimSpace(s))
	}
	for _, t := range ignoredPropertyTexts(block) {
		p.hasIgnoredText = true
		p.warnings = append(
			p.warnings,
			fmt.Sprintf(
				"its block of data has %q, which is not read; to keep this text, move it below the block",
				text.TruncateWithEllipsis(t, maxMessageValueBytes),
			),
		)
	}
	return p, errors.Join(errs...)
}

// propertyTagRemover removes the HTML tags that oxbow writes between the properties of an entry in the entry's file.
var propertyTagRemover = strings.NewReplacer("<dl>", "", "</dl>", "", "<dd>", "", "</dd>", "", "<ul>", "", "</ul>", "")

// ignoredPropertyTexts returns the texts that parseEntry ignores in the block with the entry's properties. These are
// properties with unknown titles, and text at a place where oxbow never writes text.
func ignoredPropertyTexts(propertyBlock string) []string {
	var unread []string
	rest := propertyBlock
	if from, to := strings.Index(rest, lineEndingCommentStart), strings.Index(rest, lineEndingCommentEnd); 0 <= from &&
		from < to {
		rest = rest[:from] + rest[to+len(lineEndingCommentEnd):]
	}
	if value, ok := findTime(rest); ok {
		rest = removeDumpedTime(rest, value)
	}
	rest = strings.Replace(rest, "<dt>Created</dt>", "", 1)
	for _, title := range []string{"Aliases", "Labels"} {
		rest = replaceProperty(rest, title, removeListItems)
	}
	rest = replaceProperty(rest, "Name", func(s string) string {
		before, name, isOpen := strings.Cut(s, "<dd>")
		_, after, isClosed := strings.Cut(name, "</dd>")
		if !isOpen || !isClosed {
			return s
		}
		return before + after
	})
	for _, title := range blockTitles(rest) {
		isKnown := slices.Contains([]string{"Created", "Aliases", "Labels", "Name"}, title)
		if isKnown {
			// The title occurs for the second time. Only the text below the first title was read, so the text here
			// stays in rest.
			continue
		}
		unread = append(unread, title)
		rest = replaceProperty(rest, escapeText(title), func(string) string { return "" })
	}
	if s := strings.TrimSpace(propertyTagRemover.Replace(rest)); s != "" {
		unread = append(unread, s)
	}
	return unread
}

// removeDumpedTime removes the first <time> element from an HTML block if the element's datetime attribute is timeText
// and the element has the form in which a dump writes it. If the visible time in the element differs from timeText,
// only the tags are removed and the visible time stays, because a person may have changed it. If the end tag is
// missing, only the start tag is removed.
func removeDumpedTime(propertyBlock, timeText string) string {
	open := `<time datetime="` + timeText + `">`
	before, s, ok := strings.Cut(propertyBlock, open)
	shown, after, isClosed := strings.Cut(s, "</time>")
	switch {
	case !ok:
		return propertyBlock
	case !isClosed:
		return before + s
	case shown == timeText || shown == "":
		return before + after
	}
	return before + shown + after
}

// replaceProperty changes one property in propertyBlock, which is the HTML text of an entry's properties. The argument
// propertyTitle is the title of the property, such as "Labels". replaceProperty removes the title. It passes the
// property's text to the function change, and replaces this text by the function's result. If propertyBlock does not
// contain the title, replaceProperty returns propertyBlock unchanged.
func replaceProperty(propertyBlock, propertyTitle string, change func(part string) string) string {
	before, s, ok := strings.Cut(propertyBlock, "<dt>"+propertyTitle+"</dt>")
	if !ok {
		return propertyBlock
	}
	p := textAfterTitle(propertyBlock, propertyTitle)
	return before + change(p) + s[len(p):]
}

// removeListItems removes from s the list items that listItems would return.
func removeListItems(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<li>")
		_, rest, closed := strings.Cut(rest, "</li>")
		if !ok || !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		s = rest
	}
}

// textAfterTitle returns the text that follows a title, such as "Labels", in the HTML block with an entry's
// properties. The text ends at the next title.
func textAfterTitle(block, title string) string {
	_, s, ok := strings.Cut(block, "<dt>"+title+"</dt>")
	if !ok {
		return ""
	}
	s, _, _ = strings.Cut(s, "<dt>")
	return s
}

func blockTitles(block string) []string {
	var ts []string
	for {
		_, rest, ok := strings.Cut(block, "<dt>")
		t, rest, closed := strings.Cut(rest, "</dt>")
		if !ok || !closed {
			return ts
		}
		ts = append(ts, unescapeBlockText(t))
		block = rest
	}
}

// listItems returns the items of a list. If an item contains line breaks, listItems removes white space at its ends,
// because a person must have added the line breaks. Otherwise white space is kept, because oxbow may have written this
// white space to the file.
func listItems(s string) []string {
	var items []string
	for {
		_, rest, ok := strings.Cut(s, "<li>")
		item, rest, closed := strings.Cut(rest, "</li>")
		if !ok || !closed {
			return items
		}
		if strings.ContainsAny(item, lineEnds) {
			item = strings.TrimSpace(item)
		}
		items = append(items, unescapeBlockText(item))
		s = rest
	}
}

// findTime returns the datetime attribute of the first <time> element.
func findTime(block string) (string, bool) {
	_, s, ok := strings.Cut(block, "<time")
	if !ok {
		return "", false
	}
	s, _, _ = strings.Cut(s, ">")
	_, s, ok = strings.Cut(s, `datetime="`)
	if !ok {
		return "", false
	}
	s, _, ok = strings.Cut(s, `"`)
	return s, ok
}

// These are the first and the last second that RFC 3339 can represent, in the years 0 and 9999, in seconds since 1970.
const (
	minUnixSeconds = -62167219200
	maxUnixSeconds = 253402300799
)

// formatTime formats a time in UTC as defined in RFC 3339. The fraction of a second is left out if it is zero. RFC
// 3339 cannot represent years before 0 or after 9999. Such a time is written as @ and the seconds since 1970.
func formatTime(t time.Time) string {
	t = t.UTC()
	sec, nano := t.Unix(), t.Nanosecond()
	switch {
	case (sec < minUnixSeconds || sec > maxUnixSeconds) && nano == 0:
		return "@" + strconv.FormatInt(sec, 10)
	case sec < minUnixSeconds || sec > maxUnixSeconds:
		return fmt.Sprintf("@%d+%09d", sec, nano)
	case nano == 0:
		return t.Format("2006-01-02T15:04:05Z")
	}
	return t.Format(time.RFC3339Nano)
}

// parseTime parses the output of formatTime, which has the form of RFC 3339 or the form @seconds+nanoseconds (a Unix
// time, in which the fraction of nine digits is optional). It also accepts the following variants of RFC 3339. The time
// may have an offset instead of Z. The letter T may be written as a space or as t, and the letter Z as z. The leap
// second :60 is read as :59. The result is false if s has none of these forms.
func parseTime(s string) (time.Time, bool) {
	if s, ok := strings.CutPrefix(s, "@"); ok {
		s, frac, hasFrac := strings.Cut(s, "+")
		sec, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return time.Time{}, false
		}
		var nano int
		if hasFrac {
			nano, err = strconv.Atoi(frac)
			isFraction := err == nil && len(frac) == 9 && nano >= 0
			if !isFraction {
				return time.Time{}, false
			}
		}
		return time.Unix(sec, int64(nano)).UTC(), true
	}
	const seconds = len("2006-01-02T15:04:")
	if len(s) < len("2006-01-02T15:04:05Z") {
		return time.Time{}, false
	}
	b := []byte(s)
	if b[10] == ' ' || b[10] == 't' {
		b[10] = 'T'
	}
	if last := len(b) - 1; b[last] == 'z' {
		b[last] = 'Z'
	}
	if string(b[seconds-1:seconds+2]) == ":60" {
		b[seconds], b[seconds+1] = '5', '9'
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return time.Time{}, false
	}
	return t.UTC(), true
}

// splitOuterLineBreaks splits a content into the line breaks at the beginning, the text, and the line breaks at the
// end. If the content consists only of line breaks, leading contains the whole content.
func splitOuterLineBreaks(s string) (leading, text, trailing string) {
	rest := strings.TrimLeft(s, lineEnds)
	text = strings.TrimRight(rest, lineEnds)
	return s[:len(s)-len(rest)], text, rest[len(text):]
}

// describeLineBreaks describes a sequence of line breaks, for example as "CRLF*2 LF".
func describeLineBreaks(s string) string {
	var words []string
	for s != "" {
		end, word := s[:1], "LF"
		switch {
		case strings.HasPrefix(s, "\r\n"):
			end, word = s[:2], "CRLF"
		case s[0] == '\r':
			word = "CR"
		}
		n := 1
		// A CR that is followed by LF belongs to a CRLF.
		for s = s[len(end):]; strings.HasPrefix(s, end) &&
			!(word == "CR" && strings.HasPrefix(s, "\r\n")); s = s[len(end):] {
			n++
		}
		if n > 1 {
			word += "*" + strconv.Itoa(n)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// parseLineEndsComment parses the comment that lists the line breaks around a content, for example "LF*2 before, CRLF
// after". It returns the line breaks before the content and those after the content.
func parseLineEndsComment(s string) (head, tail string, err error) {
	for part := range strings.SplitSeq(s, ", ") {
		if v, ok := strings.CutSuffix(part, " before"); ok && head == "" && tail == "" {
			head, err = parseLineEnds(v)
		} else if v, ok := strings.CutSuffix(part, " after"); ok && tail == "" {
			tail, err = parseLineEnds(v)
		} else {
			err = errors.New("is not understood")
		}
		if err != nil {
			return "", "", fmt.Errorf(
				"the comment on line breaks, %q, %w; write it like %sLF*2 before, CRLF after%s or take it out",
				text.TruncateWithEllipsis(s, maxMessageValueBytes), err, lineEndingCommentStart, lineEndingCommentEnd,
			)
		}
	}
	return head, tail, nil
}

func parseLineEnds(s string) (string, error) {
	var b strings.Builder
	for word := range strings.FieldsSeq(s) {
		word, count, counted := strings.Cut(word, "*")
		end, ok := map[string]string{"LF": "\n", "CR": "\r", "CRLF": "\r\n"}[word]
		n := 1
		if counted {
			var err error
			n, err = strconv.Atoi(count)
			if err != nil || n < 1 {
				ok = false
			}
		}
		if !ok {
			return "", errors.New("is not understood")
		}
		if n > (oxbow.MaxContent-b.Len())/len(end) {
			return "", errors.New("lists more than one content may hold")
		}
		b.WriteString(strings.Repeat(end, n))
	}
	return b.String(), nil
}

// escapeText escapes the string s for the HTML block with an entry's properties in the entry's file. It replaces &, <
// and > by named references such as &lt;, as the program crabtalk does, and control characters by numeric references
// such as &#10;. Therefore no line of the text can end the block.
func escapeText(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return r == '&' || r == '<' || r == '>' || unicode.IsControl(r)
	}) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case unicode.IsControl(r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeTextAndOuterSpace is like escapeText, but also escapes white space at both ends, so that it is kept.
func escapeTextAndOuterSpace(s string) string {
	text := strings.TrimSpace(s)
	i := strings.Index(s, text)
	var b strings.Builder
	number := func(s string) {
		for _, r := range s {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	number(s[:i])
	b.WriteString(escapeText(text))
	number(s[i+len(text):])
	return b.String()
}

var htmlEntities = []struct{ name, text string }{
	{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`}, {"&apos;", "'"},
}

// unescapeBlockText reverses escapeText. It decodes the names in htmlEntities, such as &amp; and &quot;, and decimal
// character references such as &#39;. Any other text is left unchanged.
func unescapeBlockText(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
next:
	for s != "" {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		for _, e := range htmlEntities {
			if rest, ok := strings.CutPrefix(s, e.name); ok {
				b.WriteString(e.text)
				s = rest
				continue next
			}
		}
		if num, rest, ok := strings.Cut(s, ";"); ok && strings.HasPrefix(num, "&#") {
			r, err := strconv.ParseUint(num[2:], 10, 32)
			isRune := r <= unicode.MaxRune && utf8.ValidRune(rune(r))
			if err == nil && isRune {
				b.WriteRune(rune(r))
				s = rest
				continue
			}
		}
		b.WriteByte('&')
		s = s[1:]
	}
	b.WriteString(s)
	return b.String()
}
