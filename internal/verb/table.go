// This file contains the table of verbs that every server offers.

package verb

import (
	"slices"
	"sync"
)

// table is created when it is first used, because a command line calls the functions directly.
var table = sync.OnceValue(func() []Tool {
	look := traits{readOnly: true, idempotent: true}
	change := traits{idempotent: true} // undo is a single call
	return []Tool{
		define("remember", "Save to memory", change, Remember),
		define("recall", "Search memory", look, Recall),
		define("get", "Read one memory", look, Get),
		define("list", "List memory", look, List),
		define("forget", "Delete from memory", traits{destructive: true, idempotent: true}, Forget),
		define("history", "History of memory", look, History),
		define("undo", "Undo a change of memory", traits{}, Undo),
		define("restore", "Restore an earlier memory", change, Restore),
		define("save_memory", "Save a memory", traits{}, saveMemory),
		define("handoff_task", "Hand off a task with its memory", traits{}, handoffTask),
	}
})

// Table returns the verbs that every server offers, always in the same order.
func Table() []Tool { return slices.Clone(table()) }

// Find returns the verb of that name in the [Table].
func Find(name string) (Tool, bool) {
	for _, t := range table() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
