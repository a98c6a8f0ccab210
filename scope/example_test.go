// This file contains an example: an agent that may use only one project's entries.

package scope_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

// An agent gets the part of a memory that belongs to one project. It can neither find nor change other entries.
// Entries that it adds belong to the project.
func ExampleWithin() {
	ctx := context.Background()
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	web, shop := oxbow.Label{Key: "project", Value: "web"}, oxbow.Label{Key: "project", Value: "shop"}
	for _, e := range []oxbow.Entry{
		{Name: "deploy", Content: "We ship on Tuesdays.", Labels: []oxbow.Label{web}},
		{Name: "prices", Content: "We ship for 4 euros.", Labels: []oxbow.Label{shop}},
	} {
		if _, err := m.Remember(ctx, e); err != nil {
			log.Fatal(err)
		}
	}

	part := scope.Within(m, scope.Scope{
		Title: "project web",
		Any:   []oxbow.Filter{{Terms: []oxbow.Term{{Key: "project", Values: []string{"web"}}}}},
		Own:   []oxbow.Label{web},
	})
	defer part.Close()
	hits, err := part.Recall(ctx, oxbow.Query{Text: "ship"})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Println("found:", h.Entry.Name)
	}
	_, err = part.Get(ctx, "prices")
	fmt.Println("prices is not there:", errors.Is(err, oxbow.ErrNotFound))
	if _, err := part.Remember(ctx, oxbow.Entry{Name: "style", Content: "Tabs."}); err != nil {
		log.Fatal(err)
	}
	style, err := m.Get(ctx, "style")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("style belongs to", style.Labels[0].Value)
	// Output:
	// found: deploy
	// prices is not there: true
	// style belongs to web
}
