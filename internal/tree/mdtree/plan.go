// This file plans a load: it determines the changes that make a store equal to a tree.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// MissingFileMode specifies what happens to entries of the store that the tree lacks.
type MissingFileMode uint8

// These are the modes of [PlanOptions].
const (
	KeepEntriesWithoutFile MissingFileMode = iota // keep entries of the store for which the tree has no file
	ReplaceMode                                   // remove entries of the store for which the tree has no file
)

// PlanOptions configure [Tree.PlanLoadIntoStore]. Nil and zero fields mean the default.
type PlanOptions struct {
	Mode MissingFileMode

	// RemovesMissing allows [ReplaceMode] to remove entries whose files do not exist any more since the last
	// dump. Otherwise missing files are an error, because a copy of a tree may be incomplete by
	// accident.
	RemovesMissing bool

	// Origin is the origin of the store. If the manifest names this store, the last dump is the
	// base of the comparison, so that changes made only in the store are kept.
	Origin StoreIdentity

	// PrefersFiles decides what happens to an entry that was changed both in the files and in the store since the last
	// dump. With PrefersFiles, the file's version is used. Without PrefersFiles, both versions are merged, and a
	// conflict is an error. With [ReplaceMode], PrefersFiles also removes entries that were added to the store since
	// the last dump. Without PrefersFiles, such entries are kept.
	PrefersFiles bool
}

// LoadPlan is the shortest list of changes that makes a store equal to a tree. The lists of names are
// sorted.
type LoadPlan struct {
	StoreOps              []oxbow.Op // ops to apply, in order
	AddedNames            []string
	ChangedNames          []string
	RemovedNames          []string // removed entries (none with [KeepEntriesWithoutFile])
	UnchangedNames        []string
	ChangedOnlyInStore    []string // entries that were changed, added or removed only in the store since the last dump
	ChangedInStoreAndFile []string // entries in ChangedNames that were also changed in the store since the last dump
	// the state of the last dump was used as the base to distinguish changes in files from changes in the store
	UsedLastDumpAsBase bool

	Warnings []Problem // warnings about aliases that another entry has, too
}

// PlanLoadIntoStore compares the files of the tree with the entries of the store s, and plans the ops that load the
// tree into s. It changes neither the tree nor the store. The caller should pass the ops to [oxbow.GroupOps] and
// [oxbow.CommitInParts], so that the change can be undone as a whole. Each op requires that its entry still has the
// version for which the op was planned. If the entry has changed since then, Apply fails with [oxbow.ErrConflict].
//
// If a file changes the kind or date of an entry, PlanLoadIntoStore plans a removal and an addition with the same name.
// If a file lacks a date, the date in the store is kept. Aliases are trimmed, and empty and repeated aliases are left
// out, because stores do not accept them.
//
// The manifest of the tree contains the name of the store that wrote the last dump. If s wrote the last dump,
// PlanLoadIntoStore finds out what has changed since then:
//   - If the file has not changed since the last dump, the entry in s stays unchanged.
//   - If s has had the content of the file at any time since the last dump, the entry in s stays unchanged.
//   - If the file and the entry in s have both changed, PlanLoadIntoStore merges both changes: texts by line, and
//     aliases and labels as sets. If both changed the same or adjacent lines, or if s lacks a history, the file is
//     listed in a [*FilesError] matching [ErrDiverged].
//
// If another store wrote the last dump, entries get the content of their files.
//
// Entries that no store accepts are listed in a [*ProblemsError]. With [ReplaceMode], missing files are listed in a
// [*FilesError] matching [ErrFilesMissing], unless RemovesMissing is set.
func (t *Tree) PlanLoadIntoStore(ctx context.Context, s oxbow.Store, o *PlanOptions) (LoadPlan, error) {
	opts := PlanOptions{}
	if o != nil {
		opts = *o
	}
	p := &loadPlanner{tree: t, opts: opts, history: newStoreHistory(ctx, s)}
	p.entryCountByName, p.hasDuplicateNames = t.countNames()
	p.UsedLastDumpAsBase = opts.Origin.isManifestOfStore(t.DumpedStoreName)
	err := p.readStore(ctx, s)
	if err == nil {
		p.normalizeEntryNames()
		err = p.makePlan()
	}
	if err == nil {
		err = p.dropAliasesTakenByOthers(ctx, s)
	}
	if err != nil {
		return LoadPlan{}, fmt.Errorf("planning the load of %s: %w", t.dir, err)
	}
	for _, names := range [][]string{p.AddedNames, p.ChangedNames, p.RemovedNames, p.UnchangedNames,
		p.ChangedOnlyInStore,
		p.ChangedInStoreAndFile} {
		slices.Sort(names)
	}
	return p.LoadPlan, nil
}

// storedEntry is an entry of the store. For most entries, a plan needs only the name, the aliases and the version.
// Therefore a load does not need memory for the contents of all entries.
type storedEntry struct {
	aliases              []string
	version              uint64
	isUnchangedSinceDump bool // the entry is unchanged since the last dump
	// the whole entry; nil if the load does not need it, because no file that was read has the entry's name, and any
	// unread file is unchanged since the last dump and so is the entry
	wholeEntry *oxbow.Entry
}

// If a load needs at most this many entries of the store, its planner reads them one by one. If it needs more, reading
// all entries of the store is faster.
const maxEntriesReadSingly = 200

// readStore reads entries of the store into p.storeEntryByName. If the entries that changed since the last dump are
// known and few, readStore reads only these entries and the entries that share a name or an alias with an entry in an
// edited file. Otherwise readStore reads all entries.
func (p *loadPlanner) readStore(ctx context.Context, s oxbow.Store) error {
	var f oxbow.Filter
	changed, ok := p.findNamesChangedSinceDump(ctx)
	if ok {
		p.namesChangedSinceDump = changed
		names := slices.Collect(maps.Keys(changed))
		for _, e := range p.tree.Entries {
			names = append(append(names, e.Name), e.Aliases...)
		}
		if len(names) == 0 {
			return nil
		}
		f.Terms = []oxbow.Term{{Key: "name", Values: names}}
	}
	var err error
	p.storeEntryByName, err = p.tree.readEntries(ctx, s, f)
	return err
}

// findNamesChangedSinceDump returns the names of the entries that were added or changed in the store since the last
// dump. If ok is false, the caller must read all entries of the store. This is the case if the changes are unknown, if
// an entry was removed, or if more than maxEntriesReadSingly entries have changed. It is also the case if the caller
// needs the unchanged entries too: in [ReplaceMode], with duplicate names, or if the tree has more than
// maxEntriesReadSingly entries.
func (p *loadPlanner) findNamesChangedSinceDump(ctx context.Context) (names map[string]bool, ok bool) {
	t := p.tree
	isKnown := p.UsedLastDumpAsBase && t.isManifestUnedited && p.opts.Origin.ChangesSince != nil
	needsAll := p.opts.Mode == ReplaceMode || p.hasDuplicateNames || len(t.Entries) > maxEntriesReadSingly
	if !isKnown || needsAll {
		return nil, false
	}
	names = map[string]bool{}
	for delta, err := range p.opts.Origin.ChangesSince(ctx, t.DumpedStoreName) {
		if err != nil || delta.Entry == nil {
			return nil, false
		}
		if len(names) == maxEntriesReadSingly {
			return nil, false
		}
		names[strings.Clone(delta.Entry.Name)] = true
	}
	return names, true
}

// readEntries returns the entries of the store that the filter selects, by name.
func (t *Tree) readEntries(ctx context.Context, s oxbow.Store, f oxbow.Filter) (map[string]*storedEntry, error) {
	// isRead is set for the names of the entries whose files were read (t.Entries), and for their normalized names.
	isRead := make(map[string]bool, len(t.Entries))
	for i := range t.Entries {
		isRead[t.Entries[i].Name] = true
		isRead[oxbow.NormalName(t.Entries[i].Name)] = true
	}
	have := map[string]*storedEntry{}
	for e, err := range s.Entries(ctx, f) {
		if err != nil {
			return nil, err
		}
		e.Labels = withoutLocalLabels(e.Labels)
		last, dumped := t.lastDumpManifest.findItem(e.Name)
		stored := &storedEntry{version: e.Version, isUnchangedSinceDump: dumped && last.matchesEntry(&e)}
		_, unchanged := t.unchangedManifestRow(e.Name)
		// Keep the whole entry in two cases. In the first case, the file did not change but the entry did. In the
		// second case, a file that was read may have the entry's name. An entry with a name that is not ASCII is always
		// kept, because the name in the file may have another Unicode normalization form.
		mustRead := unchanged && !stored.isUnchangedSinceDump
		isNamed := isRead[e.Name] || !isASCII(e.Name)
		if mustRead || isNamed {
			stored.wholeEntry = &e
			stored.aliases = e.Aliases
		} else {
			// Clone the strings, because they may share the memory of the whole entry.
			for _, a := range e.Aliases {
				stored.aliases = append(stored.aliases, strings.Clone(a))
			}
		}
		have[strings.Clone(e.Name)] = stored
	}
	return have, nil
}

// normalizeEntryNames changes the names of entries in the tree, because some file systems and archives change the
// Unicode composition of names. The normal form of a name is Unicode normal form C. For each entry, the first of these
// rules that applies decides:
//   - The name stays unchanged if it is in normal form, or if the store has an entry with exactly this spelling.
//   - If another file in the tree has the same name in normal form, the entry gets the name in normal form with a
//     number, and a warning is added.
//   - The name stays unchanged if the last dump has exactly this spelling.
//   - The entry gets the spelling that the store uses for the name.
//   - The entry gets the name in normal form.
func (p *loadPlanner) normalizeEntryNames() {
	t := p.tree
	have, used := p.storeEntryByName, p.entryCountByName
	for i := range t.Entries {
		e := &t.Entries[i]
		normal := oxbow.NormalName(e.Name)
		_, isStored := have[e.Name]
		if isStored || e.Name == normal {
			continue
		}
		_, dumped := t.lastDumpManifest.findItem(e.Name)
		isTwin := used[normal] > 1
		if dumped && !isTwin {
			continue
		}
		if !isTwin {
			e.Name = storedSpelling(normal, have)
			continue
		}
		name := normal
		for n := 2; used[name] > 0; n++ {
			name = fmt.Sprintf("%s (%d)", normal, n)
			if _, taken := have[name]; taken {
				used[name]++
			}
		}
		used[name]++
		t.addWarning(
			t.EntryPaths[i],
			fmt.Errorf(
				"it is loaded as %q: another file has its name %q in another Unicode composition",
				name,
				normal,
			),
		)
		e.Name = name
	}
}

// countNames counts how often each normalized name in t.Entries occurs. hasDuplicateNames is true if a name occurs
// twice in t.Entries, or occurs both in t.Entries and in a file that is unchanged since the last dump. Only in this
// case, the map used also counts the names of the unchanged files. Therefore a load with a few edited files need not
// index the names of all other entries.
func (t *Tree) countNames() (used map[string]int, hasDuplicateNames bool) {
	used = make(map[string]int, len(t.Entries))
	for i := range t.Entries {
		name := oxbow.NormalName(t.Entries[i].Name)
		hasDuplicateNames = hasDuplicateNames || used[name] > 0
		used[name]++
	}
	if len(used) == 0 {
		return used, false
	}
	for row, isUnchanged := range t.isUnchangedByRow {
		hasDuplicateNames = hasDuplicateNames ||
			(isUnchanged && used[oxbow.NormalName(t.lastDumpManifest.nameOfRow(row))] > 0)
	}
	for row, isUnchanged := range t.isUnchangedByRow {
		if hasDuplicateNames && isUnchanged {
			used[oxbow.NormalName(t.lastDumpManifest.nameOfRow(row))]++
		}
	}
	return used, hasDuplicateNames
}

// storedSpelling returns the spelling of the name that the map storedEntryByName contains. The spellings of a name are
// its Unicode forms. If the map contains none of these, storedSpelling returns the name unchanged.
func storedSpelling(name string, storedEntryByName map[string]*storedEntry) string {
	for _, form := range oxbow.AllNameForms([]string{name}) {
		if _, ok := storedEntryByName[form]; ok {
			return form
		}
	}
	return name
}

// loadPlanner plans the changes that make a store equal to the files in a tree.
type loadPlanner struct {
	LoadPlan
	tree    *Tree
	opts    PlanOptions
	history *storeHistory

	// storeEntryByName contains entries of the store. Usually it contains all entries, and namesChangedSinceDump is
	// nil. If the changes since the last dump are known and few, it contains only the entries that
	// [loadPlanner.readStore] describes. In this case, namesChangedSinceDump contains the names of the entries that
	// were changed since the last dump.
	storeEntryByName      map[string]*storedEntry
	namesChangedSinceDump map[string]bool

	// how many entries of the tree have each name, by normalized name (see [Tree.countNames])
	entryCountByName  map[string]int
	hasDuplicateNames bool

	// names of the store's entries, by each name or alias that an entry has (nil until needed)
	entryNamesByNameOrAlias map[string][]string
	unmergeableFiles        []string // files whose changes cannot be merged with the store's changes
}

func (p *loadPlanner) makePlan() error {
	if p.opts.Mode == ReplaceMode {
		if err := p.planRemovals(); err != nil {
			return err
		}
	}
	if err := p.planUnchangedFiles(); err != nil {
		return err
	}
	problems := &ProblemsError{Dir: p.tree.dir}
	for i := range p.tree.Entries {
		ops, err := p.planEntry(i)
		if err != nil {
			return err
		}
		if err := p.checkForAccidentalContent(i); len(ops) > 0 && err != nil {
			problems.AddProblem(p.tree.EntryPaths[i], err)
			continue
		}
		for _, op := range ops {
			// A removal needs no check for validity, because the store already has the entry.
			if _, remove := op.(oxbow.Remove); remove {
				continue
			}
			if err := op.Check(); err != nil {
				problems.AddProblem(p.tree.EntryPaths[i], err)
				break
			}
		}
		p.StoreOps = append(p.StoreOps, ops...)
	}
	if len(p.unmergeableFiles) > 0 {
		slices.Sort(p.unmergeableFiles)
		return &FilesError{Dir: p.tree.dir, Err: ErrDiverged, Files: p.unmergeableFiles,
			Hint: "make the files say what the memory says, or let the files win"}
	}
	return problems.orNil()
}

// planUnchangedFiles plans what to do with the files that have not changed since the last dump of the tree:
//   - If the entry in the store is also unchanged, planUnchangedFiles adds the name to UnchangedNames.
//   - If the store into which the tree is loaded also wrote the last dump (UsedLastDumpAsBase is set), and the store no
//     longer contains the entry, planUnchangedFiles adds the name to ChangedOnlyInStore.
//   - Otherwise planUnchangedFiles reads the file, so that the entry is planned later like the entry of a changed file.
func (p *loadPlanner) planUnchangedFiles() error {
	for row, isUnchanged := range p.tree.isUnchangedByRow {
		if !isUnchanged {
			continue
		}
		name := p.tree.lastDumpManifest.nameOfRow(row)
		if p.namesChangedSinceDump != nil && !p.namesChangedSinceDump[name] {
			p.UnchangedNames = append(p.UnchangedNames, name)
			continue
		}
		e, exists := p.storeEntryByName[name]
		switch {
		case exists && e.isUnchangedSinceDump:
			p.UnchangedNames = append(p.UnchangedNames, name)
		case !exists && p.UsedLastDumpAsBase:
			p.ChangedOnlyInStore = append(p.ChangedOnlyInStore, name)
		default:
			if err := p.tree.readUnchangedEntry(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkForAccidentalContent returns an error if a file's content is probably not intended: the file lost all
// text, for example because the disk was full, or the file contains git's conflict markers. Blank
// text or markers are accepted if the store's entry also has them.
func (p *loadPlanner) checkForAccidentalContent(i int) error {
	want := &p.tree.Entries[i]
	e, exists := p.storeEntryByName[want.Name]
	lostText := exists && isBlankText(want.Content) && !isBlankText(e.wholeEntry.Content)
	if lostText {
		return errors.New("it has no text any more: write some, or delete the file to forget its entry")
	}
	if p.tree.hasConflictMarkersByEntry[i] && !(exists && HasConflictMarkers(e.wholeEntry.Content)) {
		return fmt.Errorf("it %w", ErrConflictMarkers)
	}
	return nil
}

func isBlankText(s string) bool { return strings.TrimSpace(s) == "" }

// dropAliasesTakenByOthers removes each alias from p.StoreOps that belongs to another entry, and adds a warning for
// each removed alias. An entry that needs no change after the removal is moved from p.ChangedNames to p.UnchangedNames.
// dropAliasesTakenByOthers also adds a warning if the name of a new entry is an alias of an entry in the store. In this
// case, the new entry is still added, because the name of an entry has precedence over the alias of another entry.
func (p *loadPlanner) dropAliasesTakenByOthers(ctx context.Context, s oxbow.Store) error {
	file := map[string]string{}
	for i, e := range p.tree.Entries {
		file[e.Name] = p.tree.EntryPaths[i]
	}
	ops, taken, err := oxbow.WithoutTakenAliases(ctx, s, p.StoreOps)
	if err != nil {
		return err
	}
	p.StoreOps = ops
	for _, t := range taken {
		p.Warnings = append(p.Warnings, Problem{file[t.Name], errors.New(t.String())})
	}
	isChanged := map[string]bool{}
	for _, op := range ops {
		isChanged[op.Target()] = true
	}
	p.ChangedNames = slices.DeleteFunc(p.ChangedNames, func(name string) bool {
		if !isChanged[name] {
			p.UnchangedNames = append(p.UnchangedNames, name)
		}
		return !isChanged[name]
	})
	if len(p.AddedNames) == 0 {
		return nil
	}
	isAdded := map[string]bool{}
	for _, name := range p.AddedNames {
		isAdded[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(p.storeEntryByName)) {
		for _, a := range p.storeEntryByName[name].aliases {
			if isAdded[a] {
				p.Warnings = append(p.Warnings, Problem{file[a], fmt.Errorf(
					"%q is an alias of %q, too; oxbow remember NAME --alias changes the aliases of one", a, name)})
			}
		}
	}
	return nil
}

// planEntry returns the ops that load the i-th entry of the tree into the store. It returns no ops if the store's entry
// stays as it is. It adds the entry's name to the list in p.LoadPlan that describes the result, for example to
// AddedNames. If the file and the store were both changed and cannot be merged, it adds the file to p.unmergeableFiles
// instead.
func (p *loadPlanner) planEntry(i int) ([]oxbow.Op, error) {
	want := &p.tree.Entries[i]
	e, exists := p.storeEntryByName[want.Name]
	if exists && isSameAsStored(want, e.wholeEntry) {
		p.UnchangedNames = append(p.UnchangedNames, want.Name)
		return nil, nil
	}
	if p.UsedLastDumpAsBase && !(exists && p.differsOnlyByTakenAliases(want, e.wholeEntry)) {
		base, known := p.tree.lastDumpManifest.findItem(want.Name)
		kept := known && p.tree.isUneditedEntry[i]
		storeChanged := exists != known || (exists && !e.isUnchangedSinceDump)
		mayBeOlder := storeChanged || !exists
		if mayBeOlder && !kept {
			held, err := p.history.hadEntry(want, base)
			if err != nil {
				return nil, err
			}
			kept = held
		}
		switch {
		case kept:
			p.ChangedOnlyInStore = append(p.ChangedOnlyInStore, want.Name)
			return nil, nil
		case storeChanged && !p.opts.PrefersFiles:
			return p.mergeTreeEntry(i, e, base)
		}
	}
	if !exists {
		p.AddedNames = append(p.AddedNames, want.Name)
		added := storableEntry(want)
		return []oxbow.Op{threeway.NewAddOp(&added)}, nil
	}
	p.ChangedNames = append(p.ChangedNames, want.Name)
	return replacementOps(want, e.wholeEntry), nil
}

// mergeTreeEntry plans the change for an entry of the tree if both the file and the store were changed since the last
// dump. e is nil if the store does not contain the entry any more. If the changes cannot be merged, the file is added
// to p.unmergeableFiles.
//
// The first op writes the entry of the file, and the second op writes the merged entry. Therefore the
// history contains the text of the file, and the next dump may replace the file.
func (p *loadPlanner) mergeTreeEntry(i int, e *storedEntry, lastDumpItem manifestItem) ([]oxbow.Op, error) {
	want := &p.tree.Entries[i]
	canMerge := e != nil && want.Kind == e.wholeEntry.Kind && haveSameDate(want, e.wholeEntry)
	if canMerge {
		dumped, isKnown, err := p.history.dumpedEntry(want.Name, lastDumpItem)
		if err != nil {
			return nil, err
		}
		merged, isClean := threeway.MergeEntry(&dumped, want, e.wholeEntry)
		if isKnown && isClean {
			p.ChangedNames = append(p.ChangedNames, want.Name)
			p.ChangedInStoreAndFile = append(p.ChangedInStoreAndFile, want.Name)
			return append(replacementOps(want, e.wholeEntry), oxbow.Update{
				Name:    want.Name,
				Content: merged.Content,
				Aliases: trimAndDeduplicateAliases(merged.Aliases),
				Labels:  merged.Labels,
			}), nil
		}
	}
	p.unmergeableFiles = append(p.unmergeableFiles, p.tree.EntryPaths[i])
	return nil, nil
}

// differsOnlyByTakenAliases reports whether the entry in the store equals the entry in a file except for aliases that
// other entries have. The store does not accept such aliases, so an earlier load left them out. In this case, nobody
// has changed the entry in the store.
func (p *loadPlanner) differsOnlyByTakenAliases(fileEntry, e *oxbow.Entry) bool {
	free := *fileEntry
	free.Aliases = slices.DeleteFunc(slices.Clone(fileEntry.Aliases), func(a string) bool {
		return !slices.Contains(e.Aliases, a) && p.isNameOrAliasTaken(a, e.Name)
	})
	return isSameAsStored(&free, e)
}

// isNameOrAliasTaken reports whether a word is the name or an alias of an entry in the store. It ignores the entry with
// the name exceptName.
func (p *loadPlanner) isNameOrAliasTaken(nameOrAlias, exceptName string) bool {
	if p.entryNamesByNameOrAlias == nil {
		p.entryNamesByNameOrAlias = map[string][]string{}
		for name, e := range p.storeEntryByName {
			for _, w := range append([]string{name}, e.aliases...) {
				w = oxbow.NormalName(w)
				p.entryNamesByNameOrAlias[w] = append(p.entryNamesByNameOrAlias[w], name)
			}
		}
	}
	return slices.ContainsFunc(
		p.entryNamesByNameOrAlias[oxbow.NormalName(nameOrAlias)],
		func(name string) bool { return name != exceptName },
	)
}

// planRemovals plans to remove each entry from the store that has no file in the tree. It returns a FilesError if files
// of the last dump are missing and p.opts.RemovesMissing is not set.
//
// An entry is not removed if it was changed in the store after the last dump, p.UsedLastDumpAsBase is set, and
// p.opts.PrefersFiles is not set. If the last dump contains this entry, planRemovals adds the path of its file to
// p.unmergeableFiles. Otherwise the entry was created in the store after the dump, and its name is added to
// p.ChangedOnlyInStore.
func (p *loadPlanner) planRemovals() error {
	in := make(map[string]bool, len(p.tree.Entries))
	for i := range p.tree.Entries {
		in[p.tree.Entries[i].Name] = true
	}
	for row, isUnchanged := range p.tree.isUnchangedByRow {
		if isUnchanged {
			in[p.tree.lastDumpManifest.nameOfRow(row)] = true
		}
	}
	if !p.opts.RemovesMissing {
		var files []string
		for _, g := range p.tree.MissingFiles {
			if _, ok := p.storeEntryByName[g.EntryName]; ok {
				files = append(files, g.FilePath)
			}
		}
		if len(files) > 0 {
			slices.Sort(files)
			return &FilesError{Dir: p.tree.dir, Err: ErrFilesMissing, Files: files,
				Hint: "put them back, merge instead of replacing, or prune to forget their entries"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.storeEntryByName)) {
		e := p.storeEntryByName[name]
		base, known := p.tree.lastDumpManifest.findItem(name)
		switch {
		case in[name]:
			continue
		case !p.UsedLastDumpAsBase || p.opts.PrefersFiles || e.isUnchangedSinceDump:
		case known:
			p.unmergeableFiles = append(p.unmergeableFiles, base.Path)
			continue
		default:
			p.ChangedOnlyInStore = append(p.ChangedOnlyInStore, name)
			continue
		}
		p.RemovedNames = append(p.RemovedNames, name)
		p.StoreOps = append(p.StoreOps, oxbow.Remove{Name: name, If: e.version})
	}
	return nil
}

// storableEntry returns an entry of a file in the form in which a store has it.
func storableEntry(fileEntry *oxbow.Entry) oxbow.Entry {
	e := *fileEntry
	e.Aliases = trimAndDeduplicateAliases(fileEntry.Aliases)
	e.Labels = slices.Clone(fileEntry.Labels)
	return e
}

// replacementOps returns the ops that replace the store's entry e by fileEntry. The argument fileEntry is the same
// entry, as a file contains it.
func replacementOps(fileEntry, e *oxbow.Entry) []oxbow.Op {
	to := storableEntry(fileEntry)
	isDated := haveSameDate(fileEntry, e)
	if isDated {
		to.Created = e.Created
	}
	isSameText := isDated && fileEntry.Kind == e.Kind && fileEntry.Content == e.Content
	switch {
	case !isDated:
		return threeway.NewRemoveAndAddOps(e, &to)
	case isSameText && slices.Equal(fileEntry.Labels, oxbow.SortLabels(e.Labels)):
		return []oxbow.Op{oxbow.Alias{Name: e.Name, Aliases: to.Aliases, If: e.Version}}
	case isSameText && haveSameAliases(fileEntry.Aliases, e.Aliases):
		return []oxbow.Op{oxbow.Relabel{Name: e.Name, Labels: to.Labels, If: e.Version}}
	}
	return threeway.NewReplaceVersionOps(e, &to)
}

// isSameAsStored reports whether the entry in a file and the store's entry e are equal. Three differences are ignored:
// the order of e's labels, white space around an alias, and a fraction of a second that only one of the two creation
// times has. Stores remove white space around aliases. A file without a creation time matches any creation time.
func isSameAsStored(fileEntry, e *oxbow.Entry) bool {
	return fileEntry.Name == e.Name && fileEntry.Kind == e.Kind && fileEntry.Content == e.Content &&
		haveSameAliases(fileEntry.Aliases, e.Aliases) && slices.Equal(fileEntry.Labels, oxbow.SortLabels(e.Labels)) &&
		haveSameDate(fileEntry, e)
}

// withoutLocalLabels returns the labels without local labels, which are not written to files (see
// [oxbow.Label.IsLocal]).
func withoutLocalLabels(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), oxbow.Label.IsLocal)
}

func haveSameAliases(a, b []string) bool {
	return slices.Equal(a, b) || slices.Equal(trimAndDeduplicateAliases(a), trimAndDeduplicateAliases(b))
}

// trimAndDeduplicateAliases removes white space around aliases, and then removes empty and repeated aliases. A store
// changes aliases in the same way.
func trimAndDeduplicateAliases(aliases []string) []string {
	var tidy []string
	for _, a := range aliases {
		a = strings.TrimSpace(a)
		if a != "" && !slices.Contains(tidy, a) {
			tidy = append(tidy, a)
		}
	}
	return tidy
}

func haveSameDate(fileEntry, e *oxbow.Entry) bool {
	if fileEntry.Created.IsZero() || fileEntry.Created.Equal(e.Created) {
		return true
	}
	return fileEntry.Created.Unix() == e.Created.Unix() &&
		(fileEntry.Created.Nanosecond() == 0) != (e.Created.Nanosecond() == 0)
}
