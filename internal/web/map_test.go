// This file tests the pages Map and Statistics.

package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

func TestMap(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.has(b.get(page.RootPath+"map", http.StatusOK), "There is nothing to draw.")
	tag := oxbow.Label{Key: oxbow.LabelTag, Value: hostile[:40]}
	b.remember("deploy", "Ship.", project("harbor"), tag)
	b.remember("berth", "Dock.", project("harbor"), tag)
	b.remember("paint", "Green.", project("lantern"))
	shown := b.get(page.RootPath+"map", http.StatusOK)
	b.has(shown, "<svg", "<circle", `href="/ui/entries/deploy"`, `>project: harbor<`, "The same entries as a list")
	b.harmless(shown)
	if n := strings.Count(shown, "<circle"); n != 5 { // a node for each of three entries, a project and a tag
		t.Errorf("%d nodes", n)
	}
	if again := b.get(page.RootPath+"map", http.StatusOK); again != shown {
		t.Error("the same memory gets another picture")
	}
	shown = b.get(page.RootPath+"map?name=deploy", http.StatusOK)
	b.has(shown, "middle", "berth")
	if strings.Contains(shown, "paint") {
		t.Error("what has nothing in common is on the map")
	}
	b.get(page.RootPath+"map?name=none", http.StatusNotFound)
	b.get(page.RootPath+"map?q=nokey%3Ax", http.StatusOK)

	b = bound(t)
	b.remember("mine", "Ship.", project("harbor"))
	b.remember("MARKER", "Green.", project("lantern"))
	for path, status := range map[string]int{
		"map":             http.StatusOK,
		"map?name=MARKER": http.StatusNotFound,
		"numbers":         http.StatusOK,
	} {
		if shown := b.get(page.RootPath+path, status); strings.Contains(
			strings.ReplaceAll(shown, "&#34;MARKER&#34;", ""),
			"MARKER",
		) || strings.Contains(shown, "lantern") {
			t.Errorf("%s shows another project", path)
		}
	}
}

// TestMapBounds tests that the map of a large memory is limited in size, and that all nodes are inside
// the picture.
func TestMapBounds(t *testing.T) {
	b := open(t, auth.Permissions{})
	for i := range 100 {
		b.remember(
			fmt.Sprint("e", i),
			"x",
			project(fmt.Sprint("p", i%7)),
			oxbow.Label{Key: oxbow.LabelTag, Value: fmt.Sprint("t", i/2)},
		)
	}
	shown := b.get(page.RootPath+"map", http.StatusOK)
	if n := strings.Count(shown, "<circle"); n > maxEntryMapNodes || n < maxEntryMapEntries {
		t.Errorf("%d nodes", n)
	}
	for _, m := range regexp.MustCompile(`cx="(-?\d+|NaN)" cy="(-?\d+|NaN)"`).FindAllStringSubmatch(shown, -1) {
		var x, y int
		if _, err := fmt.Sscan(m[1], &x); err != nil || x < 0 || x > 1000 {
			t.Errorf("a node at %s", m[0])
		}
		if _, err := fmt.Sscan(m[2], &y); err != nil || y < 0 || y > 640 {
			t.Errorf("a node at %s", m[0])
		}
	}
	if len(shown) > 90_000 {
		t.Errorf("the page has %d bytes", len(shown))
	}
}

func TestNumbers(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.has(b.get(page.RootPath+"numbers", http.StatusOK), "No data for these days.")
	b.remember("deploy", "Ship.", project("harbor"))
	b.remember("paint", "Green.", project("lantern"))
	events := talk("s1", "harbor", "Hello.", "ok")
	b.archived(append(events, injected(events[0], "Deploy.", "deploy"))...)
	shown := b.get(page.RootPath+"numbers", http.StatusOK)
	b.has(
		shown,
		"2026-04-18: 2",
		"at most 21 tokens",
		"1 time, 21 tokens in all. An agent used an entry of 0",
		"harbor",
		"Show as a table",
	)
	if !strings.Contains(shown, "<bdi>2026-04-17</bdi></td><td class=\"number\">0</td>") {
		t.Errorf("the numbers of the day before are not there:\n%s", shown)
	}
}
