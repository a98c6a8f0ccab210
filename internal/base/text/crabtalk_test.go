// This file compares the analyzers with results that crabtalk's own code computed.

package text

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
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
		if got := CrabtalkTerms(v.Text); !slices.Equal(got, v.Tokens) {
			t.Errorf("CrabtalkTerms(%q) = %q, want %q", v.Text, got, v.Tokens)
		}
	}
}

// TestAnalyzersAgainstRust compares the analyzers with results of the string functions in Rust 1.95, which crabtalk
// uses. The texts contain final sigmas, titlecase, newly assigned scripts, and random mixtures.
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
		if got := CrabtalkTerms(v.Text); !slices.Equal(got, v.Chars) {
			t.Errorf("CrabtalkTerms(%q) = %q, want %q", v.Text, got, v.Chars)
		}
		if got := OldCrabtalkTerms(v.Text); !slices.Equal(got, v.Bytes) {
			t.Errorf("CrabtalkByteTerms(%q) = %q, want %q", v.Text, got, v.Bytes)
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
		if got := CrabtalkTerms(s); len(got) != 0 {
			t.Errorf("CrabtalkTerms(%q) = %q, want nothing", s, got)
		}
	}
	if got, want := CrabtalkTerms("them there hers"), []string{"them", "there", "hers"}; !slices.Equal(got, want) {
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
		{"ab\xed\xa0\x80cd", []string{"ab", "cd"}}, // The text contains a surrogate.
		{"ab\x00cd", []string{"ab", "cd"}},
	}
	for _, tt := range tests {
		if got := CrabtalkTerms(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("CrabtalkTerms(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzAnalyzers(f *testing.F) {
	for _, s := range []string{"", "The quick-brown FOX's café", "ΟΔΟΣ ΑΣʰ", "İ \xff\xe6\x97", "日本語 नमस्ते 🅰🅱"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, analyze := range map[string]func(string) []string{
			"Crabtalk":      CrabtalkTerms,
			"CrabtalkBytes": OldCrabtalkTerms,
		} {
			terms := analyze(s)
			for _, term := range terms {
				if term == "" || !utf8.ValidString(term) || isStopWord(term) {
					t.Fatalf("%s(%q) has the term %q", name, s, term)
				}
				for _, r := range term {
					if (r != '\u0307' && !ucd.IsAlphanumeric(r)) || ucd.LowerRune(r) != r {
						t.Fatalf("%s(%q) has %U in the term %q", name, s, r, term)
					}
				}
			}
			// Analyzing the terms again must return the same terms. Two characters are exceptions, because lower-casing
			// changes how they are analyzed: the dotted İ becomes an i with a mark that separates terms, and the Kelvin
			// sign becomes a single byte.
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
				CrabtalkTerms(text)
			}
		})
	}
}

func ExampleCrabtalkTerms() {
	fmt.Println(CrabtalkTerms("The release is shipped: v1.2, foo_bar, ΟΔΟΣ"))
	// Output: [release shipped v1 foo bar οδος]
}
