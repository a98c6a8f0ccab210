// This file implements the command sessions: the cost of importing the transcripts of clients.

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

func sessionsCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	megabytes := fl.Int64("mb", 200, "megabytes of transcripts")
	big := fl.Int64("big", 50, "megabytes of the longest one")
	kills := fl.Int("kills", 0, "how often an import is killed, before one that ends; its archive is compared")
	var src source
	src.textFlag(fl)
	b.dirFlag(fl)
	return b.inTemp("sessions", func(ctx context.Context, dir string) error {
		r, w, _, err := b.prepareImport(ctx, dir, src, 5000, *megabytes, *big)
		if err != nil {
			return err
		}
		b.printf(
			"%s transcripts of five clients, %s MB, the longest %s; %s turns.\n\n",
			count(w.files),
			count(int(w.bytes>>20)),
			count(int(*big)),
			count(w.turns),
		)
		return r.measure(ctx, dir, w, *kills)
	})
}

// prepareImport builds oxbow and writes a user's transcripts from the texts of n entries. It returns both.
func (b *bench) prepareImport(
	ctx context.Context,
	dir string,
	src source,
	n int,
	megabytes, big int64,
) (r importRun, w *writtenSessions, es []oxbow.Add, err error) {
	r = importRun{bench: b, user: filepath.Join(dir, "user")}
	r.oxbow, err = buildOxbow(ctx, dir, "oxbow", "-trimpath", "-ldflags=-s -w")
	if err != nil {
		return r, nil, nil, err
	}
	es, _, err = src.readEntries(ctx, n)
	if err != nil {
		return r, nil, nil, err
	}
	w = &writtenSessions{home: r.user, rng: rand.New(rand.NewPCG(1, 2))}
	for _, e := range es {
		w.texts = append(w.texts, e.Content)
	}
	if err := w.write(megabytes<<20, big<<20); err != nil {
		return r, nil, nil, fmt.Errorf("writing transcripts: %w", err)
	}
	return r, w, es, nil
}

// importRun is an import of a user's sessions.
type importRun struct {
	*bench
	oxbow, user string
}

type importCost struct {
	clock, cpu time.Duration
	peak       int64 // bytes
	turns      int
	changed    int
}

// once imports the sessions into a home. If killAfter is above 0, it kills the process after this time.
func (r importRun) once(ctx context.Context, home string, killAfter time.Duration) (c importCost, err error) {
	if killAfter > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, killAfter)
		defer stop()
	}
	p := exec.CommandContext(ctx, r.oxbow, "--home", home, "session", "import", "--json")
	p.Env = bareEnv(os.Getenv, r.user)
	p.Stderr = os.Stderr
	begin := time.Now()
	out, err := p.Output()
	c.clock = time.Since(begin)
	if killAfter > 0 && ctx.Err() != nil {
		return c, nil
	}
	// Some generated transcripts end with an incomplete line, which the import names with exit status 1.
	if err != nil && p.ProcessState.ExitCode() != 1 {
		return c, fmt.Errorf("oxbow session import: %w", err)
	}
	c.cpu = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	c.peak = peakMemory(p.ProcessState)
	var said struct {
		Clients []struct{ Turns, Changed int }
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return c, err
	}
	for _, s := range said.Clients {
		c.turns, c.changed = c.turns+s.Turns, c.changed+s.Changed
	}
	return c, nil
}

func (r importRun) measure(ctx context.Context, dir string, w *writtenSessions, kills int) error {
	t := newTable("import", "time", "processor", "MB/s a core", "peak memory", "new turns")
	row := func(what string, c importCost) {
		rate := "–"
		if c.turns == w.turns {
			rate = fmt.Sprintf("%.0f", float64(w.bytes)/1e6/c.cpu.Seconds())
		}
		t.row(what, span(c.clock), span(c.cpu), rate, peak(c.peak), count(c.turns))
	}
	home := filepath.Join(dir, "home")
	for _, what := range []string{"the first", "the second"} {
		c, err := r.once(ctx, home, 0)
		if err != nil {
			return err
		}
		row(what, c)
		want := w.turns
		isFirstWrong := what == "the first" && c.turns != want
		isSecondWrong := what == "the second" && c.turns+c.changed > 0
		if isFirstWrong || isSecondWrong {
			return fmt.Errorf(
				"%s import has %d new turns and %d changed ones; there are %d",
				what,
				c.turns,
				c.changed,
				want,
			)
		}
	}
	want, err := archiveSum(ctx, home)
	if err != nil {
		return err
	}
	if kills > 0 {
		home = filepath.Join(dir, "killed")
		for i := range kills {
			if _, err := r.once(ctx, home, time.Duration(200+w.rng.IntN(3_000))*time.Millisecond); err != nil {
				return fmt.Errorf("killing import %d: %w", i, err)
			}
		}
		c, err := r.once(ctx, home, 0)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("after %d that were killed", kills), c)
		if got, err := archiveSum(ctx, home); err != nil || got != want {
			return errors.Join(errors.New("the archive of killed imports is not that of one that ended"), err)
		}
	}
	r.emit(t)
	return nil
}

// archiveSum returns a checksum over the turns of an archive. It does not depend on the order of the
// sessions.
func archiveSum(ctx context.Context, home string) (sum string, err error) {
	m, err := oxbow.Open(filepath.Join(home, session.StoreFile), &oxbow.Options{ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer m.Close()
	a := &session.Archive{Memory: m}
	all, err := a.ListSessions(ctx, oxbow.Filter{}, time.Time{}, 1<<30)
	if err != nil {
		return "", err
	}
	each := map[string]hash.Hash{}
	turns := 0
	for _, s := range all {
		h := sha256.New()
		each[s.Client+"/"+s.Session] = h
		ts, err := a.ReadTurns(ctx, s.Client, s.Session)
		if err != nil {
			return "", err
		}
		for _, t := range ts {
			h.Write([]byte(t.Content()))
		}
		turns += len(ts)
	}
	total := make([]byte, sha256.Size)
	for _, h := range each { // XOR, because the sessions have no order
		for i, c := range h.Sum(nil) {
			total[i] ^= c
		}
	}
	return fmt.Sprintf("%d %x", turns, total), nil
}
