// Tests how the age of entries ranks them.

package oxbow_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestRecency tests recalls with a half-life (Query.Recency). Among equally good entries, the newer entry must come
// first. A much better entry must remain before newer entries. The field "age" of the explanation must contain the loss
// of score because of the age. The time Created counts as the age only if an entry records a moment or was imported.
func TestRecency(t *testing.T) {
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }})
	old, imported := now.AddDate(0, -2, 0), oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported})
	for _, w := range []struct {
		ctx context.Context
		op  oxbow.Op
	}{
		{t.Context(), oxbow.Add{Name: "note", Content: "the price of rope", Created: old}},
		{t.Context(), oxbow.Add{Name: "moment", Kind: oxbow.Archive, Content: "the price of rope", Created: old}},
		{imported, oxbow.Add{Name: "read", Content: "the price of rope", Created: old.AddDate(0, -2, 0)}},
		{t.Context(), oxbow.Add{Name: "more", Kind: oxbow.Journal, Content: "rope price, rope price", Created: old}},
	} {
		if err := m.Apply(w.ctx, w.op); err != nil {
			t.Fatal(err)
		}
	}
	for _, rank := range []string{oxbow.RankOxbow, oxbow.RankSeed} {
		q := oxbow.Query{Text: "price rope", Recency: 30 * 24 * time.Hour, Explain: true, Rank: rank}
		hits, err := m.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.Entry.Name)
			sum, age := 0.0, 0.0
			for _, ts := range h.Explanation.Terms {
				for _, f := range ts.Fields {
					sum += f.Score
					if f.Field == "age" {
						age += f.Score
					}
				}
			}
			if math.Abs(sum-h.Score) > 1e-9 || (age < 0) != (h.Entry.Name != "note") {
				t.Errorf(
					"%s: score of %s is %v, its fields sum to %v, age takes %v",
					rank,
					h.Entry.Name,
					h.Score,
					sum,
					age,
				)
			}
		}
		if want := "note more moment read"; strings.Join(got, " ") != want {
			t.Errorf("%s: found %q, want %q", rank, got, want)
		}
		// Half of the score does not depend on the age. The other half is halved with each half-life, so that after two
		// half-lives the factor is ½ + ½/4.
		q.Recency, q.Now = time.Hour, old.Add(2*time.Hour)
		plain, err := m.Recall(t.Context(), oxbow.Query{Text: "price rope", Rank: rank})
		if err != nil {
			t.Fatal(err)
		}
		hits, err = m.Recall(t.Context(), q)
		if err != nil || scoreOf(hits, "moment") != 0.625*scoreOf(plain, "moment") {
			t.Errorf(
				"%s: score of moment is %v, %v, want .625 of %v",
				rank,
				scoreOf(hits, "moment"),
				err,
				scoreOf(plain, "moment"),
			)
		}
	}
	if _, err := m.Recall(t.Context(), oxbow.Query{Text: "x", Recency: -1}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Recall with a half-life below 0: %v", err)
	}
}

func scoreOf(hits []oxbow.Hit, name string) float64 {
	for _, h := range hits {
		if h.Entry.Name == name {
			return h.Score
		}
	}
	return -1
}

// TestRecencyIsExact tests Recall with a half-life (Query.Recency). The scores must equal those of a search without a
// half-life, if each score is multiplied by a factor that depends on the entry's age, and the entries are sorted again.
func TestRecencyIsExact(t *testing.T) {
	testenv.SkipInShortMode(t)
	rng := rand.New(rand.NewPCG(3, 4))
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }})
	words := strings.Fields("boat tower harbour trip ship sail lamp oil rope tide moon mast")
	some := func(n int) string {
		var ws []string
		for range 1 + rng.IntN(n) {
			ws = append(ws, words[min(rng.IntN(len(words)), rng.IntN(len(words)))])
		}
		return strings.Join(ws, " ")
	}
	var ops []oxbow.Op
	for i := range 900 {
		ops = append(
			ops,
			oxbow.Add{
				Name:    strconv.Itoa(i),
				Kind:    oxbow.Archive,
				Content: some(12),
				Created: now.AddDate(0, 0, -rng.IntN(400)),
			},
		)
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		q := oxbow.Query{Text: some(4), Limit: 10, Recency: time.Duration(1+rng.IntN(200)) * 24 * time.Hour}
		got, err := m.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all, err := m.Recall(t.Context(), oxbow.Query{Text: q.Text, Limit: oxbow.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			age := float64(now.Sub(all[i].Entry.Created)) / float64(q.Recency)
			all[i].Score *= .5 + .5*math.Exp2(-age)
		}
		slices.SortStableFunc(all, func(a, b oxbow.Hit) int { return cmp.Compare(b.Score, a.Score) })
		for i := range got {
			if math.Abs(got[i].Score-all[i].Score) > 1e-12 {
				t.Fatalf(
					"%q, half-life %v: hit %d scores %v, want %v",
					q.Text,
					q.Recency,
					i,
					got[i].Score,
					all[i].Score,
				)
			}
		}
		if len(got) != min(10, len(all)) {
			t.Fatalf("%q: %d hits of %d", q.Text, len(got), len(all))
		}
	}
}
