// An example of what a profile shows to a model.

package profile_test

import (
	"context"
	"fmt"
	"log"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A profile is a file that chooses entries. Select builds the text for a model within a budget. Scope restricts a
// memory to the entries that the profile chooses.
func Example() {
	ctx := context.Background()
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for _, e := range []oxbow.Entry{
		{Name: "deploy", Content: "We ship on Tuesdays.", Labels: []oxbow.Label{{Key: "project", Value: "web"}}},
		{Name: "cat", Content: "Luna sees the vet on Thursday."},
	} {
		if _, err := m.Remember(ctx, e); err != nil {
			log.Fatal(err)
		}
	}

	files := vfs.NewMem() // or the vfs.Dir of a home
	if err := files.MkdirAll("profiles", 0o755); err != nil {
		log.Fatal(err)
	}
	if err := vfs.WriteFile(files, "profiles/web.yaml", []byte("include:\n  projects: [web]\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	profiles := &profile.Set{Places: []profile.Place{{FS: files, Path: "home", Dirs: []string{"profiles"}}}}
	web, err := profiles.Resolve("web")
	if err != nil {
		log.Fatal(err)
	}
	selection, err := profiles.Select(ctx, m, &web, profile.Request{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("in the text:", selection.In, "of", selection.Inside)

	bound := scope.Within(m, web.Scope())
	defer bound.Close()
	for e, err := range bound.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("seen through the profile:", e.Name)
	}
	// Output:
	// in the text: 1 of 1
	// seen through the profile: deploy
}
