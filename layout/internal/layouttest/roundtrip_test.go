// This file converts random homes of each layout into oxbow's own layout, and back into a new home of the layout.
// Nothing may be lost unless a report names it.
//
//	OXBOW_LONG=1 go test ./layout/internal/layouttest -run TestRoundTrip
//	go test ./layout/internal/layouttest -run TestRoundTrip -args -trees 1 -seed 17

package layouttest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/layouts"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

var (
	treeCount = flag.Int(
		"trees",
		testenv.RepeatCount(30, 2000),
		"number of generated homes of each design in TestRoundTrip",
	)
	firstSeed = flag.Uint64("seed", 1, "seed of the first home in TestRoundTrip")
)

func TestRoundTrip(t *testing.T) {
	for _, d := range layouts.All() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			sum := map[string]int{}
			for i := range *treeCount {
				seed := *firstSeed + uint64(i)
				r := &roundTrip{d: d, rand: rand.New(rand.NewPCG(seed, 1)), count: sum}
				if err := r.run(t.Context()); err != nil {
					t.Errorf("%v; repeat it with: go test ./layout/internal/layouttest -run TestRoundTrip/%s "+
						"-args -trees 1 -seed %d", err, d.Name, seed)
				}
			}
			t.Logf("%d homes: %v", *treeCount, sum)
			if sum["entries"] == 0 || (sum["edited files"] == 0 && d.File == "" && *treeCount >= 30) {
				t.Errorf("the homes had %d entries and %d edited files, so that the campaign tests too little",
					sum["entries"], sum["edited files"])
			}
		})
	}
}

// roundTrip converts one random home into oxbow's own layout and back. The map count contains numbers for the test's
// log, such as the number of converted entries ("entries") and of refused entries ("refused").
type roundTrip struct {
	d     layout.Dialect
	rand  *rand.Rand
	count map[string]int
}

func (r *roundTrip) run(ctx context.Context) error {
	was, theirs, err := r.makeHome(ctx)
	if err != nil {
		return err
	}
	if r.rand.IntN(3) == 0 {
		if err := r.foreign(ctx); err != nil {
			return errors.Join(err, theirs.Close())
		}
	}
	own, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		return err
	}
	err = r.convert(ctx, theirs.Memory().Store(), own.Store(), was)
	err = errors.Join(err, theirs.Close())
	if err == nil {
		err = r.back(ctx, own)
	}
	if rep, cerr := own.Check(ctx); cerr != nil || len(rep.Problems) > 0 {
		err = errors.Join(err, fmt.Errorf("Check: %v, %w", rep.Problems, cerr))
	}
	return errors.Join(err, own.Close())
}

// foreign fills a memory in oxbow's own layout with random entries, and converts it into a home of the tested layout.
// The tested layout may be unable to represent some entries. The conversion must then report these entries by name. If
// an entry differs and is not reported, foreign returns an error.
func (r *roundTrip) foreign(ctx context.Context) error {
	own, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		return err
	}
	for range 2 + r.rand.IntN(8) {
		err := own.Apply(ctx, r.add())
		if err != nil && !errors.Is(err, oxbow.ErrExists) {
			return errors.Join(err, own.Close())
		}
	}
	err = r.back(ctx, own)
	if err != nil {
		err = fmt.Errorf("from a memory that was never of the design: %w", err)
	}
	return errors.Join(err, own.Close())
}

// back converts the memory own, which has oxbow's own layout, into a new home of the tested layout. It returns an error
// if an entry of the new home differs from the original and the conversion does not report the difference. It then
// opens the new home a second time, as another process would, and returns an error if an entry is different.
func (r *roundTrip) back(ctx context.Context, own *oxbow.Memory) error {
	was, err := allEntries(ctx, own.Store())
	if err != nil {
		return err
	}
	fsys := vfs.NewMem()
	to, err := r.open(ctx, fsys)
	if err != nil {
		return err
	}
	err = r.convert(ctx, own.Store(), to.Memory().Store(), was)
	now, rerr := allEntries(ctx, to.Memory().Store())
	if err := errors.Join(err, rerr, to.Close()); err != nil {
		return fmt.Errorf("back: %w", err)
	}
	again, err := r.open(ctx, fsys)
	if err != nil {
		return err
	}
	reread, err := allEntries(ctx, again.Memory().Store())
	return errors.Join(err, diffEntries("the new home, read again", now, reread, nil), again.Close())
}

func (r *roundTrip) open(ctx context.Context, fsys vfs.FS) (layout.Home, error) {
	return r.d.Open(ctx, sharedHome{fsys, r.d}.options())
}

// convert copies all entries of the store from to the store to. It returns an error if the copy differs from the
// entries in the map was, except for entries that the conversion reports as adapted or refused.
func (r *roundTrip) convert(ctx context.Context, from, to oxbow.Store, was map[string]oxbow.Entry) error {
	rep, err := exchange.Convert(ctx, from, to, &exchange.ConvertOptions{MayAdaptEntries: true})
	if err != nil {
		return err
	}
	r.count["entries"] += rep.EntryCount
	now, err := allEntries(ctx, to)
	if err != nil {
		return err
	}
	isNamed := map[string]bool{}
	for _, e := range rep.AdaptedEntries {
		isNamed[e.Name] = true
		r.count["adapted"]++
	}
	for _, e := range rep.RefusedEntries {
		isNamed[e.Name] = true
		r.count["refused"]++
		r.count["refused: "+e.Reason]++
	}
	return diffEntries("after a conversion", was, now, isNamed)
}

// makeHome creates a home with 2 to 9 random entries. At random, in half of the calls, it closes the home, lets a
// person edit a file and opens the home again, unless the layout has a single file. It returns the entries by name, and
// the home. Entries that the layout does not accept are counted.
func (r *roundTrip) makeHome(ctx context.Context) (map[string]oxbow.Entry, layout.Home, error) {
	fsys := vfs.NewMem()
	h, err := r.open(ctx, fsys)
	if err != nil {
		return nil, nil, err
	}
	for range 2 + r.rand.IntN(8) {
		err := h.Memory().Apply(ctx, r.add())
		switch {
		case errors.Is(err, oxbow.ErrUnsupported), errors.Is(err, oxbow.ErrInvalid), errors.Is(err, oxbow.ErrExists):
			r.count["not accepted"]++
		case err != nil:
			return nil, nil, errors.Join(err, h.Close())
		}
	}
	if r.rand.IntN(2) == 0 && r.d.File == "" {
		if err := errors.Join(h.Close(), r.editFile(fsys)); err != nil {
			return nil, nil, err
		}
		h, err = r.open(ctx, fsys)
		if err != nil {
			return nil, nil, err
		}
	}
	was, err := allEntries(ctx, h.Memory().Store())
	return was, h, err
}

// editFile appends text to a Markdown file.
func (r *roundTrip) editFile(fsys vfs.FS) error {
	names, err := markdownFiles(fsys, ".")
	if err != nil || len(names) == 0 {
		return err
	}
	name := r.pick(names)
	text, err := vfs.ReadFile(fsys, name, 1<<20)
	if err != nil {
		return err
	}
	r.count["edited files"]++
	return vfs.WriteFile(fsys, name, append(text, "\n"+r.content()+"\n"...), 0o600)
}

// markdownFiles returns the names of all Markdown files that people edit.
func markdownFiles(fsys vfs.FS, dir string) (names []string, err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".oxbow") && e.Name() != "undo" {
			below, err := markdownFiles(fsys, name)
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
		} else if strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
	}
	return names, nil
}

func (r *roundTrip) pick(from []string) string { return from[r.rand.IntN(len(from))] }

func (r *roundTrip) content() string {
	parts := []string{
		"one line\n",
		"two\n",
		"---\ntitle: x\n---\n",
		"\r\nwindows\r\n",
		"\n\n",
		"# Title\n",
		"## Part\n",
		"  indented\n",
		"no end",
		"日本語\n",
		"a\tb\n",
		"- item\n",
		"```\n# code\n---\n```\n",
		"---\n",
		"<!-- c -->\n",
		"key: value\n",
		"## 2026-04-17\n",
		"> quoted\n",
		"* * *\n",
		"[link](x.md)\n",
	}
	var b strings.Builder
	for range 1 + r.rand.IntN(5) {
		b.WriteString(r.pick(parts))
	}
	return fmt.Sprintf("%s%d", b.String(), r.rand.IntN(1000))
}

// add returns a random entry, which the layout may not be able to represent.
func (r *roundTrip) add() oxbow.Add {
	names := []string{"deploy", "Deploy", "a/b", "a:b", "what?", "CON", "über uns", "日本", "x.md", ".hidden", "50%",
		"MEMORY", "2026-04-17", "MEMORY > Part", "MEMORY.md#Part", "world", "journal", "a - b", "q\"uote", "🙂"}
	add := oxbow.Add{Name: r.pick(names), Content: r.content()}
	add.Kind = oxbow.Kind(r.rand.IntN(int(oxbow.Handoff) + 1))
	if r.rand.IntN(2) == 0 {
		add.Kind = oxbow.Note
	}
	if r.rand.IntN(3) == 0 {
		add.Created = time.Date(2026, 4, 1+r.rand.IntN(17), r.rand.IntN(24), r.rand.IntN(60), 0, 0, time.UTC)
	}
	if r.rand.IntN(2) == 0 {
		add.Labels = []oxbow.Label{{Key: "tag", Value: r.pick([]string{"x", "y & z", "<t>", "ü", "a: b"})}}
	}
	if r.rand.IntN(4) == 0 {
		add.Aliases = []string{"alias of " + add.Name}
	}
	return add
}

func allEntries(ctx context.Context, s oxbow.Store) (map[string]oxbow.Entry, error) {
	all := map[string]oxbow.Entry{}
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		all[e.Name] = e.Clone()
	}
	return all, nil
}

// diffEntries compares the entries want with the entries got. It returns an error for the first entry of want that is
// missing in got or different there, unless isNamed contains its name. It also returns an error for an entry of got
// that is not in want. Only the kinds, contents, aliases, labels and creation times are compared. The argument what is
// the beginning of the error.
func diffEntries(what string, want, got map[string]oxbow.Entry, isNamed map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		a := want[name]
		b, exists := got[name]
		describe := func(e oxbow.Entry) string {
			return fmt.Sprintf("%v %q %q %v %v", e.Kind, e.Content, e.Aliases, oxbow.SortLabels(e.Labels),
				e.Created.UTC().Format(time.DateTime))
		}
		switch {
		case isNamed[name]:
		case !exists:
			return fmt.Errorf("%s: %q is gone, without a word: it was %s", what, name, describe(a))
		case describe(a) != describe(b):
			return fmt.Errorf("%s: %q is\n\t%s, not\n\t%s", what, name, describe(b), describe(a))
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			return fmt.Errorf("%s: %q was not there before", what, name)
		}
	}
	return nil
}
