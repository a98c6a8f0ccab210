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

// LabelImport is the key of the label that names the file from which an entry was imported.
const LabelImport = "import"

// These are the keys of the labels by which an imported entry is recognized. They are called import marks.
const (
	originLabelKey = LabelImport
	// digest of the entry's content, aliases and labels at the import, by which a later edit is noticed
	sumLabelKey = "import-sum"
	idLabelKey  = "import-id" // ID of a record in the program that wrote it
)

// isStampLabel reports whether programs add labels with this key to imported entries by themselves. Such a label
// does not count as an edit.
func isStampLabel(l oxbow.Label) bool {
	return l.Key == oxbow.LabelApproved || l.Key == oxbow.LabelTextBy || slices.Contains(heldLabelKeys(), l.Key)
}

// heldLabelKeys returns the keys of the labels that prevent showing an entry to a model that did not ask for it.
var heldLabelKeys = sync.OnceValue(oxbow.Unasked.HeldLabels)

// withImportMarks returns the item with the labels by which a later import recognizes its entry.
func withImportMarks(it Item) Item {
	ls := withoutOriginLabels(it.Entry.Labels)
	it.Entry.Labels = ls
	sum := contentSum(it.Entry)
	it.cachedContentSum = sum
	ls = append(
		ls,
		oxbow.Label{Key: originLabelKey, Value: originLabel(it.Origin)},
		oxbow.Label{Key: sumLabelKey, Value: sum},
	)
	if it.ID != "" {
		ls = append(ls, oxbow.Label{Key: idLabelKey, Value: it.ID})
	}
	it.Entry.Labels = oxbow.SortLabels(ls)
	return it
}

// hasImportMarks reports whether [withoutImportMarks] would remove something from the item.
func hasImportMarks(it Item) bool {
	return it.FileName != "" || len(it.Further) > 0 || slices.ContainsFunc(it.Entry.Labels, func(l oxbow.Label) bool {
		return isImportMark(l)
	})
}

func isImportMark(l oxbow.Label) bool {
	return l.Key == originLabelKey || l.Key == sumLabelKey || l.Key == idLabelKey
}

// withoutImportMarks returns the items without the labels that record an item's origin. It also removes aliases and
// labels that not every store can store, so that items from different stores can be compared.
func withoutImportMarks(items []Item) []Item {
	bare := slices.Clone(items)
	for i := range bare {
		it := &bare[i]
		it.cachedContentSum = ""
		it.Entry.Labels = slices.DeleteFunc(withoutOriginLabels(it.Entry.Labels), func(l oxbow.Label) bool {
			return slices.Contains(it.Further, l)
		})
		it.Entry.Aliases = slices.DeleteFunc(slices.Clone(it.Entry.Aliases), func(a string) bool {
			return a == it.FileName
		})
	}
	return bare
}

// originLabel returns the value of the origin label for a file. If the file's name is too long, the value contains the
// name's digest and the end of the name, which distinguishes files better than the beginning.
func originLabel(origin string) string {
	v := cleanName(origin, len(origin)+len("\uFFFD"))
	if v == origin && len(v) <= oxbow.MaxName {
		return v
	}
	h := digestParts(origin)
	v = hex.EncodeToString(h[:6]) + "…" + v[max(0, len(v)-200):]
	return cleanName(strings.ToValidUTF8(v, ""), oxbow.MaxName)
}

func withoutOriginLabels(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(withoutLocalLabels(ls), isImportMark)
}

// withoutLocalLabels returns the labels in order, without local labels (see [oxbow.Label.IsLocal]).
func withoutLocalLabels(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(oxbow.SortLabels(ls), oxbow.Label.IsLocal)
}

// contentSum returns a digest over all parts of an entry that an import may change. Labels that only record the origin
// or the import are not included. The digest is 16 bytes of SHA-256 in hexadecimal digits.
func contentSum(e oxbow.Entry) string {
	parts := make([]string, 0, 2+len(e.Aliases)+2*len(e.Labels))
	parts = append(append(parts, e.Content, strconv.Itoa(len(e.Aliases))), e.Aliases...)
	labels := e.Labels
	if !areSortedLabels(labels) {
		labels = oxbow.SortLabels(labels)
	}
	for _, l := range labels {
		if isContentLabel(l) {
			parts = append(parts, l.Key, l.Value)
		}
	}
	h := digestParts(parts...)
	return hex.EncodeToString(h[:])
}

// isContentLabel reports whether an import may change a label. An import may not change labels that are local to this
// memory, that record the origin, or that oxbow sets when an entry is written.
func isContentLabel(l oxbow.Label) bool { return !l.IsLocal() && !isImportMark(l) && !isStampLabel(l) }

// areSortedLabels reports whether the labels are in the order of [oxbow.SortLabels] and different.
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
	sum, _ := e.Label(sumLabelKey)
	return sum != contentSum(e)
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
	matchStates map[digest]byte
	itemHashes  map[digest]bool // digests of all items that the import has read so far
	// last number that was appended to each item name to make the name unique (0 if none was)
	lastNumbers map[digest]int

	// name of the entry to which the import gave each alias, or "" if the import took the alias from an entry and gave
	// it to no other
	aliases map[digest]string
}

func newUsedNames() *usedNames {
	return &usedNames{make(map[digest]byte), make(map[digest]bool), make(map[digest]int), make(map[digest]string)}
}

func (n *usedNames) addAll(m *usedNames) {
	maps.Copy(n.matchStates, m.matchStates)
	maps.Copy(n.itemHashes, m.itemHashes)
	maps.Copy(n.lastNumbers, m.lastNumbers)
	maps.Copy(n.aliases, m.aliases)
}

// batchPlan is the planned change for a batch. If the store changes before the plan is applied, it is discarded and
// made again. Therefore planning changes nothing but the plan.
type batchPlan struct {
	ops          []oxbow.Op
	report       Report
	names        *usedNames
	skipsLookups bool // Do not look up names, because the store was empty when the import began.
}

func (im *importer) planBatch(items []Item, skipsLookups bool) (*batchPlan, error) {
	p := &batchPlan{names: newUsedNames(), skipsLookups: skipsLookups}
	for _, it := range items {
		if err := im.planItem(it, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// planItem finds the entry to which an item belongs, and adds the change to the plan.
func (im *importer) planItem(it Item, p *batchPlan) error {
	it, err := im.normalizedItem(it, p)
	if err == nil {
		it, err = im.withKnownName(it, p)
	}
	if err != nil {
		return err
	}
	own := digestParts(it.Entry.Name)
	sum := it.cachedContentSum
	if sum == "" {
		sum = contentSum(it.Entry)
	}
	whole := digestParts(it.Entry.Name, it.Entry.Kind.String(), sum)
	if im.usedNames.itemHashes[whole] || p.names.itemHashes[whole] {
		p.report.Same++
		return nil
	}
	last := max(im.usedNames.lastNumbers[own], p.names.lastNumbers[own])
	for n := last + 1; ; n++ {
		name, id := it.Entry.Name, own
		if n > 1 {
			name = numberedName(name, n)
			id = digestParts(name)
		}
		if im.usedNames.matchStates[id]+p.names.matchStates[id] > 0 {
			continue
		}
		v, reason := verdictNew, ""
		var old oxbow.Entry
		if !p.skipsLookups {
			var err error
			old, err = oxbow.GetNamed(im.ctx, im.exactStore, name)
			if err == nil {
				v, name = verdictSame, old.Name
			} else if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
				return err
			}
		}
		it, left, err := im.withFreeAliases(it, name, old.Aliases, p)
		if err != nil {
			return err
		}
		if v == verdictSame {
			v, reason = im.judgeItem(it, old, n)
		}
		if v == verdictOtherEntry {
			continue
		}
		if v == verdictBothChanged && !im.opts.Follow {
			v = verdictSkip
		}
		p.names.matchStates[id] = 1
		if n > 1 {
			p.names.lastNumbers[own] = n
		}
		if v != verdictSkip {
			p.names.itemHashes[whole] = true
		}
		it.Entry.Name = name
		if n > 1 && v != verdictSame {
			p.report.Notes = append(
				p.report.Notes,
				fmt.Sprintf("%s: named %q, since another entry has its name", it.Ref, name),
			)
		}
		if slices.Contains([]itemVerdict{verdictNew, verdictReplace, verdictBothChanged}, v) {
			p.report.Notes = append(p.report.Notes, left...)
			p.names.matchStates[id] = 2
		}
		if v == verdictBothChanged {
			return im.planFollowedChange(it, old, p)
		}
		p.planVerdict(v, it, old, reason)
		return nil
	}
}

// normalizedItem returns the item with the name, aliases and labels as the store spells them. The name does not change
// if the store has an entry with exactly this name.
func (im *importer) normalizedItem(it Item, p *batchPlan) (Item, error) {
	was := it.Entry
	it.Entry = oxbow.NormalEntry(was)
	changedWords := !slices.Equal(it.Entry.Aliases, was.Aliases) || !slices.Equal(it.Entry.Labels, was.Labels)
	if changedWords && slices.ContainsFunc(it.Entry.Labels, func(l oxbow.Label) bool { return l.Key == sumLabelKey }) {
		it = withImportMarks(it)
	}
	if it.Entry.Name == was.Name || p.skipsLookups {
		return it, nil
	}
	old, err := oxbow.GetNamed(im.ctx, im.exactStore, was.Name)
	if err == nil {
		it.Entry.Name = old.Name
	} else if !errors.Is(err, oxbow.ErrNotFound) {
		return it, err
	}
	return it, nil
}

// withKnownName returns the item with the name of the entry that an earlier import made from the same record. Without
// such an entry, it returns the item unchanged.
func (im *importer) withKnownName(it Item, p *batchPlan) (Item, error) {
	if it.ID == "" || p.skipsLookups {
		return it, nil
	}
	if im.recordNames == nil {
		if err := im.readRecordNames(); err != nil {
			return it, err
		}
	}
	if name := im.recordNames[digestParts(originLabel(it.Origin), it.ID)]; name != "" {
		it.Entry.Name = name
	}
	return it, nil
}

// readRecordNames reads the names of all entries that earlier imports made from records.
func (im *importer) readRecordNames() error {
	records := map[digest]string{}
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{idLabelKey}}}}
	for e, err := range im.exactStore.Entries(im.ctx, f) {
		if err != nil {
			return err
		}
		origin, _ := e.Label(originLabelKey)
		id, _ := e.Label(idLabelKey)
		records[digestParts(origin, id)] = strings.Clone(e.Name)
	}
	im.recordNames = records
	return nil
}

// withFreeAliases returns the item without the aliases that belong to another entry, because an alias of two entries
// would be ambiguous. name is the name that the item will have. Aliases in had, which the entry already has, are kept.
// left contains a message for each omitted alias.
func (im *importer) withFreeAliases(
	it Item,
	name string,
	had []string,
	p *batchPlan,
) (_ Item, left []string, err error) {
	free, taken := oxbow.FreeAliases(name, it.Entry.Aliases, had, func(word, but string) (string, bool) {
		owner, ownerErr := im.nameOwner(word, p)
		err = errors.Join(err, ownerErr)
		return owner, owner != "" && owner != but
	})
	if err != nil {
		return it, nil, err
	}
	for _, t := range taken {
		left = append(left, fmt.Sprintf("%s: alias %q was left off: %q has it", it.Ref, t.Alias, t.Owner))
	}
	if len(left) == 0 {
		return it, nil, nil
	}
	it.Entry.Aliases = free
	if slices.ContainsFunc(it.Entry.Labels, func(l oxbow.Label) bool { return l.Key == sumLabelKey }) {
		it = withImportMarks(it)
	}
	return it, left, nil
}

// nameOwner returns the name of the entry that has the word as its name or as an alias, or "" if none has.
func (im *importer) nameOwner(word string, p *batchPlan) (string, error) {
	id := digestParts(word)
	if im.usedNames.matchStates[id]+p.names.matchStates[id] > 0 {
		return word, nil
	}
	for _, n := range []*usedNames{p.names, im.usedNames} {
		if owner, ok := n.aliases[id]; ok {
			return owner, nil
		}
	}
	if p.skipsLookups {
		return "", nil
	}
	if e, err := oxbow.GetNamed(im.ctx, im.exactStore, word); err == nil {
		return e.Name, nil
	} else if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
		return "", err
	}
	if im.aliases == nil {
		im.aliases = map[digest]string{}
		for e, err := range im.exactStore.Entries(im.ctx, oxbow.Filter{}) {
			if err != nil {
				im.aliases = nil
				return "", err
			}
			for _, a := range e.Aliases {
				im.aliases[digestParts(oxbow.NormalName(a))] = strings.Clone(e.Name)
			}
		}
	}
	return im.aliases[id], nil
}

// itemVerdict is the decision what an import does with an item if the store may already have an entry with its name.
type itemVerdict uint8

const (
	// The store has no entry with the name of the imported item, so a new entry is added.
	verdictNew         itemVerdict = iota
	verdictSame                    // The entry has the same content as the item.
	verdictReplace                 // The imported item replaces the existing entry with the same name.
	verdictSkip                    // The existing entry stays unchanged, and the item is not imported.
	verdictBothChanged             // The entry and its file were both changed since the last import.
	// The entry in the store and the imported item have the same name, but are different things. The item gets another
	// name.
	verdictOtherEntry
)

// judgeItem decides what to do with an imported item and an existing entry, old. old has the same name as the item. If
// nameNumber is above 0, this number was appended to the item's name.
func (im *importer) judgeItem(it Item, old oxbow.Entry, nameNumber int) (itemVerdict, string) {
	// Some stores return an entry of kind note with another kind. Therefore an item of kind note equals an entry of
	// any kind if the rest is equal.
	equal := (it.Entry.Kind == old.Kind || it.Entry.Kind == oxbow.Note) && it.Entry.Content == old.Content &&
		slices.Equal(it.Entry.Aliases, old.Aliases)
	// Ignore labels that oxbow has added to the entry since the import, such as a person's approval. They are no
	// difference between the entry and the item.
	stamped := func(l oxbow.Label) bool { return isStampLabel(l) && !slices.Contains(it.Entry.Labels, l) }
	if it.Origin == "" {
		if equal &&
			slices.Equal(
				withoutLocalLabels(it.Entry.Labels),
				slices.DeleteFunc(withoutLocalLabels(old.Labels), stamped),
			) {
			return verdictSame, ""
		}
		return im.judgeExported(it, old, nameNumber)
	}
	if equal &&
		slices.Equal(
			withoutOriginLabels(it.Entry.Labels),
			slices.DeleteFunc(withoutOriginLabels(old.Labels), stamped),
		) {
		return verdictSame, ""
	}
	return im.judgeImported(it, old)
}

// judgeExported decides about an item of an export and an entry that differs from it. A later date in the file is not
// enough to replace the entry, because anybody can write a date.
func (im *importer) judgeExported(it Item, old oxbow.Entry, nameNumber int) (itemVerdict, string) {
	known := isCopyOfEntry(it, old) || isImportedFromFile(it, old)
	switch {
	case nameNumber > 1 && !known:
		// An earlier import appended a number to the name of this entry, because the name was taken. Therefore the
		// equal name does not show that the entry belongs to this item.
		return verdictOtherEntry, ""
	case nameNumber == 1 && im.opts.Overwrite:
		return verdictReplace, ""
	case !known && !it.Entry.Created.IsZero():
		return verdictOtherEntry, ""
	case it.Entry.Kind != old.Kind:
		return verdictSkip, fmt.Sprintf("%q is of kind %s in the store, and a kind is fixed", old.Name, old.Kind)
	case it.Entry.Updated.IsZero():
		return verdictSkip, fmt.Sprintf(
			"%q is in the store with other content, and the item does not say when it was updated",
			old.Name,
		)
	case !it.Entry.Updated.After(old.Updated):
		return verdictSkip, fmt.Sprintf("%q is in the store with other content that is not older", old.Name)
	case old.Source.Actor != oxbow.Imported || !known:
		return verdictSkip, fmt.Sprintf(
			"%q was written or edited in the store, and stays as it is; an import with overwrite replaces it",
			old.Name,
		)
	}
	return verdictReplace, ""
}

// isCopyOfEntry reports whether an exported item and the entry with its name are copies of one entry. Only copies have
// the same creation time.
func isCopyOfEntry(it Item, old oxbow.Entry) bool {
	return it.Origin == "" && !it.Entry.Created.IsZero() && it.Entry.Created.Equal(old.Created)
}

// isImportedFromFile reports whether the present version of an entry was imported from the item's file, or from a
// directory that contains the file. It returns false for standard input.
func isImportedFromFile(it Item, old oxbow.Entry) bool {
	file := fileOfRef(it.Ref)
	return old.Source.Actor == oxbow.Imported && file != "-" && old.Source.Ref != "" &&
		(file == old.Source.Ref || strings.HasPrefix(file, old.Source.Ref+"/"))
}

// judgeImported decides about an item from another program and an entry that differs from it.
func (im *importer) judgeImported(it Item, old oxbow.Entry) (itemVerdict, string) {
	was, _ := old.Label(sumLabelKey)
	switch {
	case !slices.Contains(old.Labels, oxbow.Label{Key: originLabelKey, Value: originLabel(it.Origin)}):
		return verdictOtherEntry, ""
	case it.ID != "" && !slices.Contains(old.Labels, oxbow.Label{Key: idLabelKey, Value: it.ID}):
		// The entry was imported from another record of the same program, which has the same name.
		return verdictOtherEntry, ""
	case im.opts.Overwrite:
		return verdictReplace, ""
	case it.Entry.Kind != old.Kind:
		return verdictSkip, fmt.Sprintf("%q was imported as a kind %s, and a kind is fixed", old.Name, old.Kind)
	case was == contentSum(it.Entry):
		return verdictSame, "" // Keep the entry, because it was edited here and the file has not changed.
	case was != contentSum(old):
		return verdictBothChanged, fmt.Sprintf("%q was edited in the store, and the file has changed too", old.Name)
	}
	return verdictReplace, ""
}

// planVerdict plans the change in the store that follows from v, the decision about an imported item. The change is
// made only if the entry still has its present version, so that an edit in the meantime is not lost.
func (p *batchPlan) planVerdict(v itemVerdict, it Item, old oxbow.Entry, reason string) {
	e := &it.Entry
	if v == verdictNew || v == verdictReplace {
		for _, a := range old.Aliases {
			p.names.aliases[digestParts(a)] = ""
		}
		for _, a := range e.Aliases {
			p.names.aliases[digestParts(a)] = e.Name
		}
	}
	switch v {
	case verdictNew:
		p.ops = append(p.ops, threeway.AddOp(e))
		p.report.Added++
		p.report.Changes = append(p.report.Changes, Change{e.Name, oxbow.VerbAdd, it.Ref})
	case verdictReplace:
		to := *e
		if to.Created.IsZero() {
			to.Created = old.Created
		}
		p.ops = append(p.ops, threeway.ReplaceOps(&old, &to)...)
		p.report.Updated++
		p.report.Changes = append(p.report.Changes, Change{e.Name, oxbow.VerbUpdate, it.Ref})
	case verdictSkip:
		p.report.Problems = append(p.report.Problems, it.Ref+": "+reason)
		p.report.Skipped++
	case verdictSame:
		p.report.Same++
	}
}
