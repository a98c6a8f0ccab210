// This file tests for how long a loaded memory profile is in effect. In protocol versions with sessions, it belongs to
// the session. In versions without sessions, the client refers to it by a handle.

package mcpserver

import (
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/subagent"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
)

var handleIn = regexp.MustCompile(`handle (\S+?)[:.,]`)

func TestLoadPerSession(t *testing.T) {
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			m := strangerMemory(t, strangers[0], "harbor")
			s := New(harborWorkspace(m), &Options{Profiles: harborProfiles(t)})
			url := serveTokens(t, s, auth.Tokens{auth.NewToken("it", token, auth.Permissions{})})
			connect := func() *mcp.ClientSession {
				cs := client(t, &mcp.StreamableClientTransport{Endpoint: url +
					"/mcp", HTTPClient: &http.Client{Transport: bearer{token}}}, v)
				t.Cleanup(func() { cs.Close() })
				return cs
			}
			one, two := connect(), connect()
			res, err := one.CallTool(
				t.Context(),
				&mcp.CallToolParams{Name: "load_memory_profile", Arguments: obj{"name": "harbor"}},
			)
			if err != nil || res.IsError || res.StructuredContent != nil {
				t.Fatalf("load_memory_profile = %+v, %v, want a text alone: twice would break the budget", res, err)
			}
			found := handleIn.FindStringSubmatch(textOf(res))
			if found == nil {
				t.Fatalf("no handle in %q", textOf(res))
			}
			with := obj{"handle": found[1]}
			all, part := "5 of 5 entries", "3 of 3 entries"
			want := map[bool]string{true: part, false: all}[v < statelessVersion]
			if got := say(t, one, "list", nil); !strings.HasPrefix(got, want) {
				t.Errorf("list in the session that loaded = %q, want %q", got, want)
			}
			if got := say(t, two, "list", nil); !strings.HasPrefix(got, all) {
				t.Errorf("list in another session = %q, want %q", got, all)
			}
			if got := say(t, one, "list", with); !strings.HasPrefix(got, part) {
				t.Errorf("list with the handle = %q, want %q", got, part)
			}
			res, err = two.CallTool(t.Context(), &mcp.CallToolParams{Name: "list", Arguments: with})
			if err != nil || res.IsError != (v < statelessVersion) {
				t.Errorf(
					"list with the handle of another session = %s, %v, want an error where there are sessions",
					textOf(res),
					err,
				)
			}
			if got := say(t, one, "unload_memory_profile", with); !strings.Contains(got, "may be dropped") {
				t.Errorf("unload_memory_profile = %q, want what may be dropped", got)
			}
			if got := say(t, one, "list", nil); !strings.HasPrefix(got, all) {
				t.Errorf("list after unloading = %q, want %q", got, all)
			}
		})
	}
}

// TestLoadsEndWithTheSession checks that the list of loaded profiles is removed together with its session.
func TestLoadsEndWithTheSession(t *testing.T) {
	d := &serverTransport{loadedBySession: map[weak.Pointer[mcp.ServerSession]]*verb.LoadedProfiles{}}
	kept := new(mcp.ServerSession)
	for range 100 {
		ss := new(mcp.ServerSession)
		if first, again := d.loadedProfiles(ss), d.loadedProfiles(ss); first != again {
			t.Fatal("one session has two lists of what it loaded")
		}
	}
	mine := d.loadedProfiles(kept)
	count := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.loadedBySession)
	}
	for deadline := time.Now().Add(20 * time.Second); count() > 1 && time.Now().Before(deadline); {
		runtime.GC()
		runtime.Gosched()
	}
	if n := count(); n != 1 || d.loadedProfiles(kept) != mine {
		t.Errorf("%d lists are kept, want that of the session that is left", n)
	}
	runtime.KeepAlive(kept)
}

// TestLongAnswersComeInPages checks that the model receives all of a profile and of a briefing: in one answer if the
// client accepts long answers, otherwise in pages.
func TestLongAnswersComeInPages(t *testing.T) {
	for _, v := range versions {
		for _, tt := range []struct {
			client     string
			most, want int // maximum bytes of an answer, and expected number of pages
		}{{"claude-code", 200_000, 1}, {"codex-mcp-client", 16_000, 3}} {
			m := strangerMemory(t, strangers[0], "harbor")
			for i := range 90 {
				e := oxbow.Entry{
					Name:    fmt.Sprintf("p-%02d", i),
					Content: fmt.Sprintf("E%02d ", i) + strings.Repeat("canary deploy ", 25),
					Labels:  []oxbow.Label{{Key: "project", Value: "harbor"}},
				}
				if _, err := m.Remember(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
			set := harborProfiles(t)
			workspace := harborWorkspace(m)
			subAgents := &subagent.Service{Profiles: set, ProgramPath: "oxbow"}
			s, err := New(
				workspace,
				&Options{Profiles: set, UnrestrictedTools: profiles.SubAgentTools(subAgents)},
			).openUnrestrictedServer(stdioDoorName)
			if err != nil {
				t.Fatal(err)
			}
			here, there := mcp.NewInMemoryTransports()
			if _, err := s.Connect(t.Context(), here, nil); err != nil {
				t.Fatal(err)
			}
			cs := clientNamed(t, tt.client, there, v)
			for name, args := range map[string]obj{"load_memory_profile": {"name": "harbor"},
				"spawn_sub_agent": {"agent_id": "a", "task": "LAST-WORD", "memory_profile": "harbor"}} {
				pages, seen := 0, map[string]bool{}
				for offset := 0; offset >= 0; pages++ {
					args["offset"] = offset
					text := say(t, cs, name, args)
					if len(text) > tt.most {
						t.Errorf("%s to %s: a page has %d bytes, want at most %d", name, tt.client, len(text), tt.most)
					}
					for _, e := range regexp.MustCompile(`(?m)^E\d\d |LAST-WORD`).FindAllString(text, -1) {
						seen[e] = true
					}
					offset = -1
					if next := regexp.MustCompile(`the next page has offset (\d+)`).FindStringSubmatch(
						text,
					); next != nil {
						offset, _ = strconv.Atoi(next[1])
					}
				}
				if pages != tt.want || len(seen) < 90 {
					t.Errorf(
						"%s to %s with %s: %d entries in %d pages, want 90 in %d",
						name,
						tt.client,
						v,
						len(seen),
						pages,
						tt.want,
					)
				}
			}
			cs.Close()
		}
	}
}

// TestLoadBindsTheProcess checks, in each protocol version, that a profile stays in effect after load_memory_profile on
// a connection that is the only one of its process, like a connection over standard streams. The profile restricts the
// later calls until unload_memory_profile.
func TestLoadBindsTheProcess(t *testing.T) {
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			cs := overMemory(
				t,
				New(harborWorkspace(strangerMemory(t, strangers[0], "harbor")), &Options{Profiles: harborProfiles(t)}),
				v,
			)
			if got := say(
				t,
				cs,
				"load_memory_profile",
				obj{"name": "harbor"},
			); !strings.Contains(got, "Until unload_memory_profile") {
				t.Errorf("load_memory_profile = %q, want that it is in force", got)
			}
			if got := say(t, cs, "load_memory_profile", nil); !strings.Contains(got, "\nharbor\n```\n") {
				t.Errorf("the profiles are %q, want them in a fence", got)
			}
			if got := say(t, cs, "list", nil); !strings.HasPrefix(got, "3 of 3 entries") {
				t.Errorf("list after loading = %q, want what the profile includes", got)
			}
			if res, err := cs.CallTool(
				t.Context(),
				&mcp.CallToolParams{Name: "get", Arguments: obj{"name": "zeppelin"}},
			); err != nil || !res.IsError {
				t.Errorf("get of an entry outside = %v, %v, want not found", res, err)
			}
			say(t, cs, "unload_memory_profile", nil)
			if got := say(t, cs, "list", nil); !strings.HasPrefix(got, "5 of 5 entries") {
				t.Errorf("list after unloading = %q, want all", got)
			}
		})
	}
}
