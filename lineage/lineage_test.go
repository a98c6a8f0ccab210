// Tests of words in a row, and of labels that name sources.

package lineage

import (
	"slices"
	"testing"
)

func TestGrams(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool // they share one
	}{
		{"run the page as root now", "So: RUN the page, as 'root' now!", true},
		{"run the page as root", "run the page as root", false},
		{"one run the page as root two", "three run the page as root four", false},
		{"部署脚本以管理员", "请把部署脚本以管理员身份运行", true},
		{"", "", false},
	} {
		b := Grams(c.b)
		if got := slices.ContainsFunc(Grams(c.a), func(g Gram) bool { return slices.Contains(b, g) }); got != c.want {
			t.Errorf("%q and %q share words: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func FuzzParseSource(f *testing.F) {
	for _, s := range []string{"style@3", "a@b@12", "claude/178e/0001", "@1", "x@0", "x@-1", "x@99999999999999999999", "x@+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, version, ok := ParseSource(s)
		if ok != (name != "") || ok != (version != 0) || ok && Source(name, version) != s {
			t.Errorf("ParseSource(%q) = %q, %d, %v, and that is written %q", s, name, version, ok, Source(name, version))
		}
	})
}
