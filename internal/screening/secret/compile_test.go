// Rules: their format, and what compiles them into the table of rules.bin.

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
// as a target (secret, word for one that is not random, match with the name before it,
// line) and an expression. After
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

// parts are written in expressions as %{name}. Gitleaks has others: here what is
// escaped in JSON and marked in Markdown is found, too, and what stands next to
// letters that are not ASCII.
var parts = strings.NewReplacer(
	"%{name}", `[ \t\w.-]{0,20}[\s'"\\*]{0,4}`,
	"%{is}", `(?:=|>|:{1,3}=|\|\||:|：|＝|=>|\?=|,)[\x60'"\s=\\*]{0,6}`,
	"%{end}", `(?:[\x60'"\s;,)\]}<>&|*]|[^\x00-\x7f]|\\{1,8}[nrt"']|[.!?:](?:\s|$)|$)`,
)

// fixed are the expressions that are of no rule: what stands for a value (${NAME},
// {{ name }}, %NAME%, <name>), the end of a line that assigns hexadecimal digits,
// the name of a secret.
var fixed = []string{
	exprVariable:    `^\$\{?[A-Za-z_0-9]+\}?$|^\$?\{\{[^}]*\}\}$|^%\w+%$|^@\w+@$|^<[^>]*>$|^\{\w*\}$`,
	exprHexValue:    `(?i)[:=][ \t]*["']?[0-9a-f]{20,}["']?,?[ \t\r]*$`,
	exprNamesSecret: `(?i)key|secret|token|pass|auth|cred`,
}

// tableWriter writes a table: the sets and the expressions that the rest is made of
// are known last, and stand first.
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

// place returns where a value is in a list, at the end of which it is added.
func place[T comparable](list *[]T, v T) int {
	i := slices.Index(*list, v)
	if i < 0 {
		i = len(*list)
		*list = append(*list, v)
	}
	return i
}

// compiled returns the table of the data.
func compiled(t testing.TB) []byte {
	w := &tableWriter{exprs: slices.Clone(fixed)}
	all := sources(t)
	w.rest = appendInts(nil, len(all))
	allowed, words := 0, []keyword(nil)
	for i, s := range all {
		allowed += len(s.allow)
		for k := range strings.FieldsSeq(s.fields[4]) {
			words = append(words, keyword{strings.ReplaceAll(k, "%20", " "), i})
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

// source is the line of a rule, and those of what its matches must not be.
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
			[]string{targetSecret: "secret", targetMatch: "match", targetLine: "line", targetWord: "word"},
			a[1],
		)
		if target < 0 {
			t.Fatalf("%s: there is no target %q", f[0], a[1])
		}
		w.rest = appendInts(w.rest, target, place(&w.exprs, parts.Replace(a[2])))
	}
}

// program returns a program as decodeProgram reads it.
func (w *tableWriter) program(p *program) []byte {
	b := appendInts(nil, p.slotCount, len(p.instructions))
	for _, in := range p.instructions {
		b = appendInts(b, int(in.opcode), place(&w.sets, in.firstBytes))
		switch in.opcode {
		case opLiteral:
			b = appendText(appendInts(b, asInt(in.isCaseless)), in.text)
		case opRun:
			b = appendInts(b, asInt(in.isLazy), asInt(in.isExact), place(&w.sets, *in.runBytes), in.minLength)
			if in.maxLength == math.MaxInt-1 {
				in.maxLength = -1
			}
			b = appendInts(b, in.maxLength+1)
		case opBranch:
			b = appendInts(appendInts(b, len(in.branches)), in.branches...)
		case opJump, opSave:
			b = appendInts(b, in.operand)
		}
	}
	return b
}

func (w *tableWriter) keywords(a *automaton) {
	w.rest = appendInts(w.rest, len(a.words))
	for _, k := range a.words {
		w.rest = appendInts(appendText(w.rest, k.word), k.rule)
	}
	w.rest = append(appendInts(w.rest, a.classCount), a.byteClass[:]...)
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
	} else if ruleTable != string(want) {
		t.Error("rules.bin is not of these rules: go test ./internal/screening/secret -run TestTable -update")
	}
}
