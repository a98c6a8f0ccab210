// Tests that secrets are found if a line break divides them or if they are divided between two fields.

package secret

import (
	"strings"
	"testing"
)

const dividedSecret = "ghp_a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"

func TestBroken(t *testing.T) {
	for at := minSecretPieceBytes; at < len(dividedSecret)-1; at++ {
		for _, lineBreak := range []string{"\n", "\r\n", "\n  ", "\n> "} {
			text := "The key " + dividedSecret[:at] + lineBreak + dividedSecret[at:] + " is old."
			found := Find(text)
			if len(found) != 1 || text[:found[0].Start] != "The key " || text[found[0].End:] != " is old." {
				t.Errorf("Find(%q) = %v", text, found)
			}
		}
	}
	for _, text := range []string{
		"ghp_\nThe deploy runs at night.",
		"The prefix is ghp_\n\n" + dividedSecret[4:],
		"key " + dividedSecret[:20] + " " + dividedSecret[20:],
		"sk-learn\nsk-learn-contrib\nthe packages of the project",
	} {
		if found := Find(text); found != nil {
			t.Errorf("Find(%q) = %v", text, found)
		}
	}
	text := dividedSecret + "\nThis is the next line."
	if found := Find(text); len(found) != 1 || found[0].End != len(dividedSecret) {
		t.Errorf("the word after a whole secret is in %v", found)
	}
}

func TestFindDivided(t *testing.T) {
	for at := minSecretPieceBytes; at < len(dividedSecret)-1; at++ {
		texts := []string{dividedSecret[at:] + " is old", "note", "key " + dividedSecret[:at]}
		found := FindAcrossTexts(texts...)
		if len(found[0]) != 1 || found[1] != nil || len(found[2]) != 1 {
			t.Fatalf("FindDivided(%q) = %v", texts, found)
		}
		for i, f := range found {
			texts[i] = (*Redactor)(nil).ReplaceFindings(texts[i], f)
		}
		if all := strings.Join(texts, "|"); all != "[redacted: github-pat] is old|note|key [redacted: github-pat]" {
			t.Errorf("marked: %q", all)
		}
	}
	for _, texts := range [][]string{
		{"sk-learn", "contrib-imbalanced is a package"},
		{"ghp_", "The deploy runs at night"},
		{dividedSecret, "The next field"},
	} {
		if found := FindAcrossTexts(texts...); found[0] != nil || found[1] != nil {
			t.Errorf("FindDivided(%q) = %v", texts, found)
		}
	}
}
