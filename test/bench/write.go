// This file implements the command write, which measures the time until a written entry is on stable storage.

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

func writeCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	sizes := fl.String("n", "100,100000", "entries in the store before, `N,N…`")
	rounds := fl.Int("rounds", 500, "writes to time")
	delay := fl.Duration(
		"sync-delay",
		time.Millisecond,
		"measure groups also on a disk whose sync takes `D` more; 0: do not",
	)
	sqlite := fl.Bool("sqlite", true, "measure SQLite too")
	var src textSource
	src.addFlags(fl)
	b.addDirFlag(fl)
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
		dir, remove, err := b.tempDir()
		if err != nil {
			return err
		}
		defer remove()
		const most = 10000 // number of different texts that are read; if more entries are needed, texts are used again
		es, from, err := src.readEntries(ctx, most)
		if err != nil {
			return err
		}
		b.printTitle("write", dir)
		b.printf(
			"Texts are from %s. One round does each row once, in an order that turns from round to round; every row "+
				"has made its bytes durable when its time ends.\n\n",
			from,
		)
		for i, n := range ns {
			w := &writeRun{
				bench:      b,
				entryCount: n,
				rounds:     *rounds,
				texts:      es,
				dir:        filepath.Join(dir, strconv.Itoa(i)),
			}
			if err := w.run(ctx, *sqlite); err != nil {
				return fmt.Errorf("writing beside %d entries: %w", n, err)
			}
		}
		if *delay > 0 {
			w := &writeRun{bench: b, rounds: *rounds, texts: es, dir: filepath.Join(dir, "slow"), syncDelay: *delay}
			if err := w.runOnSlowDisk(ctx); err != nil {
				return fmt.Errorf("writing to a slow disk: %w", err)
			}
		}
		return nil
	}
}

// parseNumbers returns the numbers in a list such as "0, 1000", which are separated by commas. It returns an error if
// an element is not a number, or is negative.
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

// durableWriter is a way to make an entry durable, with its measured times.
type durableWriter struct {
	name       string
	writeEntry func(e oxbow.Add) error
	times      timings
}

// writeRun measures writes to a store that contains entryCount entries.
type writeRun struct {
	*bench
	entryCount, rounds int
	texts              []oxbow.Add
	dir                string
	syncDelay          time.Duration // time by which each sync is delayed

	memoryPath             string
	memory                 *oxbow.Memory
	acknowledgedEntryCount int // number of entries that the store has acknowledged
}

func (w *writeRun) run(ctx context.Context, withSQLite bool) (err error) {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	w.memoryPath = filepath.Join(w.dir, "memory.oxbow")
	w.memory, err = oxbow.Open(w.memoryPath, nil)
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, w.memory.Close())
		}
	}()
	w.logf("write: filling a store with %s entries", formatCount(w.entryCount))
	before := repeatEntries(w.texts, w.entryCount)
	if err := fillMemory(ctx, w.memory, before); err != nil {
		return err
	}
	w.acknowledgedEntryCount = w.entryCount
	// The first recall creates the search index. From then on, each write also updates the index, so that the measured
	// cost of a write includes the update.
	if _, err := w.memory.Recall(ctx, oxbow.Query{Text: "warm up"}); err != nil {
		return err
	}
	if err := w.measureSingleWrites(ctx, before, withSQLite); err != nil {
		return err
	}
	if err := w.measureConcurrentWrites(ctx); err != nil {
		return err
	}
	closed = true
	if err := w.memory.Close(); err != nil {
		return err
	}
	return w.verifyStore(ctx)
}

// newEntry returns the i-th entry to write, with a unique name.
func (w *writeRun) newEntry(namePrefix string, i int) oxbow.Add {
	e := w.texts[i%len(w.texts)]
	e.Name = fmt.Sprintf("%s %d", namePrefix, i)
	return e
}

// logByteCount returns the size of the log's records in bytes.
func (w *writeRun) logByteCount(ctx context.Context) (int64, error) {
	s, err := w.memory.Stats(ctx)
	return s.Used, err
}

// measureSingleWrites measures how long it takes to write a single entry durably. For comparison, it writes the same
// number of bytes to plain files, and measures these times too. If withSQLite is set, it also adds each entry to an
// SQLite database.
func (w *writeRun) measureSingleWrites(ctx context.Context, existingEntries []oxbow.Add, withSQLite bool) (err error) {
	var size int // number of bytes that writing the current entry adds to the log
	more := 0    // number of bytes in size that are not part of the entry's name and content
	ox := &durableWriter{
		name:       "oxbow, with its index",
		writeEntry: func(e oxbow.Add) error { return w.memory.Apply(ctx, e) },
	}
	bare, err := newPlainWriteFiles(w.dir, w.rounds, &size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	rows := []*durableWriter{ox, bare.overwriteWriter, bare.appendWriter}
	if withSQLite {
		w.logf("write: filling SQLite")
		db, err := openSQLite(ctx, filepath.Join(w.dir, "peer.sqlite"), existingEntries)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			w.logf("write: SQLite left out: %v", err)
		case err != nil:
			return err
		default:
			defer func() { err = errors.Join(err, db.close()) }()
			rows = append(
				rows,
				&durableWriter{
					name: "SQLite, WAL, synchronous=FULL, no text index",
					writeEntry: func(e oxbow.Add) error {
						return db.add(ctx, e)
					},
				},
			)
		}
	}
	w.logf("write: timing")
	const warm = 20
	start, err := w.logByteCount(ctx) // size of the log before the writes that are measured
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
			bare.rewindOverwrites()
			start, err = w.logByteCount(ctx)
			if err != nil {
				return err
			}
		}
		e := w.newEntry("single", i)
		size = more + len(e.Content) + len(e.Name)
		for j := range rows {
			r := rows[(i+j)%len(rows)]
			if err := r.times.timeCall(func() error { return r.writeEntry(e) }); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		w.acknowledgedEntryCount++
		// Read the size only during the warm-up, because the write after a request for the size of the
		// log is slower.
		if i < warm {
			was := start
			start, err = w.logByteCount(ctx)
			if err != nil {
				return err
			}
			more = int(start-was) - len(e.Content) - len(e.Name)
		}
	}
	end, err := w.logByteCount(ctx)
	if err != nil {
		return err
	}
	w.printf("### One durable write beside %s entries\n\n", formatCount(w.entryCount))
	t := newTable(
		fmt.Sprintf("%s writes of %s bytes on average", formatCount(w.rounds), formatCount(int(end-start)/w.rounds)),
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
		t.addRow(
			r.name,
			formatDuration(p10),
			formatDuration(p50),
			formatDuration(r.times.quantile(.9)),
			formatDuration(r.times.quantile(.99)),
			formatRatio(p10, bare.appendWriter.times.quantile(.1)),
			formatRatio(p50, bare.appendWriter.times.p50()),
			formatRatio(p50, bare.overwriteWriter.times.p50()),
		)
	}
	w.emitTable(t)
	return nil
}

// plainWriteFiles measures the minimum time that the disk needs for a durable write, for comparison with oxbow. It
// measures appending to a file, and overwriting a file that was filled with zeros. Both are followed by a sync.
type plainWriteFiles struct {
	appendWriter, overwriteWriter *durableWriter
	appendFile, zerosFile         *os.File
	appendOffset, overwriteOffset int64
}

// bytesPerOverwrite is the space for each overwrite, in bytes. Before the measurement, a file of zeros with this much
// space for each overwrite is created. Then an overwrite does not make the file longer.
const bytesPerOverwrite = 8 << 10

// newPlainWriteFiles creates in dir a file for appends, and a file of zeros for overwrites. The result contains a
// writer for each file. Each call of a writer writes *writeSize bytes and syncs the file. It writes at least one byte
// and at most bytesPerOverwrite bytes. The caller may change *writeSize between the calls. The file of zeros has enough
// space for the argument rounds, which is the number of overwrites of the maximum size.
func newPlainWriteFiles(dir string, rounds int, writeSize *int) (*plainWriteFiles, error) {
	b := new(plainWriteFiles)
	var err error
	b.appendFile, err = os.Create(filepath.Join(dir, "append"))
	if err != nil {
		return nil, err
	}
	b.zerosFile, err = os.Create(filepath.Join(dir, "overwrite"))
	if err != nil {
		return nil, errors.Join(err, b.appendFile.Close())
	}
	chunk := make([]byte, bytesPerOverwrite)
	for range rounds {
		if _, err := b.zerosFile.Write(chunk); err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	if err := b.zerosFile.Sync(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	payload := []byte(strings.Repeat("0123456789abcdef", bytesPerOverwrite/16))
	put := func(f *os.File, at *int64) error {
		p := payload[:min(max(*writeSize, 1), len(payload))]
		if _, err := f.WriteAt(p, *at); err != nil {
			return err
		}
		*at += int64(len(p))
		return f.Sync()
	}
	b.appendWriter = &durableWriter{
		name: "bare append and fsync of as many bytes: the file grows",
		writeEntry: func(oxbow.Add) error {
			return put(b.appendFile, &b.appendOffset)
		},
	}
	b.overwriteWriter = &durableWriter{
		name: "bare overwrite of zeros and fsync: it has its size",
		writeEntry: func(oxbow.Add) error {
			return put(b.zerosFile, &b.overwriteOffset)
		},
	}
	return b, nil
}

// rewindOverwrites makes the next overwrite start at the beginning of the file of zeros.
func (b *plainWriteFiles) rewindOverwrites() { b.overwriteOffset = 0 }

func (b *plainWriteFiles) close() error {
	return errors.Join(b.appendFile.Close(), b.zerosFile.Close())
}

// verifyStore opens the store again and checks that it contains as many entries as were acknowledged, and is not
// damaged. It prints the result, or returns an error.
func (w *writeRun) verifyStore(ctx context.Context) (err error) {
	m, err := oxbow.Open(w.memoryPath, &oxbow.Options{ReadOnly: true})
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
	if n != w.acknowledgedEntryCount {
		return fmt.Errorf("the store holds %d entries after %d were acknowledged", n, w.acknowledgedEntryCount)
	}
	if c, ok := m.Store().(oxbow.Checker); ok {
		report, err := c.Check(ctx)
		if err != nil {
			return err
		}
		if len(report.Problems) > 0 {
			return fmt.Errorf(
				"the store is damaged at byte %d: %s",
				report.Problems[0].Offset,
				report.Problems[0].What,
			)
		}
	}
	w.printf(
		"Opened again: all %s acknowledged entries are there, and the check finds no problem.\n\n",
		formatCount(n),
	)
	return nil
}
