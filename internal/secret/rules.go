// Rules: their format, and how one is matched.

package secret

import (
	_ "embed"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Rules are lines of fields between tabs:
//
//	name, place, entropy, group, keywords, regular expression
//
// A rule is tried where one of its keywords is, which are in lower case and have a
// space between them. A match begins at most the bytes of place before it; of a
// place as 0..1500, up to so many bytes before or after it; of place = with it, and
// an assignment must follow. The secret is the group of that number; for 0 the first
// that is not empty. Its bytes must have more entropy. In an expression, %{name},
// %{is} and %{end} stand for the rest of a name, for what assigns, and for what may
// follow a secret.
//
// A line that begins with a tab is of the rule before: what a match must not be,
// as a target (secret, match with the name before it, line) and an expression. After
// a line of also and a name, such lines are of all rules of that name. In a keyword,
// %20 is a space.

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
	"%{end}", `(?:[\x60'"\s;,)\]}<>&|*]|[^\x00-\x7f]|\\{1,8}[nrt"']|[.!?:](?:\s|$)|$)`,
)

// rule is one rule. Its expression is compiled at its first use.
type rule struct {
	name          string
	order         int  // in the data
	before, after int  // bytes from a keyword where matches begin
	assigns       bool // the keyword is part of a name
	words         bool // a secret has no words
	entropy       float64
	group         int
	allow         []allowance
	expression
}

// allowance is what a match must not be.
type allowance struct {
	target string
	*expression
}

// expression is compiled at its first use.
type expression struct {
	text string
	once sync.Once
	prog *program
}

func (e *expression) program() *program {
	e.once.Do(func() { e.prog = newProgram(parts.Replace(e.text)) })
	return e.prog
}

// rules are all rules, and the automaton of their keywords.
type rules struct {
	all      []*rule
	keywords *automaton
}

var ruleSet = sync.OnceValue(func() *rules {
	rs := new(rules)
	var last []*rule
	var words []keyword
	for line := range strings.Lines(gitleaksRules + ownRules) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case f[0] == "" && len(f) == 3:
			a := allowance{f[1], &expression{text: f[2]}}
			for _, r := range last {
				r.allow = append(r.allow, a)
			}
		case len(f) == 2 && f[0] == "also":
			last = slices.DeleteFunc(slices.Clone(rs.all), func(r *rule) bool { return r.name != f[1] })
		case len(f) == 6:
			r := newRule(f)
			r.order = len(rs.all)
			for k := range strings.FieldsSeq(f[4]) {
				words = append(words, keyword{strings.ReplaceAll(k, "%20", " "), r.order})
			}
			rs.all, last = append(rs.all, r), []*rule{r}
		}
	}
	rs.keywords = newAutomaton(words)
	return rs
})

// has reports whether there is a rule of that name.
func (rs *rules) has(name string) bool {
	return slices.ContainsFunc(rs.all, func(r *rule) bool { return r.name == name })
}

func newRule(f []string) *rule {
	r := &rule{name: f[0], assigns: f[1] == "=", words: f[0] == generic || f[0] == "password", expression: expression{text: f[5]}}
	var errs [4]error
	if !r.assigns {
		first, last, _ := strings.Cut(f[1], "..")
		r.before, errs[0] = strconv.Atoi(first)
		if last != "" {
			r.after, errs[1] = strconv.Atoi(last)
		}
	}
	r.entropy, errs[2] = strconv.ParseFloat(f[2], 64)
	r.group, errs[3] = strconv.Atoi(f[3])
	if err := errors.Join(errs[:]...); err != nil {
		panic("secret: " + f[0] + ": " + err.Error()) // the data is wrong
	}
	return r
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

// finding returns the secret of a match, if it is one.
func (r *rule) finding(text string, match []int) (Finding, bool) {
	start, end := r.secretOf(match)
	for end > start && text[end-1] == '\n' {
		end--
	}
	f := Finding{r.name, start, end, r.order}
	return f, end > start && !r.allowed(text, match[0], match[1], f)
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
	if r.entropy > 0 && entropy(secret) <= r.entropy || example(secret) || r.worded(secret) || r.words && inTable(text, f) {
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
		if a.program().within(target) {
			return true
		}
	}
	return false
}

// worded reports whether a secret has words where one of the rule has none.
func (r *rule) worded(secret string) bool {
	return r.words && (plainValue(secret) || hasStopword(secret)) || r.assigns && plainValue(secret) && capitalized(secret)
}

// lineMargin is how many bytes of a line are seen on each side of a match.
const lineMargin = 128

// lineAround returns a part of a text with the rest of its lines, at most some
// hundred bytes of it.
func lineAround(text string, start, end int) string {
	from, to := max(0, start-lineMargin), min(len(text), end+lineMargin)
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
var variable = expression{text: `^\$\{?[A-Za-z_0-9]+\}?$|^\$?\{\{[^}]*\}\}$|^%\w+%$|^@\w+@$|^<[^>]*>$|^\{\w*\}$`}

// example reports whether a secret is one of documentation: of one letter, an
// alphabet, a variable.
func example(s string) bool {
	if strings.Count(s, s[:1]) == len(s) {
		return true
	}
	low := strings.ToLower(s)
	return strings.Contains(low, "abcdefghijklmnopqrstuvwxyz") || strings.Contains(low, "014df517-39d1-4453-b7b3-9930c563627c") ||
		strings.IndexByte("${%@<", s[0]) >= 0 && variable.program().within(s)
}

// withName returns a match with the rest of the name before it, as expressions of
// gitleaks have it.
func withName(text string, start, end int) string {
	for n := 0; n < 50 && start > 0 && (isWord(text[start-1]) || text[start-1] == '.' || text[start-1] == '-'); n++ {
		start--
	}
	return text[start:end]
}

// hexValue matches the end of a line that assigns hexadecimal digits; namesSecret
// the name of a secret.
var (
	hexValue    = expression{text: `(?i)[:=][ \t]*["']?[0-9a-f]{20,}["']?,?[ \t\r]*$`}
	namesSecret = expression{text: `(?i)key|secret|token|pass|auth|cred`}
)

// A table has so many lines of hexadecimal digits next to one, of so many, each of
// at most so many bytes.
const (
	leastTable   = 4
	tableLines   = 6
	maxTableLine = 4 << 10
)

// inTable reports whether a secret of hexadecimal digits is one of many values that
// are none: vectors of a test have a key among them.
func inTable(text string, f Finding) bool {
	if strings.Trim(text[f.Start:f.End], "0123456789abcdefABCDEF") != "" {
		return false
	}
	lines := strings.Split(text[max(0, f.Start-maxTableLine):f.Start], "\n")
	n := hexLines(lines[max(0, len(lines)-1-tableLines) : len(lines)-1])
	lines = strings.Split(text[f.End:min(len(text), f.End+maxTableLine)], "\n")
	return n+hexLines(lines[1:min(len(lines), 1+tableLines)]) >= leastTable
}

func hexLines(lines []string) (n int) {
	for _, l := range lines {
		if !namesSecret.program().within(l) && hexValue.program().within(l) {
			n++
		}
	}
	return n
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
	low, words := strings.ToLower(s), stopwordsOf()
	for i := range low {
		for _, w := range words[low[i]] {
			if strings.HasPrefix(low[i:], w) {
				return true
			}
		}
	}
	return false
}

// stopwordsOf returns the stop words that begin with each byte.
var stopwordsOf = sync.OnceValue(func() *[256][]string {
	var of [256][]string
	for w := range strings.FieldsSeq(stopwords) {
		of[w[0]] = append(of[w[0]], w)
	}
	return &of
})
