// This file tests how sentences and their values are formatted.

package report

import (
	"fmt"
	"testing"
)

func TestSentence(t *testing.T) {
	write := func(v any) string { return fmt.Sprintf("<%T %v>", v, v) }
	for _, tt := range []struct {
		sentence Sentence
		want     string
	}{
		{Sentencef("nothing"), "nothing"},
		{Sentencef("%d of %s in %.1f", 3, "x", 2.5), "3 of <string x> in 2.5"},
		{Sentencef("%q and %s", "a\x1b", EntryName("n")), `"a\x1b" and <report.EntryName n>`},
	} {
		if got := tt.sentence.FormatWith(write); got != tt.want {
			t.Errorf("In() = %q, want %q", got, tt.want)
		}
	}
}

func TestMoment(t *testing.T) {
	if v := ParseTimeOrText("yesterday"); v != "yesterday" {
		t.Errorf("Moment(yesterday) = %v, want the text", v)
	}
	if v := fmt.Sprint(ParseTimeOrText("2026-04-18T07:44:00Z")); v != "2026-04-18 07:44:00 +0000 UTC" {
		t.Errorf("Moment = %s, want the time", v)
	}
}
