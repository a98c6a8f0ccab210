// This file contains an example of a program that conducts conversations with a model and stores the memory in a home
// of this layout. A home is a directory with an agent's memory.

package entryfiles_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/entryfiles"
	"github.com/oxbow-memory/oxbow/vfs"
)

// turn is a message to the scripted model and the model's reaction. If tool is not empty, the model first calls this
// tool with the arguments args. It then replies with the text answer.
type turn struct {
	message, tool, args, answer string
}

// Example shows how a runtime leads a conversation with a scripted model. The runtime starts the conversation, compacts
// it when it grows long, continues it, and ends it. The layout keeps no summaries, so a conversation cannot be resumed.
// The second conversation is therefore a new one. In this conversation, the entry that the first one stored is recalled
// before the model is asked.
func Example() {
	ctx := context.Background()
	fsys := vfs.NewMem() // or vfs.Dir of a real directory
	options := layout.Options{FS: fsys, Path: "~/.crabtalk/config",
		Memory: oxbow.Options{Clock: func() time.Time { return time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC) }}}
	d := entryfiles.Dialect()
	made, err := d.Init(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("made:", strings.Join(made, ", "))
	home, err := d.Open(ctx, options)
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
			if block := before.RoleText(layout.User); block != "" {
				fmt.Println(block)
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

	first, err := home.Session(ctx, layout.Request{})
	if err != nil {
		log.Fatal(err)
	}
	system, err := first.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range system.Parts {
		fmt.Println(strings.TrimSpace("system: " + p.Name + " " + p.Source))
	}
	converse(first,
		turn{
			"Luna sees the vet on Thursday",
			"remember",
			`{"name":"Luna","description":"Luna the cat, vet on Thursdays","content":"Dr. Chen, at nine."}`,
			"Noted.",
		},
		turn{"and I like short answers", "memory", `{"content":"# Overview\n\nLikes short answers.\n"}`, "Ok."},
	)
	name, goOn, err := first.Compact(ctx, "They told me of Luna, and that they like short answers.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("compacted: name %q, goes on from %q\n", name, goOn.RoleText(layout.User))
	_, err = first.Resume(ctx, "anything")
	fmt.Println("can resume:", !errors.Is(err, oxbow.ErrUnsupported))
	if err := first.End(ctx, ""); err != nil {
		log.Fatal(err)
	}

	second, err := home.Session(ctx, layout.Request{})
	if err != nil {
		log.Fatal(err)
	}
	system, err = second.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range system.Parts {
		fmt.Println(strings.TrimSpace("system: " + p.Name + " " + p.Source))
	}
	converse(second, turn{"when is the vet for Luna?", "", "", "Thursday at nine."})
	if err := second.End(ctx, ""); err != nil {
		log.Fatal(err)
	}
	text, err := vfs.ReadFile(fsys, "memory/entries/luna.md", -1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output:
	// made: memory/entries, memory.toml, Crab.md
	// system: identity Crab.md
	// system: instructions
	// user: Luna sees the vet on Thursday
	// remember: remembered: Luna
	// agent: Noted.
	// user: and I like short answers
	// memory: MEMORY.md updated
	// agent: Ok.
	// compacted: name "", goes on from "They told me of Luna, and that they like short answers."
	// can resume: false
	// system: identity Crab.md
	// system: memory memory/MEMORY.md
	// system: instructions
	// <recall>
	// ## Luna
	// Luna the cat, vet on Thursdays
	//
	// Dr. Chen, at nine.
	// </recall>
	// user: when is the vet for Luna?
	// agent: Thursday at nine.
	// ---
	// name: Luna
	// description: Luna the cat, vet on Thursdays
	// ---
	//
	// Dr. Chen, at nine.
}
