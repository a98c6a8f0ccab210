// This file measures the speed and the memory use of the cluster on the present machine.
//
//	go test -run Figures -figures -v .

package jetstream

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

var (
	figures = flag.Bool("figures", false, "measure")
	many    = flag.Int("many", 20_000, "brains whose memory is measured")
)

// words returns a text like in a memory: a few words occur in many entries.
func words(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "w%d ", int(r.ExpFloat64()*400))
	}
	return b.String()
}

// quantile returns the q-quantile of the durations ds, rounded to 10 µs. The argument q is between 0 and 1. It sorts ds
// in place.
func quantile(ds []time.Duration, q float64) time.Duration {
	slices.Sort(ds)
	return ds[int(float64(len(ds)-1)*q)].Round(10 * time.Microsecond)
}

func TestFiguresWrites(t *testing.T) {
	if !*figures {
		t.Skip("measures only: -figures")
	}
	ns := startNodes(t, false)
	var hosts []*Cluster
	for i := range 4 {
		hosts = append(hosts, connectTrio(t, ns.urls, Options{Node: fmt.Sprint(i)}))
	}
	for _, brains := range []int{128, 8} {
		for _, clients := range []int{1, 8, 32, 128} {
			writes(t, hosts, brains, clients)
		}
	}
}

// writes measures how fast clients write entries with contents of 1 kB. Each client writes to one of the stores, whose
// number is brains, for 3 seconds. For comparison, writes also measures messages without entries. It logs the number of
// writes per second, and the median and the 99th percentile of their durations.
func writes(t *testing.T, hosts []*Cluster, brains, clients int) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	stores := make([]*Store, clients)
	for i := range stores {
		var err error
		stores[i], err = hosts[i%len(hosts)].Open(t.Context(), "w"+strconv.Itoa(brains), fmt.Sprintf("b%d", i%brains))
		if err != nil {
			t.Fatal(err)
		}
		defer stores[i].Close()
	}
	measure := func(what string, write func(i, n int, content string) error) {
		const length = 3 * time.Second
		took = nil
		began := time.Now()
		for i := range clients {
			wg.Go(func() {
				content := words(rand.New(rand.NewPCG(3, uint64(i))), 1000)
				var mine []time.Duration
				for n := 0; time.Since(began) < length; n++ {
					at := time.Now()
					if err := write(i, n, content); err != nil {
						t.Error(err)
						return
					}
					mine = append(mine, time.Since(at))
				}
				mu.Lock()
				took = append(took, mine...)
				mu.Unlock()
			})
		}
		wg.Wait()
		t.Logf(
			"%s, %3d clients of %3d brains: %6.0f/s, p50 %s, p99 %s",
			what,
			clients,
			min(brains, clients),
			float64(len(took))/time.Since(began).Seconds(),
			quantile(took, .5),
			quantile(took, .99),
		)
	}
	measure("changes", func(i, n int, content string) error {
		return stores[i].Apply(t.Context(), oxbow.Add{Name: fmt.Sprintf("c%d-%d-%d", clients, i, n), Content: content})
	})
	// For comparison, send messages of the same size with separate subjects to the same streams, as fast as the
	// servers accept them.
	lasts := make([]uint64, clients)
	measure("bare messages", func(i, _ int, content string) (err error) {
		r := stores[i].brainReplica
		lasts[i], err = r.cluster.requestSender.publishMessage(
			t.Context(),
			fmt.Sprintf("%s.bare.%d-%d-%d", r.directoryEntry.subjectName(), brains, clients, i),
			[]byte(content),
			lasts[i],
			false,
		)
		if err == errWriteInProgress {
			err = nil
		}
		return err
	})
}

func TestFiguresReads(t *testing.T) {
	if !*figures {
		t.Skip("measures only: -figures")
	}
	ns := startNodes(t, false)
	strong := connectTrio(t, ns.urls, Options{})
	const entries = 10_000
	fill := func(s oxbow.Store) {
		r := rand.New(rand.NewPCG(5, 6))
		for i := 0; i < entries; i += 100 {
			var ops []oxbow.Op
			for k := range 100 {
				ops = append(ops, oxbow.Add{Name: fmt.Sprint("e", i+k), Content: words(r, 500)})
			}
			if err := s.Apply(t.Context(), ops...); err != nil {
				t.Fatal(err)
			}
		}
	}
	recall := func(m *oxbow.Memory) time.Duration {
		r := rand.New(rand.NewPCG(7, 8))
		var took []time.Duration
		for i := range 2200 {
			at := time.Now()
			if _, err := m.Recall(t.Context(), oxbow.Query{Text: words(r, 20), Limit: 10}); err != nil {
				t.Fatal(err)
			}
			if i >= 200 {
				took = append(took, time.Since(at))
			}
		}
		return quantile(took, .5)
	}
	local, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	fill(local)
	s := open(t, strong, "big")
	fill(s)
	base := recall(local)
	asked := recall(oxbow.New(s, nil))
	announced := connectTrio(t, ns.urls, Options{Announced: true})
	told := recall(oxbow.New(open(t, announced, "big"), nil))
	t.Logf("recall of %d entries, p50: local %s; resident, asking the leader %s (%.2f); resident, announced %s (%.2f)",
		entries, base, asked, float64(asked)/float64(base), told, float64(told)/float64(base))

	cold := func(what, dir string, do func(s *Store)) {
		var took []time.Duration
		for range 9 {
			c := connectTrio(t, ns.urls, Options{Dir: dir})
			at := time.Now()
			s, err := c.Open(t.Context(), "acme", "big")
			if err != nil {
				t.Fatal(err)
			}
			do(s)
			took = append(took, time.Since(at))
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		t.Logf("first answer of %d entries, %s: p50 %s, most %s", entries, what, quantile(took, .5), quantile(took, 1))
	}
	get := func(s *Store) {
		if _, err := s.Get(t.Context(), "e77"); err != nil {
			t.Error(err)
		}
	}
	ask := func(s *Store) {
		m := oxbow.New(s, nil)
		if hits, err := m.Recall(t.Context(), oxbow.Query{Text: "w7 w30", Limit: 10}); err != nil || len(hits) == 0 {
			t.Errorf("Recall() = %v", err)
		}
	}
	envelopes, segments := messages(t, s)
	t.Logf("the brain is %d envelopes and %d segments", envelopes, segments)
	cold("get, nothing cached", "", get)
	cold("recall, nothing cached", "", ask)
	dir := t.TempDir()
	cold("get, cached", dir, get)
	cold("recall, cached", dir, ask)
}

// resident returns the resident memory of the process with the ID pid in MB (2^20 bytes). It returns 0 if the memory
// cannot be read.
func resident(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if f := strings.Fields(string(b)); err == nil && len(f) > 1 {
		if pages, err := strconv.Atoi(f[1]); err == nil {
			return pages * os.Getpagesize() >> 20
		}
	}
	return 0
}

func TestFiguresMany(t *testing.T) {
	if !*figures {
		t.Skip("measures only: -figures")
	}
	ns := startNodes(t, false)
	c := connectTrio(t, ns.urls, Options{Dir: t.TempDir()})
	memory := func() (s string) {
		for _, n := range ns.all {
			s += fmt.Sprintf(" %d MB", resident(n.cmd.Process.Pid))
		}
		return s + fmt.Sprintf(", client %d MB", resident(os.Getpid()))
	}
	t.Logf("no brains: servers%s", memory())
	began := time.Now()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= *many; i = int(next.Add(1)) {
				s, err := c.Open(context.Background(), "acme", fmt.Sprint("b", i))
				if err == nil {
					err = s.Apply(context.Background(), oxbow.Add{Name: "a", Content: "some words of an entry"})
				}
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d brains, made in %s, none resident: servers%s", *many, time.Since(began).Round(time.Second), memory())
	var open []*Store
	for i := 1; i <= min(*many, 1000); i++ {
		s, err := c.Open(context.Background(), "acme", fmt.Sprint("b", i))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, s)
	}
	t.Logf("of which %d are resident: servers%s", len(open), memory())
	for _, s := range open {
		_ = s.Close()
	}
	copies := t.TempDir()
	for _, did := range []struct {
		what string
		do   func() error
	}{
		{"backup", func() error { _, err := c.Backup(t.Context(), copies, nil); return err }},
		{"backup, none changed", func() error { _, err := c.Backup(t.Context(), copies, nil); return err }},
		{"status", func() error { _, err := c.Status(t.Context()); return err }},
		{"audit", func() error { _, err := c.Audit(t.Context()); return err }},
	} {
		at := time.Now()
		if err := did.do(); err != nil {
			t.Errorf("%s: %v", did.what, err)
		}
		took := time.Since(at)
		t.Logf(
			"%s: %s, %.0f/s: servers%s",
			did.what,
			took.Round(10*time.Millisecond),
			float64(*many)/took.Seconds(),
			memory(),
		)
	}
}
