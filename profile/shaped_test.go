// Tests that a description that looks like instructions is not shown to an agent.

package profile

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestShapedDescription(t *testing.T) {
	fsys := vfs.NewMem()
	set := &Set{Places: []Place{{FS: fsys, Dirs: ProjectDirs, Project: true}}}
	if err := fsys.MkdirAll(ProjectDirs[0], 0o700); err != nil {
		t.Fatal(err)
	}
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	shown := func(description string) string {
		write(t, fsys, ProjectDirs[0]+"/p.yaml", "name: p\ndescription: "+description+"\n")
		r, err := set.Resolve("p")
		if err != nil && description != "Builds the harbor" {
			return "" // A file with characters that are not text is refused.
		}
		if err != nil {
			t.Fatal(err)
		}
		sel, err := set.Select(t.Context(), m, &r, Request{Budget: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return sel.Text()
	}
	if got := shown("Builds the harbor"); !strings.Contains(got, "Builds the harbor") {
		t.Fatalf("the description is missing: %s", got)
	}
	for form, order := range testenv.DisguisedInstructions() {
		if got := shown(order); strings.Contains(got, strings.Join(strings.Fields(order), " ")) {
			t.Errorf("%s: %s", form, got)
		}
	}
}
