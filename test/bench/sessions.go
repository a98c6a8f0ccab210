// This file implements the command named "sessions". It measures how long it takes to import the transcripts of
// clients.

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
	var src textSource
	src.addTextFlag(fl)
	b.addDirFlag(fl)
	return b.withTempDir("sessions", func(ctx context.Context, dir string) error {
		r, w, _, err := b.prepareSessionImport(ctx, dir, src, 5000, *megabytes, *big)
		if err != nil {
			return err
		}
		b.printf(
			"%s transcripts of five clients, %s MB, the longest %s; %s turns.\n\n",
			formatCount(w.fileCount),
			formatCount(int(w.byteCount>>20)),
			formatCount(int(*big)),
			formatCount(w.turnCount),
		)
		return r.measureImports(ctx, dir, w, *kills)
	})
}

// prepareSessionImport builds oxbow and writes transcripts of a user's sessions. The transcripts' texts come from
// entryCount entries of the source src. The parameter totalMegabytes is the approximate total size of the transcripts,
// in MB. The parameter minFirstMegabytes is the minimum size of the first transcript, in MB. prepareSessionImport
// returns the run, the writer of the transcripts, and the entries.
func (b *bench) prepareSessionImport(
	ctx context.Context,
	dir string,
	src textSource,
	entryCount int,
	totalMegabytes, minFirstMegabytes int64,
) (r importRun, w *transcriptWriter, entries []oxbow.Add, err error) {
	r = importRun{bench: b, user: filepath.Join(dir, "user")}
	r.oxbowPath, err = buildOxbow(ctx, dir, "oxbow", "-trimpath", "-ldflags=-s -w")
	if err != nil {
		return r, nil, nil, err
	}
	entries, _, err = src.readEntries(ctx, entryCount)
	if err != nil {
		return r, nil, nil, err
	}
	w = &transcriptWriter{home: r.user, rng: rand.New(rand.NewPCG(1, 2))}
	for _, e := range entries {
		w.texts = append(w.texts, e.Content)
	}
	if err := w.writeSessions(totalMegabytes<<20, minFirstMegabytes<<20); err != nil {
		return r, nil, nil, fmt.Errorf("writing transcripts: %w", err)
	}
	return r, w, entries, nil
}

// importRun is an import of a user's sessions.
type importRun struct {
	*bench
	oxbowPath, user string
}

type importCost struct {
	elapsedTime, cpu time.Duration
	peakMemoryBytes  int64 // bytes
	turnCount        int
	changedTurnCount int
}

// importSessions imports the sessions into a home. If killAfter is above 0, it kills the process after this time.
func (r importRun) importSessions(
	ctx context.Context,
	home string,
	killAfter time.Duration,
) (c importCost, err error) {
	if killAfter > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, killAfter)
		defer stop()
	}
	p := exec.CommandContext(ctx, r.oxbowPath, "--home", home, "session", "import", "--json")
	p.Env = minimalEnv(os.Getenv, r.user)
	p.Stderr = os.Stderr
	begin := time.Now()
	out, err := p.Output()
	c.elapsedTime = time.Since(begin)
	if killAfter > 0 && ctx.Err() != nil {
		return c, nil
	}
	// Some generated transcripts end with an incomplete line. The import reports such a line and exits with status 1,
	// which is not an error here.
	if err != nil && p.ProcessState.ExitCode() != 1 {
		return c, fmt.Errorf("oxbow session import: %w", err)
	}
	c.cpu = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	c.peakMemoryBytes = peakMemoryBytes(p.ProcessState)
	var said struct {
		Clients []struct{ Turns, Changed int }
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return c, err
	}
	for _, s := range said.Clients {
		c.turnCount, c.changedTurnCount = c.turnCount+s.Turns, c.changedTurnCount+s.Changed
	}
	return c, nil
}

func (r importRun) measureImports(ctx context.Context, dir string, w *transcriptWriter, killCount int) error {
	t := newTable("import", "time", "processor", "MB/s a core", "peak memory", "new turns")
	row := func(what string, c importCost) {
		rate := "–"
		if c.turnCount == w.turnCount {
			rate = fmt.Sprintf("%.0f", float64(w.byteCount)/1e6/c.cpu.Seconds())
		}
		t.addRow(
			what,
			formatDuration(c.elapsedTime),
			formatDuration(c.cpu),
			rate,
			formatPeakMemory(c.peakMemoryBytes),
			formatCount(c.turnCount),
		)
	}
	home := filepath.Join(dir, "home")
	for _, what := range []string{"the first", "the second"} {
		c, err := r.importSessions(ctx, home, 0)
		if err != nil {
			return err
		}
		row(what, c)
		want := w.turnCount
		isFirstWrong := what == "the first" && c.turnCount != want
		isSecondWrong := what == "the second" && c.turnCount+c.changedTurnCount > 0
		if isFirstWrong || isSecondWrong {
			return fmt.Errorf(
				"%s import has %d new turns and %d changed ones; there are %d",
				what,
				c.turnCount,
				c.changedTurnCount,
				want,
			)
		}
	}
	want, err := archiveChecksum(ctx, home)
	if err != nil {
		return err
	}
	if killCount > 0 {
		home = filepath.Join(dir, "killed")
		for i := range killCount {
			if _, err := r.importSessions(ctx, home, time.Duration(200+w.rng.IntN(3_000))*time.Millisecond); err != nil {
				return fmt.Errorf("killing import %d: %w", i, err)
			}
		}
		c, err := r.importSessions(ctx, home, 0)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("after %d that were killed", killCount), c)
		if got, err := archiveChecksum(ctx, home); err != nil || got != want {
			return errors.Join(errors.New("the archive of killed imports is not that of one that ended"), err)
		}
	}
	r.emitTable(t)
	return nil
}

// archiveChecksum returns a checksum over the turns of an archive. It does not depend on the order of the
// sessions.
func archiveChecksum(ctx context.Context, home string) (sum string, err error) {
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
	for _, h := range each { // Combine the hashes of the sessions by XOR, because the sessions have no fixed order.
		for i, c := range h.Sum(nil) {
			total[i] ^= c
		}
	}
	return fmt.Sprintf("%d %x", turns, total), nil
}
