// This file implements the command beside: how much recalls and durable writes of one memory
// slow each other down.

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

// besideRun measures one memory. For comparison, a second memory is used by workers that
// need a processor and the disk, but share nothing with the first memory.
type besideRun struct {
	*bench
	n, rounds int
	time      time.Duration // duration of each load in each round
	src       source

	m, other *oxbow.Memory
	texts    []oxbow.Add
	phrases  []string
	bare     *bare
	size     int // size of a bare write in bytes
	written  int
}

func besideCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &besideRun{bench: b}
	fl.IntVar(&r.n, "n", 10000, "entries in each of two stores")
	fl.IntVar(&r.rounds, "rounds", 5, "times that each load is put on")
	fl.DurationVar(&r.time, "time", time.Second, "`D` that each load lasts")
	r.src.addFlags(fl)
	b.dirFlag(fl)
	return r.run
}

// worker repeats one operation.
type worker struct {
	do    func(ctx context.Context, i int) error
	times timings // duration of each call
}

// mix is a load of workers that run at the same time.
type mix struct {
	name    string
	recalls []*worker // workers with calls that count as recalls
	writes  []*worker
	rates   [2][]float64 // calls per second of recalls and of writes, by round
	write   timings      // times of all writes
}

func (r *besideRun) run(ctx context.Context) (err error) {
	if min(r.n, r.rounds) < 1 || r.time <= 0 {
		return errors.New("measuring beside: -n, -rounds and -time must be above 0")
	}
	dir, remove, err := r.temp()
	if err != nil {
		return err
	}
	defer remove()
	r.texts, _, err = r.src.readEntries(ctx, 10000)
	if err != nil {
		return err
	}
	r.phrases, err = samplePhrases(r.texts, 2000, 1)
	if err != nil {
		return err
	}
	r.title("beside", dir)
	for i, m := range []**oxbow.Memory{&r.m, &r.other} {
		*m, err = r.openStore(ctx, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*m).Close()) }()
	}
	for _, e := range r.texts {
		r.size += (len(e.Content) + 150) / len(r.texts)
	}
	r.bare, err = bareWriters(dir, 1, &r.size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.bare.close()) }()
	if _, err := r.bare.zeros.WriteAt(make([]byte, 64<<20), 0); err != nil {
		return err
	}
	if err := r.bare.zeros.Sync(); err != nil {
		return err
	}
	loads := r.listLoads()
	for round := range r.rounds {
		for i := range loads {
			l := loads[(i+round)%len(loads)]
			if err := r.runLoad(ctx, l); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	r.table(loads)
	return nil
}

// openStore creates a store of n entries with an active index.
func (r *besideRun) openStore(ctx context.Context, dir string) (*oxbow.Memory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	m, err := oxbow.Open(filepath.Join(dir, "memory.oxbow"), nil)
	if err != nil {
		return nil, err
	}
	if err := fill(ctx, m, stretch(r.texts, r.n)); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	_, err = m.Recall(ctx, oxbow.Query{Text: "warm up"})
	return m, err
}

// reader returns a worker that recalls from a memory.
func (r *besideRun) reader(m *oxbow.Memory) *worker {
	return &worker{do: func(ctx context.Context, i int) error {
		_, err := m.Recall(ctx, oxbow.Query{Text: r.phrases[i%len(r.phrases)], Limit: 10})
		return err
	}}
}

// writer returns a worker that writes entries to a memory. Only one writer runs at a time.
func (r *besideRun) writer(m *oxbow.Memory) *worker {
	return &worker{do: func(ctx context.Context, i int) error {
		e := r.texts[i%len(r.texts)]
		r.written++
		e.Name = fmt.Sprintf("written %d", r.written)
		return m.Apply(ctx, e)
	}}
}

// overwriter returns a worker that does the minimum work of a durable write.
func (r *besideRun) overwriter() *worker {
	return &worker{do: func(context.Context, int) error {
		if r.bare.zerosAt+int64(r.size) > 64<<20 {
			r.bare.rewind()
		}
		return r.bare.over.write(oxbow.Add{})
	}}
}

func (r *besideRun) listLoads() []*mix {
	one := func(w *worker) []*worker { return []*worker{w} }
	return []*mix{
		{name: "a reader", recalls: one(r.reader(r.m))},
		{name: "two readers", recalls: []*worker{r.reader(r.m), r.reader(r.m)}},
		{name: "a writer", writes: one(r.writer(r.m))},
		{
			name:    "a reader beside the writer of another memory",
			recalls: one(r.reader(r.m)),
			writes:  one(r.writer(r.other)),
		},
		{name: "a reader beside a writer", recalls: one(r.reader(r.m)), writes: one(r.writer(r.m))},
		{name: "a reader beside bare overwrites with fsync", recalls: one(r.reader(r.m)), writes: one(r.overwriter())},
	}
}

// runLoad runs a load for the configured time.
func (r *besideRun) runLoad(ctx context.Context, l *mix) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	from := time.Now()
	for _, w := range append(append([]*worker(nil), l.recalls...), l.writes...) {
		w.times = nil
		wg.Go(func() {
			for i := 0; time.Since(from) < r.time && ctx.Err() == nil; i++ {
				if err := w.times.add(func() error { return w.do(ctx, i) }); err != nil {
					stop(err)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(from).Seconds()
	for i, ws := range [][]*worker{l.recalls, l.writes} {
		calls := 0
		for _, w := range ws {
			calls += len(w.times)
		}
		l.rates[i] = append(l.rates[i], float64(calls)/took)
	}
	for _, w := range l.writes {
		l.write = append(l.write, w.times...)
	}
	return context.Cause(ctx)
}

func (r *besideRun) table(loads []*mix) {
	reads, writes := median(loads[0].rates[0]), median(loads[2].rates[1])
	bare := loads[len(loads)-1].write
	t := newTable(
		count(r.n)+" entries, at once",
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
		if len(l.recalls) > 0 {
			m := median(l.rates[0])
			row[1], row[2] = formatDigits(m), formatDigits(m/reads)+"×"
		}
		if len(l.writes) > 0 {
			m := median(l.rates[1])
			row[3], row[4] = formatDigits(m), formatDigits(m/writes)+"×"
			row[5], row[6] = span(l.write.p50()), formatDigits(float64(l.write.p50())/float64(bare.p50()))+"×"
			row[7] = span(l.write.quantile(.99))
		}
		t.row(row...)
	}
	r.emit(t)
	r.printf("Each load lasts %v, %d times, in turns; rates are medians.\n", r.time, r.rounds)
}
