//go:build !js

// This file tests the pictures in docs/ui.md.

package ui_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

var update = flag.Bool("update", false, "write the pictures of docs/ui.md again")

// pictures contains the name of each picture and the path of the page that the picture shows.
var pictures = []struct{ name, path string }{
	{
		"today",
		"",
	}, {"find", "find?q=charged+twice"}, {"entry", "entries/Double%20charge%20on%20slow%20card%20networks"},
	{"edit", "entries/Double%20charge%20on%20slow%20card%20networks/edit"}, {"inbox", "inbox"}, {"log", "log"},
	{
		"sessions",
		"sessions",
	}, {"context", "context"}, {"explained", "find?q=charged+twice&explain=1"}, {"profiles", "profiles"},
	{"handoffs", "handoffs"},
	{"annotations", "annotations"}, {"map", "map"}, {"settings", "settings"},
}

// TestPictures tests that there is a picture of each screen and that docs/ui.md shows each picture. If the flag
// -update is set, it creates the pictures.
func TestPictures(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	manual, err := os.ReadFile(filepath.Join(docs, "ui.md"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		v := serve(t).enter(t)
		for i, p := range pictures {
			scheme := "light"
			if i%4 == 3 {
				scheme = "dark"
			}
			v.look(t, 1100, scheme, true)
			v.open(t, p.path)
			chromiumtest.RunActions(t, v.tab, "setting the size", chromedp.EmulateViewport(1100, 760))
			png, err := chromedp.Run(v.tab, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(docs, "ui", p.name+".png"), png, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range pictures {
		if fi, err := os.Stat(filepath.Join(docs, "ui", p.name+".png")); err != nil || fi.Size() < 5_000 ||
			fi.Size() > 300_000 {
			t.Errorf("the picture of %s: %v, %v; go test ./ui -run TestPictures -update makes it", p.name, fi, err)
		}
		if !strings.Contains(string(manual), "(ui/"+p.name+".png)") {
			t.Errorf("docs/ui.md has no picture of %s", p.name)
		}
	}
}
