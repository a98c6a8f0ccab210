// This file implements the command write: the time to make an entry durable.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func write(b *bench, fl *flag.FlagSet) func(context.Context) error {
	sizes := fl.String("n", "100,100000", "entries in the store before, `N,N…`")
	rounds := fl.Int("rounds", 500, "writes to time")
	delay := fl.Duration(
		"sync-delay",
		time.Millisecond,
		"measure groups also on a disk whose sync takes `D` more; 0: do not",
	)
	sqlite := fl.Bool("sqlite", true, "measure SQLite too")
	var src source
	src.addFlags(fl)
	b.dirFlag(fl)
	return func(ctx context.Context) error {
		ns, err := parseNumbers(*sizes)
		if err != nil {
			return err
		}
		if *delay < 0 {
			return errors.New("measuring writes: -sync-delay must not be below 0")
		}
		if *rounds < 1 {
			return errors.New("measuring writes: -rounds must be above 0")
		}
		dir, remove, err := b.temp()
		if err != nil {
			return err
		}
		defer remove()
		const most = 10000 // distinct texts; more entries repeat them
		es, from, err := src.readEntries(ctx, most)
		if err != nil {
			return err
		}
		b.title("write", dir)
		b.printf(
			"Texts are from %s. One round does each row once, in an order that turns from round to round; every row "+
				"has made its bytes durable when its time ends.\n\n",
			from,
		)
		for i, n := range ns {
			w := &writeRun{bench: b, n: n, rounds: *rounds, texts: es, dir: filepath.Join(dir, strconv.Itoa(i))}
			if err := w.run(ctx, *sqlite); err != nil {
				return fmt.Errorf("writing beside %d entries: %w", n, err)
			}
		}
		if *delay > 0 {
			w := &writeRun{bench: b, rounds: *rounds, texts: es, dir: filepath.Join(dir, "slow"), delay: *delay}
			if err := w.runSlow(ctx); err != nil {
				return fmt.Errorf("writing to a slow disk: %w", err)
			}
		}
		return nil
	}
}

// parseNumbers parses a list of numbers that are not negative.
func parseNumbers(s string) ([]int, error) {
	var ns []int
	for f := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("reading -n: %q is not a number from 0 up", f)
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// writer is a way to make an entry durable, with its measured times.
type writer struct {
	name  string
	write func(e oxbow.Add) error
	times timings
}

// writeRun measures writes to a store that contains n entries.
type writeRun struct {
	*bench
	n, rounds int
	texts     []oxbow.Add
	dir       string
	delay     time.Duration // additional time of each sync

	path  string
	m     *oxbow.Memory
	acked int // entries that the store has acknowledged
}

func (w *writeRun) run(ctx context.Context, sqlite bool) (err error) {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	w.path = filepath.Join(w.dir, "memory.oxbow")
	w.m, err = oxbow.Open(w.path, nil)
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, w.m.Close())
		}
	}()
	w.logf("write: filling a store with %s entries", count(w.n))
	before := stretch(w.texts, w.n)
	if err := fill(ctx, w.m, before); err != nil {
		return err
	}
	w.acked = w.n
	// The first recall creates the index, which each later write updates.
	if _, err := w.m.Recall(ctx, oxbow.Query{Text: "warm up"}); err != nil {
		return err
	}
	if err := w.single(ctx, before, sqlite); err != nil {
		return err
	}
	if err := w.measureGroups(ctx); err != nil {
		return err
	}
	closed = true
	if err := w.m.Close(); err != nil {
		return err
	}
	return w.verify(ctx)
}

// fresh returns the i-th entry to write, with a unique name.
func (w *writeRun) fresh(group string, i int) oxbow.Add {
	e := w.texts[i%len(w.texts)]
	e.Name = fmt.Sprintf("%s %d", group, i)
	return e
}

// logBytes returns the size of the log's records in bytes.
func (w *writeRun) logBytes(ctx context.Context) (int64, error) {
	s, err := w.m.Stats(ctx)
	return s.Used, err
}

// single times one write at a time, and with each write the bare cost of writing as many bytes.
func (w *writeRun) single(ctx context.Context, before []oxbow.Add, sqlite bool) (err error) {
	var size int // number of bytes that this round adds to the log
	more := 0    // additional bytes of a write besides name and content
	ox := &writer{name: "oxbow, with its index", write: func(e oxbow.Add) error { return w.m.Apply(ctx, e) }}
	bare, err := bareWriters(w.dir, w.rounds, &size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	rows := []*writer{ox, bare.over, bare.app}
	if sqlite {
		w.logf("write: filling SQLite")
		db, err := openSQLite(ctx, filepath.Join(w.dir, "peer.sqlite"), before)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			w.logf("write: SQLite left out: %v", err)
		case err != nil:
			return err
		default:
			defer func() { err = errors.Join(err, db.close()) }()
			rows = append(
				rows,
				&writer{name: "SQLite, WAL, synchronous=FULL, no text index", write: func(e oxbow.Add) error {
					return db.add(ctx, e)
				}},
			)
		}
	}
	w.logf("write: timing")
	const warm = 20
	start, err := w.logBytes(ctx) // size of the log before the timed writes
	if err != nil {
		return err
	}
	for i := range warm + w.rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i == warm {
			for _, r := range rows {
				r.times = nil
			}
			bare.rewind()
			start, err = w.logBytes(ctx)
			if err != nil {
				return err
			}
		}
		e := w.fresh("single", i)
		size = more + len(e.Content) + len(e.Name)
		for j := range rows {
			r := rows[(i+j)%len(rows)]
			if err := r.times.add(func() error { return r.write(e) }); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		w.acked++
		// Read the size only during the warm-up, because the write after a request for the size of the
		// log is slower.
		if i < warm {
			was := start
			start, err = w.logBytes(ctx)
			if err != nil {
				return err
			}
			more = int(start-was) - len(e.Content) - len(e.Name)
		}
	}
	end, err := w.logBytes(ctx)
	if err != nil {
		return err
	}
	w.printf("### One durable write beside %s entries\n\n", count(w.n))
	t := newTable(
		fmt.Sprintf("%s writes of %s bytes on average", count(w.rounds), count(int(end-start)/w.rounds)),
		"p10",
		"p50",
		"p90",
		"p99",
		"p10 × append",
		"p50 × append",
		"p50 × overwrite",
	)
	for _, r := range rows {
		p10, p50 := r.times.quantile(.1), r.times.p50()
		t.row(r.name, span(p10), span(p50), span(r.times.quantile(.9)), span(r.times.quantile(.99)),
			ratio(p10, bare.app.times.quantile(.1)), ratio(p50, bare.app.times.p50()),
			ratio(p50, bare.over.times.p50()))
	}
	w.emit(t)
	return nil
}

// bare measures the physical cost: appending bytes to a file, and overwriting bytes of a file that has
// been filled with zeros.
type bare struct {
	app, over         *writer
	appended, zeros   *os.File
	appendAt, zerosAt int64
}

// zerosBytes is the number of bytes that are prepared for each overwrite.
const zerosBytes = 8 << 10

// bareWriters creates the two files in dir. Each write has *size bytes.
func bareWriters(dir string, rounds int, size *int) (*bare, error) {
	b := new(bare)
	var err error
	b.appended, err = os.Create(filepath.Join(dir, "append"))
	if err != nil {
		return nil, err
	}
	b.zeros, err = os.Create(filepath.Join(dir, "overwrite"))
	if err != nil {
		return nil, errors.Join(err, b.appended.Close())
	}
	chunk := make([]byte, zerosBytes)
	for range rounds {
		if _, err := b.zeros.Write(chunk); err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	if err := b.zeros.Sync(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	payload := []byte(strings.Repeat("0123456789abcdef", zerosBytes/16))
	put := func(f *os.File, at *int64) error {
		p := payload[:min(max(*size, 1), len(payload))]
		if _, err := f.WriteAt(p, *at); err != nil {
			return err
		}
		*at += int64(len(p))
		return f.Sync()
	}
	b.app = &writer{name: "bare append and fsync of as many bytes: the file grows", write: func(oxbow.Add) error {
		return put(b.appended, &b.appendAt)
	}}
	b.over = &writer{name: "bare overwrite of zeros and fsync: it has its size", write: func(oxbow.Add) error {
		return put(b.zeros, &b.zerosAt)
	}}
	return b, nil
}

// rewind makes the next overwrite start at the beginning of the file.
func (b *bare) rewind() { b.zerosAt = 0 }

func (b *bare) close() error { return errors.Join(b.appended.Close(), b.zeros.Close()) }

// verify opens the store again and compares it with the number of acknowledged entries.
func (w *writeRun) verify(ctx context.Context) (err error) {
	m, err := oxbow.Open(w.path, &oxbow.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	n := 0
	for _, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		n++
	}
	if n != w.acked {
		return fmt.Errorf("the store holds %d entries after %d were acknowledged", n, w.acked)
	}
	if c, ok := m.Store().(oxbow.Checker); ok {
		report, err := c.Check(ctx)
		if err != nil {
			return err
		}
		if len(report.Problems) > 0 {
			return fmt.Errorf("the store is damaged at byte %d: %s", report.Problems[0].Offset, report.Problems[0].What)
		}
	}
	w.printf("Opened again: all %s acknowledged entries are there, and the check finds no problem.\n\n", count(n))
	return nil
}
