// Tests how a text is converted to terms, what a question asks for, and who speaks in a text.

package analysis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

func termsOf(d index.Document) string {
	var ts []string
	for _, t := range d.Terms {
		ts = append(ts, t.Text)
	}
	return strings.Join(ts, " ")
}

func TestTerms(t *testing.T) {
	tests := []struct {
		name, text, want string
		words            uint32 // length of the document in words
	}{
		{"stems", "running connections", "run connect", 2},
		{"irregular forms", "bought went children mice", "buy go child mous", 4},
		{"possessive", "Rachel's Rachel’s", "rachel", 2},
		{"contraction", "don't we've", "don we", 2},
		{"camel case", "getUserName", "get user name getusernam", 3},
		{"capitals before a word", "parseHTTPHeader URLs", "pars http header parsehttphead url", 4},
		{"snake and kebab are the same whole", "user_name user-name", "user name usernam", 4},
		{"a path, its file and its parts", "internal/near.go", "intern near go near.go internal/near.go", 3},
		{"a version", "v1.2.3 and 1.2.0-rc1", "1.2.3 1.2 and 1.2.0-rc1 1.2.0", 3},
		{"a short version", "v2.10 V3.1.4", "2.10 3.1.4 3.1", 2},
		{"Thai in pairs", "ท่าเรือ", "ท่ ่า าเ เร รื ือ", 6},
		{"a Burmese word of one syllable", "ရေ", "ရေ", 1},
		{"emoji", "ship it🚀✅ ok", "ship it 🚀 ✅ ok", 5},
		{"variants and skin tones of emoji", "❤️ ❤ 👍🏽 ⚠\ufe0e", "❤ 👍 ⚠", 4},
		{"a variant alone is no word", "\ufe0f a \ufe0f\ufe0f", "a", 1},
		{"keycaps", "1️⃣", "1", 1},
		{"flags", "🇩🇪🇫🇷 🇩", "🇩🇪 🇫🇷 🇩", 3},
		{"joined emoji", "👨‍👩‍👧 👩🏽‍🚀x", "👨 👩 👧 👨‍👩‍👧 🚀 👩‍🚀 x", 6},
		{"a joiner that joins nothing", "👩\u200d 👩\u200dx", "👩 x", 3},
		{"a number with a comma", "1,000 and 1, 2", "1000 and 1 2", 4},
		{"a date stays whole", "2023-05-25", "2023-05-25", 1},
		{"an address", "jo@example.com", "jo exampl com jo@example.com", 3},
		{"the end of a sentence is no file", "It ended. Next", "it end next", 3},
		{"diacritics", "Café naïve Łódź straße", "cafe naiv lodz strass", 4},
		{"composed or not", "cafe\u0301", "cafe", 1},
		{"full width", "ＡＢＣ１", "abc1", 1},
		{"languages of one letter", "C++ and C#", "c++ and c#", 3},
		{"pairs of characters", "東京都 猫", "東京 京都 猫", 3},
		{"Latin among them", "Go言語", "go 言語", 2},
		{"Cyrillic", "ёлка Ёлка", "елка", 2},
		{"not UTF-8", "a\xffb", "a b", 2},
		{"nothing", " -- !", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := NewAnalyzer()
			for range 2 { // the second time with the analyzer's cache
				d := a.Doc([]Field{{"body", tt.text, 16}})
				if got := termsOf(d); got != tt.want || d.WeightedLength != 16*tt.words {
					t.Errorf(
						"Doc(%q) = %q of %d sixteenths, want %q of %d",
						tt.text,
						got,
						d.WeightedLength,
						tt.want,
						16*tt.words,
					)
				}
			}
		})
	}
}

// TestFieldsWeigh tests that each occurrence of a word counts with the weight of its field, and that the result does
// not depend on whether the analyzer's cache was emptied.
func TestFieldsWeigh(t *testing.T) {
	a := NewAnalyzer()
	fields := []Field{{"name", "Ships", 32}, {"body", "a ship, shipping ships", 16}}
	want := a.Doc(fields)
	if want.Terms[0] != (index.Term{Text: "ship", Frequency: 32 + 3*16}) || want.WeightedLength != 32+4*16 {
		t.Errorf("Doc = %+v", want)
	}
	var many strings.Builder
	for i := range maxCachedChunks + 10 {
		many.WriteString(" w")
		for ; i > 0; i /= 26 {
			many.WriteByte(byte('a' + i%26))
		}
	}
	a.Doc([]Field{{"body", many.String(), 16}})
	if got := a.Doc(fields); !slices.Equal(got.Terms, want.Terms) || got.WeightedLength != want.WeightedLength {
		t.Errorf("after it forgot, Doc = %+v, want %+v", got, want)
	}
	if n := len(a.cache.chunks); n > 100 {
		t.Errorf("it keeps %d chunks after forgetting", n)
	}
}

func TestQuestion(t *testing.T) {
	tests := []struct {
		name, text, want string
		only             bool
	}{
		{"question words go", "What did I buy at the market?", "buy market", false},
		{"contractions go", "What's the port we're using?", "port use", false},
		{"repeats are counted", "ship ships shipped", "ship×3", false},
		{"what wraps a question goes", "Please summarize the discussion of the harbour", "harbour", false},
		{"what wraps a question stays alone", "discuss", "discuss", true},
		{"only stop words stay", "who is he", "who is he", true},
		{"nothing", "?!", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := NewAnalyzer().AnalyzeQuestion(context.Background(), QueryText{Words: tt.text})
			ws, only := q.Words, q.HasOnlyStopWords
			var ts []string
			for _, w := range ws {
				ts = append(ts, w.Term)
				if w.OccurrenceCount > 1 {
					ts[len(ts)-1] += fmt.Sprint("×", w.OccurrenceCount)
				}
			}
			if got := strings.Join(ts, " "); got != tt.want || only != tt.only {
				t.Errorf("Question(%q) = %q, %v, want %q, %v", tt.text, got, only, tt.want, tt.only)
			}
		})
	}
}

func TestSlip(t *testing.T) {
	held := map[string]int{"cach": 1, "cache": 3, "cashe": 9, "dache": 20, "tide": 2, "port": 5, "rfc9999": 1}
	for word, want := range map[string]string{
		"cahce":   "cache", // two letters swapped
		"cachee":  "cache", // one letter too many
		"caxhe":   "cashe", // one letter wrong (the more frequent of two corrections is used)
		"zache":   "dache", // another first letter, because no correction has the same first letter
		"tid":     "",      // too short
		"prots":   "",      // two errors
		"rfc9998": "",      // numbers are not corrected
	} {
		if got := CorrectSpelling(word, func(s string) int { return held[s] }); got != want {
			t.Errorf("CorrectSpelling(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDialogue(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Field
		turn       bool
	}{
		{"plain", "Some text: here", []Field{{"body", "Some text: here", 16}}, false},
		{
			"chat",
			"user: Hi\n\nmore\n\nassistant: Yes",
			[]Field{{"user", " Hi\n\nmore\n\n", 16}, {"assistant", " Yes", 6}},
			false,
		},
		{"chat that a program begins", "Assistant: Hello", []Field{{"assistant", " Hello", 6}}, false},
		{"a user is no URL", "user:pass", []Field{{"body", "user:pass", 16}}, false},
		{"talk", "Jo Ann: Hi", []Field{{"speaker", "Jo Ann", 48}, {"body", ": Hi", 16}}, true},
		{
			"two paragraphs are no turn",
			"Jo: Hi\n\nJo: Ho",
			[]Field{{"speaker", "Jo", 48}, {"body", ": Hi\n\nJo: Ho", 16}},
			false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := SplitDialogue(tt.text, 16, 6); !slices.Equal(got, tt.want) {
				t.Errorf("SplitDialogue(%q) = %v, want %v", tt.text, got, tt.want)
			}
			if got := IsPersonTurn(tt.text); got != tt.turn {
				t.Errorf("IsTalkTurn(%q) = %v", tt.text, got)
			}
		})
	}
}

func TestSpeechOf(t *testing.T) {
	for text, want := range map[string]DialogueKind{
		"a plain note: here":                 NotDialogue,
		"a note\n\nuser: as it says":         NotDialogue,
		"user: Hi":                           NotDialogue,
		"user: Hi\n\nmore":                   NotDialogue,
		"assistant: Hello":                   ProgramTurn,
		"Assistant: Hello\n\nmore of it":     ProgramTurn,
		"assistant: Hello\n\nuser: Hi":       DialogueWithProgram,
		"user: Hi\n\nmore\n\nassistant: Yes": DialogueWithProgram,
		"Jo Ann: Hi":                         PersonTurn,
		"Jo: Hi\n\nAnn: Ho\n\nJo: Hum":       DialogueBetweenPeople,
		"Decision: Go\n\nReason: Speed":      NotDialogue,
	} {
		if got := ClassifyDialogue(text); got != want {
			t.Errorf("ClassifySpeech(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestAddressesProgram(t *testing.T) {
	for question, want := range map[string]bool{
		"What did you suggest?": true,
		"YOUR advice":           true,
		"young people":          false,
		"":                      false,
	} {
		if got := NewAnalyzer().AnalyzeQuestion(t.Context(), QueryText{Words: question}).AddressesProgram; got != want {
			t.Errorf("the question %q addresses a program: %v", question, got)
		}
	}
}

func TestShare(t *testing.T) {
	the := EnglishDocumentShare("the")
	time := EnglishDocumentShare(TermOfWord("time"))
	rare := EnglishDocumentShare("oxbow")
	if !(the > .5 && the <= 1 && time > .01 && time < the && rare == 0) {
		t.Errorf("shares of the, time and oxbow are %v, %v and %v", the, time, rare)
	}
	for term, share := range documentSharesByTerm() {
		if share <= 0 || share > 1 || term == "" || strings.IndexFunc(term, unicode.IsLetter) != 0 {
			t.Errorf("%q has the share %v", term, share)
		}
	}
	if n := strings.Count(commonTermsText, "\n"); n < 3000 || n != len(documentSharesByTerm()) {
		t.Errorf("the table has %d lines and %d terms", n, len(documentSharesByTerm()))
	}
}

func TestAsksAndTellsWhen(t *testing.T) {
	a := NewAnalyzer()
	for question, want := range map[string]bool{
		"When did Ann sail?":                true,
		"Do you remember when I sailed?":    true,
		"What year was the trip":            true,
		"tell me how long the trip took":    true,
		"What did Ann say when she sailed?": false,
		"whenever I sail":                   false,
		"what is a yearbook":                false,
		"":                                  false,
		"How long? and what month?":         true,
		"Ann said when she sailed":          false,
	} {
		if got := a.AnalyzeQuestion(t.Context(), QueryText{Words: question}).AsksForTime; got != want {
			t.Errorf("the question %q asks when: %v", question, got)
		}
	}
	for text, want := range map[string]bool{
		"Ann: I sailed yesterday.":   true,
		"two WEEKS ago":              true,
		"in Febru\u00e1ry, December": true,
		"I may sail":                 false,
		"a daylily":                  false,
		"":                           false,
	} {
		if got := a.MentionsTime(text); got != want {
			t.Errorf("MentionsTime(%q) = %v", text, got)
		}
	}
	if !EndsInQuestion("Ann: And you? \n") || EndsInQuestion("Ann: Why? Because.") ||
		SpeakerName("Jo Ann: Hi") != "Jo Ann" {
		t.Error("Asks or Speaker is wrong")
	}
}

// FuzzDoc tests Analyzer.Doc with arbitrary bytes. No term may be empty, contain a space, a colon or a newline, or be
// too long. A new analyzer must return the same terms and the same length.
func FuzzDoc(f *testing.F) {
	for _, s := range []string{"getUserName a/b.c v1.2", "C++ 東京Go 1,2", "\xff'x'-_", "user: a\n\nassistant: b",
		"İıſ"} {
		f.Add(s)
	}
	a := NewAnalyzer()
	f.Fuzz(func(t *testing.T, s string) {
		fields := SplitDialogue(s, 16, 6)
		got, want := a.Doc(fields), NewAnalyzer().Doc(fields)
		if !slices.Equal(got.Terms, want.Terms) || got.WeightedLength != want.WeightedLength {
			t.Fatalf("Doc(%q) = %v, from a fresh analyzer %v", s, got, want)
		}
		for _, term := range got.Terms {
			if term.Text == "" || strings.ContainsAny(term.Text, " :\n") || len(term.Text) > maxCombinedTermBytes+8 {
				t.Fatalf("Doc(%q) has the term %q", s, term.Text)
			}
		}
	})
}

func BenchmarkDoc(b *testing.B) {
	text := strings.Repeat(
		"The harbour office ships on Tuesdays, never on Fridays; getUserName in internal/near.go was rewritten. ",
		100,
	)
	a := NewAnalyzer()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		a.Doc([]Field{{"body", text, 16}})
	}
}

// Doc returns a new document that SetDoc has filled with the terms of the fields.
func (a *Analyzer) Doc(fields []Field) index.Document {
	var d index.Document
	a.SetDoc(context.Background(), &d, fields)
	return d
}

// TestLongQuestion tests that the words of a long question are counted like the words of a short question.
func TestLongQuestion(t *testing.T) {
	var words []string
	for i := range 100 {
		words = append(words, fmt.Sprint("w", i, "x"))
	}
	text := strings.Join(words, " ")
	question := text + " the " + text + " " + words[99] + " " + words[3]
	q := NewAnalyzer().AnalyzeQuestion(t.Context(), QueryText{Words: question})
	got, only := q.Words, q.HasOnlyStopWords
	if only || len(got) != len(words) {
		t.Fatalf("%d words, only stop words %v; want %d", len(got), only, len(words))
	}
	for i, w := range got {
		want := 2
		if i == 3 || i == 99 {
			want = 3
		}
		if w.Word != words[i] || w.OccurrenceCount != want {
			t.Errorf("word %d is %q, %d times; want %q, %d times", i, w.Word, w.OccurrenceCount, words[i], want)
		}
	}
}
