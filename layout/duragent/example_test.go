// This file contains an example of a program that conducts conversations with a model and stores the memory in a home
// of this layout. A home is a directory with a memory.

package duragent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/duragent"
	"github.com/oxbow-memory/oxbow/vfs"
)

// turn is a message to the scripted model and the model's reaction. If tool is not empty, the model first calls this
// tool with the arguments args. It then replies with the text answer.
type turn struct {
	message, tool, args, answer string
}

// This example shows how a program uses a duragent home for a conversation with a scripted model. The program starts a
// session, saves a summary to the day's log with Compact, resumes from the summary, and ends the session. On the next
// day, the agent recalls its memory with a tool, because this layout does not add the memory to the prompt. Then a
// second agent finds the knowledge that both agents share.
func Example() {
	ctx := context.Background()
	now := time.Date(2026, 2, 18, 15, 46, 0, 0, time.UTC)
	fsys := vfs.NewMem() // or vfs.Dir of a real directory
	fsys.SetClock(func() time.Time { return now })
	options := layout.Options{FS: fsys, Path: "~/bot", Agent: "rei", Zone: time.UTC,
		Memory: oxbow.Options{Clock: func() time.Time { return now }}}
	d := duragent.Dialect()
	made, err := d.Init(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("made:", strings.Join(made, ", "))
	open := func(agent string) layout.Home {
		options.Agent = agent
		home, err := d.Open(ctx, options)
		if err != nil {
			log.Fatal(err)
		}
		return home
	}
	converse := func(home layout.Home, s layout.Session, turns ...turn) {
		workspace := layout.NewWorkspace(home)
		for _, t := range turns {
			before, err := s.BeforeTurn(ctx, t.message)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%suser: %s\n", before.Text(), t.message)
			for _, own := range home.Tools() {
				if own.Name == t.tool {
					answer, err := own.CallForModel(ctx, workspace, json.RawMessage(t.args))
					if err != nil {
						log.Fatal(err)
					}
					fmt.Printf("%s: %s\n", t.tool, strings.TrimRight(answer.Text(), "\n"))
				}
			}
			fmt.Println("agent:", t.answer)
		}
	}
	begin := func(home layout.Home) layout.Session {
		s, err := home.Session(ctx, layout.Request{})
		if err != nil {
			log.Fatal(err)
		}
		system, err := s.Start(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range system.Parts {
			fmt.Println(strings.TrimSpace("system: " + p.Name + " " + p.Source))
		}
		return s
	}

	rei := open("rei")
	defer rei.Close()
	s := begin(rei)
	converse(rei, s,
		turn{
			"the database is PostgreSQL 16",
			"update_world",
			`{"topic":"Systems","content":"DB: PostgreSQL 16"}`,
			"Noted for all of us.",
		},
		turn{"I like short answers", "reflect", `{"content":"Likes short answers."}`, "Ok."},
	)
	name, _, err := s.Compact(ctx, "They told me of the database, and that they like short answers.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("compacted:", name)
	goOn, err := s.Resume(ctx, name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(goOn.RoleText(layout.User))
	if err := s.End(ctx, "We talked about the database."); err != nil {
		log.Fatal(err)
	}

	now = now.AddDate(0, 0, 1)
	s = begin(rei)
	converse(rei, s, turn{"where were we?", "recall", `{"days":2}`, "At the database."})
	if err := s.End(ctx, ""); err != nil {
		log.Fatal(err)
	}

	options.Agent = "bob"
	if _, err := d.Init(ctx, options); err != nil {
		log.Fatal(err)
	}
	bob := open("bob")
	defer bob.Close()
	converse(
		bob,
		begin(bob),
		turn{"which database?", "search_memory", `{"query":"database postgresql"}`, "PostgreSQL 16."},
	)
	// Output:
	// made: duragent.yaml, .duragent/memory/world, .duragent/agents/rei/agent.yaml, .duragent/directives/memory.md
	// system: directives
	// system: directive .duragent/directives/memory.md
	// user: the database is PostgreSQL 16
	// update_world: Updated world knowledge at ~/bot/.duragent/memory/world/systems.md
	// agent: Noted for all of us.
	// user: I like short answers
	// reflect: Reflected. Updated ~/bot/.duragent/agents/rei/memory/MEMORY.md
	// agent: Ok.
	// compacted: 2026-02-18 15:46
	// Summary of the conversation so far, from the log of 2026-02-18 15:46:
	//
	// They told me of the database, and that they like short answers.
	// system: directives
	// system: directive .duragent/directives/memory.md
	// user: where were we?
	// recall: # World Knowledge
	//
	// ## systems
	//
	// DB: PostgreSQL 16
	//
	// ---
	//
	// # Your Memory
	//
	// Likes short answers.
	//
	// ---
	//
	// # Recent Experiences
	//
	// # 2026-02-18
	//
	// ## 15:46
	//
	// They told me of the database, and that they like short answers.
	//
	// ## 15:46
	//
	// We talked about the database.
	// agent: At the database.
	// system: directives
	// system: directive .duragent/directives/memory.md
	// user: which database?
	// search_memory: 1. systems (world knowledge, 2026-02-18)
	//
	// > DB: PostgreSQL 16
	// agent: PostgreSQL 16.
}
