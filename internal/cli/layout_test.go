// This file tests the tools and the instructions of a server. Some of the test homes have a layout (a format of the
// memory's files) that adds its own tools, and others have a layout without its own tools.

package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/layouts"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// homeWithoutTools is a home of a layout that has no tools of its own.
type homeWithoutTools struct{ layout.Home }

func (homeWithoutTools) Tools() []verb.Tool { return nil }

// switchedHome is a home whose configuration may switch off the memory.
type switchedHome struct {
	layout.Home
	hasMemory bool
}

func (h switchedHome) HasMemory() bool { return h.hasMemory }

func TestToolsOfLayoutHomes(t *testing.T) {
	d, err := layout.Find(layouts.All(), "entryfiles")
	if err != nil {
		t.Fatal(err)
	}
	h, err := d.Open(t.Context(), layout.Options{FS: vfs.NewMem(), Path: "home"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const (
		ownTools = "these tools belong to that system"
		allTools = "All tools belong to oxbow"
		off      = "has no memory tools"
	)
	for _, tt := range []struct {
		name         string
		home         layout.Home
		sets         verb.VerbSets // the sets that the dialect names
		tools        string        // some of the tools that the server offers
		notOffered   string
		instructions string
	}{
		{"own tools", h, nil, "soul remember recall", "list undo", ownTools},
		{"own tools and a set", h, verb.VerbSets{"session"}, "soul handoff_task", "list undo", ownTools},
		{"no tools", homeWithoutTools{h}, nil, "remember recall list", "soul", allTools},
		{"no tools, and a set", homeWithoutTools{h}, verb.VerbSets{"session"}, "handoff_task", "soul recall", allTools},
		{"switched on", switchedHome{h, true}, nil, "soul remember recall", "list undo", ownTools},
		{"switched off", switchedHome{h, false}, verb.VerbSets{verb.VerbSetCore}, "", "soul remember recall list", off},
	} {
		d.Sets = tt.sets
		var names []string
		for _, tool := range serverTools(tt.home, defaultToolSets(d, tt.home)) {
			names = append(names, tool.Name)
		}
		for _, name := range strings.Fields(tt.tools) {
			if !slices.Contains(names, name) {
				t.Errorf("%s: the tools are %q, want %s among them", tt.name, names, name)
			}
		}
		for _, name := range strings.Fields(tt.notOffered) {
			if slices.Contains(names, name) {
				t.Errorf("%s: the tools are %q, want no %s", tt.name, names, name)
			}
		}
		said := serverInstructions(d, tt.home, false)
		for _, sentence := range []string{ownTools, allTools, off} {
			if strings.Contains(said, sentence) != (sentence == tt.instructions) {
				t.Errorf("%s: the instructions are %q, want only the sentence %q", tt.name, said, tt.instructions)
			}
		}
	}
	if r, err := h.Memory().Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %v, %v, want no problems", r.Problems, err)
	}
}
