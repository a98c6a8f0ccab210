// A secret in a text is replaced by a mark such as [redacted: github-pat]. This file tests that secrets in other
// encodings are found, and that the mark replaces all bytes of the encoded secret.

package secret

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestOtherForms(t *testing.T) {
	between := func(s string) string { return strings.Join(strings.Split(github, ""), s) }
	var percent, wide strings.Builder
	for _, c := range github {
		percent.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789abcdef"[c&15]))
		wide.WriteRune(c - '!' + '！')
	}
	var utf16le []byte
	for _, u := range utf16.Encode([]rune("token " + github + " is kept")) {
		utf16le = append(utf16le, byte(u), byte(u>>8))
	}
	long := base64.StdEncoding.EncodeToString([]byte(
		strings.Repeat("This is the note of the day. ", 9) + github + strings.Repeat(" and more", 20),
	))
	for name, secret := range map[string]string{
		"soft hyphens":           between("\u00ad"),
		"one soft hyphen":        github[:9] + "\u00ad" + github[9:],
		"zero-width spaces":      between("\u200b"),
		"word joiners and BOM":   between("\u2060\ufeff"),
		"percent signs":          percent.String(),
		"one percent sign":       "ghp%5f" + github[4:],
		"encoded query":          url.QueryEscape("api_key=x9Kd82mQpZ4Rt7VbNc1W&y"),
		"full-width letters":     wide.String(),
		"mathematical letters":   mathematical(github),
		"base64":                 base64.StdEncoding.EncodeToString([]byte(github)),
		"base64 without padding": base64.RawStdEncoding.EncodeToString([]byte("t=" + github)),
		"base64 for URLs":        base64.URLEncoding.EncodeToString([]byte("a>?" + github + "??>>")),
		"base64 of UTF-16":       base64.StdEncoding.EncodeToString(utf16le),
		"base64 in lines":        long[:76] + "\n" + long[76:152] + "\r\n" + long[152:],
		"base64, percent-encoded": strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte("x:"+github+
			"?")), "=", "%3D"),
		"base64 with soft hyphen": "Z2hwX2E4S3owUXBMM3ZYdzlSdFkybU5i\u00adNkNzRDFmR2g0SmtFNXVWaQ",
	} {
		got, found := (*Redactor)(nil).Redact("Kept: é " + secret + " – end")
		rest := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(got, "Kept: é "), " – end"), "=")
		_, after, _ := strings.Cut(rest, redactionMarkEnd)
		if len(found) == 0 || !strings.Contains(rest, redactionMarkStart) || len(strings.TrimPrefix(after, "%3D")) > 6 {
			t.Errorf("%s: Redact(%q) = %q", name, secret, got)
		}
		if again, _ := (*Redactor)(nil).Redact(got); again != got {
			t.Errorf("%s: a second time %q becomes %q", name, got, again)
		}
	}
}

// mathematical returns a text with its letters and digits replaced by the bold letters and digits of the mathematical
// alphabets.
func mathematical(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'A' <= c && c <= 'Z':
			return c - 'A' + '𝐀'
		case 'a' <= c && c <= 'z':
			return c - 'a' + '𝐚'
		case '0' <= c && c <= '9':
			return c - '0' + '𝟎'
		}
		return c
	}, text)
}

func TestOtherFormsOfNothing(t *testing.T) {
	text := "The harbor keeps nine lanterns and the keeper counts them every Monday. "
	for _, s := range []string{
		base64.StdEncoding.EncodeToString([]byte(text)), url.QueryEscape(text), strings.ReplaceAll(text, " ", "\u200b"),
		"100% of 50%, %d and %s, %20 and ✔\ufe0f done",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
		"github.com/oxbow/internal/screening/instruction/reading_of_a_text",
	} {
		if found := Find(s); found != nil {
			t.Errorf("Find(%q) = %v, want none", s, found)
		}
	}
}
