// The log of a day: parsing and writing it.
//
// The file of a day is
//
//	# 2026-02-18
//
//	## 15:46
//
//	What was learned, as it was given.
//
//	## 15:46
//
//	A second entry of the same minute.
//
// A line "## HH:MM" of its own begins an entry; other headings are part of the
// entry that they stand in. The first line is written once. (Some versions of
// duragent write it before each entry: where such a line has an entry's heading
// after it, or nothing at all, it is content of no entry.) What stands before the
// first entry, next to the first line, is the opening of the day.
//
// A content may hold lines that look like these two. They are written with a
// backslash in front, which Markdown shows as the plain line, and one backslash
// more when they have some already; reading takes one away. So every content
// comes back as it was, and none makes an entry of its own.

package duragent

import (
	"strconv"
	"strings"
	"time"
)

const (
	dayForm    = "2006-01-02"
	momentForm = "15:04"
)

// bom is the byte order mark that some editors begin a file with. It is the
// file's, not a content's.
const bom = "\ufeff"

// part is one entry in the log of a day.
type part struct {
	moment     string // such as "15:46"; "" for the opening
	content    string
	start, end int // bytes of the file
}

// line is a line of a text without its end, and where it and the next begin.
type line struct {
	text        string
	start, next int
}

func linesOf(text string) []line {
	var ls []line
	at := 0
	for s := range strings.Lines(text) {
		ls = append(ls, line{strings.TrimRight(s, "\r\n"), at, at + len(s)})
		at += len(s)
	}
	return ls
}

// momentOf returns the time in a line "## 15:46".
func momentOf(s string) (string, bool) {
	m, ok := strings.CutPrefix(strings.TrimRight(s, " \t"), "## ")
	if !ok || len(m) != len(momentForm) {
		return "", false
	}
	_, err := time.Parse(momentForm, m)
	return m, err == nil
}

// dateOf returns the date in a line "# 2026-02-18".
func dateOf(s string) (string, bool) {
	d, ok := strings.CutPrefix(strings.TrimRight(s, " \t"), "# ")
	return d, ok && isDate(d)
}

func isDate(s string) bool {
	if len(s) != len(dayForm) {
		return false
	}
	_, err := time.Parse(dayForm, s)
	return err == nil
}

// parseDay cuts the log of a day into its entries, in the order of the file.
func parseDay(date, text string) []part {
	ls := linesOf(text)
	if len(ls) > 0 {
		ls[0].text = strings.TrimPrefix(ls[0].text, bom)
	}
	var parts []part
	open := part{}          // the entry that is being read
	first := true           // it is the opening, which has no heading
	body := 0               // where its content begins
	flush := func(at int) { // at is where the next one, or its day's line, begins
		raw := text[body:at]
		if first {
			open.content = strings.TrimSpace(strings.TrimPrefix(raw, bom))
			if open.content != "" {
				open.content, open.end = unescape(open.content), at
				parts = append(parts, open)
			}
			return
		}
		open.end = at
		if at < len(text) && !dayLineAt(date, text[at:]) {
			raw = cutEnd(raw) // the empty line in front of the next heading
		}
		open.content = unescape(cutEnd(cutStart(raw)))
		parts = append(parts, open)
	}
	for i := 0; i < len(ls); i++ {
		at, j := ls[i].start, i
		if d, ok := dateOf(ls[i].text); ok && d == date {
			if first && strings.TrimSpace(strings.TrimPrefix(text[body:at], bom)) == "" {
				body, open.start = ls[i].next, ls[i].next // the line that begins the file
				continue
			}
			for j++; j < len(ls) && strings.TrimSpace(ls[j].text) == ""; j++ {
			}
		}
		if j == len(ls) {
			flush(at) // nothing stands after the day's line
			return parts
		}
		m, ok := momentOf(ls[j].text)
		if !ok {
			continue
		}
		flush(at)
		open, first = part{moment: m, start: ls[j].start}, false
		body, i = ls[j].next, j
	}
	flush(len(text))
	return parts
}

// dayLineAt reports whether the text begins with the line of its day.
func dayLineAt(date, text string) bool {
	s, _, _ := strings.Cut(text, "\n")
	d, ok := dateOf(strings.TrimRight(s, "\r"))
	return ok && d == date
}

func cutStart(s string) string {
	if r, ok := strings.CutPrefix(s, "\r\n"); ok {
		return r
	}
	return strings.TrimPrefix(s, "\n")
}

func cutEnd(s string) string {
	if r, ok := strings.CutSuffix(s, "\r\n"); ok {
		return r
	}
	return strings.TrimSuffix(s, "\n")
}

// openDay returns the log of a day with an opening and no entry yet.
func openDay(date, content string) string { return "# " + date + "\n\n" + escape(content) + "\n" }

// appendDay returns the log with one more entry at its end. Nothing of what is
// there is changed; line ends are those of the file.
func appendDay(date, text, moment, content string) string {
	nl := "\n"
	if strings.Contains(text, "\r\n") {
		nl = "\r\n"
	}
	begun := strings.TrimPrefix(text, bom)
	if begun != "" && !strings.HasSuffix(text, "\n") {
		text += nl
	}
	if strings.TrimSpace(begun) == "" {
		text += "# " + date + nl
	}
	return text + nl + "## " + moment + nl + nl + escape(content) + nl
}

// looksLikeOurs reports whether a line, backslashes in front set aside, is one
// that the log itself uses, and how many backslashes there are.
func looksLikeOurs(s string) (backslashes int, ok bool) {
	rest := strings.TrimLeft(s, `\`)
	_, moment := momentOf(rest)
	_, date := dateOf(rest)
	return len(s) - len(rest), moment || date
}

func escape(content string) string {
	return eachLine(content, func(s string) string {
		if _, ok := looksLikeOurs(s); ok {
			return `\` + s
		}
		return s
	})
}

func unescape(content string) string {
	return eachLine(content, func(s string) string {
		if n, ok := looksLikeOurs(s); ok && n > 0 {
			return s[1:]
		}
		return s
	})
}

func eachLine(text string, fn func(string) string) string {
	if !strings.Contains(text, "# ") {
		return text
	}
	var b strings.Builder
	for s := range strings.Lines(text) {
		core := strings.TrimRight(s, "\r\n")
		b.WriteString(fn(core))
		b.WriteString(s[len(core):])
	}
	return b.String()
}

const openingMark = " (opening)"

// partName returns the name of the n-th entry, from 1, of a day's minute.
func partName(date, moment string, n int) string {
	switch {
	case moment == "":
		return date + openingMark
	case n > 1:
		return date + " " + moment + " (" + strconv.Itoa(n) + ")"
	}
	return date + " " + moment
}

// parsePartName reads a name that partName makes; the opening has the moment "".
func parsePartName(name string) (date, moment string, n int, ok bool) {
	if len(name) < len(dayForm) || !isDate(name[:len(dayForm)]) {
		return "", "", 0, false
	}
	date, rest := name[:len(dayForm)], name[len(dayForm):]
	if rest == openingMark {
		return date, "", 1, true
	}
	moment, count, many := strings.Cut(strings.TrimPrefix(rest, " "), " ")
	n = 1
	if many {
		var err error
		n, err = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(count, "("), ")"))
		if err != nil {
			return "", "", 0, false
		}
	}
	if _, ok := momentOf("## " + moment); !ok || n < 1 || partName(date, moment, n) != name {
		return "", "", 0, false
	}
	return date, moment, n, true
}
