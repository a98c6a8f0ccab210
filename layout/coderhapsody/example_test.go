// This file contains an example of a program that conducts conversations with a home of this layout.

package coderhapsody_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/coderhapsody"
	"github.com/oxbow-memory/oxbow/vfs"
)

// turn is a message to the scripted model and the model's reaction. If tool is not empty, the model first calls this
// tool with the arguments args. It then replies with the text answer.
type turn struct {
	message, tool, args, answer string
}

// This example conducts a conversation with a scripted model. The conversation starts, is compacted when it becomes
// long, and ends with a handoff. The next conversation resumes it. The conversation after that takes the handoff,
// once, and uses the memory profile of the handoff. Then the week is over and is compressed.
func Example() {
	ctx := context.Background()
	now := time.Date(2026, 4, 14, 10, 0, 0, 0, time.UTC)
	fsys := vfs.NewMem() // a program would use vfs.Dir with a real directory
	options := layout.Options{FS: fsys, Path: "~/.cr", Zone: time.UTC,
		Memory: oxbow.Options{Clock: func() time.Time { return now }}}
	d := coderhapsody.Dialect()
	made, err := d.Init(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("made:", strings.Join(made, ", "))
	if err := fsys.MkdirAll("memory-profiles", 0o755); err != nil {
		log.Fatal(err)
	}
	if err := vfs.WriteFile(
		fsys,
		"memory-profiles/vtt.yaml",
		[]byte("include:\n  projects: [vtt]\n"),
		0o644,
	); err != nil {
		log.Fatal(err)
	}
	home, err := d.Open(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	defer home.Close()
	tools := map[string]layout.Tool{}
	for _, t := range append(layout.OwnTools(), home.Tools()...) { // the layout's own tools count as well
		tools[t.Name] = t
	}
	workspace := layout.NewWorkspace(home)
	show := func(what string, c layout.Context) {
		for _, p := range c.Parts {
			fmt.Println(strings.TrimSpace(what + ": " + p.Name + " " + p.Source))
		}
	}
	converse := func(s layout.Session, turns ...turn) {
		for _, t := range turns {
			before, err := s.BeforeTurn(ctx, t.message)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Print(before.RoleText(layout.User))
			fmt.Println("user:", t.message)
			if t.tool != "" {
				answer, err := tools[t.tool].CallForModel(ctx, workspace, json.RawMessage(t.args))
				if err != nil {
					log.Fatal(err)
				}
				first, _, _ := strings.Cut(answer.Text(), " (change")
				fmt.Printf("%s: %s\n", t.tool, first)
			}
			fmt.Println("agent:", t.answer)
		}
	}
	begin := func() layout.Session {
		s, err := home.Session(ctx, layout.Request{})
		if err != nil {
			log.Fatal(err)
		}
		return s
	}

	first := begin()
	c, err := first.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	show("starts with", c)
	converse(first,
		turn{
			"squares or hexes for the map?",
			"save_memory",
			`{"content":"Squares, not hexes: walls run along the grid.","project":"vtt","tags":["decision"],"related_files":["map.go"],"confidence":0.9}`,
			"Squares.",
		},
		turn{
			"the cat sees the vet on Thursday",
			"save_memory",
			`{"content":"Luna sees the vet on Thursday.","project":"home"}`,
			"Noted.",
		})
	name, c, err := first.Compact(ctx, "Chose squares for the map.")
	if err != nil {
		log.Fatal(err)
	}
	show("goes on from", c)
	converse(
		first,
		turn{
			"good; leave the walls to the next session",
			"handoff_task",
			`{"summary":"The grid is decided.","plan":"Build the walls.","memory_profile":"vtt"}`,
			"Done.",
		},
	)
	if err := first.End(ctx, ""); err != nil {
		log.Fatal(err)
	}

	second := begin()
	c, err = second.Resume(ctx, name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("resumes with:", c.RoleText(layout.User))
	if err := second.End(ctx, ""); err != nil {
		log.Fatal(err)
	}

	third := begin()
	c, err = third.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	show("starts with", c)
	fmt.Println("knows the cat:", strings.Contains(c.Text(), "Luna"))
	if err := third.End(ctx, "Built the walls."); err != nil {
		log.Fatal(err)
	}

	now = time.Date(2026, 4, 20, 10, 0, 0, 0, time.UTC)
	done, err := home.(layout.Compressor).Compress(ctx, layout.Compression{Over: 1, Span: "week", Period: "2026-W16"})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range done[0].Parts {
		fmt.Printf("compressed into %q of %d\n", p.Entry, p.Entries)
	}
	text, err := vfs.ReadFile(fsys, "memory/covered/2026-04-14.md", -1)
	if err != nil {
		log.Fatal(err)
	}
	one, _, _ := strings.Cut(string(text), "\n\n---\n")
	fmt.Println(one)
	// Output:
	// made: memory, SOUL.md, MEMORY.md
	// starts with: identity SOUL.md
	// starts with: memory MEMORY.md
	// starts with: instructions
	// user: squares or hexes for the map?
	// save_memory: saved "2026-04-14 Squares, not hexes: walls run along the grid."
	// agent: Squares.
	// user: the cat sees the vet on Thursday
	// save_memory: saved "2026-04-14 Luna sees the vet on Thursday."
	// agent: Noted.
	// goes on from: identity SOUL.md
	// goes on from: memory MEMORY.md
	// goes on from: instructions
	// goes on from: log 2026-04-14 Squares, not hexes: walls run along the grid.
	// goes on from: log 2026-04-14 Luna sees the vet on Thursday.
	// goes on from: summary 2026-04-14 Chose squares for the map.
	// user: good; leave the walls to the next session
	// handoff_task: saved "handoff: The grid is decided."
	// agent: Done.
	// resumes with: The conversation so far, in short:
	//
	// ```markdown
	// Chose squares for the map.
	// ```
	//
	// starts with: head
	// starts with: document ~/.cr/SOUL.md
	// starts with: document ~/.cr/MEMORY.md
	// starts with: entry 2026-04-14 Squares, not hexes: walls run along the grid.
	// starts with: handoff handoff: The grid is decided.
	// knows the cat: false
	// compressed into "week-2026-W16" of 1
	// compressed into "week-2026-W16 profile:vtt project:vtt" of 1
	// compressed into "week-2026-W16 project:home" of 1
	// compressed into "week-2026-W16 project:vtt" of 1
	// ---
	// time: 2026-04-14T10:00:00Z
	// project: vtt
	// tags: [decision]
	// related_files: [map.go]
	// confidence: 0.9
	// ---
	//
	// Squares, not hexes: walls run along the grid.
}
