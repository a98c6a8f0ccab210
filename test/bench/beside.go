// This file implements the command named "beside". It measures how much recalls and durable writes slow each other down
// if they use the same memory at the same time.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// interferenceRun measures how much recalls and writes slow each other down. It measures one memory while other
// goroutines use the same memory, or for comparison a second memory, with which the first shares only the processor
// and the disk.
type interferenceRun struct {
	*bench
	entryCount, concurrentLoadRounds int
	concurrentLoadTime               time.Duration // time for which each combination of concurrent operations runs in each round
	textSource                       textSource

	memory, comparisonMemory *oxbow.Memory
	entriesToWrite           []oxbow.Add
	phrases                  []string
	plainFiles               *plainWriteFiles
	// size in bytes of the data in each write to a plain file (such writes are compared with writes to the memory)
	plainWriteSize    int
	writtenEntryCount int
}

func besideCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &interferenceRun{bench: b}
	fl.IntVar(&r.entryCount, "n", 10000, "entries in each of two stores")
	fl.IntVar(&r.concurrentLoadRounds, "rounds", 5, "times that each load is put on")
	fl.DurationVar(&r.concurrentLoadTime, "time", time.Second, "`D` that each load lasts")
	r.textSource.addFlags(fl)
	b.addDirFlag(fl)
	return r.run
}

// loadWorker repeats one operation, such as a recall, until the measurement ends.
type loadWorker struct {
	call  func(ctx context.Context, i int) error
	times timings // time of each call
}

// concurrentLoad is a set of workers that run at the same time.
type concurrentLoad struct {
	name          string
	recallWorkers []*loadWorker // workers whose calls are recalls
	writeWorkers  []*loadWorker
	// rates[0] contains the recalls per second and rates[1] the writes per second, each with one value for each round
	recallAndWriteRates [2][]float64
	writeTimes          timings // times of all writes
}

func (r *interferenceRun) run(ctx context.Context) (err error) {
	if min(r.entryCount, r.concurrentLoadRounds) < 1 || r.concurrentLoadTime <= 0 {
		return errors.New("measuring beside: -n, -rounds and -time must be above 0")
	}
	dir, remove, err := r.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	r.entriesToWrite, _, err = r.textSource.readEntries(ctx, 10000)
	if err != nil {
		return err
	}
	r.phrases, err = samplePhrases(r.entriesToWrite, 2000, 1)
	if err != nil {
		return err
	}
	r.printTitle("beside", dir)
	for i, m := range []**oxbow.Memory{&r.memory, &r.comparisonMemory} {
		*m, err = r.createStore(ctx, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*m).Close()) }()
	}
	for _, e := range r.entriesToWrite {
		r.plainWriteSize += (len(e.Content) + 150) / len(r.entriesToWrite)
	}
	r.plainFiles, err = newPlainWriteFiles(dir, 1, &r.plainWriteSize)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.plainFiles.close()) }()
	if _, err := r.plainFiles.zerosFile.WriteAt(make([]byte, 64<<20), 0); err != nil {
		return err
	}
	if err := r.plainFiles.zerosFile.Sync(); err != nil {
		return err
	}
	loads := r.newConcurrentLoads()
	for round := range r.concurrentLoadRounds {
		for i := range loads {
			l := loads[(i+round)%len(loads)]
			if err := r.runConcurrentLoad(ctx, l); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	r.printTable(loads)
	return nil
}

// createStore creates a memory of r.entryCount entries. The search index of the memory is loaded, so each write updates
// the index.
func (r *interferenceRun) createStore(ctx context.Context, dir string) (*oxbow.Memory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	m, err := oxbow.Open(filepath.Join(dir, "memory.oxbow"), nil)
	if err != nil {
		return nil, err
	}
	if err := fillMemory(ctx, m, repeatEntries(r.entriesToWrite, r.entryCount)); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	_, err = m.Recall(ctx, oxbow.Query{Text: "warm up"})
	return m, err
}

// newReader returns a worker that recalls from a memory.
func (r *interferenceRun) newReader(m *oxbow.Memory) *loadWorker {
	return &loadWorker{call: func(ctx context.Context, i int) error {
		_, err := m.Recall(ctx, oxbow.Query{Text: r.phrases[i%len(r.phrases)], Limit: 10})
		return err
	}}
}

// newEntryWriter returns a worker whose calls write entries to the memory m. Run at most one such worker at a time.
func (r *interferenceRun) newEntryWriter(m *oxbow.Memory) *loadWorker {
	return &loadWorker{call: func(ctx context.Context, i int) error {
		e := r.entriesToWrite[i%len(r.entriesToWrite)]
		r.writtenEntryCount++
		e.Name = fmt.Sprintf("written %d", r.writtenEntryCount)
		return m.Apply(ctx, e)
	}}
}

// newFileOverwriter returns a worker that overwrites a part of a file and syncs the file. This is the least work for a
// durable write, so it is the lower bound for the cost of a write in a store.
func (r *interferenceRun) newFileOverwriter() *loadWorker {
	return &loadWorker{call: func(context.Context, int) error {
		if r.plainFiles.overwriteOffset+int64(r.plainWriteSize) > 64<<20 {
			r.plainFiles.rewindOverwrites()
		}
		return r.plainFiles.overwriteWriter.writeEntry(oxbow.Add{})
	}}
}

func (r *interferenceRun) newConcurrentLoads() []*concurrentLoad {
	one := func(w *loadWorker) []*loadWorker { return []*loadWorker{w} }
	return []*concurrentLoad{
		{name: "a reader", recallWorkers: one(r.newReader(r.memory))},
		{name: "two readers", recallWorkers: []*loadWorker{r.newReader(r.memory), r.newReader(r.memory)}},
		{name: "a writer", writeWorkers: one(r.newEntryWriter(r.memory))},
		{
			name:          "a reader beside the writer of another memory",
			recallWorkers: one(r.newReader(r.memory)),
			writeWorkers:  one(r.newEntryWriter(r.comparisonMemory)),
		},
		{
			name:          "a reader beside a writer",
			recallWorkers: one(r.newReader(r.memory)),
			writeWorkers:  one(r.newEntryWriter(r.memory)),
		},
		{
			name:          "a reader beside bare overwrites with fsync",
			recallWorkers: one(r.newReader(r.memory)),
			writeWorkers:  one(r.newFileOverwriter()),
		},
	}
}

// runConcurrentLoad runs the workers of l at the same time for the configured time.
func (r *interferenceRun) runConcurrentLoad(ctx context.Context, l *concurrentLoad) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	from := time.Now()
	for _, w := range append(append([]*loadWorker(nil), l.recallWorkers...), l.writeWorkers...) {
		w.times = nil
		wg.Go(func() {
			for i := 0; time.Since(from) < r.concurrentLoadTime && ctx.Err() == nil; i++ {
				if err := w.times.timeCall(func() error { return w.call(ctx, i) }); err != nil {
					stop(err)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(from).Seconds()
	for i, ws := range [][]*loadWorker{l.recallWorkers, l.writeWorkers} {
		calls := 0
		for _, w := range ws {
			calls += len(w.times)
		}
		l.recallAndWriteRates[i] = append(l.recallAndWriteRates[i], float64(calls)/took)
	}
	for _, w := range l.writeWorkers {
		l.writeTimes = append(l.writeTimes, w.times...)
	}
	return context.Cause(ctx)
}

func (r *interferenceRun) printTable(loads []*concurrentLoad) {
	reads, writes := median(loads[0].recallAndWriteRates[0]), median(loads[2].recallAndWriteRates[1])
	bare := loads[len(loads)-1].writeTimes
	t := newTable(
		formatCount(r.entryCount)+" entries, at once",
		"recalls/s",
		"× a reader",
		"writes/s",
		"× a writer",
		"a write, p50",
		"× bare beside a reader",
		"p99",
	)
	for _, l := range loads {
		row := []string{l.name, "–", "–", "–", "–", "–", "–", "–"}
		if len(l.recallWorkers) > 0 {
			m := median(l.recallAndWriteRates[0])
			row[1], row[2] = formatRoundedNumber(m), formatRoundedNumber(m/reads)+"×"
		}
		if len(l.writeWorkers) > 0 {
			m := median(l.recallAndWriteRates[1])
			row[3], row[4] = formatRoundedNumber(m), formatRoundedNumber(m/writes)+"×"
			row[5], row[6] = formatDuration(
				l.writeTimes.p50(),
			), formatRoundedNumber(
				float64(l.writeTimes.p50())/float64(bare.p50()),
			)+"×"
			row[7] = formatDuration(l.writeTimes.quantile(.99))
		}
		t.addRow(row...)
	}
	r.emitTable(t)
	r.printf(
		"Each load lasts %v, %d times, in turns; rates are medians.\n",
		r.concurrentLoadTime,
		r.concurrentLoadRounds,
	)
}
