// This file measures the cost of an archive with many turns. It measures how the archive grows, how long the addition
// of a turn to a long session takes, and how long the start of a session takes.
//
//	go test ./session -run '^$' -bench Start -benchtime 200x
//	go test ./session -run '^$' -bench Turn -benchtime 50x

package session_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// grown adds sessions of 20 turns each to an archive, 1,000 turns at a time. It calls fn after every 10,000 turns.
func grown(tb testing.TB, a *session.Archive, turns int, fn func(n int, took time.Duration)) {
	began := time.Now()
	for n := 0; n < turns; n += 1000 {
		var events []session.Event
		for i := n; i < n+1000; i++ {
			e := session.Event{Client: "claude", Session: fmt.Sprintf("178e33fd-%06d", i/20),
				TurnID: fmt.Sprint("p", i), Kind: session.KindPrompt, Time: at(float64(60 * i)),
				Dir:  fmt.Sprint("/src/project", i/20%7),
				Text: fmt.Sprintf("why does build %d of module %d fail since the change of the parser?", i, i%97)}
			text, run := e, e
			text.Kind = session.KindText
			text.ID = fmt.Sprint("m", i)
			text.Time = at(float64(60*i + 9))
			text.Text = fmt.Sprintf(
				"The root cause of failure %d was a rounding error in file%d.go; the fix keeps cents as integers.",
				i,
				i%1009,
			)
			run.Kind = session.KindToolCall
			run.ID = fmt.Sprint("toolu_", i)
			run.Text = ""
			run.Time = at(float64(60*i + 5))
			run.Call = &session.ToolCall{Tool: "Bash", Command: fmt.Sprintf("go test ./pkg%d", i%97)}
			events = append(events, e, text, run)
		}
		if _, err := a.AddEvents(tb.Context(), events); err != nil {
			tb.Fatal(err)
		}
		if (n+1000)%10_000 == 0 && fn != nil {
			fn(n+1000, time.Since(began))
			began = time.Now()
		}
	}
}

// longSession adds a session with the given number of turns, which begin a minute apart and have ten events each. It
// returns a function that returns the events of turn i.
func longSession(tb testing.TB, a *session.Archive, turns int) (turn func(i int) []session.Event) {
	turn = func(i int) []session.Event {
		name, from := fmt.Sprint("p", i), float64(60*i)
		all := []session.Event{
			event(session.KindPrompt, name, "", from, fmt.Sprintf("why does build %d of module %d fail?", i, i%97)),
			event(
				session.KindText,
				name,
				fmt.Sprint("m", i),
				from+9,
				fmt.Sprintf("The root cause of failure %d was a rounding error in file%d.go", i, i%1009),
			),
		}
		for j := range 8 {
			all = append(
				all,
				call(name, fmt.Sprint("toolu_", i, "_", j), from+float64(1+j), fmt.Sprintf("go test ./pkg%d", j)),
			)
		}
		return all
	}
	var events []session.Event
	for i := range turns {
		events = append(events, turn(i)...)
		if i%500 == 499 || i == turns-1 {
			if _, err := a.AddEvents(tb.Context(), events); err != nil {
				tb.Fatal(err)
			}
			events = nil
		}
	}
	return turn
}

// BenchmarkTurn adds a turn to a session that already has many turns.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{500, 2000, 8000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, err := oxbow.Open(filepath.Join(b.TempDir(), session.StoreFile), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			a := &session.Archive{Memory: m}
			turn := longSession(b, a, n)
			for i := n; b.Loop(); i++ {
				if _, err := a.AddEvents(b.Context(), turn(i)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestTurnGrowth tests that adding a turn to a session of 800 turns allocates at most 1.6 times as much memory as
// adding a turn to a session of 400 turns. Only the pages with the hashes of the turns may be longer in the larger
// session.
func TestTurnGrowth(t *testing.T) {
	testenv.SkipInShortMode(t)
	work := func(turns int) (bytes uint64) {
		a := open(t, t.TempDir())
		turn := longSession(t, a, turns)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range 5 {
			if _, err := a.AddEvents(t.Context(), turn(turns+i)); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, two := work(400), work(800); float64(two) > 1.6*float64(one) {
		t.Errorf("a turn more of 800 allocates %d bytes, of 400 %d", two/5, one/5)
	} else {
		t.Logf("a turn more of 800 allocates %d bytes, of 400 %d", two/5, one/5)
	}
}

// BenchmarkStart does the work at the start of a session with 100,000 turns in the archive: open, drain one event,
// list, close.
func BenchmarkStart(b *testing.B) {
	home := b.TempDir()
	file, spool := filepath.Join(home, session.StoreFile), session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	m, err := oxbow.Open(file, nil)
	if err != nil {
		b.Fatal(err)
	}
	grown(b, &session.Archive{Memory: m}, 100_000, func(n int, took time.Duration) {
		b.Logf("to %d turns: %v", n, took)
	})
	if _, err := m.Recall(b.Context(), oxbow.Query{Text: "rounding"}); err != nil {
		b.Fatal(err)
	}
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
	var all []time.Duration
	for b.Loop() {
		i := len(all)
		if err := spool.AppendEvents(session.Event{
			Client:  "claude",
			Session: fmt.Sprintf("178e33fd-%06d", i%5000),
			Kind:    session.KindTurnEnd,
			Time:    at(7e6 + float64(i)),
		}); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		m, err := oxbow.Open(file, nil)
		if err != nil {
			b.Fatal(err)
		}
		a := &session.Archive{Memory: m}
		r, err := a.DrainSpool(b.Context(), spool, nil)
		if err != nil || r.EventCount != 1 {
			b.Fatal(r, err)
		}
		if s, err := a.ListSessions(b.Context(), oxbow.Filter{}, time.Time{}, 20); err != nil || len(s) == 0 {
			b.Fatal(len(s), err)
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*95/100].Microseconds())/1000, "p95-ms")
}
