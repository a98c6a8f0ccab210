// This file tests, with random trees, that files are read back into a memory correctly. TestTwoSides writes a memory to
// files, changes both the files and the memory as people and agents would, and reads the files back. Nothing may be
// lost, and every conflict must be reported. The flags set the number of trees and the seed of the first tree:
//
//	go test ./internal/tree/mdtree -run TestTwoSides -args -trees 10000
//	go test ./internal/tree/mdtree -run TestTwoSides -args -trees 1 -seed 17

package mdtree

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/threeway"
	"github.com/oxbow-memory/oxbow/vfs"
)

var (
	treeCount = flag.Int("trees", 150, "number of generated trees in TestTwoSides")
	firstSeed = flag.Uint64("seed", 1, "seed of the first tree in TestTwoSides")
)

func TestTwoSides(t *testing.T) {
	sum := map[string]int{}
	for i := range *treeCount {
		seed := *firstSeed + uint64(i)
		r := &twoSides{rand: rand.New(rand.NewPCG(seed, 0)), fsys: vfs.NewMem(), count: sum}
		if err := r.run(t); err != nil {
			t.Errorf("%v; repeat it with: go test ./internal/tree/mdtree -run TestTwoSides -args -trees 1 -seed %d",
				err, seed)
		}
	}
	t.Logf("%d trees: %v", *treeCount, sum)
	for _, what := range []string{"file changed", "store changed", "both changed", "same change", "file deleted",
		"file added", "conflict", "files win", "merged", "pruned", "read in part"} {
		if sum[what] == 0 && *treeCount >= 150 {
			t.Errorf("no tree had the case %q, so that the campaign tests too little", what)
		}
	}
}

// twoSides is a run of TestTwoSides with one random tree. The map count contains how often each case occurred, such as
// "conflict".
type twoSides struct {
	rand  *rand.Rand
	fsys  *vfs.Mem
	m     *oxbow.Memory
	count map[string]int

	base  map[string]oxbow.Entry // entries that were dumped
	files map[string]oxbow.Entry // entries that the files should contain now
	paths map[string]string      // path of each name
}

func (r *twoSides) run(t *testing.T) (err error) {
	r.m, err = oxbow.Open("memory.oxbow", &oxbow.Options{FS: r.fsys})
	if err != nil {
		return err
	}
	defer func() {
		if rep, cerr := r.m.Check(t.Context()); cerr != nil || len(rep.Problems) > 0 {
			err = errors.Join(err, fmt.Errorf("Check: %v, %w", rep.Problems, cerr))
		}
		err = errors.Join(err, r.m.Close())
	}()
	if err := r.fill(t); err != nil {
		return err
	}
	if err := r.dump(t); err != nil {
		return err
	}
	if err := r.editBoth(t); err != nil {
		return err
	}
	if err := r.refusedDump(t); err != nil {
		return err
	}
	if err := r.load(t); err != nil {
		return err
	}
	// The memory can be dumped again after the load, unless an edit was not loaded.
	if err := r.dump(t); err != nil {
		return fmt.Errorf("the dump after the load: %w", err)
	}
	now, err := r.entries(t)
	if err != nil {
		return err
	}
	return diffEntries("the tree after everything", r.base, now)
}

// sideNames are names for entries: ordinary names, names that are difficult for file systems, names that are equal
// except for case, and names in other scripts.
var sideNames = []string{"deploy", "Deploy", "a/b", "a:b", "what?", "CON", "über uns", "日本", "x.md", ".hidden",
	"two  words", "trail ", "50%", "a%2Fb", "<b>", "-", "empty note", "q\"uote", "🙂"}

func (r *twoSides) pick(from []string) string { return from[r.rand.IntN(len(from))] }

func (r *twoSides) content() string {
	parts := []string{"one line\n", "two\n", "---\ntitle: x\n---\n", "\r\nwindows\r\n", "\n\n", "<div id=\"meta\">\n",
		"</div>\n", "# Title\n", "  indented\n", "no end", "日本語\n", "a\tb\n", "{{#include x}}\n"}
	var b strings.Builder
	for range 1 + r.rand.IntN(4) {
		b.WriteString(r.pick(parts))
	}
	return fmt.Sprintf("%s%d", b.String(), r.rand.IntN(1000))
}

func (r *twoSides) entry(name string) oxbow.Entry {
	e := oxbow.Entry{Name: name, Kind: oxbow.Note, Content: r.content(), Created: noon}
	if r.rand.IntN(4) == 0 {
		e.Kind = oxbow.Archive
	}
	if r.rand.IntN(3) == 0 {
		e.Created = noon.Add(time.Duration(r.rand.Int64N(1e15)))
	}
	for range r.rand.IntN(3) {
		e.Labels = append(e.Labels, oxbow.Label{Key: "tag", Value: r.pick([]string{"x", "y & z", "<t>", "ü"})})
	}
	e.Labels = oxbow.SortLabels(e.Labels)
	if r.rand.IntN(3) == 0 {
		e.Aliases = []string{"alias of " + name}
	}
	return e
}

func (r *twoSides) fill(t *testing.T) error {
	names := slices.Clone(sideNames)
	r.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:2+r.rand.IntN(8)] {
		e := r.entry(strings.TrimSpace(name))
		if err := r.m.Apply(t.Context(), threeway.NewAddOp(&e)); err != nil {
			return err
		}
	}
	return nil
}

// origin returns the identity that a dump records, so that a later load recognizes the memory and finds its changes
// since the dump. As in the oxbow program, the identity is the memory's position in the log, as hexadecimal digits.
func (r *twoSides) origin(t *testing.T) (StoreIdentity, error) {
	at, err := r.m.Store().(oxbow.Sequencer).Position(t.Context())
	return StoreIdentity{Name: hex.EncodeToString([]byte(at)), IsNameOfStore: func(was string) bool {
		b, err := hex.DecodeString(was)
		return err == nil && oxbow.Position(b).Precedes(at)
	}, ChangesSince: func(ctx context.Context, was string) iter.Seq2[oxbow.Delta, error] {
		b, err := hex.DecodeString(was)
		if err != nil {
			t.Error(err)
		}
		return r.m.Store().(oxbow.Sequencer).Since(ctx, oxbow.Position(b))
	}}, err
}

// entries returns the entries of the memory by name, with the fields that files contain.
func (r *twoSides) entries(t *testing.T) (map[string]oxbow.Entry, error) {
	all := map[string]oxbow.Entry{}
	for e, err := range r.m.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		all[e.Name] = fileEntry(&e)
	}
	return all, nil
}

func fileEntry(e *oxbow.Entry) oxbow.Entry {
	return oxbow.Entry{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases,
		Labels: oxbow.SortLabels(withoutLocalLabels(e.Labels)), Created: e.Created}
}

// dump dumps the memory, and checks that the files contain its entries.
func (r *twoSides) dump(t *testing.T) error {
	origin, err := r.origin(t)
	if err != nil {
		return err
	}
	if _, err := Dump(t.Context(), r.m, r.fsys, "brain",
		&DumpOptions{DumpedStoreIdentity: origin, maxNewFileBytesInMemory: 200}); err != nil {
		return err
	}
	r.base, err = r.entries(t)
	if err != nil {
		return err
	}
	tree, err := ReadTree(r.fsys, "brain", nil)
	if err != nil {
		return err
	}
	r.files, r.paths = map[string]oxbow.Entry{}, map[string]string{}
	for i, e := range tree.Entries {
		r.files[e.Name] = fileEntry(&e)
		r.paths[e.Name] = tree.EntryPaths[i]
	}
	return diffEntries("the dumped tree", r.files, r.base)
}

// editBoth edits files like a person, and changes the memory like an agent.
func (r *twoSides) editBoth(t *testing.T) error {
	for _, name := range slices.Sorted(maps.Keys(r.base)) {
		e := r.base[name]
		mine, theirs := e, e
		switch r.rand.IntN(8) {
		case 0, 1:
			mine = r.changed(e)
		case 2:
			theirs = r.changed(e)
		case 3:
			mine = r.changed(e)
			theirs = r.changed(e)
		case 4:
			mine = r.changed(e)
			theirs = mine
		case 5:
			if len(r.files) == 1 {
				continue // keep the last file, because a load refuses a tree without files
			}
			delete(r.files, name)
			if err := r.fsys.Remove("brain/" + r.paths[name]); err != nil {
				return err
			}
			if r.rand.IntN(2) == 0 {
				continue
			}
			if err := r.apply(t, e, r.changed(e)); err != nil {
				return err
			}
			continue
		case 6:
			if err := r.m.Apply(t.Context(), oxbow.Remove{Name: name}); err != nil {
				return err
			}
			if r.rand.IntN(2) == 0 {
				continue
			}
			r.edit(t, r.changed(e))
			continue
		}
		r.edit(t, mine)
		if err := r.apply(t, e, theirs); err != nil {
			return err
		}
	}
	if r.rand.IntN(2) == 0 {
		e := r.entry("new in files")
		r.paths[e.Name] = kindDirectory(e.Kind) + "/new in files.md"
		r.edit(t, e)
	}
	if r.rand.IntN(2) == 0 {
		e := r.entry("new in memory")
		return r.m.Apply(t.Context(), threeway.NewAddOp(&e))
	}
	return nil
}

// apply changes an entry of the memory from one state to another.
func (r *twoSides) apply(t *testing.T, from, to oxbow.Entry) error {
	if sameFile(&from, &to) {
		return nil
	}
	return r.m.Apply(t.Context(), oxbow.Update{Name: from.Name, Content: to.Content,
		Aliases: to.Aliases, Labels: to.Labels})
}

// changed returns an entry that differs from e in content, labels or aliases.
func (r *twoSides) changed(e oxbow.Entry) oxbow.Entry {
	switch r.rand.IntN(5) {
	case 0:
		added := oxbow.Label{Key: "tag", Value: fmt.Sprint(r.rand.IntN(1e9))}
		e.Labels = oxbow.SortLabels(append(slices.Clone(e.Labels), added))
	case 1:
		e.Aliases = append(slices.Clone(e.Aliases), fmt.Sprint("also ", r.rand.IntN(1e9)))
	case 2:
		e.Content += fmt.Sprint(" more ", r.rand.IntN(1e9))
	case 3:
		e.Content = fmt.Sprint("first ", r.rand.IntN(1e9), "\n", e.Content)
	default:
		e.Content = r.content() + fmt.Sprint(r.rand.IntN(1e9))
	}
	return e
}

// edit writes the file of the entry e as if a person had edited it. At random, in one of four calls, the file gets an
// additional line break at its end.
func (r *twoSides) edit(t *testing.T, e oxbow.Entry) {
	p := r.paths[e.Name]
	showName := decodeFileStem(fileStem(p)) != e.Name
	text := string(entryText{Entry: &e, includesName: showName}.appendFileText(nil))
	if r.rand.IntN(4) == 0 {
		text += "\n"
	}
	put(t, r.fsys, "brain/"+p, text)
	r.files[e.Name] = e
}

// refusedDump tests a dump into files that were edited and not yet loaded into the memory. Dump must fail with
// ErrFilesEdited, name the files whose edits the memory does not have, and change no file. If there are no such files,
// refusedDump returns nil without a dump.
func (r *twoSides) refusedDump(t *testing.T) error {
	before := files(t, r.fsys, "brain")
	origin, err := r.origin(t)
	if err != nil {
		return err
	}
	have, err := r.entries(t)
	if err != nil {
		return err
	}
	var lost []string
	for name, e := range r.files {
		now, known := have[name]
		was, dumped := r.base[name]
		isEdit := !dumped || !sameFile(&e, &was)
		if isEdit && !(known && sameFile(&e, &now)) {
			lost = append(lost, r.paths[name])
		}
	}
	if len(lost) == 0 {
		return nil
	}
	_, err = Dump(
		t.Context(),
		r.m,
		r.fsys,
		"brain",
		&DumpOptions{DumpedStoreIdentity: origin, maxNewFileBytesInMemory: 200},
	)
	fe, ok := errors.AsType[*FilesError](err)
	slices.Sort(lost)
	if !ok || !errors.Is(err, ErrFilesEdited) || !slices.Equal(fe.Files, lost) {
		return fmt.Errorf("a dump over edits = %v, want a refusal that names %q", err, lost)
	}
	if d := diffFiles(files(t, r.fsys, "brain"), before); d != "" {
		return fmt.Errorf("the refused dump changed files:\n%s", d)
	}
	return nil
}

// load loads the files of the directory brain into the memory, sometimes in ReplaceMode, and compares the memory with
// the entries that expect returns. If files are in conflict with the memory, the first attempt must fail with
// ErrDiverged and name these files. The second attempt has the option PrefersFiles. The load must not change files.
func (r *twoSides) load(t *testing.T) error {
	before := files(t, r.fsys, "brain")
	have, err := r.entries(t)
	if err != nil {
		return err
	}
	o := PlanOptions{}
	if r.rand.IntN(3) == 0 {
		o.Mode = ReplaceMode
		o.RemovesMissing = true
	}
	want, conflicts := r.expect(have, o)
	plan, err := r.plan(t, o)
	if len(conflicts) > 0 {
		r.count["conflict"]++
		fe, ok := errors.AsType[*FilesError](err)
		if !ok || !errors.Is(err, ErrDiverged) || !slices.Equal(fe.Files, conflicts) {
			return fmt.Errorf("the load = %v, want a refusal that names the conflicts %q", err, conflicts)
		}
		r.count["files win"]++
		o.PrefersFiles = true
		want, _ = r.expect(have, o)
		plan, err = r.plan(t, o)
	}
	if err != nil {
		return fmt.Errorf("the load: %w", err)
	}
	if len(plan.StoreOps) > 0 {
		if err := r.m.Apply(t.Context(), plan.StoreOps...); err != nil {
			return err
		}
	}
	now, err := r.entries(t)
	if err != nil {
		return err
	}
	if d := diffFiles(files(t, r.fsys, "brain"), before); d != "" {
		return fmt.Errorf("the load changed files:\n%s", d)
	}
	return diffEntries(fmt.Sprintf("the memory after the load with %+v", o.Mode), now, want)
}

func (r *twoSides) plan(t *testing.T, o PlanOptions) (LoadPlan, error) {
	read := &ReadOptions{SkipUnchanged: r.rand.IntN(2) == 0}
	tree, err := ReadTree(r.fsys, "brain", read)
	if err != nil {
		return LoadPlan{}, err
	}
	again, err := ReadTree(r.fsys, "brain", read)
	if err != nil {
		return LoadPlan{}, err
	}
	o.Origin, err = r.origin(t)
	if err != nil {
		return LoadPlan{}, err
	}
	s := &scanCounter{Store: r.m}
	plan, err := tree.PlanLoadIntoStore(t.Context(), s, &o)
	if read.SkipUnchanged && s.scans == 0 {
		r.count["read in part"]++
	}
	// The plan must be the same if it reads all entries of the memory.
	o.Origin.ChangesSince = nil
	whole, wholeErr := again.PlanLoadIntoStore(t.Context(), r.m, &o)
	if !reflect.DeepEqual(plan, whole) || fmt.Sprint(err) != fmt.Sprint(wholeErr) {
		return plan, fmt.Errorf("the plan is\n%+v (%v)\nand, if all entries are read,\n%+v (%v)",
			plan, err, whole, wholeErr)
	}
	return plan, err
}

// scanCounter is a store that counts in the field scans how often all its entries are read without a filter.
type scanCounter struct {
	oxbow.Store
	scans int
}

func (s *scanCounter) Capabilities() oxbow.Capabilities { return oxbow.CapabilitiesOf(s.Store) }

func (s *scanCounter) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	if f.IsZero() {
		s.scans++
	}
	return s.Store.Entries(ctx, f)
}

// expect returns the entries that the memory must have after a load with the options o, and the paths of the files in
// conflict. The parameter have contains the entries before the load. A file is in conflict if the file and its entry
// both changed since the last dump, and the changes cannot be merged. The function counts the cases that occur in
// r.count.
func (r *twoSides) expect(have map[string]oxbow.Entry, o PlanOptions) (map[string]oxbow.Entry, []string) {
	want := maps.Clone(have)
	var conflicts []string
	names := maps.Clone(have)
	maps.Copy(names, r.base)
	maps.Copy(names, r.files)
	for name := range names {
		was, dumped := r.base[name]
		file, hasFile := r.files[name]
		now, known := have[name]
		fileChanged := hasFile != dumped || (hasFile && !sameFile(&file, &was))
		storeChanged := known != dumped || (known && !sameFile(&was, &now))
		inConflict := false
		switch {
		case !fileChanged && storeChanged:
			r.count["store changed"]++
			if o.Mode == ReplaceMode && o.PrefersFiles && !dumped {
				delete(want, name)
			}
		case !fileChanged:
		case !hasFile: // the file was deleted
			r.count["file deleted"]++
			if o.Mode == ReplaceMode && known {
				r.count["pruned"]++
				inConflict = storeChanged
				delete(want, name)
			}
		case !storeChanged:
			r.count[map[bool]string{true: "file changed", false: "file added"}[dumped]]++
			want[name] = file
		case known && sameFile(&file, &now):
			r.count["same change"]++
		default:
			r.count["both changed"]++
			merged, ok := mergeSides(&was, &file, &now)
			inConflict = !(known && dumped && ok)
			want[name] = file
			if !inConflict && !o.PrefersFiles {
				r.count["merged"]++
				want[name] = merged
			}
		}
		if inConflict && !o.PrefersFiles {
			conflicts = append(conflicts, r.paths[name])
		}
	}
	slices.Sort(conflicts)
	return want, conflicts
}

// mergeSides merges the changes that the file and the memory made to the entry base. The aliases and labels of merged
// are those of both sides. The result ok is false if both sides changed the same or adjacent lines of the content. In
// this case, merged must not be used.
func mergeSides(base, file, memory *oxbow.Entry) (merged oxbow.Entry, ok bool) {
	merged = *memory
	merged.Content, ok = diff.MergeLines(base.Content, file.Content, memory.Content)
	if ok && (!hasChange(base.Content, file.Content, merged.Content) ||
		!hasChange(base.Content, memory.Content, merged.Content)) {
		panic(fmt.Sprintf("the merge of %q and %q, with the base %q, is %q and lacks a change",
			file.Content, memory.Content, base.Content, merged.Content))
	}
	merged.Aliases = slices.Clone(file.Aliases)
	// Keep the aliases of both sides, because neither side removes aliases or labels.
	for _, a := range memory.Aliases {
		if !slices.Contains(merged.Aliases, a) {
			merged.Aliases = append(merged.Aliases, a)
		}
	}
	for _, l := range file.Labels {
		if !slices.Contains(merged.Labels, l) {
			merged.Labels = append(slices.Clone(merged.Labels), l)
		}
	}
	merged.Labels = oxbow.SortLabels(merged.Labels)
	return merged, ok
}

// hasChange reports whether merged contains each line that is in changed and not in base.
func hasChange(base, changed, merged string) bool {
	for line := range strings.Lines(changed) {
		if !slices.Contains(slices.Collect(strings.Lines(base)), line) &&
			!slices.Contains(slices.Collect(strings.Lines(merged)), line) {
			return false
		}
	}
	return true
}

// sameFile reports whether a tree must store two entries in the same way. It does not use the code that is tested.
func sameFile(a, b *oxbow.Entry) bool { return describeEntry(a) == describeEntry(b) }

func diffEntries(what string, got, want map[string]oxbow.Entry) error {
	var errs []error
	for name, w := range want {
		g, ok := got[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%s lacks %s", what, describeEntry(&w)))
		case describeEntry(&g) != describeEntry(&w):
			errs = append(errs, fmt.Errorf("%s has %s, want %s", what, describeEntry(&g), describeEntry(&w)))
		}
	}
	for name, g := range got {
		if _, ok := want[name]; !ok {
			errs = append(errs, fmt.Errorf("%s has, too, %s", what, describeEntry(&g)))
		}
	}
	return errors.Join(errs...)
}
