// This file lets clients read and write while servers are killed, stopped and disconnected. No server may lose an
// acknowledged change, and the reads and writes must be linearizable.

package jetstream

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/oxbow-memory/oxbow"
)

var repeats = flag.Int(
	"repeats",
	1,
	"how often a campaign does each of its faults; with more than 1, bits flip at all places",
)

// These constants are the numbers of brains (memories), clients and connections in a campaign, which is one run of the
// test.
const (
	campaignBrains  = 8
	campaignClients = 16
	campaignReaders = 4 // additional clients that only read
	campaignHosts   = 4 // connections to the servers; clients share them
)

// regInput describes one call of a client, which reads or writes the entry "reg". It is the only entry of each brain
// (memory). Therefore the version of the entry increases by one with each change of the brain.
type regInput struct {
	brain int
	write bool
	value string
	ifAt  uint64 // version that a write requires; 0 allows any version
}

type regOutput struct {
	value   string
	version uint64
	refused bool // the write was refused because of a different version
	unknown bool
}

type regState struct {
	value   string
	version uint64
}

// register tells the checker porcupine how the single entry of a brain (memory) must behave. A read must return the
// current value and version. A write increases the version by one. A write that requires another version must be
// refused.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, campaignBrains)
		for _, o := range history {
			b := o.Input.(regInput).brain
			parts[b] = append(parts[b], o)
		}
		return parts
	},
	Init: func() any { return regState{"start", 1} },
	Step: func(state, input, output any) (bool, any) {
		s := state.(regState)
		in := input.(regInput)
		out := output.(regOutput)
		switch {
		case !in.write:
			return s == regState{out.value, out.version}, s
		case in.ifAt != 0 && in.ifAt != s.version:
			return out.refused || out.unknown, s
		}
		return !out.refused, regState{in.value, s.version + 1}
	},
}

// campaign is one run of a test that lets clients read and write while servers fail. The field hosts contains the
// connections to the servers. The field acked counts the acknowledged writes.
type campaign struct {
	t     *testing.T
	nodes *nodes
	hosts []*Cluster

	began time.Time
	done  chan struct{}
	acked atomic.Int64
	gap   time.Duration // longest time without an acknowledged write

	mu      sync.Mutex // guards the fields below
	history []porcupine.Operation
	busy    []string // values whose writes failed with ErrBusy, so the values must not be stored
}

// newCampaign starts servers and opens the brains.
func newCampaign(t *testing.T, apart bool) *campaign {
	c := &campaign{t: t, nodes: startNodes(t, apart), began: time.Now(), done: make(chan struct{})}
	urls := strings.Split(c.nodes.urls, ",")
	for i := range campaignHosts {
		// Each process connects to a different server, and stays connected while that server answers.
		first := i % len(urls)
		at := append(slices.Clone(urls[first:]), urls[:first]...)
		c.hosts = append(
			c.hosts,
			connectTrio(
				t,
				strings.Join(at, ","),
				Options{Partitions: 2, Node: fmt.Sprint("host", i), minEnvelopesAfterSnapshot: 40},
			),
		)
	}
	for b := range campaignBrains {
		if err := c.store(0, b).Apply(t.Context(), oxbow.Add{Name: "reg", Content: "start"}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *campaign) store(host, brain int) *Store {
	s, err := c.hosts[host].Open(context.Background(), "acme", fmt.Sprint("b", brain))
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// clients starts the clients, which read and write until the campaign is done.
func (c *campaign) clients(wg *sync.WaitGroup) {
	for id := range campaignClients + campaignReaders {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(id)))
			stores := make([]*Store, campaignBrains)
			versions := make([]uint64, campaignBrains)
			for b := range stores {
				stores[b] = c.store(id%campaignHosts, b)
				defer stores[b].Close()
			}
			for i := 0; ; i++ {
				select {
				case <-c.done:
					return
				default:
				}
				in := regInput{brain: r.IntN(campaignBrains), write: id < campaignClients && r.IntN(2) == 0}
				if id >= campaignClients {
					sleepUnlessCanceled(c.hosts[0].ctx, 2*time.Millisecond)
				}
				if in.write {
					in.value = fmt.Sprintf("c%d-%d", id, i)
					if r.IntN(2) == 0 {
						in.ifAt = versions[in.brain]
					}
				}
				c.step(id, stores[in.brain], in, &versions[in.brain])
			}
		})
	}
}

// step makes a call and records it.
func (c *campaign) step(id int, s *Store, in regInput, version *uint64) {
	op := porcupine.Operation{ClientId: id, Input: in, Call: int64(time.Since(c.began))}
	var out regOutput
	var err error
	if in.write {
		err = s.Apply(context.Background(), oxbow.Update{Name: "reg", Content: in.value, If: in.ifAt})
	} else {
		var e oxbow.Entry
		e, err = s.Get(context.Background(), "reg")
		out.value, out.version = e.Content, e.Version
		*version = e.Version
	}
	op.Return = int64(time.Since(c.began))
	switch {
	case err == nil:
		if in.write {
			c.acked.Add(1)
		}
	case errors.Is(err, oxbow.ErrConflict):
		out.refused = true
	case errors.Is(err, oxbow.ErrUnknownOutcome):
		out.unknown = true
		op.Return = int64(10 * time.Hour)
	case errors.Is(err, oxbow.ErrBusy): // the call had no effect
		if in.write {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.busy = append(c.busy, in.value)
		}
		return
	default:
		c.t.Errorf("%+v = %v", in, err)
		return
	}
	op.Output = out
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, op)
}

// awaitAcks waits until n more writes were acknowledged, and fails the test after a minute. It records in c.gap the
// longest time without an acknowledgement.
func (c *campaign) awaitAcks(n int64) {
	began, want := time.Now(), c.acked.Load()+n
	last, at := c.acked.Load(), began
	for deadline := began.Add(60 * time.Second); last < want; {
		if time.Now().After(deadline) {
			c.t.Fatalf("no %d writes in a minute", n)
		}
		sleepUnlessCanceled(c.hosts[0].ctx, 5*time.Millisecond)
		if now := c.acked.Load(); now != last {
			last, at = now, time.Now()
		}
		c.gap = max(c.gap, time.Since(at))
	}
}

// leader returns the server that leads the first brain's stream.
func (c *campaign) leader() *node {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	name, _, err := c.hosts[0].findLeader(ctx, "BRAIN_00")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, n := range c.nodes.all {
		if n.options.Name == name {
			return n
		}
	}
	c.t.Fatalf("no server is called %s", name)
	return nil
}

// run causes the faults while the clients are working, and then checks everything.
func (c *campaign) run(faults ...func()) {
	var wg sync.WaitGroup
	c.clients(&wg)
	for i := range *repeats * len(faults) {
		c.awaitAcks(200)
		c.gap = 0
		began := time.Now()
		faults[i%len(faults)]()
		c.awaitAcks(200)
		c.t.Logf(
			"fault %d: %s, of which %s without a write",
			i%len(faults),
			time.Since(began).Round(10*time.Millisecond),
			c.gap.Round(10*time.Millisecond),
		)
	}
	close(c.done)
	wg.Wait()
	c.check()
}

// check compares the content of all brains with the calls that the clients recorded. It first audits the servers. It
// then reads all brains through one new connection. No acknowledged write may be lost or stored twice, no refused write
// may be stored, and the recorded calls must be linearizable.
func (c *campaign) check() {
	t := c.t
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	healthy(t, c.hosts[0]) // wait until the server with the fault works again
	began := time.Now()
	rep, err := c.hosts[0].Audit(ctx)
	t.Logf(
		"start and faults %s, audit %s",
		began.Sub(c.began).Round(10*time.Millisecond),
		time.Since(began).Round(10*time.Millisecond),
	)
	if err != nil || len(rep.Findings) > 0 || rep.Brains != campaignBrains || rep.Messages == 0 {
		t.Errorf("Audit() = %+v, %v, want no findings in %d brains", rep, err, campaignBrains)
	}
	fresh := connectTrio(t, c.nodes.urls, Options{})
	there, versions := map[string]int{}, map[string]uint64{}
	for b := range campaignBrains {
		s := open(t, fresh, fmt.Sprint("b", b))
		for v, err := range s.Versions(ctx, "reg") {
			if err != nil {
				t.Fatal(err)
			}
			there[v.Entry.Content]++
			versions[v.Entry.Content] = v.Entry.Version
		}
	}
	lost := 0
	twice := 0
	unknown := 0
	for _, o := range c.history {
		in, out := o.Input.(regInput), o.Output.(regOutput)
		if !in.write {
			continue
		}
		n := there[in.value]
		switch {
		case out.unknown:
			unknown++
		case out.refused && n > 0:
			t.Errorf("%s was refused and is there", in.value)
		case !out.refused && n == 0:
			lost++
		}
		if n > 1 {
			twice++
		}
	}
	for _, v := range c.busy {
		if there[v] > 0 {
			t.Errorf("%s was not written, as its client was told, and is there", v)
		}
	}
	if lost > 0 || twice > 0 {
		t.Errorf("%d of %d acknowledged writes are lost, and %d are there twice", lost, c.acked.Load(), twice)
	}
	result := porcupine.CheckOperationsTimeout(register, c.history, time.Minute)
	if result != porcupine.Ok {
		t.Errorf("porcupine: %s", result)
		c.explain(versions)
	}
	t.Logf(
		"%d calls, %d writes acknowledged, %d unknown, %d lost, %d messages on three servers, porcupine %s",
		len(c.history),
		c.acked.Load(),
		unknown,
		lost,
		rep.Messages,
		result,
	)
}

// explain is called if the recorded calls are not linearizable. It logs each read that returned an older version than a
// call that had ended before the read began. Such a read is a contradiction by itself.
func (c *campaign) explain(versions map[string]uint64) {
	for _, read := range c.history {
		in, out := read.Input.(regInput), read.Output.(regOutput)
		for _, o := range c.history {
			before, known := o.Input.(regInput), o.Output.(regOutput).version
			if before.write {
				known = versions[before.value]
			}
			if !in.write && before.brain == in.brain && o.Return < read.Call && known > out.version {
				c.t.Logf(
					"client %d read version %d of brain %d from %s to %s, and version %d was known to client %d at %s",
					read.ClientId,
					out.version,
					in.brain,
					time.Duration(read.Call), time.Duration(read.Return), known, o.ClientId, time.Duration(o.Return),
				)
				break
			}
		}
	}
}

// TestCampaign kills the leader, stops the leader, and kills all servers.
func TestCampaign(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, false)
	c.run(func() {
		n := c.leader()
		n.kill()
		c.awaitAcks(50)
		n.start()
	}, func() {
		n := c.leader()
		n.pause()
		c.awaitAcks(50)
		n.resume()
	}, func() {
		for _, n := range c.nodes.all {
			n.kill()
		}
		for _, n := range c.nodes.all {
			n.start()
		}
	})
}

// TestCampaignCut disconnects the leader from the other servers, but not from its clients.
func TestCampaignCut(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, true)
	c.run(func() {
		n := c.leader()
		i := strings.Index("n0n1n2", n.options.Name) / 2
		c.nodes.cut(i, true)
		c.awaitAcks(50)
		sleepUnlessCanceled(c.hosts[0].ctx, 6*time.Second) // at first, the old leader still considers itself the leader
		c.nodes.cut(i, false)
	})
}
