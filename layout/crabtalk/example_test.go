// This file contains an example of a program that uses this package to conduct conversations with a model.

package crabtalk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/crabtalk"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Example shows two sessions of a model that follows a script. In the first session, the model remembers a note and
// recalls it in the next turn. The session is then compacted into an archive. The second session resumes this archive.
func Example() {
	ctx := context.Background()
	fsys := vfs.NewMem()
	if err := vfs.WriteFile(fsys, "Crab.md", []byte("Answer in one sentence."), 0o644); err != nil {
		log.Fatal(err)
	}
	clock := func() time.Time { return time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC) }
	home, err := crabtalk.Dialect().Open(
		ctx,
		layout.Options{FS: fsys, Path: "crab", Memory: oxbow.Options{Clock: clock}},
	)
	if err != nil {
		log.Fatal(err)
	}
	defer home.Close()
	workspace := layout.NewWorkspace(home)
	workspace.Now = clock

	// The map script contains, for each message of the user, the name and the arguments of the tool that the model
	// calls.
	script := map[string][2]string{
		"We ship on Tuesdays.": {"remember", `{"name":"rollout","content":"Ship on Tuesdays.","aliases":["deploy"]}`},
		"When do we deploy?":   {"recall", `{"query":"deploy"}`},
		"What did we discuss?": {"recall", `{"query":"discussed"}`},
	}
	turn := func(s layout.Session, message string) {
		before, err := s.BeforeTurn(ctx, message)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("user: %s%s\n", before.RoleText(layout.User), message)
		for _, t := range home.Tools() {
			if call := script[message]; t.Name == call[0] {
				answer, err := t.CallForModel(ctx, workspace, json.RawMessage(call[1]))
				if err != nil {
					log.Fatal(err)
				}
				fmt.Printf("%s: %s\n", t.Name, strings.ReplaceAll(answer.Text(), "\n", " / "))
			}
		}
	}
	begin := func() layout.Session {
		s, err := home.Session(ctx, layout.Request{})
		if err != nil {
			log.Fatal(err)
		}
		system, err := s.Start(ctx)
		if err != nil {
			log.Fatal(err)
		}
		first, _, _ := strings.Cut(system.RoleText(layout.System), "\n\n")
		fmt.Printf("system: %s\n", strings.ReplaceAll(first, "\n", " / "))
		return s
	}

	s := begin()
	turn(s, "We ship on Tuesdays.")
	turn(s, "When do we deploy?")
	archive, goOn, err := s.Compact(ctx, "We discussed the rollout.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("compacted as %s: %s\n", archive, goOn.RoleText(layout.User))
	if err := s.End(ctx, ""); err != nil {
		log.Fatal(err)
	}

	s = begin()
	resumed, err := s.Resume(ctx, archive)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("resumed: %s\n", resumed.RoleText(layout.User))
	turn(s, "What did we discuss?")
	if err := s.End(ctx, ""); err != nil {
		log.Fatal(err)
	}

	// Output:
	// system: <instructions> / Answer in one sentence. / </instructions>
	// user: We ship on Tuesdays.
	// remember: remembered: rollout
	// user: When do we deploy?
	// recall: ## rollout / Ship on Tuesdays.
	// compacted as we-ship-on-tuesdays-1: We discussed the rollout.
	// system: <instructions> / Answer in one sentence. / </instructions>
	// resumed: We discussed the rollout.
	// user: What did we discuss?
	// recall: ## we-ship-on-tuesdays-1 / We discussed the rollout.
}
