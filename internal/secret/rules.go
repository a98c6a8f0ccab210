// Rules: their format, and how one is matched.

package secret

import (
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Rules are lines of fields between tabs:
//
//	name, mode, entropy, group, keywords, regular expression
//
// A rule is tried around each of its keywords, which are in lower case and have a
// space between them. In mode = an assignment must follow the keyword; a number is
// the least bytes, without white space and quotes, that the keyword stands in, or
// 0. The secret is the group of that number; for 0 the first that is not empty. Its
// bytes must have more entropy. In an expression, %{name}, %{is} and %{end} stand
// for the rest of a name, for what assigns, and for what may follow a secret.
//
// A line that begins with a tab is of the rule before: what a match must not be,
// as a target (secret, match with the name before it, line) and an expression. After
// a line of also and a name, such lines are of that rule.

// Data of the rules.
var (
	//go:embed rules.txt
	gitleaksRules string
	//go:embed own.txt
	ownRules string
	//go:embed stopwords.txt
	stopwords string
)

// generic is the rule of what any name assigns.
const generic = "generic-api-key"

// parts are written in expressions as %{name}. Gitleaks has others: here what is
// escaped in JSON and marked in Markdown is found, too, and what stands next to
// letters that are not ASCII.
var parts = strings.NewReplacer(
	"%{name}", `[ \t\w.-]{0,20}[\s'"\\*]{0,4}`,
	"%{is}", `(?:=|>|:{1,3}=|\|\||:|：|＝|=>|\?=|,)[\x60'"\s=\\*]{0,6}`,
	"%{end}", `(?:[\x60'"\s;,)\]}<>&|*]|[^\x00-\x7f]|\\[nrt"']|[.!?:](?:\s|$)|$)`,
)

// Windows: how many bytes before and after a keyword a rule looks at.
const (
	before, after = 128, 600
	assignBefore  = 48
	assignAfter   = 340
	farBefore     = 1200
	farAfter      = 8 << 10
	keyAfter      = 64 << 10
)

// rule is one rule. Its expression is compiled at its first use.
type rule struct {
	name          string
	mode          int // least bytes of the run, or assigns
	entropy       float64
	group         int
	word          bool // a match begins with the keyword, as a word
	before, after int
	allow         []allowance
	compile       func() *regexp.Regexp
}

// assigns is the mode of a rule whose keyword is part of a name.
const assigns = -1

// allowance is what a match must not be.
type allowance struct {
	target  string
	compile func() *regexp.Regexp
}

// rules are all rules, and the automaton of their keywords.
type rules struct {
	all      []*rule
	names    map[string]bool
	keywords *automaton
}

var ruleSet = sync.OnceValue(func() *rules {
	rs := &rules{names: map[string]bool{}}
	var last *rule
	var words []string
	var of []int
	for line := range strings.Lines(gitleaksRules + ownRules) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case f[0] == "" && len(f) == 3:
			last.allow = append(last.allow, allowance{f[1], compiled(f[2])})
		case len(f) == 2 && f[0] == "also":
			last = rs.all[slices.IndexFunc(rs.all, func(r *rule) bool { return r.name == f[1] })]
		case len(f) == 6:
			last = newRule(f)
			for _, k := range strings.Fields(f[4]) {
				words, of = append(words, k), append(of, len(rs.all))
			}
			rs.all = append(rs.all, last)
			rs.names[last.name] = true
		}
	}
	rs.keywords = newAutomaton(words, of)
	return rs
})

func newRule(f []string) *rule {
	r := &rule{name: f[0], before: before, after: after, compile: compiled(f[5])}
	var err error
	if r.mode = assigns; f[1] != "=" {
		r.mode, err = strconv.Atoi(f[1])
	}
	if err == nil {
		r.entropy, err = strconv.ParseFloat(f[2], 64)
	}
	if err == nil {
		r.group, err = strconv.Atoi(f[3])
	}
	if err != nil {
		panic("secret: " + f[0] + ": " + err.Error()) // the data is wrong
	}
	if first, _, one := strings.Cut(f[4], " "); !one {
		begin := strings.NewReplacer("(?i)", "", `\b`, "", "(", "").Replace(f[5])
		r.word = strings.HasPrefix(strings.TrimPrefix(f[5], "(?i)"), `\b`) && strings.HasPrefix(strings.ToLower(begin), first)
	}
	switch {
	case f[0] == "private-key":
		r.after = keyAfter
	case r.mode == assigns:
		r.before, r.after = assignBefore, assignAfter
	case r.mode == 0:
		r.before, r.after = farBefore, farAfter
	case r.mode > 0:
		r.before, r.after = max(before, 2*r.mode), farAfter
	}
	return r
}

func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(parts.Replace(expr)) })
}

// mayMatch reports, as far as is seen without the expression, whether the rule may
// match around a keyword.
func (r *rule) mayMatch(text string, start, end int) bool {
	if r.mode == assigns {
		return assigned(text[end:])
	}
	if r.word && start > 0 && isWord(text[start-1]) {
		return false
	}
	if r.mode == 0 {
		return true
	}
	n := end - start
	for i := end; i < len(text) && n < r.mode && isToken(text[i]); i++ {
		n++
	}
	for i := start - 1; i >= 0 && n < r.mode && isToken(text[i]); i-- {
		n++
	}
	return n >= r.mode
}

// maxName is how far from a keyword what assigns may be.
const maxName = 64

// leastAssigned is the least bytes that rules of assignments find.
const leastAssigned = 8

// assigned reports whether a text may go on as a name, then what assigns, then a
// value without white space.
func assigned(text string) bool {
	i := 0
	for i < len(text) && i < maxName && (isWord(text[i]) || strings.IndexByte(" \t\r\n\f.-'\"\\*[]?()", text[i]) >= 0) {
		i++
	}
	is := text[i:min(len(text), i+3)]
	if is == "" || strings.IndexByte("=>:|,?", is[0]) < 0 && is != "：" && is != "＝" {
		return false
	}
	for i += 1; i < len(text) && (strings.IndexByte("=>:|", text[i]) >= 0 || text[i] >= 0x80); i++ {
	}
	for n := 0; i < len(text) && n < 10 && strings.IndexByte(" \t\r\n\f\\'\"`=*", text[i]) >= 0; i++ {
		n++
	}
	n := 0
	for n < leastAssigned && i+n < len(text) && isToken(text[i+n]) {
		n++
	}
	return n == leastAssigned
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// isToken reports whether a byte may be in a token: ASCII but no white space and no
// quote.
func isToken(c byte) bool { return ' ' < c && c < 0x7f && c != '"' && c != '\'' && c != '`' }

// find appends what the rule finds in a window.
func (r *rule) find(text string, w window, found []Finding) []Finding {
	part := text[w.from:w.to]
	for _, m := range r.compile().FindAllStringSubmatchIndex(part, -1) {
		start, end := r.secretOf(m)
		for end > start && part[end-1] == '\n' {
			end--
		}
		if end == len(part) && w.to < len(text) { // a token that is longer than the window
			for w.to < len(text) && isToken(text[w.to]) {
				w.to++
			}
			end = w.to - w.from
		}
		f := Finding{r.name, w.from + start, w.from + end}
		if end > start && !r.allowed(text, w.from+m[0], w.from+m[1], f) {
			found = append(found, f)
		}
	}
	return found
}

// secretOf returns where the secret of a match is.
func (r *rule) secretOf(m []int) (start, end int) {
	if r.group > 0 {
		return m[2*r.group], m[2*r.group+1]
	}
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 && m[i] < m[i+1] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// allowed reports whether a finding is no secret: an example, a variable, a path, a
// word.
func (r *rule) allowed(text string, start, end int, f Finding) bool {
	secret := text[f.Start:f.End]
	if r.entropy > 0 && entropy(secret) <= r.entropy || example(secret) {
		return true
	}
	for _, a := range r.allow {
		target := secret
		switch a.target {
		case "match":
			target = withName(text, start, end)
		case "line":
			target = lineAround(text, start, end)
		}
		if a.compile().MatchString(target) {
			return true
		}
	}
	return r.mode == assigns && plainValue(secret) && (r.name == generic || capitalized(secret)) || r.name == generic && hasStopword(secret)
}

// lineAround returns a part of a text with the rest of its lines, at most some
// hundred bytes of it.
func lineAround(text string, start, end int) string {
	from, to := max(0, start-before), min(len(text), end+before)
	if i := strings.LastIndexByte(text[from:start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	return text[from:to]
}

// entropy returns the bits of a byte of s, after Shannon.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// variable matches what stands for a value: ${NAME}, {{ name }}, %NAME%, <name>.
var variable = compiled(`^\$\{?[A-Za-z_0-9]+\}?$|^\$?\{\{[^}]*\}\}$|^%\w+%$|^@\w+@$|^<[^>]*>$|^\{\w*\}$`)

// example reports whether a secret is one of documentation: of one letter, an
// alphabet, a variable.
func example(s string) bool {
	if strings.Count(s, s[:1]) == len(s) {
		return true
	}
	low := strings.ToLower(s)
	return strings.Contains(low, "abcdefghijklmnopqrstuvwxyz") || strings.Contains(low, "014df517-39d1-4453-b7b3-9930c563627c") ||
		strings.IndexByte("${%@<", s[0]) >= 0 && variable().MatchString(s)
}

// withName returns a match with the rest of the name before it, as expressions of
// gitleaks have it.
func withName(text string, start, end int) string {
	for n := 0; n < 50 && start > 0 && (isWord(text[start-1]) || text[start-1] == '.' || text[start-1] == '-'); n++ {
		start--
	}
	return text[start:end]
}

// leastWord is the mean length, in bytes, of the words of what looks like an
// identifier or a path. Random letters and digits change sooner.
const leastWord = 3.3

// plainValue reports whether what a name assigns looks like an identifier or a
// path: words that can be spoken, in camel case or between other bytes.
func plainValue(s string) bool {
	words, letters, digits := 0, 0, 0
	for s != "" {
		n := wordSize(s)
		w, kind := s[:n], kindOf(s[n-1])
		if s = s[n:]; kind == other {
			continue
		}
		if kind == digit {
			digits++
		}
		if n > 3 && kind == lower && !spoken(w) {
			return false
		}
		words, letters = words+1, letters+n
	}
	return words > 0 && 2*digits <= words && float64(letters) >= leastWord*float64(words)
}

// wordSize returns the bytes of the first word of an identifier in camel case:
// RSA of RSAKey, then Key.
func wordSize(s string) int {
	kind, n := kindOf(s[0]), 1
	for n < len(s) && kindOf(s[n]) == kind {
		n++
	}
	if kind != upper || n == len(s) || kindOf(s[n]) != lower {
		return n
	}
	if n > 1 {
		return n - 1
	}
	for n < len(s) && kindOf(s[n]) == lower {
		n++
	}
	return n
}

// spoken reports whether a word has vowels as words of most languages have them: a
// fourth or more, and no five consonants in a row.
func spoken(w string) bool {
	vowels, row := 0, 0
	for i := range len(w) {
		if row++; strings.IndexByte("aeiouyAEIOUY", w[i]) >= 0 {
			vowels++
			row = 0
		}
		if row == 5 {
			return false
		}
	}
	return 4*vowels >= len(w)
}

// The kinds of bytes of an identifier.
const (
	other = iota
	lower
	upper
	digit
)

func kindOf(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return lower
	case 'A' <= c && c <= 'Z':
		return upper
	case '0' <= c && c <= '9':
		return digit
	}
	return other
}

// capitalized reports whether a word is written as a heading has it.
func capitalized(s string) bool {
	return kindOf(s[0]) == upper && strings.Trim(s[1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// hasStopword reports whether a secret has a word in it that real ones have not.
func hasStopword(s string) bool {
	low := strings.ToLower(s)
	return slices.ContainsFunc(stopwordList(), func(w string) bool { return strings.Contains(low, w) })
}

var stopwordList = sync.OnceValue(func() []string { return strings.Fields(stopwords) })
