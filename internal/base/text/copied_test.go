// This file tests the list of scripts that are written without spaces between words.

package text

import "testing"

func TestIsUnspaced(t *testing.T) {
	for r, want := range map[rune]bool{'a': false, 'é': false, 'ж': false, 'א': false, '한': false, '猫': true, 'ね': true,
		'ネ': true, 'ก': true, 'ກ': true, 'ក': true, 'က': true, '。': false} {
		if got := IsUnspacedScriptLetter(r); got != want {
			t.Errorf("IsUnspaced(%q) = %t, want %t", r, got, want)
		}
	}
}
