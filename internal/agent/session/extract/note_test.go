// This file tests the notes that are made from requests to remember something.

package extract

import "testing"

func TestNote(t *testing.T) {
	for sentence, want := range map[string]string{
		"Remember that we never print in library code.": "We never print in library code.",
		"Please remember: prices are in cents.":         "prices are in cents.",
		"remember we use tabs here":                     "We use tabs here",
		"Remember to run gofmt.":                        "Run gofmt.",
		"Always remember to use tabs.":                  "Use tabs.",
		"Remember, for next time: the port is 8443.":    "The port is 8443.",
		"Remember that gofmt has the last word.":        "gofmt has the last word.",
		"Remember not to print.":                        "Remember not to print.",
		"Remember that.":                                "Remember that.",
		"From now on, always run the linter.":           "From now on, always run the linter.",
		"We remember that the port is 8443.":            "We remember that the port is 8443.",
		"Merk dir für später: Preise sind in Cent.":     "Preise sind in Cent.",
		"Merk dir, dass wir nie drucken.":               "Merk dir, dass wir nie drucken.",
		"Recuerda que siempre usamos tabuladores.":      "siempre usamos tabuladores.",
		"记住：我们在星期二发布。":                                  "我们在星期二发布。",
		"":                                              "",
	} {
		if got := ExtractNoteText(sentence); got != want {
			t.Errorf("Note(%q) = %q, want %q", sentence, got, want)
		}
	}
}
