// This file implements the command named "share". It measures the throughput of each process while several processes
// write to the same memory at the same time.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// sharedWriteJobVar is the environment variable that makes this program write to a memory and print the result.
const sharedWriteJobVar = "OXBOW_BENCH_SHARE"

// sharedWriteJob tells a process, in JSON, how to write to the memory that several processes share.
type sharedWriteJob struct {
	Path          string
	WriteDuration time.Duration
	Pause         time.Duration // pause after each write
}

// sharedWriteCost is the JSON output of a process that writes to a shared store.
type sharedWriteCost struct {
	Writes                int
	P50, P99, LongestTime time.Duration
}

// serveSharedWriteJob opens a shared store, writes entries to it, and writes the measured times to w as JSON. The
// argument jobJSON is the JSON form of a sharedWriteJob, which the parent process passed in an environment variable.
func serveSharedWriteJob(jobJSON string, w io.Writer) error {
	var j sharedWriteJob
	if err := json.Unmarshal([]byte(jobJSON), &j); err != nil {
		return err
	}
	m, err := oxbow.Open(j.Path, nil)
	if err != nil {
		return err
	}
	var writes timings
	for from := time.Now(); err == nil && time.Since(from) < j.WriteDuration; time.Sleep(j.Pause) {
		e := oxbow.Add{Name: fmt.Sprint(os.Getpid(), " ", len(writes)), Content: "what it says"}
		err = writes.timeCall(func() error { return m.Apply(context.Background(), e) })
	}
	if err := errors.Join(err, m.Close()); err != nil {
		return err
	}
	return json.NewEncoder(w).
		Encode(sharedWriteCost{len(writes), writes.p50(), writes.quantile(.99), writes.quantile(1)})
}

func shareCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	busy := fl.Int("processes", 3, "processes that write all the time, beside one that writes now and then")
	long := fl.Duration("time", 5*time.Second, "`D` that they write")
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		if *busy < 1 || *long <= 0 {
			return errors.New("measuring shares: -processes and -time must be above 0")
		}
		return b.withTempDir("share", func(ctx context.Context, dir string) error {
			const pause = 20 * time.Millisecond
			jobs := slices.Repeat([]sharedWriteJob{{filepath.Join(dir, "memory.oxbow"), *long, 0}}, *busy+1)
			jobs[*busy].Pause = pause
			costs, err := runSharedWrites(ctx, jobs)
			if err != nil {
				return err
			}
			t := newTable("at once", "writes", "p50", "p99", "longest")
			for i, c := range costs {
				name := "writes all the time"
				if jobs[i].Pause > 0 {
					name = "writes each " + formatDuration(pause)
				}
				t.addRow(
					name,
					formatCount(c.Writes),
					formatDuration(c.P50),
					formatDuration(c.P99),
					formatDuration(c.LongestTime),
				)
			}
			b.emitTable(t)
			return nil
		})(ctx)
	}
}

// runSharedWrites runs the jobs at the same time, each in its own process. It returns the cost of each job.
func runSharedWrites(ctx context.Context, jobs []sharedWriteJob) ([]sharedWriteCost, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	outs := make([]bytes.Buffer, len(jobs))
	var started []*exec.Cmd
	for i, j := range jobs {
		job, _ := json.Marshal(j)
		c := exec.CommandContext(ctx, self)
		c.Env = append(os.Environ(), sharedWriteJobVar+"="+string(job))
		c.Stdout, c.Stderr = &outs[i], os.Stderr
		err = c.Start()
		if err != nil {
			break
		}
		started = append(started, c)
	}
	costs := make([]sharedWriteCost, len(jobs))
	for i, c := range started {
		if werr := c.Wait(); werr != nil {
			err = errors.Join(err, werr)
		} else {
			err = errors.Join(err, json.Unmarshal(outs[i].Bytes(), &costs[i]))
		}
	}
	return costs, err
}
