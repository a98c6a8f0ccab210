// This file tests that snippets have no Markdown syntax.

package page

import "testing"

func TestWithoutMarkup(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"front matter",
			`--- profile: "harbor-dev" files: [a.go] --- Paint the walls.`, "Paint the walls."},
		{"headings and fences",
			"# Deploy runbook ## Before Run it. ```go // comment",
			"Deploy runbook Before Run it. // comment"},
		{"emphasis and code",
			"They wait **outside** of the *loop* for `30 ms`.",
			"They wait outside of the loop for 30 ms."},
		{"tasks and links", "- [ ] Note the hour in the [ledger](https://ledger.example/7). - [x] Close.",
			"Note the hour in the ledger. Close."},
		{"a table", "| network | answer | |:--|--:| | Visa | 31 s |", "network · answer · Visa · 31 s"},
		{"plain text stays",
			"A minus B - see 3 * 4 and snake_case_name, a|b, [sic].",
			"A minus B - see 3 * 4 and snake_case_name, a|b, [sic]."},
	} {
		if got := StripMarkdown(c.in); got != c.want {
			t.Errorf("%s: StripMarkdown(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}
