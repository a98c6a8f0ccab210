// This file tests the estimate of tokens.

package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestEstimateTokens compares estimates with the counts of the tokenizer cl100k_base. An estimate may be a fifth too
// low. For such short texts, it may be two fifths plus two tokens too high.
func TestEstimateTokens(t *testing.T) {
	tests := []struct {
		text string
		want int
	}{
		{"The quick brown fox jumps over the lazy dog.", 10},
		{"User's dog Luna has vet appointments on Thursdays. Luna is a golden retriever.", 18},
		{
			"Nothing is silently discarded: damaged bytes are set aside and reported, and a refused write is an error.",
			21,
		},
		{"func (x *Index) Search(terms []string, limit int) []Hit {\n\treturn x.scan(terms, limit)\n}\n", 27},
		{"## Decisions\n\n- 2026-04-18: use `flock`, never fcntl\n- keep the log append-only\n", 29},
		{"{\"name\": \"deploy\", \"aliases\": [\"ship\", \"release\"], \"created_at\": 1776162225}", 25},
		{"Die Katze sitzt auf der Fensterbank und schaut den Vögeln im Garten zu.", 21},
		{"Мы решили хранить память агента в одном файле.", 21},
		{"我们决定把代理的记忆保存在一个文件里。", 18},
		{"エージェントの記憶を一つのファイルに保存します。", 21},
		{"https://example.com/docs/index.html?query=memory&limit=10", 15},
	}
	for _, tt := range tests {
		got := EstimateTokens(tt.text)
		if lo, hi := tt.want*8/10, tt.want*14/10+2; got < lo || got > hi {
			t.Errorf("EstimateTokens(%q) = %d, want %d to %d", tt.text, got, lo, hi)
		}
	}
}

func TestEstimateTokensSmall(t *testing.T) {
	tests := []struct {
		text string
		want int
	}{
		{"", 0},
		{" ", 1},
		{"word", 1},      // The cost is 100 hundredths of a token.
		{"two words", 3}, // The cost is 100 + 5 + 100 hundredths, rounded up to whole tokens.
		{"1234567", 3},   // Each of the groups 123, 456 and 7 costs one token.
		{"日本", 3},        // The cost is 2 × 125 hundredths, rounded up to whole tokens.
		{"\xff", 1},
	}
	for _, tt := range tests {
		if got := EstimateTokens(tt.text); got != tt.want {
			t.Errorf("EstimateTokens(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

// TestEstimateTokensAddsUp tests EstimateTokens for two random texts and for their concatenation. The estimate for the
// concatenation must not be smaller than the estimate for either text. It may be at most two tokens larger than the sum
// of both estimates. Therefore a caller with a token budget can estimate texts one by one and add up the estimates.
func TestEstimateTokensAddsUp(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	alphabet := []rune("abcXYZ019   \n\t.,-=éЖ日かक한🙂\u0301")
	text := func() string {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 20_000 {
		a, b := text(), text()
		na := EstimateTokens(a)
		nb := EstimateTokens(b)
		both := EstimateTokens(a + b)
		if both < max(na, nb) || both > na+nb+2 {
			t.Fatalf("seed %d: EstimateTokens(%q) = %d, (%q) = %d, of both %d", seed, a, na, b, nb, both)
		}
		if both > 3*utf8.RuneCountInString(a+b) {
			t.Fatalf("seed %d: EstimateTokens(%q) = %d", seed, a+b, both)
		}
	}
}

// TestTokenCostOfLines tests that the cost of a text is the sum of the costs of its lines, and that a doubled line end
// adds BlankLineTokenCost.
func TestTokenCostOfLines(t *testing.T) {
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, 0))
	alphabet := []rune("abcXYZ019   \n\t\r.,-=`é\U0001F642\u0301\u0416")
	firstRunes := []rune("aZ9.` \"\U0001F642\u0416")
	for range 20_000 {
		var whole strings.Builder
		var sum TokenHundredths
		for i := range 1 + rng.IntN(6) {
			line := string(firstRunes[rng.IntN(len(firstRunes))])
			for range rng.IntN(20) {
				line += string(alphabet[rng.IntN(len(alphabet))])
			}
			line += "\n"
			if i > 0 && rng.IntN(2) == 0 {
				whole.WriteString("\n")
				sum += BlankLineTokenCost
			}
			whole.WriteString(line)
			sum += TokenCost(line)
		}
		if got := TokenCost(whole.String()); got != sum {
			t.Fatalf("seed %d: TokenCost(%q) = %d, want the sum of the lines, %d", seed, whole.String(), got, sum)
		}
		if got, want := EstimateTokens(whole.String()), sum.Tokens(); got != want {
			t.Fatalf("seed %d: EstimateTokens(%q) = %d, want %d", seed, whole.String(), got, want)
		}
	}
}

func BenchmarkEstimateTokens(b *testing.B) {
	text := strings.Repeat("The store keeps entries; an index ranks them. ", 22)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		EstimateTokens(text)
	}
}
