// This file tests the analyzers against vectors that crabtalk's own rules made.

package text

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestCrabtalkVectors(t *testing.T) {
	var vectors []struct {
		Text   string
		Tokens []string
	}
	readJSON(t, "crabtalk-tokenize.json", &vectors)
	if len(vectors) < 20 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		if got := Crabtalk(v.Text); !slices.Equal(got, v.Tokens) {
			t.Errorf("Crabtalk(%q) = %q, want %q", v.Text, got, v.Tokens)
		}
	}
}

// The vectors were made by the string functions of Rust 1.95, which crabtalk
// uses: final sigmas, titlecase, newly assigned scripts, and random mixtures.
func TestAnalyzersAgainstRust(t *testing.T) {
	var vectors []struct {
		Text         string
		Chars, Bytes []string
	}
	readJSON(t, "analyzers.json", &vectors)
	if len(vectors) < 200 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		if got := Crabtalk(v.Text); !slices.Equal(got, v.Chars) {
			t.Errorf("Crabtalk(%q) = %q, want %q", v.Text, got, v.Chars)
		}
		if got := CrabtalkBytes(v.Text); !slices.Equal(got, v.Bytes) {
			t.Errorf("CrabtalkBytes(%q) = %q, want %q", v.Text, got, v.Bytes)
		}
	}
}

func TestStopWords(t *testing.T) {
	const words = "a an the is it in of to and or for on at by with as be was are been has had have do does did " +
		"but not no if so from that this then than into its my me we he she they you your our his her"
	if n := len(strings.Fields(words)); n != 49 {
		t.Fatalf("%d words, want 49", n)
	}
	for _, s := range []string{words, strings.ToUpper(words), strings.ReplaceAll(words, " ", "_")} {
		if got := Crabtalk(s); len(got) != 0 {
			t.Errorf("Crabtalk(%q) = %q, want nothing", s, got)
		}
	}
	if got, want := Crabtalk("them there hers"), []string{"them", "there", "hers"}; !slices.Equal(got, want) {
		t.Errorf("Crabtalk = %q, want %q", got, want)
	}
}

func TestInvalidUTF8Separates(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"one\xfftwo", []string{"one", "two"}},
		{"\xe6\x97日本\xe6", []string{"日本"}},
		{"ab\xed\xa0\x80cd", []string{"ab", "cd"}}, // a surrogate
		{"ab\x00cd", []string{"ab", "cd"}},
	}
	for _, tt := range tests {
		if got := Crabtalk(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("Crabtalk(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Every code point is compared with the data that the tables were made from.
func TestTables(t *testing.T) {
	f, err := os.Open("testdata/unicode17.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	alnum, lowered := map[rune]bool{}, map[rune]string{}
	class := map[byte]map[rune]bool{'S': {}, 'I': {}}
	hex := func(s string) rune {
		n, err := strconv.ParseUint(s, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return rune(n)
	}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		w := strings.Fields(sc.Text())
		switch w[0] {
		case "A", "S", "I":
			set := alnum
			if w[0] != "A" {
				set = class[w[0][0]]
			}
			for r := hex(w[1]); r <= hex(w[2]); r++ {
				set[r] = true
			}
		case "L":
			var s string
			for _, x := range strings.Split(w[2], ",") {
				s += string(hex(x))
			}
			lowered[hex(w[1])] = s
		}
	}
	if len(alnum) < 100_000 || len(lowered) < 1400 || len(class['S']) < 2000 || len(class['I']) < 300 {
		t.Fatalf("data: %d alphanumeric, %d with a lower case, %d cased, %d ignorable",
			len(alnum), len(lowered), len(class['S']), len(class['I']))
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if got := isAlnum(r); got != alnum[r] {
			t.Errorf("isAlnum(%U) = %v, want %v", r, got, alnum[r])
		}
		want, ok := lowered[r]
		if !ok {
			want = string(r)
		}
		if got := lower(string(r)); got != want {
			t.Errorf("lower(%U) = %q, want %q", r, got, want)
		}
		if got := within(cased, r); got != class['S'][r] {
			t.Errorf("within(cased, %U) = %v, want %v", r, got, class['S'][r])
		}
		if got := within(ignorable, r); got != class['I'][r] {
			t.Errorf("within(ignorable, %U) = %v, want %v", r, got, class['I'][r])
		}
		if r < utf8.RuneSelf && (asciiKind[r] != separates) != alnum[r] {
			t.Errorf("asciiKind[%U] = %v, alphanumeric: %v", r, asciiKind[r], alnum[r])
		}
	}
}

func FuzzAnalyzers(f *testing.F) {
	for _, s := range []string{"", "The quick-brown FOX's café", "ΟΔΟΣ ΑΣʰ", "İ \xff\xe6\x97", "日本語 नमस्ते 🅰🅱"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, analyze := range map[string]func(string) []string{"Crabtalk": Crabtalk, "CrabtalkBytes": CrabtalkBytes} {
			terms := analyze(s)
			for _, term := range terms {
				if term == "" || !utf8.ValidString(term) || isStopWord(term) {
					t.Fatalf("%s(%q) has the term %q", name, s, term)
				}
				for _, r := range term {
					if r != '\u0307' && !isAlnum(r) || lowerRune(r) != r {
						t.Fatalf("%s(%q) has %U in the term %q", name, s, r, term)
					}
				}
			}
			// Two signs lose by being lowered what they need to be found
			// again: dotted İ gains a mark that separates, and the Kelvin
			// sign becomes one byte.
			if strings.ContainsAny(s, "\u0130\u212a") {
				continue
			}
			if again := analyze(strings.Join(terms, " ")); !slices.Equal(again, terms) {
				t.Fatalf("%s(%q) = %q, and of that %q", name, s, terms, again)
			}
		}
	})
}

func BenchmarkCrabtalk(b *testing.B) {
	for _, bench := range []struct{ name, text string }{
		{"english", "The store keeps entries; an index ranks them, and a Selection decides what enters the window. "},
		{"russian", "Хранилище держит записи, указатель их упорядочивает, а отбор решает, что войдёт в окно. "},
		{"chinese", "存储保留条目,索引对其排序,选择决定哪些内容进入窗口。"},
	} {
		text := strings.Repeat(bench.text, 1+1000/len(bench.text))
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Crabtalk(text)
			}
		})
	}
}

func ExampleCrabtalk() {
	fmt.Println(Crabtalk("The release is shipped: v1.2, foo_bar, ΟΔΟΣ"))
	// Output: [release shipped v1 foo bar οδος]
}
