// This file decides which entry keeps an alias that several entries would have.

package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A TakenAlias is an alias that was denied to an entry, or removed from it, because another entry
// has the alias.
type TakenAlias struct {
	Name  string `json:"name"` // entry without the alias
	Alias string `json:"alias"`
	Owner string `json:"owner"` // entry that the word identifies, by name or alias
}

func (t TakenAlias) String() string {
	return fmt.Sprintf("%q was stored without its alias %q, which means %q", t.Name, t.Alias, t.Owner)
}

// An AliasHolder is an entry as it would be after a change, for [SettleAliases].
type AliasHolder struct {
	Name    string
	Aliases []string
	IsNew   bool      // no entry had this name before the change
	Had     []string  // aliases before the change
	Created time.Time // zero means the time of the change
}

// An AliasRule is the rule by which [SettleAliases] decides.
type AliasRule int

const (
	// holderKeeps is the rule if entries come into a store: the entry that had the alias before the
	// change keeps it. If no entry had the alias, the oldest entry gets it.
	holderKeeps AliasRule = iota

	// OldestKeeps is the rule if two stores are merged, because the result must not depend on the
	// store in which the merge happens: the oldest entry keeps the alias.
	OldestKeeps
)

// SettleAliases decides which entry keeps an alias that several entries have after a change. It returns the aliases
// that the other entries must give up. holders are all entries as they would be after the change. Entries without
// aliases may be left out if their names are no other entry's alias.
//
// The name of an entry has precedence over the alias of another entry. Among several aliases, the rule decides. The
// older of two entries is the entry that was created first or, if both were created at the same time, the entry whose
// name sorts first.
//
// An alias that several entries already had before the change is not changed, unless the change gives the alias to a
// further entry.
func SettleAliases(holders []AliasHolder, rule AliasRule) (taken []TakenAlias) {
	named := map[string]*AliasHolder{}
	claims := map[string][]*AliasHolder{}
	var words []string
	for i := range holders {
		h := &holders[i]
		named[NormalName(h.Name)] = h
		for _, a := range h.Aliases {
			w := NormalName(a)
			if w == NormalName(h.Name) {
				continue
			}
			if claims[w] == nil {
				words = append(words, w)
			}
			claims[w] = append(claims[w], h)
		}
	}
	for _, w := range words {
		keepers := aliasKeepers(w, claims[w], named[w], rule)
		for _, h := range claims[w] {
			if slices.Contains(keepers, h) {
				continue
			}
			for _, a := range h.Aliases {
				if NormalName(a) == w {
					taken = append(taken, TakenAlias{Name: h.Name, Alias: a, Owner: keepers[0].Name})
				}
			}
		}
	}
	return taken
}

// aliasKeepers returns the claims on a word that are allowed to keep it. If the word is the
// name of another entry, the result begins with this entry.
func aliasKeepers(word string, claims []*AliasHolder, named *AliasHolder, rule AliasRule) []*AliasHolder {
	had := slices.DeleteFunc(slices.Clone(claims), func(h *AliasHolder) bool { return !containsName(h.Had, word) })
	isOld := len(had) == len(claims) && (named == nil || !named.IsNew)
	switch {
	case isOld:
		return claims
	case named != nil && rule == holderKeeps:
		return append([]*AliasHolder{named}, had...)
	case named != nil:
		return []*AliasHolder{named}
	case len(had) > 0 && rule == holderKeeps:
		return had
	}
	return []*AliasHolder{slices.MinFunc(claims, compareAge)}
}

// compareAge compares two entries by the time of their creation, then by name.
func compareAge(a, b *AliasHolder) int {
	if a.Created.IsZero() != b.Created.IsZero() {
		if a.Created.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(NormalName(a.Name), NormalName(b.Name)))
}

// FreeAliases divides the aliases that an entry is about to get. An alias is taken if it is the
// name or an alias of another entry. An alias in had, the list of the entry's current aliases,
// counts as free. FreeAliases applies the rule holderKeeps to a single entry. For owner, see
// [CheckAliases].
func FreeAliases(
	name string,
	aliases, had []string,
	owner func(word, but string) (name string, ok bool),
) (free []string, taken []TakenAlias) {
	for _, a := range aliases {
		if o, ok := ownerOfName(a, name, owner); ok && !containsName(had, a) {
			taken = append(taken, TakenAlias{Name: name, Alias: a, Owner: o})
		} else {
			free = append(free, a)
		}
	}
	return free, taken
}

// WithoutTakenAliases removes from the ops each new alias that belongs to another entry by the rule holderKeeps:
// usually because that entry already has it as its name or alias. It returns the remaining ops, and the removed
// aliases with the entries to which they belong. The ops that were passed are not modified, and an [Alias] op without
// any effect is left out.
//
// Callers use it for entries from files, from another store or from the history, which nobody asked for individually.
// If a person or agent requests an alias, the change should be refused instead (see [Add.UniqueAliases]).
func WithoutTakenAliases(ctx context.Context, s Store, ops []Op) (free []Op, taken []TakenAlias, err error) {
	if !slices.ContainsFunc(ops, func(op Op) bool { return len(opAliases(op)) > 0 }) {
		return ops, nil, nil
	}
	holders, err := holdersAfter(ctx, s, ops)
	if err != nil {
		return nil, nil, err
	}
	taken = SettleAliases(holders, holderKeeps)
	if len(taken) == 0 {
		return ops, nil, nil
	}
	had := map[string][]string{}
	for _, h := range holders {
		had[NormalName(h.Name)] = h.Had
	}
	for _, op := range ops {
		var kept []string
		for _, a := range opAliases(op) {
			if !slices.ContainsFunc(taken, func(t TakenAlias) bool {
				return SameName(t.Name, op.Target()) && SameName(t.Alias, a)
			}) {
				kept = append(kept, a)
			}
		}
		if len(kept) < len(opAliases(op)) {
			if _, ok := op.(Alias); ok && slices.Equal(kept, had[NormalName(op.Target())]) {
				continue
			}
			op = replaceAliases(op, kept)
		}
		free = append(free, op)
	}
	return free, taken, nil
}

// holdersAfter returns all entries as they would be after the ops.
func holdersAfter(ctx context.Context, s Store, ops []Op) (holders []AliasHolder, err error) {
	place := map[string]int{}
	for e, err := range s.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, err
		}
		place[NormalName(e.Name)] = len(holders)
		aliases := slices.Clone(e.Aliases)
		holders = append(holders, AliasHolder{Name: e.Name, Aliases: aliases, Had: aliases, Created: e.Created})
	}
	gone := map[int]bool{}
	for _, op := range ops {
		name := NormalName(op.Target())
		i, known := place[name]
		switch op := op.(type) {
		case Add:
			if !known {
				i = len(holders)
				place[name] = i
				holders = append(holders, AliasHolder{Name: op.Name, IsNew: true})
			}
			gone[i] = false
			holders[i].Aliases, holders[i].Created = op.Aliases, op.Created
		case Remove:
			gone[i] = known
		case Update, Alias:
			if known {
				holders[i].Aliases = opAliases(op)
			}
		}
	}
	var after []AliasHolder
	for i, h := range holders {
		if !gone[i] {
			after = append(after, h)
		}
	}
	return after, nil
}

// opAliases returns the aliases that an op gives its entry.
func opAliases(op Op) []string {
	switch op := op.(type) {
	case Add:
		return op.Aliases
	case Update:
		return op.Aliases
	case Alias:
		return op.Aliases
	}
	return nil
}

// replaceAliases returns the op with other aliases.
func replaceAliases(op Op, aliases []string) Op {
	switch op := op.(type) {
	case Add:
		op.Aliases = aliases
		return op
	case Update:
		op.Aliases = aliases
		return op
	case Alias:
		op.Aliases = aliases
		return op
	}
	return op
}
