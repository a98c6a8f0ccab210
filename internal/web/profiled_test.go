// This file provides profiles for the tests of pages.

package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/vfs"
)

// profiled makes the server use profiles. The map files contains the text of each profile file by its file name.
func (b *browser) profiled(files map[string]string) {
	b.t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("profiles", 0o700); err != nil {
		b.t.Fatal(err)
	}
	for name, text := range files {
		if err := vfs.ReplaceFile(fs, "profiles/"+name, []byte(text), 0o600, nil); err != nil {
			b.t.Fatal(err)
		}
	}
	set := &profile.Set{Places: []profile.Place{{FS: fs, Path: "/home/profiles", Dirs: profile.HomeDirs}}}
	b.views.Workspace.Loader = func() (*handoff.Loader, error) { return &handoff.Loader{Profiles: set}, nil }
	b.enter()
}

func project(name string) oxbow.Label { return oxbow.Label{Key: oxbow.LabelProject, Value: name} }

func TestContext(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.profiled(map[string]string{
		"dev.yaml": "name: dev\ndescription: Works on the harbor\ninclude:\n  projects: [harbor]\nmax_tokens: 900\n",
	})
	b.has(b.get(page.RootPath+"context", http.StatusOK), "a session begins without notes")
	for i, name := range []string{"deploy", "berth", "crane"} {
		b.remember(
			name,
			strings.Repeat("Ship the harbor by the blue script on port 8443 only. ", 8+40*i),
			project("harbor"),
		)
	}
	shown := b.get(page.RootPath+"context?project=harbor", http.StatusOK)
	b.has(
		shown,
		"What the agent gets",
		"by the blue script",
		"2 more notes, such as berth; deploy",
		"tokens, between the lines &lt;oxbow-memory&gt;",
		`/ui/entries/crane`,
	)
	b.has(
		b.get(page.RootPath+"context?event=profile&profile=dev", http.StatusOK),
		"by the blue script",
		"Show the profile",
		"crane",
	)
	b.has(b.get(page.RootPath+"context?event=profile&profile=none", http.StatusOK), "none", "notice error")
	b.has(b.get(page.RootPath+"context?event=prompt", http.StatusOK), "Enter a prompt above.")
	b.has(
		b.get(page.RootPath+"context?event=prompt&prompt=which+zebra", http.StatusOK),
		"oxbow shows nothing",
	)

	b = bound(t)
	b.has(b.get(page.RootPath+"context", http.StatusForbidden), "has access to a part")
}

func TestAsk(t *testing.T) {
	b := open(t, auth.Permissions{})
	old := b.get(page.RootPath+"ask?q=blue", http.StatusOK) // earlier versions had this page
	b.has(old, "How these results were ranked", "Nothing was found.")
	b.remember("deploy", "Ship the harbor by the blue script.", project("harbor"))
	b.remember("paint", "The lantern is green.", project("lantern"))
	for _, name := range []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"} {
		b.remember(name, "script script script "+name)
	}
	shown := b.get(page.RootPath+"find?explain=1&q=blue+script", http.StatusOK)
	b.has(
		shown,
		"/ui/entries/deploy",
		"word by word",
		"Rarity",
		"Would oxbow show this to an agent unasked?",
		"Strength",
	)
	for name, want := range map[string]string{
		"deploy":  "It is result 1 below",
		"paint":   "It contains none of the words",
		"nothing": "not found",
	} {
		b.has(b.get(page.RootPath+"find?explain=1&q=blue+script&why="+name, http.StatusOK), want)
	}
	old = b.get(page.RootPath+"ask?q=lantern&project=harbor&why=paint", http.StatusOK)
	b.has(old, "Its words match", "Nothing was found.")
	b.has(b.get(page.RootPath+"find?explain=1&q=script&why=deploy", http.StatusOK), "It is result")

	b.hold("held", "MARKER script")
	if err := b.memory.Apply(
		oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Person}),
		oxbow.Add{
			Name:    "shut",
			Content: "script",
			Labels:  []oxbow.Label{{Key: oxbow.LabelTaint, Value: "x"}, {Key: oxbow.LabelQuarantine, Value: "y"}},
		},
	); err != nil {
		t.Fatal(err)
	}
	b.has(b.get(page.RootPath+"find?explain=1&q=script&why=shut", http.StatusOK), "quarantine")
}

func TestAskBound(t *testing.T) {
	b := bound(t)
	b.remember("mine", "The harbor script.", project("harbor"))
	b.remember("MARKER", "MARKER script.", project("lantern"))
	b.archived(talk("s2", "lantern", "The MARKER script of the crane.", "MARKER script crane")...)
	shown := b.get(page.RootPath+"find?explain=1&q=script+crane", http.StatusOK)
	b.has(shown, "mine")
	if strings.Contains(shown, "MARKER") {
		t.Errorf("Find shows another project:\n%s", shown)
	}
	b.has(b.get(page.RootPath+"find?explain=1&q=script&why=MARKER", http.StatusOK), "not found")
}

func TestAskHostile(t *testing.T) {
	var skeletons []string
	for _, text := range []string{"calm\nfence\ncalm", hostile} {
		b := open(t, auth.Permissions{})
		b.profiled(nil)
		b.remember("one", "zebra "+text)
		all := ""
		for _, path := range []string{"find?explain=1&q=zebra", "context"} {
			shown := b.get(page.RootPath+path, http.StatusOK)
			b.harmless(shown)
			all += skeleton(shown)
		}
		skeletons = append(skeletons, all)
	}
	if skeletons[0] != skeletons[1] {
		t.Errorf("the pages are built otherwise:\n%s\n%s", skeletons[0], skeletons[1])
	}
}
