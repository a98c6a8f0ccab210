// This file tests the verbs save_memory and handoff_task.

package verb

import (
	"reflect"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
)

func TestSaveMemory(t *testing.T) {
	b := newBench(t)
	out := do[SaveMemoryOut](
		b,
		"save_memory",
		`{"content":"Built spatial awareness.\nIt is in 2D.","project":"homebrew-vtt","tags":["architecture","decision"],"related_files":["pkg/vtt/spatial.go"],"confidence":0.9}`,
	)
	if out.Name != "Built spatial awareness." || out.Version == 0 || !has(out.Notes, "first line") {
		t.Errorf("save_memory = %+v", out)
	}
	got := do[GetOut](b, "get", `{"name":"Built spatial awareness."}`)
	want := map[string][]string{
		"project":    {"homebrew-vtt"},
		"tag":        {"architecture", "decision"},
		"file":       {"pkg/vtt/spatial.go"},
		"confidence": {"0.9"},
	}
	if !reflect.DeepEqual(got.Entry.Labels, want) {
		t.Errorf("labels = %v, want %v", got.Entry.Labels, want)
	}
	// A second text with the same beginning must not overwrite the first.
	if again := do[SaveMemoryOut](
		b,
		"save_memory",
		`{"content":"Built spatial awareness.\nNow in 3D."}`,
	); again.Name == out.Name {
		t.Errorf("a second memory took the name %q", again.Name)
	}
	b.fail("save_memory", `{"content":" "}`, "empty")
	b.fail("save_memory", `{"content":"x","confidence":2}`, "from 0 to 1")
}

func TestHandoffTask(t *testing.T) {
	b := newBench(t)
	call := `{"summary":"Grid done","memory_profile":"vtt-developer","skills":["vtt-core","senior-developer"],"files_to_read":["pkg/vtt/spatial.go"],"plan":"Walls."}`
	out := do[HandoffTaskOut](b, "handoff_task", call)
	if again := do[HandoffTaskOut](b, "handoff_task", call); again.Version != out.Version {
		t.Errorf("a repeat wrote change %d after %d", again.Version, out.Version)
	}
	if e := do[GetOut](b, "get", args(t, map[string]any{"name": out.Name})); e.Entry.Kind != "handoff" ||
		e.Entry.Source.Door != "cli" {
		t.Errorf("stored as %s by %+v, want a handoff by the desk's source", e.Entry.Kind, e.Entry.Source)
	}
	h, err := handoff.TakeHandoff(t.Context(), b.m, handoff.HandoffCriteria{})
	want := handoff.Task{Summary: "Grid done", Plan: "Walls.", Profile: "vtt-developer",
		Skills: []string{"vtt-core", "senior-developer"}, Files: []string{"pkg/vtt/spatial.go"}}
	if err != nil || !reflect.DeepEqual(h.Task, want) || h.Name != out.Name {
		t.Errorf("taken: %+v, %v; want %+v", h, err, want)
	}
	// The tool takes a handoff only once.
	do[HandoffTaskOut](b, "handoff_task", `{"summary":"Walls done","plan":"Doors."}`)
	b.fail("handoff_task", `{"summary":"x","take":true}`, "give either")
	got := do[HandoffTaskOut](b, "handoff_task", `{"take":true}`)
	if !strings.Contains(prompt.ReporterText(got), "Doors.") || got.TakenHandoff.State != handoff.HandoffStateTaken {
		t.Errorf("taken: %+v, want the open handoff", got)
	}
	b.fail("handoff_task", `{"take":true}`, "no handoff waits")
	b.fail("handoff_task", `{}`, "summary", "missing")
	b.fail("handoff_task", `{"summary":"x","skills":["a","a"]}`, "twice")
	b.fail("handoff_task", `{"summary":"x","files_to_read":["`+strings.Repeat("f", 300)+
		`"]}`, "files_to_read", "300 bytes")
}
