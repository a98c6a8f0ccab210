// This file contains the table of the verbs that every server offers.

package verb

import (
	"slices"
	"sync"
)

// toolTable creates the table when it is first needed. A command line does not need it, because it calls the
// functions.
var toolTable = sync.OnceValue(func() []Tool {
	look := verbTraits{readOnly: true, idempotent: true}
	change := verbTraits{idempotent: true} // a change by one of these verbs can be undone by a single call
	return []Tool{
		define("remember", "Save to memory", change, Remember),
		define("recall", "Search memory", look, Recall),
		define("get", "Read one memory", look, Get),
		define("list", "List memory", look, List),
		define("forget", "Delete from memory", verbTraits{destructive: true, idempotent: true}, Forget),
		define("history", "History of memory", look, History),
		define("undo", "Undo a change of memory", verbTraits{}, Undo),
		define("restore", "Restore an earlier memory", change, Restore),
		define("save_memory", "Save a memory", verbTraits{}, saveMemory),
		define("handoff_task", "Hand off a task with its memory", verbTraits{}, handoffTask),
	}
})

// Tools returns the verbs that every server offers, always in the same order.
func Tools() []Tool { return slices.Clone(toolTable()) }

// FindTool returns the verb with this name among the [Tools].
func FindTool(name string) (Tool, bool) {
	for _, t := range toolTable() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
