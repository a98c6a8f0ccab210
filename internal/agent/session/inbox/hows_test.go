// This file tests which commands are found for a task.

package inbox

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

func TestHows(t *testing.T) {
	a := open(t)
	for i, all := range [][]session.Event{
		events("s1", says("Please run the tests."), runs("cd /src/shop && go test ./... 2>&1 | tail -5", 0, ""),
			runs("ls -la", 0, ""), runs("npm test", 1, "no such script")),
		events("s2", says("Fix the tax, then the tests must pass."), runs("go test ./...", 1, "FAIL"),
			runs("go test ./...", 0, ""), runs("go test -run Tax ./tax", 0, "")),
		events("s3", says("Bring the shop to the staging server."), runs("./bin/ship --to staging", 0, ""),
			says("And the docs, too."), runs("make site", 0, "")),
		events("s4", says("Run the migration."), runs("psql -f up.sql", 1, "refused")),
	} {
		for j := range all {
			all[j].Time = all[j].Time.Add(time.Duration(i) * time.Hour)
			if i == 2 {
				all[j].Dir = "/src/docks"
			}
		}
		if _, err := a.AddEvents(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	const all, one = "go test ./... 2 1 2 claude/s2/0001", "go test -run Tax ./tax 1 0 1 claude/s2/0001"
	for _, tt := range []struct {
		task, project string
		want          []string // command, passed runs, failed runs, sessions and turn
	}{
		{"run the tests", "shop", []string{all, one}},
		{"go test tax", "", []string{one, all}},
		{"how do I deploy to staging", "", []string{"./bin/ship --to staging 1 0 1 claude/s3/0001"}},
		{"docs", "docks", []string{"make site 1 0 1 claude/s3/0002"}},
		{"docs", "shop", nil},
		{"migration", "", nil}, // The command never passed.
		{"", "docks", []string{"make site 1 0 1 claude/s3/0002", "./bin/ship --to staging 1 0 1 claude/s3/0001"}},
		{"\"tests\" OR (", "", []string{all, one}},
	} {
		found, err := FindCommands(t.Context(), a.Memory, tt.project, tt.task)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range found {
			got = append(got, fmt.Sprint(h.Command, " ", h.SuccessCount, h.FailCount, h.SessionCount, " ", h.LastTurn))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("FindCommands(%q, %q) = %q, want %q", tt.project, tt.task, got, tt.want)
		}
	}
	if r, err := a.Memory.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check() = %v, %v", r.Problems, err)
	}
}
