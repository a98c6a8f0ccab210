// This file holds the filter language: how people and models write a filter,
// alone or among the words of a query.
//
//	filter = { term }                              joined by "and"
//	term   = [ "-" ] key ":" value { "," value }   a comma is "or"
//	key    = word | quoted                         "quoted" is a label key as it stands
//	value  = word | quoted                         "two words", with Go's escapes
//
// Keys are the known label keys (project, tag, file, confidence), any other
// label key in a filter that stands alone, and the words kind, name, by, door,
// has, after, before, on. Dates are 2026-04-18, 2026-04, 2026 or RFC 3339.
//
// A quote opens where a word, a key or a value begins; elsewhere, and without
// another to close it, it is a character like others.

package oxbow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// queryKeys are the keys that make a word of a query a filter. Any other word
// with a colon in it (a URL, "error:timeout") stays a word.
var queryKeys = []string{LabelProject, LabelTag, LabelFile, LabelConfidence,
	"kind", "name", "by", "door", "has", "after", "before", "on"}

// keyAliases are other words that people and models write for a key.
var keyAliases = map[string]string{
	"tags": LabelTag, "projects": LabelProject, "files": LabelFile, "path": LabelFile,
	"type": "kind", "since": "after", "until": "before", "date": "on",
}

// ParseFilter reads a filter. Days are those of now's time zone, and after and
// before take the whole day: after:2026-04-01 begins with that day,
// before:2026-04-01 ends before it. Errors match [ErrInvalid] and name the
// nearest right word.
//
// A key that is not known selects by labels of that key, such as
// customer:acme, unless it looks like a slip: one typing error (a letter too
// many, too few or wrong, or two neighbours swapped) away from a known key, as
// projct is, or two when the known key has ten letters or more. Known keys of
// two letters have no such neighbours, and those of three or four only such
// as begin with the same letter. A slip is an error that names the known key.
// Somebody who means it quotes the key: "tax":vat. Quoting also keeps tags,
// type, path and the other words that stand for a known key from doing so.
func ParseFilter(s string, now time.Time) (Filter, error) {
	var f Filter
	for _, w := range splitWords(s) {
		key, value, not, err := cutFilterTerm(w)
		if err != nil {
			return Filter{}, err
		}
		if err := f.add(key, value, not, now); err != nil {
			return Filter{}, err
		}
	}
	return f, nil
}

// ParseQuery reads a query as people type it: words, and among them terms of
// the filter language. A word is a term when it has one of the known keys, or
// another word for one (tags, type, since), and a value behind the colon; a
// URL is none, and neither is anything in quotes. See [ParseFilter] for errors.
//
// Other words may be operators, which RankOxbow obeys and RankSeed takes for
// words:
//
//	"two words"   an entry must hold these words one after another
//	+word         an entry must hold the word, in any of its forms
//	-word         an entry must not hold it; -"two words" likewise
//	word*         all words that begin so
//
// A sign in front of anything but two letters or a quote, as in -5, --flag or
// -v, and a star elsewhere, as in **bold**, are parts of a word. Q.Text has all
// the words as they were typed.
//
// Date expressions among the words, such as "last week" or "in May 2023", stay
// words, and are found in q.Dates too.
func ParseQuery(s string, now time.Time) (Query, error) {
	var q Query
	var words, plain []string
	var o Operators
	for _, w := range splitWords(s) {
		key, value, not, ok := cutTerm(w)
		if !ok || !slices.Contains(queryKeys, key) || value == "" || strings.HasPrefix(value, "//") {
			words = append(words, w)
			if !o.add(w) {
				plain = append(plain, w)
			}
			continue
		}
		if err := q.Filter.add(key, value, not, now); err != nil {
			return Query{}, err
		}
	}
	q.Text = strings.Join(words, " ")
	if len(o.Must)+len(o.Not)+len(o.Prefixes) > 0 {
		o.Words = strings.TrimSpace(strings.Join(append(plain, o.Must...), " "))
		q.Operators = &o
	}
	q.Dates = findDates(plain, now)
	return q, nil
}

// add takes in a word that is an operator, and reports whether it is one.
func (o *Operators) add(w string) bool {
	list, rest := &o.Must, w
	switch {
	case strings.HasPrefix(w, "+"):
		rest = w[1:]
	case strings.HasPrefix(w, "-"):
		list, rest = &o.Not, w[1:]
	}
	if strings.HasPrefix(rest, `"`) {
		n := quoteLen(rest)
		if n == 0 || n < len(rest) || !strings.ContainsFunc(rest, isWordRune) {
			return false
		}
		phrase := rest[1 : n-1]
		if s, err := strconv.Unquote(rest); err == nil {
			phrase = s
		}
		*list = append(*list, phrase)
		return true
	}
	letters := func(s string) bool {
		r, n := utf8.DecodeRuneInString(s)
		next, _ := utf8.DecodeRuneInString(s[n:])
		return unicode.IsLetter(r) && (isWordRune(next) || r >= utf8.RuneSelf)
	}
	switch {
	case rest != w:
		if !letters(rest) || strings.HasSuffix(rest, "*") {
			return false
		}
		*list = append(*list, rest)
		return true
	case strings.HasSuffix(w, "*") && strings.IndexFunc(w, func(r rune) bool { return !isWordRune(r) }) == len(w)-1 && letters(w):
		o.Prefixes = append(o.Prefixes, w[:len(w)-1])
		return true
	}
	return false
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// splitWords cuts at white space outside double quotes.
func splitWords(s string) []string {
	var words []string
	start, closed := -1, 0 // closed: where the last quotation ended
	for i, r := range s {
		switch {
		case i < closed:
		case unicode.IsSpace(r):
			if start >= 0 {
				words = append(words, s[start:i])
				start = -1
			}
		default:
			if start < 0 {
				start = i
			}
			if r == '"' && opensQuote(s[start:i]) {
				closed = i + quoteLen(s[i:])
			}
		}
	}
	if start >= 0 {
		words = append(words, s[start:])
	}
	return words
}

// opensQuote reports whether a quote behind this part of a word opens a
// quotation.
func opensQuote(part string) bool {
	return part == "" || part == "-" || part == "+" || strings.HasSuffix(part, ":") || strings.HasSuffix(part, ",")
}

// quoteLen returns the length of the quotation that s begins with, both quotes
// included, and 0 when nothing closes it.
func quoteLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// cutTerm cuts a word such as -tag:x. ok is false for what is no term.
func cutTerm(w string) (key, value string, not, ok bool) {
	if rest, cut := strings.CutPrefix(w, "-"); cut {
		w, not = rest, true
	}
	key, value, ok = strings.Cut(w, ":")
	if !ok || !isLabelKey(key) {
		return "", "", false, false
	}
	if k, found := keyAliases[key]; found {
		key = k
	}
	return key, value, not, true
}

// cutFilterTerm cuts a word of a filter that stands alone, where any label key
// may be meant.
func cutFilterTerm(w string) (key, value string, not bool, err error) {
	rest, not := strings.CutPrefix(w, "-")
	if n := quoteLen(rest); strings.HasPrefix(rest, `"`) && n > 0 && strings.HasPrefix(rest[n:], ":") {
		key, err := strconv.Unquote(rest[:n])
		if err != nil || !isLabelKey(key) {
			return "", "", false, &InvalidError{Field: "filter", Value: clip(w, 60),
				Reason: "begins with no label key in quotes, such as \"project\""}
		}
		return key, rest[n+1:], not, nil
	}
	key, value, not, ok := cutTerm(w)
	if !ok {
		reason := "is not key:value, such as project:vtt or -tag:draft"
		k, _, _ := strings.Cut(strings.ToLower(rest), ":")
		if _, found := keyAliases[k]; found || slices.Contains(queryKeys, k) {
			reason = "has no lower-case key; write " + k + ":"
		} else if near := nearKey(k); near != "" {
			reason += "; did you mean " + near + "?"
		}
		return "", "", false, &InvalidError{Field: "filter", Value: clip(w, 60), Reason: reason}
	}
	if near := nearKey(key); near != "" {
		return "", "", false, &InvalidError{Field: "filter key", Value: clip(key, 40),
			Reason: fmt.Sprintf("is not known; did you mean %s? (labels of that very key are %q:%s)", near, key, clip(value, 40))}
	}
	return key, value, not, nil
}

// quoteKey returns a key as a filter must have it so that it is read as it
// stands.
func quoteKey(key string) string {
	if _, found := keyAliases[key]; found || nearKey(key) != "" {
		return strconv.Quote(key)
	}
	return key
}

// nearKey returns the known key that key is a slip of, "" when it is known
// itself or none is near. [ParseFilter] has the rule.
func nearKey(key string) string {
	if _, found := keyAliases[key]; found || isReserved(key) || slices.Contains(queryKeys, key) {
		return ""
	}
	for _, k := range queryKeys {
		most := 1
		switch n := len(k); {
		case n < 3, n < 5 && !strings.HasPrefix(key, k[:1]):
			continue
		case n >= 10:
			most = 2
		}
		if slips(key, k) <= most {
			return k
		}
	}
	return ""
}

// slips returns the number of typing errors between a and b, 3 for more than
// 2: the optimal string alignment distance, in bytes.
func slips(a, b string) int {
	if max(len(a)-len(b), len(b)-len(a)) > 2 {
		return 3
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			wrong := 1
			if a[i-1] == b[j-1] {
				wrong = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+wrong)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return min(rows[len(a)][len(b)], 3)
}

// add joins one term to the filter.
func (f *Filter) add(key, value string, not bool, now time.Time) error {
	values, err := splitValues(key, value)
	if err != nil {
		return err
	}
	switch key {
	case "after", "before", "on":
		if not {
			return &InvalidError{Field: "filter", Value: "-" + key, Reason: "cannot be negated; use after: and before:"}
		}
		if len(values) != 1 {
			return &InvalidError{Field: "filter", Value: key + ":" + value, Reason: "takes one date"}
		}
		from, to, err := parseSpan(values[0], now.Location())
		if d, ok := resolveDate(values[0], now); err != nil && ok {
			from, to, err = within(d.From), d.To, nil
			if !to.IsZero() {
				to = within(to)
			}
		}
		if err != nil {
			return err
		}
		switch key {
		case "after":
			*f = f.And(Filter{After: from})
		case "before":
			*f = f.And(Filter{Before: from})
		case "on":
			*f = f.And(Filter{After: from, Before: to})
		}
		return nil
	case "id":
		return &InvalidError{Field: "filter", Value: "id", Reason: "is no filter; use name:"}
	}
	for _, v := range values {
		if err := checkTermValue(key, v); err != nil {
			return err
		}
	}
	f.Terms = append(f.Terms, Term{Key: key, Values: values, Not: not})
	return nil
}

func checkTermValue(key, v string) error {
	switch key {
	case "kind":
		if _, err := ParseKind(v); err != nil {
			return &InvalidError{Field: "kind", Value: clip(v, 40),
				Reason: fmt.Sprintf(`is not one of %s (labels of the key type are "type":%s)`, strings.Join(kindNames[:], ", "), quoteValue(clip(v, 40)))}
		}
		return nil
	case "by":
		actors := []string{string(Person), string(Agent), string(Program), string(Imported)}
		if !slices.Contains(actors, v) {
			return &InvalidError{Field: "by", Value: v, Reason: "is not one of " + strings.Join(actors, ", ")}
		}
		return nil
	case "name", "door":
		return checkWord(key, v)
	case "has":
		if !isLabelKey(v) {
			return &InvalidError{Field: "has", Value: v, Reason: "is not a label key, such as project"}
		}
		return nil
	}
	return CheckLabel(Label{key, v})
}

// splitValues cuts a comma-separated list of words and quoted words.
func splitValues(key, s string) ([]string, error) {
	var vs []string
	for {
		var v string
		if strings.HasPrefix(s, `"`) {
			q, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, &InvalidError{Field: key, Value: clip(s, 60), Reason: "has an unclosed or badly escaped quote"}
			}
			if v, err = strconv.Unquote(q); err != nil {
				return nil, &InvalidError{Field: key, Value: clip(s, 60), Reason: "has a badly escaped quote"}
			}
			s = s[len(q):]
			if s != "" && s[0] != ',' {
				return nil, &InvalidError{Field: key, Value: clip(s, 60), Reason: "follows a quoted value; put a comma or a space between"}
			}
		} else {
			v = s
			if i := strings.IndexByte(s, ','); i >= 0 {
				v = s[:i]
			}
			s = s[len(v):]
		}
		if v == "" {
			return nil, &InvalidError{Field: "filter", Value: key + ":", Reason: "has no value"}
		}
		vs = append(vs, v)
		if s == "" {
			return vs, nil
		}
		s = s[1:] // the comma
	}
}

// quoteValue returns v as a value of the language, quoted where it must be.
func quoteValue(v string) string {
	if v != "" && !strings.ContainsFunc(v, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == ',' || r == '\\' || !unicode.IsPrint(r)
	}) {
		return v
	}
	return strconv.Quote(v)
}

// earliest and latest bound the dates of a filter: the zero time means no
// bound, and years of five digits cannot be written.
var (
	earliest = time.Time{}.Add(1)
	latest   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-1)
)

// parseSpan reads a date and returns the time it spans, half-open, in loc: a
// year, a month, a day, or a moment (spanning one second). What lies before
// the year 1 or after 9999 is moved there.
func parseSpan(s string, loc *time.Location) (from, to time.Time, err error) {
	for _, l := range []struct {
		layout    string
		y, m, day int
	}{
		{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0},
	} {
		if t, err := time.Parse(l.layout, s); err == nil {
			return within(startOf(t, loc)), within(startOf(t.AddDate(l.y, l.m, l.day), loc)), nil
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return within(t), within(t.Add(time.Second)), nil
	}
	return time.Time{}, time.Time{}, &InvalidError{Field: "date", Value: clip(s, 40),
		Reason: fmt.Sprintf("is not a date; write 2026-04-18, 2026-04, 2026 or %s", "2026-04-18T09:30:00Z")}
}

// within moves t between the bounds of dates, and to UTC.
func within(t time.Time) time.Time {
	switch t = t.UTC(); {
	case t.Before(earliest):
		return earliest
	case t.After(latest):
		return latest
	}
	return t
}

// startOf returns the first moment that has the date of day, a midnight UTC, in
// loc. It is not always midnight there: some places put their clocks forward
// at that hour, and time.Date then gives an hour of the day before.
func startOf(day time.Time, loc *time.Location) time.Time {
	const around = 36 * time.Hour // no clock is further from UTC
	var first time.Time
	for _, t := range []time.Time{day.Add(-around), day.Add(around)} {
		_, offset := t.In(loc).Zone()
		t = day.Add(-time.Duration(offset) * time.Second).In(loc)
		if sameWall(t, day) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if first.IsZero() {
		_, first = day.Add(-around).In(loc).ZoneBounds() // where the clocks were put forward
	}
	return first
}

// sameWall reports whether a calendar and a clock on the wall, each where the
// time is, show the same to the second.
func sameWall(a, b time.Time) bool {
	ay, am, ad := a.Date()
	by, bm, bd := b.Date()
	if ay != by || am != bm || ad != bd {
		return false
	}
	ah, amin, as := a.Clock()
	bh, bmin, bs := b.Clock()
	return ah == bh && amin == bmin && as == bs
}
