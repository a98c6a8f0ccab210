// This file checks the names and aliases of a memory.

package maintenance

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// checkNames adds a finding for each name or alias that belongs to several entries, but at most maxListedFindings
// findings. It returns the total size of all names and contents in bytes. The argument lastSeq is the memory's last
// change number. If d.nameCheckCache is set and lastSeq is the same as in an earlier check, the result may be that of
// the earlier check.
func (d *diagnosis) checkNames(ctx context.Context, m *oxbow.Memory, lastSeq uint64) (size int64, err error) {
	check := func() (EntryNamesCheck, error) { return checkAllNames(ctx, m) }
	keep := d.nameCheckCache
	if keep == nil {
		keep = func(_ uint64, check func() (EntryNamesCheck, error)) (EntryNamesCheck, error) { return check() }
	}
	found, err := keep(lastSeq, check)
	for _, clash := range found.namesOfSeveralEntries[:min(len(found.namesOfSeveralEntries), maxListedFindings)] {
		d.addFinding(findingLevelWarning, "aliases", sharedAliasAdvice, "%s", clash)
	}
	return found.nameAndContentBytes, err
}

// checkAllNames finds names and aliases that several entries have. At first it keeps only a hash of each. If some
// hashes are equal, it reads all names again and compares them. Therefore a large memory does not need much RAM.
func checkAllNames(ctx context.Context, m *oxbow.Memory) (found EntryNamesCheck, err error) {
	seed := maphash.MakeSeed()
	var hashes []uint64 // hash of each name and alias in the memory
	err = eachEntrySummary(ctx, m, func() { found, hashes = EntryNamesCheck{}, hashes[:0] }, func(h oxbow.Head) {
		found.nameAndContentBytes += int64(h.Size + len(h.Entry.Name))
		for _, word := range wordsOf(h.Entry) {
			hashes = append(hashes, hashWord(seed, word))
		}
	})
	if err != nil {
		return found, err
	}
	shared := findRepeatedNumbers(hashes)
	if len(shared) == 0 {
		return found, nil
	}
	var owners entryByNameOrAlias
	err = eachEntrySummary(
		ctx,
		m,
		func() { owners, found.namesOfSeveralEntries = entryByNameOrAlias{}, nil },
		func(h oxbow.Head) {
			isShared := func(word string) bool { return shared[hashWord(seed, word)] }
			found.namesOfSeveralEntries = append(
				found.namesOfSeveralEntries,
				owners.addNameAndAliases(h.Entry, isShared)...)
		},
	)
	return found, err
}

// eachEntrySummary calls fn with the metadata (head) of each entry, which includes the entry's name and aliases. It
// calls the function reset before the first entry. If reading fails, the store may be read again, and eachEntrySummary
// then calls the function reset again. Therefore reset must discard the results of earlier calls of fn.
func eachEntrySummary(ctx context.Context, m *oxbow.Memory, reset func(), fn func(h oxbow.Head)) error {
	return heads.View(ctx, m.Store(), heads.Needs{Keys: []string{oxbow.HeadName}}, func(all heads.List) error {
		reset()
		for h, err := range all.All {
			if err != nil {
				return err
			}
			fn(h)
		}
		return nil
	})
}

// hashWord returns a hash of a name or alias. Different spellings of a name have the same hash.
func hashWord(seed maphash.Seed, word string) uint64 {
	return maphash.String(seed, oxbow.NormalName(word))
}

// findRepeatedNumbers sorts the numbers and returns those that occur more than once.
func findRepeatedNumbers(numbers []uint64) map[uint64]bool {
	slices.Sort(numbers)
	repeated := map[uint64]bool{}
	for i := 1; i < len(numbers); i++ {
		if numbers[i] == numbers[i-1] {
			repeated[numbers[i]] = true
		}
	}
	return repeated
}

// entryByNameOrAlias contains, for each name and alias, the name of the entry that has it.
type entryByNameOrAlias map[string]string

// wordsOf returns the words that refer to an entry: its name and its aliases.
func wordsOf(e *oxbow.Entry) []string { return append([]string{e.Name}, e.Aliases...) }

// addNameAndAliases adds the name and the aliases of the entry e to the map o. It skips a word (the name or an alias)
// if isAdded returns false for the word. A word that is already in the map is not added, and a message in
// conflictMessages describes the conflict.
func (o entryByNameOrAlias) addNameAndAliases(
	e *oxbow.Entry,
	isAdded func(word string) bool,
) (conflictMessages []string) {
	for _, w := range wordsOf(e) {
		if !isAdded(w) {
			continue
		}
		other, isOwned := o[oxbow.NormalName(w)]
		switch {
		case !isOwned:
			o[oxbow.NormalName(w)] = e.Name
		case other == e.Name:
			conflictMessages = append(conflictMessages, fmt.Sprintf("%q has the name or alias %q twice", e.Name, w))
		case w == e.Name && oxbow.SameName(other, e.Name):
			conflictMessages = append(
				conflictMessages,
				fmt.Sprintf(
					"%+q and %+q are two spellings of one name, and each is found only by its own",
					other,
					e.Name,
				),
			)
		default:
			conflictMessages = append(
				conflictMessages,
				fmt.Sprintf("%q is a name or alias of %q and of %q", w, other, e.Name),
			)
		}
	}
	return conflictMessages
}

// sharedAliasAdvice is advice for an alias that several entries have.
const sharedAliasAdvice = "oxbow remember NAME --alias … or --clear aliases gives one of them others; of two names, oxbow " +
	"get NAME and oxbow forget NAME move the text of one"

// maxListedFindings is the maximum number of lines that the command "oxbow doctor" lists.
const maxListedFindings = 5
