// This file tests slugs.

package text

import "testing"

func TestSlug(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"Luna's Vet Appointment!", "luna-s-vet-appointment"},
		{"---dashes---", "dashes"},
		{"a__b..c", "a-b-c"},
		{"../../etc", "etc"},
		{"日本 語", "日本-語"},
		{"Ünïcode İ", "ünïcode-i\u0307"},
		{"ΣΑΣ", "σασ"}, // Each letter is converted separately, so there is no final sigma.
		{"", ""},
		{"!!!", ""},
		{"\xff\xfea", "a"},
	} {
		if got := MakeSlug(tt.name); got != tt.want {
			t.Errorf("Slug(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := TruncateBytes("aé", 2); got != "a" {
		t.Errorf("Cut(aé, 2) = %q, want a", got)
	}
}
