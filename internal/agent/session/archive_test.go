// This file tests the archive of sessions. It tests how turns are stored as entries, how events are moved from the
// spool (the files of new events) to the archive, and what happens if processes are killed at any time.

package session_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/store/storetest"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// open opens the archive of a home. When the test ends, it checks the store.
func open(t *testing.T, home string) *session.Archive {
	t.Helper()
	m := storetest.Open(t, filepath.Join(home, session.StoreFile), nil)
	return &session.Archive{
		Memory:      m,
		FindProject: func(dir string) (string, string) { return filepath.Base(dir), dir },
	}
}

func add(t *testing.T, a *session.Archive, want string, events ...session.Event) {
	t.Helper()
	r, err := a.AddEvents(t.Context(), events)
	if got := fmt.Sprintf("%d new, %d changed", r.NewTurns, r.ChangedTurns); err != nil || got != want {
		t.Fatalf("Add = %s, %v; want %s", got, err, want)
	}
}

func TestArchive(t *testing.T) {
	a := open(t, t.TempDir())
	prompt := event(session.KindPrompt, "p1", "", 0, "why does the build fail")
	prompt.Dir, prompt.Branch = "/src/shop", "main"
	test := exited(call("p1", "c1", 5, "go test ./..."), 1)
	test.Dir = "/src/shop"
	test.Call.Failed = true
	test.Call.Output = "--- FAIL: TestPay (0.03s)\nFAIL"
	edit := event(session.KindToolCall, "p1", "c2", 6, "")
	edit.Call = &session.ToolCall{
		Tool:         "Edit",
		WrittenFiles: []string{"/src/shop/pay/pay.go"},
		ReadFiles:    []string{"/etc/hosts"},
	}
	noted := event(session.KindToolCall, "p1", "c3", 6, "")
	noted.Call = &session.ToolCall{Tool: "mcp__oxbow__remember"}
	a.FindCommits = func(dir string, from, to time.Time) []string {
		return []string{"3f2a of " + dir, fmt.Sprint(to.Sub(from))}
	}
	add(t, a, "1 new, 0 changed", prompt, test)
	add(t, a, "0 new, 0 changed", test, prompt)
	add(
		t,
		a,
		"1 new, 1 changed",
		edit,
		noted,
		event(session.KindText, "p1", "m1", 7, "The root cause was a rounding error."),
		event(session.KindPrompt, "p2", "", 60, "thanks"),
	)

	e, err := a.Memory.Get(t.Context(), "claude/s/0001")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := session.ReadableText(
		e.Content,
	), "user: why does the build fail\n\nassistant: The root cause was a rounding error.\n\n--- FAIL: TestPay "+
		"(0.03s)\nFAIL"; got != want {
		t.Errorf("content = %q, want %q", got, want)
	}
	want := `branch:main call:c3 client:claude cmd:"go test ./..." commit:"3f2a of /src/shop" commit:7s error:"--- FAIL: TestPay (N)" exit:1 file:/etc/hosts file:pay/pay.go project:shop session:s taint:"Edit /etc/hosts" test:fail tool:Bash tool:Edit tool:mcp__oxbow__remember turn:1`
	if got := fmt.Sprint(e.Labels); got != "["+want+"]" {
		t.Errorf("labels = %s\nwant %s", got, want)
	}
	// Recall indexes only the texts of a turn, so the indexed turn has at most 100 terms.
	hits, err := a.Memory.Recall(t.Context(), oxbow.Query{Text: "rounding", Explain: true, Filter: session.TurnFilter})
	if err != nil || len(hits) != 1 || hits[0].Entry.Name != "claude/s/0001" {
		t.Fatalf("Recall = %v, %v", hits, err)
	}
	if n := hits[0].Explanation.Length; n > 100 {
		t.Errorf("the turn is %v terms long", n)
	}
	all, err := a.ListSessions(t.Context(), oxbow.Filter{}, time.Time{}, 10)
	if err != nil || len(all) != 1 || all[0].TurnCount != 2 || all[0].FirstPrompt != "why does the build fail" ||
		all[0].Project != "shop" || !all[0].LastTime.Equal(at(60)) {
		t.Errorf("Sessions = %+v, %v", all, err)
	}
	if some, err := a.ListSessions(t.Context(), oxbow.Filter{}, at(61), 10); err != nil || len(some) != 0 {
		t.Errorf("Sessions since later = %+v, %v", some, err)
	}
	// A new turn before the existing turns renumbers them.
	add(t, a, "1 new, 2 changed", event(session.KindPrompt, "p0", "", -3600, "hello"))
	turns, err := a.ReadTurns(t.Context(), "claude", "s")
	if err != nil || len(turns) != 3 || turns[0].Prompt() != "hello" || turns[2].Prompt() != "thanks" {
		t.Errorf("Turns = %v, %v", shown(turns), err)
	}
	if n, err := a.RemoveSession(t.Context(), "claude", "s"); n != 3 || err != nil {
		t.Errorf("Forget = %d, %v", n, err)
	}
	if turns, err := a.ReadTurns(t.Context(), "claude", "s"); len(turns) > 0 || err != nil {
		t.Errorf("after Forget: %v, %v", turns, err)
	}
}

// contents returns the names, labels and contents of all entries in an archive, except cursors.
func contents(t *testing.T, a *session.Archive) string {
	t.Helper()
	var lines []string
	for e, err := range a.Memory.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(e.Name, "cursor/") {
			lines = append(lines, fmt.Sprintf("%s %v\n%s\n", e.Name, e.Labels, e.Content))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// TestArchiveEmptySession tests that a session that ended before anything was said or done is not stored. A session
// that continues, and the end of a session that was stored before, are stored.
func TestArchiveEmptySession(t *testing.T) {
	a := open(t, t.TempDir())
	begun := event(session.KindSessionStart, "", "", 0, "startup")
	ended := event(session.KindSessionEnd, "", "", 9, "other")
	add(t, a, "0 new, 0 changed", ended)
	add(t, a, "0 new, 0 changed", begun, ended)
	add(t, a, "1 new, 0 changed", begun)
	add(t, a, "0 new, 1 changed", ended)
	add(t, a, "0 new, 1 changed", event(session.KindPrompt, "p1", "", 3, "thanks"))
}

// TestArchiveOrder tests that the archive's contents do not depend on the order in which events are added. They also do
// not depend on repetitions: adding an event twice has the same result as adding it once.
func TestArchiveOrder(t *testing.T) {
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 2))
		events := randomEvents(r)
		one, parts := open(t, t.TempDir()), open(t, t.TempDir())
		if _, err := one.AddEvents(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		again := slices.Concat(events, events)
		r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		for len(again) > 0 {
			n := 1 + r.IntN(len(again))
			if _, err := parts.AddEvents(t.Context(), again[:n]); err != nil {
				t.Fatal(err)
			}
			again = again[n:]
		}
		if got, want := contents(t, parts), contents(t, one); got != want {
			t.Fatalf("seed %d: in parts\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// randomDay returns the reports of a session that lasts hours, nearly in the order of time. Most reports belong to the
// last turns, and some to much earlier turns. Some reports name neither their turn nor an ID.
func randomDay(r *rand.Rand) (all []session.Event) {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	named := r.IntN(3) // how often the client names turns: never, mostly or always
	now := 0.0
	for i := range 60 + r.IntN(120) {
		now += float64(20 + r.IntN(700))
		turn, id := fmt.Sprint("p", i), fmt.Sprint("u", i)
		if named == 0 || (named == 1 && r.IntN(4) == 0) {
			turn = ""
		}
		p := event(session.KindPrompt, turn, id, now, pick("continue", "continue", "go on", fmt.Sprint("step ", i)))
		all = append(all, p)
		if r.IntN(3) == 0 { // A hook reports the same prompt without identifiers.
			p.TurnID, p.ID, p.Time = "", "", p.Time.Add(time.Second)
			all = append(all, p)
		}
		for j := range r.IntN(5) {
			c := call(turn, fmt.Sprint("c", i, ".", j), now+float64(j), pick("ls", "go test"))
			if r.IntN(40) == 0 {
				c.ID = "c7.1" // The call has the ID of a call in another turn.
			}
			all = append(all, c)
			if late := exited(c, r.IntN(2)); r.IntN(3) == 0 {
				late.TurnID, late.Time = "", c.Time.Add(time.Duration(r.IntN(1+r.IntN(20_000)))*time.Second)
				all = append(all, late)
			}
		}
		if r.IntN(3) == 0 {
			all = append(
				all,
				put(
					turn,
					fmt.Sprint("i", i),
					now+1,
					"Done, in the end.",
					session.Injection{HookEvent: "prompt", ShownEntries: []session.ShownEntry{roundingNote}},
				),
			)
		}
		all = append(
			all,
			event(session.KindText, turn, fmt.Sprint("m", i), now+9, pick("Done.", "The end.")),
			event(session.KindTurnEnd, turn, "", now+10, ""),
		)
	}
	at := func(e session.Event) time.Duration { return e.Time.Sub(day) + time.Duration(r.IntN(90))*time.Second }
	come := map[int]time.Duration{}
	order := make([]int, len(all))
	for i := range all {
		order[i], come[i] = i, at(all[i])
		if r.IntN(60) == 0 {
			come[i] += time.Duration(r.IntN(40_000)) * time.Second
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(come[a], come[b]) })
	sorted := make([]session.Event, len(all))
	for i, o := range order {
		sorted[i] = all[o]
	}
	return sorted
}

// TestArchiveDay adds the events of a long session to one archive at once, and to another archive in parts of random
// size. Both archives must contain the same entries.
func TestArchiveDay(t *testing.T) {
	testenv.SkipInShortMode(t)
	for seed := range uint64(testenv.RepeatCount(4, 28)) {
		r := rand.New(rand.NewPCG(seed, 3))
		events := randomDay(r)
		one, parts := open(t, t.TempDir()), open(t, t.TempDir())
		if _, err := one.AddEvents(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		for rest := events; len(rest) > 0; {
			n := min(1+r.IntN(60), len(rest))
			if _, err := parts.AddEvents(t.Context(), rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got, want := contents(t, parts), contents(t, one); got != want {
			a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Fatalf("seed %d: in parts, line %d is\n%s\nwant\n%s", seed, i, a[i], b[i])
				}
			}
			t.Fatalf("seed %d: in parts, %d lines, want %d", seed, len(a), len(b))
		}
		if n, err := parts.RemoveSession(t.Context(), "claude", "s"); err != nil || n < 60 ||
			contents(t, parts) != "" {
			t.Errorf("Forget = %d, %v, and left %q", n, err, contents(t, parts))
		}
	}
}

// lines returns a TranscriptReader for a transcript with *n prompts. Each call of the reader returns up to three
// prompts, and none after the last prompt. The parameter n is a pointer, so that a test can add prompts between calls.
func lines(n *int) session.TranscriptReader {
	return func(_ context.Context, client, path, cursor string) (events []session.Event, next string, err error) {
		from, _ := strconv.Atoi(cursor)
		to := min(from+3, *n)
		for i := from; i < to; i++ {
			events = append(
				events,
				session.Event{Client: client, Session: "s", Kind: session.KindPrompt, TurnID: fmt.Sprint("t", i),
					ID: fmt.Sprint("u", i), Time: at(float64(i)), Text: fmt.Sprint("prompt ", i)},
			)
		}
		return events, strconv.Itoa(to), nil
	}
}

func TestDrain(t *testing.T) {
	home := t.TempDir()
	a := open(t, home)
	spool := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	n := 7
	drain := func(want string) {
		t.Helper()
		r, err := a.DrainSpool(t.Context(), spool, lines(&n))
		if got := fmt.Sprintf("%d new, %d changed", r.NewTurns, r.ChangedTurns); err != nil || got != want {
			t.Errorf("Drain = %s, %v; want %s", got, err, want)
		}
	}
	drain("0 new, 0 changed") // There is no spool yet.
	hook := session.Event{Client: "gemini", Session: "s", Kind: session.KindPrompt, Text: "prompt 0", Time: at(0.1),
		TranscriptPath: "/t.jsonl"}
	for range 2 {
		if err := spool.AppendEvents(hook); err != nil {
			t.Fatal(err)
		}
	}
	drain("7 new, 1 changed") // The turn that the hook reported is the transcript's first turn.
	drain("0 new, 0 changed")
	n = 8
	hook.Kind = session.KindTurnEnd
	hook.Text = ""
	hook.Time = at(8.5)
	if err := spool.AppendEvents(hook); err != nil {
		t.Fatal(err)
	}
	drain("1 new, 2 changed")
	if turns, err := a.ReadTurns(t.Context(), "gemini", "s"); err != nil || len(turns) != 8 {
		t.Errorf("Turns = %s, %v", shown(turns), err)
	}
	files, err := os.ReadDir(spool.Dir)
	if err != nil || len(files) != 1 {
		t.Errorf("the spool holds %v, %v; want the lock alone", files, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := spool.AppendEvents(hook); err != nil {
		t.Fatal(err)
	}
	if _, err := a.DrainSpool(ctx, spool, nil); err != context.Canceled {
		t.Errorf("Drain without time = %v", err)
	}
	drain("0 new, 0 changed")
}

// TestImportTranscriptChanges imports a transcript whose lines are read in three parts. Each part must be one change of
// the archive's memory, which contains the turns of the part and the position in the transcript. If another writer
// changes a session while the import writes a turn, neither the turn nor the position may be lost.
func TestImportTranscriptChanges(t *testing.T) {
	a := open(t, t.TempDir())
	n := 8
	countChanges := func() (count int) {
		for _, err := range a.Memory.Log(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			count++
		}
		return count
	}
	importAll := func(read session.TranscriptReader, want string) {
		t.Helper()
		r, err := a.ImportTranscript(t.Context(), "gemini", "/t.jsonl", read)
		got := fmt.Sprintf("%d new, %d changed, %d sessions", r.NewTurns, r.ChangedTurns, len(r.ChangedSessions))
		if err != nil || got != want {
			t.Errorf("ImportTranscript = %s, %v; want %s", got, err, want)
		}
	}
	importAll(lines(&n), "8 new, 0 changed, 1 sessions")
	if got := countChanges(); got != 3 {
		t.Errorf("the import made %d changes, want 3", got)
	}
	importAll(lines(&n), "0 new, 0 changed, 0 sessions")
	if got := countChanges(); got != 3 {
		t.Errorf("after an import without new lines there are %d changes, want 3", got)
	}

	n = 11
	read := lines(&n)
	fromOther := event(session.KindPrompt, "t10", "u10", 10, "prompt 10")
	fromOther.Client = "gemini"
	isFirst := true
	// MakeLabels is called after the session was read, and before it is written.
	a.MakeLabels = func(*session.Turn) []oxbow.Label {
		if isFirst {
			isFirst = false
			other := &session.Archive{Memory: a.Memory, FindProject: a.FindProject}
			if _, err := other.AddEvents(t.Context(), []session.Event{fromOther}); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	importAll(read, "2 new, 1 changed, 1 sessions")
	if turns, err := a.ReadTurns(t.Context(), "gemini", "s"); err != nil || len(turns) != n {
		t.Errorf("ReadTurns = %s, %v; want %d turns", shown(turns), err, n)
	}
	importAll(read, "0 new, 0 changed, 0 sessions")
}

// roleVariable is the environment variable that tells this test program which process to be.
const roleVariable = "OXBOW_TEST_ROLE"

func TestMain(m *testing.M) {
	home := os.Getenv("OXBOW_TEST_HOME")
	spool := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	switch role, from, _ := strings.Cut(os.Getenv(roleVariable), " "); role {
	case "hook": // The process appends events, and prints which were acknowledged.
		first, _ := strconv.Atoi(from)
		for i := first; i < first+10_000; i++ {
			e := session.Event{Client: "claude", Session: fmt.Sprint("s", i%2), Kind: session.KindPrompt,
				TurnID: fmt.Sprint("p", i), Text: fmt.Sprint("prompt ", i), Time: at(float64(i))}
			in := e
			in.Kind = session.KindInjection
			in.ID = fmt.Sprint("i", i)
			in.Text = "Perhaps useful."
			in.Injection = &session.Injection{HookEvent: "prompt", TokenCount: i}
			if err := cmp.Or(spool.AppendEvents(e), spool.AppendEvents(in)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(i)
		}
	case "drain":
		m, err := oxbow.Open(filepath.Join(home, session.StoreFile), nil)
		for err == nil {
			_, err = (&session.Archive{Memory: m}).DrainSpool(context.Background(), spool, nil)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	default:
		os.Exit(m.Run())
	}
}

// TestKilled starts processes that add events to the spool ("hook") and processes that move the events from the spool
// to the archive ("drain"). It kills all of these processes at various times. The archive must contain each
// acknowledged event exactly once, and no event twice.
func TestKilled(t *testing.T) {
	home := t.TempDir()
	rounds := testenv.RepeatCount(4, 20)
	if testing.Short() {
		rounds = 3
	}
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	for round := range rounds {
		var done sync.WaitGroup
		for i, role := range []string{"hook", "hook", "drain", "drain"} {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "OXBOW_TEST_HOME="+
				home, fmt.Sprintf("%s=%s %d", roleVariable, role, 100_000*(2*round+i)))
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			done.Go(func() {
				kill := time.AfterFunc(time.Duration(60+37*((round*4+i)%5))*time.Millisecond, func() {
					_ = cmd.Process.Kill()
				})
				defer kill.Stop()
				buf := make([]byte, 0, 1<<20)
				for len(buf) < cap(buf) {
					n, err := out.Read(buf[len(buf):cap(buf)])
					buf = buf[:len(buf)+n]
					if err != nil {
						break
					}
				}
				_ = cmd.Wait()
				mu.Lock()
				defer mu.Unlock()
				for line := range strings.Lines(string(buf)) {
					if s, whole := strings.CutSuffix(line, "\n"); whole {
						acknowledged["p"+s] = true
					}
				}
			})
		}
		done.Wait()
	}
	a := open(t, home)
	if _, err := a.DrainSpool(t.Context(), session.Spool{Dir: filepath.Join(home, session.SpoolDir)}, nil); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, s := range []string{"s0", "s1"} {
		turns, err := a.ReadTurns(t.Context(), "claude", s)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			seen[turn.PromptID]++
			for _, e := range turn.InjectionEvents() {
				seen["injection "+turn.PromptID]++
				if fmt.Sprint("p", e.Injection.TokenCount) != turn.PromptID || e.Text != "Perhaps useful." {
					t.Errorf("turn %s has the injection %+v", turn.PromptID, e)
				}
			}
		}
	}
	for id := range acknowledged {
		if seen[id] != 1 || seen["injection "+id] != 1 {
			t.Errorf(
				"turn %s was acknowledged, and is there %d times, its injection %d",
				id,
				seen[id],
				seen["injection "+id],
			)
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
	if len(acknowledged) < rounds {
		t.Errorf("only %d events were acknowledged", len(acknowledged))
	}
	t.Logf("%d acknowledged, %d turns", len(acknowledged), len(seen))
}
