// What an archive of many turns costs: growth, and what the start of a session does.
//
//	go test ./session -run '^$' -bench . -benchtime 200x

package session_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/session"
)

// grown adds sessions of 20 turns to an archive, 1,000 turns at a time, and calls
// fn after each 10,000.
func grown(tb testing.TB, a *session.Archive, turns int, fn func(n int, took time.Duration)) {
	began := time.Now()
	for n := 0; n < turns; n += 1000 {
		var events []session.Event
		for i := n; i < n+1000; i++ {
			e := session.Event{Client: "claude", Session: fmt.Sprintf("178e33fd-%06d", i/20), Turn: fmt.Sprint("p", i), Kind: session.Prompt, Time: at(float64(60 * i)),
				Dir: fmt.Sprint("/src/project", i/20%7), Text: fmt.Sprintf("why does build %d of module %d fail since the change of the parser?", i, i%97)}
			text, run := e, e
			text.Kind, text.ID, text.Time = session.Text, fmt.Sprint("m", i), at(float64(60*i+9))
			text.Text = fmt.Sprintf("The root cause of failure %d was a rounding error in file%d.go; the fix keeps cents as integers.", i, i%1009)
			run.Kind, run.ID, run.Text, run.Time = session.Called, fmt.Sprint("toolu_", i), "", at(float64(60*i+5))
			run.Call = &session.Call{Tool: "Bash", Command: fmt.Sprintf("go test ./pkg%d", i%97)}
			events = append(events, e, text, run)
		}
		if _, err := a.Add(tb.Context(), events); err != nil {
			tb.Fatal(err)
		}
		if (n+1000)%10_000 == 0 && fn != nil {
			fn(n+1000, time.Since(began))
			began = time.Now()
		}
	}
}

// BenchmarkStart is what the start of a session does with 100,000 turns: open,
// drain one event, list, close.
func BenchmarkStart(b *testing.B) {
	home := b.TempDir()
	file, spool := filepath.Join(home, session.StoreFile), session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	m, err := oxbow.Open(file, nil)
	if err != nil {
		b.Fatal(err)
	}
	grown(b, &session.Archive{Memory: m}, 100_000, func(n int, took time.Duration) { b.Logf("to %d turns: %v", n, took) })
	if _, err := m.Recall(b.Context(), oxbow.Query{Text: "rounding"}); err != nil {
		b.Fatal(err)
	}
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
	var all []time.Duration
	for b.Loop() {
		i := len(all)
		if err := spool.Append(session.Event{Client: "claude", Session: fmt.Sprintf("178e33fd-%06d", i%5000), Kind: session.Stop, Time: at(7e6 + float64(i))}); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		m, err := oxbow.Open(file, nil)
		if err != nil {
			b.Fatal(err)
		}
		a := &session.Archive{Memory: m}
		r, err := a.Drain(b.Context(), spool, nil)
		if err != nil || r.Events != 1 {
			b.Fatal(r, err)
		}
		if s, err := a.Sessions(b.Context(), oxbow.Filter{}, time.Time{}, 20); err != nil || len(s) == 0 {
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
