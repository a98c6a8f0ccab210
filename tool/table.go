// The table of verbs that every server offers.

package tool

import (
	"slices"
	"sync"
)

// table is made when it is first needed: a command line calls the functions.
var table = sync.OnceValue(func() []Tool {
	look := traits{readOnly: true, idempotent: true}
	change := traits{destructive: true, idempotent: true}
	return []Tool{
		define("remember", "Remember", change, Remember),
		define("recall", "Recall", look, Recall),
		define("get", "Get one entry", look, Get),
		define("list", "List entries", look, List),
		define("forget", "Forget", change, Forget),
		define("history", "History", look, History),
		define("undo", "Undo", traits{destructive: true}, Undo),
		define("restore", "Restore a version", change, Restore),
		define("save_memory", "Save a memory", traits{}, saveMemory),
		define("handoff_task", "Hand off a task", traits{idempotent: true}, HandOff),
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
