// This file measures a peer in its own process: the time from the start of the process to the first answer, and the
// process's memory.

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

// peerVar is the environment variable that makes this program open a peer, search it, and print the
// cost.
const peerVar = "OXBOW_BENCH_PEER"

// peerJob is the job of such a process, in JSON.
type peerJob struct {
	Peer, Dir string
	Queries   []string
}

// peerCost is the output of such a process, in JSON.
type peerCost struct {
	First time.Duration // time for opening the peer and its first answer
	Anon  int64         // additional anonymous memory with the peer, in bytes (-1 if unknown)
}

// servePeerJob runs the job in the environment variable and writes its cost.
func servePeerJob(job string, w io.Writer) error {
	var j peerJob
	if err := json.Unmarshal([]byte(job), &j); err != nil {
		return err
	}
	ps := allPeers()
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
	before, ok := anonymousMemory()
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
	if after, also := anonymousMemory(); ok && also {
		c.Anon = after - before
	}
	return errors.Join(json.NewEncoder(w).Encode(c), s.close())
}

// runPeerProcess runs the job in a new process and returns its cost.
func runPeerProcess(ctx context.Context, j peerJob) (peerCost, error) {
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
