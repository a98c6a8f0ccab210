// This file contains examples of filters and queries.

package query_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A filter selects entries by labels, kind, name, author and date. A space means "and", a comma means "or", and a
// minus sign means "not".
func ExampleParseFilter() {
	ctx := context.Background()
	day := time.Date(2026, 4, 14, 12, 0, 0, 0, time.UTC)
	m := must(oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return day }}))
	defer m.Close()
	for _, e := range []oxbow.Entry{
		{
			Name:    "berths",
			Content: "Winter berths cost half.",
			Labels:  []oxbow.Label{{Key: "project", Value: "harbour"}},
		},
		{
			Name:    "tides",
			Content: "Tide tables are public.",
			Labels:  []oxbow.Label{{Key: "project", Value: "harbour"}, {Key: "tag", Value: "draft"}},
		},
		{Name: "style", Content: "Tabs, not spaces.", Labels: []oxbow.Label{{Key: "project", Value: "editor"}}},
	} {
		must(m.Remember(ctx, e))
		day = day.AddDate(0, 0, 1)
	}
	now := time.Date(2026, 4, 20, 12, 0, 0, 0, time.UTC) // the time zone of days in a filter is that of now

	for _, s := range []string{
		"project:harbour",
		"project:harbour -tag:draft",
		"project:harbour,editor after:2026-04-15",
		"kind:archive",
	} {
		f := must(query.ParseFilter(s, now))
		fmt.Printf("%s:", s)
		for e, err := range m.Entries(ctx, f) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Print(" ", e.Name)
		}
		fmt.Println()
	}

	_, err := query.ParseFilter("projct:harbour", now)
	fmt.Println(err)
	// Output:
	// project:harbour: berths tides
	// project:harbour -tag:draft: berths
	// project:harbour,editor after:2026-04-15: tides style
	// kind:archive:
	// filter key "projct" is not known; did you mean project? (labels of that very key are "projct":harbour)
}

// A query consists of words, and may contain terms of a filter.
func ExampleParse() {
	now := time.Date(2026, 4, 20, 12, 0, 0, 0, time.UTC)
	q := must(query.Parse(`double charge project:harbour -tag:"to check" since:2026-04-01 https://pay.test/form`, now))
	fmt.Println(q.Text)
	fmt.Println(q.Filter)
	// Output:
	// double charge https://pay.test/form
	// project:harbour -tag:"to check" after:2026-04-01T00:00:00Z
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
