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

// A TakenAlias is an alias that an entry did not get or has lost, because the word is already a name or alias of
// another entry.
type TakenAlias struct {
	Name  string `json:"name"` // name of the entry that did not get the alias or has lost it
	Alias string `json:"alias"`
	Owner string `json:"owner"` // entry that has the word as its name or alias
}

func (t TakenAlias) String() string {
	return fmt.Sprintf("%q was stored without its alias %q, which means %q", t.Name, t.Alias, t.Owner)
}

// An AliasHolder is an argument of [SettleAliases]. It describes the name and the aliases that an entry would have
// after a change.
type AliasHolder struct {
	Name    string
	Aliases []string
	IsNew   bool      // The change creates the entry.
	Had     []string  // aliases that the entry had before the change for which SettleAliases is called
	Created time.Time // creation time (zero means the time of the change)
}

// An AliasRule is the rule by which [SettleAliases] decides.
type AliasRule int

const (
	// currentHolderKeepsAlias is the rule for changes in one store. If several entries would have the same alias after
	// the change, the entry that had the alias before the change keeps it. If no entry had the alias before, the oldest
	// entry gets it.
	currentHolderKeepsAlias AliasRule = iota

	// OldestKeeps is the rule for merging two stores: the oldest entry keeps the alias. So the result is the same in
	// both stores.
	OldestKeeps
)

// SettleAliases decides which entry keeps an alias that several entries would have after a change. It returns the
// aliases that entries must give up. The list holders must contain all entries in the state after the change. An entry
// without aliases may be omitted if its name is not an alias of another entry.
//
// SettleAliases checks these rules for each alias, in this order, and applies the first rule whose condition is true:
//   - If all entries with the alias had it before the change, all of them keep it. This rule does not apply if the
//     change creates an entry whose name is the alias.
//   - If the alias is the name of an entry, this entry keeps it. If the argument rule is currentHolderKeepsAlias,
//     entries that had the alias before the change keep it too.
//   - If the argument rule is currentHolderKeepsAlias, the entries that had the alias before the change keep it.
//   - Otherwise the oldest entry with the alias keeps it. The oldest entry is the entry that was created first. If
//     several entries were created at the same time, it is the entry whose name sorts first.
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
		keepers := chooseAliasHolders(w, claims[w], named[w], rule)
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

// chooseAliasHolders decides which entries may have a word as their name or alias. The argument claims contains the
// entries that would have the word as an alias. The argument nameOwner is the entry that has the word as its name, or
// nil. The result contains the entries that keep the word:
//
//   - If all entries in claims already had the alias, and nameOwner is nil or had the name already, the result is
//     claims. The entry nameOwner then also keeps its name.
//   - Otherwise, if nameOwner is not nil, it keeps the word. If rule is currentHolderKeepsAlias, the entries in claims
//     that already had the alias keep it, too.
//   - Otherwise, if rule is currentHolderKeepsAlias and entries in claims already had the alias, these entries keep it.
//   - Otherwise, only the oldest entry in claims keeps it.
func chooseAliasHolders(word string, claims []*AliasHolder, nameOwner *AliasHolder, rule AliasRule) []*AliasHolder {
	had := slices.DeleteFunc(slices.Clone(claims), func(h *AliasHolder) bool { return !containsName(h.Had, word) })
	isOld := len(had) == len(claims) && (nameOwner == nil || !nameOwner.IsNew)
	switch {
	case isOld:
		return claims
	case nameOwner != nil && rule == currentHolderKeepsAlias:
		return append([]*AliasHolder{nameOwner}, had...)
	case nameOwner != nil:
		return []*AliasHolder{nameOwner}
	case len(had) > 0 && rule == currentHolderKeepsAlias:
		return had
	}
	return []*AliasHolder{slices.MinFunc(claims, compareAge)}
}

// compareAge orders entries by their creation time, then by name. A zero creation time means the time of the change, so
// it comes last. The older entry keeps an alias that both entries want.
func compareAge(a, b *AliasHolder) int {
	if a.Created.IsZero() != b.Created.IsZero() {
		if a.Created.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(NormalName(a.Name), NormalName(b.Name)))
}

// FreeAliases divides the new aliases of an entry into free and taken aliases. An alias is taken if it is the name or
// an alias of another entry. However, the aliases in the argument oldAliases are always free, because the entry already
// has them. The argument owner is a function that is described at [CheckAliases].
func FreeAliases(
	name string,
	aliases, oldAliases []string,
	owner func(word, but string) (name string, ok bool),
) (free []string, taken []TakenAlias) {
	for _, a := range aliases {
		if o, ok := ownerOfName(a, name, owner); ok && !containsName(oldAliases, a) {
			taken = append(taken, TakenAlias{Name: name, Alias: a, Owner: o})
		} else {
			free = append(free, a)
		}
	}
	return free, taken
}

// WithoutTakenAliases removes taken aliases from the ops. An alias is taken if it is the name of another entry, or if
// another entry had the alias before the ops. If the ops give a new alias to several entries, only the oldest of these
// entries gets it. WithoutTakenAliases returns the resulting ops and the removed aliases. It does not modify the ops
// that were passed. An [Alias] op that would change nothing is left out.
//
// This is meant for entries from files, from other stores or from the history, because nobody requested their aliases
// one by one. If a person or an agent requests an alias that is taken, the change should be refused (see
// [Add.UniqueAliases]).
func WithoutTakenAliases(ctx context.Context, s Store, ops []Op) (free []Op, takenAliases []TakenAlias, err error) {
	if !slices.ContainsFunc(ops, func(op Op) bool { return len(opAliases(op)) > 0 }) {
		return ops, nil, nil
	}
	holders, err := aliasHoldersAfterOps(ctx, s, ops)
	if err != nil {
		return nil, nil, err
	}
	takenAliases = SettleAliases(holders, currentHolderKeepsAlias)
	if len(takenAliases) == 0 {
		return ops, nil, nil
	}
	had := map[string][]string{}
	for _, h := range holders {
		had[NormalName(h.Name)] = h.Had
	}
	for _, op := range ops {
		var kept []string
		for _, a := range opAliases(op) {
			if !slices.ContainsFunc(takenAliases, func(t TakenAlias) bool {
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
	return free, takenAliases, nil
}

// aliasHoldersAfterOps returns all entries, with the names and aliases that they would have after the ops.
func aliasHoldersAfterOps(ctx context.Context, s Store, ops []Op) (holders []AliasHolder, err error) {
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

// opAliases returns the aliases that an op sets.
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
