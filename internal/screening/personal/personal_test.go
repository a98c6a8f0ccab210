// Tests which texts are recognized as personal data, and which texts only look like personal data.

package personal

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Write to ann.lee@firma.de.", "mail ann.lee@firma.de"},
		{"Ann Lee <Ann+work@mail.firma.co.uk>", "mail Ann+work@mail.firma.co.uk"},
		{"müller@bücher.de, and jörg@firma.xn--p1ai", "mail müller@bücher.de; mail jörg@firma.xn--p1ai"},
		{"请联系bob@firma.de谢谢", "mail bob@firma.de"},
		{"https://firma.de/?to=bob%40firma.de&x=1", "mail bob%40firma.de"},
		{"[mail](mailto:bob@firma.de?subject=x)", "mail bob@firma.de"},
		{"ｂ bob＠firma.de", "mail bob＠firma.de"},
		{"a@firma.de@b@firma.de", "mail a@firma.de; mail b@firma.de"},
		{"ann@example.com", "mail ann@example.com"},

		{"DE89370400440532013000", "iban DE89370400440532013000"},
		{"IBAN: DE89 3704 0044 0532 0130 00, BIC X", "iban DE89 3704 0044 0532 0130 00"},
		{"gb82 west 1234 5698 7654 32", "iban gb82 west 1234 5698 7654 32"},
		{"NL91ABNA0417164300", "iban NL91ABNA0417164300"},
		{"FR14 2004 1010 0505 0001 3M02 606.", "iban FR14 2004 1010 0505 0001 3M02 606"},
		{"BE68-5390-0754-7034", "iban BE68-5390-0754-7034"},
		{
			"DE89\u00A03704\u00A00044\u00A00532\u00A00130\u00A000",
			"iban DE89\u00A03704\u00A00044\u00A00532\u00A00130\u00A000",
		},

		{"4111 1111 1111 1111", "card 4111 1111 1111 1111"},
		{"4111111111111111", "card 4111111111111111"},
		{"4111-1111-1111-1111 12/28 123", "card 4111-1111-1111-1111"},
		{"4111 1111 1111 1111 123", "card 4111 1111 1111 1111"},
		{"3782 822463 10005", "card 3782 822463 10005"},
		{"5555555555554444 and 6011111111111117", "card 5555555555554444; card 6011111111111117"},
		{"４１１１ １１１１ １１１１ １１１１", "card ４１１１ １１１１ １１１１ １１１１"},
		{"4111\u200B1111\u200B1111\u200B1111", "card 4111\u200B1111\u200B1111\u200B1111"},
		{"Ann, ann@firma.de, +49 170 1234567, DE89370400440532013000, 4111111111111111",
			"mail ann@firma.de; iban DE89370400440532013000; card 4111111111111111"},
	} {
		var got []string
		for _, f := range FindPersonalData(c.text) {
			got = append(got, string(f.Kind)+" "+c.text[f.StartOffset:f.EndOffset])
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("Find(%q) = %q, want %q", c.text, s, c.want)
		}
	}
}

func TestFindNothing(t *testing.T) {
	for _, text := range []string{
		"", "@", "a@b", "user@example.com", "you@example.org", "your_email@example.com", "myemail@example.com",
		"ann@firma.test", "ann@firma.invalid", "react@18.2.0", "icon@2x.png", "@scope/pkg@1.0.0",
		"git@github.com:oxbow-memory/oxbow.git", "ssh://git@github.com/a/b", "https://bob@firma.de/x",
		"postgres://app:pass@db.firma.de/x", "deploy@srv.firma.de:/var/www", "getty@tty1.service",
		"noreply@github.com", "123+ann@users.noreply.github.com", "no-reply@firma.de", strings.Repeat("a", 65) +
			"@firma.de", "ann@firma..de", "a.@firma.de",

		"Go 1.26.3", "v1.2.3-20240102150405-abcdef012345", "2026-01-02 03:04:05", "2026-01-02T03:04:05+02:00",
		"01.02.2026", "01-02-2026", "01/02/2026 03",
		"192.168.0.1:8080", "1700000000", "1700000000000000000", "1,234,567,890", "port 54321", "issue #4155550132",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"550e8400-e29b-41d4-a716-446655440000", "00000000-0000-0000-0000-000000000000", "0.4111111111111111",
		"4111111111111111.5", "id_4111111111111111", "4111111111111112",
		"4000 4001 4002 4003 4004", "+86400000", "+1000000000", "@@ -1234,567 +1234,5678 @@", "+4096 8192 16384",
		"+120 -34", "1+49301234567", "0x0170 1234567", "ISBN 978-3-16-148410-0",
		"0000-0002-1825-0097", "00 01 02 03 04 05 06 07", "04 05 06 07 08 0a", "0123 4567 8901 2345",
		"/2026/0170-1234567", "10 000 000 000", "2^31 = 2147483648", "0644 root", "3.14159265358979",
		"DE89370400440532013001", "DE8937040044053201300", "XDE89370400440532013000", "DE893704004405320130001",
		"phone: 192.168.0.10", "phone 2026-01-02", "tel 2026-01-02 1415", "AT12 people came to us",
		"+49 170 1234567", "(415) 555-0132", "Tel. 01701234567", "phone +44 20 7946 0958",
		"20240102150405", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27", "12:30-14:45",
		"100-200-3000", "pages 123-456", "+44 2026-01-02",
	} {
		if got := FindPersonalData(text); got != nil {
			t.Errorf("Find(%q) = %v (%q), want nothing", text, got, text[got[0].StartOffset:got[0].EndOffset])
		}
	}
}

// TestChecksums tests the checksum formulas with known numbers.
func TestChecksums(t *testing.T) {
	if !hasLuhnDigit([]byte("79927398713")) || hasLuhnDigit([]byte("79927398710")) ||
		hasLuhnDigit([]byte("0000000000")) {
		t.Error("luhn of 7992739871x, whose check digit is 3")
	}
	if n := ibanRemainder([]byte("GB82WEST12345698765432")); n != 1 {
		t.Errorf("mod97 = %d, want 1", n)
	}
	for country, n := range ibanLengths {
		if len(country) != 2 || n < 15 || n > 34 {
			t.Errorf("%s has length %d", country, n)
		}
	}
}

func TestRedact(t *testing.T) {
	const text = "Ann: ann@firma.de, DE89370400440532013000, 4111 1111 1111 1111."
	if got, want := Redact(text, AllKinds()), "Ann: [mail], [iban], [card]."; got != want {
		t.Errorf("Redact = %q, want %q", got, want)
	}
	if got, want := Redact(text, []Kind{kindIBAN}), "Ann: ann@firma.de, [iban], 4111 1111 1111 1111."; got != want {
		t.Errorf("Redact = %q, want %q", got, want)
	}
	long := strings.Repeat("mail.", 100) + "firma.de"
	if got, want := Redact("Ann: ann@"+long+".", AllKinds()), "Ann: [mail]."; got != want {
		t.Errorf("Redact of a mail address with a long domain = %q, want %q", got, want)
	}
	if got := Redact(text, nil); got != text {
		t.Errorf("Redact of no kinds = %q", got)
	}
	if got := FindKinds(text); !slices.Equal(got, []Kind{kindPaymentCard, kindIBAN, kindMail}) {
		t.Errorf("FindKinds = %v", got)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("ann@firma.de +49 (0)170 1234567 DE89 3704 0044 0532 0130 00 4111 1111 1111 1111")
	f.Add("%40＠ ٤٩ (030) 12-34\u200B1")
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, x := range FindPersonalData(s) {
			if x.StartOffset < end || x.EndOffset <= x.StartOffset || x.EndOffset > len(s) {
				t.Fatalf("Find(%q) = %v", s, FindPersonalData(s))
			}
			if utf8.ValidString(s) && !utf8.ValidString(s[x.StartOffset:x.EndOffset]) {
				t.Fatalf("Find(%q) cuts a character: %q", s, s[x.StartOffset:x.EndOffset])
			}
			end = x.EndOffset
		}
		if len(FindPersonalData(s)) > 0 && Redact(s, AllKinds()) == s {
			t.Errorf("Redact(%q) changes nothing", s)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	for name, line := range map[string]string{
		"prose":   "The build uses Go 1.26, the tests take three minutes, and the token is kept by the server. ",
		"numbers": "2026-01-02 03:04:05 192.168.0.1:8080 GET /v1/items/1700000000 200 512 0.25 ",
		"data":    "Ann Lee, ann@firma.de, +49 170 1234567, DE89 3704 0044 0532 0130 00, 4111 1111 1111 1111\n",
		"chinese": "构建使用最新版本,测试需要三分钟,令牌由服务器保存。",
	} {
		text := strings.Repeat(line, 1+1000/len(line))[:1000]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				FindPersonalData(text)
			}
		})
	}
}
