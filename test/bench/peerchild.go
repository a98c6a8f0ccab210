// This file measures a search program that is compared with oxbow, such as SQLite, in a process of its own. It
// measures the time from opening the program's data to the first answer, and the memory of the process.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"time"
)

// If the environment variable searchMethodJobVar contains a searchMethodJob, this program runs this job: it opens the
// search method of the job, searches with it, prints the cost and exits.
const searchMethodJobVar = "OXBOW_BENCH_PEER"

// searchMethodJob is the task for a process that measures one search program. It is passed as JSON in an environment
// variable.
type searchMethodJob struct {
	MethodName, Dir string
	Queries         []string
}

// searchMethodCost is the JSON output of a process that measures one search program.
type searchMethodCost struct {
	FirstAnswerTime time.Duration // time for opening the search program's data and for its first answer
	// by how many bytes the process's anonymous memory has grown through opening and searching (-1 if unknown)
	AnonymousMemoryBytes int64
}

// serveSearchMethodJob measures a search program and writes the measured cost to w as JSON. jobJSON is a
// searchMethodJob in JSON, which names the search program and contains the queries. serveSearchMethodJob opens the data
// of the search program and runs the queries.
func serveSearchMethodJob(jobJSON string, w io.Writer) error {
	var j searchMethodJob
	if err := json.Unmarshal([]byte(jobJSON), &j); err != nil {
		return err
	}
	ps := allSearchMethods()
	i := slices.IndexFunc(ps, func(p searchMethod) bool { return p.name == j.MethodName })
	if i < 0 || len(j.Queries) == 0 {
		return fmt.Errorf("there is no peer %q, or no query", j.MethodName)
	}
	ctx := context.Background()
	c := searchMethodCost{AnonymousMemoryBytes: -1}
	from := time.Now()
	s, err := ps[i].open(j.Dir)
	if err != nil {
		return err
	}
	_, err = s.search(ctx, j.Queries[0], searchResultLimit)
	c.FirstAnswerTime = time.Since(from)
	if err := errors.Join(err, s.close()); err != nil {
		return err
	}
	debug.FreeOSMemory()
	before, ok := anonymousMemoryBytes()
	s, err = ps[i].open(j.Dir)
	if err != nil {
		return err
	}
	for _, q := range j.Queries {
		if _, err := s.search(ctx, q, searchResultLimit); err != nil {
			return errors.Join(err, s.close())
		}
	}
	debug.FreeOSMemory()
	if after, also := anonymousMemoryBytes(); ok && also {
		c.AnonymousMemoryBytes = after - before
	}
	return errors.Join(json.NewEncoder(w).Encode(c), s.close())
}

// runSearchMethodProcess measures a search method in a separate process. It starts the executable of the present
// process again, with the job j in an environment variable. The new process measures the search method, and
// runSearchMethodProcess returns the measured cost.
func runSearchMethodProcess(ctx context.Context, j searchMethodJob) (searchMethodCost, error) {
	var c searchMethodCost
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	job, err := json.Marshal(j)
	if err != nil {
		return c, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), searchMethodJobVar+"="+string(job))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return c, fmt.Errorf("a process of its own: %w", err)
	}
	return c, json.Unmarshal(out, &c)
}
