// What a peer costs a process of its own: from its start to the
// first answer, and in memory.

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

// peerVar names the variable that makes this program open a peer, ask it, and
// say what that cost.
const peerVar = "OXBOW_BENCH_PEER"

// peerJob is what such a process does.
type peerJob struct {
	Peer, Dir string
	Queries   []string
}

// peerCost is what it says.
type peerCost struct {
	First time.Duration // opening for one answer, to that answer
	Anon  int64         // bytes that stand for no file, beside what the program has without the peer; -1 when unknown
}

// peerProcess does the job in the variable, and writes what it cost.
func peerProcess(job string, w io.Writer) error {
	var j peerJob
	if err := json.Unmarshal([]byte(job), &j); err != nil {
		return err
	}
	ps := peers()
	i := slices.IndexFunc(ps, func(p peer) bool { return p.name == j.Peer })
	if i < 0 || len(j.Queries) == 0 {
		return fmt.Errorf("there is no peer %q, or no query", j.Peer)
	}
	ctx := context.Background()
	c := peerCost{Anon: -1}
	from := time.Now()
	s, err := ps[i].open(j.Dir)
	if err != nil {
		return err
	}
	_, err = s.search(ctx, j.Queries[0], peerLimit)
	c.First = time.Since(from)
	if err := errors.Join(err, s.close()); err != nil {
		return err
	}
	debug.FreeOSMemory()
	before, ok := anonymous()
	s, err = ps[i].open(j.Dir)
	if err != nil {
		return err
	}
	for _, q := range j.Queries {
		if _, err := s.search(ctx, q, peerLimit); err != nil {
			return errors.Join(err, s.close())
		}
	}
	debug.FreeOSMemory()
	if after, also := anonymous(); ok && also {
		c.Anon = after - before
	}
	return errors.Join(json.NewEncoder(w).Encode(c), s.close())
}

// ownProcess runs the job in a process of its own and returns what it cost.
func ownProcess(ctx context.Context, j peerJob) (peerCost, error) {
	var c peerCost
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	job, err := json.Marshal(j)
	if err != nil {
		return c, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), peerVar+"="+string(job))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return c, fmt.Errorf("a process of its own: %w", err)
	}
	return c, json.Unmarshal(out, &c)
}
