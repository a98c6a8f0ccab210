// This file finds secrets that are divided by a line break, or over two parts of a text.

package secret

import (
	"slices"
	"strings"
)

// Bounds of the pieces of a divided secret, in bytes. A shorter first piece does not begin like a key,
// and a longer one is found by itself.
const (
	leastPiece = 4
	maxPiece   = 300
)

// FindDivided returns the secrets that begin at the end of one text and continue at the start of
// another, such as a name and a content. The result has the found pieces of each text. Only keys with
// a prefix of their own count, such as ghp_: other rules would join words that stand side by side by
// chance.
func FindDivided(texts ...string) [][]Finding {
	found := make([][]Finding, len(texts))
	for i, first := range texts {
		start := startOfPiece(first, len(first))
		if !beginsKey(first[start:]) {
			continue
		}
		for k, second := range texts {
			if k == i {
				continue
			}
			end := endOfPiece(second, 0)
			if f, size := dividedKey(first[start:], second[:end]); size > 0 {
				found[i] = append(found[i], Finding{Rule: f.Rule, Start: start + f.Start, End: len(first)})
				found[k] = append(found[k], Finding{Rule: f.Rule, End: size})
			}
		}
	}
	for i := range found {
		found[i] = disjoint(texts[i], found[i])
	}
	return found
}

// findBroken returns the secrets that a line break divides, as in a copy from a terminal.
func findBroken(text string) (found []Finding) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '\n')
		if i < 0 {
			return found
		}
		end := from + i
		from = end + 1
		if end > 0 && text[end-1] == '\r' {
			end--
		}
		start := startOfPiece(text, end)
		if !beginsKey(text[start:end]) {
			continue
		}
		next := from
		for next < len(text) && (text[next] == ' ' || text[next] == '\t' || text[next] == '>') {
			next++
		}
		f, size := dividedKey(text[start:end], text[next:endOfPiece(text, next)])
		if size > 0 {
			found = append(found, Finding{Rule: f.Rule, Start: start + f.Start, End: next + size, order: f.order})
		}
	}
}

// startOfPiece returns where the run of key characters that ends at an offset begins.
func startOfPiece(text string, end int) int {
	start := end
	for start > max(0, end-maxPiece) && isKeyByte(text[start-1]) {
		start--
	}
	return start
}

// endOfPiece returns where the run of key characters that begins at an offset ends.
func endOfPiece(text string, start int) int {
	end := start
	for end < min(len(text), start+maxPiece) && isKeyByte(text[end]) {
		end++
	}
	return end
}

func isKeyByte(c byte) bool { return isBase64[c] || c == '.' || c == '=' }

// beginsKey reports whether a piece has the keyword of a rule for keys with a prefix.
func beginsKey(piece string) (ok bool) {
	if len(piece) < leastPiece {
		return false
	}
	rules := ruleSet()
	rules.keywords.each(piece, func(h keyword, _ int) {
		r := &rules.all[h.rule]
		ok = ok || (!r.assigns && r.name != generic && r.name != "password")
	})
	return ok
}

// dividedKey returns the secret that the two pieces form, and how many bytes of the second piece it
// has. The size is 0 if they form none, or if the first piece is a whole secret and the second a word.
func dividedKey(first, second string) (f Finding, size int) {
	if second == "" {
		return Finding{}, 0
	}
	isWhole := findPlain(first) != nil
	if isWhole && strings.IndexAny(second, "0123456789") < 0 {
		return Finding{}, 0
	}
	for _, f := range findPlain(first + second) {
		if f.Rule != generic && f.Start <= len(first)-leastPiece && f.End > len(first) {
			return f, f.End - len(first)
		}
	}
	return Finding{}, 0
}

// redactFindings returns the text with marks in place of the findings.
func (r *Redactor) redactFindings(text string, found []Finding) string {
	for _, f := range slices.Backward(found) {
		mark := markBegin + f.Rule
		if t := r.tag(text[f.Start:f.End]); t != "" {
			mark += " #" + t
		}
		text = text[:f.Start] + mark + markEnd + text[f.End:]
	}
	return text
}
