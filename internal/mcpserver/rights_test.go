// This file tests the access over HTTP: which token may use which path, and which tools it is offered.

package mcpserver

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/scope"
)

// post sends a request and returns the status, the headers and the body of the response.
func post(t *testing.T, url, secret, session, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + secret, "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

func TestPaths(t *testing.T) {
	ts := auth.Tokens{
		auth.NewToken("all", "secret of all clients", auth.Permissions{}),
		auth.NewToken("harbor", "secret of the harbor", auth.Permissions{Profile: "harbor"}),
	}
	url := serveTokens(
		t,
		New(
			harborWorkspace(strangerMemory(t, strangers[0], "harbor")),
			harborOptions(Options{Profiles: harborProfiles(t)}),
		),
		ts,
	)
	for _, tt := range []struct {
		name, path, secret string
		want               int
		says               string
	}{
		{"all of it", "/mcp", "secret of all clients", 200, "serverInfo"},
		{"a profile", "/mcp/p/harbor", "secret of all clients", 200, "serverInfo"},
		{"a token's own profile", "/mcp/p/harbor", "secret of the harbor", 200, "serverInfo"},
		{"a token without a path", "/mcp", "secret of the harbor", 200, "serverInfo"},
		{"another profile than the token's", "/mcp/p/airfield", "secret of the harbor", 403,
			`you see profile "harbor", and nothing through another`},
		{"none than the token's", "/mcp/p/nowhere", "secret of the harbor", 403, `you see profile "harbor"`},
		{"no such profile", "/mcp/p/harbour", "secret of all clients", 404,
			`there is no profile "harbour"; did you mean harbor?`},
		{"no name of a profile", "/mcp/p/..%2f..%2fsecret", "secret of all clients", 404, "letters, digits"},
		{"a profile with mistakes", "/mcp/p/broken", "secret of all clients", 500, "broken.yaml:3"},
		{"no token", "/mcp/p/harbor", "", 401, "token"},
		{"no token, no profile", "/mcp/p/nowhere", "wrong", 401, "token"},
	} {
		status, _, said := post(t, url+tt.path, tt.secret, "", hello)
		if status != tt.want || !strings.Contains(said, tt.says) {
			t.Errorf("%s: status %d, %q, want %d and %q", tt.name, status, said, tt.want, tt.says)
		}
	}
}

// TestSessionsAreOfOneToken checks that a session can be used only with the token and the path that created it.
func TestSessionsAreOfOneToken(t *testing.T) {
	ts := auth.Tokens{
		auth.NewToken("one", "secret of the first", auth.Permissions{}),
		auth.NewToken("two", "secret of the second", auth.Permissions{ReadOnly: true}),
	}
	url := serveTokens(
		t,
		New(harborWorkspace(strangerMemory(t, strangers[0], "harbor")), &Options{Profiles: harborProfiles(t)}),
		ts,
	)
	status, head, _ := post(t, url+"/mcp", "secret of the first", "", hello)
	session := head.Get("Mcp-Session-Id")
	if status != 200 || session == "" {
		t.Fatalf("status %d, session %q", status, session)
	}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for _, tt := range []struct {
		path, secret string
		want         int
	}{
		{"/mcp", "secret of the first", 200}, {"/mcp", "secret of the second", 404},
		{"/mcp/p/harbor", "secret of the first", 404},
	} {
		if status, _, said := post(t, url+tt.path, tt.secret, session, ping); status != tt.want {
			t.Errorf("%s with the %s: status %d, %s, want %d", tt.path, tt.secret, status, said, tt.want)
		}
	}
}

// toolNames returns the names of the tools that are offered to clients with these rights.
func toolNames(t *testing.T, s *Server, r auth.Permissions) []string {
	t.Helper()
	v, err := s.newClientService(auth.NewToken("it", token, r), "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tl := range v.tools {
		names = append(names, tl.Name)
	}
	return names
}

// TestToolsByRights checks that a client which sees only a part of the memory gets no tool that uses the whole memory,
// and that a read-only client gets no tool that writes.
func TestToolsByRights(t *testing.T) {
	around := verb.DefineTool(
		verb.Tool{Verb: verb.Verb{Name: "set_identity"}, Description: "Writes a file of the home."},
		func(context.Context, *verb.Workspace, struct{}) (verb.PlainReply, error) {
			return verb.PlainReply{}, nil
		},
	)
	workspace := harborWorkspace(strangerMemory(t, strangers[0], "harbor"))
	workspace.Annotations = func(context.Context) (verb.WorkingTree, error) { return nil, oxbow.ErrUnsupported }
	workspace.Project = func() string { return "crane-app" }
	s := New(
		workspace,
		&Options{
			Tools:             append(verb.Tools(), around),
			WorkingTreeTools:  annotations.AnnotationTools(),
			UnrestrictedTools: profiles.SubAgentTools(nil),
			Profiles:          harborProfiles(t),
		},
	)
	for _, tt := range []struct {
		name         string
		rights       auth.Permissions
		offered, not []string
	}{
		{
			"all",
			auth.Permissions{},
			[]string{"remember", "recall", "set_identity", "annotate", "get_annotations", "spawn_sub_agent"},
			[]string{"recall_memory"},
		},
		{
			"read only",
			auth.Permissions{ReadOnly: true},
			[]string{"recall", "history", "get_annotations"},
			[]string{"remember", "save_memory", "forget", "undo", "restore", "handoff_task", "annotate",
				"set_identity", "spawn_sub_agent"},
		},
		{
			"a profile",
			auth.Permissions{Profile: "harbor"},
			[]string{"remember", "recall_memory", "annotate"},
			[]string{"set_identity", "spawn_sub_agent"},
		},
		{
			"the project of the tree",
			auth.Permissions{Projects: []string{"harbor", "crane-app"}},
			[]string{"remember", "recall_memory", "annotate"},
			[]string{"set_identity", "spawn_sub_agent"},
		},
		{
			"another project",
			auth.Permissions{Projects: []string{"harbor"}},
			[]string{"remember", "recall_memory"},
			[]string{"set_identity", "spawn_sub_agent", "annotate", "get_annotations"},
		},
		{
			"a kind",
			auth.Permissions{Kinds: []string{"note"}},
			[]string{"remember", "recall_memory"},
			[]string{"set_identity", "spawn_sub_agent", "annotate", "get_annotations"},
		},
	} {
		names := toolNames(t, s, tt.rights)
		v, err := s.newClientService(auth.NewToken("it", token, tt.rights), "")
		if err != nil || (v.Workspace.Annotations != nil) != slices.Contains(names, "get_annotations") {
			t.Errorf(
				"%s: the tree is there: %v, %v, and get_annotations is offered: %v",
				tt.name,
				v.Workspace.Annotations != nil,
				err,
				slices.Contains(names, "get_annotations"),
			)
		}
		for _, n := range tt.offered {
			if !slices.Contains(names, n) {
				t.Errorf("%s: %s is not offered, only %v", tt.name, n, names)
			}
		}
		for _, n := range tt.not {
			if slices.Contains(names, n) {
				t.Errorf("%s: %s is offered", tt.name, n)
			}
		}
	}
}

func TestAdmits(t *testing.T) {
	set := harborProfiles(t)
	r, err := set.Resolve("harbor")
	if err != nil {
		t.Fatal(err)
	}
	m := strangerMemory(t, strangers[0], "harbor")
	free := New(harborWorkspace(m), &Options{Profiles: set, Rights: auth.Permissions{Projects: []string{"harbor"}}})
	bound := New(harborWorkspace(scope.Within(m, r.Scope())), &Options{Profiles: set, WorkspaceProfile: &r})
	none := New(harborWorkspace(m), nil)
	for _, tt := range []struct {
		name   string
		s      *Server
		rights auth.Permissions
		wrong  string
	}{
		{"less", free, auth.Permissions{ReadOnly: true, Projects: []string{"harbor", "airfield"}}, ""},
		{
			"nothing in common",
			free,
			auth.Permissions{Projects: []string{"airfield"}},
			"none of those that are allowed already: harbor",
		},
		{"a profile", free, auth.Permissions{Profile: "airfield"}, ""},
		{"no such profile", free, auth.Permissions{Profile: "airfeld"}, "did you mean airfield"},
		{"a broken profile", free, auth.Permissions{Profile: "broken"}, "broken.yaml"},
		{"the server's profile", bound, auth.Permissions{Profile: "harbor"}, ""},
		{"another than the server's", bound, auth.Permissions{Profile: "airfield"}, `is not "harbor"`},
		{"no profiles at all", none, auth.Permissions{Profile: "harbor"}, "there are none yet"},
	} {
		err := tt.s.CheckToken(auth.NewToken("it", token, tt.rights))
		if (err == nil) != (tt.wrong == "") || (err != nil && !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%s: Admits = %v, want %q", tt.name, err, tt.wrong)
		}
	}
}
