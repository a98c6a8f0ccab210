// This file tests that the private parts of a prompt are removed.

package text

import (
	"strings"
	"testing"
)

func TestWithoutPrivate(t *testing.T) {
	for prompt, want := range map[string]string{
		"Fix the parser.": "Fix the parser.",
		"Call <private>Ada, 555-0100</private> tomorrow.":    "Call […] tomorrow.",
		"<private>a</private> and <PRIVATE>b</Private>.":     "[…] and […].",
		"<private>a <private>b</private> c</private> d":      "[…] d",
		"Use key <private>4711":                              "Use key […]",
		"a </private> b":                                     "a </private> b",
		"<private>line one\nline two</private>\nand the end": "[…]\nand the end",
		"<private></private>":                                "[…]",
		"if a < b && c > d":                                  "if a < b && c > d",
		"<privateer>x</privateer>":                           "<privateer>x</privateer>",
	} {
		if got := HidePrivateParts(prompt); got != want {
			t.Errorf("HidePrivateParts(%q) = %q, want %q", prompt, got, want)
		}
	}
}

// FuzzWithoutPrivate inserts a secret between the tags of a private part into any prompt. The result must never contain
// the secret. If the text before the tag contains no "<", the result must begin with this text.
func FuzzWithoutPrivate(f *testing.F) {
	f.Add("Call ", "Ada", " tomorrow")
	f.Add("<private>a", "</private", "</private>b")
	f.Add("", "<private>x</private>", "")
	f.Fuzz(func(t *testing.T, before, private, after string) {
		const secret = "7f3c-secret-9b1d"
		if strings.Contains(before+private+after, secret) {
			t.Skip("the text around it has the secret, too")
		}
		got := HidePrivateParts(before + "<private>" + secret + private + "</private>" + after)
		if strings.Contains(got, secret) {
			t.Errorf("the secret is in %q", got)
		}
		if !strings.Contains(before, "<") && !strings.HasPrefix(got, before) {
			t.Errorf("%q does not begin with %q", got, before)
		}
	})
}
