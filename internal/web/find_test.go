// This file tests the page Find, and actions on several entries at once.

package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

func TestFind(t *testing.T) {
	b := open(t, auth.Permissions{})
	for i := range 30 {
		b.remember(fmt.Sprint("note ", i), "The gate of berth "+fmt.Sprint(i)+
			" closes.", oxbow.Label{Key: "project", Value: "harbor"},
			oxbow.Label{Key: "tag", Value: []string{"rule", "a b"}[i%2]})
	}
	b.remember("other", "A lantern.", oxbow.Label{Key: "project", Value: "lantern"})
	shown := b.get(page.RootPath+"find", http.StatusOK)
	b.has(
		shown,
		"31 entries, the newest first.",
		"<bdi>other</bdi>",
		`rel="next"`,
		`data-count="31 entries`,
		`href="/ui/find?q=tag%3A%22a+b%22"`,
	)
	if strings.Contains(shown, "<bdi>note 0</bdi>") {
		t.Error("the first page has the oldest entry")
	}
	b.has(b.get(page.RootPath+"find?offset=25", http.StatusOK), "<bdi>note 0</bdi>", `rel="prev"`)
	shown = b.get(page.RootPath+page.FindPagePath("project:harbor tag:rule"), http.StatusOK)
	b.has(shown, "15 entries found", `aria-current="true"`)
	shown = b.get(page.RootPath+page.FindPagePath("gate berth 7"), http.StatusOK)
	b.has(
		shown,
		"The <mark>gate</mark> of <mark>berth</mark> 7 closes.",
		"Explain these results",
		"harbor</bdi></a><span class=\"dim\"> 20<",
		`rel="next"`, "Results 1 to 20, the best first. There are more.",
	)
	b.has(
		b.get(page.RootPath+page.FindPagePath("gate project:lantren"), http.StatusOK),
		"Nothing was found.",
		"project:lantern",
		"q=gate+project%3Alantern",
	)
	b.has(
		b.get(page.RootPath+page.FindPagePath(`lantern "no such phrase"`), http.StatusOK),
		"<bdi>other</bdi>",
		"o entry has &#34;no such phrase&#34;",
	)
	b.has(b.get(page.RootPath+page.FindPagePath(`"half a phrase`), http.StatusOK), `id="results"`)
	b.has(b.get(page.RootPath+page.FindPagePath("after:never"), http.StatusOK), `id="results"`, "never")
	if err := sound(shown); err != nil {
		t.Error(err)
	}
}

// TestFindRankedPages tests that a search can be paged through, and that no page repeats a hit.
func TestFindRankedPages(t *testing.T) {
	b := open(t, auth.Permissions{})
	for i := range 50 {
		b.remember(fmt.Sprint("note ", i), fmt.Sprint("The gate closes at ", i, "."))
	}
	seen := map[string]bool{}
	path := page.RootPath + page.FindPagePath("gate")
	for range 3 {
		shown := b.get(path, http.StatusOK)
		for i := range 50 {
			name := fmt.Sprint("note ", i)
			if strings.Contains(shown, `value="`+name+`"`) {
				if seen[name] {
					t.Errorf("%s is shown twice", name)
				}
				seen[name] = true
			}
		}
		_, rest, found := strings.Cut(shown, `rel="next" `)
		if !found {
			break
		}
		path = attribute(`<a `+rest, "href")
	}
	if len(seen) != 50 {
		t.Errorf("three pages show %d of 50 hits", len(seen))
	}
}

// TestAllOfQuery tests the form fields "all" and "q". All entries that the query q selects must be labeled or forgotten
// together, although the page shows only some of them.
func TestAllOfQuery(t *testing.T) {
	b := open(t, auth.Permissions{})
	for i := range 30 {
		b.remember(fmt.Sprint("note ", i), "A gate.", oxbow.Label{Key: "project", Value: "harbor"})
	}
	b.remember("other", "A lantern.")
	all := url.Values{"all": {"1"}, "q": {"project:harbor"}, "label": {"tag:gate"}}
	b.submit(b.get(page.RootPath+page.FindPagePath("project:harbor"), http.StatusOK), "Add label", all, http.StatusOK)
	b.has(b.get(page.RootPath+page.FindPagePath("tag:gate"), http.StatusOK), "30 entries found")
	shown := b.post(page.RootPath+"find/forget", all, http.StatusOK)
	if n := b.entries(); n != 1 {
		t.Errorf("%d entries after forgetting a project", n)
	}
	b.submit(shown, "Undo", nil, http.StatusOK)
	if n := b.entries(); n != 31 {
		t.Errorf("%d entries after undo", n)
	}
}

// TestTicked tests that the selected entries are labelled together, and that a single Undo restores
// them after they were deleted.
func TestTicked(t *testing.T) {
	b := open(t, auth.Permissions{})
	for _, name := range []string{"a", "b", "c"} {
		b.remember(name, "text of "+name)
	}
	two := url.Values{"name": {"a", "c"}, "label": {"tag:rule"}}
	shown := b.submit(b.get(page.RootPath+"find", http.StatusOK), "Add label", two, http.StatusOK)
	b.has(shown, "Relabelled &#34;a&#34; and 1 other.")
	two["off"] = []string{"1"}
	b.submit(shown, "Remove label", two, http.StatusOK)
	two.Set("back", "find?q=")
	shown = b.post(page.RootPath+"find/forget", two, http.StatusOK)
	b.has(shown, "2 changes. The first: Forgot &#34;a&#34;.", "1 entry")
	b.has(b.submit(shown, "Undo", nil, http.StatusOK), "<bdi>a</bdi>", "<bdi>c</bdi>")
	b.has(
		b.post(page.RootPath+"find/forget", url.Values{"name": {"b", "gone"}}, http.StatusOK),
		"Forgot &#34;b&#34;",
		"gone",
	)
	b.post(page.RootPath+"find/forget", url.Values{"name": {"gone"}}, http.StatusNotFound)
	b.post(page.RootPath+"find/label", url.Values{"label": {"tag:x"}}, http.StatusBadRequest)
	b.post(page.RootPath+"find/label", url.Values{"name": {"a"}, "label": {"nonsense"}}, http.StatusBadRequest)
	b.post(page.RootPath+"undo", url.Values{"seq": {"0"}}, http.StatusBadRequest)
	b.post(page.RootPath+"undo", nil, http.StatusBadRequest)
}

func TestTickedReadOnly(t *testing.T) {
	b := open(t, auth.Permissions{ReadOnly: true})
	b.remember("a", "text")
	if shown := b.get(page.RootPath+"find", http.StatusOK); strings.Contains(shown, "checkbox") {
		t.Error("a browser that may not write has boxes to tick")
	}
	b.post(page.RootPath+"find/forget", url.Values{"name": {"a"}}, http.StatusForbidden)
	b.post(page.RootPath+"find/label", url.Values{"name": {"a"}, "label": {"tag:x"}}, http.StatusForbidden)
}
