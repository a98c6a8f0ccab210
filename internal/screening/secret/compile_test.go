// Tests of the format of the rules, and the compiler that converts the rules to the table in rules.bin.

package secret

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"flag"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of rules")

// Each line of a file of rules is a rule. A rule has these fields, separated by tabs:
//
//	name, place, entropy, group, keywords, regular expression
//
// A rule is tried at each occurrence of one of its keywords in a text. The keywords are in lower case and separated by
// spaces. In a keyword, %20 stands for a space.
//
// The place limits where a match may begin. For a number, a match may begin at most that many bytes before the keyword.
// For a range such as 0..1500, a match may begin at most the first number of bytes before the keyword and at most the
// second number of bytes after it. For the sign =, a match must begin at the keyword, and an assignment must follow.
//
// The secret is the group with the given number. If the number is 0, the secret is the first group that is not empty.
// The entropy of the secret's bytes must be higher than the given entropy.
//
// In an expression, %{name}, %{is} and %{end} stand for the rest of a name, for the characters of an assignment, and
// for the characters that may follow a secret.
//
// A line that begins with a tab is an allowance of the preceding rule. An allowance has a target and an expression. The
// target selects a text. If the expression matches this text, the match of the rule is not a secret. There are four
// targets:
//
//   - "secret" selects the secret.
//   - "word" selects the secret, unless the secret looks random.
//   - "match" selects the match and the name before the match.
//   - "line" selects the line.
//
// If a line consists of the word "also" and a name, the following allowances belong to all rules with that name.

// These are the source files of the rules.
var (
	//go:embed rules.txt
	gitleaksRules string
	//go:embed own.txt
	ownRules string
	//go:embed stopwords.txt
	stopwords string
)

// The variable parts replaces the placeholders %{name}, %{is} and %{end} in the expressions of rules. The replaced
// expressions match more than those of the program gitleaks, from which the rules come. They also find secrets that are
// escaped in JSON or marked in Markdown, and secrets next to letters outside of ASCII.
var parts = strings.NewReplacer(
	"%{name}", `[ \t\w.-]{0,20}[\s'"\\*]{0,4}`,
	"%{is}", `(?:=|>|:{1,3}=|\|\||:|：|＝|=>|\?=|,)[\x60'"\s=\\*]{0,6}`,
	"%{end}", `(?:[\x60'"\s;,)\]}<>&|*]|[^\x00-\x7f]|\\{1,8}[nrt"']|[.!?:](?:\s|$)|$)`,
)

// fixed contains the expressions that do not belong to a rule. They match a placeholder of a value (${NAME}, {{ name
// }}, %NAME%, <name>), the end of a line that assigns hexadecimal digits, and the name of a secret.
var fixed = []string{
	exprIndexVariable:   `^\$\{?[A-Za-z_0-9]+\}?$|^\$?\{\{[^}]*\}\}$|^%\w+%$|^@\w+@$|^<[^>]*>$|^\{\w*\}$`,
	exprIndexHexValue:   `(?i)[:=][ \t]*["']?[0-9a-f]{20,}["']?,?[ \t\r]*$`,
	exprIndexSecretName: `(?i)key|secret|token|pass|auth|cred`,
}

// tableWriter writes the table of rules. In the table, the byte sets and the expressions precede the data that refers
// to them. The lists of sets and expressions are complete only after all other data is encoded, so that data is
// collected in the field rest.
type tableWriter struct {
	sets  []byteSet
	exprs []string
	rest  []byte
}

func appendInts(b []byte, ns ...int) []byte {
	for _, n := range ns {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func appendText(b []byte, s string) []byte { return append(appendInts(b, len(s)), s...) }

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// place returns the index of a value in a list. If the list does not contain the value, place appends the value to the
// list.
func place[T comparable](list *[]T, v T) int {
	i := slices.Index(*list, v)
	if i < 0 {
		i = len(*list)
		*list = append(*list, v)
	}
	return i
}

// compiled returns the table that is compiled from the source files.
func compiled(t testing.TB) []byte {
	w := &tableWriter{exprs: slices.Clone(fixed)}
	all := sources(t)
	w.rest = appendInts(nil, len(all))
	allowed, words := 0, []ruleKeyword(nil)
	for i, s := range all {
		allowed += len(s.allow)
		for k := range strings.FieldsSeq(s.fields[4]) {
			words = append(words, ruleKeyword{strings.ReplaceAll(k, "%20", " "), i})
		}
	}
	w.rest = appendInts(w.rest, allowed)
	for _, s := range all {
		w.rule(t, s)
	}
	w.keywords(newAutomaton(words))
	w.stopwords()
	var exprs []byte
	for _, e := range w.exprs {
		exprs = appendText(exprs, string(w.program(newProgram(e))))
	}
	out := appendInts(nil, len(w.sets))
	for _, s := range w.sets {
		for _, bits := range s {
			out = binary.LittleEndian.AppendUint64(out, bits)
		}
	}
	return slices.Concat(appendInts(out, len(w.exprs)), exprs, w.rest)
}

// source contains the line of a rule, split into fields, and the lines of the rule's allowances. An allowance is an
// expression that describes matches which are not secrets.
type source struct {
	fields []string
	allow  [][]string
}

func sources(t testing.TB) (all []*source) {
	var last []*source
	for line := range strings.Lines(gitleaksRules + ownRules) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case f[0] == "" && len(f) == 3:
			for _, s := range last {
				s.allow = append(s.allow, f)
			}
		case len(f) == 2 && f[0] == "also":
			last = slices.DeleteFunc(slices.Clone(all), func(s *source) bool { return s.fields[0] != f[1] })
		case len(f) == 6:
			last = []*source{{fields: f}}
			all = append(all, last[0])
		default:
			t.Fatalf("a line that is no rule: %q", line)
		}
	}
	return all
}

func (w *tableWriter) rule(t testing.TB, s *source) {
	f := s.fields
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%s: %v", f[0], err)
		}
		return n
	}
	before := 0
	after := 0
	assigns := f[1] == "="
	if first, last, _ := strings.Cut(f[1], ".."); !assigns {
		before, after = int(number(first)), int(number(cmp.Or(last, "0")))
	}
	w.rest = appendText(w.rest, f[0])
	w.rest = appendInts(w.rest, before, after, asInt(assigns), asInt(f[0] == genericRuleName || f[0] == "password"),
		int(math.Round(1000*number(f[2]))), int(number(f[3])), place(&w.exprs, parts.Replace(f[5])), len(s.allow))
	for _, a := range s.allow {
		target := slices.Index(
			[]string{
				comparedTextSecret:    "secret",
				comparedTextMatch:     "match",
				comparedTextLine:      "line",
				comparedTextNonRandom: "word",
			},
			a[1],
		)
		if target < 0 {
			t.Fatalf("%s: there is no target %q", f[0], a[1])
		}
		w.rest = appendInts(w.rest, target, place(&w.exprs, parts.Replace(a[2])))
	}
}

// program returns the encoding of a program, in the form that decodeRegexpProgram reads.
func (w *tableWriter) program(p *regexpProgram) []byte {
	b := appendInts(nil, p.groupSlotCount, len(p.instructions))
	for _, in := range p.instructions {
		b = appendInts(b, int(in.opcode), place(&w.sets, in.firstBytes))
		switch in.opcode {
		case opMatchLiteral:
			b = appendText(appendInts(b, asInt(in.isCaseless)), in.text)
		case opRepeatBytes:
			b = appendInts(
				b,
				asInt(in.isLazyRepetition),
				asInt(in.isExact),
				place(&w.sets, *in.repeatedBytes),
				in.minLength,
			)
			if in.maxLength == math.MaxInt-1 {
				in.maxLength = -1
			}
			b = appendInts(b, in.maxLength+1)
		case opTryAlternatives:
			b = appendInts(appendInts(b, len(in.branches)), in.branches...)
		case opJumpToInstruction, opSaveGroupPosition:
			b = appendInts(b, in.targetOrSlot)
		}
	}
	return b
}

func (w *tableWriter) keywords(a *keywordAutomaton) {
	w.rest = appendInts(w.rest, len(a.words))
	for _, k := range a.words {
		w.rest = appendInts(appendText(w.rest, k.word), k.ruleIndex)
	}
	w.rest = append(appendInts(w.rest, a.byteClassCount), a.byteClassByValue[:]...)
	w.rest = appendInts(w.rest, len(a.wordStarts))
	for _, at := range a.wordStarts {
		w.rest = appendInts(w.rest, int(at))
	}
	for _, s := range a.transitions {
		w.rest = binary.LittleEndian.AppendUint16(w.rest, s)
	}
}

func (w *tableWriter) stopwords() {
	of := map[byte][]byte{}
	for word := range strings.FieldsSeq(stopwords) {
		of[word[0]] = appendText(of[word[0]], word)
	}
	w.rest = appendInts(w.rest, len(of))
	for _, c := range slices.Sorted(maps.Keys(of)) {
		w.rest = appendText(appendInts(w.rest, int(c)), string(of[c]))
	}
}

func TestTable(t *testing.T) {
	want := compiled(t)
	if *update {
		if err := os.WriteFile("rules.bin", want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if encodedRules != string(want) {
		t.Error("rules.bin is not of these rules: go test ./internal/screening/secret -run TestTable -update")
	}
}
