// This file plans an import: it finds the entry to which an item belongs, and decides what to do with both.

package exchange

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// LabelImportFile is the key of the label that names the file from which an entry was imported.
const LabelImportFile = "import"

// These are the keys of the labels by which an imported entry is recognized. They are called import marks.
const (
	originLabelKey = LabelImportFile
	// digest of the entry's content, aliases and labels at the import, by which a later edit is noticed
	importDigestLabelKey = "import-sum"
	recordIDLabelKey     = "import-id" // ID of a record in the program that wrote it
)

// isLabelSetByProgram reports whether programs add labels with this key to imported entries by themselves. Such a label
// does not count as an edit.
func isLabelSetByProgram(l oxbow.Label) bool {
	return l.Key == oxbow.LabelApproved || l.Key == oxbow.LabelTextBy || slices.Contains(entryHidingLabelKeys(), l.Key)
}

// entryHidingLabelKeys returns the keys of the labels that prevent showing an entry to a model that did not ask for it.
var entryHidingLabelKeys = sync.OnceValue(oxbow.Unasked.HeldLabels)

// withImportLabels returns the item with the labels by which a later import recognizes its entry.
func withImportLabels(it Item) Item {
	ls := omitOriginLabels(it.Entry.Labels)
	it.Entry.Labels = ls
	sum := importableContentDigest(it.Entry)
	it.cachedContentDigest = sum
	ls = append(
		ls,
		oxbow.Label{Key: originLabelKey, Value: originLabel(it.Origin)},
		oxbow.Label{Key: importDigestLabelKey, Value: sum},
	)
	if it.ID != "" {
		ls = append(ls, oxbow.Label{Key: recordIDLabelKey, Value: it.ID})
	}
	it.Entry.Labels = oxbow.SortLabels(ls)
	return it
}

// hasImportMetadata reports whether [withoutImportMetadata] would remove something from the item.
func hasImportMetadata(it Item) bool {
	return it.FileName != "" || len(it.UnknownKeyLabels) > 0 ||
		slices.ContainsFunc(it.Entry.Labels, func(l oxbow.Label) bool {
			return isImportLabel(l)
		})
}

func isImportLabel(l oxbow.Label) bool {
	return l.Key == originLabelKey || l.Key == importDigestLabelKey || l.Key == recordIDLabelKey
}

// withoutImportMetadata returns copies of the items for a store that cannot store all labels and aliases. It removes
// the labels that record an item's origin, local labels, the labels in UnknownKeyLabels, and the alias FileName.
func withoutImportMetadata(items []Item) []Item {
	bare := slices.Clone(items)
	for i := range bare {
		it := &bare[i]
		it.cachedContentDigest = ""
		it.Entry.Labels = slices.DeleteFunc(omitOriginLabels(it.Entry.Labels), func(l oxbow.Label) bool {
			return slices.Contains(it.UnknownKeyLabels, l)
		})
		it.Entry.Aliases = slices.DeleteFunc(slices.Clone(it.Entry.Aliases), func(a string) bool {
			return a == it.FileName
		})
	}
	return bare
}

// originLabel returns the value of the origin label for the file with the name origin. If the name is too long or
// contains characters that a label value must not contain, the value consists of the name's digest and the end of the
// name. The end is used because the beginning is often the same for several files.
func originLabel(origin string) string {
	v := makeValidName(origin, len(origin)+len("\uFFFD"))
	if v == origin && len(v) <= oxbow.MaxName {
		return v
	}
	h := digestParts(origin)
	v = hex.EncodeToString(h[:6]) + "…" + v[max(0, len(v)-200):]
	return makeValidName(strings.ToValidUTF8(v, ""), oxbow.MaxName)
}

func omitOriginLabels(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(withoutLocalLabels(ls), isImportLabel)
}

// withoutLocalLabels returns the labels in order, without local labels (see [oxbow.Label.IsLocal]).
func withoutLocalLabels(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(oxbow.SortLabels(ls), oxbow.Label.IsLocal)
}

// importableContentDigest returns a digest over all parts of an entry that an import may change. Labels that only
// record the origin or the import are not included. The digest is 16 bytes of SHA-256 in hexadecimal digits.
func importableContentDigest(e oxbow.Entry) string {
	parts := make([]string, 0, 2+len(e.Aliases)+2*len(e.Labels))
	parts = append(append(parts, e.Content, strconv.Itoa(len(e.Aliases))), e.Aliases...)
	labels := e.Labels
	if !areSortedLabels(labels) {
		labels = oxbow.SortLabels(labels)
	}
	for _, l := range labels {
		if isImportableLabel(l) {
			parts = append(parts, l.Key, l.Value)
		}
	}
	h := digestParts(parts...)
	return hex.EncodeToString(h[:])
}

// isImportableLabel reports whether an import may change a label. An import may not change labels that are local to
// this memory, that record the origin, or that oxbow sets when an entry is written.
func isImportableLabel(l oxbow.Label) bool {
	return !l.IsLocal() && !isImportLabel(l) && !isLabelSetByProgram(l)
}

// areSortedLabels reports whether the labels are in the order of [oxbow.SortLabels] and contain no label twice.
func areSortedLabels(labels []oxbow.Label) bool {
	for i := 1; i < len(labels); i++ {
		a, b := labels[i-1], labels[i]
		if cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value)) >= 0 {
			return false
		}
	}
	return true
}

// IsEdited reports whether an imported entry was edited after its import.
func IsEdited(e oxbow.Entry) bool {
	sum, _ := e.Label(importDigestLabelKey)
	return sum != importableContentDigest(e)
}

// digest is the first half of a SHA-256 hash. Names and items are stored as digests, so that an import needs only few
// bytes for each item.
type digest [16]byte

func digestParts(parts ...string) digest {
	b := make([]byte, 0, 1024)
	for _, p := range parts {
		b = append(binary.LittleEndian.AppendUint64(b, uint64(len(p))), p...)
	}
	h := sha256.Sum256(b)
	return digest(h[:16])
}

// usedNames records which names an import, or one batch of it, has used.
type usedNames struct {
	// Entries in the store for which the import found an item, by a digest of the entry's name. The value is 1 if the
	// entry is unchanged, and 2 if the import has changed it.
	importStateByEntry map[digest]byte
	itemHashes         map[digest]bool // digests of all items that the import has read so far
	// last number that was appended to each item name to make the name unique (0 if none was)
	lastNumberByName map[digest]int

	// For each alias that the import has given or taken, the name of the entry that now has the alias. The name is ""
	// if the import has removed the alias from an entry and no other entry got it.
	entryNameByAlias map[digest]string
}

func newUsedNames() *usedNames {
	return &usedNames{make(map[digest]byte), make(map[digest]bool), make(map[digest]int), make(map[digest]string)}
}

func (n *usedNames) addNamesFrom(m *usedNames) {
	maps.Copy(n.importStateByEntry, m.importStateByEntry)
	maps.Copy(n.itemHashes, m.itemHashes)
	maps.Copy(n.lastNumberByName, m.lastNumberByName)
	maps.Copy(n.entryNameByAlias, m.entryNameByAlias)
}

// batchPlan is the planned change for a batch. If the store changes before the plan is applied, it is discarded and
// made again. Therefore planning changes nothing but the plan.
type batchPlan struct {
	changeOps        []oxbow.Op
	report           Report
	namesUsedInBatch *usedNames
	skipsNameLookups bool // Do not look up names, because the store was empty when the import began.
}

func (im *importer) planBatchChange(items []Item, skipsLookups bool) (*batchPlan, error) {
	p := &batchPlan{namesUsedInBatch: newUsedNames(), skipsNameLookups: skipsLookups}
	for _, it := range items {
		if err := im.planItem(it, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// planItem decides what the import does with an item, and adds the necessary ops to the plan p. If an equal item was
// imported before, planItem only counts the item as unchanged. Otherwise planItem searches for a name for the item. If
// the item's name belongs to another entry, planItem appends a number to the name. If the name belongs to an earlier
// version of the item, the item is merged into that entry, replaces the entry, or is skipped. planItem adds notes about
// new names and omitted aliases to the report of the plan.
func (im *importer) planItem(it Item, p *batchPlan) error {
	it, err := im.normalizeItem(it, p)
	if err == nil {
		it, err = im.reuseImportedName(it, p)
	}
	if err != nil {
		return err
	}
	own := digestParts(it.Entry.Name)
	sum := it.cachedContentDigest
	if sum == "" {
		sum = importableContentDigest(it.Entry)
	}
	whole := digestParts(it.Entry.Name, it.Entry.Kind.String(), sum)
	if im.usedNames.itemHashes[whole] || p.namesUsedInBatch.itemHashes[whole] {
		p.report.UnchangedCount++
		return nil
	}
	last := max(im.usedNames.lastNumberByName[own], p.namesUsedInBatch.lastNumberByName[own])
	for n := last + 1; ; n++ {
		name, id := it.Entry.Name, own
		if n > 1 {
			name = numberedName(name, n)
			id = digestParts(name)
		}
		if im.usedNames.importStateByEntry[id]+p.namesUsedInBatch.importStateByEntry[id] > 0 {
			continue
		}
		v, reason := decisionAddEntry, ""
		var old oxbow.Entry
		if !p.skipsNameLookups {
			var err error
			old, err = oxbow.GetNamed(im.ctx, im.storeWithExactNames, name)
			if err == nil {
				v, name = decisionKeepUnchanged, old.Name
			} else if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
				return err
			}
		}
		it, left, err := im.withoutTakenAliases(it, name, old.Aliases, p)
		if err != nil {
			return err
		}
		if v == decisionKeepUnchanged {
			v, reason = im.decideItemImport(it, old, n)
		}
		if v == decisionUseOtherName {
			continue
		}
		if v == decisionMergeBothChanged && !im.opts.ImportsOverEdits {
			v = decisionSkip
		}
		p.namesUsedInBatch.importStateByEntry[id] = 1
		if n > 1 {
			p.namesUsedInBatch.lastNumberByName[own] = n
		}
		if v != decisionSkip {
			p.namesUsedInBatch.itemHashes[whole] = true
		}
		it.Entry.Name = name
		if n > 1 && v != decisionKeepUnchanged {
			p.report.Notes = append(
				p.report.Notes,
				fmt.Sprintf("%s: named %q, since another entry has its name", it.Position, name),
			)
		}
		if slices.Contains([]importDecision{decisionAddEntry, decisionReplaceEntry, decisionMergeBothChanged}, v) {
			p.report.Notes = append(p.report.Notes, left...)
			p.namesUsedInBatch.importStateByEntry[id] = 2
		}
		if v == decisionMergeBothChanged {
			return im.planChangeOfEditedEntry(it, old, p)
		}
		p.addItemOperations(v, it, old, reason)
		return nil
	}
}

// normalizeItem returns the item with the name, the aliases and the labels in the form in which the store keeps them.
// The labels that describe the import are updated if the aliases or labels change. If the store already has an entry
// with exactly the original name, the item gets this name unchanged. If p.skipsNameLookups is set, normalizeItem does
// not search for such an entry.
func (im *importer) normalizeItem(it Item, p *batchPlan) (Item, error) {
	was := it.Entry
	it.Entry = oxbow.NormalEntry(was)
	changedWords := !slices.Equal(it.Entry.Aliases, was.Aliases) || !slices.Equal(it.Entry.Labels, was.Labels)
	if changedWords &&
		slices.ContainsFunc(it.Entry.Labels, func(l oxbow.Label) bool { return l.Key == importDigestLabelKey }) {
		it = withImportLabels(it)
	}
	if it.Entry.Name == was.Name || p.skipsNameLookups {
		return it, nil
	}
	old, err := oxbow.GetNamed(im.ctx, im.storeWithExactNames, was.Name)
	if err == nil {
		it.Entry.Name = old.Name
	} else if !errors.Is(err, oxbow.ErrNotFound) {
		return it, err
	}
	return it, nil
}

// reuseImportedName renames an item if an earlier import made an entry from the same record. The item gets the name of
// that entry, so that the import updates the entry. If no such entry exists, reuseImportedName returns the item
// unchanged.
func (im *importer) reuseImportedName(it Item, p *batchPlan) (Item, error) {
	if it.ID == "" || p.skipsNameLookups {
		return it, nil
	}
	if im.entryNameByRecord == nil {
		if err := im.readEntryNamesByRecord(); err != nil {
			return it, err
		}
	}
	if name := im.entryNameByRecord[digestParts(originLabel(it.Origin), it.ID)]; name != "" {
		it.Entry.Name = name
	}
	return it, nil
}

// readEntryNamesByRecord reads the names of all entries that earlier imports made from records.
func (im *importer) readEntryNamesByRecord() error {
	records := map[digest]string{}
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{recordIDLabelKey}}}}
	for e, err := range im.storeWithExactNames.Entries(im.ctx, f) {
		if err != nil {
			return err
		}
		origin, _ := e.Label(originLabelKey)
		id, _ := e.Label(recordIDLabelKey)
		records[digestParts(origin, id)] = strings.Clone(e.Name)
	}
	im.entryNameByRecord = records
	return nil
}

// withoutTakenAliases returns the item without the aliases that belong to another entry, because an alias of two
// entries would be ambiguous. The parameter name is the name that the imported entry will have. An alias in the list
// storedAliases is never removed, because the stored entry already has it. The result removalMessages contains a
// message for each removed alias. withoutTakenAliases returns an error if it cannot find out which entry has an alias.
func (im *importer) withoutTakenAliases(
	it Item,
	name string,
	storedAliases []string,
	p *batchPlan,
) (_ Item, removalMessages []string, err error) {
	free, taken := oxbow.FreeAliases(name, it.Entry.Aliases, storedAliases, func(word, but string) (string, bool) {
		owner, ownerErr := im.findNameOwner(word, p)
		err = errors.Join(err, ownerErr)
		return owner, owner != "" && owner != but
	})
	if err != nil {
		return it, nil, err
	}
	for _, t := range taken {
		removalMessages = append(
			removalMessages,
			fmt.Sprintf("%s: alias %q was left off: %q has it", it.Position, t.Alias, t.Owner),
		)
	}
	if len(removalMessages) == 0 {
		return it, nil, nil
	}
	it.Entry.Aliases = free
	if slices.ContainsFunc(it.Entry.Labels, func(l oxbow.Label) bool { return l.Key == importDigestLabelKey }) {
		it = withImportLabels(it)
	}
	return it, removalMessages, nil
}

// findNameOwner returns the name of the entry that has the word as its name or as an alias, or "" if none has.
func (im *importer) findNameOwner(word string, p *batchPlan) (string, error) {
	id := digestParts(word)
	if im.usedNames.importStateByEntry[id]+p.namesUsedInBatch.importStateByEntry[id] > 0 {
		return word, nil
	}
	for _, n := range []*usedNames{p.namesUsedInBatch, im.usedNames} {
		if owner, ok := n.entryNameByAlias[id]; ok {
			return owner, nil
		}
	}
	if p.skipsNameLookups {
		return "", nil
	}
	if e, err := oxbow.GetNamed(im.ctx, im.storeWithExactNames, word); err == nil {
		return e.Name, nil
	} else if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
		return "", err
	}
	if im.entryNameByAlias == nil {
		im.entryNameByAlias = map[digest]string{}
		for e, err := range im.storeWithExactNames.Entries(im.ctx, oxbow.Filter{}) {
			if err != nil {
				im.entryNameByAlias = nil
				return "", err
			}
			for _, a := range e.Aliases {
				im.entryNameByAlias[digestParts(oxbow.NormalName(a))] = strings.Clone(e.Name)
			}
		}
	}
	return im.entryNameByAlias[id], nil
}

// importDecision is the decision how an import treats an item if the store may already have an entry with its name.
type importDecision uint8

const (
	// The store has no entry with the name of the imported item, so a new entry is added.
	decisionAddEntry         importDecision = iota
	decisionKeepUnchanged                   // The entry has the same content as the item.
	decisionReplaceEntry                    // The imported item replaces the existing entry with the same name.
	decisionSkip                            // The existing entry stays unchanged, and the item is not imported.
	decisionMergeBothChanged                // The entry and its file were both changed since the last import.
	// The entry in the store and the imported item have the same name, but are different things. The item gets another
	// name.
	decisionUseOtherName
)

// decideItemImport decides what to do with the imported item it. The argument old is the existing entry with the same
// name. If nameSuffixNumber is above 1, the importer appended this number to the item's name because the original name
// was taken. decideItemImport returns the decision, such as decisionReplaceEntry, and a reason for it, or "" if no
// reason is needed.
func (im *importer) decideItemImport(it Item, old oxbow.Entry, nameSuffixNumber int) (importDecision, string) {
	// Some stores return an entry of kind note with another kind. Therefore an item of kind note equals an entry of
	// any kind if the rest is equal.
	equal := (it.Entry.Kind == old.Kind || it.Entry.Kind == oxbow.Note) && it.Entry.Content == old.Content &&
		slices.Equal(it.Entry.Aliases, old.Aliases)
	// Ignore labels that oxbow has added to the entry since the import, such as a person's approval. They are no
	// difference between the entry and the item.
	stamped := func(l oxbow.Label) bool { return isLabelSetByProgram(l) && !slices.Contains(it.Entry.Labels, l) }
	if it.Origin == "" {
		if equal &&
			slices.Equal(
				withoutLocalLabels(it.Entry.Labels),
				slices.DeleteFunc(withoutLocalLabels(old.Labels), stamped),
			) {
			return decisionKeepUnchanged, ""
		}
		return im.decideExportedItem(it, old, nameSuffixNumber)
	}
	if equal &&
		slices.Equal(
			omitOriginLabels(it.Entry.Labels),
			slices.DeleteFunc(omitOriginLabels(old.Labels), stamped),
		) {
		return decisionKeepUnchanged, ""
	}
	return im.decideOtherProgramsItem(it, old)
}

// decideExportedItem decides whether an item from an export by oxbow replaces the entry old. The entry old has the name
// of the item but differs from the item. nameSuffixNumber is the number that was appended to the item's name to get the
// name of old (1 if no number was appended). If the name has no number and the option Overwrite is set, the item
// replaces the entry. If the entry seems to belong to another item, the item gets another name. If the kinds differ, or
// if the entry is not older or was edited in the store, the item is skipped. Then the second result is the reason.
// Otherwise the second result is "". A later date in the file is not a sufficient reason to replace the entry, because
// anybody can write a date.
func (im *importer) decideExportedItem(it Item, old oxbow.Entry, nameSuffixNumber int) (importDecision, string) {
	known := isCopyOfEntry(it, old) || isImportedFromFile(it, old)
	switch {
	case nameSuffixNumber > 1 && !known:
		// An earlier import appended a number to the name of this entry, because the name was taken. Therefore the
		// equal name does not show that the entry belongs to this item.
		return decisionUseOtherName, ""
	case nameSuffixNumber == 1 && im.opts.Overwrite:
		return decisionReplaceEntry, ""
	case !known && !it.Entry.Created.IsZero():
		return decisionUseOtherName, ""
	case it.Entry.Kind != old.Kind:
		return decisionSkip, fmt.Sprintf("%q is of kind %s in the store, and a kind is fixed", old.Name, old.Kind)
	case it.Entry.Updated.IsZero():
		return decisionSkip, fmt.Sprintf(
			"%q is in the store with other content, and the item does not say when it was updated",
			old.Name,
		)
	case !it.Entry.Updated.After(old.Updated):
		return decisionSkip, fmt.Sprintf("%q is in the store with other content that is not older", old.Name)
	case old.Source.Actor != oxbow.Imported || !known:
		return decisionSkip, fmt.Sprintf(
			"%q was written or edited in the store, and stays as it is; an import with overwrite replaces it",
			old.Name,
		)
	}
	return decisionReplaceEntry, ""
}

// isCopyOfEntry reports whether an exported item is a copy of the entry old, which has the same name. This is the case
// if both have the same creation time. The result is false if the item has an origin (it was not exported from a
// memory) or no creation time.
func isCopyOfEntry(it Item, old oxbow.Entry) bool {
	return it.Origin == "" && !it.Entry.Created.IsZero() && it.Entry.Created.Equal(old.Created)
}

// isImportedFromFile reports whether the present version of an entry was imported from the item's file, or from a
// directory that contains the file. It returns false for standard input.
func isImportedFromFile(it Item, old oxbow.Entry) bool {
	file := fileOfRef(it.Position)
	return old.Source.Actor == oxbow.Imported && file != "-" && old.Source.Ref != "" &&
		(file == old.Source.Ref || strings.HasPrefix(file, old.Source.Ref+"/"))
}

// decideOtherProgramsItem decides what an import does with an item from another program. old is the entry in the store
// that has the same name and differs from the item. The item can replace the entry, be skipped, or get another name.
// The decision can also be that the entry needs no change (decisionKeepUnchanged), or that the entry and the file were
// both changed (decisionMergeBothChanged). The second result explains the decisions decisionSkip and
// decisionMergeBothChanged, and is "" otherwise.
func (im *importer) decideOtherProgramsItem(it Item, old oxbow.Entry) (importDecision, string) {
	was, _ := old.Label(importDigestLabelKey)
	switch {
	case !slices.Contains(old.Labels, oxbow.Label{Key: originLabelKey, Value: originLabel(it.Origin)}):
		return decisionUseOtherName, ""
	case it.ID != "" && !slices.Contains(old.Labels, oxbow.Label{Key: recordIDLabelKey, Value: it.ID}):
		// The entry was imported from another record of the same program, which has the same name.
		return decisionUseOtherName, ""
	case im.opts.Overwrite:
		return decisionReplaceEntry, ""
	case it.Entry.Kind != old.Kind:
		return decisionSkip, fmt.Sprintf("%q was imported as a kind %s, and a kind is fixed", old.Name, old.Kind)
	case was == importableContentDigest(it.Entry):
		return decisionKeepUnchanged, "" // Keep the entry, because it was edited here and the file has not changed.
	case was != importableContentDigest(old):
		return decisionMergeBothChanged, fmt.Sprintf(
			"%q was edited in the store, and the file has changed too",
			old.Name,
		)
	}
	return decisionReplaceEntry, ""
}

// addItemOperations adds the store operations for one imported item to the plan, and counts the item in the report. The
// parameter decision says whether the item is added, replaces the entry old, is skipped or is unchanged. A replacement
// is made only if the stored entry still has the version of old, so that an edit in the meantime is not lost. For a
// skipped item, the report contains the argument reason.
func (p *batchPlan) addItemOperations(decision importDecision, it Item, old oxbow.Entry, reason string) {
	e := &it.Entry
	if decision == decisionAddEntry || decision == decisionReplaceEntry {
		for _, a := range old.Aliases {
			p.namesUsedInBatch.entryNameByAlias[digestParts(a)] = ""
		}
		for _, a := range e.Aliases {
			p.namesUsedInBatch.entryNameByAlias[digestParts(a)] = e.Name
		}
	}
	switch decision {
	case decisionAddEntry:
		p.changeOps = append(p.changeOps, threeway.NewAddOp(e))
		p.report.AddedCount++
		p.report.Changes = append(p.report.Changes, Change{e.Name, oxbow.VerbAdd, it.Position})
	case decisionReplaceEntry:
		to := *e
		if to.Created.IsZero() {
			to.Created = old.Created
		}
		p.changeOps = append(p.changeOps, threeway.NewReplaceVersionOps(&old, &to)...)
		p.report.UpdatedCount++
		p.report.Changes = append(p.report.Changes, Change{e.Name, oxbow.VerbUpdate, it.Position})
	case decisionSkip:
		p.report.Problems = append(p.report.Problems, it.Position+": "+reason)
		p.report.SkippedCount++
	case decisionKeepUnchanged:
		p.report.UnchangedCount++
	}
}
