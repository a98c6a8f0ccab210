// This file synchronizes two homes with a server after random edits and with interruptions. No line may be lost, all
// sides must become equal, and conflicts may occur only if both sides changed the same or adjacent lines.

package reconcile

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

var (
	seed   = flag.Uint64("seed", 0, "of one random round, instead of many")
	rounds = flag.Int("rounds", 6, "how many random rounds there are of each kind")
)

// writer edits a home, and records which lines must exist afterwards.
type writer struct {
	*home
	r       *rand.Rand
	own     string          // prefix of each line that this writer writes
	apart   bool            // the writer changes only its own lines, and removes no entry
	written map[string]bool // lines written by all writers
	dropped map[string]bool // lines removed by all writers
	given   map[string]bool // aliases that any of the writers added to an entry
	n       *int
}

// giveAlias adds an alias to an entry, unless another entry already has the alias. The alias contains the writer's
// counter divided by 20, so different homes give the same aliases while their counters are close to each other.
func (w *writer) giveAlias(t testing.TB, e oxbow.Entry) {
	t.Helper()
	alias := fmt.Sprint("alias ", *w.n/20)
	op := oxbow.Update{Name: e.Name, Content: e.Content, Labels: e.Labels, If: e.Version, UniqueAliases: true,
		Aliases: append(slices.Clone(e.Aliases), alias)}
	err := w.Apply(t.Context(), op)
	if err == nil {
		w.given[alias] = true
	} else if !errors.Is(err, oxbow.ErrInvalid) {
		t.Fatal(err)
	}
}

func (w *writer) line() string {
	*w.n++
	l := fmt.Sprintf("%s line %d", w.own, *w.n)
	w.written[l] = true
	return l
}

func (w *writer) drop(content string) {
	for l := range strings.Lines(content) {
		w.dropped[strings.TrimSuffix(l, "\n")] = true
	}
}

func (w *writer) edit(t testing.TB) {
	t.Helper()
	all := slices.Sorted(maps.Keys(shown(t, w.Memory)))
	if len(all) < 3 || w.r.IntN(10) == 0 {
		w.apply(oxbow.Add{Name: fmt.Sprintf("%s entry %d", w.own, *w.n), Content: w.line() + "\n" + w.line() +
			"\nanchor\n" + w.line()})
		return
	}
	e, err := w.Get(t.Context(), all[w.r.IntN(len(all))])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(e.Content, "\n")
	switch op := w.r.IntN(10); {
	case op == 0 && !w.apart:
		w.drop(e.Content)
		w.apply(oxbow.Remove{Name: e.Name, If: e.Version})
		return
	case op == 1 && !w.apart:
		*w.n++
		aliases := append(slices.Clone(e.Aliases), e.Name)
		w.apply(
			oxbow.Remove{Name: e.Name, If: e.Version},
			oxbow.Add{Name: fmt.Sprintf("%s name %d", w.own, *w.n), Content: e.Content,
				Aliases: aliases[max(0, len(aliases)-5):], Labels: e.Labels, Created: e.Created},
		)
		return
	case op == 2:
		w.apply(oxbow.Relabel{
			Name: e.Name,
			Labels: oxbow.SortLabels(append(
				slices.Clone(e.Labels),
				oxbow.Label{Key: "tag", Value: fmt.Sprint(w.own, w.r.IntN(5))},
			)),
		})
		return
	case op == 3:
		w.giveAlias(t, e)
		return
	}
	// The range of lines that the writer may edit. Writers that edit apart use the lines before or after a separating
	// line.
	from, to := 0, len(lines)
	if i := slices.Index(lines, "anchor"); w.apart && i >= 0 {
		from = i + 1
		if w.own == "a" {
			from, to = 0, i
		}
	}
	i := from + w.r.IntN(to-from+1)
	if i < to && w.r.IntN(2) == 0 && strings.Contains(lines[i], " line ") {
		w.drop(lines[i])
		lines[i] = w.line()
	} else {
		lines = slices.Insert(lines, i, w.line())
	}
	w.apply(oxbow.Update{Name: e.Name, Content: strings.Join(lines, "\n"), Aliases: e.Aliases, Labels: e.Labels,
		If: e.Version})
}

func TestRandom(t *testing.T) {
	rounds := *rounds
	if testing.Short() {
		rounds = min(rounds, 1) // A round is slow, and -short must be fast.
	}
	for _, apart := range []bool{false, true} {
		for i := range uint64(rounds) {
			if *seed != 0 {
				i = *seed - 1
			}
			t.Run(fmt.Sprintf("apart %v seed %d", apart, i+1), func(t *testing.T) { randomRound(t, i+1, apart) })
			if *seed != 0 {
				break
			}
		}
	}
}

func randomRound(t *testing.T, seed uint64, apart bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t)
	written := map[string]bool{}
	dropped := map[string]bool{}
	given := map[string]bool{}
	n := 0
	var homes []*writer
	for _, own := range []string{"a", "b"} {
		homes = append(homes, &writer{w.home(own), r, own, apart, written, dropped, given, &n})
	}
	edits := []int{200, 200}
	for edits[0]+edits[1] > 0 {
		i := r.IntN(2)
		h := homes[i]
		if edits[i] > 0 && r.IntN(4) > 0 {
			h.edit(t)
			edits[i]--
			continue
		}
		cut := r.IntN(2) == 0
		if cut {
			left := r.IntN(6)
			before := r.IntN(2) == 0
			w.cutBy(func(*http.Request) (bool, bool) {
				left--
				return left < 0 && before, left < 0 && !before
			})
		}
		if !cut && r.IntN(3) == 0 { // the other home pushes after this home has read the server and before it pushes
			other := homes[1-i]
			w.between = func() { other.push() }
		}
		fn, push := Pull, r.IntN(2) == 0
		if push {
			fn = Push
		}
		_, err := h.run(fn, r.IntN(8) == 0)
		if err != nil && !cut {
			t.Fatal(err)
		}
		w.cutBy(nil)
		w.between = nil
		if !apart && r.IntN(30) == 0 { // simulate a state file that was not written completely
			b := []byte("{}")
			if f, err := h.files.OpenFile("state", 2, 0o600); err == nil {
				_, _ = f.WriteAt(b, 40)
				_ = f.Close()
			}
		}
	}
	settle(t, w, homes)
	stores := []oxbow.Store{w.server, homes[0], homes[1]}
	same(t, "at the end", stores...)
	owners := uniqueAliases(t, w.server)
	for alias := range given {
		if apart && owners[alias] == "" { // this is certain only if entries are not removed and keep their names
			t.Errorf("%q identifies no entry any more", alias)
		}
	}
	at := map[string]bool{}
	conflicts := 0
	for e, err := range w.server.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(e.Content, "\n") {
			at[l] = true
		}
		if _, ok := e.Label("conflict"); ok {
			conflicts++
		}
	}
	lost := 0
	for l := range written {
		if !at[l] && !dropped[l] {
			t.Errorf("%q was lost", l)
			lost++
		}
	}
	if apart && conflicts > 0 {
		t.Errorf("%d conflicts, where lines apart were changed", conflicts)
	}
	t.Logf(
		"%d lines written, %d dropped, %d lost, %d entries, %d with conflicts, %d requests",
		len(written),
		len(dropped),
		lost,
		len(shown(t, w.server)),
		conflicts,
		w.asked.Load(),
	)
}

// settle lets all homes pull and push until nothing changes any more.
func settle(t *testing.T, w *world, homes []*writer) {
	t.Helper()
	for range 20 {
		did := 0
		for _, h := range homes {
			did += len(h.pull().Changes)
			rep := h.push()
			did += len(rep.Changes) + len(rep.UnsentEntries)
		}
		if did == 0 {
			return
		}
	}
	t.Error("it does not settle")
}
