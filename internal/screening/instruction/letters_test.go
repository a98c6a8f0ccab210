// This file tests that letters.txt has the content that a function computes from Unicode's tables and from the map
// lookAlikes, which lists characters that look like ASCII letters.

package instruction

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var update = flag.Bool("update", false, "write letters.txt")

// lookAlikes contains the characters that look like ASCII letters and are not compatibility forms of the letters.
var lookAlikes = map[string]string{
	"a": "аɑαᴀ", "b": "ЬʙƄ", "c": "сϲᴄ", "d": "ԁᴅɗ", "e": "еεᴇɛєҽ", "f": "ꜰƒ", "g": "ɡɢ", "h": "һʜհ", "i": "іɩɪıι",
	"j": "јᴊ",
	"k": "κкᴋ", "l": "ӏʟⅼɭ", "m": "мᴍ", "n": "пոɴη", "o": "оοᴏօ", "p": "рρᴘ", "q": "ԛ", "r": "ʀг", "s": "ѕꜱ",
	"t": "тτᴛ",
	"u": "υսᴜ", "v": "ѵνᴠ", "w": "ԝωᴡш", "x": "хχ", "y": "уүγʏ", "z": "ᴢ",
}

// makeLetters returns the content of letters.txt. Each line contains an ASCII text, a tab and the characters that look
// like this text.
func makeLetters() string {
	of := map[string][]rune{}
	for c := rune(utf8.RuneSelf); c <= unicode.MaxRune; c++ {
		if unicode.IsSpace(c) {
			continue
		}
		var ascii strings.Builder
		isLike := true
		for _, d := range norm.NFKD.String(string(c)) {
			if !unicode.Is(unicode.M, d) {
				isLike = isLike && d > ' ' && d < utf8.RuneSelf
				ascii.WriteRune(unicode.ToLower(d))
			}
		}
		if isLike && ascii.Len() > 0 {
			of[ascii.String()] = append(of[ascii.String()], unicode.ToLower(c))
		}
	}
	// negative circled letters, negative squared letters, letters of flags
	for _, first := range []rune{0x1F150, 0x1F170, 0x1F1E6} {
		for i := range rune(26) {
			of[string('a'+i)] = append(of[string('a'+i)], first+i)
		}
	}
	for ascii, like := range lookAlikes {
		for _, c := range like {
			of[ascii] = append(of[ascii], unicode.ToLower(c))
		}
	}
	var b strings.Builder
	for _, ascii := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[ascii])
		b.WriteString(ascii + "\t" + string(slices.Compact(of[ascii])) + "\n")
	}
	return b.String()
}

// TestLetters tests the content of letters.txt. This command writes the file:
//
//	go test ./internal/screening/instruction -run Letters -update
func TestLetters(t *testing.T) {
	want := makeLetters()
	if *update {
		if err := os.WriteFile("letters.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if lookalikeTableText != want {
		t.Error("letters.txt is not what Unicode's tables and the look-alikes make; run with -update")
	}
	for _, c := range []struct{ text, want string }{
		{"ｉｇｎｏｒｅ ａｌｌ：", "ignore all:"},
		{"𝐢𝑔𝒏𝓸𝔯𝖊", "ignore"},
		{"ⓘⓖⓝⓞⓡⓔ", "ignore"},
		{"іgnоrе", "ignore"},
		{"ïgnörë", "ignore"},
		{"i\u0336g\u0336n\u0336", "ign"},
		{"ﬁle\u00A0names", "file names"},
		{"忽略 所有", "忽略 所有"},
	} {
		if got := ReplaceLookalikes(c.text); got != c.want {
			t.Errorf("ReplaceLookalikes(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
