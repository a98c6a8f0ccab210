// Tests that compare the matcher with Go's regexp.

package secret

import (
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// reference returns the findings that [Find] must return. For each rule, it searches the whole text with Go's regexp.
// It ignores matches that do not begin near a keyword of the rule.
func reference(t testing.TB, text string) []Finding {
	var found []Finding
	rules := ruleSet()
	for i, r := range rules.rulesInOrder {
		var near []byteSpan
		rules.keywords.eachKeyword(text, func(w ruleKeyword, start int) {
			if w.ruleIndex == i {
				near = append(near, byteSpan{start - r.maxBytesBeforeKeyword, start + r.maxBytesAfterKeyword})
			}
		})
		if near == nil {
			continue
		}
		for _, m := range peer(t, i).FindAllStringSubmatchIndex(text, -1) {
			if !slices.ContainsFunc(near, func(n byteSpan) bool { return n.start <= m[0] && m[0] <= n.end }) {
				continue
			}
			if f, ok := r.findSecretInMatch(text, m); ok {
				found = append(found, f)
			}
		}
	}
	return mergeFindings(text, found)
}

var peers []*regexp.Regexp

// peer returns the expression of a rule as a Go regular expression.
func peer(t testing.TB, rule int) *regexp.Regexp {
	if peers == nil {
		for line := range strings.Lines(gitleaksRules + ownRules) {
			if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 6 {
				re, err := regexp.Compile(parts.Replace(f[5]))
				if err != nil {
					t.Fatal(err)
				}
				peers = append(peers, re)
			}
		}
	}
	return peers[rule]
}

// folded contains the letters whose lower case is an ASCII letter in Go's regexp but not in this package.
const folded = "\u017f\u212a"

func sameAsReference(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsAny(text, folded) {
		return
	}
	got, want := Find(text), reference(t, text)
	if strings.ContainsFunc(text, func(c rune) bool {
		return c >= 0x80
	}) && slices.ContainsFunc(slices.Concat(got, want), func(f Finding) bool {
		return countsBytes(f.ruleIndex)
	}) {
		return
	}
	if !slices.Equal(got, want) {
		t.Fatalf("Find(%q) =\n%v, want\n%v", text, got, want)
	}
}

// sample appends a text that usually matches an expression.
func sample(r *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	least, most := 1, 1
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		for {
			i := 2 * r.IntN(len(re.Rune)/2)
			if c := re.Rune[i] + r.Int32N(min(re.Rune[i+1]-re.Rune[i], 0x7f)+1); c < 0x80 || re.Rune[i] >= 0x400 {
				b.WriteRune(c)
				return
			}
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("x 0:="[r.IntN(5)])
	case syntax.OpAlternate:
		sample(r, b, re.Sub[r.IntN(len(re.Sub))])
	case syntax.OpQuest:
		least = 0
	case syntax.OpStar:
		least, most = 0, 3
	case syntax.OpPlus:
		most = 4
	case syntax.OpRepeat:
		least, most = re.Min, re.Max
		if most < 0 || most > least+30 {
			most = least + 30
		}
	}
	if re.Op == syntax.OpAlternate {
		return
	}
	for range least + r.IntN(most-least+1) {
		for _, sub := range re.Sub {
			sample(r, b, sub)
		}
	}
}

// countsBytes reports whether a rule has runs whose length is measured in bytes by this package and in characters by
// regexp.
func countsBytes(rule int) bool {
	return slices.ContainsFunc(ruleSet().rulesInOrder[rule].program().instructions, func(in regexpInstruction) bool {
		return in.opcode == opRepeatBytes && in.maxLength > 1 && in.repeatedBytes.has(0x80)
	})
}

// generated returns a random text of keywords, assignments and tokens.
func generated(r *rand.Rand, pieces int) string {
	between := []string{" ", "\n", "=", ": ", "\"", "'", "`", "\\n", "-----", "密", "：", ",", "://", "@", "curl -u ",
		" -H \"Authorization: Bearer ", "==", "-", "_", ".", github, aws, mem0, "data:\n  a: ", " secret",
		"PRIVATE KEY-----"}
	letters := []string{
		"0123456789abcdef",
		"abcdefghijklmnopqrstuvwxyz0123456789",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
		"abcXYZ019_-=./+",
	}
	words := ruleSet().keywords.words
	var b strings.Builder
	for range 1 + r.IntN(pieces) {
		switch r.IntN(8) {
		case 0, 1, 2:
			var one strings.Builder
			re, _ := syntax.Parse(peers[r.IntN(len(peers))].String(), syntax.Perl)
			sample(r, &one, re)
			if r.IntN(3) > 0 {
				b.WriteString(one.String())
				break
			}
			for range 1 + r.IntN(3) { // a text that almost matches
				at := r.IntN(one.Len())
				b.WriteString(one.String()[:at] + between[r.IntN(len(between))])
			}
		case 3:
			b.WriteString(words[r.IntN(len(words))].word)
		case 4:
			b.WriteString(strings.ToUpper(words[r.IntN(len(words))].word))
		case 5:
			from := letters[r.IntN(len(letters))]
			for range []int{4, 20, 32, 36, 40, 64, 120}[r.IntN(7)] {
				b.WriteByte(from[r.IntN(len(from))])
			}
		default:
			b.WriteString(between[r.IntN(len(between))])
		}
	}
	return b.String()
}

func TestFindAsRegexp(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 50
	}
	peer(t, 0)
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		sameAsReference(t, generated(r, 30))
	}
}

func FuzzFindAsRegexp(f *testing.F) {
	peer(f, 0)
	for seed := range uint64(20) {
		f.Add(generated(rand.New(rand.NewPCG(seed, 0)), 4))
	}
	f.Fuzz(func(t *testing.T, text string) { sameAsReference(t, text) })
}

// hostile returns texts for a test of searching for secrets. The texts consist of repeated words and symbols. Many
// matches begin there, or begin and then fail. The keys of the map name the texts.
func hostile() map[string]string {
	units := map[string]string{}
	var all, assigned strings.Builder
	for i, w := range ruleSet().keywords.words {
		all.WriteString(w.word)
		assigned.WriteString(w.word + "=x9Kd82mQp ")
		units[w.word] = []string{w.word, w.word + " ", w.word + "=", w.word + ": x9Kd82mQpZ4Rt7 "}[i%4]
	}
	units["all"], units["all assigned"] = all.String(), assigned.String()
	for _, u := range []string{"a", "0", "-", " ", "\"", "=", "a1", "A ",
		"key key key key key key key=======x9Kd82mQ ", "key: x9Kd82mQpZ4Rt7 ", "secret: x9Kd82mQpZ4Rt7 ", "ey.ey",
		"eyAAAAAAAAAAAAAAAAAAA.eyBBBBBBBBBBBBBBBBBBB.",
		"-----BEGIN PRIVATE KEY", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "kind: secret data: ",
		"kind: secret\n", "data: kind: ", "curl -u a:", "curl -H \"Authorization: ", "curl \"a:", "a://b:c", "://",
		"facebook 1234567890123456", "sourcegraph 0123456789abcdef", "<add key=\"Password\" value=\"", "key=\n\n\n\n",
		"https://a.webhook.office.com/webhookb2/", "key \t \t \t \t \t \t\n\n\n\n=", "xoxb-1234567890-12345678901"} {
		units[u] = u
	}
	return units
}

// TestFindGrowth tests that a text of twice the size needs twice as many steps, and that no text needs many steps per
// byte.
func TestFindGrowth(t *testing.T) {
	testenv.SkipInShortMode(t)
	const size, most = 16 << 10, 250
	steps := func(text string) (n int) {
		s := textSearch{text: text, rules: ruleSet()}
		s.rules.keywords.eachKeyword(text, s.matchRuleAt)
		for _, r := range s.ruleSearches {
			n += r.stepCount
		}
		return n
	}
	for name, unit := range hostile() {
		text := strings.Repeat(unit, size/len(unit)+1)
		n, twice := steps(text), steps(text+text)
		if twice > 2*n+n/4+size {
			t.Errorf("%q again and again: %d steps, of twice the text %d", name, n, twice)
		}
		if n > most*len(text) {
			t.Errorf("%q again and again: %d steps a byte, want at most %d", name, n/len(text), most)
		}
	}
}

// BenchmarkFirst measures the time for the first text of a process: 4 kB of source code.
func BenchmarkFirst(b *testing.B) {
	text, err := os.ReadFile("rules.go")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := textSearch{text: string(text[:4<<10]), rules: loadRules()}
		s.rules.keywords.eachKeyword(s.text, s.matchRuleAt)
	}
}

func BenchmarkHostile(b *testing.B) {
	units := hostile()
	for _, name := range slices.Sorted(maps.Keys(units)) {
		text := strings.Repeat(units[name], 1<<16/len(units[name])+1)
		b.Run(strconv.Quote(name), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(text)
			}
		})
	}
}
