// This file implements sets of verbs. A verb is an operation on the memory, such as "remember". A server offers the
// verbs in the sets for which it was configured.

package verb

import (
	"slices"
	"strings"
)

// VerbSet is a group of verbs with a name.
type VerbSet struct {
	Name  string
	Verbs []string
}

// These constants name sets of verbs (oxbow operations) that a server offers. VerbSetCore is the default set.
// VerbSetFull contains all verbs of oxbow. VerbSetAll also contains the tools that a home in another layout adds.
const (
	VerbSetCore = "core"
	VerbSetFull = "full"
	VerbSetAll  = "all"
)

var verbSets = []VerbSet{
	{VerbSetCore, []string{"remember", "recall", "get", "list", "forget", "undo"}},
	{"history", []string{"history", "restore"}},
	{"session", []string{"handoff_task", "save_memory"}},
	{"profiles", []string{"load_memory_profile", "unload_memory_profile", "recall_memory"}},
	{"code", []string{"annotate", "get_annotations"}},
	{"agents", []string{"spawn_sub_agent"}},
}

// AllVerbSets returns all sets. The default set is the first.
func AllVerbSets() []VerbSet { return slices.Clone(verbSets) }

// VerbSets contains the names of the verb sets that a server offers. A verb is an operation of oxbow, such as "recall".
// If VerbSets is nil, the server offers all verbs.
type VerbSets []string

// ParseVerbSetNames parses names of sets. Each argument may contain several names, separated by commas.
func ParseVerbSetNames(names []string) (VerbSets, error) {
	s := VerbSets{}
	for n := range strings.SplitSeq(strings.Join(names, ","), ",") {
		n = strings.ToLower(strings.TrimSpace(n))
		if n == "" {
			continue
		}
		if !isVerbSetName(n) {
			return nil, InvalidValue(
				"tools",
				n,
				"is no set of tools; there are "+strings.Join(AcceptedVerbSetNames(), ", "),
			)
		}
		s = append(s, n)
	}
	if len(s) == 0 {
		return nil, InvalidValue(
			"tools",
			"",
			"is empty; name sets of tools: "+strings.Join(AcceptedVerbSetNames(), ", "),
		)
	}
	return s, nil
}

// isVerbSetName reports whether n names a set of tools (verbs). It also returns true for a name such as "all", which
// means several sets.
func isVerbSetName(n string) bool {
	if n == VerbSetFull || n == VerbSetAll {
		return true
	}
	return slices.ContainsFunc(verbSets, func(k VerbSet) bool { return k.Name == n })
}

// AcceptedVerbSetNames returns the names that [ParseVerbSetNames] accepts.
func AcceptedVerbSetNames() []string {
	var names []string
	for _, k := range verbSets {
		names = append(names, k.Name)
	}
	return append(names, VerbSetFull, VerbSetAll)
}

// HasVerb reports whether a server that offers the sets s offers the verb with the given name. If s is nil, or contains
// the set VerbSetFull or VerbSetAll, HasVerb returns true for all verbs.
func (s VerbSets) HasVerb(verb string) bool {
	return s == nil || slices.Contains(s, VerbSetFull) || slices.Contains(s, VerbSetAll) ||
		slices.ContainsFunc(verbSets, func(k VerbSet) bool {
			return slices.Contains(s, k.Name) && slices.Contains(k.Verbs, verb)
		})
}

// SelectTools returns the tools whose verb is in one of the sets.
func (s VerbSets) SelectTools(tools []Tool) []Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return !s.HasVerb(t.Name) })
}
