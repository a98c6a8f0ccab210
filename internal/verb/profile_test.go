// This file tests how memory profiles are loaded and unloaded. It tests to which profile the calls of tools are
// restricted, what the handles of loaded profiles do, and that no budget is exceeded.

package verb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// study is a workspace with two profiles, and with entries in each of them.
type study struct {
	t         *testing.T
	files     *vfs.Mem
	workspace *Workspace
	now       time.Time
	tools     []Tool
}

func newStudy(t *testing.T, session bool) *study {
	t.Helper()
	s := &study{
		t:     t,
		files: vfs.NewMem(),
		now:   time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC),
		tools: ToolsWithProfiles(Tools(), nil),
	}
	if err := s.files.MkdirAll("profiles", 0o700); err != nil {
		t.Fatal(err)
	}
	s.write("profiles/vtt.yaml", "name: vtt\ndescription: Builds the tabletop\ninclude:\n  projects: [vtt]\n")
	s.write(
		"profiles/novel.yaml",
		"name: novel\ninclude:\n  projects: [novel]\nalways_include: [SOUL.md, plot.md]\nmax_tokens: 2000\n",
	)
	s.write("SOUL.md", "I am careful.\n")
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return s.now }})
	for i := range 30 {
		for _, p := range []string{"vtt", "novel"} {
			e := oxbow.Entry{
				Name:    fmt.Sprintf("%s %02d", p, i),
				Content: strings.Repeat(fmt.Sprintf("The %s has scene %d of many words. ", p, i), 8),
				Labels:  []oxbow.Label{{Key: oxbow.LabelProject, Value: p}},
			}
			if _, err := m.Remember(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.workspace = &Workspace{Open: func(context.Context, MemoryAccess) (*oxbow.Memory, error) {
		return m, nil
	}, Now: func() time.Time { return s.now },
		Profiles: &Profiles{Set: &profile.Set{Places: []profile.Place{{FS: s.files, Dirs: profile.HomeDirs}}}},
		Source:   oxbow.Source{Door: "mcp", Actor: oxbow.Agent}}
	if session {
		s.workspace.Loaded = &LoadedProfiles{}
	}
	return s
}

func (s *study) write(name, text string) {
	s.t.Helper()
	if err := vfs.WriteFile(s.files, name, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// call calls a verb with arguments in JSON.
func (s *study) call(name, args string) (Answer, error) {
	s.t.Helper()
	for _, t := range s.tools {
		if t.Name == name {
			return t.CallForModel(s.t.Context(), s.workspace, json.RawMessage(args))
		}
	}
	s.t.Fatalf("there is no verb %s", name)
	return Answer{}, nil
}

func (s *study) load(args string) LoadMemoryProfileOut {
	s.t.Helper()
	a, err := s.call("load_memory_profile", args)
	if err != nil {
		s.t.Fatalf("load_memory_profile %s: %v", args, err)
	}
	return a.Result.(LoadMemoryProfileOut)
}

func (s *study) unload(args string) unloadMemoryProfileOut {
	s.t.Helper()
	a, err := s.call("unload_memory_profile", args)
	if err != nil {
		s.t.Fatalf("unload_memory_profile %s: %v", args, err)
	}
	return a.Result.(unloadMemoryProfileOut)
}

// total calls the tool list with the arguments args and returns the number of entries that the tool finds.
func (s *study) total(args string) int {
	s.t.Helper()
	a, err := s.call("list", args)
	if err != nil {
		s.t.Fatalf("list %s: %v", args, err)
	}
	return a.Result.(ListOut).Total
}

// fails checks that a call fails with a message that contains certain words.
func (s *study) fails(name, args string, words ...string) {
	s.t.Helper()
	a, err := s.call(name, args)
	if !errors.Is(err, oxbow.ErrInvalid) {
		s.t.Errorf("%s %s = %v, %v, want an error that matches ErrInvalid", name, args, a, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			s.t.Errorf("%s %s: %q, want %q in it", name, args, err, w)
		}
	}
}

// TestLoadInSession loads a profile, loads another profile while the first is loaded, and unloads both.
func TestLoadInSession(t *testing.T) {
	s := newStudy(t, true)
	if n := s.total(`{}`); n != 60 {
		t.Fatalf("list sees %d entries at first, want 60", n)
	}
	vtt := s.load(`{"name":"vtt","query":"scene 7"}`)
	text := prompt.ReporterText(vtt)
	for _, w := range []string{`Loaded memory profile "vtt", handle ` +
		vtt.ProfileHandle, "Until unload_memory_profile", "I am careful.", `## "vtt 07"`} {
		if !strings.Contains(text, w) {
			t.Errorf("the text of a loaded profile lacks %q:\n%s", w, text)
		}
	}
	if strings.Contains(text, "novel") || !vtt.RestrictsSession || vtt.IncludedEntries != 30 {
		t.Errorf("loaded %+v, want what is of vtt, in force", vtt)
	}
	if n := s.total(`{}`); n != 30 {
		t.Errorf("within vtt, list sees %d entries, want 30", n)
	}
	// A saved entry belongs to the profile, and entries outside the profile cannot be found.
	if _, err := s.call("save_memory", `{"content":"Fog is kept on the server."}`); err != nil {
		t.Fatal(err)
	}
	a, err := s.call("get", `{"name":"Fog is kept on the server."}`)
	if err != nil {
		t.Fatal(err)
	}
	if e := a.Result.(GetOut).Entry; strings.Join(e.Labels["project"], "") != "vtt" ||
		strings.Join(e.Labels["profile"], "") != "vtt" || e.Source.Profile != "vtt" {
		t.Errorf("what was saved has labels %v and source %+v, want both of vtt", e.Labels, e.Source)
	}
	if _, err := s.call("get", `{"name":"novel 03"}`); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("get of what is outside = %v, want not found", err)
	}
	s.fails("save_memory", `{"content":"x","project":"novel"}`, "only vtt")

	// If several profiles are loaded, the one that was loaded last is in force. If it is unloaded, the profile that was
	// loaded before it is in force again.
	novel := s.load(`{"name":"novel"}`)
	if n := s.total(`{}`); n != 30 {
		t.Errorf("within novel, list sees %d entries, want 30", n)
	}
	if n := s.total(`{"handle":"` + vtt.ProfileHandle + `"}`); n != 31 {
		t.Errorf("with the handle of vtt, list sees %d entries, want 31", n)
	}
	again := s.load(`{"name":"vtt"}`)
	if again.ProfileHandle != vtt.ProfileHandle || len(again.Notes) == 0 || !has(again.Notes, "loaded already") {
		t.Errorf("loaded twice: %+v, want the same handle and a word", again)
	}
	if n := s.total(`{}`); n != 31 {
		t.Errorf("within vtt again, list sees %d entries, want 31", n)
	}
	u := s.unload(`{}`)
	if u.Handle != vtt.ProfileHandle || u.RemovableTokens != vtt.Tokens+again.Tokens || len(u.LoadedHandles) != 1 ||
		u.LoadedHandles[0] != novel.ProfileHandle ||
		!strings.Contains(u.Message, "may be dropped") || !strings.Contains(u.Message, `In force now: "novel"`) {
		t.Errorf("unload = %+v, want vtt with the tokens of both results, and novel in force", u)
	}
	s.fails("list", `{"handle":"`+vtt.ProfileHandle+`"}`, "was unloaded already", "loaded now: "+novel.ProfileHandle)
	s.fails("unload_memory_profile", `{"handle":"`+vtt.ProfileHandle+`"}`, "was unloaded already")
	s.fails("list", `{"handle":"vtt@0-00000000"}`, "not of this session")
	if u := s.unload(`{"handle":"novel"}`); u.Handle != novel.ProfileHandle || len(u.LoadedHandles) != 0 {
		t.Errorf("unload by name = %+v, want novel", u)
	}
	if n := s.total(`{}`); n != 61 {
		t.Errorf("after all is unloaded, list sees %d entries, want 61", n)
	}
	s.fails("unload_memory_profile", `{}`, "no memory profile is loaded")
}

// TestLoadAfterEdit checks that a profile is loaded again, with another handle, after its file was edited.
func TestLoadAfterEdit(t *testing.T) {
	s := newStudy(t, true)
	first := s.load(`{"name":"vtt"}`)
	s.write("profiles/vtt.yaml", "name: vtt\ninclude:\n  entries: [vtt 03]\n")
	if n := s.total(`{}`); n != 30 {
		t.Errorf("an edit changed what is loaded: list sees %d entries, want 30", n)
	}
	second := s.load(`{"name":"vtt"}`)
	if second.ProfileHandle == first.ProfileHandle || !strings.Contains(sentences(second.Notes), "edited since") ||
		s.total(`{}`) != 1 {
		t.Errorf("loaded again: %+v, want a new handle, a word, and one entry", second)
	}
	s.fails("list", `{"handle":"`+first.ProfileHandle+`"}`, "unloaded already")
	if u := s.unload(`{}`); len(u.LoadedHandles) != 0 {
		t.Errorf("unload leaves %v, want nothing", u.LoadedHandles)
	}
	for i := range maxLoadedProfiles + 1 {
		name := fmt.Sprintf("p%d", i)
		s.write("profiles/"+name+".yaml", "name: "+name+"\n")
		if i < maxLoadedProfiles {
			s.load(`{"name":"` + name + `"}`)
		}
	}
	s.fails("load_memory_profile", fmt.Sprintf(`{"name":"p%d"}`, maxLoadedProfiles), "unload one")
}

// TestLoadByHandle checks that without sessions the handle alone determines the profile.
func TestLoadByHandle(t *testing.T) {
	s := newStudy(t, false)
	vtt := s.load(`{"name":"vtt"}`)
	if vtt.RestrictsSession || !strings.Contains(prompt.ReporterText(vtt), "Give this handle") {
		t.Errorf("loaded %+v, want that the handle is to be given", vtt)
	}
	if n := s.total(`{}`); n != 60 {
		t.Errorf("without the handle, list sees %d entries, want 60", n)
	}
	with := `{"handle":"` + vtt.ProfileHandle + `"}`
	if n := s.total(with); n != 30 {
		t.Errorf("with the handle, list sees %d entries, want 30", n)
	}
	if _, err := s.call("save_memory", `{"content":"Fog is kept on the server.","handle":"`+vtt.ProfileHandle+
		`"}`); err != nil {
		t.Fatal(err)
	}
	if n := s.total(with); n != 31 {
		t.Errorf("after saving with the handle, list sees %d entries, want 31", n)
	}
	// The handle is also valid on another server, and on this server after a restart.
	other := *s.workspace
	other.Profiles = &Profiles{Set: s.workspace.Profiles.Set}
	s.workspace = &other
	if n := s.total(with); n != 31 {
		t.Errorf("another server with the handle sees %d entries, want 31", n)
	}
	if u := s.unload(with); u.Profile != "vtt" || !strings.Contains(u.Message, "may be dropped") {
		t.Errorf("unload = %+v, want vtt", u)
	}
	s.fails("unload_memory_profile", `{}`, "give the handle")
	s.fails("list", `{"handle":"vtt"}`, "is not what load_memory_profile gives")
	s.fails("list", `{"handle":"../x@0-00000000"}`, "is not what load_memory_profile gives")
	s.fails("list", `{"handle":"`+strings.Replace(vtt.ProfileHandle, "vtt", "nothing", 1)+
		`"}`, `there is no profile "nothing"`)
	s.fails("list", `{"handle":7}`, "not a text")
	s.fails("list", `{"handle":"`+vtt.ProfileHandle+`","handle":"x"}`, "given twice")
	if n := s.total(`{"handle":null}`); n != 61 {
		t.Errorf("with null for a handle, list sees %d entries, want 61", n)
	}
	s.now = s.now.Add(25 * time.Hour)
	s.fails("list", with, "counts for one day", `load "vtt" again`)
	s.now = s.now.Add(-3 * 24 * time.Hour)
	s.fails("list", with, "counts for one day")
	s.now = s.now.Add(2 * 24 * time.Hour)
	s.write("profiles/vtt.yaml", "name: vtt\ninclude:\n  projects: [vtt]\n  date_range: [2026-01-01, null]\n")
	s.fails("list", with, "before it was edited")
}

func TestLoadWhatIsNotThere(t *testing.T) {
	s := newStudy(t, true)
	s.write("profiles/broken.yaml", "name: broken\nincluded: x\n")
	s.fails("load_memory_profile", `{"name":"vttt"}`, `there is no profile "vttt"; did you mean vtt?`)
	s.fails("load_memory_profile", `{"name":"../vtt"}`, "profile name")
	s.fails("load_memory_profile", `{"name":"broken"}`, "broken.yaml:2")
	s.fails("load_memory_profile", `{"name":"vtt","max_tokens":100}`, "less than 400")
	if s.total(`{}`) != 60 {
		t.Error("a profile that could not be loaded narrows the memory")
	}
	text := prompt.ReporterText(s.load(`{}`))
	for _, w := range []string{"vtt  Builds the tabletop\n", "novel\n", "broken  cannot be loaded"} {
		if !strings.Contains(text, w) {
			t.Errorf("the list is %q, want %q in it", text, w)
		}
	}
	s.workspace.Profiles.IsProfileVisible = func(name string) bool { return name == "novel" }
	s.fails("load_memory_profile", `{"name":"vtt"}`, `there is no profile "vtt"`)
	if got := s.load(`{}`); len(got.Profiles) != 1 || got.Profiles[0].Name != "novel" {
		t.Errorf("the list is %+v, want novel alone", got.Profiles)
	}
	s.workspace.Profiles = nil
	for _, name := range []string{"load_memory_profile", "unload_memory_profile"} {
		if _, err := s.call(name, `{"name":"vtt"}`); !errors.Is(err, oxbow.ErrUnsupported) {
			t.Errorf("%s without profiles = %v, want that it is not supported", name, err)
		}
	}
}

// TestLoadKeepsBudget checks that the whole answer, including the text around the selection, stays within the budget,
// with a margin for the error of the token estimate.
func TestLoadKeepsBudget(t *testing.T) {
	s := newStudy(t, false)
	s.write("plot.md", strings.Repeat("A paragraph of the plot, with some words.\n\n", 40))
	for _, name := range []string{"vtt", "novel"} {
		for _, budget := range []int{400, 401, 450, 600, 777, 1000, 1999, 2000, 5000, 20000} {
			out := s.load(fmt.Sprintf(`{"name":%q,"max_tokens":%d,"query":"scene"}`, name, budget))
			got, most := prompt.EstimateTokens(
				prompt.ReporterText(out),
			), prompt.MaxEstimateWithinBudget(
				min(budget, out.Budget),
			)
			if got > most || out.Tokens > most {
				t.Errorf(
					"%s with %d tokens: the text has %d, says %d, want at most %d",
					name,
					budget,
					got,
					out.Tokens,
					most,
				)
			}
			if budget == 2000 && out.SelectedEntries < 5 {
				t.Errorf(
					"%s with %d tokens holds %d entries: the budget is not used",
					name,
					budget,
					out.SelectedEntries,
				)
			}
		}
	}
	out := s.load(`{"name":"novel","max_tokens":9000}`)
	if out.Budget != 2000 || !strings.Contains(sentences(out.Notes), "lowered to 2000") {
		t.Errorf("loaded %+v, want the profile's own budget, and a word", out)
	}
	if out := s.load(`{"name":"vtt"}`); out.Budget != DefaultProfileTokens {
		t.Errorf("without max_tokens the budget is %d, want %d", out.Budget, DefaultProfileTokens)
	}
	out = s.load(`{"name":"novel","max_tokens":600}`)
	if !strings.Contains(
		prompt.ReporterText(out),
		"did not fit whole; recall finds the rest, or max_tokens up to 2000",
	) {
		t.Errorf("what was cut is not told: %v", out.Notes)
	}
	s.workspace.Profiles.IsDocumentVisible = func(d profile.Document) bool { return d.Path != "SOUL.md" }
	if out := s.load(`{"name":"vtt"}`); strings.Contains(out.SelectedText, "careful") {
		t.Error("a document that may not be shown was")
	}
}

// TestLoadInPages checks that the selection is divided into pages for a client that shows only one page at a time.
// Pages end between entries. An entry that is longer than a page is in a fence on each page.
func TestLoadInPages(t *testing.T) {
	s := newStudy(t, true)
	long := strings.Repeat("A line of the plan.\n", 400) + "```sh\nmake\n```\n" + strings.Repeat("宇", 2000)
	if _, err := s.call(
		"remember",
		args(t, map[string]any{"name": "plan", "content": long, "project": "vtt"}),
	); err != nil {
		t.Fatal(err)
	}
	whole := s.load(`{"name":"vtt","query":"plan"}`).SelectedText
	s.workspace.Page = 2000
	var pages []string
	joined, tokens := "", 0
	for offset := 0; ; {
		out := s.load(fmt.Sprintf(`{"name":"vtt","query":"plan","offset":%d}`, offset))
		page := prompt.ReporterText(out)
		pages, tokens = append(pages, page), tokens+prompt.EstimateTokens(page)
		if len(page) > s.workspace.Page {
			t.Errorf("a page has %d bytes:\n%s", len(page), page)
		}
		if open := openingFenceLineAt(page, len(page)); open != "" || !utf8.ValidString(page) {
			t.Errorf("a page ends in the fence %q:\n%s", open, page)
		}
		// Where two pages meet, the fence is closed and opened again, and nothing else is added.
		body := strings.TrimPrefix(out.SelectedText, openingFenceLineAt(whole, offset))
		end := len(whole)
		if out.NextOffset != 0 {
			end = out.NextOffset
			if !strings.Contains(
				page,
				fmt.Sprintf("bytes %d to %d of %d; the next page has offset %d", offset, end, len(whole), end),
			) {
				t.Errorf("what follows is not said:\n%s", page)
			}
		}
		if !strings.HasPrefix(body, whole[offset:end]) || len(body) > end-offset+len("\n`````\n") {
			t.Errorf("the page from %d to %d is %q", offset, end, body)
		}
		joined += whole[offset:end]
		offset = out.NextOffset
		if offset == 0 {
			break
		}
	}
	if joined != whole || len(pages) < 10 {
		t.Errorf("%d pages join to %d bytes of %d", len(pages), len(joined), len(whole))
	}
	// At each of these offsets, the first complete line of the entry must be in a fence, and no fence may be open at
	// the end of the page.
	for _, offset := range []int{1, 700, 701, 702, 999, strings.Index(whole, "宇") + 1, len(whole) - 1} {
		page := prompt.ReporterText(s.load(fmt.Sprintf(`{"name":"vtt","query":"plan","offset":%d}`, offset)))
		if i := strings.Index(page, "A line of the plan."); (i > 0 && openingFenceLineAt(page, i) == "") ||
			openingFenceLineAt(page, len(page)) != "" || !utf8.ValidString(page) {
			t.Errorf("the page from %d is not fenced, or no text:\n%s", offset, page)
		}
	}
	s.fails("load_memory_profile", `{"name":"vtt","offset":99999999}`, "is not in the text")
	s.fails("load_memory_profile", `{"name":"vtt","offset":-1}`, "is not in the text")
	if u := s.unload(`{}`); u.RemovableTokens < tokens {
		t.Errorf("unload tells of %d tokens, the pages had %d", u.RemovableTokens, tokens)
	}
}

// TestLoadKeepsFewIndexes checks that indexes are kept only for active profiles and for those that were used last.
func TestLoadKeepsFewIndexes(t *testing.T) {
	s := newStudy(t, false)
	m, err := s.workspace.Open(t.Context(), Read)
	if err != nil {
		t.Fatal(err)
	}
	p := s.workspace.Profiles
	busy, release := p.openRestrictedView(m, loadedProfile{name: "busy", scope: scope.Scope{Any: []oxbow.Filter{{}}}})
	for i := range 3 * maxCachedViews {
		v, done := p.openRestrictedView(
			m,
			loadedProfile{name: fmt.Sprint(i), scope: scope.Scope{Any: []oxbow.Filter{{}}}},
		)
		if hits, err := v.Recall(t.Context(), oxbow.Query{Text: "scene"}); err != nil || len(hits) == 0 {
			t.Errorf("Recall = %d hits, %v", len(hits), err)
		}
		done()
	}
	if n := len(p.cachedViews); n != maxCachedViews {
		t.Errorf("%d indexes are kept, want %d", n, maxCachedViews)
	}
	if _, err := busy.Recall(t.Context(), oxbow.Query{Text: "scene"}); err != nil {
		t.Errorf("Recall of the one in use = %v", err)
	}
	release()
	again, release := p.openRestrictedView(m, loadedProfile{name: "busy"})
	defer release()
	if again != busy {
		t.Error("the one in use was not kept")
	}
}

func FuzzHandle(f *testing.F) {
	f.Add("vtt@t8k3sq-1f3c9a0b")
	f.Add("a.b-c_d@0-00000000")
	f.Add("@-")
	f.Add("vtt@zzzzzzzzzzzzzzzzzzzz-1f3c9a0b")
	f.Fuzz(func(t *testing.T, h string) {
		name, at, digest, err := parseHandle(h)
		if err != nil {
			if !errors.Is(err, oxbow.ErrInvalid) {
				t.Errorf("parseHandle(%q) = %v, want an error that matches ErrInvalid", h, err)
			}
			return
		}
		if profile.CheckName(name) != nil {
			t.Errorf("parseHandle(%q) gives the name %q", h, name)
		}
		n, a, d, err := parseHandle(makeHandle(name, at, digest))
		if n != name || !a.Equal(at) || d != digest || err != nil {
			t.Errorf("%q reads back as %q, %v, %q, %v", h, n, a, d, err)
		}
	})
}
