// This file tests leases. With a lease, a process trusts for a limited time that it knows the leader of a stream. A
// server may wrongly consider itself the leader, and its answers may then be outdated.

package jetstream

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
)

// revenant imitates a former leader that still answers requests. It first records the servers' answers to requests
// about streams. If the field answers is then set to n, revenant returns recorded answers to the next n requests that
// it has seen before. These answers are outdated. Later requests reach the servers.
type revenant struct {
	messageRequester
	mu       sync.Mutex // guards the fields below
	recorded map[string][]byte
	answers  int // number of requests that still get an outdated answer
	marks    int // number of requests whose subject ends with .mark
}

// RequestMsgWithContext implements messageRequester. It sends the message m, and counts messages to subjects that end
// with ".mark". For requests to JetStream's stream API, it also records the answers. If v.answers is greater than 0, it
// returns a recorded answer instead and decrements v.answers.
func (v *revenant) RequestMsgWithContext(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if strings.HasSuffix(m.Subject, ".mark") {
		v.marks++
	}
	if !strings.HasPrefix(m.Subject, "$JS.API.STREAM.") {
		return v.messageRequester.RequestMsgWithContext(ctx, m)
	}
	key := m.Subject + string(m.Data)
	if old := v.recorded[key]; old != nil && v.answers > 0 {
		v.answers--
		return &nats.Msg{Data: old}, nil
	}
	r, err := v.messageRequester.RequestMsgWithContext(ctx, m)
	if err == nil && v.answers == 0 {
		v.recorded[key] = r.Data
	}
	return r, err
}

func TestReadsAreThePresent(t *testing.T) {
	t.Parallel()
	tr := threeServers(t)
	o := Options{Partitions: 1}
	one, two := connectTrio(t, tr.urls, o), connectTrio(t, tr.urls, o)
	v := &revenant{messageRequester: one.requestSender.requester, recorded: map[string][]byte{}}
	one.requestSender.requester = v
	a := open(t, one, "b")
	b := open(t, two, "b")
	another := open(t, one, "another")
	ctx := t.Context()
	if err := b.Apply(ctx, oxbow.Add{Name: "e", Content: "old"}); err != nil {
		t.Fatal(err)
	}
	get := func(want string) {
		t.Helper()
		if e, err := a.Get(ctx, "e"); err != nil || e.Content != want {
			t.Errorf("Get() = %q, %v, want %q", e.Content, err, want)
		}
	}
	expire := func(change func(*leaderLease)) {
		one.mu.Lock()
		defer one.mu.Unlock()
		l := one.leaseByStream["BRAIN_00"]
		change(&l)
		one.leaseByStream["BRAIN_00"] = l
	}
	get("old")
	get("old") // uses the lease (trust in the leader's answers) that the first read has obtained
	if v.marks == 0 || len(v.recorded) < 2 {
		t.Fatalf("%d marks, %d answers recorded", v.marks, len(v.recorded))
	}

	t.Run("NoLease", func(t *testing.T) {
		update(t, b, "new")
		expire(func(l *leaderLease) { *l = leaderLease{} })
		v.answers = 6
		get("new")
		v.answers = 0
		get("new")
	})
	t.Run("ItSaysThatItHearsAll", func(t *testing.T) {
		update(t, b, "newest")
		if err := another.Apply(ctx, oxbow.Add{Name: "e"}); err != nil { // this write results in a lease
			t.Fatal(err)
		}
		expire(func(l *leaderLease) { l.leaderAskedAt = time.Time{} })
		v.answers = 6
		get("newest")
		v.answers = 0
	})
	t.Run("OneIsNotHeard", func(t *testing.T) {
		key := "$JS.API.STREAM.INFO.BRAIN_00"
		info, err := v.messageRequester.RequestMsgWithContext(ctx, nats.NewMsg(key))
		if err != nil {
			t.Fatal(err)
		}
		var r map[string]any
		if err := json.Unmarshal(info.Data, &r); err != nil {
			t.Fatal(err)
		}
		r["state"].(map[string]any)["last_seq"] = 1000000
		silent := r["cluster"].(map[string]any)["replicas"].([]any)[1].(map[string]any)
		silent["active"] = int64(3 * time.Second)
		answer, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		one.mu.Lock()
		seq := one.leaseByStream["BRAIN_00"].storedMessageSeq
		one.mu.Unlock()
		for range 3 { // each of the reads must be confirmed by a mark
			expire(func(l *leaderLease) { l.sentAt, l.leaderAskedAt = time.Now(), time.Time{} })
			v.mu.Lock()
			v.recorded, v.answers = map[string][]byte{key: answer}, 1
			v.mu.Unlock()
			get("newest")
		}
		one.mu.Lock()
		defer one.mu.Unlock()
		if now := one.leaseByStream["BRAIN_00"].storedMessageSeq; now < seq+3 {
			t.Errorf("%d messages more, want one for each of 3 reads", now-seq)
		}
	})
	t.Run("ReadsDoNotWrite", func(t *testing.T) {
		expire(func(l *leaderLease) { *l = leaderLease{} })
		v.marks, v.recorded = 0, map[string][]byte{}
		began := time.Now()
		for range 200 {
			get("newest")
		}
		if most := 2 + int(time.Since(began)/leaderLeaseLength); v.marks > most {
			t.Errorf("200 reads in %s stored %d messages, want %d at most", time.Since(began), v.marks, most)
		}
	})
}

// update sets the content of the entry with the name "e".
func update(t *testing.T, s *Store, content string) {
	t.Helper()
	if err := s.Apply(t.Context(), oxbow.Update{Name: "e", Content: content}); err != nil {
		t.Fatal(err)
	}
}
