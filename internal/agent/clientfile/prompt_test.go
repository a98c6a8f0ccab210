// This file tests that the quotes which opencode run adds to a prompt are removed.

package clientfile

import "testing"

func TestRemoveQuotes(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"opencode", `"Remember that we ship on Tuesdays."`, "Remember that we ship on Tuesdays."},
		{"opencode", `"say \"no\" to it"`, `say "no" to it`},
		{"opencode", `"yes"`, `"yes"`},
		{"opencode", `"one" and "two"`, `"one" and "two"`},
		{"opencode", "no quotes here", "no quotes here"},
		{"claude", `"Remember that we ship."`, `"Remember that we ship."`},
	} {
		if got := RemoveArgumentQuotes(c.client, c.text); got != c.want {
			t.Errorf("RemoveArgumentQuotes(%q, %q) = %q, want %q", c.client, c.text, got, c.want)
		}
	}
}
