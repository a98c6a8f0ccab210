// This file contains an example of a program that uses this package to conduct conversations with a model.

package clawft_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/clawft"
	"github.com/oxbow-memory/oxbow/vfs"
)

// turn is a message to the scripted model and the model's reaction. If tool is not empty, the model first calls this
// tool with the arguments args. It then replies with the text answer.
type turn struct {
	message, tool, args, answer string
}

// This example shows a program that leads conversations with a scripted model. The first conversation starts, is
// compacted when it becomes long, is resumed by the name of its summary, and ends. The second conversation finds the
// summary of the first conversation in HISTORY.md. At the end, Consolidate removes a note from MEMORY.md, because a
// later note repeats its text.
func Example() {
	ctx := context.Background()
	fsys := vfs.NewMem() // or vfs.Dir of a user's home directory
	options := layout.Options{FS: fsys, Path: "~", Zone: time.UTC,
		Memory: oxbow.Options{Clock: func() time.Time { return time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC) }}}
	home, err := clawft.Open(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	defer home.Close()
	tools := map[string]layout.Tool{}
	for _, t := range home.Tools() {
		tools[t.Name] = t
	}
	workspace := layout.NewWorkspace(home)

	converse := func(s layout.Session, turns ...turn) {
		for _, t := range turns {
			before, err := s.BeforeTurn(ctx, t.message)
			if err != nil {
				log.Fatal(err)
			}
			if text := before.RoleText(layout.System); text != "" {
				fmt.Printf("system: %q\n", text)
			}
			fmt.Println("user:", t.message)
			if t.tool != "" {
				answer, err := tools[t.tool].CallForModel(ctx, workspace, json.RawMessage(t.args))
				if err != nil {
					log.Fatal(err)
				}
				fmt.Printf("%s: %s\n", t.tool, answer.Text())
			}
			fmt.Println("agent:", t.answer)
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
		fmt.Printf("system: %q\n", system.RoleText(layout.System))
		return s
	}

	first := begin()
	converse(first,
		turn{
			"Luna sees the vet on Thursdays",
			"memory_write",
			`{"content":"Luna the cat sees the vet on Thursdays."}`,
			"Noted.",
		},
		turn{
			"and at nine, mind",
			"memory_write",
			`{"content":"Luna the cat sees the vet on Thursdays, at nine."}`,
			"Noted.",
		})
	name, goOn, err := first.Compact(ctx, "They told me when Luna sees the vet.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("compacted as %q, goes on from %q\n", name, goOn.RoleText(layout.User))
	resumed, err := begin().Resume(ctx, name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("resumed from %q\n", resumed.RoleText(layout.User))
	if err := first.End(ctx, "Luna has a vet on Thursdays at nine; nothing else was settled."); err != nil {
		log.Fatal(err)
	}

	second := begin()
	converse(second, turn{"Did we settle anything?", "session_search", `{"query":"settled"}`, "No, nothing else."})
	if err := second.End(ctx, ""); err != nil {
		log.Fatal(err)
	}

	did, err := home.Consolidate(ctx, false)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range did.Steps {
		fmt.Printf("%s %q, kept %q\n", s.Did, s.Text, s.Kept)
	}
	for _, file := range []string{"MEMORY.md", "HISTORY.md"} {
		text, err := vfs.ReadFile(fsys, ".clawft/workspace/memory/"+file, -1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("-- %s --\n%s\n", file, strings.TrimSpace(string(text)))
	}
	// Output:
	// system: ""
	// user: Luna sees the vet on Thursdays
	// memory_write: Successfully wrote 39 bytes to memory (mode: append)
	// agent: Noted.
	// system: "\n\n## Memory\n\nLuna the cat sees the vet on Thursdays.\n\n"
	// user: and at nine, mind
	// memory_write: Successfully wrote 48 bytes to memory (mode: append)
	// agent: Noted.
	// compacted as "[2026-04-14 10:23] They told me when Luna sees the vet.", goes on from "They told me when Luna sees the vet."
	// system: "\n\n## Memory\n\nLuna the cat sees the vet on Thursdays.\n\nLuna the cat sees the vet on Thursdays, at nine.\n\n"
	// resumed from "[2026-04-14 10:23] They told me when Luna sees the vet."
	// system: "\n\n## Memory\n\nLuna the cat sees the vet on Thursdays.\n\nLuna the cat sees the vet on Thursdays, at nine.\n\n"
	// user: Did we settle anything?
	// session_search: [2026-04-14 10:23] Luna has a vet on Thursdays at nine; nothing else was settled.
	// agent: No, nothing else.
	// move "Luna the cat sees the vet on Thursdays.", kept "Luna the cat sees the vet on Thursdays, at nine."
	// -- MEMORY.md --
	// Luna the cat sees the vet on Thursdays, at nine.
	// -- HISTORY.md --
	// [2026-04-14 10:23] They told me when Luna sees the vet.
	//
	// [2026-04-14 10:23] Luna has a vet on Thursdays at nine; nothing else was settled.
	//
	// [2026-04-14 10:23] Taken out of MEMORY.md, where what stays says the same:
	//
	// Luna the cat sees the vet on Thursdays.
}
