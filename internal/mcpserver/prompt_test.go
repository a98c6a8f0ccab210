// This file tests prompts and the completion of their arguments.

package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// give requests a prompt and returns its text, or the error.
func give(t *testing.T, cs *mcp.ClientSession, name string, args map[string]string) (string, error) {
	t.Helper()
	res, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	if len(res.Messages) != 1 || res.Messages[0].Role != "user" || res.Description == "" {
		t.Fatalf("/%s %v = %+v, want one message of the user, and a description", name, args, res)
	}
	return res.Messages[0].Content.(*mcp.TextContent).Text, nil
}

func TestPrompts(t *testing.T) {
	for name, connect := range transports {
		for _, v := range versions {
			t.Run(name+" "+v, func(t *testing.T) {
				m := strangerMemory(t, strangers[0], "harbor")
				cs := connect(t, New(harborWorkspace(m), &Options{Profiles: harborProfiles(t)}), v)
				if cs.InitializeResult().Capabilities.Prompts == nil {
					t.Error("prompts are not among the capabilities")
				}
				list, err := cs.ListPrompts(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, p := range list.Prompts {
					names = append(names, p.Name)
					if p.Title == "" || p.Description == "" || len(p.Arguments) == 0 {
						t.Errorf("prompt %+v says too little", p)
					}
				}
				if !slices.Equal(names, []string{"context", "handoff", "memory-context", "profile"}) {
					t.Errorf("prompts = %v", names)
				}
				for _, tt := range []struct {
					name     string
					args     map[string]string
					has, not []string
				}{
					{
						"context",
						nil,
						[]string{"I am the harbor master.", "The crane lifts", "Sold to the zymurgist"},
						nil,
					},
					{
						"context",
						map[string]string{"project": "harbor", "tags": "sealed"},
						[]string{`"zeppelin safe"`},
						[]string{"The crane lifts", `## "zeppelin"`},
					},
					{
						"context",
						map[string]string{"project": "nowhere", "message": ""},
						[]string{"no entry fits"},
						[]string{"crane"},
					},
					// opencode sends placeholders for missing arguments.
					{
						"context",
						map[string]string{"message": "$1", "project": "$2", "tags": "$3", "max_tokens": "$4"},
						[]string{"The crane lifts", "Sold to the zymurgist"},
						nil,
					},
					{"memory-context", nil, []string{"I am the harbor master.", "The crane lifts"}, nil},
					{
						"context",
						map[string]string{"project": " $10 ", "message": "$ARGUMENTS"},
						[]string{"The crane lifts", "Sold to"},
						nil,
					},
					{"handoff", nil, []string{"No handoff waits", "call handoff_task"}, nil},
					{
						"profile",
						map[string]string{"name": "harbor", "max_tokens": "1000"},
						[]string{`Loaded memory profile "harbor"`, "of 1000 tokens", "The crane lifts"},
						[]string{"Sold to"},
					},
				} {
					text, err := give(t, cs, tt.name, tt.args)
					if err != nil {
						t.Errorf("/%s %v: %v", tt.name, tt.args, err)
					}
					for _, w := range tt.has {
						if !strings.Contains(text, w) {
							t.Errorf("/%s %v lacks %q: %s", tt.name, tt.args, w, text)
						}
					}
					for _, w := range tt.not {
						if strings.Contains(text, w) {
							t.Errorf("/%s %v has %q: %s", tt.name, tt.args, w, text)
						}
					}
				}
				// A profile that a person loads with a prompt has the same effect as one that the model loads.
				want := map[bool]string{true: "3 of 3", false: "5 of 5"}[v < statelessVersion || name != "http"]
				if got := say(t, cs, "list", nil); !strings.HasPrefix(got, want) {
					t.Errorf("after /profile, list = %q, want %s", got, want)
				}
				for _, tt := range []struct {
					name string
					args map[string]string
					want string
				}{
					{"context", map[string]string{"max_tokens": "many"}, "is no number of tokens"},
					{"context", map[string]string{"max_tokens": "$4 and more"}, "is no number of tokens"},
					{"profile", map[string]string{"name": "$1"}, "is missing"},
					{"context", map[string]string{"query": "x"}, "/context takes message, project, tags, max_tokens"},
					{"profile", nil, "name"},
					{"profile", map[string]string{"name": "harbour"}, "did you mean harbor?"},
					{"handoff", map[string]string{"name": "crane"}, "not a handoff"},
					{"handoff", map[string]string{"name": "nobody"}, "not found"},
					{"nothing", nil, "unknown prompt"},
				} {
					if _, err := give(t, cs, tt.name, tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
						t.Errorf("/%s %v = %v, want %q", tt.name, tt.args, err, tt.want)
					}
				}
			})
		}
	}
}

func TestContextKeepsBudget(t *testing.T) {
	cs := overMemory(
		t,
		New(harborWorkspace(strangerMemory(t, strangers[0], "harbor")), &Options{Profiles: harborProfiles(t)}),
		"",
	)
	for _, budget := range []int{50, 100, 150, 300} {
		text, err := give(t, cs, "context", map[string]string{"max_tokens": fmt.Sprint(budget)})
		if err != nil || prompt.EstimateTokens(text) > prompt.MaxEstimateWithinBudget(budget) {
			t.Errorf("/context with %d tokens has %d, %v", budget, prompt.EstimateTokens(text), err)
		}
	}
}

// TestHandoffPrompt tests the prompt "handoff", with which a session takes over a task that another session left. The
// prompt must return each waiting task once, with the entries of the task's memory profile, and a task that was taken
// over again only if its name is given. For a client that may only read, the prompt shows the task, which then keeps
// waiting.
func TestHandoffPrompt(t *testing.T) {
	m := strangerMemory(t, strangers[0], "harbor")
	ctx := t.Context()
	for _, task := range []handoff.Task{
		{Summary: "The crane is painted.", Plan: "Paint the quay.", Profile: "harbor", Files: []string{"quay.go"},
			Project: "harbor"},
		{Summary: "The field is mown.", Profile: "airfeld", Project: "airfield"},
	} {
		if _, err := handoff.StoreTask(ctx, m, task); err != nil {
			t.Fatal(err)
		}
	}
	reads := atPath("/mcp", auth.Permissions{ReadOnly: true})(t, m, versions[1])
	for range 2 {
		text, err := give(t, reads, "handoff", map[string]string{"project": "harbor"})
		if err != nil || !strings.Contains(text, "The crane is painted.") || !strings.Contains(text, "shown only") {
			t.Errorf("/handoff of who may only read = %q, %v, want it shown", text, err)
		}
	}
	if text, err := give(t, reads, "handoff", map[string]string{"project": "nowhere"}); err != nil ||
		strings.Contains(text, "handoff_task") {
		t.Errorf(
			"/handoff of who may only read = %q, %v, want that none waits, and no call that is not offered",
			text,
			err,
		)
	}
	cs := overMemory(t, New(harborWorkspace(m), &Options{Profiles: harborProfiles(t)}), versions[1])
	complete := func() string {
		t.Helper()
		res, err := cs.Complete(
			ctx,
			&mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "handoff"},
				Argument: mcp.CompleteParamsArgument{Name: "name", Value: "handoff"}},
		)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(res.Completion.Values, "|")
	}
	const crane, field = "handoff: The crane is painted.", "handoff: The field is mown."
	if got := complete(); got != field+"|"+crane {
		t.Errorf("names of handoffs = %q, want the newest first", got)
	}
	text, err := give(t, cs, "handoff", nil)
	if err != nil || !strings.Contains(text, "The field is mown.") ||
		!strings.Contains(text, `(not loaded: there is no profile "airfeld"; did you mean airfield?`) {
		t.Errorf("/handoff = %q, %v, want the newest, and why its profile was not loaded", text, err)
	}
	if got := complete(); got != crane+"|"+field {
		t.Errorf("names of handoffs = %q, want the open one first", got)
	}
	text, err = give(t, cs, "handoff", nil)
	for _, w := range []string{
		"Paint the quay.",
		`File to read: "quay.go"`,
		`Loaded memory profile "harbor"`,
		"The crane lifts",
	} {
		if err != nil || !strings.Contains(text, w) {
			t.Errorf("/handoff = %q, %v, want %q in it", text, err, w)
		}
	}
	text, err = give(t, cs, "handoff", map[string]string{"name": crane})
	if err != nil || !strings.Contains(text, "another session took it before") {
		t.Errorf("/handoff of what was taken = %q, %v, want it again, and a word", text, err)
	}
	text, err = give(t, cs, "handoff", nil)
	if err != nil || !strings.Contains(text, "No handoff waits") {
		t.Errorf("/handoff = %q, %v, want that none waits", text, err)
	}
	for e, err := range m.Entries(ctx, oxbow.Filter{Terms: []oxbow.Term{{Key: "kind", Values: []string{"handoff"}}}}) {
		if err != nil || e.Source.Actor != oxbow.Agent || e.Source.Door != "mcp" {
			t.Errorf("%q was taken by %+v, %v, want an agent at this door", e.Name, e.Source, err)
		}
	}
}

func TestCompletePrompts(t *testing.T) {
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	m := strangerMemory(t, strangers[0], "harbor")
	for i := range 120 {
		e := oxbow.Entry{Name: fmt.Sprintf("note %03d", i), Content: "x", Created: now,
			Labels: oxbow.SortLabels([]oxbow.Label{
				{Key: "project", Value: fmt.Sprintf("p%03d", i)},
				{Key: "tag", Value: "often"},
				{Key: "tag", Value: fmt.Sprintf("only %03d", i)},
			})}
		if _, err := m.Remember(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	s := New(harborWorkspace(m), &Options{Profiles: harborProfiles(t)})
	cs := overMemory(t, s, "")
	for _, tt := range []struct {
		prompt, arg, typed, project string
		want                        string
		total                       int
	}{
		{"context", "project", "har", "", "harbor", 1},
		{"memory-context", "project", "BOR", "", "harbor", 1},
		{"handoff", "project", "air", "", "airfield", 1},
		{"context", "project", "p0", "", "", 100},
		{"context", "tags", "o", "", "often|only 000", 121},
		{"context", "tags", "often, only 11", "", "often, only 110|often, only 111", 10},
		{"context", "tags", " often ,,o", "p007", "often, only 007", 1},
		{"context", "tags", "", "harbor", "sealed", 1},
		{"context", "message", "x", "", "", 0},
		{"context", "max_tokens", "1", "", "", 0},
		{"profile", "name", "", "", "airfield|broken|harbor", 3},
		{"profile", "name", "field", "", "airfield", 1},
		{"profile", "query", "x", "", "", 0},
		{"nothing", "name", "", "", "", 0},
	} {
		p := &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: tt.prompt},
			Argument: mcp.CompleteParamsArgument{Name: tt.arg, Value: tt.typed},
		}
		if tt.project != "" {
			p.Context = &mcp.CompleteContext{Arguments: map[string]string{"project": tt.project}}
		}
		res, err := cs.Complete(t.Context(), p)
		if err != nil {
			t.Errorf("%s %s %q: %v", tt.prompt, tt.arg, tt.typed, err)
			continue
		}
		c := res.Completion
		if got := strings.Join(c.Values, "|"); !strings.HasPrefix(got, tt.want) || c.Total != tt.total ||
			len(c.Values) != min(c.Total, 100) || c.HasMore != (c.Total > 100) {
			t.Errorf(
				"%s %s %q = %q of %d, more %v, want %q of %d",
				tt.prompt,
				tt.arg,
				tt.typed,
				got,
				c.Total,
				c.HasMore,
				tt.want,
				tt.total,
			)
		}
	}
	// If the client sees only one project, it can name only profiles that include the project.
	v, err := s.newClientService(auth.NewToken("it", token, auth.Permissions{Projects: []string{"harbor"}}), "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := (&serverTransport{clientService: v}).profileNames(""); err != nil ||
		!slices.Equal(got, []string{"harbor"}) {
		t.Errorf("profiles = %v, %v, want harbor", got, err)
	}
}

// TestPromptsWithoutProfiles checks that a server without profiles does not offer the prompts that need them.
func TestPromptsWithoutProfiles(t *testing.T) {
	m := strangerMemory(t, strangers[0], "harbor")
	workspace := &verb.Workspace{
		Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
	}
	cs := overMemory(t, New(workspace, nil), "")
	list, err := cs.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 1 || list.Prompts[0].Name != "handoff" {
		t.Errorf("prompts = %+v, %v, want handoff alone", list, err)
	}
	if _, err := give(t, cs, "handoff", nil); err != nil {
		t.Errorf("/handoff = %v", err)
	}
}
